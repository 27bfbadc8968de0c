//! `migsim calibrate`: fits a library to a table of single messages and writes it.

use std::io::Write;
use std::path::Path;

use super::args::CalibrateArguments;
use super::memory_limit::limits;
use super::print::{print, say};
use crate::document::read_text;
use crate::error::{Error, Problem};
use crate::experiment::{Calibration, Pings, calibrate, library_text, read_pings};
use crate::memory::Purpose;
use crate::output::{Cell, Sheet, Table, numbers, words, write_named};
use crate::platform::{self, Platform};

pub(super) fn run(
    arguments: &CalibrateArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    refuse_table_as_output(arguments)?;
    let limits = limits(&arguments.memory, None, Purpose::Look);
    let opened = platform::open_within(&arguments.platform, limits);
    let platform = &opened.map_err(|error| error.placed("--platform"))?.platform;
    let source = arguments.table.display().to_string();
    let text = read_text(&arguments.table)?;
    let between = match arguments
        .between
        .as_deref()
        .map(|hosts| hosts.split_once(','))
    {
        None => None,
        Some(Some(hosts)) => Some(hosts),
        Some(None) => {
            let problem = Problem::new("two hosts are named with a comma between them");
            return Err(problem
                .source("--between")
                .hint("write `--between a-0,a-1`")
                .into());
        }
    };
    let pings = read_pings(&source, &text, platform, between)?;
    let stem = arguments.out.as_deref().and_then(|path| path.file_stem());
    let name = stem.map_or_else(|| "calibrated".into(), |stem| stem.to_string_lossy());
    let found = calibrate(platform, &pings, &arguments.library, (&name, &source))?;
    let is_taken = arguments.accept || found.doubts.is_empty();
    if let Some(path) = arguments.out.as_ref().filter(|_| is_taken) {
        write_named(path, library_text(&found).as_bytes())?;
    }
    let sheet = sheet(platform, &pings, (&arguments.library, &found));
    print(out, &sheet.render(arguments.form.form()))?;
    for doubt in &found.doubts {
        say(errors, &format!("warning: {doubt}"));
    }
    if is_taken { Ok(()) } else { Err(doubted()) }
}

/// The failure of a fit that is doubted: a script must not take its library for a good one.
fn doubted() -> Error {
    let problem = Problem::new("the fit is doubted, and no library was written");
    let hint = "correct the table or the platform; `--accept` writes the library all the same";
    Error::Run(problem.hint(hint))
}

/// Refuses to write the library over its table.
fn refuse_table_as_output(arguments: &CalibrateArguments) -> Result<(), Error> {
    let place = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    let out = arguments.out.as_deref().and_then(place);
    if out.is_none() || out != place(&arguments.table) {
        return Ok(());
    }
    let problem = Problem::new("the library would overwrite the table that it is fitted to");
    let hint = "name another file, for example `--out library.json`";
    Err(problem.source("--out").hint(hint).into())
}

/// The residuals, what was found, and what was not.
fn sheet(platform: &Platform, pings: &[Pings], (library, found): (&str, &Calibration)) -> Sheet {
    let columns = [
        words("from", "from"),
        words("to", "to"),
        numbers("bytes", "bytes"),
        numbers("messages", "messages"),
        numbers("measured [ms]", "measured_s"),
        numbers("predicted [ms]", "predicted_s"),
        numbers("off [%]", "off_percent"),
    ];
    let mut table = Table::new("residuals", "", &columns);
    let name = |host: crate::units::HostId| platform.hosts[host.index()].name.clone();
    let in_ms = |seconds: f64| Cell::value(seconds, format!("{:.4}", seconds * 1e3));
    for (ping, &predicted) in pings.iter().zip(&found.predicted) {
        let off = 100.0 * (predicted / ping.time - 1.0);
        table.push([
            Cell::text(name(ping.from)),
            Cell::text(name(ping.to)),
            Cell::value(ping.bytes, format!("{}", ping.bytes)),
            Cell::count(ping.count),
            in_ms(ping.time),
            in_ms(predicted),
            Cell::value(off, format!("{off:+.1}")),
        ]);
    }
    let mut sheet = Sheet::default();
    sheet.table(table);
    let (overhead, factor) = found.in_use;
    let origin = |is_found: bool| {
        let kept = format!(" (not determined; as `{library}` has it)");
        if is_found { String::new() } else { kept }
    };
    let overhead = format!("overhead per message: {:.1} us", overhead * 1e6);
    sheet.line(overhead + &origin(found.overhead.is_some()));
    let factor = format!("bandwidth factor: {factor}");
    sheet.line(factor + &origin(found.bandwidth_factor.is_some()));
    let residual = 100.0 * found.median_residual;
    sheet.line(format!("median residual: {residual:.1} %"));
    for open in &found.open {
        sheet.line(format!("not determined: {open}"));
    }
    sheet
}
