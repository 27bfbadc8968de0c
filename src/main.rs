//! The command `migsim`: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut out, mut errors) = (std::io::stdout(), std::io::stderr());
    ExitCode::from(migsim::cli::main(
        std::env::args_os(),
        &mut out,
        &mut errors,
    ))
}
