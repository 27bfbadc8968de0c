//! Data of the report page about rescheduling calls: the calls with their candidates, for a table that the reader can search, and
//! the moves that took place.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::page_data::Report;
use crate::{read::ScenarioRecords, rows::RecordedCall};
use migsim_policies::explain::RecordedCandidate;

/// A list of different texts, in which each text gets an index; the data of the page contains the indices instead of the texts.
#[derive(Default)]
struct TextTable<'a> {
    index_by_text: BTreeMap<&'a str, usize>,
    texts: Vec<&'a str>,
}

impl<'a> TextTable<'a> {
    fn index_of_text(&mut self, text: &'a str) -> usize {
        *self.index_by_text.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }
}

pub(super) fn decisions_data(report: &Report) -> Value {
    let mut texts = TextTable::default();
    let calls: Vec<Value> = report
        .run
        .scenarios
        .iter()
        .map(|run| {
            run.calls
                .iter()
                .map(|call| self::encode_call(call, &mut texts))
                .collect()
        })
        .collect();
    json!({ "calls": calls, "texts": texts.texts })
}

fn encode_call<'a>(call: &'a RecordedCall, texts: &mut TextTable<'a>) -> Value {
    let decided: Vec<u64> = call.migrations.iter().map(|one| one.process).collect();
    let candidates: Vec<Value> = call
        .candidates
        .iter()
        .map(|one| encode_candidate(one, texts))
        .collect();
    json!({
        "superstep": call.superstep,
        "start_s": call.start_s,
        "cost_s": call.cost_s,
        "migration_s": call.migration_s,
        "applied": call.applied,
        "decided": decided,
        "t1_minus_t2_sum_s": call.t1_minus_t2_sum_s,
        "gain_on_i_until_next_call_s": call.gain_on_i_until_next_call_s,
        "candidates": candidates,
    })
}

/// Encodes a candidate as a JSON array: `[process, from cluster, from host, to cluster, to host, score, t1, t2, accepted,
/// reason]`. Texts are replaced by their indices in `texts`.
fn encode_candidate<'a>(one: &'a RecordedCandidate, texts: &mut TextTable<'a>) -> Value {
    json!([
        one.process,
        texts.index_of_text(&one.from_cluster),
        texts.index_of_text(&one.from_host),
        texts.index_of_text(&one.to_cluster),
        one.to_host.as_deref().map(|host| texts.index_of_text(host)),
        one.score,
        one.stay_s,
        one.go_s,
        one.accepted,
        texts.index_of_text(&one.reason),
    ])
}

/// Encodes the migrations of a scenario as JSON arrays `[superstep, process, to host, start, end]`, with times in seconds; a host
/// is given by its index in `hosts`.
pub(super) fn encode_moves(
    run: &ScenarioRecords,
    hosts: &BTreeMap<(usize, &str), usize>,
    report: &Report,
) -> Value {
    run.migrations
        .iter()
        .map(|moved| {
            let cluster = report
                .platform_summary
                .cluster_index(&moved.to_cluster)
                .unwrap_or(0);
            let host = hosts.get(&(cluster, moved.to_host.as_str()));
            json!([
                moved.superstep,
                moved.process,
                host,
                moved.start_s,
                moved.end_s,
            ])
        })
        .collect()
}
