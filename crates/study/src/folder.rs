//! The folder of a sweep: `plan.json`, the rows, and the files generated from them. Files are written completely and then
//! renamed; only `runs.jsonl` grows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::figures::{draw_figures, figure_description};
use super::page::sweep_page;
use super::plan::Plan;
use super::row::RunRow;
use super::run::Shard;
use super::store::{self, Store};
use super::summary::Summary;
use super::table::runs_csv;
use migsim_base::document::{Document, read_text};
use migsim_base::error::{Error, Problem};
use migsim_base::words::format_count;
use migsim_output::figure::{Figure, FigureStyle, select_figures};
use migsim_output::{
    OutputForm, cannot_write_error, read_refusing_outside_links, write_file_atomically,
};

const PLAN_FILE: &str = "plan.json";

/// The printed report of a finished sweep.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SweepReport {
    /// The results as text.
    pub results_text: String,
    /// The number of failed runs and the first reason; `None` if no run failed.
    pub failure_description: Option<String>,
}

/// Checks that a folder contains no results of runs that are not part of the plan. Results of a part of the plan may be there:
/// a sweep can be continued and extended.
///
/// # Errors
/// The plan in the folder has other runs.
pub fn check_earlier_plan_is_part(folder: &Path, plan: &Plan) -> Result<(), Error> {
    let (Ok(earlier), Ok(rows)) = (read_plan(folder), store::read_rows_if_any(folder)) else {
        return Ok(());
    };
    let runs: BTreeSet<&String> = plan.runs.iter().collect();
    let has_result = |run: &&String| rows.get(*run).is_some_and(|row| row.error.is_none());
    let mut done = earlier.runs.iter().filter(has_result);
    if done.all(|run| runs.contains(run)) {
        return Ok(());
    }
    let problem =
        Problem::new("the folder already holds results of other settings, seeds or files");
    Err(problem
        .source(folder.join(PLAN_FILE).display().to_string())
        .hint("choose another folder with `--out`, or remove this one")
        .into())
}

/// Writes the plan of a sweep into its folder.
///
/// # Errors
/// The plan cannot be written.
pub fn write_plan(folder: &Path, plan: &Plan) -> Result<(), Error> {
    let mut bytes = serde_json::to_vec(plan).expect("a plan is JSON");
    bytes.push(b'\n');
    write_file_atomically(&folder.join(PLAN_FILE), &bytes)
}

/// Writes `runs.csv` with the rows of a part (`shard`) of a plan, and returns the path of the file.
///
/// # Errors
/// The file cannot be written.
pub fn write_runs_csv(
    folder: &Path,
    plan: &Plan,
    shard: Shard,
    rows: &BTreeMap<String, RunRow>,
) -> Result<PathBuf, Error> {
    let path = folder.join("runs.csv");
    let table = runs_csv(plan, shard, rows)
        .map_err(|error| cannot_write_error(&path.display().to_string(), &error))?;
    write_file_atomically(&path, &table)?;
    Ok(path)
}

/// Writes texts into files of a folder; each text comes with the name of its file.
///
/// # Errors
/// A file cannot be written.
pub fn write_text_files(folder: &Path, texts: &[(&str, &str)]) -> Result<(), Error> {
    let mut texts = texts.iter();
    texts.try_for_each(|(name, text)| write_file_atomically(&folder.join(name), text.as_bytes()))
}

/// Writes the tables and figures of the existing rows into the folder. The report of a complete sweep is returned in the output
/// form `form`.
///
/// # Errors
/// A file cannot be written.
pub fn write_results(
    folder: &Path,
    plan: &Plan,
    shard: Shard,
    rows: &BTreeMap<String, RunRow>,
    form: OutputForm,
) -> Result<SweepReport, Error> {
    let path = write_runs_csv(folder, plan, shard, rows)?;
    let own = shard.runs(plan).filter_map(|(_, id)| rows.get(id));
    let own: Vec<&RunRow> = own.collect();
    let failures = describe_failures(&own, &path);
    let place = folder.display().to_string();
    if shard != Shard::WHOLE {
        let runs = format_count(own.len(), "run");
        let text = format!(
            "{runs} in {place}: this is one part of a sweep, and `migsim sweep merge` joins the parts\n"
        );
        return Ok(SweepReport {
            results_text: text,
            failure_description: failures,
        });
    }
    let summary = Summary::from_rows(plan, rows);
    let path = folder.join("summary.csv");
    let table = summary
        .csv(plan)
        .map_err(|error| cannot_write_error(&path.display().to_string(), &error))?;
    write_file_atomically(&path, &table)?;
    let figures = figure_svg_files(plan, rows, &summary);
    for (name, svg) in &figures {
        write_file_atomically(&folder.join(name), svg.as_bytes())?;
    }
    let remarks = Vec::from_iter(failures.clone());
    let page = sweep_page(plan, &summary, &figures, &remarks);
    write_file_atomically(&folder.join("index.html"), page.as_bytes())?;
    let text = summary.to_text(plan, (own.len(), &place), form);
    let text = text.map_err(|error| cannot_write_error(&place, &error))?;
    Ok(SweepReport {
        results_text: text,
        failure_description: failures,
    })
}

/// Draws the figures for the folder and its page; returns the file name and the SVG text of each figure.
fn figure_svg_files(
    plan: &Plan,
    rows: &BTreeMap<String, RunRow>,
    summary: &Summary,
) -> Vec<(&'static str, String)> {
    let figures = draw_figures(plan, rows, summary, &FigureStyle::default());
    let file = |figure: &Figure| match figure.name.as_str() {
        "heat" => ("heat.svg", figure.to_svg()),
        _ => ("lines.svg", figure.to_svg()),
    };
    figures.iter().map(file).collect()
}

/// Returns the figure with the name `wanted` of a sweep folder, or all figures for `all`.
///
/// # Errors
/// The folder cannot be read, or it has no such figure.
pub fn figures_of_folder(
    folder: &Path,
    wanted: &str,
    style: &FigureStyle,
) -> Result<Vec<Figure>, Error> {
    let figures = all_figures(folder, style)?;
    let known: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    let wanted: Vec<String> = select_figures(wanted, &known)?
        .into_iter()
        .map(str::to_owned)
        .collect();
    Ok(figures
        .into_iter()
        .filter(|figure| wanted.contains(&figure.name))
        .collect())
}

/// Lists the names of the figures of a sweep folder, each with a sentence that describes it.
///
/// # Errors
/// The folder cannot be read, or it has no figure.
pub fn available_figures(folder: &Path) -> Result<Vec<(&'static str, &'static str)>, Error> {
    let figures = all_figures(folder, &FigureStyle::default())?;
    Ok(figures
        .iter()
        .map(|figure| figure_description(&figure.name))
        .collect())
}

fn all_figures(folder: &Path, style: &FigureStyle) -> Result<Vec<Figure>, Error> {
    let plan = read_plan(folder)?;
    let rows = store::read_rows(folder)?;
    let figures = draw_figures(&plan, &rows, &Summary::from_rows(&plan, &rows), style);
    if figures.is_empty() {
        let problem = Problem::new(
            "the sweep has no figure, since nothing varies in it or no run has a result",
        );
        let problem = problem.source(folder.display().to_string());
        return Err(problem
            .hint("name a sweep with several values of a parameter, whose runs are finished")
            .into());
    }
    Ok(figures)
}

/// Describes the number of failed runs, the first reason, and the table that contains all reasons; `None` if no run failed.
fn describe_failures(rows: &[&RunRow], table: &Path) -> Option<String> {
    let errors: Vec<&str> = rows.iter().filter_map(|row| row.error.as_deref()).collect();
    let first = errors.first()?;
    Some(format!(
        "{} of {} runs failed; the error of the first: {first}\n  hint: see the error of each run in `{}`",
        errors.len(),
        rows.len(),
        table.display()
    ))
}

/// Creates the HTML page of a sweep from the plan and the rows in its folder. If runs are missing, also returns a remark that
/// states this.
///
/// # Errors
/// The folder cannot be read.
pub fn page_from_folder(folder: &Path) -> Result<(String, Option<String>), Error> {
    let plan = read_plan(folder)?;
    let rows = store::read_rows(folder)?;
    let own = Shard::WHOLE.runs(&plan).filter_map(|(_, id)| rows.get(id));
    let own: Vec<&RunRow> = own.collect();
    let half_time = (own.len() < plan.runs.len()).then(|| {
        format!(
            "only {} of {} runs are finished, so that the best setting and all means may still change; to finish the other runs, repeat the command that began the sweep",
            own.len(),
            plan.runs.len()
        )
    });
    let failures = describe_failures(&own, &folder.join("runs.csv"));
    let remarks: Vec<String> = half_time.iter().cloned().chain(failures).collect();
    let summary = Summary::from_rows(&plan, &rows);
    let figures = figure_svg_files(&plan, &rows, &summary);
    Ok((sweep_page(&plan, &summary, &figures, &remarks), half_time))
}

/// Joins the folders of the parts of a plan into the folder `out`.
///
/// # Errors
/// A folder has no plan or a different plan, two rows of a run differ, runs are missing, or a file cannot be written.
pub fn merge_folders(
    folders: &[PathBuf],
    out: &Path,
    form: OutputForm,
) -> Result<SweepReport, Error> {
    let mut whole: Option<(&Path, Plan)> = None;
    let mut rows: BTreeMap<String, (RunRow, &Path)> = BTreeMap::new();
    for folder in folders {
        let plan = read_plan(folder)?;
        match &whole {
            None => whole = Some((folder, plan)),
            Some((first, other)) => check_same_plan(other, first, &plan, folder)?,
        }
        for (id, row) in store::read_rows(folder)? {
            add_row_from_folder(&mut rows, id, (row, folder))?;
        }
    }
    let Some((_, plan)) = whole else {
        return Err(Problem::new("no folder to merge is named")
            .hint("name the folders of the parts: `migsim sweep merge half-1 half-2 --out whole`")
            .into());
    };
    let absent = plan
        .runs
        .iter()
        .filter(|id| !rows.contains_key(*id))
        .count();
    let mut store = Store::open(out)?;
    let known: Vec<(&String, &RunRow)> = plan
        .runs
        .iter()
        .filter_map(|id| Some((id, &rows.get(id)?.0)))
        .collect();
    for (id, row) in known {
        if store.get(id) != Some(row) {
            store.add(id, row.clone())?;
        }
    }
    store.sync()?;
    write_plan(out, &plan)?;
    if absent > 0 {
        let message = format!(
            "the named folders lack {absent} of the {} runs of the sweep",
            plan.runs.len()
        );
        let hint = format!(
            "run the missing parts, then repeat this command; the runs that exist are kept in `{}`",
            out.display()
        );
        return Err(Problem::new(message).hint(hint).into());
    }
    write_results(out, &plan, Shard::WHOLE, store.rows(), form)
}

/// Adds a row that was read from a folder. Of two rows for the same run, the first row is kept, unless its run failed because of
/// its input.
fn add_row_from_folder<'f>(
    rows: &mut BTreeMap<String, (RunRow, &'f Path)>,
    id: String,
    (row, folder): (RunRow, &'f Path),
) -> Result<(), Error> {
    let Some((known, first)) = rows.get(&id) else {
        rows.insert(id, (row, folder));
        return Ok(());
    };
    // A run that failed because of its input may have succeeded later, with a corrected input.
    if known.is_input && !row.is_input {
        rows.insert(id, (row, folder));
    } else if *known != row && !row.is_input {
        let first = first.display();
        let message =
            format!("the results of run {id} in this folder differ from those in `{first}`");
        let problem = Problem::new(message).source(folder.display().to_string());
        let hint = "find which of the two folders is damaged or of another version of migsim, and run this part again";
        return Err(problem.hint(hint).into());
    }
    Ok(())
}

/// Reads and checks the plan of a folder.
///
/// # Errors
/// The plan cannot be read, or its parts are inconsistent.
pub fn read_plan(folder: &Path) -> Result<Plan, Error> {
    let path = folder.join(PLAN_FILE);
    let name = path.display().to_string();
    let hint = "name folders that `migsim sweep`, `tune --out` or `compare --out` has written";
    let text =
        read_refusing_outside_links(&path, read_text).map_err(|problem| problem.hint(hint))?;
    let document = Document::parse(name, text)?;
    let plan: Plan = document.deserialize()?;
    check_plan(&plan, &document)?;
    Ok(plan)
}

/// Checks that a plan contains a value of each parameter for each setting, and a run for each setting and seed.
fn check_plan(plan: &Plan, document: &Document) -> Result<(), Error> {
    let wrong = |key: &str, message: String| {
        let problem = document.problem_at(key, message);
        Err(problem
            .hint("repeat the command that began the sweep, which writes the plan again")
            .into())
    };
    for (key, count) in [
        ("settings", plan.settings.len()),
        ("seeds", plan.seeds.len()),
    ] {
        if count == 0 {
            return wrong(key, format!("the list `{key}` of the plan is empty"));
        }
    }
    let parameters = plan.names.len();
    let values = plan.settings.iter().map(Vec::len);
    if let Some((index, count)) = values.enumerate().find(|(_, count)| *count != parameters) {
        let message = format!(
            "this setting has {}, but the plan has {}",
            format_count(count, "value"),
            format_count(parameters, "parameter")
        );
        return wrong(&format!("settings[{index}]"), message);
    }
    let expected = plan.settings.len().saturating_mul(plan.seeds.len());
    if plan.runs.len() != expected {
        let message = format!(
            "the plan lists {} instead of {expected}, one for each setting and seed",
            format_count(plan.runs.len(), "run")
        );
        return wrong("runs", message);
    }
    Ok(())
}

/// Checks that two folders contain parts of the same plan.
fn check_same_plan(
    first: &Plan,
    first_folder: &Path,
    plan: &Plan,
    folder: &Path,
) -> Result<(), Error> {
    let difference = if first.version != plan.version {
        format!(
            "it is of version {} of migsim instead of {}",
            plan.version, first.version
        )
    } else if first.names != plan.names {
        format!(
            "it varies {} instead of {}",
            plan.names.join(", "),
            first.names.join(", ")
        )
    } else if first.settings != plan.settings {
        "its parameters vary over other values".into()
    } else if first.seeds != plan.seeds {
        "its seeds are different".into()
    } else if first.runs != plan.runs {
        "its fixed settings or input files are different".into()
    } else {
        return Ok(());
    };
    let message = format!(
        "the plan of this folder differs from that of `{}`: {difference}",
        first_folder.display()
    );
    Err(Problem::new(message)
        .source(folder.display().to_string())
        .hint("name only folders that are parts of one sweep")
        .into())
}
