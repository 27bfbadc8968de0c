//! Implements `migsim calibrate`: fits a message-passing library to a table of the times of single messages, which is read or
//! measured, and writes the library.

mod decisions;

use std::{
    fmt::Write as _,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{
    args::CalibrateArguments,
    memory_limit::memory_and_thread_limits,
    print::{print_line, print_text},
};
use crate::{
    Registry,
    document::read_text,
    error::{Error, Problem, Result},
    experiment::{
        Calibration, MeasuredMessages, calibrate, default_library_path, library_file_text,
        read_pings,
    },
    memory::ExperimentPurpose,
    output::{Cell, Sheet, Table, number_column, text_column, write_file_named_by_user},
    platform::{self, Platform},
};

pub(super) fn run_calibrate(
    registry: &Registry,
    arguments: &CalibrateArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    refuse_table_as_output(arguments)?;
    if !arguments.decisions.is_empty() {
        return decisions::calibrate_decisions(registry, arguments, out);
    }
    let source = MessageMeasurements::read_or_measure_messages(arguments)?;
    let platform = &source.platform;
    let pings = read_pings(
        &source.table_name,
        &source.table_text,
        platform,
        source.host_name_pair(),
    )?;
    let stem = arguments.out.as_deref().and_then(|path| path.file_stem());
    let name = stem.map_or_else(|| "calibrated".into(), |stem| stem.to_string_lossy());
    let base = source.base_library.as_str();
    let mut found = calibrate(platform, &pings, base, (&name, &source.table_name))?;
    if let Some(machine) = &source.machine_description {
        found.library_json["machine"] = machine.clone();
        if machine["transport"] == "tcp" && found.fitted_overhead.is_none() {
            copy_inside_overhead_to_inter_host(&mut found.library_json);
        }
    }
    let is_taken = arguments.accept || found.reasons_for_doubt.is_empty();
    if let Some(path) = arguments.out.as_ref().filter(|_| is_taken) {
        write_file_named_by_user(path, library_file_text(&found).as_bytes())?;
    }
    let kept = if arguments.default && is_taken {
        Some(write_default_library(&library_file_text(&found))?)
    } else {
        None
    };
    let mut sheet = calibration_sheet(platform, &pings, base, &found);
    let machine = source.machine_description.as_ref();
    if let Some(facts) = machine.and_then(Value::as_object) {
        sheet.add_line(describe_measured_machine(facts));
    }
    print_text(out, &sheet.render(arguments.form.output_form()))?;
    for doubt in &found.reasons_for_doubt {
        print_line(errors, &format!("warning: {doubt}"));
    }
    if let Some(kept) = kept {
        let file = kept.display();
        print_line(
            errors,
            &format!(
                "note: recorded traces that name no library now use the costs in `{file}`; to end this, remove the file"
            ),
        );
    }
    if is_taken {
        Ok(())
    } else {
        Err(doubtful_fit_error())
    }
}

/// Returns a line with the facts about the measured machine, such as the transport of its messages.
fn describe_measured_machine(facts: &Map<String, Value>) -> String {
    let facts: Vec<String> = facts
        .iter()
        .map(|(key, value)| format!("{key} {}", value.as_str().unwrap_or_default()))
        .collect();
    format!("machine: {}", facts.join(", "))
}

/// Uses the measured overhead and processor times of messages inside a host also for messages between hosts. It is called if only messages inside a
/// host were measured and TCP carried them.
fn copy_inside_overhead_to_inter_host(library: &mut Value) {
    let origin =
        "inferred: measured over TCP inside a host; messages between hosts were not measured";
    for key in ["overhead", "o_send", "o_receive"] {
        let value = library["network"][format!("loopback_{key}")].clone();
        if !value.is_null() {
            library["network"][key] = value;
            library["origins"][format!("network.{key}")] = Value::from(origin);
        }
    }
}

/// Writes the library that recorded traces use by default into the user's configuration folder, and returns the path of its file.
fn write_default_library(text: &str) -> Result<PathBuf> {
    let Some(file) = default_library_path() else {
        let problem = Problem::new(
            "the folder in which the library is stored is unknown, since neither XDG_CONFIG_HOME nor HOME is set",
        );
        return Err(problem
            .source("--default")
            .hint("set one of these variables, or name a file with `--out`")
            .into());
    };
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| {
            let problem = Problem::new(format!(
                "cannot create the folder `{}`, in which the library would be stored: {error}",
                folder.display()
            ));
            Error::Output(
                problem
                    .source("--default")
                    .hint("set XDG_CONFIG_HOME to a folder to which you can write"),
            )
        })?;
    }
    write_file_named_by_user(&file, text.as_bytes())?;
    Ok(file)
}

/// Returns the error for a fit that is too doubtful to be used; its exit code stops scripts that would continue without a
/// library.
fn doubtful_fit_error() -> Error {
    let problem = Problem::new(
        "the fitted values are doubtful (see the warnings), so that no library was written",
    );
    let hint = "correct the table or the platform, begin with settings without late receives and slow start (`--library ideal`), or write the library nevertheless with `--accept`";
    Error::SimulationFailure(problem.hint(hint))
}

/// The measured times of single messages, and the conditions under which they were measured.
struct MessageMeasurements {
    /// Name of the table of measured messages, which is shown in errors and in the library.
    table_name: String,
    /// Content of the table of measured messages, as CSV or as the output of a benchmark program.
    table_text: String,
    /// Platform on which the messages were measured.
    platform: Platform,
    /// Names of the two hosts between which the messages were measured; `None` if the table names the hosts.
    host_names: Option<(String, String)>,
    /// Name of the library from which the fit takes all values that it does not determine.
    base_library: String,
    /// Description of the measured machine, which is stored in the library; `None` if the table was read from a file.
    machine_description: Option<Value>,
}

impl MessageMeasurements {
    /// Reads the table of measured messages from the file that the user named, or measures messages with the command that the
    /// user named.
    fn read_or_measure_messages(arguments: &CalibrateArguments) -> Result<Self> {
        let hosts = arguments.between.as_deref().map(|hosts| {
            hosts
                .split_once(',')
                .map(|(from, to)| (from.to_owned(), to.to_owned()))
                .ok_or_else(|| {
                    Error::from(
                        Problem::new(
                            "the value of `--between` is not two hosts, separated by a comma",
                        )
                        .source("--between")
                        .hint("name two hosts of the platform: `--between a-0,a-1`"),
                    )
                })
        });
        let hosts = hosts.transpose()?;
        let opened = |name: &str| {
            Ok::<_, Error>(
                platform::open_within_limits(
                    name,
                    memory_and_thread_limits(
                        &arguments.memory,
                        None,
                        ExperimentPurpose::ReadingSupersteps,
                    ),
                )
                .map_err(|error| error.with_default_source("--platform"))?
                .platform,
            )
        };
        let platform = arguments.platform.as_deref().map(opened).transpose()?;
        let base = arguments.library.clone();
        if let (Some(table), Some(platform)) = (&arguments.table, platform.as_ref()) {
            return Ok(Self {
                table_name: table.display().to_string(),
                table_text: read_text(table)?,
                platform: platform.clone(),
                host_names: hosts,
                base_library: base.unwrap_or_else(|| DEFAULT_BASE_LIBRARY.to_owned()),
                machine_description: None,
            });
        }
        measure(&arguments.program, platform, hosts, base)
    }

    /// Returns the names of the two hosts between which the messages were measured; `None` if the table names the hosts.
    fn host_name_pair(&self) -> Option<(&str, &str)> {
        self.host_names
            .as_ref()
            .map(|(from, to)| (from.as_str(), to.as_str()))
    }
}

/// Name of the library on which the fit is based if the user names no library and none was measured.
const DEFAULT_BASE_LIBRARY: &str = "open-mpi";
/// Platform file for measurements in which both processes run on one host.
const ONE_HOST_PLATFORM: &str = r#"{ "schema": "migsim-platform-1", "name": "one host", "clusters": [
    { "name": "p", "hosts": 1, "speed": "1 GHz", "link": { "bandwidth": "1 Gbps", "latency": "0 s" } } ] }"#;

/// Measures the times of messages between two MPI processes that the command `program` starts.
fn measure(
    program: &[String],
    platform: Option<Platform>,
    hosts: Option<(String, String)>,
    base: Option<String>,
) -> Result<MessageMeasurements> {
    let (rows, recording) = super::record::measure::measure_messages(program)?;
    let is_one_host = rows.iter().all(|row| row.sender_host == row.receiver_host);
    // Hosts that are one computer in truth, such as network namespaces, have one name.
    let is_named = is_one_host && hosts.is_some();
    if !is_one_host && (platform.is_none() || hosts.is_none()) {
        let (from, to) = rows.first().map_or(("?", "?"), |row| {
            (row.sender_host.as_str(), row.receiver_host.as_str())
        });
        let message = format!(
            "the two processes ran on the hosts `{from}` and `{to}`, and the platform with the network between these hosts is not named"
        );
        let hint = "name the platform, and the two hosts by their names there: `--platform mine.json --between a-0,a-1`";
        return Err(Error::input(message, "the command line", hint));
    }
    let platform = match platform {
        Some(platform) => platform,
        None => platform::from_json("one host", ONE_HOST_PLATFORM)?.platform,
    };
    let first = || platform.hosts[0].name.clone();
    let (from, to) = hosts.unwrap_or_else(|| (first(), first()));
    let mut text = "kind,from,to,bytes,time_s\n".to_owned();
    for row in rows
        .iter()
        .filter(|row| !is_named || row.measurement_kind != "exchange")
    {
        let to = if row.sender_host == row.receiver_host && !is_named {
            &from
        } else {
            &to
        };
        let _ = writeln!(
            text,
            "{},{from},{to},{},{}",
            row.measurement_kind, row.message_size, row.measured_time
        );
    }
    let fact = |key: &str| {
        recording
            .get(key)
            .map(|value| (key.to_owned(), Value::from(value)))
    };
    let own = recording.get("library").unwrap_or(DEFAULT_BASE_LIBRARY);
    let is_known = crate::experiment::BUILT_IN_LIBRARIES
        .iter()
        .any(|library| library.name == own);
    Ok(MessageMeasurements {
        table_name: format!(
            "a ping-pong on {}",
            recording.get("host").unwrap_or("this host")
        ),
        table_text: text,
        platform,
        host_names: None,
        base_library: base
            .unwrap_or_else(|| if is_known { own } else { DEFAULT_BASE_LIBRARY }.to_owned()),
        machine_description: Some(Value::Object(
            ["library", "version", "transport", "waiting", "host"]
                .into_iter()
                .filter_map(fact)
                .collect(),
        )),
    })
}

/// Returns an error if the library would overwrite the table of measured messages.
fn refuse_table_as_output(arguments: &CalibrateArguments) -> Result {
    let place = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    let out = arguments.out.as_deref().and_then(place);
    let table = arguments.table.as_deref().and_then(place);
    if out.is_none() || out != table {
        return Ok(());
    }
    let problem =
        Problem::new("`--out` names the file of the table, which the library would overwrite");
    Err(problem
        .source("--out")
        .hint("name another file, for example `--out library.json`")
        .into())
}

/// Creates the printed tables: the residuals of the fit, the calibrated constants, and the constants that the measurements do not
/// determine.
fn calibration_sheet(
    platform: &Platform,
    pings: &[MeasuredMessages],
    library: &str,
    found: &Calibration,
) -> Sheet {
    let columns = [
        text_column("from", "from"),
        text_column("to", "to"),
        text_column("kind", "kind"),
        number_column("bytes", "bytes"),
        number_column("messages", "messages"),
        number_column("measured [ms]", "measured_s"),
        number_column("predicted [ms]", "predicted_s"),
        number_column("off [%]", "off_percent"),
    ];
    let mut table = Table::new("residuals", "", &columns);
    let name = |host: crate::units::HostId| platform.hosts[host.index()].name.clone();
    let in_ms = |seconds: f64| Cell::from_value_and_text(seconds, format!("{:.4}", seconds * 1e3));
    for (ping, &predicted) in pings.iter().zip(&found.predicted_times) {
        let off = 100.0 * (predicted / ping.median_time - 1.0);
        table.push_row([
            Cell::text(name(ping.sender_host)),
            Cell::text(name(ping.receiver_host)),
            Cell::text(ping.kind.name()),
            Cell::from_value_and_text(ping.message_size, format!("{}", ping.message_size)),
            Cell::count(ping.message_count),
            in_ms(ping.median_time),
            in_ms(predicted),
            Cell::from_value_and_text(off, format!("{off:+.1}")),
        ]);
    }
    let mut sheet = Sheet::default();
    sheet.add_table(table);
    let (overhead, factor) = found.library_overhead_and_bandwidth_factor;
    let origin = |is_found: bool| {
        let kept = format!(
            " (the value of the library `{library}`, since the table does not determine it)"
        );
        if is_found { String::new() } else { kept }
    };
    let overhead = format!("overhead per message: {:.1} us", overhead * 1e6);
    sheet.add_line(overhead + &origin(found.fitted_overhead.is_some()));
    let factor = format!("bandwidth factor: {factor}");
    sheet.add_line(factor + &origin(found.fitted_bandwidth_factor.is_some()));
    for (stream, place) in found
        .stream_times
        .iter()
        .zip(["between hosts", "inside a host"])
    {
        if let Some(time) = stream {
            let time = time * 1e6;
            sheet.add_line(format!(
                "{place}: {time:.2} us of processor time for each end of a message, a part of the overhead"
            ));
        }
    }
    if let Some(inside) = &found.inside_host_constants {
        let overhead = inside.overhead * 1e6;
        sheet.add_line(format!(
            "inside a host: overhead {overhead:.2} us per message"
        ));
        if let Some(bandwidth) = inside.bandwidth {
            let sharing = match inside.is_bandwidth_shared {
                Some(true) => ", shared by all messages of a host",
                Some(false) => " for each message alone",
                None => "",
            };
            let bandwidth = bandwidth / 1e9;
            sheet.add_line(format!(
                "inside a host: bandwidth {bandwidth:.2} GB/s{sharing}"
            ));
        }
    }
    let residual = 100.0 * found.median_residual;
    sheet.add_line(format!(
        "median residual (difference of measured and predicted times): {residual:.1} %"
    ));
    for open in &found.undetermined_constants {
        sheet.add_line(format!("the measurements do not determine {open}"));
    }
    sheet
}
