//! The traits of workloads: the computation and messages of the processes, superstep by superstep.

use std::fmt;

use migsim_base::error::Error;
use migsim_base::units::{Bytes, Instructions, InstructionsPerSecond, ProcessId, Seconds};

/// An application: a fixed number of processes and supersteps.
pub trait Workload: fmt::Debug + Send + Sync {
    /// The number of processes (p of the papers); at least one.
    fn processes(&self) -> usize;

    /// The number of supersteps.
    fn supersteps(&self) -> usize;

    /// Writes superstep `superstep` (counted from 0) into `plan`, which has been cleared and has room for all processes.
    /// Must not allocate once the plan has grown to its largest superstep.
    fn fill(&self, superstep: usize, plan: &mut Plan);

    /// Whether superstep `superstep`, counted from 0, has the plan of the one before it; a workload that does not know says no.
    fn repeats(&self, _superstep: usize) -> bool {
        false
    }

    /// The size of the application, for the estimate of memory.
    fn extent(&self) -> Extent {
        Extent {
            messages: self.processes() as f64,
            bytes: 0.0,
        }
    }

    /// The memory of a process, which moves with it (M(i) of the papers).
    fn memory(&self, process: ProcessId) -> Bytes;

    /// Whether the workload knows the memory of a process (a trace may not); otherwise [`Self::memory`] is 0 B.
    fn is_memory_known(&self, _process: ProcessId) -> bool {
        true
    }

    /// The host on which a process starts, by name, if the workload says so (a trace may); a mapping that somebody asks for wins.
    fn initial_host(&self, _process: ProcessId) -> Option<&str> {
        None
    }

    /// The rank on which a process starts, counted from 0, if the workload knows it (vt data does): then a mapping places ranks, and each
    /// process starts on the host of its rank.
    fn initial_rank(&self, _process: ProcessId) -> Option<usize> {
        None
    }

    /// Whether a process may migrate; policies leave the others where they are.
    fn is_movable(&self, _process: ProcessId) -> bool {
        true
    }

    /// The names that processes and supersteps have in the data that it was read from, for exports.
    fn labels(&self) -> Option<&Labels> {
        None
    }

    /// Whether there is any [prescribed move](Self::prescribed_moves).
    fn prescribes_moves(&self) -> bool {
        false
    }

    /// The moves that the workload itself prescribes after a superstep (a trace does), whatever the scenario.
    fn prescribed_moves(&self, _superstep: usize) -> &[PrescribedMove] {
        &[]
    }

    /// The error because of which some plan cannot be trusted; asked for at the end of a run. A workload of another language may fail in
    /// [`Self::fill`]; until then it leaves plans empty.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Whether anything in it is drawn from a seed.
    fn uses_seed(&self) -> bool {
        false
    }

    /// Clock cycles per instruction: a host of 1 GHz does 1e9 instructions per second at 1.
    fn cycles_per_instruction(&self) -> f64 {
        1.0
    }
}

/// The names that processes and supersteps have in the data that an application was read from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Each process as vt describes it: its `entity`.
    pub entities: Vec<serde_json::Value>,
    /// The number of each superstep.
    pub phases: Vec<u64>,
    /// The speed of the hosts in the data: a second of work is so many instructions.
    pub speed: Option<InstructionsPerSecond>,
    /// The number of ranks.
    pub ranks: usize,
}

/// The size of an application, for the estimate of the memory of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The approximate number of messages of its largest superstep.
    pub messages: f64,
    /// The memory of the application itself \[B\].
    pub bytes: f64,
}

/// One superstep: what each process computes and the messages, in flat arrays that are reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The computation of each process; zero means that it does not take part in the computation phase.
    pub work: Vec<Instructions>,
    /// The messages; those of one sender are sent in this order.
    pub messages: Vec<Message>,
}

impl Plan {
    /// Empties the plan for a superstep of `processes` processes, keeping its memory.
    pub fn clear(&mut self, processes: usize) {
        self.work.clear();
        self.work.resize(processes, Instructions::default());
        self.messages.clear();
    }

    /// Adds a message from the process `from` to the process `to`, counted from 0.
    pub fn send(&mut self, from: usize, to: usize, size: Bytes) {
        self.messages.push(Message {
            from: ProcessId::from_index(from),
            to: ProcessId::from_index(to),
            size,
        });
    }
}

/// One message of a superstep; its data can be used in the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// Its size.
    pub size: Bytes,
}

/// A migration that is part of the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMove {
    /// The process that moves.
    pub process: ProcessId,
    /// The name of the host where it goes.
    pub to: String,
    /// The size of the transfer from the old host to the new one; zero: no transfer.
    pub size: Bytes,
    /// The wait of the process after that.
    pub delay: Seconds,
}

/// A setting of the experiment that an application brings along; what somebody asks for wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key, as a dotted path (`runtime.sends`).
    pub key: String,
    /// Its value as text, as `--set` takes it.
    pub value: String,
    /// Its position for messages: file, line and column.
    pub source: String,
}
