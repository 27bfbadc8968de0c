//! Finds and reads the files of vt data: one file per rank, with a common prefix, in plain JSON or compressed with brotli. The
//! content of a file, not its name, determines whether it is decompressed.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use migsim_base::{
    document::{cannot_read_error, limit_problems, path_of_text, read_binary, text_of_path},
    error::{Error, Problem, Result},
};

/// Maximum size of the JSON text in a compressed file \[B\].
const MAX_DECOMPRESSED_SIZE: u64 = 1 << 28;

/// Size of the buffer of the brotli decompressor \[B\].
const BROTLI_BUFFER_BYTES: usize = 1 << 16;

/// The file with the load-balancing data of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankFile {
    /// Number of the rank, counted from 0.
    pub rank: usize,
    /// Path of the file, for error messages.
    pub source: String,
    /// Content of the file, which may be compressed.
    pub bytes: Vec<u8>,
}

/// Reads the files `PREFIX.RANK.json` or `PREFIX.RANK.json.br` of all ranks, in the order of ranks.
///
/// # Errors
/// There are no files, a rank is missing or has two files, or a file cannot be read.
pub fn read_rank_files(prefix: &str) -> Result<Vec<RankFile>> {
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    let mut problems = Vec::new();
    for (rank, path) in rank_file_paths(prefix)? {
        if let Some(other) = found.insert(rank, path.clone()) {
            let message = format!("rank {rank} has two files: this one and `{other}`");
            let problem = Problem::new(message).source(path);
            problems.push(problem.hint("remove one of the two files"));
        }
    }
    if found.is_empty() {
        return Err(no_files_error(prefix)?.into());
    }
    let last = found.keys().next_back().copied().unwrap_or_default();
    // The search for a gap is limited by the number of existing ranks, so that a huge number causes no long loop.
    let gap = (0..=found.len()).find(|rank| !found.contains_key(rank));
    if let Some(rank) = gap.filter(|rank| *rank < last) {
        let message =
            format!("the file of rank {rank} is missing, but there is a file of rank {last}");
        problems.push(Problem::new(message).source(prefix).hint(format!(
            "add the file `{prefix}.{rank}.json`: each rank from 0 to the last needs a file, even without tasks"
        )));
    }
    Error::unless_empty(limit_problems(problems))?;
    found
        .into_iter()
        .map(|(rank, source)| {
            Ok(RankFile {
                rank,
                bytes: read_binary(Path::new(&source))?,
                source,
            })
        })
        .collect()
}

/// Returns the paths of all data files with a prefix, each with its rank.
///
/// # Errors
/// The folder cannot be read.
pub fn rank_file_paths(prefix: &str) -> Result<Vec<(usize, String)>> {
    let (folder, stem) = split_prefix(prefix);
    let mut found = Vec::new();
    for name in sorted_file_names(&folder)? {
        if let Some((_, rank)) = split_file_name(&name).filter(|(begin, _)| *begin == stem) {
            found.push((rank, folder.join(&name).display().to_string()));
        }
    }
    Ok(found)
}

fn split_prefix(prefix: &str) -> (PathBuf, String) {
    let (folder, stem) = prefix.rsplit_once('/').unwrap_or(("", prefix));
    let folder = match (folder, prefix.starts_with('/')) {
        ("", true) => Path::new("/"),
        ("", false) => Path::new("."),
        (folder, _) => Path::new(folder),
    };
    let folder = match folder.to_str() {
        Some(".") => PathBuf::new(),
        _ => folder.to_owned(),
    };
    (folder, stem.to_owned())
}

fn sorted_file_names(folder: &Path) -> Result<Vec<String>, Problem> {
    let place = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut names: Vec<String> = fs::read_dir(path_of_text(place))
        .map_err(|error| cannot_read_error(place, &error))?
        .flatten()
        .map(|entry| entry.file_name())
        .map(|name| text_of_path(&name))
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// Splits the name of a data file into its prefix and its rank; `None` if it is not the name of a data file.
fn split_file_name(name: &str) -> Option<(&str, usize)> {
    let name = name.strip_suffix(".br").unwrap_or(name);
    let (prefix, rank) = name.strip_suffix(".json")?.rsplit_once('.')?;
    let is_number = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
    Some((prefix, rank.parse().ok()?)).filter(|_| is_number)
}

fn no_files_error(prefix: &str) -> Result<Problem> {
    let (folder, _) = split_prefix(prefix);
    let problem = Problem::new(format!("there is no file `{prefix}.0.json`")).source(prefix);
    let beside = Path::new(prefix).is_dir();
    let looked = if beside { Path::new(prefix) } else { &folder };
    let mut known: Vec<String> = sorted_file_names(looked)?
        .iter()
        .filter_map(|name| Some(split_file_name(name)?.0))
        .map(|stem| looked.join(stem).display().to_string())
        .collect();
    known.dedup();
    Ok(if known.is_empty() {
        problem.hint("name the common prefix of the files: `--data nolb/data` reads `nolb/data.0.json`, `nolb/data.1.json` and so on")
    } else {
        problem
            .with_unknown_name("prefix", prefix)
            .with_known_names("prefixes", known.iter().map(String::as_str))
    })
}

pub(super) fn decompressed_json_text(file: &RankFile) -> Result<String, Problem> {
    let is_open = |bytes: &[u8]| bytes.trim_ascii_start().first() == Some(&b'{');
    let wrong = |message: String, hint: &str| Problem::new(message).source(&file.source).hint(hint);
    match std::str::from_utf8(&file.bytes) {
        Ok(text) if is_open(&file.bytes) => return Ok(text.to_owned()),
        _ => {}
    }
    let mut text = Vec::new();
    match brotli_decompressor::Decompressor::new(&file.bytes[..], BROTLI_BUFFER_BYTES)
        .take(MAX_DECOMPRESSED_SIZE + 1)
        .read_to_end(&mut text)
    {
        Ok(_) if text.len() as u64 > MAX_DECOMPRESSED_SIZE => Err(wrong(
            format!(
                "the unpacked data of rank {} is larger than 256 MiB",
                file.rank
            ),
            "check whether this is a file of vt, whose unpacked data of one rank is never that large",
        )),
        Ok(_) if !text.is_empty() => String::from_utf8(text).map_err(|_| {
            wrong(
                format!("the data of rank {} is not text in UTF-8", file.rank),
                "check whether this is a file of vt: it is compressed, but its content is not JSON",
            )
        }),
        _ => match std::str::from_utf8(&file.bytes) {
            // The JSON reader reports what is wrong with it.
            Ok(text) if !file.bytes.contains(&0) => Ok(text.to_owned()),
            _ => Err(wrong(
                format!(
                    "the data of rank {} is neither JSON nor compressed with brotli",
                    file.rank
                ),
                "name the files as vt has written them, and unpack other compressions first",
            )),
        },
    }
}
