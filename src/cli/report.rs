//! Implements `migsim report`: writes the HTML page about the folder of a run, a sweep or a search, or draws figures from it.

use std::{io::Write, path::Path};

use super::{
    args::{MemoryArguments, ReportArguments, parse_figure_file},
    figures::{print_figure_names, requests_figure_list, write_figures},
    memory_limit::memory_and_thread_limits,
    print::print_line,
};
use crate::{
    Registry,
    error::{Error, Problem, Result},
    memory::{self, ExperimentPurpose, Limits},
    output::{Report, RunFolder, write_file_atomically, write_file_named_by_user},
    sweep::{
        folder::{available_figures, figures_of_folder, page_from_folder},
        tune_report,
    },
};

/// File name that the page of a report has if the user names no file.
pub(super) const DEFAULT_PAGE_NAME: &str = "report.html";

pub(super) fn run_report(
    registry: &Registry,
    arguments: &ReportArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let folder = &arguments.folder;
    // A run that writes to the folder would replace the numbers while their page is made.
    let _lock = match &arguments.out {
        None if folder_contains_file(folder, "run.json") => RunFolder::lock_folder_at(folder)?,
        _ => None,
    };
    check_memory_for_page(
        folder,
        memory_and_thread_limits(
            &MemoryArguments {
                memory_limit: arguments.memory_limit,
                ..MemoryArguments::default()
            },
            Some(1),
            ExperimentPurpose::ResultPage,
        ),
    )?;
    if let Some(wanted) = &arguments.figure {
        if requests_figure_list(wanted, arguments.out.as_ref().map(|_| "--out"))? {
            return print_figure_list(registry, folder, out);
        }
        return draw_figures(registry, arguments, wanted, errors);
    }
    let page = match ResultsKind::from_folder(folder)? {
        ResultsKind::Run => Report::read(registry, folder)?.to_html(),
        ResultsKind::Search => tune_report::page_from_folder(folder)?,
        ResultsKind::Sweep => {
            let (page, half_time) = page_from_folder(folder)?;
            if let Some(half_time) = half_time {
                print_line(errors, &format!("note: {half_time}"));
            }
            page
        }
    };
    match &arguments.out {
        Some(file) => write_file_named_by_user(file, page.as_bytes()),
        None => write_file_atomically(&folder.join(DEFAULT_PAGE_NAME), page.as_bytes()),
    }
}

/// Kind of results that a folder contains: a run, a sweep, or a search for settings.
enum ResultsKind {
    Run,
    Sweep,
    Search,
}

impl ResultsKind {
    /// Determines from the files of a folder which kind of results it contains.
    ///
    /// # Errors
    /// The folder does not exist or contains no results.
    fn from_folder(folder: &Path) -> Result<Self> {
        if folder_contains_file(folder, "run.json") {
            return Ok(Self::Run);
        }
        match (
            folder_contains_file(folder, "plan.json"),
            folder_contains_file(folder, tune_report::REPORT_FILE),
        ) {
            (true, false) => Ok(Self::Sweep),
            (true, true) => Ok(Self::Search),
            (false, _) if folder_contains_file(folder, "bottlenecks.json") => {
                let what = "the folder has the results of `migsim bottlenecks`, whose page is `index.html` in this folder";
                let hint = "open this page; `migsim bottlenecks` with the settings of the run and this folder as `--out` prints the results and draws them with `--figure`";
                Err(Error::input(what, folder.display().to_string(), hint))
            }
            (false, _) => Err(no_results_error(folder)),
        }
    }
}

/// Returns the error for a folder that does not exist, or that contains neither a run nor a sweep nor a search.
fn no_results_error(folder: &Path) -> Error {
    let what = if folder.is_dir() {
        "the folder has no results of a run, sweep, search or comparison"
    } else {
        "there is no such folder"
    };
    Error::input(
        what,
        folder.display().to_string(),
        "name a folder that `migsim run --out`, `sweep`, `tune --out` or `compare --out` has written, with `run.json` or `plan.json` in it",
    )
}

fn print_figure_list(registry: &Registry, folder: &Path, out: &mut dyn Write) -> Result {
    let list = match ResultsKind::from_folder(folder)? {
        ResultsKind::Run => Report::read(registry, folder)?.available_figures(),
        ResultsKind::Sweep | ResultsKind::Search => available_figures(folder)?,
    };
    print_figure_names(&list, out)
}

/// Draws the figures that the user requested from the results in a folder, instead of writing the page.
fn draw_figures(
    registry: &Registry,
    arguments: &ReportArguments,
    wanted: &str,
    errors: &mut dyn Write,
) -> Result {
    let folder = &arguments.folder;
    let style = arguments.style.style;
    let figures = match ResultsKind::from_folder(folder)? {
        ResultsKind::Run => Report::read(registry, folder)?.draw_figures(wanted, &style),
        ResultsKind::Sweep | ResultsKind::Search => figures_of_folder(folder, wanted, &style),
    };
    let figures =
        figures.map_err(|error| error.with_default_source(&format!("--figure {wanted}")))?;
    match (&arguments.out, &figures[..]) {
        (Some(file), [figure]) if wanted != "all" => {
            let name = file.to_string_lossy();
            parse_figure_file(&name)
                .map_err(|what| Problem::new(what).source(format!("--out {name}")))?;
            write_file_named_by_user(file, figure.to_svg().as_bytes())
        }
        (out, figures) => write_figures(figures, out.as_deref().unwrap_or(Path::new("")), errors),
    }
}

/// Checks that the files of the folder, and the page that is generated from them, fit into the memory that `limits` allows.
fn check_memory_for_page(folder: &Path, limits: Limits) -> Result {
    let bytes: f64 = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .map(|size| size as f64)
        .sum();
    limits
        .check_memory(
            "the page",
            memory::result_folder_memory(bytes),
            format!("{bytes} bytes of files"),
        )
        .map_err(|problem| problem.source(folder.display().to_string()).into())
}

/// Returns whether `folder` contains a file with the name `file`.
fn folder_contains_file(folder: &Path, file: &str) -> bool {
    folder.join(file).is_file()
}
