//! Names of files that are not UTF-8. Settings are JSON, so that such a name becomes a text in which a character of Unicode's last
//! private area (U+10FF80 to U+10FFFF) stands for each byte that is not UTF-8. The functions that open files convert it back.

use std::{borrow::Cow, ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

/// Code of the character that stands for the byte 0.
const FIRST_CODE: u32 = 0x10_FF00;

/// Returns a name as a text, which [`path_of_text`] converts back.
pub fn text_of_path(name: &(impl AsRef<OsStr> + ?Sized)) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        let codes = chunk
            .invalid()
            .iter()
            .map(|byte| FIRST_CODE + u32::from(*byte));
        text.extend(codes.filter_map(char::from_u32));
    }
    text
}

/// Returns the path of which [`text_of_path`] has made a text; any other path is returned unchanged.
pub fn path_of_text<P: AsRef<Path> + ?Sized>(text: &P) -> Cow<'_, Path> {
    let path = text.as_ref();
    let byte = |letter: char| u8::try_from(u32::from(letter).wrapping_sub(FIRST_CODE)).ok();
    let Some(text) = path
        .to_str()
        .filter(|text| text.chars().any(|letter| byte(letter).is_some()))
    else {
        return Cow::Borrowed(path);
    };
    let mut bytes = Vec::new();
    for letter in text.chars() {
        match byte(letter) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(Path::new(OsStr::from_bytes(&bytes)).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_text_and_back() {
        for bytes in [
            &b"caf\xe9.xml"[..],
            b"\xff\xfe\x80",
            "é/a".as_bytes(),
            b"a\xc3",
        ] {
            let name = OsStr::from_bytes(bytes);
            let text = text_of_path(name);
            assert_eq!(path_of_text(&text).as_os_str(), name, "{text:?}");
            assert_eq!(*text == *name, std::str::from_utf8(bytes).is_ok());
        }
    }
}
