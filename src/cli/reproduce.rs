//! Implements `migsim reproduce`: prints published and simulated values of the papers side by side, and runs the studies.

use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use rayon::ThreadPool;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{Listing, ReproduceArguments};
use super::complete::{AUDIT, AUTHORS, GRID, READINGS, REALITY, RIVALS, STUDIES};
use super::figures::{print_list, requests_list, write_figures};
use super::list::list;
use super::memory_limit::limits;
use super::print::print;
use super::progress::{Bar, with_bar};
use super::threads::start_threads;
use crate::Registry;
use crate::error::{Error, Problem};
use crate::experiment::Progress;
use crate::figure::{Figure, Format, Style};
use crate::memory::{self, Purpose};
use crate::output::{OutputForm, cannot_write, write_file};
use crate::paper;
use crate::paper::rivals;
use crate::sweep::{Done, Store};

/// Value of the argument `paper` that requests the list of the papers.
const LIST: &str = "list";

pub(super) fn reproduce(
    arguments: &ReproduceArguments,
    (out, errors): (&mut dyn Write, &mut dyn Write),
) -> Result<bool, Error> {
    if arguments.paper == LIST {
        let papers = Listing::Papers;
        return list(&Registry::standard(), papers, OutputForm::Table, out).map(|()| true);
    }
    check_figure(arguments)?;
    let name = arguments.paper.as_str();
    if name != "all" && !STUDIES.contains(&name) {
        paper::find_paper(&arguments.paper)
            .map_err(|error| error.with_default_source("<PAPER>"))?;
    }
    if let Some(folder) = &arguments.cases
        && arguments.paper != AUTHORS
    {
        let problem = Problem::new(format!("`{}` has no cases", arguments.paper));
        let problem = problem.source(format!("--cases {}", folder.display()));
        let hint = "write `migsim reproduce authors-2015 --cases DIR`";
        return Err(problem.hint(hint).into());
    }
    check_memory(arguments)?;
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write(&folder.display().to_string(), &error))?;
    }
    let threads = start_threads(arguments.threads)?;
    if let Some(start) = &arguments.search {
        return search(arguments, &threads, start, out);
    }
    if arguments.paper == READINGS {
        return one_reading(arguments, &threads, out);
    }
    if arguments.paper == AUDIT {
        return audit(arguments, &threads, out);
    }
    if arguments.paper == REALITY {
        return reality(arguments, (out, errors));
    }
    if arguments.paper == AUTHORS {
        return authors(arguments, out);
    }
    if arguments.paper == RIVALS {
        return rivals(arguments, &threads, (out, errors));
    }
    if arguments.paper == GRID {
        let runs = with_progress(arguments, &threads, paper::grid5000_runs)?;
        let texts = (paper::grid5000_page(&runs), paper::grid5000_csv(&runs));
        return output_study(arguments, GRID, &texts, &[], (out, errors));
    }
    let reproduction = with_progress(arguments, &threads, |progress| {
        paper::reproduce(&arguments.paper, progress)
    })?;
    if let Some(wanted) = &arguments.figure {
        let format = arguments.format.map(|_| "--format");
        if requests_list(wanted, arguments.out.as_ref().map(|_| "--out").or(format))? {
            return print_list(&paper::figure_list(&reproduction.papers), out).map(|()| true);
        }
        let style = arguments.style.style();
        let figures = paper::figures_named(&reproduction.papers, wanted, &style)
            .map_err(|error| error.with_default_source(&format!("--figure {wanted}")))?;
        return write_chosen_figures(arguments, &figures, &style, errors).map(|()| true);
    }
    if arguments.out.is_some() {
        write_pages(arguments, &paper::pages(&reproduction)?)?;
    }
    if let Some(form) = arguments.form().form_unless(arguments.quiet) {
        print_reproduction(&reproduction, form, out)?;
    }
    Ok(reproduction.is_each_deviation_explained())
}

/// Prints published and simulated values side by side in the given format.
fn print_reproduction(
    reproduction: &paper::Reproduction,
    form: OutputForm,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if form == OutputForm::Json {
        let all: Vec<Value> = reproduction
            .papers
            .iter()
            .map(to_json)
            .collect::<Result<_, _>>()?;
        let joined = |key: &str| -> Vec<Value> {
            all.iter()
                .flat_map(|paper| paper[key].as_array().cloned().unwrap_or_default())
                .collect()
        };
        let value = json!({
            "effects": joined("effects"),
            "effect_counts": to_json(&paper::effect_counts(&reproduction.papers))?,
            "cells": joined("cells"),
            "decisions": joined("decisions"),
            "call_schedules": joined("call_schedules"),
            "claims": joined("claims"),
            "claim_counts": to_json(&paper::claim_counts(&reproduction.papers))?,
            "constants": joined("constants"),
        });
        print(out, &format!("{value:#}\n"))
    } else if form == OutputForm::Table {
        print(out, &paper::text(reproduction))
    } else {
        let suffix = if form == OutputForm::Csv {
            ".csv"
        } else {
            ".md"
        };
        let pages = paper::pages(reproduction)?;
        let texts = pages.iter().filter(|page| page.name.ends_with(suffix));
        let texts: Vec<&str> = texts.map(|page| page.text.as_str()).collect();
        print(out, &texts.join("\n"))
    }
}

/// Writes figures into files, in the format that the user chose and in the folder of `--out`.
fn write_chosen_figures(
    arguments: &ReproduceArguments,
    figures: &[Figure],
    style: &Style,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let format = arguments.figure_format().unwrap_or(Format::Svg);
    let folder = arguments.out.as_deref().unwrap_or(Path::new(""));
    let said: &mut dyn Write = if arguments.quiet {
        &mut std::io::sink()
    } else {
        errors
    };
    write_figures(figures, folder, (format, style), said)
}

/// Name of the folder below `--out` that contains the runs of the study of rival policies; the same command continues an
/// interrupted study there.
const RIVAL_RUNS: &str = "rivals-runs";

/// Runs the study of rival policies, prints and writes its results, and returns `true`.
fn rivals(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
    (out, errors): (&mut dyn Write, &mut dyn Write),
) -> Result<bool, Error> {
    let style = arguments.style.style();
    let wanted = arguments.figure.as_deref();
    let placed = |error: Error| {
        error.with_default_source(&format!("--figure {}", wanted.unwrap_or_default()))
    };
    rivals::check_figure(wanted.unwrap_or("all")).map_err(placed)?; // check this before runs that take minutes
    let limits = limits(&arguments.memory, arguments.threads, Purpose::Sweep);
    let folder = arguments.out.as_ref().map(|out| out.join(RIVAL_RUNS));
    let store = folder.map_or_else(|| Ok(Store::in_memory()), |folder| Store::open(&folder))?;
    let bar = Bar {
        unit: "runs",
        total: Some(rivals::runs()?.saturating_sub(store.rows().len() as u64)),
        has_lines: true,
        is_quiet: arguments.quiet,
    };
    let (store, done) = (Mutex::new(store), Done::default());
    let outcome = with_bar(&bar, &|| done.runs(), || {
        threads.install(|| rivals::run_study(&Registry::standard(), limits, &store, &done))
    })?;
    let figures = rivals::figures(&outcome, wanted.unwrap_or("all"), &style).map_err(placed)?;
    let texts = (rivals::markdown(&outcome), rivals::csv(&outcome));
    output_study(arguments, "rivals", &texts, &figures, (out, errors))
}

/// Prints the results of a study, and writes its page, its table and its figures into the folder of `--out`. If the user
/// requested figures, only the figures are written.
fn output_study(
    arguments: &ReproduceArguments,
    name: &str,
    (page, table): &(String, String),
    figures: &[Figure],
    (out, errors): (&mut dyn Write, &mut dyn Write),
) -> Result<bool, Error> {
    if arguments.figure.is_some() {
        let style = arguments.style.style();
        return write_chosen_figures(arguments, figures, &style, errors).map(|()| true);
    }
    if let Some(folder) = &arguments.out {
        write_file(&folder.join(format!("{name}.md")), page.as_bytes())?;
        write_file(&folder.join(format!("{name}.csv")), table.as_bytes())?;
        for figure in figures {
            let file = folder.join(format!("{}.svg", figure.name));
            write_file(&file, figure.svg().as_bytes())?;
        }
    }
    match arguments.form().form_unless(arguments.quiet) {
        None => {}
        Some(OutputForm::Csv) => print(out, table)?,
        Some(_) => print(out, page)?,
    }
    Ok(true)
}

/// Compares simulated programs with programs that were measured on MPI, and prints and writes the results.
fn reality(
    arguments: &ReproduceArguments,
    (out, errors): (&mut dyn Write, &mut dyn Write),
) -> Result<bool, Error> {
    let style = arguments.style.style();
    let wanted = arguments.figure.as_deref();
    let found = paper::reality::compare_with_measurements()?;
    let figures = paper::reality::figures(&found, wanted.unwrap_or("all"), &style);
    let figures = figures.map_err(|error| {
        let named = format!("--figure {}", wanted.unwrap_or_default());
        error.with_default_source(&named)
    })?;
    let texts = (
        paper::reality::markdown(&found),
        paper::reality::csv(&found),
    );
    output_study(arguments, "reality", &texts, &figures, (out, errors))
}

/// Decides the rescheduling calls again that the authors' program recorded, and prints both decisions. Returns whether all
/// decisions are equal.
fn authors(arguments: &ReproduceArguments, out: &mut dyn Write) -> Result<bool, Error> {
    let found = paper::authors::compare_with_authors(arguments.cases.as_deref())?;
    let [page, table] = [
        ("authors-2015.md", paper::authors::markdown(&found)),
        ("authors-2015.csv", paper::authors::csv(&found)),
    ]
    .map(|(name, text)| paper::Page {
        name: name.to_owned(),
        text,
    });
    match arguments.form().form_unless(arguments.quiet) {
        None => {}
        Some(OutputForm::Table) => print(out, &paper::authors::text(&found))?,
        Some(OutputForm::Json) => print(out, &format!("{:#}\n", to_json(&found)?))?,
        Some(OutputForm::Csv) => print(out, &table.text)?,
        Some(_) => print(out, &page.text)?,
    }
    write_pages(arguments, &[page, table])?;
    Ok(found.is_exact())
}

/// Checks that the user chose a format of figures if figures are requested, and a format of tables otherwise, and that the paper
/// or study has figures.
///
/// # Errors
/// The format or the paper does not fit; the error names the flag.
fn check_figure(arguments: &ReproduceArguments) -> Result<(), Error> {
    let is_of_figure = arguments.figure_format().is_some();
    let problem = match &arguments.figure {
        None if is_of_figure => {
            let problem = Problem::new("only figures are written as SVG, PDF or PNG");
            problem
                .source("--format")
                .hint("name one, such as `--figure times`, or `--figure all`")
        }
        Some(_) if arguments.format.is_some() && !is_of_figure => {
            let problem = Problem::new("a figure cannot be written in a format of tables");
            problem
                .source("--format")
                .hint("formats of figures: pdf, png, svg")
        }
        Some(_) if [READINGS, AUDIT, GRID, AUTHORS].contains(&arguments.paper.as_str()) => {
            let problem = Problem::new(format!("`{}` has no figures", arguments.paper));
            problem.source("--figure").hint("name a paper or `all`")
        }
        _ => return Ok(()),
    };
    Err(problem.into())
}

/// Checks that the reproduction does not need more memory than is available.
///
/// # Errors
/// The estimated memory exceeds the limit.
fn check_memory(arguments: &ReproduceArguments) -> Result<(), Error> {
    let limits = limits(&arguments.memory, arguments.threads, Purpose::Sweep);
    let threads = limits.threads;
    if [RIVALS, AUTHORS].contains(&arguments.paper.as_str()) {
        return Ok(()); // each run of rivals is checked separately, and the stored calls are small
    }
    let (needed, what) = if [READINGS, AUDIT].contains(&arguments.paper.as_str()) {
        (
            memory::papers_memory_with_all_rules(threads),
            "the rules of all papers",
        )
    } else {
        (memory::papers_memory(threads), "the runs of the papers")
    };
    let details = format!("on {threads} thread{}", if threads == 1 { "" } else { "s" });
    limits.check(what, needed, details).map_err(|problem| {
        let hint = "use fewer threads (`--threads 1`), or set a higher `--memory-limit`";
        problem.source(&arguments.paper).hint(hint).into()
    })
}

/// Runs `work` on the given threads, and shows the progress in supersteps unless the user disabled it.
fn with_progress<R: Send>(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
    work: impl FnOnce(&Progress) -> R + Send,
) -> R {
    let progress = Progress::default();
    let bar = Bar {
        unit: "supersteps",
        total: None,
        // All other studies end within seconds.
        has_lines: arguments.paper == AUDIT,
        is_quiet: arguments.quiet,
    };
    with_bar(&bar, &|| progress.supersteps(), || {
        threads.install(|| work(&progress))
    })
}

/// Runs the study that applies the rules of each paper to every other paper, and prints and writes its page.
fn one_reading(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let readings = with_progress(arguments, threads, paper::apply_all_rule_sets)?;
    let priced = with_progress(arguments, threads, paper::priced_by_messages)?;
    let weighted = with_progress(arguments, threads, paper::compare_weights)?;
    let page = paper::one_reading_page(&readings, &priced, &weighted)?;
    if arguments.form().form() == OutputForm::Json {
        let value = json!({
            "readings": to_json(&readings)?,
            "fitted_and_message_prices": to_json(&priced)?,
            "weights": to_json(&weighted)?,
            "differences": to_json(&paper::differences()?)?,
        });
        print(out, &format!("{value:#}\n"))?;
    } else if !arguments.quiet {
        print(out, &page.text)?;
    }
    write_pages(arguments, &[page])?;
    Ok(true)
}

/// Runs the audit of all reproductions: prints its page, and writes the page and its tables into the folder of `--out`.
fn audit(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    let (page, tables) = with_progress(arguments, threads, paper::audit)?;
    let sheets = tables.csv_pages()?;
    match arguments.form().form_unless(arguments.quiet) {
        None => {}
        Some(OutputForm::Json) => print(out, &format!("{:#}\n", to_json(&tables)?))?,
        Some(OutputForm::Csv) => {
            let texts: Vec<&str> = sheets.iter().map(|sheet| sheet.text.as_str()).collect();
            print(out, &texts.join("\n"))?;
        }
        Some(_) => print(out, &page.text)?,
    }
    write_pages(arguments, &[page])?;
    write_pages(arguments, &sheets)?;
    Ok(true)
}

/// Searches for a single set of rules for all papers, starting with the rules of the paper `start`, and prints the steps of the
/// search.
fn search(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
    start: &str,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    if arguments.paper != READINGS {
        let problem = Problem::new(format!("`{}` has no single set of rules", arguments.paper))
            .source("--search");
        return Err(problem
            .hint("write `migsim reproduce one-reading --search PAPER`")
            .into());
    }
    let steps = with_progress(arguments, threads, |progress| {
        paper::search_rule_set(start, progress)
    })
    .map_err(|error| error.with_default_source(&format!("--search {start}")))?;
    if arguments.form().form() == OutputForm::Json {
        print(
            out,
            &format!("{:#}\n", json!({ "steps": to_json(&steps)? })),
        )?;
    } else if !arguments.quiet {
        for step in &steps {
            print(out, &format!("{step}\n"))?;
        }
    }
    Ok(true)
}

/// Writes the pages into the folder of `--out`; does nothing if the user did not use this flag.
fn write_pages(arguments: &ReproduceArguments, pages: &[paper::Page]) -> Result<(), Error> {
    let Some(folder) = &arguments.out else {
        return Ok(());
    };
    for page in pages {
        write_file(&folder.join(&page.name), page.text.as_bytes())?;
    }
    Ok(())
}

fn to_json(value: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|error| {
        Error::Output(Problem::new(format!(
            "cannot write the results as JSON: {error}"
        )))
    })
}
