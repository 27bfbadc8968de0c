//! `migsim list`: what exists, from the same tables that the program uses.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::Value;

use super::args::Listing;
use super::print;
use crate::engine::PRESETS;
use crate::error::Error;
use crate::experiment;
use crate::load::KINDS;
use crate::paper::PAPERS;
use crate::platform;
use crate::policy::REGISTRY;
use crate::workload::registry::APPLICATIONS;

pub(super) fn list(what: Listing, out: &mut dyn Write) -> Result<(), Error> {
    if matches!(what, Listing::Loads) {
        return print(out, &loads());
    }
    let rows: Vec<(String, String)> = match what {
        Listing::Apps => APPLICATIONS
            .iter()
            .map(|entry| row(entry.name, entry.summary, entry.source))
            .collect(),
        Listing::Experiments => experiment::built_in_names()
            .map(|name| {
                let document = experiment::built_in(name)?;
                let text = document
                    .and_then(|document| document.value["description"].as_str().map(str::to_owned));
                Ok(row(name, &text.unwrap_or_default(), "-"))
            })
            .collect::<Result<_, Error>>()?,
        Listing::Loads => Vec::new(), // above: they have parameters
        Listing::Papers => PAPERS
            .iter()
            .map(|paper| row(paper.name, paper.title, "-"))
            .collect(),
        Listing::Policies => REGISTRY
            .iter()
            .map(|entry| row(entry.name, entry.summary, entry.source))
            .collect(),
        Listing::Networks => PRESETS
            .iter()
            .map(|preset| row(preset.name, preset.summary, "-"))
            .collect(),
        Listing::Platforms => platform::built_in()
            .iter()
            .map(|(name, _)| {
                let machine = platform::open(name)?.platform;
                let summary = format!(
                    "{} hosts in {} clusters",
                    machine.hosts.len(),
                    machine.clusters.len()
                );
                Ok(row(name, &summary, "-"))
            })
            .collect::<Result<_, Error>>()?,
    };
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, rest) in rows {
        writeln!(text, "{name:<width$}  {rest}").expect("a string can be written to");
    }
    print(out, &text)
}

/// The kinds of load, each with its parameters and their defaults.
fn loads() -> String {
    let mut text = String::new();
    for entry in KINDS {
        let (name, rest) = row(entry.name, entry.summary, entry.source);
        writeln!(text, "{name:<9} {rest}").expect("a string can be written to");
        for parameter in entry.parameters() {
            let default = match parameter.default {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
            };
            let (name, what) = (parameter.name, parameter.description.replace('\n', " "));
            writeln!(text, "  {name:<9} {default:<7} {what}").expect("a string can be written to");
        }
    }
    text
}

fn row(name: &str, summary: &str, source: &str) -> (String, String) {
    let source = if source == "-" {
        String::new()
    } else {
        format!(" [{source}]")
    };
    (name.to_owned(), format!("{summary}{source}"))
}
