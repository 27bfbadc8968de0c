//! Static starts: runs of scenario i from the initial placement that each built-in mapping rule yields, as a reference for gains.
//!
//! The gain compares scenario iii with scenario i from the same initial placement, called the start. If the start leaves fast
//! cores idle, migrations correct this and the gain is large, although a better start would have had the same effect without any
//! cost. On a platform that no paper used, a run therefore also simulates scenario i from the start of every rule of
//! [`MappingRule::ALL`], with the same workload, load and seed. The start of the run is one of the starts, also if a list, a table
//! or the application places the processes. The default start on such a platform is [`MappingRule::DEFAULT`].
//!
//! Not simulated are: starts on the platforms of the papers, because the start is part of their experiments; starts of a workload
//! that prescribes moves; starts that do not fit into the memory of their hosts or cannot run.

use rayon::prelude::*;

use super::{
    placement::{initial_placement_fits_memory, placement_by_mapping},
    resolve::Experiment,
    run::{Progress, Results},
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

    /// Returns the number of runs that the simulation of the initial placements needs in addition to the scenarios of
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

    /// Simulates scenario i from each initial placement in `starts`, in parallel. If `results` already contain scenario i, its
    /// initial placement is not simulated again; a placement that cannot run is omitted from the result.
    ///
    /// # Errors
    /// The run was stopped, or there is a fault of the program.
    pub fn simulate_initial_placements(
        &self,
        starts: &InitialPlacements,
        results: Option<&Results>,
        progress: &Progress,
    ) -> Result<Vec<StaticPlacementMakespan>> {
        let known = results.and_then(|results| results.get(Scenario::I));
        let makespan = |placement: &Vec<HostId>| -> Result<Option<f64>> {
            if let Some(run) = known.filter(|_| *placement == self.placement) {
                return Ok(Some(run.outcome.makespan.get()));
            }
            let policy = Box::new(Never {});
            let run =
                self.run_from_placement(placement, Scenario::I, policy, progress, &mut (), None);
            match run {
                Ok(run) => Ok(Some(run.outcome.makespan.get())),
                Err(error)
                    if progress.is_stop_requested() || matches!(error, Error::InternalFault(_)) =>
                {
                    Err(error)
                }
                Err(_) => Ok(None),
            }
        };
        let makespans: Vec<Result<Option<f64>>> = starts
            .distinct_placements
            .par_iter()
            .map(makespan)
            .collect();
        let makespans: Vec<Option<f64>> = makespans.into_iter().collect::<Result<_, _>>()?;
        Ok(starts
            .rules_with_placements
            .iter()
            .filter_map(|&(rule, index)| {
                let is_own = starts.distinct_placements[index] == self.placement;
                Some(StaticPlacementMakespan::new(
                    rule,
                    makespans[index]?,
                    is_own,
                ))
            })
            .collect())
    }
}
