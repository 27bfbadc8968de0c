//! Measured loads, in CSV or as profiles of SimGrid: loads from 0 to 0.99, at dates that rise.

use migsim::Registry;
use migsim::load::MOST_LOAD;
use migsim::random::{Purpose, Stream};
use serde_json::json;

use super::{check_told, name, scratch};

/// The first byte chooses how the file is read; the rest is the file.
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
            json!((["load", "available", "load-average"])[usize::from(choice >> 6) % 3]);
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
    match kind.read(&keys) {
        Err(error) => check_told(&error, &source, &as_counted(choice, text)),
        Ok((load, resolved)) => {
            let (_, again) = kind.read(&resolved).expect("what was read is read again");
            assert_eq!(again, resolved);
            let mut last = -1.0;
            for (date, load) in load.steps(Stream::new(1, Purpose::Work)).take(100) {
                // Dates that are nearer than numbers can tell are equal.
                assert!(date >= last, "{date} after {last}");
                assert!((0.0..=MOST_LOAD).contains(&load), "{load}");
                last = date;
            }
        }
    }
}

/// The text in the lines in which the reader counts: those of a profile may end as old Macintoshes ended them. What is no text is refused
/// before.
fn as_counted(choice: u8, text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if choice & 1 > 0 && !text.contains('\0') => {
            text.replace("\r\n", "\n").replace('\r', "\n")
        }
        _ => String::from_utf8_lossy(text).into_owned(),
    }
}
