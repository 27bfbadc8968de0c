//! Defines the kinds of names that `migsim list` prints, and the file formats that `migsim schema` describes.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Listing {
    Apps,
    Experiments,
    Libraries,
    Loads,
    Papers,
    Policies,
    Platforms,
    Networks,
    Triggers,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    #[value(alias = "zones")]
    Platform,
    Experiment,
    Suite,
    Sweep,
    Trace,
    Bottlenecks,
    Bench,
    #[value(name = "authors-2015")]
    Authors2015,
}
