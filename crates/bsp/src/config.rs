//! The options of the runtime and the costs of rescheduling, with their defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, Instructions, Seconds};

/// The order in which a process sends the messages of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sends {
    /// All at once, without a wait between messages.
    #[default]
    Concurrent,
    /// One after the other, as blocking sends do.
    Sequential,
}

/// The condition under which a message starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    expecting = "receives are \"early\", \"late\" or an object with `late_above`"
)]
pub enum Receives {
    /// The message is sent.
    #[default]
    Early,
    /// The message is sent, and its receiver has reached its receives (rendezvous).
    Late,
    /// As `early` up to a size. A larger message waits until its receiver has reached its receives, and then takes a round trip for the
    /// handshake. Its sender waits until it is delivered. The memory of a moving process has the same handshake, without a receiver to wait
    /// for. The handshake is a part of the latency of its flow, whose upper bound is the bandwidth at its beginning.
    #[serde(untagged)]
    Above {
        /// The largest message that starts at once.
        late_above: Bytes,
    },
}

impl Receives {
    /// Whether a message of this size waits for its receiver.
    #[inline]
    pub(super) fn is_late(self, size: Bytes) -> bool {
        match self {
            Self::Early => false,
            Self::Late => true,
            Self::Above { late_above } => size > late_above,
        }
    }

    /// Whether a message of this size begins with a handshake.
    #[inline]
    pub fn has_handshake(self, size: Bytes) -> bool {
        matches!(self, Self::Above { .. }) && self.is_late(size)
    }
}

/// The protocol of the barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierKind {
    /// All leave when the last process arrives, at no cost.
    #[default]
    Ideal,
    /// All notify process 1. When it has all messages, it answers all processes at once.
    Central,
    /// A coordinator receives from one process after the other, then releases one process after the other.
    Sequential,
    /// Arrivals are reported up a binomial tree of processes, and releases are sent down.
    Tree,
    /// In round r each process notifies the process whose number is higher by 2^r; ⌈log2 p⌉ rounds.
    Dissemination,
    /// In round r each process exchanges control messages with the process whose number differs in bit r. If the number of processes is no
    /// power of two, each process above the largest power of two first notifies a partner below. It is released last, by a synchronous
    /// send: the partner waits for an answer.
    RecursiveDoubling,
    /// A control message goes around all processes twice, from each process to the next; in the second round it is sent synchronously.
    DoubleRing,
    /// The choice of Open MPI 4.1 by the number of processes: `central` for 4 to 7, else `recursive-doubling`.
    Library,
    /// No barrier: each process begins its next superstep when its sends are complete and it has received its messages, whatever superstep
    /// the other processes are in. All processes meet where a call is due, and before and after moves that the workload prescribes.
    None,
    /// Process 1 sends a message to every other process at once and waits until all are delivered. Each of these messages starts when both
    /// sender and receiver are at the barrier, and its receiver waits for nothing else. No process reports its arrival, so that a process
    /// may be one superstep ahead of another. This is the weak barrier of the program that MigBSP's authors published in 2015.
    ReleasedByFirst,
    /// When process 1 is ready, it sends a message to each of the p processes and pays `per_process` for each message: its time in the
    /// superstep grows by `p · per_process`. No other process pays, and all leave when the last one, process 1 included, has arrived. This
    /// is the weak barrier of the authors' later program; it determines when the short first supersteps of the dynamic Smith-Waterman paper
    /// are unstable. With `release_per_process` and `release_per_computing` all leave later, as if process 1 then served one process after
    /// the other, and the processes that computed for longer. No process counts that wait as its own time.
    RootSerial,
}

impl BarrierKind {
    /// Returns the kind that a library uses for this number of processes, for the kind `library`.
    pub(super) const fn of_library(self, processes: u32) -> Self {
        match (self, processes) {
            (Self::Library, 4..8) => Self::Central,
            (Self::Library, _) => Self::RecursiveDoubling,
            _ => self,
        }
    }
}

/// The order in which the coordinator of a sequential barrier receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GatherOrder {
    /// The lowest rank first.
    #[default]
    Ascending,
    /// The highest rank first.
    Descending,
    /// The order of arrival.
    Arrival,
    /// All messages are in flight at once.
    Parallel,
}

/// The time at which processes leave a sequential barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// All processes at once, at the delivery of the last release.
    #[default]
    Simultaneous,
    /// Each process at the delivery of its own release.
    Sequential,
}

/// The transport of a barrier's control messages, for the kinds `dissemination`, `recursive-doubling` and `double-ring`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notices {
    /// Each control message is a flow, which shares links with all others.
    #[default]
    Flows,
    /// Each control message is a packet. It takes its latency, its overhead and its bytes at the rate of a flow that is alone, and slows no
    /// other message. On a platform whose links vary, or share by SimGrid's rule for `FATPIPE`, control messages are flows nevertheless.
    Packets,
}

impl Notices {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The barrier that ends a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BarrierConfig {
    /// The protocol of the barrier.
    pub kind: BarrierKind,
    /// The size of each message of the barrier.
    pub bytes: Bytes,
    /// The transport of the control messages of a barrier `dissemination`, `recursive-doubling` or `double-ring`: flows that share links
    /// (the default), or packets that share nothing.
    #[serde(skip_serializing_if = "Notices::is_default")]
    pub notices: Notices,
    /// Sequential barrier: the order in which the coordinator receives.
    pub gather: GatherOrder,
    /// Sequential barrier: the time at which processes leave.
    pub release: Release,
    /// Root-serial barrier: the cost to process 1 for each process (d).
    pub per_process: Seconds,
    /// Root-serial barrier: the delay of the release after the last arrival, per process.
    #[serde(skip_serializing_if = "is_zero")]
    pub release_per_process: Seconds,
    /// Root-serial barrier: the additional delay per process that computed in the superstep.
    #[serde(skip_serializing_if = "is_zero")]
    pub release_per_computing: Seconds,
    /// Factor of the delay of each message of the barrier, which a change of the case sets.
    #[serde(skip)]
    pub delay: DelayFactor,
}

/// Factor of the delays of control messages ahead of their transfer; 1 unless a change of the case sets another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayFactor(pub f64);

impl Default for DelayFactor {
    fn default() -> Self {
        Self(1.0)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(duration: &Seconds) -> bool {
    duration.get() <= 0.0
}

/// The load of a host that a policy sees at a call, if the speed of the host varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadMeasure {
    /// The mean since the last call.
    #[default]
    SinceCall,
    /// The load at the time of the call, as if a clock were read instead of a load. In the paper on Smith-Waterman on dynamic platforms the
    /// power of two clusters is halved, and the first call after that moves processes away from them.
    Present,
}

impl LoadMeasure {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The shortcuts of the simulator. Results with `all` and `at-once` are equal to the last bit. Results with `none` are equal up to
/// rounding, which hundreds of messages that meet one after the other can magnify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shortcuts {
    /// A superstep is computed in one pass, without events, where this is possible. A superstep equal to the previous one reuses its
    /// result.
    #[default]
    All,
    /// As `all`, but no result is reused.
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

/// The execution of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RuntimeConfig {
    /// The order of the messages of a process.
    pub sends: Sends,
    /// The condition under which a message starts.
    pub receives: Receives,
    /// Whether a process waits at the end of a superstep until its own messages are delivered, as programs do that complete all requests
    /// (`MPI_Waitall`, `MSG_comm_wait`). The measured time T of the process ends with its last receive, before that wait. The program that
    /// MigBSP's authors published in 2015 does both (A8).
    #[serde(skip_serializing_if = "is_false")]
    pub wait_for_sends: bool,
    /// The end of a superstep.
    pub barrier: BarrierConfig,
    /// The measure of the load of a host that a policy sees: the mean since the last call, or the load at the call.
    #[serde(skip_serializing_if = "LoadMeasure::is_default")]
    pub load: LoadMeasure,
    /// The shortcuts of the simulator; they save time and change no result.
    #[serde(skip_serializing_if = "Shortcuts::is_default")]
    pub shortcuts: Shortcuts,
}

impl RuntimeConfig {
    /// Whether the sender of a message of this size waits until it is delivered.
    #[inline]
    pub(super) fn waits_for_send(&self, size: Bytes) -> bool {
        self.wait_for_sends || self.receives.has_handshake(size)
    }
}

/// The model of the cost of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallModel {
    /// Simulated messages. In MigBSP, each process reports to the manager of its cluster, and the managers exchange their lists, compute,
    /// and answer. Other strategies gather at one host, through the managers, or from neighbour to neighbour, as each needs.
    #[default]
    Messages,
    /// `fixed + per_process · p + per_process_superstep · p · (supersteps since the last call)`, p the number of processes.
    Additive,
    /// The call overlaps the superstep that it closes, which lasts at least `fixed`: the call adds `max(0, fixed - T)`. T is the duration
    /// of that superstep from its first start to the beginning of the call, with the moves that the workload prescribes after it. In the
    /// paper on Smith-Waterman on irregular computations, the overheads of scenario ii shrink as the supersteps at the calls grow (A19).
    Overlapped,
    /// A computed cost: the manager of each cluster in use sends `ping` bytes to each process outside its cluster, one after the other,
    /// and each time gets them back. All managers work in parallel, without other traffic: `max_j Σ_{i not in j} 2·(L(i,j) + ping /
    /// bw(i,j))` (A19). This is one reading of the Lattice Boltzmann paper, where the cluster lan decides and a call costs 0.1 s per
    /// process outside it.
    PingPong,
    /// Calls cost nothing.
    None,
}

/// The order of the messages of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallOrder {
    /// All messages of a step are sent at once.
    #[default]
    Parallel,
    /// One after the other, each when both ends are ready. A manager receives the reports of its processes one by one. The managers of all
    /// clusters, in turn, send to every other manager, and once more after the decision. Each manager answers its processes one by one, in
    /// increasing order of rank. A process that moves is answered at its old host, by its new manager. With `costs.move.wait` `movers` each
    /// process continues when it has its answer (A19). The program that MigBSP's authors published in 2015 makes its calls this way. They
    /// cost 0.33 s to 1.2 s with 60 processes, where messages sent at once take 0.02 s.
    Sequential,
}

impl CallOrder {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The scenarios in which processes wait for the answer of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallWaiting {
    /// Scenarios ii and iii.
    #[default]
    Blocking,
    /// Scenario iii only, since in scenario ii the answer moves no process. In scenario ii a call of duration C overlaps the next superstep
    /// of duration T and delays its barrier by max(0, C − T). After the last superstep all processes wait for the whole call. (A19; Lattice
    /// Boltzmann paper, Table 2: scenario ii costs 0.80 s per call, scenario iii 1.00 s.)
    Overlapped,
}

/// The costs of a rescheduling call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallCost {
    /// The model of the price.
    pub model: CallModel,
    /// `additive`: the fixed part (c0); `overlapped`: the minimum duration of a superstep that ends with a call.
    pub fixed: Seconds,
    /// `additive`: per process (cp).
    #[serde(skip_serializing_if = "is_zero")]
    pub per_process: Seconds,
    /// `additive`: per process and superstep since the last call (cv).
    pub per_process_superstep: Seconds,
    /// `ping-pong`: the size of the message in each direction.
    pub ping: Bytes,
    /// The scenarios in which processes wait for the answer.
    pub waiting: CallWaiting,
    /// Whether a call that is due after the last superstep takes place and costs time, as in the papers. No later superstep can profit
    /// from the call.
    pub after_last: bool,
    /// `messages`: the order of the messages. With `sequential` the call of any strategy has these messages.
    #[serde(skip_serializing_if = "CallOrder::is_default")]
    pub order: CallOrder,
    /// `messages`: the size of the report of each process to its manager.
    pub report: Bytes,
    /// `messages`: the size of the message between two managers: per process of the sender's cluster, or with `order` `sequential` of the
    /// whole message.
    pub exchange: Bytes,
    /// `messages`: the computation of each manager, per process of the application.
    pub decision: Instructions,
    /// `messages`: the size of the answer of a manager to each process.
    pub answer: Bytes,
    /// `messages`: the cost of an elementary operation (a comparison and an addition) of a strategy other than MigBSP, which counts its operations.
    #[serde(skip_serializing_if = "is_usual_operation")]
    pub operation: Instructions,
    /// Factor of the delay of each message of a call, and of the sizes that a strategy gives its messages; a change of the case sets it.
    #[serde(skip)]
    pub delay: DelayFactor,
}

/// Returns the instructions of an elementary operation, with its memory accesses.
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
            after_last: false,
            order: CallOrder::default(),
            // A report has a process id, a cluster and a potential, which fit in 30 bytes; an entry of a sorted list fits in 20.
            report: Bytes::of(30.0),
            exchange: Bytes::of(20.0),
            decision: Instructions::of(1000.0),
            answer: Bytes::of(20.0),
            operation: usual_operation(),
            delay: DelayFactor::default(),
        }
    }
}

/// The transfer of the memory of a moving process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// As a flow from the old host to the new one. A process without memory starts no flow and pays no latency.
    #[default]
    Flow,
    /// As computed for a single message without other traffic: `L + M / bw` of the route with its nominal bandwidth, without profiles,
    /// loads and factors, and without using its links. This is Mem(i,j) of the Lattice Boltzmann paper, paid as computed.
    Nominal,
    /// The transfer takes no time: a move costs `fixed`.
    None,
}

/// The order of the migrations of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoveOrder {
    /// All at once.
    #[default]
    Parallel,
    /// One after the other.
    Serial,
}

/// The processes that wait for migrations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// All processes: the next superstep starts when all moves are complete.
    #[default]
    All,
    /// The moving processes, which meet the others at the next barrier.
    Movers,
}

/// The costs of a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MoveCost {
    /// The transfer of the memory of the process.
    pub transfer: Transfer,
    /// Duration of the operations of a migration: connections, serialisation, creation at the destination.
    pub fixed: Seconds,
    /// The order of the migrations of a call.
    pub order: MoveOrder,
    /// The processes that wait for migrations: `all`, or only the `movers`, which meet the others at the next barrier.
    pub wait: Waiting,
}

/// The costs of rescheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// The cost of a rescheduling call.
    pub call: CallCost,
    /// The cost of a migration.
    #[serde(rename = "move")]
    pub migration: MoveCost,
}

/// The three scenarios of the papers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scenario {
    /// The application without rescheduling.
    I,
    /// The policy decides and its calls cost time, but no process moves.
    Ii,
    /// The policy decides, its calls and moves cost time, and processes move.
    Iii,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 3] = [Self::I, Self::Ii, Self::Iii];

    /// Returns `i`, `ii` or `iii`.
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
