//! Measured loads, in CSV or as profiles of SimGrid: loads are shares, or numbers of cores, and times rise.

use migsim::{
    Registry,
    random::{Stream, StreamPurpose},
};
use serde_json::json;

use super::{check_told, name, scratch};

/// Checks a file of a load. The first byte of the input selects the format, and the rest is the file.
pub(super) fn load(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    let folder = scratch();
    let source = name(&folder, "load.csv");
    std::fs::write(&source, text).expect("a file can be written");
    let mut keys = json!({ "file": source });
    if choice & 1 > 0 {
        keys["format"] = json!("simgrid");
    }
    if choice & 2 > 0 {
        keys["values"] =
            json!((["utilisation", "available", "load-average"])[usize::from(choice >> 6) % 3]);
    }
    if choice & 4 > 0 {
        keys["repeat"] = json!("1 h");
    }
    if choice & 8 > 0 {
        keys["shift"] = json!(true);
    }
    if choice & 16 > 0 {
        keys["most"] = json!(0.5);
    }
    let registry = Registry::standard();
    let kind = registry.loads().find("file").expect("it is a kind");
    match kind.create_load(&keys) {
        Err(error) => check_told(&error, &source, &as_counted(choice, text)),
        Ok((load, resolved)) => {
            let (_, again) = kind
                .create_load(&resolved)
                .expect("what was read is read again");
            assert_eq!(again, resolved);
            let mut last = -1.0;
            for (date, load) in load
                .steps(Stream::new(1, StreamPurpose::ProcessWork))
                .take(100)
            {
                // Times that are too close to distinguish as floats count as equal.
                assert!(date >= last, "{date} after {last}");
                let is_share = load <= 1.0 || keys["values"] == "load-average";
                assert!(load >= 0.0 && is_share, "{load}");
                last = date;
            }
        }
    }
}

/// Splits a text into the lines that the reader counts. Lines of a profile may end as on old Macintosh computers. Bytes that are not text
/// were refused before.
fn as_counted(choice: u8, text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if choice & 1 > 0 && !text.contains('\0') => {
            text.replace("\r\n", "\n").replace('\r', "\n")
        }
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}
