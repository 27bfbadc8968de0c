//! `migsim report`: writes the page of a run folder or of a sweep folder.

use std::io::Write;
use std::path::Path;

use super::args::ReportArguments;
use super::memory_limit::limits;
use super::print::say;
use crate::error::{Error, Problem};
use crate::memory::{self, Limits, Purpose};
use crate::output::{Report, RunFolder, write_file, write_named};
use crate::registry::Registry;
use crate::sweep::folder::page_of;

/// The name of the page where none is given.
pub(super) const FILE: &str = "report.html";

pub(super) fn report(
    registry: &Registry,
    arguments: &ReportArguments,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let folder = &arguments.folder;
    // A run that writes to the folder would replace the numbers while their page is made.
    let _lock = match &arguments.out {
        None if is_there(folder, "run.json") => RunFolder::lock(folder)?,
        _ => None,
    };
    check_size(folder, limits(&arguments.memory, Some(1), Purpose::Page))?;
    let page = match (is_there(folder, "run.json"), is_there(folder, "plan.json")) {
        (true, _) => Report::read(registry, folder)?.html(),
        (false, true) => {
            let (page, half_time) = page_of(folder)?;
            if let Some(half_time) = half_time {
                say(errors, &format!("note: {half_time}"));
            }
            page
        }
        (false, false) => {
            let what = if folder.is_dir() {
                "the folder holds neither a run nor a sweep"
            } else {
                "there is no such folder"
            };
            return Err(Problem::new(what)
                .source(folder.display().to_string())
                .hint("name a folder that `migsim run --out` or `migsim sweep` has written; one without `run.json` or `plan.json` is not complete")
                .into());
        }
    };
    match &arguments.out {
        Some(file) => write_named(file, page.as_bytes()),
        None => write_file(&folder.join(FILE), page.as_bytes()),
    }
}

/// The files of the folder must fit, and the page that is made from them.
fn check_size(folder: &Path, limits: Limits) -> Result<(), Error> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
    let bytes: f64 = sizes.map(|size| size as f64).sum();
    let checked = limits.check(
        "the page",
        memory::folder(bytes),
        format!("{bytes} bytes of files"),
    );
    checked.map_err(|problem| problem.source(folder.display().to_string()).into())
}

fn is_there(folder: &Path, file: &str) -> bool {
    folder.join(file).is_file()
}
