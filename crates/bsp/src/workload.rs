//! The trait of applications (workloads), which define the computation and the messages of each superstep.

use std::fmt;

use migsim_base::error::Error;
use migsim_base::units::{Bytes, Instructions, InstructionsPerSecond, ProcessId, Seconds};

/// An application with a fixed number of processes and supersteps.
pub trait Workload: fmt::Debug + Send + Sync {
    /// Returns the number of processes (p of the papers); at least one.
    fn processes(&self) -> usize;

    /// Returns the number of supersteps.
    fn supersteps(&self) -> usize;

    /// Writes the plan of superstep `superstep` (counted from 0) to `plan`, which has been cleared and has room for all
    /// processes. It must not allocate memory once the plan has grown to the largest superstep.
    fn fill(&self, superstep: usize, plan: &mut Plan);

    /// Returns whether superstep `superstep` (counted from 0) certainly has the same plan as the superstep before it.
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

    /// Returns the amount of memory of a process, which a migration transfers (M(i) of the papers).
    fn memory(&self, process: ProcessId) -> Bytes;

    /// Returns whether the memory of a process is known (a trace may not contain it); if not, [`Self::memory`] returns 0 B.
    fn is_memory_known(&self, _process: ProcessId) -> bool {
        true
    }

    /// Returns the name of the host on which a process starts, if the application prescribes it (a trace may). A mapping in the
    /// settings takes precedence.
    fn initial_host(&self, _process: ProcessId) -> Option<&str> {
        None
    }

    /// Returns the rank on which a process starts, counted from 0, if the application knows it (vt data does). A mapping then
    /// assigns hosts to ranks, and each process starts on the host of its rank.
    fn initial_rank(&self, _process: ProcessId) -> Option<usize> {
        None
    }

    /// Returns whether a process may migrate; policies leave all other processes on their hosts.
    fn is_movable(&self, _process: ProcessId) -> bool {
        true
    }

    /// Returns the names of processes and supersteps in the data from which the application was read, for exports.
    fn labels(&self) -> Option<&Labels> {
        None
    }

    /// Returns whether the application prescribes any migration ([`Self::prescribed_moves`]).
    fn prescribes_moves(&self) -> bool {
        false
    }

    /// Returns the migrations that the application itself prescribes after a superstep, in every scenario; a recorded trace may
    /// contain such migrations.
    fn prescribed_moves(&self, _superstep: usize) -> &[PrescribedMove] {
        &[]
    }

    /// Returns the error that made a plan invalid, if there was one; it is called at the end of a run. An application in another
    /// language may fail in [`Self::fill`], and then leaves plans empty.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Returns whether any part of the application depends on the random seed.
    fn uses_seed(&self) -> bool {
        false
    }

    /// Returns the clock cycles per instruction; with 1, a host of 1 GHz executes 1e9 instructions per second.
    fn cycles_per_instruction(&self) -> f64 {
        1.0
    }
}

/// The names of processes and supersteps in the data from which an application was read, for exports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// The `entity` of each process in the vt data.
    pub entities: Vec<serde_json::Value>,
    /// The phase number of each superstep in the data.
    pub phases: Vec<u64>,
    /// The speed of the hosts that the data assumes: the number of instructions that one second of work stands for.
    pub speed: Option<InstructionsPerSecond>,
    /// Number of ranks in the data.
    pub ranks: usize,
}

/// The size of an application, from which the memory of a run is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Approximate number of messages in the largest superstep.
    pub messages: f64,
    /// Memory of the application itself \[B\].
    pub bytes: f64,
}

/// The plan of one superstep: the computation of each process and the messages, in flat arrays that are reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The computation of each process; a process with zero instructions does not take part in the computation phase.
    pub work: Vec<Instructions>,
    /// The messages of the superstep; each sender sends its messages in this order.
    pub messages: Vec<Message>,
}

impl Plan {
    /// Removes all work and messages, for a superstep with `processes` processes; the arrays keep their memory.
    pub fn clear(&mut self, processes: usize) {
        self.work.clear();
        self.work.resize(processes, Instructions::default());
        self.messages.clear();
    }

    /// Adds a message of `size` from process `from` to process `to`, both counted from 0.
    pub fn send(&mut self, from: usize, to: usize, size: Bytes) {
        self.messages.push(Message {
            from: ProcessId::from_index(from),
            to: ProcessId::from_index(to),
            size,
        });
    }
}

/// A message of a superstep; its receiver can use the data in the next superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// The process that sends the message.
    pub from: ProcessId,
    /// The process that receives the message.
    pub to: ProcessId,
    /// The size of the message.
    pub size: Bytes,
}

/// A migration that the application itself prescribes.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMove {
    /// The process that migrates.
    pub process: ProcessId,
    /// The name of the destination host.
    pub to: String,
    /// Amount of data transferred from the origin to the destination; zero for no transfer.
    pub size: Bytes,
    /// Time for which the process still waits after the transfer.
    pub delay: Seconds,
}

/// A setting of the experiment that an application provides; settings given by the user take precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key of the setting, as a dotted path (`runtime.sends`).
    pub key: String,
    /// The value of the setting as text, in the form used after `--set`.
    pub value: String,
    /// The position of the setting for error messages: file, line and column.
    pub source: String,
}
