//! Faults of the program, or of a plug-in, stop a run with the superstep, the process and a dump.

use std::sync::atomic::{AtomicBool, Ordering};

use migsim::{
    bsp::{Costs, MigrationCostConfig, Scenario, WaitingProcesses},
    error::{Error, InternalFault},
    policy::{Decision, Policy, View},
    random::Stream,
    units::{Bytes, ProcessId},
    workload::{Plan, Workload},
};

use crate::support::{Case, Plans, Script, Wire, bytes, plan, seconds, switch};

/// A workload whose `cycles_per_instruction` grows after it has computed.
#[derive(Debug)]
struct SlowingProcessors(Plans, AtomicBool);

impl Workload for SlowingProcessors {
    fn processes(&self) -> usize {
        self.0.processes()
    }

    fn supersteps(&self) -> usize {
        self.0.supersteps()
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        self.1.store(false, Ordering::Relaxed);
        self.0.fill(superstep, plan);
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        bytes(0.0)
    }

    fn cycles_per_instruction(&self) -> f64 {
        if self.1.swap(true, Ordering::Relaxed) {
            2.0
        } else {
            1.0
        }
    }
}

/// A policy that calls after each superstep and fails at the second call.
#[derive(Debug)]
struct FailingPolicy(u32);

impl Policy for FailingPolicy {
    fn is_call_due(&mut self, _view: &View<'_>) -> bool {
        true
    }

    fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        self.0 += 1;
        Ok(Decision::from_migrations(Vec::new()))
    }

    fn fault(&self) -> Option<String> {
        (self.0 == 2).then(|| "\u{3b1} = 0".into())
    }
}

fn broken(result: Result<migsim::bsp::RunOutcome, Error>) -> InternalFault {
    let Err(Error::InternalFault(broken)) = result else {
        unreachable!("a fault is told, not {result:?}");
    };
    *broken
}

#[test]
#[cfg(debug_assertions)]
fn a_process_that_computes_faster_than_its_host_stops_the_run() {
    let platform = switch(2, Wire(1e6, 0.0));
    let workload = SlowingProcessors(
        Plans::repeat(plan(&[1e9, 0.0], &[(0, 1, 1e3)]), 2),
        AtomicBool::new(false),
    );
    let told = broken(Case::new(&platform, &workload, [0, 1]).run_with(migsim::policy::Never {}));
    assert_eq!(
        told.problem.to_string(),
        "an internal check failed: the process computed faster than host `h0` can\n  --> superstep 1, process 1\n  hint: this is an \
         error in migsim, not in your input: please report it and attach the dump"
    );
    assert_eq!(
        told.debug_data["placement"],
        serde_json::json!(["h0", "h1"])
    );
    assert_eq!(told.debug_data["work"], serde_json::json!([1e9, 0.0]));
    assert_eq!(told.debug_data["message"], serde_json::json!([[1, 2, 1e3]]));
    assert_eq!(Error::InternalFault(Box::new(told)).exit_code(), 1);
}

#[test]
fn computations_shorter_than_the_resolution_of_times_are_no_fault() {
    // The move of process 0 takes 1e6 s, during which process 1 continues. Then process 0 computes for 1e-12 s.
    let platform = switch(2, Wire(1e6, 0.0));
    let workload = Plans::repeat(plan(&[1e-3, 1e9], &[]), 2);
    let costs = Costs {
        migration: MigrationCostConfig {
            fixed: seconds(1e6),
            wait: WaitingProcesses::Movers,
            ..MigrationCostConfig::default()
        },
        ..Costs::default()
    };
    let case = Case {
        costs,
        scenario: Scenario::Iii,
        ..Case::new(&platform, &workload, [0, 1])
    };
    let outcome = case.run_with(Script(vec![(0, vec![(0, 1)])]));
    let makespan = outcome.expect("no check stops it").makespan.get();
    assert!((1e6..1e6 + 3.0).contains(&makespan), "{makespan}");
}

#[test]
fn a_policy_that_reports_a_fault_stops_the_run() {
    let platform = switch(2, Wire(1e6, 0.0));
    let workload = Plans::repeat(plan(&[1e9, 1e9], &[]), 5);
    let case = Case {
        scenario: Scenario::Ii,
        ..Case::new(&platform, &workload, [0, 1])
    };
    let told = case.run_with(FailingPolicy(0)).unwrap_err().to_string();
    assert_eq!(
        told,
        "error: the policy reports a fault of its own state: \u{3b1} = 0\n  --> call after superstep 2, policy\n  hint: correct the code \
         of the policy"
    );
}
