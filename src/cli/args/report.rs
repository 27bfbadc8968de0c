//! Defines the flags of `migsim report`.

use std::path::PathBuf;

use clap::Args;

use super::{FIGURE, figure::FigureArguments};
use crate::units::Bytes;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The folder that `migsim run --out`, `sweep`, `tune --out` or `compare --out` has written
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Write the page into this file [default: report.html in the folder]; with `--figure`, write the figure into this file
    /// [default: NAME.svg]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Draw a figure for an article instead of the page
    ///
    /// Names of figures of a run: gantt, makespan, placement, supersteps; of a sweep: lines, heat. The name all draws every
    /// figure into the folder `--out` [default: here], and list prints the names of the figures that can be drawn from the
    /// folder.
    #[arg(long, value_name = "NAME", help_heading = FIGURE)]
    pub figure: Option<String>,
    #[command(flatten)]
    pub style: FigureArguments,
    /// Refuse work whose estimated memory is larger than this ("8 GB") [default: the memory available to the command]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Bytes>,
}
