//! Static starts: runs of scenario i from the initial placement that each built-in mapping rule yields, as a reference for gains.
//!
//! The gain compares scenario iii with scenario i from the same initial placement, called the start. If the start leaves fast
//! cores idle, migrations correct this and the gain is large, although a better start would have had the same effect without any
//! cost. On a platform that no paper used, a run therefore also simulates scenario i from the start of every rule of
//! [`MappingRule::ALL`], with the same workload, load and seed. The start of the run is one of the starts, also if a list, a table
//! or the application places the processes. The default start on such a platform is [`MappingRule::DEFAULT`].
//!
//! Not simulated are: starts on the platforms of the papers, because the start is part of their experiments; starts of a workload
//! that prescribes moves; starts that do not fit into the memory of their hosts or cannot run. Of long runs, only one other start is
//! simulated: nobody asked for starts, and together they would take several times as long as scenario i.

use rayon::prelude::*;

use super::{
    placement::{initial_placement_fits_memory, placement_by_mapping},
    resolve::Experiment,
    run::{Progress, Results, SimulatedWork},
    starts::{StaticPlacementMakespan, is_paper_platform},
};
use migsim_base::{
    error::{Error, Result},
    units::HostId,
};
use migsim_bsp::Scenario;
use migsim_platform::{Mapping, MappingRule};
use migsim_policies::Never;

/// Maximum of the number of processes times the number of supersteps of a scenario up to which the static starts are simulated.
const MAX_PROCESS_SUPERSTEPS: u64 = 10_000_000;

/// Number of messages and computations up to which the static starts are simulated together, although they take longer than
/// scenario i.
const FREE_EVENTS: u64 = 250_000;

/// The mapping rules by the mean of their makespans on drawn platforms (`docs/guide/run.md`), the shortest first.
const RULES_BY_MAKESPAN: [MappingRule; 5] = [
    MappingRule::FastFirst,
    MappingRule::ByCore,
    MappingRule::BySpeed,
    MappingRule::Contiguous,
    MappingRule::RoundRobin,
];

/// The distinct initial placements of an experiment, its own and those that mapping rules yield, for the comparison of their
/// makespans in scenario i.
#[derive(Debug, Default)]
pub struct InitialPlacements {
    /// The mapping rules, beginning with the rule of the run (`None` if no rule yields its placement), each with the index of its
    /// placement in `distinct_placements`.
    rules_with_placements: Vec<(Option<MappingRule>, usize)>,
    distinct_placements: Vec<Vec<HostId>>,
    /// The note for the user that the initial placements of other mapping rules are not simulated because the scenario is too
    /// long; `None` if they are simulated.
    too_long_note: Option<String>,
}

impl InitialPlacements {
    /// Returns the note for the user that the initial placements are not simulated because the scenario is too long; `None` if
    /// they are simulated.
    pub fn too_long_note(&self) -> Option<&str> {
        self.too_long_note.as_deref()
    }

    /// Returns the indices of the distinct placements, those of the best rules first.
    fn by_preference(&self) -> Vec<usize> {
        let mut order = Vec::new();
        for rule in RULES_BY_MAKESPAN.map(Some).into_iter().chain([None]) {
            let mut known = self.rules_with_placements.iter();
            let found = known.find(|one| one.0 == rule).map(|one| one.1);
            order.extend(found.filter(|index| !order.contains(index)));
        }
        order
    }

    /// Returns the maximum number of runs that the simulation of the initial placements needs in addition to the scenarios of
    /// `experiment`. If scenario i is one of these scenarios, it already covers the initial placement of the experiment.
    pub fn additional_run_count(&self, experiment: &Experiment) -> usize {
        let has_own = experiment.config.scenarios.contains(&Scenario::I);
        self.distinct_placements
            .iter()
            .filter(|placement| !has_own || **placement != experiment.placement)
            .count()
    }
}

impl Experiment {
    /// Returns whether the platform of this experiment was used in a paper.
    pub fn is_on_paper_platform(&self) -> bool {
        is_paper_platform(&self.platform)
    }

    /// Determines the initial placements with which the initial placement of this experiment is compared; the result is empty on
    /// the platforms of the papers.
    ///
    /// # Errors
    /// A rule cannot place the processes; loading the experiment has already checked this.
    pub fn initial_placements_to_compare(&self) -> Result<InitialPlacements> {
        let mut starts = InitialPlacements::default();
        if is_paper_platform(&self.platform) || self.workload.prescribes_moves() {
            return Ok(starts);
        }
        let size = self.placement.len() as u64 * self.workload.supersteps() as u64;
        if size > MAX_PROCESS_SUPERSTEPS {
            starts.too_long_note = Some(format!(
                "the run is not compared with other initial placements of the processes, since the number of processes times that of supersteps is {size}, more than {MAX_PROCESS_SUPERSTEPS}; to simulate one placement, add for example `--scenario i --mapping by-core`"
            ));
            return Ok(starts);
        }
        let own = match self.config.mapping() {
            Mapping::Rule(rule, entries) => entries.is_empty().then_some(rule),
            Mapping::Explicit(_) | Mapping::File(_) => None,
        };
        let others = MappingRule::ALL
            .into_iter()
            .filter(|rule| Some(*rule) != own);
        for rule in own.into_iter().chain(others) {
            let mapping = Mapping::Rule(rule, Vec::new());
            let placement =
                placement_by_mapping(&mapping, self.workload.as_ref(), &self.platform.platform)?;
            if !initial_placement_fits_memory(&placement, self.workload.as_ref(), &self.platform) {
                continue;
            }
            let index = starts
                .distinct_placements
                .iter()
                .position(|one| *one == placement)
                .unwrap_or_else(|| {
                    starts.distinct_placements.push(placement);
                    starts.distinct_placements.len() - 1
                });
            starts.rules_with_placements.push((Some(rule), index));
        }
        if !starts.distinct_placements.contains(&self.placement) {
            let own = starts.distinct_placements.len();
            starts.distinct_placements.push(self.placement.clone());
            starts.rules_with_placements.insert(0, (None, own));
        }
        Ok(starts)
    }

    /// Simulates scenario i from each initial placement in `starts`, in parallel; a placement that cannot run is omitted.
    ///
    /// # Errors
    /// The run was stopped, or there is a fault of the program.
    pub fn simulate_initial_placements(
        &self,
        starts: &InitialPlacements,
        progress: &Progress,
    ) -> Result<Vec<StaticPlacementMakespan>> {
        let (found, _) =
            self.simulate_placements(starts, &starts.by_preference(), None, progress)?;
        Ok(found)
    }

    /// Simulates scenario i from initial placements in `starts`, and adds the makespans to `results`. If scenario i is among the
    /// results, it is not simulated again. Other placements are simulated as far as they take no longer than scenario i or have
    /// few messages and computations.
    ///
    /// # Errors
    /// As [`Self::simulate_initial_placements`].
    pub fn add_static_starts(
        &self,
        results: &mut Results,
        starts: &InitialPlacements,
        progress: &Progress,
    ) -> Result {
        let known = results.get(Scenario::I);
        let known = known.map(|run| run.outcome.makespan.get());
        let work = results.scenario_runs.first();
        let work = work.map_or(0, |run| {
            let work = SimulatedWork::new(run, self.placement.len());
            work.message_count + work.process_superstep_count
        });
        let affordable = (FREE_EVENTS / work.max(1)).max(1);
        let is_own = |index: &usize| starts.distinct_placements[*index] == self.placement;
        let (mut wanted, others): (Vec<usize>, Vec<usize>) =
            starts.by_preference().into_iter().partition(is_own);
        wanted.extend(
            others
                .into_iter()
                .take(usize::try_from(affordable).unwrap_or(usize::MAX)),
        );
        let is_omitted = |one: &&(Option<MappingRule>, usize)| !wanted.contains(&one.1);
        let omitted = starts.rules_with_placements.iter().filter(is_omitted);
        results.omitted_starts = omitted.filter_map(|one| one.0).collect();
        (
            results.static_placement_makespans,
            results.static_start_work,
        ) = self.simulate_placements(starts, &wanted, known, progress)?;
        Ok(())
    }

    /// Simulates scenario i from the initial placements with the indices `wanted`, except from that of this experiment if its
    /// makespan is `known` \[s\]. Returns the makespans by rule, and the work of the simulator.
    fn simulate_placements(
        &self,
        starts: &InitialPlacements,
        wanted: &[usize],
        known: Option<f64>,
        progress: &Progress,
    ) -> Result<(Vec<StaticPlacementMakespan>, SimulatedWork)> {
        let simulate = |index: &usize| -> Result<Option<(f64, SimulatedWork)>> {
            let placement = &starts.distinct_placements[*index];
            if let Some(known) = known.filter(|_| *placement == self.placement) {
                return Ok(Some((known, SimulatedWork::default())));
            }
            let policy = Box::new(Never {});
            let run =
                self.run_from_placement(placement, Scenario::I, policy, progress, &mut (), None);
            match run {
                Ok(run) => {
                    let work = SimulatedWork::new(&run, placement.len());
                    Ok(Some((run.outcome.makespan.get(), work)))
                }
                Err(error)
                    if progress.is_stop_requested() || matches!(error, Error::InternalFault(_)) =>
                {
                    Err(error)
                }
                Err(_) => Ok(None),
            }
        };
        let simulated: Vec<_> = wanted.par_iter().map(simulate).collect();
        let simulated: Vec<_> = simulated.into_iter().collect::<Result<_, _>>()?;
        let work = simulated.iter().flatten().map(|one| one.1).sum();
        let rules = starts.rules_with_placements.iter();
        let found = rules.filter_map(|&(rule, index)| {
            let place = wanted.iter().position(|one| *one == index)?;
            let is_own = starts.distinct_placements[index] == self.placement;
            let makespan = simulated[place]?.0;
            Some(StaticPlacementMakespan::new(rule, makespan, is_own))
        });
        Ok((found.collect(), work))
    }
}
