//! Reads a mapping from a table with the first host of each process.
//!
//! ```text
//! process,host
//! p1,epyc-0          a process as in the output, or its number; counted from 1
//! 2,epyc-0
//! ```
//! The first line names the columns. Each process has one row, in any order. Empty lines and lines that begin with `#` are
//! skipped, and fields may have the quotes of CSV. All problems are reported together, each with its line and column.

use std::collections::BTreeMap;

use crate::{
    Platform,
    row::{Row, rows_below_heading, table_error},
};
use migsim_base::{
    document::{FileKind, read_text},
    error::{Problem, Result},
    units::{HostId, ProcessId},
    words::format_count,
};

pub(super) fn read_mapping_file(
    path: &str,
    platform: &Platform,
    processes: usize,
) -> Result<Vec<HostId>> {
    let text = read_text(path)?;
    parse_mapping(&text, platform, processes).map_err(|problems| {
        let kind = FileKind::ProcessMapping;
        table_error(problems, &text, path, kind, "a table of processes and their hosts")
            .with_default_hint(
                "begin the file with the line `process,host`, and write in each further line a process and its host: `p1,epyc-0`",
            )
    })
}

/// Host of each process with the number of its line; `None` for a process without a line so far.
type Places = Vec<Option<(HostId, usize)>>;

fn parse_mapping(
    text: &str,
    platform: &Platform,
    processes: usize,
) -> Result<Vec<HostId>, Vec<Problem>> {
    let hosts: BTreeMap<&str, HostId> = platform
        .hosts
        .iter()
        .enumerate()
        .map(|(index, host)| (&*host.name, HostId::from_index(index)))
        .collect();
    let mut places: Places = vec![None; processes];
    let mut problems = Vec::new();
    for row in rows_below_heading(text, ["process", "host"]).map_err(|problem| vec![problem])? {
        let [process, host] = &row.fields[..] else {
            let message = format!(
                "this line, `{}`, is not a process and a host, separated by a comma",
                row.line.trim()
            );
            problems.push(row.problem_at_field(0, message));
            continue;
        };
        let process = find_unassigned_process(&places, &row, process)
            .map_err(|problem| problems.push(problem))
            .ok();
        let Some(&host) = hosts.get(host.as_str()) else {
            problems.push(unknown_host_error(platform, &row, host));
            continue;
        };
        if let Some(process) = process {
            places[process] = Some((host, row.number));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let missing = || (1..).zip(&places).filter(|(_, place)| place.is_none());
    let Some((first, _)) = missing().next() else {
        return Ok(places.into_iter().flatten().map(|place| place.0).collect());
    };
    let message = match missing().count() {
        1 => format!("the table has no line for process p{first}"),
        some => {
            format!("the table has no lines for {some} processes, the first of which is p{first}")
        }
    };
    let hint = format!("write a line for each process from p1 to p{processes}");
    Err(vec![Problem::new(message).at_line_column(1, 1).hint(hint)])
}

/// Returns the index of the process named `text`.
///
/// # Errors
/// There is no such process, or it already has a host.
fn find_unassigned_process(places: &Places, row: &Row<'_>, text: &str) -> Result<usize, Problem> {
    let count = places.len();
    // Programs write 1 as `1.0` in tables of numbers with gaps.
    let index = text
        .trim_end_matches('0')
        .strip_suffix('.')
        .unwrap_or(text)
        .parse::<ProcessId>()
        .map_err(|error| row.problem_at_field(0, error.to_string()))?
        .index();
    match places.get(index) {
        Some(None) => Ok(index),
        Some(Some((_, line))) => {
            let message = format!("line {line} already states a host for process `{text}`");
            Err(row
                .problem_at_field(0, message)
                .hint("remove one of the two lines"))
        }
        None => Err(row
            .problem_at_field(0, format!("the application has no process `{text}`"))
            .hint(format!(
                "write a process from p1 to p{count}: the application has {}",
                format_count(count, "process")
            ))),
    }
}

fn unknown_host_error(platform: &Platform, row: &Row<'_>, name: &str) -> Problem {
    let problem = row
        .problem_at_field(1, format!("unknown host `{name}`"))
        .with_unknown_name("host", name);
    let name_of = |host: u32| &*platform.hosts[host as usize].name;
    match platform.cluster_named(name) {
        Some(cluster) => {
            let hosts = &platform.clusters[cluster.index()].hosts;
            problem.hint(format!(
                "write one host of the cluster `{name}`, from `{}` to `{}`",
                name_of(hosts.start),
                name_of(hosts.end - 1)
            ))
        }
        None => problem.with_known_names("hosts", platform.hosts.iter().map(|host| &*host.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a platform of clusters a (2 hosts) and b (3 hosts).
    fn platform() -> Platform {
        let link = r#""link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R""#;
        let text = format!(
            r#"{{"schema": "migsim-platform-1", "name": "five", "clusters": [
            {{"name": "a", "hosts": 2, "speed": "1 GHz", {link}}}, {{"name": "b", "hosts": 3, "speed": "1 GHz", {link}}}]}}"#
        );
        let loaded = crate::from_json("five.json", &text).unwrap();
        loaded.platform
    }

    fn places(text: &str, processes: usize) -> Vec<u32> {
        let hosts = parse_mapping(text, &platform(), processes).unwrap();
        hosts.into_iter().map(|host| host.0).collect()
    }

    #[test]
    fn rows_come_in_any_order_and_count_processes_from_one() {
        let text = "process,host\r\n# two on b-2\r\n\r\np3,a-1\r\n1, b-2\r\n\"p2\",\"b-2\"\r\n";
        assert_eq!(places(text, 3), [4, 4, 1]);
        assert_eq!(places("process, host\n", 0), [0_u32; 0]);
    }
}
