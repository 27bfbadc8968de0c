//! Implements `migsim reproduce`: prints published and simulated values of the papers side by side, and runs the studies
//! (`authors-2015`, `one-reading` and `reality`).

use std::{io::Write, path::Path};

use rayon::ThreadPool;
use serde_json::{Value, json};

use super::{
    args::{Listing, MemoryArguments, ReproduceArguments},
    complete::{STUDIES, STUDY_AUTHORS, STUDY_ONE_READING, STUDY_REALITY},
    figures::{print_figure_names, requests_figure_list, write_figures},
    list::print_names,
    memory_limit::memory_and_thread_limits,
    print::{print_json, print_result, print_text},
    progress::{ProgressDisplay, run_with_progress},
    run::set_flags,
    threads::start_threads,
};
use crate::{
    Registry,
    error::{Error, Problem},
    experiment::Progress,
    figure::Figure,
    memory::{self, ExperimentPurpose},
    output::{OutputForm, cannot_write_error, write_file_atomically},
    paper,
};

/// Value of the argument `paper` that requests the list of the papers.
const LIST_PAPERS: &str = "list";

/// Reproduces the paper, or runs the study, that the user named. Returns `false` if a result differs from its reference without
/// an explanation.
pub(super) fn run_reproduce(
    arguments: &ReproduceArguments,
    (out, errors): (&mut dyn Write, &mut dyn Write),
) -> Result<bool, Error> {
    if arguments.paper == LIST_PAPERS {
        return print_names(
            &Registry::standard(),
            Listing::Papers,
            OutputForm::Table,
            out,
        )
        .map(|()| true);
    }
    let name = arguments.paper.as_str();
    if name != "all" && !STUDIES.contains(&name) {
        paper::find_paper(&arguments.paper)
            .map_err(|error| error.with_default_source("<PAPER>"))?;
    }
    check_flags(arguments)?;
    check_memory(arguments)?;
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)
            .map_err(|error| cannot_write_error(&folder.display().to_string(), &error))?;
    }
    let threads = start_threads(arguments.threads)?;
    let study = match name {
        STUDY_AUTHORS => return run_authors_study(arguments, out),
        STUDY_ONE_READING => Some(run_one_reading_study(arguments, &threads)?),
        STUDY_REALITY => Some(run_reality_study(arguments)?),
        _ => None,
    };
    if let Some(study) = study {
        return output_study_results(arguments, &study, (out, errors)).map(|()| true);
    }
    let mut changes = paper::Changes::of_keys(set_flags(&arguments.settings)?)?;
    for file in &arguments.platforms {
        changes.replace_platform(file)?;
    }
    let form = arguments.form.output_form_unless_quiet(arguments.quiet);
    // The pages, tables and figures of a paper show one reading.
    let is_compared =
        arguments.figure.is_none() && matches!(form, Some(OutputForm::Table | OutputForm::Json));
    let reproduction = run_with_superstep_progress(arguments, &threads, |progress| {
        let mut found = paper::reproduce_with_changes(&arguments.paper, &changes, progress)?;
        if is_compared {
            found.compare_with_shipped(progress)?;
        }
        Ok::<_, Error>(found)
    })?;
    if let Some(wanted) = &arguments.figure {
        let format = arguments.form.is_requested().then_some("--format");
        if requests_figure_list(wanted, arguments.out.as_ref().map(|_| "--out").or(format))? {
            return print_figure_names(
                &paper::figure_names_and_descriptions(&reproduction.papers),
                out,
            )
            .map(|()| true);
        }
        let style = arguments.style.style;
        let figures = paper::draw_figures_named(&reproduction.papers, wanted, &style)
            .map_err(|error| error.with_default_source(&format!("--figure {wanted}")))?;
        return write_chosen_figures(arguments, &figures, errors).map(|()| true);
    }
    if arguments.out.is_some() {
        write_pages(arguments, &paper::result_pages(&reproduction)?)?;
    }
    if let Some(form) = form {
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
        let papers = json!(reproduction.papers);
        let joined = |key: &str| -> Vec<&Value> {
            let papers = papers.as_array().into_iter().flatten();
            papers
                .filter_map(|paper| paper[key].as_array())
                .flatten()
                .collect()
        };
        let mut value = json!({
            "residuals": paper::residuals(&reproduction.papers),
            "effects": joined("effects"),
            "effect_counts": paper::effect_counts(reproduction.papers.iter().map(|paper| &*paper.effects)),
            "text_effects": joined("text_effects"),
            "cells": joined("cells"),
            "decisions": joined("decisions"),
            "derived_decisions": joined("derived_decisions"),
            "call_schedules": joined("call_schedules"),
            "claims": joined("claims"),
            "claim_counts": paper::ClaimCounts::from_claims(reproduction.papers.iter().flat_map(|paper| &paper.claims)),
            "constants": joined("constants"),
        });
        if !reproduction.shipped.is_empty() {
            value["shipped"] = json!(paper::residuals(&reproduction.shipped));
            value["lost"] = json!(reproduction.lost());
            value["gained"] = json!(reproduction.gained());
        }
        print_json(out, &value)
    } else if form == OutputForm::Table {
        print_text(out, &paper::terminal_text(reproduction))
    } else {
        let suffix = if form == OutputForm::Csv {
            ".csv"
        } else {
            ".md"
        };
        let pages = paper::result_pages(reproduction)?;
        let texts = pages.iter().filter(|page| page.name.ends_with(suffix));
        let texts: Vec<&str> = texts.map(|page| page.text.as_str()).collect();
        print_text(out, &texts.join("\n"))
    }
}

/// Writes figures into files in the folder of `--out`.
fn write_chosen_figures(
    arguments: &ReproduceArguments,
    figures: &[Figure],
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let folder = arguments.out.as_deref().unwrap_or(Path::new(""));
    let said: &mut dyn Write = if arguments.quiet {
        &mut std::io::sink()
    } else {
        errors
    };
    write_figures(figures, folder, said)
}

struct StudyResults {
    page: String,
    table: Option<String>,
    json: Option<Value>,
    figures: Vec<Figure>,
}

/// Prints the results of a study, and writes its page, its table and its figures into the folder of `--out`. If the user
/// requested figures, only the figures are written.
fn output_study_results(
    arguments: &ReproduceArguments,
    study: &StudyResults,
    (out, errors): (&mut dyn Write, &mut dyn Write),
) -> Result<(), Error> {
    if arguments.figure.is_some() {
        return write_chosen_figures(arguments, &study.figures, errors);
    }
    if let Some(folder) = &arguments.out {
        let write = |suffix: &str, text: &str| {
            let file = folder.join(format!("{}.{suffix}", arguments.paper));
            write_file_atomically(&file, text.as_bytes())
        };
        write("md", &study.page)?;
        study
            .table
            .iter()
            .try_for_each(|table| write("csv", table))?;
        for figure in &study.figures {
            let file = folder.join(format!("{}.svg", figure.name));
            write_file_atomically(&file, figure.to_svg().as_bytes())?;
        }
    }
    match (
        arguments.form.output_form_unless_quiet(arguments.quiet),
        study,
    ) {
        (None, _) => Ok(()),
        (
            Some(OutputForm::Csv),
            StudyResults {
                table: Some(table), ..
            },
        ) => print_text(out, table),
        (
            Some(OutputForm::Json),
            StudyResults {
                json: Some(json), ..
            },
        ) => print_json(out, json),
        _ => print_text(out, &study.page),
    }
}

/// Compares simulated programs with programs that were measured on MPI.
fn run_reality_study(arguments: &ReproduceArguments) -> Result<StudyResults, Error> {
    let found = paper::reality::compare_with_measurements()?;
    let wanted = arguments.figure.as_deref().unwrap_or("all");
    let style = arguments.style.style;
    let figures = paper::reality::draw_figures(&found, wanted, &style)
        .map_err(|error| error.with_default_source(&format!("--figure {wanted}")))?;
    Ok(StudyResults {
        page: paper::reality::markdown_page(&found),
        table: Some(paper::reality::csv_table(&found)),
        json: None,
        figures,
    })
}

/// Decides again each rescheduling call that the 2015 simulation program of `MigBSP`'s authors recorded. Returns whether all
/// decisions are equal.
fn run_authors_study(arguments: &ReproduceArguments, out: &mut dyn Write) -> Result<bool, Error> {
    let found = paper::authors::compare_with_authors(arguments.cases.as_deref())?;
    let form = arguments.form.output_form_unless_quiet(arguments.quiet);
    print_result(out, form, || &found, || found.printed_sheet())?;
    Ok(found.counts.are_all_values_equal())
}

/// Checks that each flag fits the paper or study, and that no format of tables is chosen if figures are requested.
///
/// # Errors
/// A flag does not fit; the error names the flag.
fn check_flags(arguments: &ReproduceArguments) -> Result<(), Error> {
    let name = arguments.paper.as_str();
    let is_paper = !STUDIES.contains(&name);
    let figure = arguments.figure.is_some();
    let flags = [
        ("--cases", arguments.cases.is_some(), name == STUDY_AUTHORS),
        ("--set", !arguments.settings.is_empty(), is_paper),
        ("--platform", !arguments.platforms.is_empty(), is_paper),
        ("--out", arguments.out.is_some(), name != STUDY_AUTHORS),
        ("--figure", figure, is_paper || name == STUDY_REALITY),
    ];
    if let Some((flag, ..)) = flags.into_iter().find(|one| one.1 && !one.2) {
        let problem = Problem::new(format!("`{flag}` cannot be used with `{name}`"));
        let hint = "leave out the flag, or name what it is for: `migsim reproduce --help`";
        return Err(problem.source(flag).hint(hint).into());
    }
    if figure && arguments.form.is_requested() {
        let problem = Problem::new("this format is only for tables, but a figure is named");
        let hint = "leave out the flag: figures are SVG files, of which `rsvg-convert -f pdf` or Inkscape makes a PDF or PNG";
        return Err(problem.source("--format").hint(hint).into());
    }
    Ok(())
}

/// Checks that the reproduction does not need more memory than is available.
///
/// # Errors
/// The estimated memory exceeds the limit.
fn check_memory(arguments: &ReproduceArguments) -> Result<(), Error> {
    let limits = memory_and_thread_limits(
        &MemoryArguments {
            memory_limit: arguments.memory_limit,
            ..MemoryArguments::default()
        },
        arguments.threads,
        ExperimentPurpose::Sweep,
    );
    let threads = limits.thread_count;
    if arguments.paper == STUDY_AUTHORS {
        return Ok(()); // the stored calls are small
    }
    let (needed, what) = if arguments.paper == STUDY_ONE_READING {
        (
            memory::paper_reproduction_memory_with_all_rules(threads),
            "the runs of all papers with the rules of each",
        )
    } else {
        (
            memory::paper_reproduction_memory(threads),
            "the runs of the papers",
        )
    };
    let details = format!("on {threads} thread{}", if threads == 1 { "" } else { "s" });
    limits
        .check_memory(what, needed, details)
        .map_err(|problem| {
            let hint = "use fewer threads (`--threads 1`), or set a higher `--memory-limit`";
            problem.source(&arguments.paper).hint(hint).into()
        })
}

/// Runs `work` on the given threads, and shows the progress in supersteps unless the user disabled it.
fn run_with_superstep_progress<R: Send>(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
    work: impl FnOnce(&Progress) -> R + Send,
) -> R {
    let progress = Progress::default();
    let bar = ProgressDisplay {
        item_noun: "supersteps",
        total_items: None,
        prints_lines_without_terminal: false, // all studies end within seconds
        is_quiet: arguments.quiet,
    };
    run_with_progress(&bar, &|| progress.simulated_supersteps(), || {
        threads.install(|| work(&progress))
    })
}

/// Applies the rules of each paper to every other paper.
fn run_one_reading_study(
    arguments: &ReproduceArguments,
    threads: &ThreadPool,
) -> Result<StudyResults, Error> {
    let readings = run_with_superstep_progress(arguments, threads, paper::apply_all_rule_sets)?;
    let priced = run_with_superstep_progress(arguments, threads, paper::compare_call_costs)?;
    Ok(StudyResults {
        page: paper::one_reading_page(&readings, &priced)?.text,
        json: Some(json!({
            "readings": readings,
            "fitted_and_message_prices": priced,
            "differences": paper::option_differences()?,
        })),
        table: None,
        figures: Vec::new(),
    })
}

/// Writes the pages into the folder of `--out`; does nothing if the user did not use this flag.
fn write_pages(arguments: &ReproduceArguments, pages: &[paper::ResultsFile]) -> Result<(), Error> {
    let Some(folder) = &arguments.out else {
        return Ok(());
    };
    for page in pages {
        write_file_atomically(&folder.join(&page.name), page.text.as_bytes())?;
    }
    Ok(())
}
