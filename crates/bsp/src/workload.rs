//! The traits of workloads: the computation and messages of the processes, superstep by superstep.

use std::fmt;

use migsim_base::error::Error;
use migsim_base::units::{Bytes, Instructions, InstructionsPerSecond, ProcessId, Seconds};

/// An application: a fixed number of processes and supersteps.
pub trait Workload: fmt::Debug + Send + Sync {
    /// Returns the number of processes (p of the papers); at least one.
    fn processes(&self) -> usize;

    /// Returns the number of supersteps.
    fn supersteps(&self) -> usize;

    /// Writes superstep `superstep` (counted from 0) into `plan`, which has been cleared and has room for all processes. It must not
    /// allocate memory once the plan has grown to its largest superstep.
    fn fill(&self, superstep: usize, plan: &mut Plan);

    /// Returns whether superstep `superstep`, counted from 0, is certain to have the plan of the superstep before it.
    fn repeats(&self, _superstep: usize) -> bool {
        false
    }

    /// Returns the size of the application, for the estimate of memory.
    fn extent(&self) -> Extent {
        Extent {
            messages: self.processes() as f64,
            bytes: 0.0,
        }
    }

    /// Returns the memory of a process, which moves with it (M(i) of the papers).
    fn memory(&self, process: ProcessId) -> Bytes;

    /// Returns whether the workload knows the memory of a process (a trace may not); otherwise [`Self::memory`] is 0 B.
    fn is_memory_known(&self, _process: ProcessId) -> bool {
        true
    }

    /// Returns the name of the host on which a process starts, if the workload prescribes it (a trace may). A mapping in the settings takes
    /// precedence.
    fn initial_host(&self, _process: ProcessId) -> Option<&str> {
        None
    }

    /// Returns the rank on which a process starts, counted from 0, if the workload knows it (vt data does). A mapping then places ranks,
    /// and each process starts on the host of its rank.
    fn initial_rank(&self, _process: ProcessId) -> Option<usize> {
        None
    }

    /// Returns whether a process may migrate; policies leave the other processes where they are.
    fn is_movable(&self, _process: ProcessId) -> bool {
        true
    }

    /// Returns the names of processes and supersteps in the data of the application, for exports.
    fn labels(&self) -> Option<&Labels> {
        None
    }

    /// Returns whether there is any [prescribed move](Self::prescribed_moves).
    fn prescribes_moves(&self) -> bool {
        false
    }

    /// Returns the moves that the workload itself prescribes after a superstep (a trace does), in every scenario.
    fn prescribed_moves(&self, _superstep: usize) -> &[PrescribedMove] {
        &[]
    }

    /// Returns the error that makes some plan invalid; called at the end of a run. A workload in another language may fail in
    /// [`Self::fill`], and then leaves plans empty.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Returns whether any part of it is drawn from a seed.
    fn uses_seed(&self) -> bool {
        false
    }

    /// Returns the clock cycles per instruction: at 1, a host of 1 GHz does 1e9 instructions per second.
    fn cycles_per_instruction(&self) -> f64 {
        1.0
    }
}

/// The names of processes and supersteps in the data from which an application was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// The `entity` of each process in vt data.
    pub entities: Vec<serde_json::Value>,
    /// The number of each superstep.
    pub phases: Vec<u64>,
    /// The speed of the hosts in the data: the instructions of a second of work.
    pub speed: Option<InstructionsPerSecond>,
    /// The number of ranks.
    pub ranks: usize,
}

/// The size of an application, for the estimate of the memory of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The approximate number of messages of the application's largest superstep.
    pub messages: f64,
    /// The memory of the application itself \[B\].
    pub bytes: f64,
}

/// One superstep: the computation of each process and the messages, in flat arrays that are reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The computation of each process; a process with zero does not take part in the computation phase.
    pub work: Vec<Instructions>,
    /// The messages; a sender sends its messages in this order.
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

/// A message of a superstep; its data can be used in the next superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// The sender.
    pub from: ProcessId,
    /// The receiver.
    pub to: ProcessId,
    /// The size of the message.
    pub size: Bytes,
}

/// A migration that is part of the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMove {
    /// The process that moves.
    pub process: ProcessId,
    /// The name of the destination host.
    pub to: String,
    /// The size of the transfer from the old host to the new one; zero for no transfer.
    pub size: Bytes,
    /// The wait of the process after the transfer.
    pub delay: Seconds,
}

/// A setting of the experiment that an application provides; settings of the user take precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key of the setting, as a dotted path (`runtime.sends`).
    pub key: String,
    /// The value of the setting as text, as in `--set`.
    pub value: String,
    /// The position of the setting for error messages: file, line and column.
    pub source: String,
}
