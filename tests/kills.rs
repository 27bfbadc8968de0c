//! Commands that are killed, or that lose their reader or their disk, at random times: no result is lost, no file is incomplete, and the
//! next call gives the same bytes. The script `tests/kills/run` does the work: with one disturbance of each kind here, and with ten if all
//! draws are done.

use std::process::Command;

use crate::support::draws;

#[test]
fn commands_that_are_disturbed_lose_nothing() {
    let output = Command::new("tests/kills/run")
        .args([&draws(1, 10).to_string(), "7"])
        .env("MIGSIM", env!("CARGO_BIN_EXE_migsim"))
        .output()
        .expect("the script starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    // There are five commands and seven kinds; the disk may be skipped.
    assert_eq!(text.lines().count(), 5 * 7 + 1, "{text}");
}
