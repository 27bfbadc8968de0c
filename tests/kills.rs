//! Commands that are killed, lose their reader or their disk at random moments: nothing is lost, no file is half, and the next call gives
//! the same bytes. The work is done by `tests/kills/run`, here with one disturbance of each kind, and with ten where all draws are done.

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
    // Five commands, seven kinds; the disk may be skipped.
    assert_eq!(text.lines().count(), 5 * 7 + 1, "{text}");
}
