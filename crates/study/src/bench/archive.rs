//! An archive of benchmarks: the `bench.json` of earlier entries in one folder, with which a new entry is compared.

use std::{fs, path::Path};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    BEST_START,
    rows::{BenchResults, PolicyStatistics},
};
use crate::cells::cell_with;
use migsim_base::error::{Error, Result};
use migsim_experiment::suite::RankingMean;
use migsim_output::{Cell, Sheet, Table, number_column, text_column};

/// The benchmarks in the JSON files of a folder, each with the name of its file.
#[derive(Clone, Debug)]
pub struct Archive(Vec<(String, Value)>);

impl Archive {
    /// Reads the benchmarks of a folder, in the order of the names of their files.
    ///
    /// # Errors
    /// The folder or a file cannot be read, a file is no benchmark, or there is none.
    pub fn read(folder: &Path) -> Result<Self> {
        let place = folder.display().to_string();
        let hint = "name a folder into which you have copied the `bench.json` of earlier benchmarks, each under another name";
        let wrong = |what: String, place: &str| Error::input(what, place, hint);
        let cannot = |error| wrong(format!("the archive cannot be read: {error}"), &place);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push(path);
            }
        }
        files.sort();
        let read = |path: &std::path::PathBuf| {
            let name = path.display().to_string();
            let text = fs::read(path).map_err(|error| wrong(error.to_string(), &name))?;
            let json: Value =
                serde_json::from_slice(&text).map_err(|error| wrong(error.to_string(), &name))?;
            if json["schema"] != "migsim-bench-1" {
                return Err(wrong("the file is no benchmark".into(), &name));
            }
            if json["version"].is_null() {
                let what = "the benchmark is of migsim before version 0.4: run it again";
                return Err(wrong(what.into(), &name));
            }
            let stem = path.file_stem().unwrap_or_default();
            Ok((stem.to_string_lossy().into_owned(), json))
        };
        let entries: Vec<_> = files.iter().map(read).collect::<Result<_>>()?;
        if entries.is_empty() {
            return Err(wrong("the folder has no benchmark".into(), &place));
        }
        Ok(Self(entries))
    }
}

/// A policy among the rivals of an archive.
#[derive(Debug, Serialize, JsonSchema)]
struct Standing {
    /// The name of the policy.
    policy: String,
    /// The name of the entry of the archive, or `this benchmark`.
    entry: String,
    /// The number of the draw of the entry, or `fixed`.
    draw: String,
    /// The mean ratio by which the suite ranks policies.
    ratio: Option<f64>,
    /// This ratio divided by the least ratio of the suite's own policies on the same cases.
    to_best_of_suite: Option<f64>,
    /// Whether the suite's own policies had the same makespans as in this benchmark: `equal`, `not equal` or `other draw`.
    runs: &'static str,
}

/// The comparison of a benchmark with an archive.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArchiveComparison")]
pub(super) struct ArchiveComparison {
    /// The policies of this benchmark and the rivals of the archive, by their ratio to the best policy of the suite.
    standings: Vec<Standing>,
    /// The entries of the archive without results of this suite from this start.
    entries_without_results: Vec<String>,
}

impl BenchResults {
    /// Compares the policies of this benchmark with the rivals in an archive by their ratio to the best policy of the suite on the
    /// same cases.
    pub(super) fn compare_with_archive(&self, archive: &Archive) -> ArchiveComparison {
        let key = match self.rank_by {
            RankingMean::Arithmetic => "mean_ratio",
            RankingMean::Geometric => "geometric_mean_ratio",
        };
        let own = self.to_json();
        let mut standings = self.standings_of(&own, "this benchmark", key);
        let mut entries_without_results = Vec::new();
        for (entry, json) in &archive.0 {
            let others = json["other_starts"].as_array().into_iter().flatten();
            let is_like =
                |json: &&Value| ["suite", "start"].iter().all(|key| json[key] == own[key]);
            let like: Vec<&Value> = (std::iter::once(json).chain(others).filter(is_like)).collect();
            if like.is_empty() {
                entries_without_results.push(entry.clone());
            }
            for json in like {
                let defaults = self.default_policies();
                let of_entry = self.standings_of(json, entry, key).into_iter();
                let is_rival =
                    |one: &Standing| !defaults.contains(&one.policy) && one.policy != BEST_START;
                standings.extend(of_entry.filter(is_rival));
            }
        }
        let order = |one: &Standing| one.to_best_of_suite.unwrap_or(f64::INFINITY);
        standings.sort_by(|a, b| order(a).total_cmp(&order(b)));
        ArchiveComparison {
            standings,
            entries_without_results,
        }
    }

    /// Adds the comparison with an archive to the printed output.
    pub(super) fn add_archive(&self, sheet: &mut Sheet, archive: &Archive) {
        let compared = self.compare_with_archive(archive);
        let columns = [
            text_column("policy", "policy"),
            text_column("entry", "entry"),
            text_column("draw", "draw"),
            number_column("mean ratio", "ratio"),
            number_column("to the best of the suite", "to_best_of_suite"),
            text_column("runs of the suite", "runs"),
        ];
        let title = format!(
            "Among the entries of the archive, {}",
            self.start_description()
        );
        let mut table = Table::new("against", title, &columns);
        for one in compared.standings {
            let number = |number| cell_with(number, |ratio: f64| format!("{ratio:.3}"));
            table.push_row([
                Cell::text(one.policy),
                Cell::text(one.entry),
                Cell::text(one.draw),
                number(one.ratio),
                number(one.to_best_of_suite),
                Cell::text(one.runs),
            ]);
        }
        sheet.add_table(table);
        if !compared.entries_without_results.is_empty() {
            sheet.add_line(format!(
                "Entries without results of the suite {} {}: {}.",
                self.suite,
                self.start_description(),
                compared.entries_without_results.join(", ")
            ));
        }
    }

    /// Returns the rows of a benchmark. Its runs are equal to those of this one if all policies of the suite have equal hashes.
    fn standings_of(&self, json: &Value, entry: &str, key: &str) -> Vec<Standing> {
        let defaults = self.default_policies();
        let rows = || json["policies"].as_array().into_iter().flatten();
        let is_default = |row: &&Value| defaults.iter().any(|name| row["policy"] == **name);
        let best = rows()
            .filter(is_default)
            .filter_map(|row| row[key].as_f64());
        let best = best.fold(f64::INFINITY, f64::min);
        let is_equal = |one: &PolicyStatistics| {
            let mut same = rows().filter(|row| row["policy"] == *one.policy);
            !one.is_in_default_set || same.any(|row| row["runs_sha256"] == *one.runs_sha256)
        };
        let runs = if json["draw"] != json!(self.draw) {
            "other draw"
        } else if self.policies.iter().all(is_equal) {
            "equal"
        } else {
            "not equal"
        };
        let draw = json["draw"]
            .as_str()
            .map_or_else(|| json["draw"].to_string(), str::to_owned);
        let standing = |row: &Value| Standing {
            entry: entry.to_owned(),
            policy: row["policy"].as_str().unwrap_or_default().to_owned(),
            draw: draw.clone(),
            ratio: row[key].as_f64(),
            to_best_of_suite: row[key].as_f64().map(|ratio| ratio / best),
            runs,
        };
        rows().map(standing).collect()
    }

    fn default_policies(&self) -> &[String] {
        &self.policy_names[..self.default_policy_count]
    }
}
