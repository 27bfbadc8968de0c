//! Creates and checks folders and files that belong to the user and that no other user can write or replace.

use std::{
    fs::{self, DirBuilder, Metadata, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::Path,
};

use rustix::process::geteuid;

use crate::error::{Error, Problem, Result};

/// Permission bits of a file or folder that allow its group or all other users to write.
const WRITABLE_BY_GROUP_OR_OTHERS: u32 = 0o022;
/// Permission bit of a file or folder that allows users other than the owner and the group to write.
const WRITABLE_BY_OTHERS: u32 = 0o002;
/// Permission bit of a folder in which only the owner of a file can rename or remove the file.
const STICKY_BIT: u32 = 0o1000;
/// Permission bits of a folder that allow access only to its owner.
const USER_ONLY: u32 = 0o700;

/// Creates a folder that only the user can access.
///
/// # Errors
/// The folder exists or cannot be created.
pub(super) fn create_new_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(USER_ONLY).create(folder)
}

/// Creates a folder that only the user can access, or checks an existing folder.
///
/// An existing folder must belong to the user, and no other user may be able to replace the folder or one of its parent folders.
/// If its group or all users may write into it, this permission is removed.
///
/// # Errors
/// The folder cannot be created, or it is not safe.
pub(super) fn create_or_check_private_folder(folder: &Path) -> Result {
    let failed = |error: io::Error| {
        unsafe_folder_error(
            folder,
            &format!("cannot use this folder for the recorder: {error}"),
        )
    };
    let mut builder = DirBuilder::new();
    builder
        .recursive(true)
        .mode(USER_ONLY)
        .create(folder)
        .map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    let found = fs::metadata(&folder).map_err(failed)?;
    if !belongs_to_user(&found) {
        return Err(unsafe_folder_error(
            &folder,
            "the folder of the recorder belongs to another user",
        ));
    }
    if found.mode() & WRITABLE_BY_GROUP_OR_OTHERS != 0 {
        fs::set_permissions(&folder, Permissions::from_mode(USER_ONLY)).map_err(failed)?;
    }
    for above in folder.ancestors().skip(1) {
        let found = fs::metadata(above).map_err(failed)?;
        let is_safe = belongs_to_user(&found) || found.uid() == 0;
        if !is_safe || found.mode() & (WRITABLE_BY_OTHERS | STICKY_BIT) == WRITABLE_BY_OTHERS {
            let above = above.display();
            return Err(unsafe_folder_error(
                &folder,
                &format!("another user can replace files in `{above}`, and so the recorder"),
            ));
        }
    }
    Ok(())
}

/// Returns whether a file belongs to the user and no other user can write it; `false` for a symbolic link and if there is no
/// file.
pub(super) fn is_private_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_file()
            && belongs_to_user(&found)
            && found.mode() & WRITABLE_BY_GROUP_OR_OTHERS == 0
    })
}

/// Returns whether a folder belongs to the user; `false` for a symbolic link and if there is no folder.
pub(super) fn is_folder_of_user(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && belongs_to_user(&found))
}

/// Removes the permission to write a file from the group of the file and from all other users.
pub(super) fn remove_write_permission_of_others(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(USER_ONLY))
}

/// Returns whether the file or folder with the metadata `found` belongs to the user.
fn belongs_to_user(found: &Metadata) -> bool {
    found.uid() == geteuid().as_raw()
}

/// Returns the error for a folder that other users could change; `why` is the reason.
fn unsafe_folder_error(folder: &Path, why: &str) -> Error {
    Error::Output(Problem::new(why).source(folder.display().to_string()).hint(
        "set XDG_CACHE_HOME or HOME to a folder to which only you can write, since the recorder runs inside your program",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_is_made_for_the_user_alone_and_an_open_one_is_closed() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("cache/migsim");
        create_or_check_private_folder(&folder).unwrap();
        let mode = || fs::metadata(&folder).unwrap().mode() & 0o777;
        assert_eq!(mode(), USER_ONLY);
        with_mode(&folder, 0o777);
        create_or_check_private_folder(&folder).unwrap();
        assert_eq!(mode(), USER_ONLY);
        assert!(create_new_private_folder(&folder).is_err());
    }

    #[test]
    fn a_folder_that_others_can_replace_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let shared = scratch.path().join("shared");
        fs::create_dir(&shared).unwrap();
        with_mode(&shared, 0o777);
        let error = create_or_check_private_folder(&shared.join("migsim"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("another user can replace files in"),
            "{error}"
        );
        with_mode(&shared, 0o1777);
        create_or_check_private_folder(&shared.join("migsim")).unwrap();
    }

    #[test]
    fn only_a_file_that_the_user_alone_can_write_is_private() {
        let scratch = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| scratch.path().join(name));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        with_mode(&file, 0o664);
        assert!(!is_private_file(&file));
        remove_write_permission_of_others(&file).unwrap();
        assert!(is_private_file(&file));
        assert!(!is_private_file(&link) && !is_private_file(scratch.path()));
    }
}
