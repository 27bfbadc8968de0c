//! The program `migsim`, which only calls the function `main` of the command line in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    migsim::cli::main()
}
