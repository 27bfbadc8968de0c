//! Compiles the recorder and the ping-pong program with the user's `mpicc`, and keeps the compiled files in a folder that no
//! other user can write. A file is compiled again only if its source or `mpicc` changes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    slice,
};

use super::private;
use crate::{
    document::sha256,
    error::{Error, Problem, Result},
    workload::record::RECORDER,
};

const DEFAULT_COMPILER: &str = "mpicc";
/// Names of compilers of MPI libraries, in the order in which they are tried.
const COMPILERS: [&str; 4] = [DEFAULT_COMPILER, "mpicc.openmpi", "mpicc.mpich", "mpiicc"];

/// Returns the path of the recorder's library for the MPI library that the program loads. The recorder is compiled with
/// `compiler`, or with the first known compiler of this library; with `mpicc` if none of the words is such a program.
///
/// # Errors
/// No compiler belongs to the library of the program, or the recorder cannot be compiled.
pub(super) fn recorder_for_program(compiler: Option<&str>, program: &[String]) -> Result<PathBuf> {
    let loaded = program
        .iter()
        .find_map(|word| mpi_library_of(&path_of_command(word)?));
    let Some(loaded) = loaded else {
        return compile_recorder_if_needed(compiler.unwrap_or(DEFAULT_COMPILER));
    };
    let compilers = compiler.as_ref().map_or(&COMPILERS[..], slice::from_ref);
    let mut failures = Vec::new();
    for compiler in compilers {
        match compile_recorder_if_needed(compiler) {
            Ok(recorder) if mpi_library_of(&recorder).as_ref() == Some(&loaded) => {
                return Ok(recorder);
            }
            Ok(_) => {}
            Err(error) => failures.push(error),
        }
    }
    if failures.len() == compilers.len() {
        return Err(failures.swap_remove(0));
    }
    let message = format!(
        "the program loads the MPI library `{loaded}`, to which none of these compilers belongs: {}",
        compilers.join(", ")
    );
    let hint = "install the compiler of this MPI library, or name it with `--mpicc`";
    Err(Problem::new(message).hint(hint).into())
}

/// Returns the path of the file that a shell would run for this word; `None` if there is no such file.
fn path_of_command(word: &str) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(PathBuf::from(word)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(word));
    files.find(|file| file.is_file())
}

/// Returns the name of the MPI library that a program or a library loads, such as `libmpi.so.40`; `None` if it loads none.
fn mpi_library_of(file: &Path) -> Option<String> {
    let output = Command::new("ldd").arg(file).output().ok()?;
    let listed = String::from_utf8_lossy(&output.stdout);
    let mut names = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let is_mpi = |name: &&str| name.starts_with("libmpi.so") || name.starts_with("libmpich.so");
    names.find(is_mpi).map(str::to_owned)
}

/// Returns the path of the recorder's library. The library is compiled if it does not exist yet for this source and this
/// compiler.
pub(super) fn compile_recorder_if_needed(compiler: &str) -> Result<PathBuf> {
    let flags = ["-O2", "-shared", "-fPIC", "-Wl,--no-as-needed"];
    compile_if_needed(compiler, "recorder", "so", RECORDER, &flags)
}

/// Returns the path of an MPI program with the source text `source`. The program is compiled if it does not exist yet for this
/// source and this `mpicc`.
pub(super) fn compile_program_if_needed(name: &str, source: &str) -> Result<PathBuf> {
    compile_if_needed(DEFAULT_COMPILER, name, "bin", source, &["-O2"])
}

/// Returns the path of a compiled file in the cache folder. The source is compiled if no file exists yet for this source and this
/// compiler.
fn compile_if_needed(
    compiler: &str,
    name: &str,
    suffix: &str,
    source: &str,
    flags: &[&str],
) -> Result<PathBuf> {
    let version = Command::new(compiler).arg("-v").output().map_err(|error| {
        let problem = Problem::new(format!("cannot start `{compiler}`: {error}"));
        let hint = "install an MPI library with its compiler (Debian: `apt-get install openmpi-bin libopenmpi-dev`), or load its module";
        Error::from(problem.hint(hint))
    })?;
    let folder = compiled_files_folder()?;
    private::create_or_check_private_folder(&folder)?;
    let text = [
        source.as_bytes(),
        compiler.as_bytes(),
        &version.stdout,
        &version.stderr,
    ]
    .concat();
    let made = folder.join(format!("{name}-{}.{suffix}", &sha256(&text)[..16]));
    if !private::is_private_file(&made) {
        compile_source(compiler, &folder, &made, source, flags)?;
    }
    Ok(made)
}

fn compiled_files_folder() -> Result<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = given("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| given("HOME").map(|home| Path::new(&home).join(".cache")));
    let Some(folder) = folder else {
        let problem = Problem::new(
            "the folder in which the recorder is stored is unknown, since neither XDG_CACHE_HOME nor HOME is set",
        );
        let hint = "set XDG_CACHE_HOME or HOME to a folder to which only you can write, since the recorder runs inside your program";
        return Err(problem.hint(hint).into());
    };
    if !folder.is_absolute() || folder.to_string_lossy().contains([':', ' ']) {
        let message = "the path of the folder in which the recorder is stored is relative, or has a space or a colon";
        return Err(Error::input(
            message,
            folder.display().to_string(),
            "set XDG_CACHE_HOME to another folder, since the system cannot load the recorder from this one (LD_PRELOAD)",
        ));
    }
    Ok(folder.join("migsim"))
}

/// Compiles the source text `text` with `compiler` and the flags `flags` into the file `made`; the file appears only when it is
/// complete.
fn compile_source(
    compiler: &str,
    folder: &Path,
    made: &Path,
    text: &str,
    flags: &[&str],
) -> Result {
    let unwritable = |error: std::io::Error| {
        let problem = Problem::new(format!("cannot store the recorder in this folder: {error}"));
        let hint =
            "set XDG_CACHE_HOME or HOME to a folder with enough space, to which you can write";
        Error::Output(problem.source(folder.display().to_string()).hint(hint))
    };
    // The file is renamed when it is complete, because another command may compile at the same time.
    let source = folder.join(format!("source-{}.c", std::process::id()));
    let object = source.with_extension("made");
    fs::write(&source, text).map_err(unwritable)?;
    let compiled = Command::new(compiler)
        .args(flags)
        .arg("-o")
        .args([&object, &source])
        .arg("-ldl")
        .output();
    let _ = fs::remove_file(&source); // only the library is needed
    let compiled = compiled.map_err(unwritable)?;
    if !compiled.status.success() {
        let problem = Problem::new(format!(
            "`{compiler}` cannot compile the recorder or the ping-pong program of migsim: {}",
            String::from_utf8_lossy(&compiled.stderr).trim()
        ));
        let hint = "install an MPI library that supports MPI 3, and a C compiler for Linux";
        return Err(Error::SimulationFailure(problem.hint(hint)));
    }
    private::remove_write_permission_of_others(&object).map_err(unwritable)?;
    fs::rename(&object, made).map_err(unwritable)
}
