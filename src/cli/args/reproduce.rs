//! Defines the flags of `migsim reproduce`.

use std::path::PathBuf;

use clap::Args;

use super::{
    FIGURE, OUTPUT, figure::FigureArguments, form::OutputFormArguments, settings::parse_pair,
};
use crate::{
    cli::{complete, threads},
    units::Bytes,
};

#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// The paper to reproduce (see `migsim list papers`), all for every paper, or the name of a study
    ///
    /// The studies are: one-reading, the rules of each paper applied to every other paper; reality, programs measured on MPI;
    /// authors-2015, recorded calls of the authors' own program, decided again.
    #[arg(default_value = "all", value_parser = complete::paper_parser(), hide_possible_values = true)]
    pub paper: String,
    /// For authors-2015: read the recorded calls from the JSON files of this folder [default: the built-in recorded calls]
    #[arg(long, value_name = "DIR")]
    pub cases: Option<PathBuf>,
    /// Set any key of the experiments in every run of the papers; `NAME:KEY` is a key of one experiment, `platform:KEY` one of the
    /// platforms. Settings in which the runs of a table differ keep their values. The residuals of the papers as they ship are printed,
    /// too, and what the changes lose and gain
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair, conflicts_with = "out")]
    pub settings: Vec<(String, String)>,
    /// Replace the built-in platform of the same name by the platform of this file (JSON) in every run of the papers; can be repeated
    #[arg(long = "platform", value_name = "FILE", conflicts_with = "out")]
    pub platforms: Vec<PathBuf>,
    /// Also write a Markdown page, a CSV table and figures for each paper into this folder; with `--figure`, write only the
    /// figure [default: here]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub form: OutputFormArguments,
    /// Draw a figure for an article instead of printing tables, into the file PAPER-NAME.svg: errors, gains, overheads, times
    /// or all; list: print the names of the figures
    #[arg(long, value_name = "NAME", help_heading = FIGURE)]
    pub figure: Option<String>,
    #[command(flatten)]
    pub style: FigureArguments,
    /// Print no progress, and no result unless `--json` or `--format` requests one
    #[arg(long, short)]
    pub quiet: bool,
    /// The number of threads that simulate papers and their runs in parallel; at most 1024 [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads::thread_count_parser(), help_heading = OUTPUT)]
    pub threads: Option<usize>,
    /// Refuse work whose estimated memory is larger than this ("8 GB") [default: the memory available to the command]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Bytes>,
}
