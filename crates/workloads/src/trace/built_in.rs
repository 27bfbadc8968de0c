//! The recorded programs that come with migsim. A name such as `built-in:comd` can be given wherever the path of a trace is
//! expected.
//!
//! `workloads/recorded/README.md` lists the programs, their options and the computer that ran them.

use std::{io::Read as _, path::Path};

use migsim_base::{
    document::{BUILT_IN, read_bytes},
    error::Problem,
};

/// Declares a list of built-in traces from the names of their files.
macro_rules! traces {
    ($($name:literal),*) => {
        [$(($name, include_bytes!(concat!("../../../../workloads/recorded/", $name, ".trace.br")))),*]
    };
}

/// Name and text of each built-in trace; the text is compressed with brotli.
const BUILT_IN_TRACES: &[(&str, &[u8])] =
    &traces!["cg", "comd", "heat", "lulesh", "minife", "sort"];

/// Size of the buffer of the brotli decompressor \[B\].
const BROTLI_BUFFER_BYTES: usize = 1 << 16;

/// Returns the bytes of a trace: `file` is the name of a built-in trace (`built-in:NAME`) or the path of a file.
///
/// # Errors
/// There is no built-in trace of this name, or the file cannot be read.
pub(crate) fn read_trace_bytes(file: &str) -> Result<Vec<u8>, Problem> {
    let Some(name) = file.strip_prefix(BUILT_IN) else {
        return read_bytes(Path::new(file));
    };
    let names = BUILT_IN_TRACES.iter().map(|trace| trace.0);
    let found = BUILT_IN_TRACES.iter().find(|trace| trace.0 == name);
    let (_, packed) = found.ok_or_else(|| {
        Problem::unknown_name("built-in trace", name).with_known_names("built-in traces", names)
    })?;
    let mut bytes = Vec::new();
    let mut unpacked = brotli_decompressor::Decompressor::new(*packed, BROTLI_BUFFER_BYTES);
    unpacked
        .read_to_end(&mut bytes)
        .map_err(|error| Problem::new(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn each_built_in_trace_can_be_read() {
        for (name, _) in BUILT_IN_TRACES {
            let file = format!("{BUILT_IN}{name}");
            let trace = Trace::parse_bytes(&file, &read_trace_bytes(&file).unwrap()).expect(name);
            assert_eq!(trace.recording().get("library"), Some("open-mpi"), "{name}");
        }
        let unknown = read_trace_bytes("built-in:lu").unwrap_err().to_string();
        assert!(unknown.contains("built-in traces: cg, comd"), "{unknown}");
    }
}
