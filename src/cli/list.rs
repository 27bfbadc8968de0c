//! Implements `migsim list`: prints the names and summaries of all items of one kind that the program contains, such as policies,
//! triggers, applications or platforms.

use std::{fmt::Write as _, io::Write};

use serde_json::Value;

use super::{args::Listing, print::print_text};
use crate::{
    Registry,
    engine::PRESETS,
    error::Result,
    experiment,
    output::{Cell, OutputForm, Sheet, Table, text_column},
    paper::PAPERS,
    platform,
    plugin::PluginTable,
    words::format_count,
};

pub(super) fn print_names(
    registry: &Registry,
    what: Listing,
    form: OutputForm,
    out: &mut dyn Write,
) -> Result {
    let sheet = match what {
        Listing::Loads if form == OutputForm::Table => {
            return print_text(out, &describe_background_loads(registry));
        }
        Listing::Loads => background_load_parameters_sheet(registry),
        _ => names_sheet(registry, what, form)?,
    };
    print_text(out, &sheet.render(form))
}

/// Creates the list of all names of one kind, such as policies, each with a summary and the source (paper or program) of its
/// entry. In aligned columns, the source follows the summary; in other formats it has a separate column, which Markdown omits if
/// it is empty.
fn names_sheet(registry: &Registry, what: Listing, form: OutputForm) -> Result<Sheet> {
    let rows: Vec<[String; 3]> = match what {
        Listing::Apps => plugin_rows(registry.workloads()),
        Listing::Experiments => experiment::built_in_names()
            .map(|name| {
                let document = experiment::find_built_in_experiment(name)?;
                let text = document
                    .and_then(|document| document.value["description"].as_str().map(str::to_owned));
                Ok(name_row(name, &text.unwrap_or_default(), NO_SOURCE))
            })
            .collect::<Result<_>>()?,
        Listing::Libraries => experiment::BUILT_IN_LIBRARIES
            .iter()
            .map(|library| name_row(library.name, library.summary, library.source))
            .collect(),
        Listing::Loads => Vec::new(), // see `parameters_of_loads`, which lists their parameters, too
        Listing::Papers => PAPERS
            .iter()
            .map(|paper| name_row(paper.name, paper.title, NO_SOURCE))
            .collect(),
        Listing::Policies => plugin_rows(registry.policies()),
        Listing::Triggers => plugin_rows(registry.triggers()),
        Listing::Networks => PRESETS
            .iter()
            .map(|preset| name_row(preset.name, preset.summary, NO_SOURCE))
            .collect(),
        Listing::Platforms => platform::built_in_platforms()
            .iter()
            .map(|(name, _)| {
                let machine = platform::open(name)?.platform;
                let summary = format!(
                    "{} in {}",
                    format_count(machine.hosts.len(), "host"),
                    format_count(machine.clusters.len(), "cluster")
                );
                Ok(name_row(name, &summary, NO_SOURCE))
            })
            .collect::<Result<_>>()?,
    };
    let mut columns = vec![
        text_column("name", "name"),
        text_column("what", "what"),
        text_column("source", "source"),
    ];
    let is_listed = rows.iter().any(|[_, _, source]| source != NO_SOURCE);
    if form == OutputForm::Table || form == OutputForm::Markdown && !is_listed {
        columns.pop();
    }
    let mut table = Table::new("known", "", &columns).without_headings();
    for [name, what, source] in rows {
        let what = match form {
            OutputForm::Table => summary_with_source(&what, &source),
            _ => what,
        };
        let source = match source.as_str() {
            NO_SOURCE => Cell::empty(),
            source => Cell::text(source),
        };
        let mut row = vec![Cell::text(name), Cell::text(what), source];
        row.truncate(columns.len());
        table.push_row(row);
    }
    let mut sheet = Sheet::default();
    sheet.add_table(table);
    Ok(sheet)
}

/// Text that a registry contains in place of the source if an entry has no source.
const NO_SOURCE: &str = "-";

/// Creates a table of the parameters of all kinds of load: one row per parameter, with its default value and its meaning.
fn background_load_parameters_sheet(registry: &Registry) -> Sheet {
    let columns = [
        text_column("kind", "kind"),
        text_column("parameter", "parameter"),
        text_column("default", "default"),
        text_column("what", "what"),
    ];
    let mut table = Table::new("loads", "", &columns);
    for entry in registry.loads() {
        for parameter in entry.parameters() {
            let what = parameter.description.replace('\n', " ");
            table.push_row([
                Cell::text(entry.name),
                Cell::text(parameter.name),
                Cell::text(format_default_value(parameter.default)),
                Cell::text(what),
            ]);
        }
    }
    let mut sheet = Sheet::default();
    sheet.add_table(table);
    sheet
}

fn format_default_value(value: Option<Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

/// Returns a text that lists all kinds of load, each with its parameters and their default values.
fn describe_background_loads(registry: &Registry) -> String {
    let mut text = String::new();
    for entry in registry.loads() {
        let rest = summary_with_source(entry.summary, entry.publication);
        writeln!(text, "{:<9} {rest}", entry.name).expect("a string can be written to");
        for parameter in entry.parameters() {
            let default = format_default_value(parameter.default);
            let name = parameter.name;
            let what = parameter.description.replace('\n', " ");
            writeln!(text, "  {name:<9} {default:<7} {what}").expect("a string can be written to");
        }
    }
    text
}

fn plugin_rows<K>(table: &PluginTable<K>) -> Vec<[String; 3]> {
    table
        .iter()
        .map(|entry| name_row(entry.name, entry.summary, entry.publication))
        .collect()
}

fn name_row(name: &str, summary: &str, source: &str) -> [String; 3] {
    [name, summary, source].map(str::to_owned)
}

/// Returns a summary, followed by its source in square brackets unless there is no source.
fn summary_with_source(summary: &str, source: &str) -> String {
    match source {
        NO_SOURCE => summary.to_owned(),
        source => format!("{summary} [{source}]"),
    }
}
