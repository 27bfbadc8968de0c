//! The book in `docs/`: its generated chapters are current, its links have targets, its JSON blocks can be read, and its commands exist.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use migsim::experiment::{PLAUSIBILITY_RULES, PlausibilityRule, RuleStage};
use serde_json::Value;

use crate::{
    source::all_files,
    support::{migsim, migsim_in, succeeded},
};

/// Lists all Markdown pages for readers, from the root.
pub(super) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs"), PathBuf::from("results")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Returns the page without its blocks of code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// Returns the blocks of code of a page in a language.
pub(super) fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let start = format!("```{language}\n");
    let mut rest = text;
    let mut found = Vec::new();
    while let Some((_, block)) = rest.split_once(&start) {
        let (block, after) = block.split_once("\n```").unwrap();
        found.push(block);
        rest = after;
    }
    found
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().chars();
    let letters = letters.filter_map(|letter| match letter {
        ' ' | '-' => Some('-'),
        '_' => Some('_'),
        letter if letter.is_alphanumeric() => Some(letter.to_ascii_lowercase()),
        _ => None,
    });
    letters.collect()
}

/// Lists the targets of the links of a page into this project.
fn links(prose: &str) -> Vec<&str> {
    let starts = prose.match_indices("](").map(|(at, _)| &prose[at + 2..]);
    starts
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        .filter(|target| !target.contains("://"))
        .collect()
}

#[test]
fn no_link_is_dead() {
    let mut dead = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let text = prose(&fs::read_to_string(&page).unwrap());
        for link in links(&text) {
            seen += 1;
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            let has_place = |target: &Path| {
                let text = fs::read_to_string(target).unwrap_or_default();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                headings.any(|heading| anchor(heading) == place)
            };
            if !target.exists() || !place.is_empty() && !has_place(&target) {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
    assert!(seen > 100, "{seen}");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let summary = fs::read_to_string("docs/SUMMARY.md").unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).iter().map(PathBuf::from).collect();
    let docs = pages().into_iter();
    let written: BTreeSet<PathBuf> = docs
        .filter_map(|page| page.strip_prefix("docs").map(Path::to_owned).ok())
        .filter(|page| page != Path::new("SUMMARY.md"))
        .collect();
    let other: Vec<_> = listed.symmetric_difference(&written).collect();
    assert!(
        other.is_empty(),
        "docs/SUMMARY.md and docs differ in {other:?}"
    );
}

#[test]
fn json_in_the_book_can_be_read() {
    let mut count = 0;
    for page in pages() {
        for block in blocks(&fs::read_to_string(&page).unwrap(), "json") {
            let value: Result<Value, _> = serde_json::from_str(block);
            assert!(value.is_ok(), "{}: {block}\n{value:?}", page.display());
            count += 1;
        }
    }
    assert!(count > 1, "{count}");
}

/// Returns the texts between backticks.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The compiler checks links in the documentation of the code; names in pages and plain names of constants are checked here.
#[test]
fn items_that_pages_and_comments_name_are_defined() {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let files = all_files().into_iter();
    let sources: Vec<String> = files
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let mut checked = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for name in codes(&text) {
            let Some((owner, item)) = name.trim_end_matches("()").rsplit_once("::") else {
                continue;
            };
            let owner = owner.rsplit("::").next().unwrap();
            let is_path = name.chars().all(|c| is_word(c) || ":()".contains(c));
            if !is_path || item.is_empty() || !owner.starts_with(char::is_uppercase) {
                continue;
            }
            let owners =
                ["struct ", "enum ", "trait ", "impl "].map(|word| format!("{word}{owner}"));
            let mut files = sources
                .iter()
                .filter(|text| owners.iter().any(|one| text.contains(one)));
            let is_defined = files.any(|text| text.split(|c| !is_word(c)).any(|word| word == item));
            assert!(is_defined, "{}: `{name}` is not defined", page.display());
            checked += 1;
        }
    }
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let lines = sources.iter().flat_map(|text| text.lines());
    let (comments, code): (Vec<&str>, Vec<&str>) = lines.partition(is_comment);
    let words = code.iter().flat_map(|line| line.split(|c| !is_word(c)));
    let words: BTreeSet<&str> = words.collect();
    for name in comments.iter().flat_map(|line| codes(line)) {
        let is_letter = |c: char| c.is_ascii_uppercase() || c == '_';
        let is_constant = name.len() > 6 && name.contains('_') && name.chars().all(is_letter);
        let is_defined = !is_constant || words.contains(name);
        assert!(is_defined, "`{name}` is not defined");
        checked += usize::from(is_constant);
    }
    assert!(checked > 3, "{checked}");
}

/// Whether the measurements on the pages of results are of the last 300 commits, or say that they are old. Without history nothing is checked.
#[test]
fn old_measurements_say_that_they_are_old() {
    for page in pages()
        .into_iter()
        .filter(|page| page.starts_with("results"))
    {
        for line in fs::read_to_string(&page).unwrap().lines() {
            let words = line.split(|c: char| !c.is_alphanumeric());
            let is_hash = |word: &&str| {
                let is_digit = |c: char| c.is_ascii_hexdigit() && !c.is_uppercase();
                (7..=8).contains(&word.len())
                    && word.chars().all(is_digit)
                    && word.contains(char::is_alphabetic)
                    && word.contains(|c: char| c.is_ascii_digit())
            };
            for commit in words.filter(is_hash) {
                let range = format!("{commit}..HEAD");
                let count = Command::new("git")
                    .args(["rev-list", "--count", &range])
                    .output();
                let count = count.ok().filter(|output| output.status.success());
                let count = count.map(|output| String::from_utf8(output.stdout).unwrap());
                let age = count.and_then(|count| count.trim().parse::<usize>().ok());
                let is_old =
                    age.is_some_and(|age| age > 300) && !line.to_lowercase().contains("old");
                assert!(
                    !is_old,
                    "{}: {commit}: measure again, or write `(old)` after it",
                    page.display()
                );
            }
        }
    }
}

/// Lists the commands that pages show, in blocks and between backticks, and those that hints, notes and helps name, each with its file.
fn shown_commands() -> Vec<(PathBuf, String)> {
    let mut shown = Vec::new();
    for file in pages().into_iter().chain(all_files()) {
        let text = fs::read_to_string(&file).unwrap();
        let mut lines: Vec<&str> = Vec::new();
        if file.extension().is_some_and(|end| end == "md") {
            let blocks = ["sh", "console"].map(|language| blocks(&text, language));
            lines.extend(blocks.into_iter().flatten().flat_map(str::lines));
        }
        let inline = codes(&text);
        // A text that is filled in is a command only when it is printed.
        lines.extend(inline.filter(|code| code.starts_with("migsim ") && !code.contains('{')));
        shown.extend(
            lines
                .into_iter()
                .map(|line| (file.clone(), line.to_owned())),
        );
    }
    shown
}

/// Each command has a help, which lists each of its flags.
#[test]
fn commands_that_are_named_have_the_flags_that_they_are_named_with() {
    let (mut flags, mut helps) = (0, BTreeMap::new());
    for (file, line) in shown_commands() {
        let line = line.trim_start_matches("$ ");
        let line = line.split(" #").next().unwrap();
        let command = line
            .split_once("migsim ")
            .filter(|_| !line.starts_with("note: "));
        let Some((_, arguments)) = command else {
            continue;
        };
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let Some(command) = words.first() else {
            continue;
        };
        if !command.chars().all(|letter| letter.is_ascii_lowercase()) {
            continue;
        }
        let is_name = |word: &&&str| word.chars().all(|letter| letter.is_ascii_lowercase());
        let family = ["platform", "trace", "workload", "sweep"].contains(command);
        let second = words.get(1).filter(|word| family && is_name(word));
        let mut asked = vec![*command];
        asked.extend(second.filter(|word| ["show", "export", "merge"].contains(word)));
        let key = asked.join(" ");
        let help = helps.entry(key).or_insert_with(|| help(&asked));
        let own = words.iter().take_while(|word| **word != "--");
        for word in own.filter(|word| word.starts_with("--")) {
            let flag = word.split('=').next().unwrap();
            let is_there =
                help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n"));
            assert!(is_there, "{}: {line}: no {flag}", file.display());
            flags += 1;
        }
    }
    assert!(flags > 200, "{flags}");
}

/// Returns the help of a command for all of its flags.
fn help(command: &[&str]) -> String {
    let asked = |flag| migsim(&[command, &[flag]].concat());
    let output = asked("--help-all");
    let output = if output.status.success() {
        output
    } else {
        succeeded(asked("--help"))
    };
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a generated chapter if `UPDATE_RESULTS=1`, and compares it otherwise.
fn is_current(path: &str, text: &str) {
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        fs::write(path, text).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == text,
        "{path} is not current: run the tests with UPDATE_RESULTS=1"
    );
}

#[test]
fn the_chapter_on_settings_is_that_of_the_schema() {
    let schema = fs::read_to_string("workloads/experiment.schema.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut text = String::from(
        "# Settings\n\nGenerated from the schema of experiments. `migsim run --show` prints all settings of a run, `--set KEY=VALUE` sets one, and \
         `migsim schema experiment` prints the schema. Units are on [their own page](units.md).\n\n\
         Defaults are those on a platform of your own, where `policy.migbsp` has [neutral settings](../understand/migbsp.md#readings). Tables with the \
         columns *your platform* and *the papers* also show the values in the experiments of the papers. These experiments set other keys, too, \
         which `migsim run lu --show` prints.\n",
    );
    let papers = papers();
    let mut section = |title: &str, prefix: &str, object: &Value| {
        let has_two = is_read_in_two_ways(&schema, object);
        let (columns, line) = if has_two {
            ("your platform | the papers", "---|---")
        } else {
            ("default", "---")
        };
        let head = format!("| key | value | {columns} | meaning |\n|---|---|{line}|---|");
        writeln!(text, "\n## {title}\n\n{head}").unwrap();
        let papers = if has_two { &papers[..] } else { &[] };
        rows(&schema, (prefix, papers), object, &mut text);
    };
    let properties = &schema["properties"];
    let top = [
        "extends",
        "platform",
        "clusters",
        "mapping",
        "scenarios",
        "seed",
        "load",
        "changes",
        "library",
    ];
    let top: serde_json::Map<String, Value> = top
        .iter()
        .map(|key| ((*key).to_owned(), properties[*key].clone()))
        .collect();
    section(
        "The experiment",
        "",
        &serde_json::json!({ "properties": top }),
    );
    for one in properties["workload"]["anyOf"].as_array().unwrap() {
        if let Some(app) = one["title"].as_str() {
            section(&format!("Application {app}"), "workload.", &one["allOf"][0]);
        }
    }
    section("Network", "network.", &properties["network"]);
    section("Runtime", "runtime.", &properties["runtime"]);
    section("Costs", "costs.", &properties["costs"]);
    section("View of policies", "view.", &properties["view"]);
    for (policy, options) in properties["policy"]["properties"].as_object().unwrap() {
        if policy == "forecast" || policy == "decision" {
            let own = serde_json::json!({ "properties": { policy: options } });
            let title = ["Forecast of strategies", "Decisions"][usize::from(policy == "decision")];
            section(title, "policy.", &own);
        } else if policy != "name" {
            section(
                &format!("Policy {policy}"),
                &format!("policy.{policy}."),
                options,
            );
        }
    }
    is_current("docs/reference/settings.md", &text);
}

/// A platform that no paper used.
const LAB: &str = "tests/transcripts/files/own.json";

/// Returns the rows of the chapter on settings: key and value on a platform that no paper used.
fn values_of_the_book() -> Vec<(String, String)> {
    let text = fs::read_to_string("docs/reference/settings.md").unwrap();
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let key = cells[0].trim_start_matches("| ").trim_matches('`');
        rows.push((key.to_owned(), cells[2].to_owned()));
    }
    rows
}

/// The keys whose value this test gives, or that migsim writes itself.
const GIVEN: [&str; 4] = [
    "platform",
    "extends",
    "policy.exec.command",
    "policy.replay.file",
];

#[test]
fn values_in_the_book_are_those_in_effect_on_a_platform_of_ones_own() {
    let scratch = tempfile::tempdir().unwrap();
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join(LAB);
    let lab = lab.to_str().unwrap();
    let start = ["run", "--platform", lab, "--app", "synthetic"];
    let run = [&start[..], &["--procs", "4", "--out", "r", "--quiet"]].concat();
    succeeded(migsim_in(scratch.path(), &run));
    let manifest = fs::read_to_string(scratch.path().join("r/run.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let own = &manifest["experiment"];
    let book = values_of_the_book();
    let mut of_policies = BTreeMap::from([("migbsp", own.clone())]);
    let mut checked = 0;
    for (key, told) in &book {
        let mut parts = key.split('.');
        let settings = match (parts.next().unwrap(), parts.next()) {
            ("workload", _) => continue, // each has its own application
            // The view is left out if reports have no errors, so another of its keys is set.
            ("view", Some(key)) => {
                let other = ["view.window=2", "view.delay=1"][usize::from(key == "window")];
                let arguments = [&start[1..], &["--set", other]].concat();
                &*of_policies
                    .entry(other)
                    .or_insert_with(|| shown(&arguments))
            }
            ("policy", Some("forecast" | "decision")) => own,
            ("policy", Some(policy)) => &*of_policies.entry(policy).or_insert_with(|| {
                let name = if policy == "exec" {
                    "exec:true"
                } else {
                    policy
                };
                shown(&[&start[1..], &["--policy", name]].concat())
            }),
            _ => own,
        };
        if GIVEN.contains(&&**key) {
            continue;
        }
        assert_eq!(code(under(settings, key)), *told, "{key}");
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
    // All options in effect are listed.
    let options = own["policy"]["migbsp"].as_object().unwrap();
    for option in options.keys() {
        let key = format!("policy.migbsp.{option}");
        assert!(book.iter().any(|(known, _)| *known == key), "{key}");
    }
}

/// The options of MigBSP that matter most among its readings, as the book lists them.
const READINGS: [(&str, &str); 7] = [
    ("own_cluster", "the own cluster and the highest PM"),
    ("x", "the share of the highest PM"),
    ("candidate_order", "the order of candidates"),
    ("memory_rate", "the rate of Mem(i,j)"),
    ("viability_transfer", "the transfer of the memory in t2"),
    ("viability_cost", "the other costs of a move in t2"),
    ("sharing", "a destination that is in use, in t2"),
];

#[test]
fn the_readings_in_pictures_are_those_in_effect() {
    let papers = papers();
    let own = shown(&["--platform", LAB, "--app", "synthetic"]);
    let mut table = String::from("| what | `policy.migbsp` | your platform |");
    for (name, _) in &papers {
        write!(table, " {name} |").unwrap();
    }
    table.push_str("\n|---|---|---|---|---|---|---|\n");
    for (option, what) in READINGS {
        let key = format!("policy.migbsp.{option}");
        write!(
            table,
            "| {what} | `{option}` | {} |",
            code(under(&own, &key))
        )
        .unwrap();
        for (_, settings) in &papers {
            write!(table, " {} |", code(under(settings, &key))).unwrap();
        }
        table.push('\n');
    }
    let path = "docs/understand/migbsp.md";
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- generated: readings -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    is_current(
        path,
        &format!("{before}<!-- generated: readings -->\n{table}<!-- end -->{after}"),
    );
}

/// Returns the entry of a schema under a key, or the definition it refers to.
fn resolved<'s>(schema: &'s Value, value: &'s Value) -> &'s Value {
    let reference = value["$ref"].as_str();
    reference.map_or(value, |path| schema.pointer(&path[1..]).unwrap())
}

/// The value on a platform that no paper used, in the schema of an option.
const OWN: &str = "x-own-platform";

/// The sentence of a description that gives the same value.
const TOLD: &str = " On a platform that no paper used the default is";

/// Whether some option has a value on a platform that no paper used that differs from its default.
fn is_read_in_two_ways(schema: &Value, object: &Value) -> bool {
    let properties = resolved(schema, object)["properties"].as_object();
    let mut properties = properties.into_iter().flatten();
    properties.any(|(_, property)| property.get(OWN).is_some())
}

/// Returns the complete settings of a command, as `--show` prints them.
fn shown(arguments: &[&str]) -> Value {
    let output = migsim(&[&["run"], arguments, &["--show", "--quiet"]].concat());
    let output = succeeded(output);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Lists the papers with runs, each with the settings of its experiment.
fn papers() -> Vec<(&'static str, Value)> {
    let names = ["lu", "lbm", "sw", "sw-dynamic"];
    names.map(|name| (name, shown(&[name]))).into()
}

/// Returns the value at a dotted key; null if there is none.
fn under<'v>(settings: &'v Value, key: &str) -> &'v Value {
    let path = format!("/{}", key.replace('.', "/"));
    settings.pointer(&path).unwrap_or(&Value::Null)
}

/// Formats a value as code; `-` if there is none.
fn code(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

/// Formats the values of a key in the experiments of the papers: one value, or each value with its papers.
fn in_papers(papers: &[(&str, Value)], key: &str) -> String {
    let mut values: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, settings) in papers {
        let value = code(under(settings, key));
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(name),
            None => values.push((value, vec![name])),
        }
    }
    match &values[..] {
        [(value, _)] => value.clone(),
        several => {
            let told = several.iter();
            let told = told.map(|(value, names)| format!("{value} ({})", names.join(", ")));
            told.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Makes the rows of an object's options. With `papers`, the values on a platform that no paper used and those in the papers' experiments
/// replace the default.
fn rows(
    schema: &Value,
    (prefix, papers): (&str, &[(&str, Value)]),
    object: &Value,
    text: &mut String,
) {
    let properties = resolved(schema, object)["properties"].as_object();
    for (key, property) in properties.into_iter().flatten() {
        let target = resolved(schema, property);
        if target["properties"].is_object() {
            let prefix = format!("{prefix}{key}.");
            rows(schema, (&prefix, papers), target, text);
            continue;
        }
        let cell = |value: &str| value.replace('|', "\\|").replace('\n', " ");
        let own = property.get(OWN).unwrap_or(&property["default"]);
        let mut values = cell(&code(own));
        if !papers.is_empty() {
            let in_papers = in_papers(papers, &format!("{prefix}{key}"));
            write!(values, " | {}", cell(&in_papers)).unwrap();
        }
        let meaning = property["description"].as_str();
        let meaning = meaning.or(target["description"].as_str()).unwrap_or("-");
        let meaning = meaning.split(TOLD).next().unwrap();
        writeln!(
            text,
            "| `{prefix}{key}` | {} | {} | {} |",
            cell(&kind(target)),
            values,
            cell(meaning)
        )
        .unwrap();
    }
}

/// Describes the possible values in words.
fn kind(target: &Value) -> String {
    let choices = target["oneOf"].as_array().into_iter().flatten();
    let choices: Vec<String> = choices
        .filter_map(|choice| choice["const"].as_str().map(|name| format!("`{name}`")))
        .collect();
    if !choices.is_empty() {
        return choices.join(", ");
    }
    if let Some(examples) = target["examples"].as_array() {
        let what = target["description"].as_str().unwrap_or("text");
        return format!("{what}, as `{}`", examples[0].as_str().unwrap_or_default());
    }
    match &target["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            kinds
                .filter(|kind| *kind != "null")
                .collect::<Vec<_>>()
                .join(" or ")
        }
        _ => "see the meaning".to_owned(),
    }
}

/// The commands, in the order of the chapter about them.
pub(super) const COMMANDS: [&str; 22] = [
    "run",
    "sweep",
    "sweep merge",
    "compare",
    "bottlenecks",
    "tune",
    "advise",
    "explain",
    "snapshot",
    "decide",
    "calibrate",
    "record",
    "report",
    "reproduce",
    "platform show",
    "platform export",
    "workload show",
    "trace export",
    "list",
    "schema",
    "completions",
    "man",
];

#[test]
fn the_chapter_on_commands_is_their_help() {
    let mut text = String::from("# Commands\n\nGenerated from the help of each command.\n");
    for command in COMMANDS {
        let help = help(&command.split(' ').collect::<Vec<_>>());
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        writeln!(
            text,
            "\n## migsim {command}\n\n```text\n{}\n```",
            help.join("\n").trim_end()
        )
        .unwrap();
    }
    is_current("docs/reference/commands.md", &text);
}

/// Describes the stage of a rule.
fn stage(rule: &PlausibilityRule) -> &'static str {
    match rule.stage {
        RuleStage::PlatformRead => "`platform show`, and each command that reads settings",
        RuleStage::SettingsRead => "each command that reads settings",
        _ => "after a run",
    }
}

#[test]
fn the_chapter_on_notes_is_the_table_of_rules() {
    let mut text = String::from(
        "# Notes about unlikely values\n\nGenerated from the table of rules. migsim refuses impossible values. It accepts unlikely ones and prints a \
         note, on stderr (`note: ...`) and under `notes` in `--json` and `run.json`. No note changes a result, and `--quiet` suppresses them.\n\n\
         | rule | a note appears if | reason for the threshold | what to do | printed by |\n|---|---|---|---|---|\n",
    );
    for rule in &PLAUSIBILITY_RULES {
        let condition = rule.condition.replace("{}", &rule.threshold.to_string());
        let cells = [rule.name, &condition, rule.reason, rule.advice, stage(rule)];
        writeln!(
            text,
            "| {} |",
            cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
        )
        .unwrap();
    }
    is_current("docs/reference/notes.md", &text);
}

/// Lists the elements and attributes that the reader of SimGrid's files accepts, from its source.
fn names_of_simgrid() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir("crates/platform/src/simgrid").unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        for start in [
            "check_attributes(node, &[",
            "check_attributes(child, &[",
            "let known = [",
            "KNOWN: [",
            "KINDS: [",
            "ROUTINGS: [",
            "ELEMENTS: [",
        ] {
            for list in source.split(start).skip(1) {
                // In a constant, the list follows the type.
                let list = match (start.ends_with(": ["), list.split_once("= [")) {
                    (true, Some((_, list))) => list,
                    _ => list,
                };
                let list = list.split(']').next().unwrap();
                names.extend(list.split('"').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
    names
}

#[test]
fn the_page_on_simgrid_has_every_element_and_attribute_that_is_read() {
    let page = fs::read_to_string("docs/reference/simgrid.md").unwrap();
    let names = names_of_simgrid();
    assert!(names.len() > 60 && names.contains("radical") && names.contains("Vivaldi"));
    let is_missing = |name: &&String| !page.contains(&format!("`{name}`"));
    let missing: Vec<&String> = names.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_platform_of_the_first_chapter_is_the_file_that_its_commands_read() {
    let page = fs::read_to_string("docs/start.md").unwrap();
    let file = fs::read_to_string("docs/start.in/two-sites.json").unwrap();
    assert_eq!(blocks(&page, "json"), [file.trim_end()]);
}

/// Checks that a reader who types the commands of the book in their order is never refused because a folder holds another run.
#[test]
fn each_run_of_the_book_has_a_folder_of_its_own() {
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    let mut pages = pages();
    pages.retain(|page| !page.starts_with("results"));
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for line in text.lines().map(str::trim) {
            let words: Vec<&str> = line.trim_start_matches("$ ").split(' ').collect();
            let out = words.iter().position(|word| *word == "--out");
            if let (["migsim", "run", ..], Some(at)) = (&words[..], out) {
                let other = folders.insert(words[at + 1].to_owned(), line.to_owned());
                let is_same = other.as_ref().is_none_or(|other| other == line);
                assert!(is_same, "{}: {line} after {other:?}", page.display());
            }
        }
    }
    assert!(folders.len() > 5, "{folders:?}");
}
