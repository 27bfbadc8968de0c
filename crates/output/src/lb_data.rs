//! Exports an experiment as load-balancing data of the runtime system vt, which the tool LBAF reads. The processes become the
//! tasks of vt; the hosts on which they run become the ranks of vt.
//!
//! If the application was read from such data, the ranks of these data are kept and placed on hosts by the mapping. Otherwise
//! each host that has a process at some time is a rank, in the order of the platform. A process that moves is assigned to the
//! rank of its new host; if several ranks are on this host, to the rank with the fewest processes.

use std::collections::BTreeMap;

use migsim_base::{
    error::Result,
    units::HostId,
    words::{format_count, singular_or_plural},
};
use migsim_bsp::MigrationRecord;
use migsim_experiment::Experiment;
use migsim_workloads::vt::{RankMove, VtExport, to_vt_files};

/// The exported load-balancing data of an application for the runtime system vt: a file per rank, and notes for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VtLoadBalancingData {
    /// Text of the JSON file of each rank.
    pub rank_files: Vec<String>,
    /// Host on which each rank of vt runs, in the order of the ranks.
    pub rank_hosts: Vec<HostId>,
    /// Notes for the user about what the exported data cannot represent, one sentence each.
    pub user_notes: Vec<String>,
}

impl VtLoadBalancingData {
    /// Creates the load-balancing data of an experiment: its processes start on their initial hosts and move as listed in
    /// `migrations`.
    ///
    /// # Errors
    /// The mapping cannot place the ranks; loading the experiment has already checked this.
    pub fn new(experiment: &Experiment, migrations: &[MigrationRecord]) -> Result<Self> {
        let workload = experiment.workload.as_ref();
        let platform = &experiment.platform.platform;
        let placement = &experiment.placement;
        let labels = workload.labels();
        let own = match labels {
            Some(labels) => experiment
                .config
                .mapping()
                .place(platform, labels.rank_count)?,
            None => {
                sort_and_deduplicate(placement.iter().chain(migrations.iter().map(|one| &one.to)))
            }
        };
        let mut hosts = own.clone();
        let destinations = sort_and_deduplicate(migrations.iter().map(|one| &one.to));
        hosts.extend(destinations.into_iter().filter(|host| !own.contains(host)));
        let mut of_host: BTreeMap<HostId, Vec<usize>> = BTreeMap::new();
        for (rank, host) in hosts.iter().enumerate() {
            of_host.entry(*host).or_default().push(rank);
        }
        let start: Vec<usize> = (0..placement.len())
            .map(migsim_base::units::ProcessId::from_index)
            .zip(placement)
            .map(|(process, host)| workload.initial_rank(process).unwrap_or(of_host[host][0]))
            .collect();
        let moves = rank_moves_from_migrations(&start, &of_host, hosts.len(), migrations);
        let texts = to_vt_files(&VtExport {
            workload,
            rank_count: hosts.len(),
            initial_ranks: &start,
            moves: &moves,
        });
        let mut notes = Vec::new();
        let new = hosts.len() - own.len();
        if new > 0 {
            notes.push(format!(
                "{} that is no rank of the data: to repeat the moves, run vt with {} ranks",
                singular_or_plural(
                    new as u64,
                    ["a process moved to a host", "processes moved to a host"]
                ),
                hosts.len()
            ));
        }
        let phase_numbers = labels.map_or(&[][..], |labels| &labels.phase_numbers);
        if has_gap_between_numbers(phase_numbers) && !moves.is_empty() {
            notes.push(format!(
                "the numbers of the phases in the data have gaps, and vt's offline balancer moves tasks only between phases with consecutive numbers, so that it will not repeat {} of the policy",
                format_count(moves.len(), "move")
            ));
        }
        Ok(Self {
            rank_files: texts,
            rank_hosts: hosts,
            user_notes: notes,
        })
    }
}

fn has_gap_between_numbers(numbers: &[u64]) -> bool {
    numbers.windows(2).any(|pair| pair[1] - pair[0] > 1)
}

fn sort_and_deduplicate<'a>(hosts: impl Iterator<Item = &'a HostId>) -> Vec<HostId> {
    let mut all: Vec<HostId> = hosts.copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Converts migrations between hosts to moves of processes between ranks, ordered by superstep. `start` is the first rank of each
/// process, `of_host` the list of ranks on each host.
fn rank_moves_from_migrations(
    start: &[usize],
    of_host: &BTreeMap<HostId, Vec<usize>>,
    ranks: usize,
    migrations: &[MigrationRecord],
) -> Vec<RankMove> {
    let mut places = start.to_vec();
    let mut counts = vec![0_usize; ranks];
    for rank in start {
        counts[*rank] += 1;
    }
    let mut by_superstep: Vec<&MigrationRecord> = migrations.iter().collect();
    by_superstep.sort_by_key(|one| one.superstep);
    let to_move = |one: &MigrationRecord| {
        let place = &mut places[one.process.index()];
        counts[*place] -= 1;
        *place = of_host[&one.to]
            .iter()
            .copied()
            .min_by_key(|rank| counts[*rank])
            .unwrap_or_default();
        counts[*place] += 1;
        RankMove {
            superstep: one.superstep,
            process: one.process,
            new_rank: *place,
        }
    };
    by_superstep.into_iter().map(to_move).collect()
}
