//! The command `migsim`: everything it does is in the library.
fn main() {}
