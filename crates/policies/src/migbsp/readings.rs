//! The most important interpretations of MigBSP's papers, as short phrases: how the options settle what the papers leave open.
//!
//! The phrases are printed below the table of a run on a platform to which the settings of MigBSP were not fitted, since for such
//! a platform the reader cannot find these interpretations in a paper.

use super::config::{Heuristic, MemoryRate, MigBspConfig, OwnCluster};

impl MigBspConfig {
    /// Returns how these options interpret the papers, as short phrases: the costs in t2, the bandwidth in Mem(i,j), whether the
    /// present cluster is included, and x.
    pub(super) fn interpretation_phrases(&self) -> Vec<String> {
        let price = match (self.viability_transfer, self.viability_cost.get() > 0.0) {
            (false, false) => {
                "t2, the predicted time after a move, without the cost of the move".to_owned()
            }
            (false, true) => format!(
                "t2, the predicted time after a move, with {} for the move, whatever its size",
                self.viability_cost
            ),
            (true, false) => {
                "t2, the predicted time after a move, with the transfer of the memory".to_owned()
            }
            (true, true) => format!(
                "t2, the predicted time after a move, with the transfer of the memory and {}",
                self.viability_cost
            ),
        };
        let memory = match (self.memory_transfer, self.memory_rate) {
            (false, _) => {
                "Mem(i,j), the memory term of the potential, without the transfer of the memory"
            }
            (true, MemoryRate::Backbone) => {
                "Mem(i,j), the memory term of the potential, at the rate of the narrowest link between clusters"
            }
            (true, MemoryRate::Managers) => {
                "Mem(i,j), the memory term of the potential, at the rate between the managers of the two clusters"
            }
        };
        let own = match self.own_cluster {
            OwnCluster::Competes => "the present cluster of a process competes with the others",
            OwnCluster::Within => "processes may move inside their own cluster",
            OwnCluster::Excluded => {
                "the present cluster of a process does not compete with the others"
            }
        };
        let mut readings = vec![price, memory.to_owned(), own.to_owned()];
        if self.heuristic == Heuristic::One {
            readings.push(format!("x = {}", self.x));
        }
        readings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::Seconds;

    #[test]
    fn readings_are_those_of_the_options() {
        let plain = MigBspConfig::default();
        let expected = [
            "t2, the predicted time after a move, with the transfer of the memory",
            "Mem(i,j), the memory term of the potential, at the rate between the managers of the two clusters",
            "the present cluster of a process does not compete with the others",
            "x = 0.8",
        ];
        assert_eq!(plain.interpretation_phrases(), expected);
        let other = MigBspConfig {
            viability_transfer: false,
            viability_cost: Seconds::of(0.052),
            memory_transfer: false,
            own_cluster: OwnCluster::Competes,
            heuristic: Heuristic::Two,
            ..plain
        };
        let expected = [
            "t2, the predicted time after a move, with 0.052 s for the move, whatever its size",
            "Mem(i,j), the memory term of the potential, without the transfer of the memory",
            "the present cluster of a process competes with the others",
        ];
        assert_eq!(other.interpretation_phrases(), expected);
    }
}
