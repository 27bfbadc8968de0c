//! The pages of policies and triggers in the book: made from the rules in the source, the price of a call, and the study of rivals.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fmt::Write as _, fs};

use migsim::{
    Registry,
    policy::strategy::{Gather, Instance},
    random::{Stream, StreamPurpose},
    units::Seconds,
};
use serde_json::json;

/// Returns the rules of a plug-in: the documentation of its module, without links into the source.
fn rules(file: &str) -> String {
    let source = fs::read_to_string(file).expect("the sources are there");
    let mut text = String::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        text += line.strip_prefix(' ').unwrap_or(line);
        text.push('\n');
    }
    // The forms [`Name`](path), [`Name`] and [words](Path) are links of the source.
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        plain += before;
        let Some((inside, behind)) = after.split_once(']') else {
            plain.push('[');
            rest = after;
            continue;
        };
        if inside.starts_with('`') && inside.ends_with('`') || behind.starts_with('(') {
            plain += inside;
            rest = match behind.strip_prefix('(') {
                Some(target) => target.split_once(')').map_or("", |(_, rest)| rest),
                None => behind,
            };
        } else {
            write!(plain, "[{inside}]").unwrap();
            rest = behind;
        }
    }
    plain + rest
}

/// Returns the price of a call of a strategy, from its answer for a small case.
fn price(name: &str) -> String {
    let registry = Registry::standard();
    let Ok(entry) = registry.strategies().find(name) else {
        return match name {
            "migbsp" | "migbsp-2" | "migbsp-2007" | "authors-2015" => "Processes report to the managers of their clusters. Managers exchange the reports, decide, and answer.".into(),
            "never" => "It asks for no call.".into(),
            "exec" => "Each host sends 24 B and 16 B a process to one host, which answers 8 B a process. Operations are those that the answer or the option `operations` names, 10 instructions each. It gets the messages between processes.".into(),
            "bandit" => "A call is paid as one of the strategy that it chooses; `never` costs nothing.".into(),
            "ulba" => "Each host sends 24 B and 16 B a process to one host. That host decides and answers 8 B a process. Its operations are counted, 10 instructions each.".into(),
            _ => "A call is paid as one of MigBSP.".into(),
        };
    };
    let mut strategy = entry.build(&json!({})).unwrap();
    let time = vec![Seconds::new(1.0).unwrap(); 4];
    let instance = Instance {
        host_speeds: vec![1.0, 2.0],
        background_times: vec![Seconds::default(); 2],
        current_hosts: vec![0, 0, 0, 1],
        process_works: time.clone(),
        process_times: time,
        ..Instance::default()
    };
    let answer = strategy
        .assign(
            &instance,
            &mut Stream::new(1, StreamPurpose::PolicyDecisions),
        )
        .unwrap();
    let how = match answer.communication_pattern {
        Gather::None => "Each host knows its part of the decision, so that no message is sent.",
        Gather::Central => {
            "Each host sends 24 B and 16 B a process to one host. That host decides and answers 8 B a process."
        }
        Gather::ThroughManagers => {
            "The same as a central call, through the managers of the clusters."
        }
        Gather::BetweenNeighbours { .. } => {
            "Hosts send 24 B to some others in rounds, and decide for themselves."
        }
    };
    let rows = if strategy.needs_communication() {
        " It asks for the messages between processes."
    } else {
        ""
    };
    format!("{how} Its operations are counted, 10 instructions each.{rows}")
}

/// Lists the rows of the study whose policies `is_one` selects.
fn study(is_one: &dyn Fn(&str) -> bool) -> String {
    let table = fs::read_to_string("results/rivals.csv").unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let own: Vec<&csv::StringRecord> = rows.iter().filter(|row| is_one(&row[1])).collect();
    if own.is_empty() {
        return "It takes no part in the [study of rivals](../../results/rivals.md).\n".into();
    }
    let number = |row: &csv::StringRecord, column: usize| row[column].parse::<f64>().unwrap();
    let mut text = String::from(
        "In the [study of rivals](../../results/rivals.md) it has these ratios to the best known makespan, over the cases of each draw. Many of these cases start badly placed; from the best start of each case, no policy was better than none on two other draws ([bench](../guide/bench.md#how-to-read-a-row)). [`migsim advise`](../guide/advise.md) chooses the start and the policy for your case.\n\n| policy | draw | mean ratio | median | worst | wins | calls | moves |\n|---|---|---|---|---|---|---|---|\n",
    );
    for row in own {
        writeln!(
            text,
            "| `{}` | {} | {:.3} | {:.3} | {:.2} | {} | {:.1} | {:.1} |",
            &row[1],
            &row[0],
            number(row, 2),
            number(row, 5),
            number(row, 8),
            &row[10],
            number(row, 12),
            number(row, 13)
        )
        .unwrap();
    }
    text
}

fn is_current(path: &str, text: &str) {
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        fs::create_dir_all(path.rsplit_once('/').unwrap().0).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == text,
        "{path} is not current: run the tests with UPDATE_RESULTS=1"
    );
}

fn with_source(summary: &str, source: &str) -> String {
    let mut letters = summary.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    let summary = format!("{}{}.", first.unwrap_or_default(), letters.as_str());
    match source {
        "-" => summary,
        source => format!("{summary}\n\nSource: {source}."),
    }
}

#[test]
fn every_policy_has_its_page() {
    for entry in &Registry::standard().policies().clone() {
        let name = entry.name;
        let module = name.replace('-', "_");
        let file = match name {
            "bandit" | "ulba" => format!("crates/policies/src/{module}.rs"),
            "authors-2015" | "exec" | "migbsp" | "migbsp-2007" => {
                format!("crates/policies/src/{module}/mod.rs")
            }
            "migbsp-2" => "crates/policies/src/migbsp/migbsp_2.rs".to_owned(),
            "never" => "crates/bsp/src/never.rs".to_owned(),
            "replay" => "crates/policies/src/replay.rs".to_owned(),
            _ => format!("crates/strategies/src/{module}.rs"),
        };
        let trigger = if entry.needs_trigger() {
            let load = match name {
                "ulba" => "the forecast `linear` of its work",
                _ => "its mean work in a superstep since the last call",
            };
            format!(
                "It decides what moves where. A [trigger](../guide/compare.md) says when, `boulmier` if none is named. In a run the load of a process is {load}."
            )
        } else {
            "It says itself when it is called. Another trigger may do so instead (`--trigger`)."
                .into()
        };
        let wins = match name {
            "migbsp-2" => "[Its page of results](../../results/migbsp-2.md) says on what it was judged, and where it loses.\n".into(),
            _ => study(&|policy| policy == name || policy == format!("{name}/boulmier")),
        };
        let text = format!(
            "# The policy `{name}`\n\n{}\n\n{trigger}\n\n## Rule\n\n{}\n## Price of a call\n\n{}\n\n## When it wins\n\n{wins}\nIts options stand in [Settings](../reference/settings.md), under `policy.{name}`.\n",
            with_source(entry.summary, entry.publication),
            rules(&file),
            price(name)
        );
        is_current(&format!("docs/policies/{name}.md"), &text);
    }
}

#[test]
fn every_trigger_has_its_page() {
    for entry in &Registry::standard().triggers().clone() {
        let name = entry.name;
        let file = match name {
            "migbsp" => "crates/policies/src/migbsp/adaptive.rs".to_owned(),
            "improved-menon" => "crates/policies/src/trigger/menon.rs".to_owned(),
            _ => format!("crates/policies/src/trigger/{}.rs", name.replace('-', "_")),
        };
        let main = match entry.main_option_key() {
            "" => String::new(),
            main => format!(" `{name}=VALUE` sets `{main}`."),
        };
        let text = format!(
            "# The trigger `{name}`\n\n{}\n\nIt says when a policy is called, for example `refine/{name}`.{main}\n\n## Rule\n\n{}\n## Price\n\nIt needs the largest, the mean and the least time of the hosts: 24 B in an all-reduce, or nothing where the barrier carries them. The simulator charges nothing.\n\n## When it wins\n\n{}\nIts options stand in [Settings](../reference/settings.md), under `policy.trigger.{name}`.\n",
            with_source(entry.summary, entry.publication),
            rules(&file),
            study(&|policy| {
                let parts = policy.split_once('/');
                parts.is_some_and(|(_, trigger)| {
                    trigger == name || trigger.starts_with(&format!("{name}="))
                })
            })
        );
        is_current(&format!("docs/triggers/{name}.md"), &text);
    }
}

#[test]
fn the_summary_of_the_book_lists_every_policy_and_trigger() {
    let registry = Registry::standard();
    let policies = registry
        .policies()
        .names()
        .map(|name| ["Policy", "policies", name]);
    let triggers = registry
        .triggers()
        .names()
        .map(|name| ["Trigger", "triggers", name]);
    let line =
        |[kind, folder, name]: [&str; 3]| format!("- [{kind} `{name}`]({folder}/{name}.md)\n");
    let lines: String = policies.chain(triggers).map(line).collect();
    let page = fs::read_to_string("docs/SUMMARY.md").unwrap();
    let (before, rest) = page.split_once("# Policies and triggers\n").unwrap();
    let (_, after) = rest.split_once("\n# ").unwrap();
    let text = format!("{before}# Policies and triggers\n\n{lines}\n# {after}");
    is_current("docs/SUMMARY.md", &text);
}

/// Replaces the text between a mark and `<!-- end -->` of a page by `table`.
fn with_table(page: &str, mark: &str, table: &str) -> String {
    let mark = format!("<!-- generated: {mark} -->\n");
    let (before, rest) = page.split_once(&mark).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    format!("{before}{mark}{table}<!-- end -->{after}")
}

#[test]
fn the_guide_lists_every_policy() {
    let mut table = String::from("| policy | what it does | who decides when |\n|---|---|---|\n");
    for entry in &Registry::standard().policies().clone() {
        let name = entry.name;
        let when = if entry.needs_trigger() {
            "a trigger"
        } else {
            "itself"
        };
        let summary = entry.summary;
        writeln!(
            table,
            "| [`{name}`](../policies/{name}.md) | {summary} | {when} |"
        )
        .unwrap();
    }
    let path = "docs/guide/policy.md";
    let page = fs::read_to_string(path).unwrap();
    is_current(path, &with_table(&page, "policies", &table));
}
