//! Draws of a benchmark whose number is the hash of a rival's source, so that its author could not know the cases.

use std::fs;

use schemars::JsonSchema;
use serde::Serialize;

use migsim_base::document::sha256;
use migsim_experiment::suite::{CaseSet, MAX_DRAW_NUMBER};

/// A set of cases as a user names it: by its number, as `fixed`, or as `of:FILE`.
#[derive(Clone, Debug)]
pub struct ChosenDraw {
    /// The set of cases.
    pub set: CaseSet,
    /// The source whose hash is the number; `None` if the user stated the number.
    pub source: Option<DrawSource>,
}

/// The source of a rival whose hash is the number of a draw.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DrawSource {
    /// The name of the file.
    pub file: String,
    /// SHA-256 of the source without comments.
    pub sha256: String,
}

impl ChosenDraw {
    /// Parses a draw. The number of the draw `of:FILE` follows from the SHA-256 of the file, without its empty lines, its lines that
    /// are comments (`# `, `//`, `--` or `;`), and the spaces around lines.
    ///
    /// # Errors
    /// The text is no draw, or the file cannot be read; the error says this in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(file) = text.strip_prefix("of:") else {
            let set = text.parse()?;
            return Ok(Self { set, source: None });
        };
        let bytes = fs::read(file).map_err(|error| format!("`{file}` cannot be read: {error}"))?;
        let source = source_without_comments(&String::from_utf8_lossy(&bytes));
        if source.is_empty() {
            return Err(format!(
                "`{file}` has no line that is not empty or a comment; name the source of a rival"
            ));
        }
        let sha256 = sha256(source.as_bytes());
        // 13 hexadecimal digits are a number below 2^52.
        let number = u64::from_str_radix(&sha256[..13], 16).expect("it is hexadecimal");
        Ok(Self {
            set: CaseSet::RandomDraw(number % MAX_DRAW_NUMBER + 1),
            source: Some(DrawSource {
                file: file.to_owned(),
                sha256,
            }),
        })
    }
}

fn source_without_comments(text: &str) -> String {
    let is_comment = |line: &str| {
        line == "#"
            || ["# ", "#!", "//", "--", ";"]
                .iter()
                .any(|sign| line.starts_with(sign))
    };
    let lines = text.lines().map(str::trim);
    let kept: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !is_comment(line))
        .collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_spaces_do_not_change_the_draw_of_a_source() {
        let folder = tempfile::tempdir().unwrap();
        let draw = |text: &str| {
            let file = folder.path().join("rival");
            fs::write(&file, text).unwrap();
            ChosenDraw::parse(&format!("of:{}", file.display()))
                .unwrap()
                .set
        };
        let first = draw("#!/bin/sh\n# a rival\n\n  echo 1\n");
        assert_eq!(first, draw("echo 1  \n// more"));
        assert_ne!(first, draw("echo 2"));
        assert!(ChosenDraw::parse("of:none").is_err());
        let comments = folder.path().join("comments");
        fs::write(&comments, "# only\n\n// comments\n").unwrap();
        assert!(ChosenDraw::parse(&format!("of:{}", comments.display())).is_err());
        assert!(ChosenDraw::parse("1000001").is_err());
    }
}
