//! An application that behaves like another application, except that the imbalance of its work and the memory of its processes
//! are multiplied by factors.

use migsim_base::error::Error;
use migsim_base::units::{Bytes, Instructions, ProcessId};
use migsim_workloads::{ApplicationSize, Plan, PrescribedMigration, VtLabels, Workload};

/// Application that behaves like another application, except that the imbalance of its work and the memory of its processes are
/// multiplied by factors.
#[derive(Debug)]
pub(super) struct ScaledWorkload {
    original_workload: Box<dyn Workload>,
    /// Fraction of the total work of a superstep that each process would have if the superstep were balanced.
    balanced_work_shares: Vec<f64>,
    /// Factor that multiplies the deviation of the work of each process from its work in a balanced superstep.
    imbalance_factor: f64,
    memory_factor: f64,
    /// The moves that the application prescribes, by superstep, with size and delay multiplied by the memory factor; empty if the
    /// application prescribes no moves.
    prescribed_moves_by_superstep: Vec<Vec<PrescribedMigration>>,
}

impl ScaledWorkload {
    /// Creates the application from `inner`. The first factor multiplies the deviation of the work of each process from its
    /// balanced share, the second factor the memory of each process.
    pub(super) fn new(
        inner: Box<dyn Workload>,
        shares: Vec<f64>,
        (imbalance, memory): (f64, f64),
    ) -> Self {
        let supersteps = if inner.prescribes_moves() {
            inner.supersteps()
        } else {
            0
        };
        let changed = |one: &PrescribedMigration| PrescribedMigration {
            transferred_bytes: Bytes::of(one.transferred_bytes.get() * memory),
            wait_after_transfer: migsim_base::units::Seconds::of(
                one.wait_after_transfer.get() * memory,
            ),
            ..one.clone()
        };
        let of = |superstep| inner.prescribed_moves(superstep).iter().map(changed);
        Self {
            prescribed_moves_by_superstep: (0..supersteps).map(|one| of(one).collect()).collect(),
            original_workload: inner,
            balanced_work_shares: shares,
            imbalance_factor: imbalance,
            memory_factor: memory,
        }
    }
}

/// Defines the methods of a [`Workload`] that forward to another application in the field `inner`: all methods except those for
/// work, memory, prescribed moves and failures.
macro_rules! other_methods {
    () => {
        fn processes(&self) -> usize {
            self.original_workload.processes()
        }

        fn supersteps(&self) -> usize {
            self.original_workload.supersteps()
        }

        fn extent(&self) -> ApplicationSize {
            self.original_workload.extent()
        }

        fn is_memory_known(&self, process: ProcessId) -> bool {
            self.original_workload.is_memory_known(process)
        }

        fn initial_host(&self, process: ProcessId) -> Option<&str> {
            self.original_workload.initial_host(process)
        }

        fn initial_rank(&self, process: ProcessId) -> Option<usize> {
            self.original_workload.initial_rank(process)
        }

        fn is_movable(&self, process: ProcessId) -> bool {
            self.original_workload.is_movable(process)
        }

        fn labels(&self) -> Option<&VtLabels> {
            self.original_workload.labels()
        }

        fn prescribes_moves(&self) -> bool {
            self.original_workload.prescribes_moves()
        }

        fn cycles_per_instruction(&self) -> f64 {
            self.original_workload.cycles_per_instruction()
        }
    };
}
pub(in super::super) use other_methods;

impl Workload for ScaledWorkload {
    other_methods!();

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        self.original_workload.fill(superstep, plan);
        if self.imbalance_factor == 1.0 {
            return;
        }
        let total: f64 = plan.work.iter().map(|work| work.get()).sum();
        for (work, share) in plan.work.iter_mut().zip(&self.balanced_work_shares) {
            let balanced = total * share;
            let changed = balanced + (work.get() - balanced) * self.imbalance_factor;
            *work = Instructions::of(changed.max(0.0));
        }
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        Bytes::of(self.original_workload.memory(process).get() * self.memory_factor)
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        self.prescribed_moves_by_superstep
            .get(superstep)
            .map_or(&[], Vec::as_slice)
    }

    fn repeats(&self, superstep: usize) -> bool {
        self.original_workload.repeats(superstep)
    }

    fn uses_seed(&self) -> bool {
        self.original_workload.uses_seed()
    }

    fn failure(&self) -> Option<Error> {
        self.original_workload.failure()
    }
}
