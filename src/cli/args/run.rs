//! Defines the flags of `migsim run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{OUTPUT, form::OutputFormArguments, settings::SettingsArguments};
use crate::cli::threads;

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  \
    The LU paper's main case, all scenarios:\n    \
      migsim run --platform ufrgs.json --app lu --n 2000 --procs 50\n  \
    The same with other parameters of the policy, results in a folder:\n    \
      migsim run --app lu --n 1000 --procs 25 --alpha 8 --x 0.9 --out runs/lu-1000\n  \
    Any key of the experiment by its path:\n    \
      migsim run --app lu --set policy.migbsp.delta=0.3 --set costs.move.order=parallel\n  \
    Other constants of the network:\n    \
      migsim run --app lu --network cm02 --net tcp_gamma=20000 --net crosstraffic=true\n  \
    A trace on a SimGrid platform:\n    \
      migsim run --platform platform.xml --app trace --trace trace.txt --scenario i --out out\n  \
    Under a background load, of the hosts and of the links between clusters:\n    \
      migsim run --app sw --n 25 --load ar,mean=0.4 --load on-off,on=links\n  \
    An HTML page beside the table:\n    \
      migsim run --app lu --n 1000 --procs 25 --report lu.html\n  \
    An experiment file; flags win over it:\n    \
      migsim run experiment.json --n 500\n\n\
    Settings come from the built-in experiment of the application (for `lu`: the values of the LU paper), then the experiment \
    file, then the flags; later ones win. `--show` prints the result."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a flag of its own"
)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub settings: SettingsArguments,

    /// Write the results of the run into this folder
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Replace the results in the folder if they come from a run with other settings
    #[arg(long, help_heading = OUTPUT)]
    pub force: bool,
    /// Also write the activity of each process in each superstep (processes.csv) and the traffic of the links (links.csv)
    #[arg(long, requires = "out", help_heading = OUTPUT)]
    pub processes: bool,
    /// Also write the results as one HTML page
    ///
    /// The default name is report.html, in the folder of `--out` if there is one.
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = parse_html_page_path, help_heading = OUTPUT)]
    #[expect(
        clippy::option_option,
        reason = "how clap tells a flag without its value"
    )]
    pub report: Option<Option<PathBuf>>,
    /// Also write the activity of each process over time for a trace viewer: perfetto (trace-iii.perfetto.json), paje
    /// (trace-iii.paje), or both, separated by a comma
    #[arg(long, value_enum, value_name = "VIEWER", value_delimiter = ',', requires = "out", help_heading = OUTPUT)]
    pub write_trace: Vec<Viewer>,
    /// Also record the critical path, which makes the simulation slower. It is shown in `path.csv` in the folder of `--out`, on
    /// the page of `--report`, and as a track of `--write-trace perfetto`
    #[arg(long, help_heading = OUTPUT)]
    pub critical_path: bool,
    #[command(flatten)]
    pub form: OutputFormArguments,
    /// Print no progress, and no result unless `--json` or `--format` requests one
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Print the complete settings as an experiment file, and run nothing
    #[arg(long, help_heading = OUTPUT)]
    pub show: bool,
    /// Omit the fastest static start (scenario i from the initial placement of each built-in mapping rule), which is shown on
    /// platforms that no paper used
    #[arg(long, help_heading = OUTPUT)]
    pub no_static_starts: bool,
    /// The number of threads that run scenarios in parallel; at most 1024 [default: one per scenario]
    #[arg(long, short = 'j', value_name = "N", value_parser = threads::thread_count_parser(), help_heading = OUTPUT)]
    pub threads: Option<usize>,
}

/// The viewer for which the trace of a run is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Viewer {
    /// Perfetto, and the trace viewer of Chrome
    Perfetto,
    /// `ViTE` and other tools that read the Paje format
    Paje,
}

/// Parses the path of an HTML page. A path without the ending of an HTML page is refused, because the word after `--report` may
/// be meant as the experiment.
fn parse_html_page_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_page = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"));
    if is_page {
        Ok(path)
    } else {
        Err("it must be the name of an HTML page, which ends in .html; an experiment must be written before `--report`".to_owned())
    }
}
