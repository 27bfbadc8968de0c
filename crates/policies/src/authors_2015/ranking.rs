//! The order of processes in the policy `authors-2015`: the Set that each process prefers, and the program's sort by decreasing
//! potential of migration (PM), which also decides ties.

use super::potential::PotentialTerms;

/// A process with the Set that it prefers and its potential of migration (PM) to that Set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetPreference {
    /// The number of the process, counted from 0.
    pub process: usize,
    /// The index of the Set for which the process has its largest potential of migration (PM) above 0; `None` if no PM is above
    /// 0. In case of ties it is the lowest index.
    ///
    /// In the case `None` the program sends uninitialised memory; this never happened in a recorded run.
    pub preferred_set: Option<usize>,
    /// The potential of migration (PM) of the process to the preferred Set \[s\]; 0 if there is no preferred Set.
    pub potential: f64,
}

pub(super) fn preferred_sets(terms: &[Vec<PotentialTerms>]) -> Vec<SetPreference> {
    let prefer = |(process, sets): (usize, &Vec<PotentialTerms>)| {
        let mut wish = SetPreference {
            process,
            preferred_set: None,
            potential: 0.0,
        };
        for (set, terms) in sets.iter().enumerate() {
            if terms.potential() > wish.potential {
                (wish.preferred_set, wish.potential) = (Some(set), terms.potential());
            }
        }
        wish
    };
    terms.iter().enumerate().map(prefer).collect()
}

/// Sorts the processes by decreasing potential of migration (PM) with the algorithm of the authors' program, which compares each
/// pair of positions once in each direction (n² comparisons).
///
/// The sort is not stable: the resulting order of processes with equal PM decides which process is a candidate.
pub(super) fn exchange_sort_by_potential(wishes: &mut [SetPreference]) {
    for i in 0..wishes.len() {
        for j in 0..wishes.len() {
            if wishes[i].potential > wishes[j].potential {
                wishes.swap(i, j);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_potentials_do_not_keep_their_order() {
        let wish = |(process, potential): (usize, f64)| SetPreference {
            process,
            preferred_set: Some(0),
            potential,
        };
        let mut wishes: Vec<SetPreference> =
            [1.0, 1.0, 2.0].into_iter().enumerate().map(wish).collect();
        exchange_sort_by_potential(&mut wishes);
        // i = 0: 1(0) and 2(2) do not exchange, since 1 > 2 is false; i = 2: 2 > 1(0) gives 2 1(1) 1(0).
        let order: Vec<usize> = wishes.iter().map(|wish| wish.process).collect();
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn a_process_prefers_the_first_of_equal_sets_and_none_without_a_potential_above_nothing() {
        let terms = |computation: f64, memory: f64| PotentialTerms {
            comp_comm_mem: [computation, 0.0, memory],
        };
        let found = preferred_sets(&[
            vec![terms(1.0, 2.0), terms(0.5, 0.0), terms(0.5, 0.0)],
            vec![terms(1.0, 2.0), terms(0.0, 0.0), terms(0.0, 0.0)],
        ]);
        assert_eq!(
            [found[0].preferred_set, found[1].preferred_set],
            [Some(1), None]
        );
        assert_eq!([found[0].potential, found[1].potential], [0.5, 0.0]);
    }
}
