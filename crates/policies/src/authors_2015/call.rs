//! A rescheduling call of the simulation program of `MigBSP`'s authors as a pure function, which computes potentials of
//! migration, candidates and moves from the reports of the processes.

use super::{
    destination::{Move, assign_destinations},
    heuristic::{Heuristic, chosen_processes},
    potential::{
        HostSet, PotentialTerms, ProcessReport, potential_terms, processes_per_host, set_indices,
    },
    ranking::{SetPreference, exchange_sort_by_potential, preferred_sets},
};

/// The input of a rescheduling call of the simulation program that the authors of `MigBSP` wrote in 2015.
#[derive(Clone, Copy, Debug)]
pub struct ReschedulingCall<'a> {
    /// The Sets (clusters) of the run, at least one.
    pub sets: &'a [HostSet],
    /// The report of each process about the supersteps since the last call, by process number.
    pub reports: &'a [ProcessReport],
    /// The heuristic that chooses the candidates of the call.
    pub heuristic: Heuristic,
    /// Factor x of the heuristic `percentage`: a process is a candidate if its potential of migration is above x times the
    /// largest potential; in \[0, 1\].
    pub percentage_x: f64,
    /// Whether each process was a candidate of an earlier call, by process number. The authors' program never resets this mark of
    /// a process.
    pub was_candidate: &'a [bool],
    /// Whether each process must stay on its host, by process number; empty if all processes may move.
    pub is_pinned: &'a [bool],
    /// Whether the moves are carried out (scenario iii) or only decided (scenario ii).
    pub are_moves_carried_out: bool,
}

/// The result of a rescheduling call of the authors' program, with the intermediate values from which it follows.
#[derive(Clone, Debug, PartialEq)]
pub struct ReschedulingCallResult {
    /// ISet(j), the index of computing power of each Set (cluster) j, relative to the most powerful Set, whose index is 1.
    pub set_indices: Vec<f64>,
    /// The terms of PM(i,j), the potential of migration of process i to Set j, by process and then by Set.
    pub potential_terms: Vec<Vec<PotentialTerms>>,
    /// The processes in decreasing order of their largest potential of migration, each with the Set that the process prefers.
    pub preference_order: Vec<SetPreference>,
    /// Whether each process is a candidate for migration in this call or was one in an earlier call, by process number.
    pub is_candidate: Vec<bool>,
    /// The migrations, in the order in which the managers of the Sets decide them: by Set, and within a Set by process number.
    pub moves: Vec<Move>,
}

impl ReschedulingCall<'_> {
    /// Computes the result of the rescheduling call: Set indices, potentials of migration, candidates and moves.
    pub fn decide(&self) -> ReschedulingCallResult {
        let occupancy = processes_per_host(self.sets, self.reports);
        let indices = set_indices(self.sets, &occupancy);
        let of_report = |report: &ProcessReport| potential_terms(report, self.sets, &indices);
        let terms: Vec<Vec<PotentialTerms>> = self.reports.iter().map(of_report).collect();
        let wishes = preferred_sets(&terms);
        let mut order = wishes.clone();
        exchange_sort_by_potential(&mut order);
        let mut candidates = self.was_candidate.to_vec();
        for process in chosen_processes(self.heuristic, self.percentage_x, &order, &terms) {
            candidates[process] = true;
        }
        let is_pinned = |process: usize| self.is_pinned.get(process).copied().unwrap_or(false);
        let movers: Vec<bool> = candidates
            .iter()
            .enumerate()
            .map(|(process, is_candidate)| *is_candidate && !is_pinned(process))
            .collect();
        let moves = assign_destinations(
            self.reports,
            &wishes,
            &movers,
            occupancy,
            self.are_moves_carried_out,
        );
        ReschedulingCallResult {
            set_indices: indices,
            potential_terms: terms,
            preference_order: order,
            is_candidate: candidates,
            moves,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::{Bytes, InstructionsPerSecond, Seconds};

    /// Two Sets of two hosts, the second twice as fast.
    fn sets() -> [HostSet; 2] {
        [1e9, 2e9].map(|power| HostSet {
            host_count: 2,
            power_per_host: InstructionsPerSecond::of(power),
            own_latency: Seconds::of(1e-6),
        })
    }

    /// Returns the report of a process on a host of the first Set that received 1 MB in each superstep of a long interval.
    fn report(process: usize, host: usize, computation: f64) -> ProcessReport {
        ProcessReport {
            present_set: 0,
            host_index_in_set: host,
            computation_pattern: 1.0,
            aged_computation_time: Seconds::of(computation),
            communication_patterns: vec![1.0; 2],
            aged_communication_times: vec![Seconds::of(0.25), Seconds::default()],
            aged_received_bytes: Bytes::of(if process == 0 { 0.0 } else { 1e6 }),
        }
    }

    fn decide(marked: [bool; 3], pinned: &[bool], moves_happen: bool) -> ReschedulingCallResult {
        let reports = [report(0, 0, 0.5), report(1, 0, 1.0), report(2, 1, 1.0)];
        let call = ReschedulingCall {
            sets: &sets(),
            reports: &reports,
            heuristic: Heuristic::One,
            percentage_x: 0.0,
            was_candidate: &marked,
            is_pinned: pinned,
            are_moves_carried_out: moves_happen,
        };
        call.decide()
    }

    #[test]
    fn a_small_call_is_as_worked_by_hand() {
        let answer = decide([false; 3], &[], true);
        // Power: 1/3 + 1/2 against 2/1 + 2/1, so that ISet is 5/24 and 1.
        let expected = (1.0 / 3.0 + 0.5) / 4.0;
        assert!((answer.set_indices[0] - expected).abs() < 1e-15);
        assert_eq!(answer.set_indices[1], 1.0);
        // p0 for Set 1: 0.5. p1 and p2: 1. At home: p0 0.5 · 5/24 + 0.25 = 0.354, p1 and p2 5/24 + 0.25 - 1 s of Mem.
        let potentials = |process: usize| {
            answer.potential_terms[process]
                .iter()
                .map(PotentialTerms::potential)
        };
        let found: Vec<f64> = (0..3).flat_map(potentials).collect();
        let at_home = [0.5 * expected + 0.25, expected + 0.25 - 1.0];
        for (found, by_hand) in found
            .iter()
            .zip([at_home[0], 0.5, at_home[1], 1.0, at_home[1], 1.0])
        {
            assert!((found - by_hand).abs() < 1e-15, "{found} {by_hand}");
        }
        // The exchange sort puts p1 before p2: i = 1 exchanges p1 and p0, i = 2 exchanges p0, which is second now, and p2.
        let order: Vec<usize> = answer
            .preference_order
            .iter()
            .map(|wish| wish.process)
            .collect();
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(answer.is_candidate, [false, true, false]);
        let moved = |process, host| Move {
            process,
            destination_set: 1,
            destination_host: host,
        };
        assert_eq!(answer.moves, [moved(1, 0)]);
        // A mark of an earlier call stays: p0 moves, too, before p1 by its number.
        let answer = decide([true, false, false], &[], true);
        assert_eq!(answer.moves, [moved(0, 0), moved(1, 1)]);
        // A pinned process stays a candidate and does not move.
        let answer = decide([true, false, false], &[true], true);
        assert_eq!(answer.is_candidate, [true, true, false]);
        assert_eq!(answer.moves, [moved(1, 0)]);
    }

    #[test]
    fn a_move_counts_twice_on_its_host_if_moves_happen() {
        let marked = [true; 3];
        let hosts = |reports: &[ProcessReport], moves_happen| {
            let call = ReschedulingCall {
                sets: &sets(),
                reports,
                heuristic: Heuristic::One,
                percentage_x: 0.0,
                was_candidate: &marked[..reports.len()],
                is_pinned: &[],
                are_moves_carried_out: moves_happen,
            };
            let moves = call.decide().moves;
            moves
                .iter()
                .map(|one| one.destination_host)
                .collect::<Vec<usize>>()
        };
        // The second host of Set 1 has a process that received nothing, so that it stays: 0 and 1 processes.
        let mut reports = [report(1, 0, 1.0), report(2, 0, 1.0), report(0, 1, 1.0)];
        reports[2].present_set = 1;
        // Counted once: 1 and 1 after the first move, and the first of equal hosts. Counted twice: 2 and 1.
        assert_eq!(hosts(&reports, false), [0, 0]);
        assert_eq!(hosts(&reports, true), [0, 1]);
    }

    #[test]
    fn a_process_that_leaves_makes_room_for_those_decided_later() {
        // p0 goes from Set 1 to Set 0, which decides first; p1 from Set 0 to Set 1, where the first host is empty then.
        let mut reports = [report(1, 0, 0.1), report(2, 0, 1.0), report(0, 1, 0.1)];
        reports[0].present_set = 1;
        reports[0].aged_communication_times = vec![Seconds::of(0.25); 2];
        let call = ReschedulingCall {
            sets: &sets(),
            reports: &reports,
            heuristic: Heuristic::Percentage,
            percentage_x: 0.0,
            was_candidate: &[false; 3],
            is_pinned: &[false, false, true],
            are_moves_carried_out: true,
        };
        let moves = call.decide().moves;
        let places = moves
            .iter()
            .map(|one| (one.process, one.destination_set, one.destination_host));
        // Both hosts of Set 0 have one process, and p0 takes the first.
        assert_eq!(places.collect::<Vec<_>>(), [(0, 0, 0), (1, 1, 0)]);
        let decided = ReschedulingCall {
            are_moves_carried_out: false,
            ..call
        };
        assert_eq!(decided.decide().moves[1].destination_host, 1);
    }
}
