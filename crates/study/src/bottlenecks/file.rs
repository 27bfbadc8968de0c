//! A profile as JSON for programs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Profile, Tried};
use migsim_experiment::PathShare;

/// The version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
enum Version {
    /// The only version so far.
    #[default]
    #[serde(rename = "migsim-bottlenecks-1")]
    One,
}

/// What `migsim bottlenecks --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Bottlenecks")]
struct File {
    /// The version of the format.
    schema: Version,
    /// The makespan without a change \[s\]; with several seeds the mean.
    makespan_s: f64,
    /// Three sentences about the numbers.
    verdict: String,
    /// The critical path of the first seed, summed by kind, resource and process; the longest first.
    path: Vec<PathPart>,
    /// The changes, two for each quantity that has a limit: by 10 %, then without limit. The quantity that gains most by 10 % comes first.
    changes: Vec<ChangeRow>,
    /// With `--pairs`: two changes together, the best pair first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pairs: Vec<PairRow>,
}

/// A part of the critical path.
#[derive(Debug, Serialize, JsonSchema)]
struct PathPart {
    /// `compute`, `latency`, `transfer`, `overhead`, `barrier`, `call`, `move` or `wait`.
    kind: &'static str,
    /// A host, a link, two clusters, `window`, `loopback`, or the kind where there is no other resource.
    resource: String,
    /// The process, counted from 1; none of calls and control messages.
    process: Option<usize>,
    /// The time of the part \[s\].
    seconds: f64,
    /// The share of the makespan that the part takes \[%\].
    percent: f64,
}

/// A change.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeRow {
    /// The change as `--change` takes it.
    change: String,
    /// The makespan with it \[s\].
    makespan_s: f64,
    /// What it gains, in percent of the makespan; with several seeds the mean of the gains seed by seed.
    gain_percent: f64,
    /// With several seeds: half the width of the 95 % interval of the gain \[percentage points\].
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_ci95_percent: Option<f64>,
    /// With `--hold-decisions`: the gain with the decisions of the unchanged run \[%\].
    #[serde(skip_serializing_if = "Option::is_none")]
    held_gain_percent: Option<f64>,
}

/// Two changes together.
#[derive(Debug, Serialize, JsonSchema)]
struct PairRow {
    /// The changes.
    changes: [String; 2],
    /// The makespan with both \[s\].
    makespan_s: f64,
    /// What both gain \[%\].
    gain_percent: f64,
    /// The gain beyond the sum of the gains of each alone, in percentage points.
    beyond_percent: f64,
}

/// The JSON Schema of the data that `migsim bottlenecks --json` prints.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(File).to_value())
}

impl Profile {
    /// The data for programs: makespan, critical path and changes. Further keys are present only if an option requests them.
    pub fn to_json(&self) -> Value {
        let changes = self.rows.iter().flat_map(|row| {
            let all = [Some(&row.step), row.unlimited.as_ref()];
            all.into_iter()
                .flatten()
                .map(|tried| self.change_row(tried))
        });
        let pairs = self.pairs.iter().map(|pair| PairRow {
            changes: pair.changes.each_ref().map(ToString::to_string),
            makespan_s: pair.makespan.mean,
            gain_percent: pair.gain.mean,
            beyond_percent: pair.beyond,
        });
        let file = File {
            schema: Version::One,
            makespan_s: self.makespan.mean,
            verdict: self.verdict(),
            path: self.path.iter().map(path_part).collect(),
            changes: changes.collect(),
            pairs: pairs.collect(),
        };
        serde_json::to_value(file).expect("numbers and texts are JSON")
    }

    fn change_row(&self, tried: &Tried) -> ChangeRow {
        ChangeRow {
            change: tried.change.to_string(),
            makespan_s: tried.makespan.mean,
            gain_percent: tried.gain.mean,
            gain_ci95_percent: tried.gain.half_width().filter(|_| self.seeds > 1),
            held_gain_percent: tried.held.map(|held| held.mean),
        }
    }
}

fn path_part(share: &PathShare) -> PathPart {
    PathPart {
        kind: share.kind.name(),
        resource: share.resource.clone(),
        process: share.process.map(|process| process.index() + 1),
        seconds: share.time.get(),
        percent: share.percent,
    }
}
