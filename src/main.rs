//! The command `migsim`, which only calls the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    migsim::cli::main()
}
