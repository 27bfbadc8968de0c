//! `migsim record`: runs an MPI program under the recorder, and writes what it computes and sends as a trace.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::args::{RecordArguments, RecordClock};
use super::interrupt::{self, Watch};
use super::print::print;
use crate::document::read_text;
use crate::error::{Error, Problem};
use crate::output::write_named;
use crate::words::counted;
use crate::workload::record::{RECORDER, convert};

pub(super) fn run(arguments: &RecordArguments, out: &mut dyn Write) -> Result<(), Error> {
    let recorder = recorder()?;
    let folder = std::env::temp_dir().join(format!("migsim-record-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let watch = Watch::begin();
    let made = recorded(arguments, &recorder, &folder);
    let _ = fs::remove_dir_all(&folder); // what is left in a folder of temporary files harms nobody
    if made.is_err() && watch.is_some_and(|watch| watch.is_asked()) {
        interrupt::leave(Some("interrupted: nothing was written"));
    }
    print(out, &made?)
}

/// Runs the program, converts its records and writes the trace; what there is to say about it.
fn recorded(arguments: &RecordArguments, recorder: &Path, folder: &Path) -> Result<String, Error> {
    launch(arguments, recorder, folder)?;
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unwritable(folder, &error))? {
        let path = entry.map_err(|error| unwritable(folder, &error))?.path();
        records.push((path.display().to_string(), read_text(&path)?));
    }
    if records.is_empty() {
        let message = format!("`{}` called no MPI function", arguments.program.join(" "));
        let hint = "the program must be linked dynamically with the MPI library of `mpicc`, and run on this host: \
                    static linking escapes the recorder";
        return Err(Error::Run(Problem::new(message).hint(hint)));
    }
    records.sort();
    let made = convert(&records, arguments.speed)?;
    write_named(&arguments.out, made.trace.as_bytes())?;
    Ok(format!(
        "{}: {}, {}, {}\nwork: {} time x {}\nrecorder: {} ns a call\n",
        arguments.out.display(),
        counted(made.processes, "process"),
        counted(made.supersteps, "superstep"),
        counted(made.messages, "message"),
        arguments.clock.name(),
        arguments.speed,
        made.overhead
    ))
}

/// Runs the program with the recorder before its library.
fn launch(arguments: &RecordArguments, recorder: &Path, folder: &Path) -> Result<(), Error> {
    let [program, rest @ ..] = arguments.program.as_slice() else {
        return Err(Problem::new("no program")
            .hint("write it behind `--`")
            .into());
    };
    let mut preload = recorder.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let status = Command::new(program)
        .args(rest)
        .env("LD_PRELOAD", preload)
        .env("MIGSIM_RECORD_DIR", folder)
        .env("MIGSIM_RECORD_CLOCK", arguments.clock.name())
        .status();
    let status = status.map_err(|error| {
        let problem = Problem::new(format!("cannot start `{program}`: {error}"));
        let hint = "write the whole command behind `--`: migsim record -- mpirun -np 8 ./program";
        Error::from(problem.hint(hint))
    })?;
    if status.success() {
        return Ok(());
    }
    let message = format!("the program failed: {status}");
    let hint = "run it without `migsim record` first; nothing was written";
    Err(Error::Run(Problem::new(message).hint(hint)))
}

/// The recorder, compiled on first use for this source and this `mpicc`.
fn recorder() -> Result<PathBuf, Error> {
    let version = Command::new("mpicc").arg("-v").output();
    let version = version.map_err(|error| {
        let problem = Problem::new(format!("cannot start `mpicc`: {error}"));
        let hint = "install an MPI library with its compiler (Debian: apt-get install openmpi-bin libopenmpi-dev), or load its module";
        Error::from(problem.hint(hint))
    })?;
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let folder = cache.or_else(home).unwrap_or_else(std::env::temp_dir);
    let folder = folder.join("migsim");
    let text = [RECORDER.as_bytes(), &version.stdout, &version.stderr].concat();
    let library = folder.join(format!("recorder-{:016x}.so", hash(&text)));
    if library.exists() {
        return Ok(library);
    }
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    // Renamed when it is whole: another command may compile at the same time.
    let source = folder.join(format!("recorder-{}.c", std::process::id()));
    let object = source.with_extension("so");
    fs::write(&source, RECORDER).map_err(|error| unwritable(&source, &error))?;
    let compiled = Command::new("mpicc")
        .args(["-O2", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o"])
        .args([&object, &source])
        .arg("-ldl")
        .output();
    let _ = fs::remove_file(&source); // only the library is needed
    let compiled = compiled.map_err(|error| unwritable(&object, &error))?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        let problem = Problem::new(format!(
            "`mpicc` cannot compile the recorder: {}",
            said.trim()
        ));
        let hint = "it needs an MPI library of version 3 and a C compiler for Linux";
        return Err(Error::Run(problem.hint(hint)));
    }
    fs::rename(&object, &library).map_err(|error| unwritable(&library, &error))?;
    Ok(library)
}

/// FNV-1a: the same on every machine and in every version.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::Output(Problem::new(format!("cannot write: {error}")).source(path.display().to_string()))
}

impl RecordClock {
    fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
        }
    }
}
