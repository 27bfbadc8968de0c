//! The command `migsim`: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    migsim::cli::main()
}
