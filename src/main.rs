//! The command `migsim`, a thin shell around the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    migsim::cli::main()
}
