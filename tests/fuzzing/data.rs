//! Data of vt and tables: data that can be read is an application, and data that is written reads back as the same.

use migsim::{
    units::ProcessId,
    workload::{
        Plan, Workload,
        table::Table,
        vt::{RankFile, Vt, VtConfig, VtExport, to_vt_files},
    },
};
use serde_json::json;

use super::check_told;

/// The separator of the files of a set.
const CUT: &[u8] = b"\n== \n";

fn parts(data: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(CUT.len()).position(|window| window == CUT) {
        parts.push(&rest[..at]);
        rest = &rest[at + CUT.len()..];
    }
    parts.push(rest);
    parts
}

fn plan(workload: &dyn Workload, superstep: usize) -> Plan {
    let mut plan = Plan::default();
    plan.clear(workload.processes());
    workload.fill(superstep, &mut plan);
    plan
}

/// Maximum number of supersteps that are checked.
const LOOKED_AT: usize = 50;

/// Checks an input that consists of the files of the ranks.
pub(super) fn vt(data: &[u8]) {
    let file = |(rank, bytes): (usize, &[u8])| RankFile {
        rank,
        source: format!("data.{rank}.json"),
        bytes: bytes.to_vec(),
    };
    let files: Vec<RankFile> = parts(data).into_iter().enumerate().map(file).collect();
    let (vt, note) = match Vt::from_files(&files, &VtConfig::new("data")) {
        Err(error) => return check_told(&error, "", ""),
        Ok(read) => read,
    };
    assert!(note.contains("rank"), "{note}");
    if vt.supersteps() > LOOKED_AT {
        return;
    }
    let start: Vec<usize> = (0..vt.processes())
        .filter_map(|process| vt.initial_rank(ProcessId::from_index(process)))
        .collect();
    let texts = to_vt_files(&VtExport {
        workload: &vt,
        rank_count: files.len(),
        initial_ranks: &start,
        moves: &[],
    });
    let file = |(rank, text): (usize, String)| RankFile {
        rank,
        source: format!("again.{rank}.json"),
        bytes: text.into(),
    };
    let again: Vec<RankFile> = texts.into_iter().enumerate().map(file).collect();
    let (again, _) =
        Vt::from_files(&again, &VtConfig::new("again")).expect("what is written is read");
    assert_eq!(again.supersteps(), vt.supersteps());
    for superstep in 0..vt.supersteps() {
        let [one, other] = [&vt, &again].map(|vt| plan(vt, superstep));
        let sum = |plan: &Plan| plan.work.iter().map(|work| work.get()).fold(0.0, f64::max);
        assert_eq!(sum(&one), sum(&other));
    }
}

/// Checks an input that consists of the table of the work and, after a separator, the table of the messages.
pub(super) fn table(data: &[u8]) {
    let parts = parts(data);
    let config = json!({ "work": "w.csv", "messages": "m.csv" });
    let config = serde_json::from_value(config).expect("these are its keys");
    match Table::from_csv_bytes(parts[0], parts.get(1).copied(), &config) {
        Err(error) => check_told(&error, "w.csv", &String::from_utf8_lossy(parts[0])),
        Ok(table) if table.supersteps() <= LOOKED_AT && table.processes() < 1000 => {
            for superstep in 0..table.supersteps() {
                let plan = plan(&table, superstep);
                assert_eq!(plan.work.len(), table.processes());
            }
        }
        Ok(_) => {}
    }
}
