//! The folder of a sweep: `plan.json`, the rows, and the files generated from them. Files are written completely and then
//! renamed; only `runs.jsonl` grows.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    figures::{draw_figures, figure_description},
    page::sweep_page,
    plan::Plan,
    row::RunRow,
    run::Shard,
    store::{self, Rows, Store},
    summary::Summary,
    table::runs_csv,
};
use migsim_base::{
    document::{Document, read_text},
    error::{Error, Problem, Result},
    words::format_count,
};
use migsim_output::{
    OutputForm,
    figure::{Figure, FigureStyle, select_figures},
    read_refusing_outside_links, write_file_atomically,
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

/// Checks that a folder contains no results of runs that are not part of the plan, or of another version. Results of a part of the plan may be there:
/// a sweep can be continued and extended.
///
/// # Errors
/// The plan in the folder has other runs.
pub fn check_earlier_plan_is_part(folder: &Path, plan: &Plan) -> Result {
    let (Ok(earlier), Ok(rows)) = (read_plan(folder), store::read_rows_if_any(folder)) else {
        return Ok(());
    };
    let runs: BTreeSet<&String> = plan.runs.iter().collect();
    let has_result = |run: &&String| rows.get(*run).is_some_and(|row| row.error.is_none());
    let mut done = earlier.runs.iter().filter(has_result);
    if done.all(|run| runs.contains(run)) {
        return Ok(());
    }
    let message = if earlier.version == plan.version {
        "the folder already holds results of other settings, seeds or files".into()
    } else {
        format!(
            "the folder already holds results of migsim {}, which are not mixed with those of this version",
            earlier.version
        )
    };
    Err(Error::input(
        message,
        folder.join(PLAN_FILE).display().to_string(),
        "choose another folder with `--out`, or remove this one",
    ))
}

/// Writes the plan of a sweep into its folder.
///
/// # Errors
/// The plan cannot be written.
pub fn write_plan(folder: &Path, plan: &Plan) -> Result {
    let plan = serde_json::to_string(plan).expect("a plan is JSON");
    write_files(folder, [(PLAN_FILE, plan + "\n")])
}

/// Writes texts into files of a folder; each text comes with the name of its file.
///
/// # Errors
/// A file cannot be written.
pub fn write_files<N: AsRef<Path>>(
    folder: &Path,
    files: impl IntoIterator<Item = (N, String)>,
) -> Result {
    let mut files = files.into_iter();
    files.try_for_each(|(name, text)| write_file_atomically(&folder.join(name), text.as_bytes()))
}

/// Writes `runs.csv` with the rows of a part (`shard`) of a plan.
///
/// # Errors
/// The file cannot be written.
pub fn write_runs_csv(folder: &Path, plan: &Plan, shard: Shard, rows: &Rows) -> Result {
    write_files(folder, [("runs.csv", runs_csv(plan, shard, rows))])
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
    rows: &Rows,
    form: OutputForm,
) -> Result<SweepReport> {
    write_runs_csv(folder, plan, shard, rows)?;
    let (finished, failure_description) = count_finished_runs(folder, plan, shard, rows);
    let place = folder.display().to_string();
    if shard != Shard::WHOLE {
        let runs = format_count(finished, "run");
        return Ok(SweepReport {
            results_text: format!(
                "{runs} in {place}: this is one part of a sweep, and `migsim sweep merge` joins the parts\n"
            ),
            failure_description,
        });
    }
    let summary = Summary::from_rows(plan, rows);
    let figures = |style: &FigureStyle| draw_figures(plan, rows, &summary, style);
    let page = sweep_page(
        plan,
        &summary,
        &figures(&FigureStyle::of_page()),
        failure_description.as_slice(),
    );
    write_files(folder, [("summary.csv", summary.csv(plan))])?;
    let files = figures(&FigureStyle::default()).into_iter();
    let files = files.map(|figure| (format!("{}.svg", figure.name), figure.to_svg()));
    write_files(folder, files)?;
    write_files(folder, [("index.html", page)])?;
    Ok(SweepReport {
        results_text: summary.to_text(plan, finished, &place, form),
        failure_description,
    })
}

/// Returns the figure with the name `wanted` of a sweep folder, or all figures for `all`.
///
/// # Errors
/// The folder cannot be read, or it has no such figure.
pub fn figures_of_folder(folder: &Path, wanted: &str, style: &FigureStyle) -> Result<Vec<Figure>> {
    let plan = read_plan(folder)?;
    let rows = store::read_rows(folder)?;
    let mut figures = draw_figures(&plan, &rows, &Summary::from_rows(&plan, &rows), style);
    if figures.is_empty() {
        let problem = Problem::new(
            "the sweep has no figure, since nothing varies in it or no run has a result",
        );
        let hint = "name a sweep with several values of a parameter, whose runs are finished";
        let problem = problem.source(folder.display().to_string());
        return Err(problem.hint(hint).into());
    }
    let known: Vec<String> = figures.iter().map(|figure| figure.name.clone()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let wanted = select_figures(wanted, &known)?;
    figures.retain(|figure| wanted.contains(&&*figure.name));
    Ok(figures)
}

/// Lists the names of the figures of a sweep folder, each with a sentence that describes it.
///
/// # Errors
/// The folder cannot be read, or it has no figure.
pub fn available_figures(folder: &Path) -> Result<Vec<(&'static str, &'static str)>> {
    let figures = figures_of_folder(folder, "all", &FigureStyle::default())?;
    Ok(figures
        .iter()
        .map(|figure| figure_description(&figure.name))
        .collect())
}

/// Counts the finished runs of a part of a plan, and describes the number of failed runs, the first reason, and the table that
/// contains all reasons; `None` if no run failed.
fn count_finished_runs(
    folder: &Path,
    plan: &Plan,
    shard: Shard,
    rows: &Rows,
) -> (usize, Option<String>) {
    let own = || shard.runs(plan).filter_map(|(_, id)| rows.get(id));
    let failed = own().filter_map(|row| row.error.as_deref());
    let finished = own().count();
    let failures = failed.clone().next().map(|first| {
        format!(
            "{} of {finished} runs failed; the error of the first: {first}\n  hint: see the error of each run in `{}`",
            failed.clone().count(),
            folder.join("runs.csv").display()
        )
    });
    (finished, failures)
}

/// Creates the HTML page of a sweep from the plan and the rows in its folder. If runs are missing, also returns a remark that
/// states this.
///
/// # Errors
/// The folder cannot be read.
pub fn page_from_folder(folder: &Path) -> Result<(String, Option<String>)> {
    let plan = read_plan(folder)?;
    let rows = store::read_rows(folder)?;
    let (finished, failures) = count_finished_runs(folder, &plan, Shard::WHOLE, &rows);
    let planned = plan.runs.len();
    let half_time = (finished < planned).then(|| {
        format!(
            "only {finished} of {planned} runs are finished, so that the best setting and all means may still change; to finish the other runs, repeat the command that began the sweep"
        )
    });
    let remarks: Vec<String> = half_time.iter().cloned().chain(failures).collect();
    let summary = Summary::from_rows(&plan, &rows);
    let figures = draw_figures(&plan, &rows, &summary, &FigureStyle::of_page());
    Ok((sweep_page(&plan, &summary, &figures, &remarks), half_time))
}

/// Joins the folders of the parts of a plan into the folder `out`.
///
/// # Errors
/// A folder has no plan or a different plan, two rows of a run differ, runs are missing, or a file cannot be written.
pub fn merge_folders(folders: &[PathBuf], out: &Path, form: OutputForm) -> Result<SweepReport> {
    let mut whole: Option<(&Path, Plan)> = None;
    let mut rows: BTreeMap<String, (RunRow, &Path)> = BTreeMap::new();
    for folder in folders {
        let plan = read_plan(folder)?;
        match &whole {
            None => whole = Some((folder, plan)),
            Some((first, other)) => check_same_plan(other, first, &plan, folder)?,
        }
        for (id, row) in store::read_rows(folder)? {
            match rows.get(&id) {
                // A run that failed because of its input may have succeeded later, with a corrected input.
                Some((known, _)) if row.is_input || *known == row => {}
                Some((known, first)) if !known.is_input => {
                    let message = format!(
                        "the results of run {id} in this folder differ from those in `{}`",
                        first.display()
                    );
                    let hint = "find which of the two folders is damaged or of another version of migsim, and run this part again";
                    return Err(Error::input(message, folder.display().to_string(), hint));
                }
                _ => {
                    rows.insert(id, (row, folder));
                }
            }
        }
    }
    let (_, plan) = whole.expect("the command needs a folder");
    let mut store = Store::open(out)?;
    let mut absent = 0;
    for id in &plan.runs {
        match rows.get(id) {
            Some((row, _)) => store.add(id, row.clone())?,
            None => absent += 1,
        }
    }
    store.sync()?;
    write_plan(out, &plan)?;
    if absent > 0 {
        let message = format!(
            "the named folders lack {absent} of the {} runs of the sweep",
            plan.runs.len()
        );
        return Err(Problem::new(message).hint(format!(
            "run the missing parts, then repeat this command; the runs that exist are kept in `{}`",
            out.display()
        )).into());
    }
    write_results(out, &plan, Shard::WHOLE, &store.rows, form)
}

/// Reads and checks the plan of a folder.
///
/// # Errors
/// The plan cannot be read, or its parts are inconsistent.
pub fn read_plan(folder: &Path) -> Result<Plan> {
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

fn check_plan(plan: &Plan, document: &Document) -> Result {
    let wrong = |key: &str, message: String| {
        let problem = document.problem_at(key, message);
        Err(problem
            .hint("repeat the command that began the sweep, which writes the plan again")
            .into())
    };
    for (key, is_empty) in [
        ("settings", plan.settings.is_empty()),
        ("seeds", plan.seeds.is_empty()),
    ] {
        if is_empty {
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

fn check_same_plan(first: &Plan, first_folder: &Path, plan: &Plan, folder: &Path) -> Result {
    let difference = if first.version != plan.version {
        let own = &plan.version;
        let other = &first.version;
        format!("it is of version {own} of migsim instead of {other}")
    } else if first.names != plan.names {
        let [own, other] = [plan, first].map(|plan| plan.names.join(", "));
        format!("it varies {own} instead of {other}")
    } else if first.settings != plan.settings {
        "its parameters vary over other values".into()
    } else if first.seeds != plan.seeds {
        "its seeds are different".into()
    } else if first.runs != plan.runs {
        "its fixed settings or input files are different".into()
    } else {
        return Ok(());
    };
    Err(Error::input(
        format!(
            "the plan of this folder differs from that of `{}`: {difference}",
            first_folder.display()
        ),
        folder.display().to_string(),
        "name only folders that are parts of one sweep",
    ))
}
