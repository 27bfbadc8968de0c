//! The command `migsim`: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Colours go where there is a terminal that wants them.
    let (mut out, mut errors) = (anstream::stdout(), std::io::stderr());
    ExitCode::from(migsim::cli::main(
        std::env::args_os(),
        &mut out,
        &mut errors,
    ))
}
