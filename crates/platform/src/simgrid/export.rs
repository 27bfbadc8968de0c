//! The result of an export to SimGrid, and the conversion of names of a platform into XML attributes and parts of file names.

use std::fmt::Write as _;

use migsim_base::document::sha256;

/// A platform in the format of `SimGrid`, as the texts of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimgridExport {
    /// Content of the platform file, in XML.
    pub xml: String,
    /// Profile files that the platform file refers to: file name and content of each.
    pub profile_files: Vec<(String, String)>,
    /// Notes for the user about how `SimGrid` interprets the platform.
    pub user_notes: Vec<String>,
}

pub(crate) const FILE_BEGINNING: &str = "<?xml version=\"1.0\"?>
<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">
<platform version=\"4.1\">
";

/// Maximum length of a name that is used unchanged as part of a file name \[B\]; file systems allow 255.
const MAX_NAME_LENGTH: usize = 200;

/// Converts a name into a part of a file name that is safe on any operating system. Different names give different file names.
pub(super) fn safe_file_name(name: &str) -> String {
    let mut file = String::new();
    for letter in name.chars() {
        if letter.is_control() || r#"/\%:*?"<>|"#.contains(letter) {
            write!(file, "%{:02x}", u32::from(letter)).expect("a string can be written to");
        } else {
            file.push(letter);
        }
    }
    if file.len() > MAX_NAME_LENGTH {
        let digest = sha256(name.as_bytes());
        let (short, _) = file.split_at(file.floor_char_boundary(MAX_NAME_LENGTH - digest.len()));
        return format!("{short}%{digest}");
    }
    file
}

pub(crate) fn escape_xml_attribute(name: &str) -> String {
    name.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files_of_the_folder() {
        assert_eq!(safe_file_name("Labtec-0"), "Labtec-0");
        assert_eq!(safe_file_name("../a%b"), "..%2fa%25b");
        assert_ne!(safe_file_name("a/b"), safe_file_name("a%2fb"));
        let (one, two) = ("ü".repeat(300), "ü".repeat(301));
        assert!(
            safe_file_name(&one).len() <= MAX_NAME_LENGTH + 1
                && safe_file_name(&one) != safe_file_name(&two)
        );
    }
}
