//! Texts that are stored in compressed form in the program.

use std::io::Read as _;

use migsim_base::error::{Error, Problem};

/// Decompresses a text that was compressed with brotli.
///
/// # Errors
/// The bytes are not a compressed text. The files are part of the program, so this error is a fault of the program.
pub(super) fn decompress_text(file: &[u8]) -> Result<String, Error> {
    let mut text = String::new();
    let mut unpacked = brotli_decompressor::Decompressor::new(file, file.len());
    (unpacked.read_to_string(&mut text)).map_err(|error| Problem::new(error.to_string()))?;
    Ok(text)
}
