//! `migsim list`: what exists, from the same tables that the program uses.

use std::fmt::Write as _;
use std::io::Write;

use super::args::Listing;
use super::print;
use crate::engine::PRESETS;
use crate::error::Error;
use crate::experiment;
use crate::paper::PAPERS;
use crate::platform;
use crate::policy::REGISTRY;
use crate::workload::registry::APPLICATIONS;

pub(super) fn list(what: Listing, out: &mut dyn Write) -> Result<(), Error> {
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

fn row(name: &str, summary: &str, source: &str) -> (String, String) {
    let source = if source == "-" {
        String::new()
    } else {
        format!(" [{source}]")
    };
    (name.to_owned(), format!("{summary}{source}"))
}
