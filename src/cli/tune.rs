//! `migsim tune`: searches good settings, then prints them with the command that runs them.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

use super::args::{GoalChoice, SettingsArguments, TuneArguments};
use super::memory_limit::limits;
use super::print::{print, print_json, say, say_notes};
use super::progress::{Bar, with_bar_and_farewell};
use super::run::given;
use super::sweep::{Varied, open_store, varied};
use super::threads::threads;
use crate::document::value_as_typed;
use crate::error::{Error, Problem, visible};
use crate::experiment::Flag;
use crate::memory::Purpose;
use crate::output::frame::{Page, list, section};
use crate::output::{Cell, Form, Sheet, Table, cannot_write, escaped, numbers, words, write_file};
use crate::registry::Registry;
use crate::sweep::goal::Goal;
use crate::sweep::page::{SHOWN, ranking};
use crate::sweep::setting::{layers, varied as varied_settings};
use crate::sweep::slurm::quoted;
use crate::sweep::spec::label;
use crate::sweep::stats::Sample;
use crate::sweep::stats::short;
use crate::sweep::summary::{Summary, named};
use crate::sweep::tune::{FRESH, Found, Setting, Tuning, usual_parameters};
use crate::sweep::{Common, Done, Shard, Spec, Store, Sweep, keys, table::runs_csv};
use crate::words::counted;

/// The most settings that are named as equally good.
const MOST_TIES: usize = 4;

/// The seeds of the search if none are given.
const SEEDS: &str = "1..8";

pub(super) fn tune(
    registry: &Registry,
    arguments: &TuneArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let varied = sweep_of(registry, arguments)?;
    let sweep = &varied.sweep;
    let memory = &arguments.varied.settings.memory;
    let limits = limits(memory, arguments.threads, Purpose::Sweep);
    let threads = threads(arguments.threads)?;
    let store = match &arguments.out {
        Some(folder) => open_store(folder, arguments.quiet, errors)?,
        None => Store::in_memory(),
    };
    let (common, store, done) = (Common::default(), Mutex::new(store), Done::default());
    let tuning = Tuning {
        sweep,
        goal: match arguments.goal {
            GoalChoice::Makespan => Goal::MAKESPAN,
            GoalChoice::Gain => Goal::GAIN,
        },
        budget: usize::try_from(arguments.budget).expect("at most a million"),
        fresh: arguments.fresh.as_ref(),
        limits,
        common: &common,
        store: &store,
        done: &done,
    };
    let bar = Bar {
        unit: "runs",
        // The search, and the comparison of two settings.
        total: Some(
            arguments
                .fresh
                .as_ref()
                .map_or(FRESH, Spec::count)
                .saturating_mul(2)
                .saturating_add(u64::from(arguments.budget)),
        ),
        has_lines: true,
        is_quiet: arguments.quiet,
    };
    let farewell = || {
        let store = store.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match &arguments.out {
            Some(folder) => format!(
                "{} kept in `{}`; the same command goes on",
                counted(store.rows().len(), "run"),
                visible(&folder.display().to_string())
            ),
            None => format!(
                "{} done, none kept: a search with `--out DIR` goes on where it was",
                counted(done.runs(), "run")
            ),
        };
        let _ = store.sync();
        // Nothing is added from here on.
        std::mem::forget(store);
        (!arguments.quiet).then_some(text)
    };
    let found = with_bar_and_farewell(&bar, &|| done.runs(), &farewell, || {
        threads.install(|| tuning.run())
    })?;
    store
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .sync()?;
    let report = Report {
        sweep,
        goal: tuning.goal,
        command: command(&arguments.varied.settings, &varied, &found.best)?,
        found: &found,
    };
    let json = format!("{:#}\n", report.json());
    if let Some(folder) = &arguments.out {
        write(folder, &found, &json)?;
        write_file(&folder.join("index.html"), report.page().as_bytes())?;
    }
    match arguments.form.form_unless(arguments.quiet) {
        None => {}
        Some(Form::Json) => print_json(out, &report.json())?,
        Some(form) => print(out, &report.sheet().render(form))?,
    }
    if !arguments.quiet {
        say_notes(&found.all.0.notes, errors);
    }
    if let Some((count, first)) = found.failed.as_ref().filter(|_| !arguments.quiet) {
        let runs = counted(count, "run");
        say(errors, &format!("note: {runs} failed, the first: {first}"));
    }
    Ok(())
}

fn write(folder: &Path, found: &Found, json: &str) -> Result<(), Error> {
    let path = folder.join("runs.csv");
    let (plan, rows) = &found.all;
    let table = runs_csv(plan, Shard::WHOLE, rows)
        .map_err(|error| cannot_write(&path.display().to_string(), &error))?;
    write_file(&path, &table)?;
    write_file(&folder.join("tune.json"), json.as_bytes())
}

/// The varied parameters: those with several values, or else the usual ranges of the policy's options.
fn sweep_of(registry: &Registry, arguments: &TuneArguments) -> Result<Varied, Error> {
    let settings = &arguments.varied.settings;
    if !settings.scenario.is_empty() {
        return Err(Problem::new("the goal says which scenarios are run")
            .source("--scenario")
            .hint("leave it out; `--goal gain` runs scenario i, too")
            .into());
    }
    let mut varied = varied(registry, &arguments.varied)?;
    let sweep = &mut varied.sweep;
    if sweep.parameters.is_empty() {
        let is_fixed = |key: &str| sweep.fixed.iter().any(|flag| flag.key == key);
        let policy = keys::policy_of(&sweep.layers());
        sweep.parameters = usual_parameters(registry, &policy, is_fixed)?;
    }
    if sweep.seeds.is_none() {
        let seed = sweep.fixed.iter().rfind(|flag| flag.key == "seed");
        sweep.seeds = Some(match seed {
            Some(flag) => Spec::list(vec![flag.value.clone()], flag.value.to_string()),
            None => Spec::parse(SEEDS).expect("the usual seeds can be read"),
        });
        // It is that of the search; those of the comparison are others.
        sweep.fixed.retain(|flag| flag.key != "seed");
    }
    let scenarios = match arguments.goal {
        GoalChoice::Makespan => json!(["iii"]),
        GoalChoice::Gain => json!(["i", "iii"]),
    };
    sweep.fixed.push(Flag {
        key: "scenarios".into(),
        flag: "--goal".into(),
        value: scenarios,
    });
    sweep.draw_seed = arguments.draw_seed;
    Ok(varied)
}

/// The printed result of a search.
struct Report<'a> {
    sweep: &'a Sweep,
    goal: Goal,
    found: &'a Found,
    command: String,
}

impl Report<'_> {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.line(self.heading());
        sheet.line("");
        sheet.table(self.search());
        sheet.line("");
        let found = self.found;
        let compared = &found.comparison;
        let both = [
            ("best", compared.best, &found.best),
            ("defaults", compared.defaults, &found.defaults),
        ];
        for (name, sample, setting) in both {
            let mean = sample.map_or("cannot be run".to_owned(), |sample| short(sample.mean));
            sheet.line(format!("{name:<8}  {mean}  {}", self.named(setting)));
        }
        if let Some(ties) = self.ties() {
            sheet.line(format!("ties      {ties}"));
        }
        sheet.line(format!("gain      {}", self.gain()));
        sheet.line("");
        sheet.line(&self.command);
        sheet
    }

    fn heading(&self) -> String {
        let found = self.found;
        format!(
            "{} of {} with {}, for the best {}",
            counted(found.runs, "run"),
            counted(found.settings, "setting"),
            counted(found.seeds.len(), "seed"),
            self.goal.name()
        )
    }

    /// The rounds of the search.
    fn search(&self) -> Table {
        let columns = [
            words("search", "method"),
            numbers("settings", "settings"),
            numbers("seeds", "seeds"),
            numbers("runs", "runs"),
            numbers("best", "best"),
            words("at", "setting"),
        ];
        let mut table = Table::new("search", "", &columns);
        for round in &self.found.rounds {
            let mean = round.mean;
            table.push([
                Cell::text(round.method),
                Cell::count(round.settings),
                Cell::count(round.seeds),
                Cell::count(round.runs),
                Cell::value(mean, mean.map_or("-".to_owned(), short)),
                Cell::text(self.named(&round.best)),
            ]);
        }
        table
    }

    /// The settings that are as good as the best, if there are any.
    fn ties(&self) -> Option<String> {
        let ties = &self.found.ties;
        let named: Vec<String> = ties
            .iter()
            .take(MOST_TIES)
            .map(|one| self.named(one))
            .collect();
        let more = if ties.len() > MOST_TIES { "; ..." } else { "" };
        let (count, verb) = match ties.len() {
            0 => return None,
            1 => ("1 other".to_owned(), "is"),
            count => (format!("{count} others"), "are"),
        };
        let named = named.join("; ");
        Some(format!(
            "{count} {verb} as good as the best in the search: {named}{more}"
        ))
    }

    /// `index.html`: the same, with all settings that were tried.
    fn page(&self) -> String {
        let (plan, rows) = &self.found.all;
        let settings = ranking(plan, &Summary::of(plan, rows));
        let ties = self.ties().map(|ties| format!("Ties: {ties}."));
        let result = format!(
            "<p class=\"verdict\">Gain over the defaults: {}</p>\n{}{}<p>The command that runs the best setting:</p>\n<pre class=\"wide\" aria-label=\"command\"><code>{}</code></pre>\n",
            escaped(&self.gain()),
            self.compared().html(SHOWN),
            list(&Vec::from_iter(ties)),
            escaped(&visible(&self.command))
        );
        let note = "<p class=\"note\">The means are over all seeds that a setting was run with, those of the comparison included; a setting with few seeds was dropped early. The best is judged on fresh seeds above.</p>\n";
        let body = [
            section(
                "result",
                "Result: the best setting beside the defaults",
                &result,
            ),
            section("search", "Search: its rounds", &self.search().html(SHOWN)),
            section(
                "settings",
                "Settings: all that were tried",
                &format!("{settings}{note}"),
            ),
        ];
        let names = self.sweep.parameters.iter().map(|one| one.name.as_str());
        Page {
            title: &format!("Search over {}", names.collect::<Vec<_>>().join(", ")),
            lead: &format!("<p>{}.</p>\n", escaped(&self.heading())),
            body: &body.concat(),
            ..Page::default()
        }
        .html()
    }

    /// The best setting and the defaults on the seeds of the comparison.
    fn compared(&self) -> Table {
        let columns = [
            words("which", "which"),
            numbers(self.goal.name(), "mean"),
            numbers("± 95 %", "ci95"),
            words("setting", "setting"),
        ];
        let mut table = Table::new("comparison", "", &columns);
        let (found, compared) = (self.found, &self.found.comparison);
        let means = [compared.best, compared.defaults].map(|one| one.map(|one| one.mean));
        let largest = means.into_iter().flatten().fold(0.0, f64::max);
        for (name, sample, setting) in [
            ("best", compared.best, &found.best),
            ("defaults", compared.defaults, &found.defaults),
        ] {
            let mean = sample.map_or_else(
                || Cell::text("cannot be run"),
                |sample| {
                    Cell::value(sample.mean, short(sample.mean)).with_bar(sample.mean / largest)
                },
            );
            let half = sample.and_then(|sample| sample.half_width());
            let half = half.map_or_else(Cell::empty, |half| Cell::value(half, short(half)));
            table.push([
                Cell::text(name),
                mean,
                half,
                Cell::text(self.named(setting)),
            ]);
        }
        table
    }

    fn gain(&self) -> String {
        let compared = &self.found.comparison;
        let Some(gain) = compared.gain_percent.or(compared.improvement) else {
            return "unknown: the defaults cannot be run".into();
        };
        if self.found.best == self.found.defaults {
            return "none: nothing better than the defaults was found".into();
        }
        let unit = if self.goal.is_gain() {
            "percentage points"
        } else {
            "%"
        };
        let mean = short(gain.mean);
        if !self.found.is_random {
            return format!(
                "{mean} {unit}; the interval has no width: nothing here is random, seeds change nothing"
            );
        }
        let (first, last) = (compared.seeds.first(), compared.seeds.last());
        let seeds = match (first, last) {
            (Some(first), Some(last)) if first != last => format!(
                "{} fresh seeds from {first} to {last}",
                compared.seeds.len()
            ),
            _ => "one fresh seed".into(),
        };
        let Some(half) = gain.half_width() else {
            return format!("{mean} {unit} ({seeds}: no interval)");
        };
        let doubt = if gain.mean - half > 0.0 {
            ""
        } else {
            "; the interval holds 0: no gain is shown"
        };
        format!(
            "{mean} ± {} {unit} (95 %, {seeds}, paired){doubt}",
            short(half)
        )
    }

    fn named(&self, setting: &Setting) -> String {
        named(self.sweep.parameters.iter().map(|one| &one.name), setting)
    }

    fn json(&self) -> Value {
        let found = self.found;
        let setting = |setting: &Setting| -> Value {
            let pairs = self.sweep.parameters.iter().zip(setting);
            pairs
                .filter_map(|(one, value)| Some((one.name.clone(), value.clone()?)))
                .collect::<Map<String, Value>>()
                .into()
        };
        let sample = |sample: Option<Sample>| {
            sample.map(|sample| {
                json!({
                    "mean": sample.mean,
                    "deviation": sample.deviation,
                    "ci95": sample.half_width(),
                })
            })
        };
        let rounds = found.rounds.iter().map(|round| {
            json!({
                "method": round.method,
                "settings": round.settings,
                "seeds": round.seeds,
                "runs": round.runs,
                "best": setting(&round.best),
                "mean": round.mean,
            })
        });
        let compared = &found.comparison;
        json!({
            "goal": self.goal.name(),
            "best": setting(&found.best),
            "ties": found.ties.iter().map(setting).collect::<Vec<Value>>(),
            "defaults": setting(&found.defaults),
            "search": {
                "runs": found.runs,
                "settings": found.settings,
                "seeds": found.seeds,
                "draw_seed": self.sweep.draw_seed,
                "failed": found.failed.as_ref().map_or(0, |(count, _)| *count),
                "rounds": rounds.collect::<Vec<Value>>(),
            },
            "is_random": found.is_random,
            "comparison": {
                "seeds": compared.seeds,
                "best": sample(compared.best),
                "defaults": sample(compared.defaults),
                "improvement": sample(compared.improvement),
                "gain_percent": sample(compared.gain_percent),
            },
            "command": self.command,
        })
    }
}

/// Keys of an experiment file that are for people.
const FOR_PEOPLE: [&str; 5] = ["$schema", "schema", "description", "origins", "basis"];

/// The command that runs a setting. What varies comes last, as `--set`, which wins over all that stands before it.
fn command(
    arguments: &SettingsArguments,
    Varied {
        sweep,
        is_sweep_file,
    }: &Varied,
    setting: &Setting,
) -> Result<String, Error> {
    let mut words = vec!["migsim".to_owned(), "run".to_owned()];
    if *is_sweep_file {
        // A sweep file is no experiment: what it and the flags say together is said key by key.
        let merged = layers(sweep, setting, None).merged()?;
        let own = merged.as_object().into_iter().flatten();
        // All scenarios are run, whichever the goal needs.
        let is_told = |key: &str| !FOR_PEOPLE.contains(&key) && key != "scenarios";
        let varied = varied_settings(sweep, setting);
        for (key, value) in own.filter(|(key, _)| is_told(key)) {
            for (path, value) in keys::leaves(value, key) {
                if !varied.iter().any(|one| one.key == path) {
                    words.extend(set(&path, value));
                }
            }
        }
        words.extend(varied.iter().flat_map(|one| set(&one.key, &one.value)));
        if let Some(seed) = sweep.seeds.as_ref().filter(|seeds| seeds.count() == 1) {
            words.extend(["--seed".to_owned(), label(&seed.get(0))]);
        }
    } else {
        let path = arguments.experiment.iter();
        words.extend(path.map(|path| path.display().to_string()));
        let varies = |name: &str| sweep.parameters.iter().any(|one| one.name == name);
        for one in given(&sweep.registry, arguments) {
            if one.spec.count() == 1 && !varies(one.name) {
                words.extend([one.flag.clone(), one.spec.text().to_owned()]);
            }
        }
        if sweep.base.get("scenarios").is_some() {
            words.extend(["--scenario", "all"].map(str::to_owned));
        }
        for load in arguments.load.iter().filter(|_| !varies("load")) {
            words.extend(["--load".to_owned(), load.clone()]);
        }
        let pairs = |flag: &'static str, pairs: &[(String, String)]| {
            let pair =
                |(key, value): &(String, String)| [flag.to_owned(), format!("{key}={value}")];
            pairs.iter().flat_map(pair).collect::<Vec<String>>()
        };
        words.extend(pairs("--net", &arguments.constants));
        words.extend(pairs("--set", &arguments.settings));
        let varied = varied_settings(sweep, setting);
        words.extend(varied.iter().flat_map(|one| set(&one.key, &one.value)));
    }
    if let Some(limit) = arguments.memory.memory_limit {
        words.extend(["--memory-limit".to_owned(), format!("{} B", limit.get())]);
    }
    let words: Vec<String> = words.iter().map(|word| plain_or_quoted(word)).collect();
    Ok(words.join(" "))
}

/// A setting as the words that give it.
pub(super) fn set(key: &str, value: &Value) -> [String; 2] {
    [
        "--set".to_owned(),
        format!("{key}={}", value_as_typed(value)),
    ]
}

/// A word that a shell reads as it is, in quotes only where it needs them.
pub(super) fn plain_or_quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,=:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        quoted(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_says_what_was_given_and_what_was_found() {
        let line = "migsim tune --app sw --n 25 --alpha 2,4 --load walk,on=Aquario+ICE --vary grid=[10,5],[5,10] --vary policy.migbsp.delta=0.0..1.0:0.5";
        let more = ["--set", "workload.image_bytes=1 MB"];
        let registry = Registry::standard();
        let typed: Vec<_> = line.split(' ').chain(more).map(Into::into).collect();
        let known = crate::cli::command::of_registry(&registry).unwrap();
        let arguments = crate::cli::parsed(known, &typed).unwrap();
        let crate::cli::args::Command::Tune(tune) = arguments.command else {
            unreachable!("the line says tune");
        };
        let varied = sweep_of(&registry, &tune).unwrap();
        let sweep = &varied.sweep;
        let names: Vec<&str> = sweep
            .parameters
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["alpha", "grid", "policy.migbsp.delta"]);
        let setting = vec![Some(json!(4)), Some(json!([10, 5])), Some(json!(0.5))];
        assert_eq!(
            command(&tune.varied.settings, &varied, &setting).unwrap(),
            "migsim run --app sw --n 25 --load walk,on=Aquario+ICE --set 'workload.image_bytes=1 MB' --set policy.migbsp.alpha=4 --set 'workload.grid=[10,5]' --set policy.migbsp.delta=0.5"
        );
    }
}
