//! The causal profile of a run as JSON for other programs (`migsim bottlenecks --json`).

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::CausalProfile;

/// The version of the format in which `migsim bottlenecks --json` prints a profile.
#[derive(Debug, Serialize, JsonSchema)]
enum Version {
    /// `migsim-bottlenecks-1`, which is the only version so far.
    #[serde(rename = "migsim-bottlenecks-1")]
    One,
}

/// The data that `migsim bottlenecks --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Bottlenecks")]
struct BottlenecksOutput {
    /// The version of the format of this output.
    schema: Version,
    /// The version of migsim that wrote this output.
    version: &'static str,
    /// The makespan of the run without changes \[s\]; with several seeds, the mean over the seeds.
    makespan_s: f64,
    /// Sentences that summarise the profile: the quantities whose change shortens the makespan most, how many improvements
    /// lengthen it, and the quantities with hardly an effect.
    verdict: String,
    /// The critical path of the run with the first seed, summed by kind of activity, resource and process; the longest time
    /// first.
    path: Vec<PathPart>,
    /// The simulated changes with their gains: for each quantity, an improvement by 10 %, then the removal of its limit if it has
    /// one. The quantity with the largest gain by 10 % comes first.
    changes: Vec<ChangeRow>,
    /// With `--pairs`: the gains if two changes are made together, the pair with the largest gain first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pairs: Vec<PairRow>,
}

/// The part of the critical path that activities of one kind take on one resource for one process.
#[derive(Debug, Serialize, JsonSchema)]
struct PathPart {
    /// The kind of activity: `compute`, `latency`, `transfer`, `overhead`, `barrier`, `call`, `move` or `wait`.
    kind: &'static str,
    /// The resource that the activity uses: a host, a link, a pair of clusters, `window`, `loopback`, or the kind of the activity
    /// if it uses no such resource.
    resource: String,
    /// The process of the activity, counted from 1; absent for calls and control messages.
    process: Option<usize>,
    /// The time that these activities take on the critical path \[s\].
    seconds: f64,
    /// The share of the makespan that these activities take on the critical path \[%\].
    percent: f64,
}

/// A change of one quantity, with the gain by which it shortens the makespan.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeRow {
    /// The change in the syntax of the option `--change`.
    change: String,
    /// The makespan of the run with the change \[s\].
    makespan_s: f64,
    /// The reduction of the makespan by the change \[%\]; with several seeds, the mean of the reductions seed by seed.
    gain_percent: f64,
    /// With several seeds: half the width of the 95 % confidence interval of the gain \[percentage points\].
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_ci95_percent: Option<f64>,
    /// If the policy may move processes: the reduction of the makespan if the rescheduling decisions of the unchanged run are kept
    /// \[%\].
    #[serde(skip_serializing_if = "Option::is_none")]
    held_gain_percent: Option<f64>,
    /// Whether makespan and gain are those with the decisions of the unchanged run, since the change was simulated with these only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    held_only: bool,
}

/// Two changes made together, with the gain by which they shorten the makespan.
#[derive(Debug, Serialize, JsonSchema)]
struct PairRow {
    /// The two changes in the syntax of the option `--change`.
    changes: [String; 2],
    /// The makespan of the run with both changes \[s\].
    makespan_s: f64,
    /// The reduction of the makespan by both changes together \[%\].
    gain_percent: f64,
    /// The gain of both changes together minus the sum of the gains of each change alone \[percentage points\].
    beyond_percent: f64,
}

/// Returns the JSON Schema of the output of `migsim bottlenecks --json`.
pub fn schema() -> String {
    format!(
        "{:#}\n",
        schemars::schema_for!(BottlenecksOutput).to_value()
    )
}

impl CausalProfile {
    /// Returns the profile as JSON: makespan, critical path and changes. Pairs of changes and gains with kept decisions are
    /// present only if the user requested them.
    pub fn to_json(&self) -> Value {
        let changes = self
            .rows
            .iter()
            .flat_map(|row| &row.changes)
            .map(|tried| ChangeRow {
                change: tried.change.to_string(),
                makespan_s: tried.makespan.mean,
                gain_percent: tried.gain.mean,
                gain_ci95_percent: tried.gain.ci95,
                held_gain_percent: tried.held_gain.map(|held| held.mean),
                held_only: tried.held_only,
            });
        let pairs = self.pairs.iter().map(|pair| PairRow {
            changes: pair.changes.each_ref().map(ToString::to_string),
            makespan_s: pair.makespan.mean,
            gain_percent: pair.gain.mean,
            beyond_percent: pair.excess_gain,
        });
        let path = self.critical_path.iter().map(|share| PathPart {
            kind: share.activity_kind.name(),
            resource: share.resource.clone(),
            process: share.process.map(|process| process.index() + 1),
            seconds: share.time.get(),
            percent: share.percent,
        });
        let file = BottlenecksOutput {
            schema: Version::One,
            version: env!("CARGO_PKG_VERSION"),
            makespan_s: self.makespan.mean,
            verdict: self.verdict(),
            path: path.collect(),
            changes: changes.collect(),
            pairs: pairs.collect(),
        };
        serde_json::to_value(file).expect("numbers and texts are JSON")
    }
}
