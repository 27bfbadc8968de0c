//! The options of the runtime and the costs of rescheduling, with their defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Instructions, Seconds};

/// How a process sends the messages of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sends {
    /// All at once, without waiting for them.
    #[default]
    Concurrent,
    /// One after the other, each waited for, as blocking sends do.
    Sequential,
}

/// When a message can start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Receives {
    /// When it is sent.
    #[default]
    Early,
    /// When it is sent and its receiver has reached its receives (rendezvous).
    Late,
}

/// The protocol of the barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierKind {
    /// All leave when the last one arrives, at no cost.
    #[default]
    Ideal,
    /// All notify process 1; when it has all messages it answers all together.
    Central,
    /// A coordinator receives from one process after the other and then releases one after the other.
    Sequential,
    /// Notices go up a binomial tree of processes, releases come down.
    Tree,
    /// In round r each process notifies the one 2^r further on; ⌈log2 p⌉ rounds.
    Dissemination,
    /// Process 1 sends a message to each of the p processes and pays for it, `per_process` each, when it is ready: its time in the
    /// superstep grows by `p · per_process`. Nobody else pays, and all leave when the last one has arrived, process 1 included (the
    /// weak barrier of the authors' later program; it decides when the short first supersteps of the dynamic Smith-Waterman paper
    /// are unstable). With `release_per_process` and `release_per_computing` all leave later, as if process 1 then served one process
    /// after the other, and those that computed for longer; no process counts that wait as its own time.
    RootSerial,
}

/// In which order the coordinator of a sequential barrier receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GatherOrder {
    /// The lowest rank first.
    #[default]
    Ascending,
    /// The highest rank first.
    Descending,
    /// Who arrives first.
    Arrival,
    /// All messages in flight together.
    Parallel,
}

/// When processes leave a sequential barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// All together, when the last release has been delivered.
    #[default]
    Simultaneous,
    /// Each when its own release has been delivered.
    Sequential,
}

/// The barrier that ends a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BarrierConfig {
    /// Its protocol.
    pub kind: BarrierKind,
    /// The size of each of its messages.
    pub bytes: Bytes,
    /// Sequential barrier: the order of the gathering.
    pub gather: GatherOrder,
    /// Sequential barrier: when processes leave.
    pub release: Release,
    /// Root-serial barrier: what process 1 pays for each process (d).
    pub per_process: Seconds,
    /// Root-serial barrier: how much later all leave, counted from the last arrival, for each process.
    #[serde(skip_serializing_if = "is_zero")]
    pub release_per_process: Seconds,
    /// Root-serial barrier: how much later all leave on top of that for each process that computed in the superstep.
    #[serde(skip_serializing_if = "is_zero")]
    pub release_per_computing: Seconds,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(duration: &Seconds) -> bool {
    duration.get() <= 0.0
}

/// Which load of a host a policy sees at a call, where its speed varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadMeasure {
    /// The mean since the last call.
    #[default]
    SinceCall,
    /// That of the moment of the call: a clock is read, not a load (the paper on Smith-Waterman on dynamic platforms halves the
    /// power of two clusters, and the first call after that moves processes away from them).
    Present,
}

impl LoadMeasure {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Which shortcuts the simulator may take. Its results are the same: with `all` and `at-once` to the bit, with `none` up to rounding,
/// which hundreds of messages that meet one after the other can magnify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shortcuts {
    /// A superstep is computed at once where its plan allows that, and one that repeats the one before it is not computed again.
    #[default]
    All,
    /// No superstep is remembered.
    AtOnce,
    /// Every superstep is simulated event by event.
    None,
}

impl Shortcuts {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How a superstep runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RuntimeConfig {
    /// How messages are sent.
    pub sends: Sends,
    /// When messages can start.
    pub receives: Receives,
    /// How supersteps end.
    pub barrier: BarrierConfig,
    /// Which load of a host a policy sees.
    #[serde(skip_serializing_if = "LoadMeasure::is_default")]
    pub load: LoadMeasure,
    /// How the simulator itself may save time.
    #[serde(skip_serializing_if = "Shortcuts::is_default")]
    pub shortcuts: Shortcuts,
}

/// How the price of a rescheduling call is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallModel {
    /// Simulated: each process reports to the manager of its cluster, managers exchange their lists, compute, and answer (MigBSP); other
    /// strategies gather at one host, through the managers, or from neighbour to neighbour, as each needs.
    #[default]
    Messages,
    /// `fixed + per_process · p + per_process_superstep · p · (supersteps since the last call)`, p the number of processes.
    Additive,
    /// The call is hidden behind the superstep that it closes, which lasts at least `fixed`: `max(0, fixed - T)` is added, T the
    /// duration of that superstep from its first start to its barrier. Smith-Waterman on irregular computations: the overheads of
    /// scenario ii shrink as the supersteps at the calls grow (A19).
    Overlapped,
    /// Computed: the manager of each cluster in use exchanges `ping` bytes and back with each process outside its cluster, one after
    /// the other, all managers in parallel and undisturbed: `max_j Σ_{i not in j} 2·(L(i,j) + ping / bw(i,j))` (A19; one reading
    /// of the Lattice Boltzmann paper, where lan decides and a call costs 0.1 s per process outside it).
    PingPong,
    /// Calls cost nothing.
    None,
}

/// Whether processes wait for the answer of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallWaiting {
    /// Yes, in scenarios ii and iii.
    #[default]
    Blocking,
    /// Not in scenario ii, where no answer can matter: the next superstep runs at once, and what remains of a call that took C
    /// when a superstep of T ends is waited for at its barrier, max(0, C − T). A call after the last superstep is waited for
    /// whole. (A19; Lattice Boltzmann paper, Table 2: scenario ii costs 0.80 s per call, scenario iii 1.00 s.)
    Overlapped,
}

/// What a rescheduling call costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallCost {
    /// How the price is found.
    pub model: CallModel,
    /// `additive`: the fixed part (c0); `overlapped`: the least duration of a superstep that ends with a call.
    pub fixed: Seconds,
    /// `additive`: per process (cp).
    #[serde(skip_serializing_if = "is_zero")]
    pub per_process: Seconds,
    /// `additive`: per process and superstep since the last call (cv).
    pub per_process_superstep: Seconds,
    /// `ping-pong`: what travels in each direction.
    pub ping: Bytes,
    /// Whether processes wait for the answer.
    pub waiting: CallWaiting,
    /// `messages`: what each process sends to its manager.
    pub report: Bytes,
    /// `messages`: what each manager sends to each other one, per process of its cluster.
    pub exchange: Bytes,
    /// `messages`: what each manager computes, per process of the application.
    pub decision: Instructions,
    /// `messages`: what each manager answers to each process.
    pub answer: Bytes,
    /// `messages`: an elementary operation (a comparison and an addition) of a strategy that is not MigBSP's, which counts its operations.
    #[serde(skip_serializing_if = "is_usual_operation")]
    pub operation: Instructions,
}

/// The instructions of an elementary operation, with its memory accesses.
fn usual_operation() -> Instructions {
    Instructions::of(10.0)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_usual_operation(operation: &Instructions) -> bool {
    *operation == usual_operation()
}

impl Default for CallCost {
    fn default() -> Self {
        Self {
            model: CallModel::Messages,
            fixed: Seconds::default(),
            per_process: Seconds::default(),
            per_process_superstep: Seconds::default(),
            ping: Bytes::default(),
            waiting: CallWaiting::default(),
            // A process id, a cluster and a potential fit in 30 bytes, an entry of a sorted list in 20.
            report: Bytes::of(30.0),
            exchange: Bytes::of(20.0),
            decision: Instructions::of(1000.0),
            answer: Bytes::of(20.0),
            operation: usual_operation(),
        }
    }
}

/// How the memory of a moving process travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// As a flow from the old host to the new one.
    #[default]
    Flow,
    /// As if nothing else moved: `L + M / bw` of the route, and no link is used (Mem(i,j) of the Lattice Boltzmann paper, which is
    /// paid as it is computed).
    Nominal,
    /// It takes no time of its own: a move costs `fixed`.
    None,
}

/// How the migrations of a call follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoveOrder {
    /// All at once.
    #[default]
    Parallel,
    /// One after the other.
    Serial,
}

/// Who waits for migrations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// All processes: the next superstep starts when all have arrived.
    #[default]
    All,
    /// Those that move; the others meet them at the next barrier.
    Movers,
}

/// What a migration costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MoveCost {
    /// How the memory of the process travels.
    pub transfer: Transfer,
    /// The operations of a migration: connections, serialisation, creation at the destination.
    pub fixed: Seconds,
    /// How the moves of a call follow each other.
    pub order: MoveOrder,
    /// Who waits.
    pub wait: Waiting,
}

/// What rescheduling costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// The price of a rescheduling call.
    pub call: CallCost,
    /// The price of a migration.
    #[serde(rename = "move")]
    pub migration: MoveCost,
}

/// What happens in a run: the three scenarios of the papers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scenario {
    /// The application only.
    I,
    /// The policy decides and its calls are paid, but nothing moves.
    Ii,
    /// Migrations happen and are paid.
    Iii,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 3] = [Self::I, Self::Ii, Self::Iii];

    /// `i`, `ii` or `iii`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "i",
            Self::Ii => "ii",
            Self::Iii => "iii",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_are_told_unless_they_are_the_usual_ones() {
        for (shortcuts, told) in [
            (Shortcuts::All, None),
            (Shortcuts::AtOnce, Some("at-once")),
            (Shortcuts::None, Some("none")),
        ] {
            let config = RuntimeConfig {
                shortcuts,
                ..RuntimeConfig::default()
            };
            let value = serde_json::to_value(config).unwrap();
            assert_eq!(
                value.get("shortcuts").and_then(|value| value.as_str()),
                told
            );
            assert_eq!(
                serde_json::from_value::<RuntimeConfig>(value).unwrap(),
                config
            );
        }
    }
}
