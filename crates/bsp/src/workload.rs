//! The trait of applications (workloads), which define the computation and the messages of each superstep.

use std::fmt;

use migsim_base::{
    error::Error,
    units::{Bytes, Instructions, InstructionsPerSecond, ProcessId, Seconds},
};
use migsim_engine::Message;

/// An application with a fixed number of processes and supersteps, which defines the work and the messages of each superstep.
pub trait Workload: fmt::Debug + Send + Sync {
    /// Returns the number of processes (p of the papers); at least one.
    fn processes(&self) -> usize;

    /// Returns the number of supersteps.
    fn supersteps(&self) -> usize;

    /// Writes the work and the messages of superstep `superstep` (counted from 0) to `plan`, which has been cleared for all
    /// processes. It must not allocate memory once the memory of `plan` suffices for the largest superstep.
    fn fill(&self, superstep: usize, plan: &mut Plan);

    /// Returns whether superstep `superstep` (counted from 0) certainly has the same work and messages as the superstep before
    /// it. The answer for superstep 0 is ignored.
    fn repeats(&self, _superstep: usize) -> bool {
        false
    }

    /// Returns the size of the application, from which the memory of a run is estimated.
    fn extent(&self) -> ApplicationSize {
        ApplicationSize {
            max_messages: self.processes() as f64,
            data_bytes: 0.0,
        }
    }

    /// Returns the amount of memory of a process, which a migration transfers (M(i) of the papers); if it changes during the run,
    /// the largest amount.
    fn memory(&self, process: ProcessId) -> Bytes;

    /// Returns the processes whose memory differs between superstep `superstep` (counted from 0) and the superstep before, each
    /// with its new memory; for superstep 0, the processes whose memory is not [`Self::memory`].
    fn memory_changes(&self, _superstep: usize) -> Vec<(ProcessId, Bytes)> {
        Vec::new()
    }

    /// Returns whether the memory of a process is known (a trace may not contain it); if not, [`Self::memory`] returns 0 B.
    fn is_memory_known(&self, _process: ProcessId) -> bool {
        true
    }

    /// Returns the name of the host on which a process starts, if the application prescribes it, as a trace may do; otherwise
    /// `None`. A mapping in the settings takes precedence.
    fn initial_host(&self, _process: ProcessId) -> Option<&str> {
        None
    }

    /// Returns the rank on which a process starts, counted from 0, if the application knows the rank, as data in the vt format
    /// do; otherwise `None`. A mapping then assigns hosts to ranks, and each process starts on the host of its rank.
    fn initial_rank(&self, _process: ProcessId) -> Option<usize> {
        None
    }

    /// Returns whether a process may migrate; policies must leave all other processes on their hosts.
    fn is_movable(&self, _process: ProcessId) -> bool {
        true
    }

    /// Returns the names of processes and supersteps in the data from which the application was read, which exports write again;
    /// `None` if there are no such names.
    fn labels(&self) -> Option<&VtLabels> {
        None
    }

    /// Returns whether the application prescribes any migration ([`Self::prescribed_moves`]).
    fn prescribes_moves(&self) -> bool {
        false
    }

    /// Returns the migrations that the application itself prescribes after a superstep, in every scenario; a recorded trace may
    /// contain such migrations.
    fn prescribed_moves(&self, _superstep: usize) -> &[PrescribedMigration] {
        &[]
    }

    /// Returns the error because of which the application could not fill a plan; `None` if no error occurred. It is called after
    /// each [`Self::fill`], and ends the run. An application in another language may fail in [`Self::fill`], and then leaves plans empty.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// Returns whether the work or the messages of the application depend on the random seed.
    fn uses_seed(&self) -> bool {
        false
    }

    /// Returns the number of clock cycles that the application needs per instruction. With the value 1, a host of 1 GHz executes
    /// 1e9 instructions per second.
    fn cycles_per_instruction(&self) -> f64 {
        1.0
    }
}

/// The names of processes and supersteps in the data (format vt) from which an application was read; exports write these names
/// again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VtLabels {
    /// Value of the key `entity` of each process in the vt data.
    pub entity_values: Vec<serde_json::Value>,
    /// Number of the phase that each superstep has in the vt data.
    pub phase_numbers: Vec<u64>,
    /// Speed of the hosts that the vt data assume \[instr/s\]: the number of instructions that correspond to one second of work;
    /// `None` if it is not known.
    pub assumed_speed: Option<InstructionsPerSecond>,
    /// Number of ranks (places for processes) in the vt data.
    pub rank_count: usize,
}

/// The size of an application, from which the memory of a run is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApplicationSize {
    /// Approximate number of messages in the largest superstep.
    pub max_messages: f64,
    /// Memory that the application needs for its own data \[B\].
    pub data_bytes: f64,
}

/// The plan of one superstep: the computation of each process and the messages between processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The computation of each process; a process with zero instructions does not take part in the computation phase.
    pub work: Vec<Instructions>,
    /// The messages of the superstep; each sender sends its messages in this order.
    pub messages: Vec<Message>,
}

impl Plan {
    /// Removes all messages and sets all work to zero, for a superstep with `processes` processes; the memory of the arrays is
    /// kept.
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

/// A migration that the application itself prescribes.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedMigration {
    /// The process that migrates.
    pub process: ProcessId,
    /// The name of the destination host.
    pub destination_host: String,
    /// Amount of data that is transferred from the origin to the destination; 0 B means that nothing is transferred.
    pub transferred_bytes: Bytes,
    /// Time for which the process continues to wait after the transfer.
    pub wait_after_transfer: Seconds,
}
