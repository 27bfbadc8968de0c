//! The options of the BSP runtime (messages, barrier, noise) and of the costs of rescheduling, with their default values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision_cost::DecisionCost;
use migsim_base::units::{Bytes, Seconds};
use migsim_engine::ProcessorTime;

/// The order in which a process sends the messages of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendOrder {
    /// All messages are sent at the same time.
    #[default]
    Concurrent,
    /// Each message is sent when the previous message of the process is delivered, as with blocking sends.
    Sequential,
}

/// The condition under which the transfer of a message begins after a process has sent the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    expecting = "expected \"early\", \"late\" or an object with `late_above`"
)]
pub enum TransferStart {
    /// The transfer begins as soon as the message is sent.
    #[default]
    Early,
    /// The transfer begins when the message is sent and its receiver has begun to receive messages (rendezvous).
    Late,
    /// Messages up to a given size are transferred as with `early`. A larger message waits until its receiver has begun to
    /// receive messages, and then begins with a handshake that takes one round trip; its sender waits until the message is
    /// delivered. The transfer of a migrating process has the same handshake, but waits for no receiver. The handshake counts as
    /// latency of the message's flow; the maximum rate of this flow is set by the bandwidth at its beginning.
    #[serde(untagged)]
    Above {
        /// Size of the largest message that starts without waiting for its receiver.
        late_above: Bytes,
    },
}

impl TransferStart {
    /// Returns whether the transfer of a message of this size waits until its receiver has begun to receive messages.
    #[inline]
    pub(super) fn waits_for_receiver(self, size: Bytes) -> bool {
        match self {
            Self::Early => false,
            Self::Late => true,
            Self::Above { late_above } => size > late_above,
        }
    }

    /// Whether a message of this size begins with a handshake.
    #[inline]
    pub fn has_handshake(self, size: Bytes) -> bool {
        matches!(self, Self::Above { .. }) && self.waits_for_receiver(size)
    }
}

/// The protocol by which processes wait for each other at the end of a superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarrierKind {
    /// All processes leave when the last process arrives; the barrier takes no time.
    #[default]
    Ideal,
    /// All processes send a message to process 1. When process 1 has all messages, it answers all processes at the same time.
    Central,
    /// A coordinator receives a message from one process after the other, then sends a release message to one process after the
    /// other.
    Sequential,
    /// Messages about arrivals are sent up a binomial tree of processes, then release messages are sent down the same tree.
    Tree,
    /// In round r, each process notifies the process whose number is higher by 2^r; there are ⌈log2 p⌉ rounds for p processes.
    Dissemination,
    /// In round r, each process exchanges control messages with the process whose number differs in bit r. If the number of
    /// processes is no power of two, each process in excess of the largest power of two first notifies a partner among the
    /// remaining processes. The partner releases this process at the end by a synchronous send, which means that the partner
    /// waits for an answer.
    RecursiveDoubling,
    /// A control message goes around all processes twice, from each process to the next; in the second round it is sent synchronously.
    DoubleRing,
    /// The barrier that Open MPI 4.1 chooses for the number of processes: `central` for 4 to 7 processes, otherwise
    /// `recursive-doubling`.
    Library,
    /// No barrier: each process begins its next superstep when its sends are complete and it has received its messages, even if
    /// other processes are in other supersteps. All processes wait for each other only where a rescheduling call is due, and
    /// before and after migrations that the workload prescribes.
    None,
    /// Process 1 sends a message to every other process at the same time and waits until all these messages are delivered. Each
    /// of these messages starts when both sender and receiver are at the barrier; the receiver continues when its message is
    /// delivered. No process reports its arrival, so that a process may be one superstep ahead of another process. This is the
    /// weak barrier of the program that MigBSP's authors published in 2015.
    ReleasedByFirst,
    /// An ideal barrier with the costs of messages from process 1 to all processes. When process 1 is ready, it sends a message
    /// to each of the p processes and spends `per_process` on each message: its time in the superstep grows by `p · per_process`.
    /// No other process spends time, and all processes leave when the last process, possibly process 1, has arrived. This is the
    /// weak barrier of a later program of MigBSP's authors; the added time of process 1 determines in which of the short first
    /// supersteps of the dynamic Smith-Waterman paper MigBSP finds the system unstable. With `release_per_process` and
    /// `release_per_computing` all processes leave later, as if process 1 then served one process after the other, with
    /// additional time for each process that computed. No process counts this wait as part of its time in the superstep.
    RootSerial,
}

impl BarrierKind {
    /// Returns the barrier that Open MPI chooses for this number of processes if the kind is `library`; any other kind is
    /// returned unchanged.
    pub(super) const fn resolve_library(self, processes: u32) -> Self {
        if !matches!(self, Self::Library) {
            return self;
        }
        if 4 <= processes && processes < 8 {
            Self::Central
        } else {
            Self::RecursiveDoubling
        }
    }
}

/// The order in which the coordinator of a sequential barrier receives the arrival messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GatherOrder {
    /// The coordinator receives the messages in ascending order of process numbers.
    #[default]
    Ascending,
    /// The coordinator receives the messages in descending order of process numbers.
    Descending,
    /// The coordinator receives the messages in the order in which the processes arrive at the barrier.
    Arrival,
    /// The coordinator receives the messages in any order: all messages may be in transfer at the same time.
    Parallel,
}

/// The time at which processes leave a sequential barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseOrder {
    /// All processes leave at the same time, when the last release message is delivered.
    #[default]
    Simultaneous,
    /// Each process leaves when its own release message is delivered.
    Sequential,
}

/// How the control messages of a barrier travel: as flows that share links, or as packets that share no links. The choice applies
/// to the barrier kinds `dissemination`, `recursive-doubling` and `double-ring`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControlTransport {
    /// Each control message is a flow, which shares links with all other flows.
    #[default]
    Flows,
    /// Each control message is a packet, which does not slow other messages. The duration of a packet is the sum of its latency,
    /// its overhead, and the time to transfer its bytes at the rate of a flow that is alone on its route, with the bandwidths and
    /// latencies at its start. Slow start never delays a packet. If a link has no bandwidth at the start, the message is a flow,
    /// which waits for bandwidth.
    Packets,
}

/// The options of the barrier at the end of each superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BarrierConfig {
    /// The protocol by which processes wait for each other.
    pub kind: BarrierKind,
    /// Size of each message of the barrier.
    pub bytes: Bytes,
    /// How control messages of the barriers `dissemination`, `recursive-doubling` and `double-ring` travel: as flows that share
    /// links (the default), or as packets that share no links.
    #[serde(skip_serializing_if = "is_default")]
    pub notices: ControlTransport,
    /// Sequential barrier: the order in which the coordinator receives the arrival messages.
    pub gather: GatherOrder,
    /// Sequential barrier: whether processes leave together or one after the other.
    pub release: ReleaseOrder,
    /// Root-serial barrier: time that process 1 spends on its message to each process.
    pub per_process: Seconds,
    /// Root-serial barrier: delay of the departure of all processes after the last arrival, per process of the run.
    #[serde(skip_serializing_if = "is_default")]
    pub release_per_process: Seconds,
    /// Root-serial barrier: additional delay of the departure of all processes, per process that computed in the superstep.
    #[serde(skip_serializing_if = "is_default")]
    pub release_per_computing: Seconds,
    /// Factor by which the delay before the transfer of each barrier message is multiplied. It is 1 unless the user changes the
    /// simulated case (such as `barrier +10%`).
    #[serde(skip)]
    pub delay: DelayFactor,
}

/// Factor by which the delay before the transfer of each control message is multiplied. It is 1 unless a change of the simulated
/// case (such as `barrier +10%`) sets another factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayFactor(pub f64);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for DelayFactor {
    fn default() -> Self {
        Self(1.0)
    }
}

/// The load of a host that a policy receives at a rescheduling call: the mean since the last call, or the load at the time of the
/// call. The choice has an effect only if the speed of the host varies over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadMeasure {
    /// The mean load of the host since the last rescheduling call.
    #[default]
    SinceCall,
    /// The load of the host at the time of the call, as if the policy read the clock rate of the processor instead of a load
    /// average. This choice explains a result of the paper on Smith-Waterman on dynamic platforms: after the power of two
    /// clusters is halved, already the first call moves processes away from these clusters.
    Present,
}

/// The methods by which the simulator may compute supersteps without simulating their events. Results with `all` and `at-once`
/// are equal to the last bit. Results with `none` are equal except for rounding errors, which hundreds of messages that share
/// links one after the other can amplify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShortcutChoice {
    /// A superstep is computed without events where this is possible. If a superstep is equal to the previous superstep, the
    /// result of the previous superstep is used again.
    #[default]
    All,
    /// As `all`, except that a superstep is computed even if it is equal to the previous superstep.
    AtOnce,
    /// Each superstep is simulated event by event.
    None,
}

/// The options that determine how the BSP runtime executes a superstep: messages, barrier, measured load, noise and shortcuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RuntimeConfig {
    /// The order in which a process sends the messages of a superstep.
    pub sends: SendOrder,
    /// The condition under which the transfer of a message begins after a process has sent the message. Of the messages of
    /// barriers, only the arrival messages of `central` obey this condition, without a handshake.
    pub receives: TransferStart,
    /// Whether a process waits at the end of a superstep until its own messages are delivered, as in programs that complete all
    /// requests (`MPI_Waitall`, `MSG_comm_wait`). The measured time T of the process ends with its last receive, before this
    /// wait. The program that MigBSP's authors published in 2015 has this wait and measures T in this way (ambiguity A8).
    #[serde(skip_serializing_if = "is_default")]
    pub wait_for_sends: bool,
    /// The barrier at the end of each superstep.
    pub barrier: BarrierConfig,
    /// The load of a host that a policy receives at a rescheduling call: the mean since the last call, or the load at the time of
    /// the call.
    #[serde(skip_serializing_if = "is_default")]
    pub load: LoadMeasure,
    /// Relative standard deviation of the random variation of the work, from 0 to 0.5. The work of each process in each superstep
    /// is multiplied by a random factor, uniform in `1 ± √3·noise`. The factors depend only on the seed of the run and are the
    /// same for all policies.
    #[serde(skip_serializing_if = "is_default")]
    pub noise: f64,
    /// Maximum number of supersteps that are run, so that the run ends after the first part of the application; 0 for all.
    #[serde(skip_serializing_if = "is_default")]
    pub supersteps: u32,
    /// The methods by which the simulator may compute supersteps without simulating their events. They save computing time and
    /// change results by rounding errors at most. Where processes send one message after the other over shared links, such an error
    /// may change the order of messages, and times by some percent.
    #[serde(skip_serializing_if = "is_default")]
    pub shortcuts: ShortcutChoice,
}

impl RuntimeConfig {
    /// Whether the sender of a message of this size waits at the end of the superstep until the message is delivered.
    #[inline]
    pub(super) fn waits_for_send(&self, size: Bytes) -> bool {
        self.wait_for_sends || self.receives.has_handshake(size)
    }
}

/// The model that determines the cost of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallModel {
    /// The messages and computations of the call are simulated. In MigBSP, each process reports to the manager of its cluster,
    /// and the managers exchange their lists, compute, and answer. Other strategies collect data at one host, through the
    /// managers, or from neighbour to neighbour, as each strategy requires.
    #[default]
    Messages,
    /// The call takes `fixed + per_process · p + per_process_superstep · p · (supersteps since the last call)`, where p is the
    /// number of processes.
    Additive,
    /// The call overlaps the superstep at whose end it takes place; this superstep then lasts at least `fixed`, so that the call
    /// adds `max(0, fixed - T)`. T is the duration of the superstep from its first start to the beginning of the call, including
    /// migrations that the workload prescribes after it. This model follows the paper on Smith-Waterman on irregular
    /// computations, in which the overheads of scenario ii shrink as the supersteps at the calls grow (ambiguity A19).
    Overlapped,
    /// The call takes a computed time: the duration of messages between managers and processes in both directions. The manager of
    /// each cluster with processes sends `ping` bytes to each process outside its cluster, one after the other, and receives
    /// `ping` bytes back each time. All managers work in parallel, without other traffic: `max_j Σ_{i not in j} 2·(L(i,j) + ping
    /// / bw(i,j))` for manager j and process i, with latency L and bandwidth bw (ambiguity A19). This is one interpretation of
    /// the Lattice Boltzmann paper, where the cluster lan decides and a call costs 0.1 s per process outside the cluster lan.
    PingPong,
    /// A rescheduling call takes no time.
    None,
}

/// The order of the messages of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallOrder {
    /// All messages of a step of the call are sent at the same time.
    #[default]
    Parallel,
    /// Messages are sent one after the other, each when sender and receiver are ready. A manager receives the reports of its
    /// processes one by one. The managers of all clusters, in turn, send to every other manager, and do so a second time after
    /// the decision. Each manager answers its processes one by one, in increasing order of rank. A process that moves is answered
    /// at its old host, by its new manager. With `costs.move.wait` set to `movers`, each process continues when it has its answer
    /// (ambiguity A19). The calls of the program that MigBSP's authors published in 2015 work in this way. They cost 0.33 s to
    /// 1.2 s with 60 processes, where messages sent at the same time take 0.02 s.
    Sequential,
}

/// The scenarios in which processes wait for the answer of a rescheduling call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallWaiting {
    /// In scenarios ii and iii, processes wait for the answer of each call.
    #[default]
    Blocking,
    /// Only in scenario iii, processes wait for the answer of each call, since in scenario ii the answer moves no process. In
    /// scenario ii, a call of duration C overlaps the next superstep of duration T and delays the barrier of that superstep by
    /// max(0, C − T). After the last superstep, all processes wait for the whole call. (Ambiguity A19; Lattice Boltzmann paper,
    /// Table 2: scenario ii costs 0.80 s per call, scenario iii 1.00 s.)
    Overlapped,
}

/// The options of the cost of a rescheduling call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallCostConfig {
    /// The model that determines the cost of a rescheduling call.
    pub model: CallModel,
    /// Call model `additive`: the part of the cost of a call that does not depend on the number of processes or supersteps (c0).
    /// Call model `overlapped`: the minimum duration of a superstep that ends with a rescheduling call.
    pub fixed: Seconds,
    /// Call model `additive`: the cost of a call per process (cp).
    #[serde(skip_serializing_if = "is_default")]
    pub per_process: Seconds,
    /// Call model `additive`: the cost of a call per process and per superstep since the last call (cv).
    pub per_process_superstep: Seconds,
    /// Call model `ping-pong`: the size of the message that a manager sends to each process outside its cluster, and of the
    /// message that it receives back.
    pub ping: Bytes,
    /// The scenarios in which processes wait for the answer of a call.
    pub waiting: CallWaiting,
    /// Whether a call that is due after the last superstep takes place and costs time, as in the papers of MigBSP, although no
    /// later superstep can profit from this call.
    pub after_last: bool,
    /// Call model `messages`: the order in which the messages of a call are sent. With `sequential`, calls of every strategy use
    /// the messages of MigBSP.
    #[serde(skip_serializing_if = "is_default")]
    pub order: CallOrder,
    /// Call model `messages`: the size of the report of each process to its manager.
    pub report: Bytes,
    /// Call model `messages`: the size of the message from one manager to another. With `order` set to `parallel`, the size is
    /// given per process of the sender's cluster; with `sequential`, it is the size of the whole message.
    pub exchange: Bytes,
    /// Call model `messages`: the size of the answer from a manager to each process.
    pub answer: Bytes,
    /// Call model `messages`: the processor time of the decision on each host that decides, for the policy of the run.
    #[serde(skip)]
    pub decision: DecisionCost,
    /// Factor by which the delay before the transfer of each message of a rescheduling call is multiplied, and by which the sizes
    /// of messages that a strategy specifies are multiplied. It is 1 unless the user changes the simulated case.
    #[serde(skip)]
    pub delay: DelayFactor,
}

impl Default for CallCostConfig {
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
            answer: Bytes::of(20.0),
            decision: DecisionCost::default(),
            delay: DelayFactor::default(),
        }
    }
}

/// How the memory of a migrating process is transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryTransfer {
    /// The memory is sent as a flow from the origin to the destination. A process without memory sends no flow and pays no
    /// latency.
    #[default]
    Flow,
    /// The transfer takes the computed time of a single message without other traffic: `L + M / bw` of the route, with memory M,
    /// latency L and nominal bandwidth bw. Profiles, loads and factors of the links have no effect, and the transfer does not use
    /// the links. This is Mem(i,j) of the Lattice Boltzmann paper, used as a duration.
    Nominal,
    /// The transfer takes no time: a migration only takes the time `fixed`.
    None,
}

/// The order of the migrations that one rescheduling call decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MigrationOrder {
    /// All migrations start at the same time.
    #[default]
    Parallel,
    /// Each migration starts when the previous migration has ended.
    Serial,
}

/// The processes that wait while migrations are in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitingProcesses {
    /// All processes wait: the next superstep starts when all migrations are complete.
    #[default]
    All,
    /// Only the migrating processes wait; they join the other processes at the next barrier.
    Movers,
}

/// The options of the cost of a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigrationCostConfig {
    /// How the memory of the migrating process is transferred.
    pub transfer: MemoryTransfer,
    /// Duration of the other operations of a migration: opening of connections, serialisation, creation of the process at the
    /// destination.
    pub fixed: Seconds,
    /// Processor time to pack a process on its host: a time per process and a time per byte of its memory. The migrations that
    /// leave a host share its cores.
    #[serde(skip_serializing_if = "is_default")]
    pub pack: ProcessorTime,
    /// Processor time to unpack a process on its new host, as `pack`.
    #[serde(skip_serializing_if = "is_default")]
    pub unpack: ProcessorTime,
    /// The order of the migrations that one rescheduling call decides: all at the same time, or one after the other.
    pub order: MigrationOrder,
    /// The processes that wait while migrations are in progress: `all`, or only the `movers`, which join the other processes at
    /// the next barrier.
    pub wait: WaitingProcesses,
}

/// The costs of rescheduling: of calls and of migrations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Costs {
    /// The options of the cost of a rescheduling call.
    pub call: CallCostConfig,
    /// The options of the cost of a migration.
    #[serde(rename = "move")]
    pub migration: MigrationCostConfig,
}

/// The three scenarios of the papers, which separate the cost of rescheduling from its gain.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scenario {
    /// Scenario i: the application runs without rescheduling.
    I,
    /// Scenario ii: the policy decides and its rescheduling calls take time, but no process migrates.
    Ii,
    /// Scenario iii: the policy decides, its rescheduling calls and the migrations take time, and processes migrate.
    Iii,
}

impl Scenario {
    /// All scenarios, in the order i, ii, iii.
    pub const ALL: [Self; 3] = [Self::I, Self::Ii, Self::Iii];

    /// Returns the number of the scenario in lower-case Roman digits: `i`, `ii` or `iii`.
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
            (ShortcutChoice::All, None),
            (ShortcutChoice::AtOnce, Some("at-once")),
            (ShortcutChoice::None, Some("none")),
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
