//! Files of figures, which several commands write.

use std::io::Write;
use std::path::Path;

use super::print::say;
use crate::error::Error;
use crate::figure::{Figure, Format, Style};
use crate::output::{cannot_write, write_file};

/// Writes figures into a folder, each under its name, and says which files these are.
pub(super) fn write_figures(
    figures: &[Figure],
    folder: &Path,
    (format, style): (Format, &Style),
    errors: &mut dyn Write,
) -> Result<(), Error> {
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write(&folder.display().to_string(), &error))?;
    }
    for figure in figures {
        let file = folder.join(format!("{}.{}", figure.name, format.name()));
        write_file(&file, &figure.file(format, style))?;
        say(errors, &format!("written: {}", file.display()));
    }
    Ok(())
}
