//! Defines the flags of `migsim platform`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::{OUTPUT, form::OutputFormArguments, settings::MemoryArguments};
use crate::cli::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum PlatformCommand {
    /// Show a platform: clusters and hosts, routes between clusters, unused links, and unusual values
    #[command(
        after_help = "Examples:\n  migsim platform show ufrgs\n  migsim platform show platform.xml --svg platform.svg\n  migsim platform show ufrgs --format csv"
    )]
    Show {
        /// The platform: a file (JSON or SimGrid XML) or a built-in name
        #[arg(value_parser = complete::platform_parser(), hide_possible_values = true)]
        platform: String,
        /// How a platform of zones is divided into clusters: zone (each zone that contains hosts), level=N (zones N levels below
        /// the outermost zone), name (by host names), or a CSV file (`host,cluster`)
        #[arg(long, value_name = "zone|level=N|name|FILE")]
        clusters: Option<String>,
        /// Also draw the clusters (or the tree of zones) and their routes into this SVG file
        #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
        svg: Option<PathBuf>,
        /// The maximum number of rows of each printed table
        #[arg(long, value_name = "N", default_value_t = 40, help_heading = OUTPUT)]
        rows: usize,
        #[command(flatten)]
        form: OutputFormArguments,
        #[command(flatten)]
        memory: MemoryArguments,
    },
    /// Write a platform in the format of another program
    #[command(
        after_help = "Example:\n  migsim platform export ufrgs.json --format simgrid --out ufrgs.xml\n\n\
            Profiles become files beside the platform."
    )]
    Export {
        /// The platform: a file (JSON or SimGrid XML) or a built-in name
        #[arg(value_parser = complete::platform_parser(), hide_possible_values = true)]
        platform: String,
        /// The format in which the platform is written
        #[arg(long, value_enum, default_value = "simgrid")]
        format: PlatformFormat,
        /// Write the platform into this file [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        memory: MemoryArguments,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PlatformFormat {
    /// The XML format of SimGrid, version 4.1, which SimGrid 3.x and 4.x read
    Simgrid,
}
