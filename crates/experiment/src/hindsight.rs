//! Searches for the best rescheduling plan of a run in hindsight, with knowledge of all supersteps, by simulating many plans.
//!
//! A rescheduling plan lists the supersteps after which there is a rescheduling call, and the moves of each call. The search:
//!
//! 1. It simulates the plans that policies made, and variants that make all moves of a plan at the first barrier.
//! 2. It constructs plans, starting at the first barrier. At every k-th barrier it copies the run, and simulates the next 2 k
//!    supersteps without a call, and with calls to placements that suit the work of these supersteps ([`window`]). The search
//!    continues with the fastest copy. From plan to plan, k is halved.
//! 3. It changes the best plan found so far. A change removes a call, makes a call earlier or later, removes a move, changes the
//!    destination of a move, adds a move, or adds a call to a placement that suits the next supersteps. The simulation of a
//!    changed plan starts from a copy of the best run before the change ([`migsim_bsp::Stepper`]), and ends early when it has
//!    taken as long as the best run.
//!
//! If a case is so small that all plans can be simulated, they are ([`exhaustive`]), and the plan found is the optimum. Otherwise
//! it is not necessarily the optimum. The makespan of a policy exceeds the true optimum by at least as much as it exceeds the
//! makespan of this plan.

mod exhaustive;
mod window;

use std::rc::Rc;

use super::{
    plan::{PlannedCall, ReschedulingPlan},
    resolve::Experiment,
    run::Progress,
};
use migsim_base::{
    error::{Error, Problem, Result},
    random::{Stream, StreamPurpose},
    units::{HostId, Seconds, Time},
};
use migsim_bsp::{Memo, MemoBudget, Scenario, Setup, Stepper};
use window::SuperstepWindow;

/// The best rescheduling plan that the search in hindsight found, and its makespan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HindsightResult {
    /// The makespan of a run that follows the plan \[s\].
    pub makespan: Seconds,
    /// The rescheduling calls of the plan and their moves.
    pub plan: ReschedulingPlan,
    /// Number of whole runs that the search could have simulated with the supersteps that it simulated: a measure of its effort.
    pub equivalent_run_count: usize,
    /// Whether all plans were simulated, so that no plan of calls and moves after supersteps is faster.
    pub is_optimal: bool,
}

/// Number of supersteps that the search simulates in any case if it thereby simulates all plans.
const EXHAUSTIVE_SUPERSTEPS: u64 = 20_000;

/// Maximum number of supersteps that are simulated for the optimum, which takes one or two minutes.
const MAX_SUPERSTEPS_FOR_OPTIMUM: u64 = 5_000_000;

impl Experiment {
    /// Searches for a rescheduling plan that is faster than the plans in `starts`.
    ///
    /// The search may simulate as many supersteps as `budget` runs of scenario iii have, but it simulates at least all plans in
    /// `starts`, and all plans of a small case.
    ///
    /// # Errors
    /// The run without calls cannot be simulated, or `progress` was stopped.
    pub fn search_in_hindsight(
        &self,
        starts: &[ReschedulingPlan],
        budget: usize,
        progress: &Progress,
    ) -> Result<HindsightResult> {
        self.search_plans(starts, Some(budget), progress)
    }

    /// Finds the fastest of all plans of calls and moves after supersteps, by simulating them, and at least the plans in `starts`.
    /// All calls exchange the messages of the first call of the fastest of these.
    ///
    /// # Errors
    /// There are too many plans, the run without calls cannot be simulated, or `progress` was stopped.
    pub fn optimal_plan(
        &self,
        starts: &[ReschedulingPlan],
        progress: &Progress,
    ) -> Result<HindsightResult> {
        self.search_plans(starts, None, progress)
    }

    /// Searches for the fastest plan; without a budget, only the simulation of all plans is accepted.
    fn search_plans(
        &self,
        starts: &[ReschedulingPlan],
        budget: Option<usize>,
        progress: &Progress,
    ) -> Result<HindsightResult> {
        let memo = Memo::new(MemoBudget::default());
        let setup = Setup {
            memo: Some(&memo),
            ..self.scenario_setup(Scenario::Iii)
        };
        let mut search = PlanSearch::new(self, &setup, (budget.unwrap_or(0), progress))?;
        for start in starts {
            search.try_plan(start)?;
            if start.move_count() > 0 && search.supersteps_per_run > 1 {
                search.try_plan(&start.merged_into_one_call(1))?;
            }
        }
        let most = match budget {
            Some(_) => search.max_simulated_supersteps.max(EXHAUSTIVE_SUPERSTEPS),
            None => MAX_SUPERSTEPS_FOR_OPTIMUM,
        };
        let is_optimal = search.superstep_count_of_all_plans() <= most;
        if is_optimal {
            search.try_all_plans()?;
        } else if budget.is_none() {
            let message = format!(
                "the optimum cannot be computed: all plans together have more than {most} supersteps to simulate"
            );
            let hint = "use fewer hosts, processes or supersteps, no load that changes with time, or search for a good plan with `--hindsight RUNS`";
            return Err(Problem::new(message).hint(hint).into());
        } else {
            let mut every = search.supersteps_per_run / 2;
            while every > 0 && search.simulated_supersteps < search.max_simulated_supersteps / 2 {
                search.construct_plan(every)?;
                every /= 2;
            }
            search.improve_best_plan()?;
        }
        let supersteps = search.supersteps_per_run.max(1) as u64;
        Ok(HindsightResult {
            makespan: search.best_plan.makespan.since(Time::ZERO),
            plan: search.best_plan.plan,
            equivalent_run_count: usize::try_from(search.simulated_supersteps.div_ceil(supersteps))
                .unwrap_or(usize::MAX),
            is_optimal,
        })
    }
}

/// Maximum number of copies of the best run that are stored, each at another barrier; the simulation of a changed plan starts
/// from one of these copies.
const MAX_RUN_COPIES: usize = 16;

/// State of the search for the fastest rescheduling plan: the best plan found so far, and the number of supersteps simulated so
/// far.
struct PlanSearch<'s> {
    experiment: &'s Experiment,
    progress: &'s Progress,
    run_at_first_barrier: Stepper<'s>,
    supersteps_per_run: usize,
    /// Number of supersteps that the search has simulated so far.
    simulated_supersteps: u64,
    /// Maximum number of supersteps that the search may simulate.
    max_simulated_supersteps: u64,
    /// The fastest plan found so far.
    best_plan: BestPlan<'s>,
}

/// The fastest plan found so far, with its makespan and copies of its run at some barriers.
struct BestPlan<'s> {
    plan: ReschedulingPlan,
    /// Time at which the run with this plan ends.
    makespan: Time,
    /// Copies of the run with this plan at different barriers, in the order of the barriers.
    copies_of_run: Vec<Rc<Stepper<'s>>>,
}

impl<'s> PlanSearch<'s> {
    /// Creates the search, and simulates the run without rescheduling calls as the first plan.
    fn new(
        experiment: &'s Experiment,
        setup: &'s Setup<'s>,
        (budget, progress): (usize, &'s Progress),
    ) -> Result<Self> {
        let first = Stepper::new(setup)?;
        let supersteps = experiment.workload.supersteps();
        let mut search = Self {
            experiment,
            progress,
            supersteps_per_run: supersteps,
            simulated_supersteps: 1,
            max_simulated_supersteps: budget as u64 * supersteps as u64,
            best_plan: BestPlan {
                plan: ReschedulingPlan::default(),
                makespan: first.now(), // replaced below
                copies_of_run: vec![Rc::new(first.clone())],
            },
            run_at_first_barrier: first,
        };
        let mut stay = search.run_at_first_barrier.clone();
        while !stay.is_over() {
            search.advance_superstep(&mut stay, None)?;
        }
        search.best_plan.makespan = stay.now();
        Ok(search)
    }

    /// Simulates one more superstep of a run, preceded by the rescheduling call `call` if one is given.
    fn advance_superstep(&mut self, run: &mut Stepper<'s>, call: Option<&PlannedCall>) -> Result {
        if self.progress.is_stop_requested() {
            return Err(Error::SimulationFailure(
                Problem::new("the search for the best plan was stopped before its end")
                    .hint("repeat the command to search again"),
            ));
        }
        self.simulated_supersteps += 1;
        run.advance(call.map(PlannedCall::to_decision)).map(drop)
    }

    /// Simulates a plan, and stores it as the best plan if its makespan is the shortest so far. A plan that cannot be run because
    /// a host lacks memory is ignored.
    fn try_plan(&mut self, plan: &ReschedulingPlan) -> Result {
        let common = plan.superstep_of_first_difference(&self.best_plan.plan);
        let copies = &self.best_plan.copies_of_run;
        let usable = copies.partition_point(|copy| copy.ended_superstep_count() as u64 <= common);
        let mut kept: Vec<Rc<Stepper<'s>>> = copies[..usable].to_vec();
        let mut run = kept
            .last()
            .map_or(&self.run_at_first_barrier, |last| last)
            .clone();
        let every = self.supersteps_per_run.div_ceil(MAX_RUN_COPIES);
        while !run.is_over() && run.now() < self.best_plan.makespan {
            let superstep = run.ended_superstep_count();
            let is_new = kept
                .last()
                .is_none_or(|last| last.ended_superstep_count() < superstep);
            if superstep % every == 1 % every && is_new {
                kept.push(Rc::new(run.clone()));
            }
            let call = plan.planned_call_after(superstep as u64);
            if let Err(error) = self.advance_superstep(&mut run, call) {
                return if self.progress.is_stop_requested() {
                    Err(error)
                } else {
                    Ok(())
                };
            }
        }
        if run.is_over() && run.now() < self.best_plan.makespan {
            self.best_plan = BestPlan {
                plan: plan.clone(),
                makespan: run.now(),
                copies_of_run: kept,
            };
        }
        Ok(())
    }

    /// Constructs a plan barrier by barrier, and stores it if it is the fastest so far. At each `every`-th barrier, it chooses
    /// the call that is fastest over the next 2 · `every` supersteps.
    fn construct_plan(&mut self, every: usize) -> Result {
        let mut run = self.run_at_first_barrier.clone();
        let mut plan = ReschedulingPlan::default();
        while !run.is_over() && run.now() < self.best_plan.makespan {
            let superstep = run.ended_superstep_count();
            let mut calls = vec![None];
            for until in [superstep + 2 * every, self.supersteps_per_run] {
                let moves = self.moves_to_suitable_placement(&mut run, until)?;
                let call = (!moves.is_empty()).then(|| PlannedCall {
                    superstep: superstep as u64,
                    moves,
                    procedure: self.best_plan.plan.procedure_of_first_call(),
                    ..PlannedCall::default()
                });
                if call.is_some() && !calls.contains(&call) {
                    calls.push(call);
                }
            }
            let mut fastest: Option<(Time, Stepper<'s>, Option<PlannedCall>)> = None;
            let is_choice = calls.len() > 1;
            for call in calls {
                let mut copy = run.clone();
                if let Err(error) = self.advance_superstep(&mut copy, call.as_ref()) {
                    if call.is_none() || self.progress.is_stop_requested() {
                        return Err(error);
                    }
                    continue;
                }
                self.advance_to_superstep(&mut copy, superstep + every)?;
                let next = copy.clone();
                if is_choice {
                    self.advance_to_superstep(&mut copy, superstep + 2 * every)?;
                }
                if fastest
                    .as_ref()
                    .is_none_or(|fastest| copy.now() < fastest.0)
                {
                    fastest = Some((copy.now(), next, call));
                }
            }
            let Some((_, next, call)) = fastest else {
                return Ok(());
            };
            run = next;
            plan.calls.extend(call);
        }
        self.try_plan(&plan)
    }

    /// Simulates a run without further calls until its first `supersteps` supersteps have ended, or until the end of the run.
    fn advance_to_superstep(&mut self, run: &mut Stepper<'s>, supersteps: usize) -> Result {
        while !run.is_over() && run.ended_superstep_count() < supersteps {
            self.advance_superstep(run, None)?;
        }
        Ok(())
    }

    /// Finds the moves that turn the placement of `run` at its present barrier into a placement that suits the work of the
    /// supersteps up to superstep `until`.
    fn moves_to_suitable_placement(
        &self,
        run: &mut Stepper<'s>,
        until: usize,
    ) -> Result<Vec<(u32, HostId)>> {
        let first = run.ended_superstep_count();
        Ok(SuperstepWindow::new(
            self.experiment,
            &run.view()?,
            first..until.min(self.supersteps_per_run),
        )
        .find_moves())
    }

    /// Simulates random changes of the best plan until the budget of simulated supersteps is spent. A change that cannot be
    /// applied counts as one superstep, so that the search ends.
    fn improve_best_plan(&mut self) -> Result {
        let extent = (
            self.experiment.platform.platform.hosts.len(),
            self.experiment.placement.len(),
            self.supersteps_per_run as u64,
        );
        let mut random = Stream::new(self.experiment.config.seed, StreamPurpose::MigrationSearch);
        while self.supersteps_per_run > 1
            && self.simulated_supersteps < self.max_simulated_supersteps
        {
            let changed = if random.draw_below(2) == 0 && !self.best_plan.copies_of_run.is_empty() {
                let place = random.draw_below(self.best_plan.copies_of_run.len());
                let mut run = Stepper::clone(&self.best_plan.copies_of_run[place]);
                let superstep = run.ended_superstep_count();
                let length = 1 << random.draw_below(10);
                let moves = self.moves_to_suitable_placement(&mut run, superstep + length)?;
                let is_call = superstep < self.supersteps_per_run && !moves.is_empty();
                is_call.then(|| {
                    self.best_plan
                        .plan
                        .with_call_replaced(superstep as u64, moves)
                })
            } else {
                self.best_plan.plan.with_random_change(extent, &mut random)
            };
            match changed {
                Some(plan) => self.try_plan(&plan)?,
                None => self.simulated_supersteps += 1,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layers, Limits};
    use serde_json::{Value, json};

    #[test]
    fn the_found_plan_is_no_slower_than_the_plans_of_the_start() {
        let settings = Layers::from_pairs([
            ("workload.app", "synthetic".into()),
            ("workload.procs", 6.into()),
            ("workload.supersteps", 40.into()),
            ("workload.spread", 0.8.into()),
            ("policy.name", "greedy-refine/every=10".into()),
        ]);
        let experiment = Experiment::load(&settings, Limits::default()).unwrap();
        let progress = Progress::default();
        let run = experiment
            .run_scenario(Scenario::Iii, &progress, &mut (), None)
            .unwrap();
        let start = ReschedulingPlan::from_outcome(&run.outcome);
        assert_eq!(start.calls().len(), run.outcome.calls.len());
        assert_eq!(start.move_count(), run.outcome.migrations.len());
        let search = |budget| {
            experiment
                .search_in_hindsight(std::slice::from_ref(&start), budget, &progress)
                .unwrap()
        };
        let (first, more) = (search(3), search(80));
        assert!(more.makespan <= first.makespan && more.equivalent_run_count >= 80);
        assert_eq!(more, search(80));
        assert!(experiment.makespan_lower_bound() <= more.makespan);
    }

    /// Prints, for drawn cases, the gain of the plan over the best policy:
    /// `cargo test --release -p migsim-experiment --lib hindsight -- --ignored --nocapture`.
    #[test]
    #[ignore = "minutes in the release profile"]
    #[expect(clippy::print_stdout, reason = "a study that is run by hand")]
    fn gains_on_the_best_policy_of_drawn_cases() {
        const POLICIES: [&str; 11] = [
            "never",
            "greedy/menon",
            "greedy/every=10",
            "greedy-refine/menon",
            "refine/menon",
            "refine/boulmier",
            "refine/every=10",
            "prefix/menon",
            "inform-and-transfer/menon",
            "inform-and-transfer/boulmier",
            "migbsp",
        ];
        let (progress, mut gains) = (Progress::default(), Vec::new());
        for seed in 1..=20_u64 {
            let load = [
                json!([]),
                json!({ "kind": "walk" }),
                json!({ "kind": "on-off" }),
            ];
            let experiment = |policy: &str| {
                let settings: [(&str, Value); 9] = [
                    ("workload.app", "synthetic".into()),
                    ("workload.procs", (16 + 8 * (seed % 3)).into()),
                    ("workload.supersteps", (60 + 40 * (seed % 4)).into()),
                    ("workload.spread", (0.2 * (1 + seed % 4) as f64).into()),
                    ("workload.drift", (0.3 * (seed % 3) as f64).into()),
                    (
                        "workload.memory",
                        ["1 MB", "20 MB", "100 MB", "500 MB"][(seed % 4) as usize].into(),
                    ),
                    ("load", load[(seed % 3) as usize].clone()),
                    ("seed", seed.into()),
                    ("policy.name", policy.into()),
                ];
                Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap()
            };
            let (mut fastest, mut starts) = (f64::INFINITY, Vec::new());
            for policy in POLICIES {
                let run = experiment(policy).run_scenario(Scenario::Iii, &progress, &mut (), None);
                let outcome = run.unwrap().outcome;
                if outcome.makespan.get() < fastest {
                    fastest = outcome.makespan.get();
                    starts.insert(0, ReschedulingPlan::from_outcome(&outcome));
                }
            }
            starts.truncate(3);
            let first = experiment("never");
            let [few, many] = [120, 1000].map(|budget| {
                first
                    .search_in_hindsight(&starts, budget, &progress)
                    .unwrap()
                    .makespan
                    .get()
            });
            let gain = |found: f64| 100.0 * (1.0 - found / fastest);
            println!(
                "seed {seed}: best policy {fastest:.2} s, gain {:.2} % in 120 runs, {:.2} % in 1000, bound {:.2} s",
                gain(few),
                gain(many),
                first.makespan_lower_bound().get()
            );
            assert!(many <= fastest);
            gains.push((gain(few), gain(many)));
        }
        let count = gains.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| gains.iter().map(of).sum::<f64>() / count;
        println!(
            "mean gain: {:.2} % in 120 runs, {:.2} % in 1000",
            mean(|gain| gain.0),
            mean(|gain| gain.1)
        );
    }
}
