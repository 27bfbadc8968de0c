//! The table of built-in strategies, with one row for each strategy.

use super::{
    BruteForceOptions, CRandomOptions, DiffusionOptions, GreedyCommOptions, GreedyOptions,
    GreedyRefineOptions, HierarchicalOptions, InformAndTransferOptions, MigCubeOptions,
    MigPfOptions, PrefixOptions, ReceiverInitiatedOptions, RefineBOptions, RefineOptions,
    RotateOptions, TemperedOptions,
    entry::{StrategyTable, strategy_entry},
};

/// Returns the table of all strategies that are built into migsim.
pub fn standard_table() -> StrategyTable {
    let rows = vec![
        strategy_entry::<GreedyOptions>(
            "greedy",
            "list scheduling: places processes by decreasing work, each on the host that would finish it first",
            "Charm++ GreedyLB",
        ),
        strategy_entry::<GreedyRefineOptions>(
            "greedy-refine",
            "a load balance almost as good as that of greedy, with few moves",
            "Charm++ GreedyRefineLB",
        ),
        strategy_entry::<RefineOptions>(
            "refine",
            "overloaded hosts give processes to underloaded hosts; a search finds the lowest load limit that all hosts can keep",
            "Charm++ RefineLB",
        ),
        strategy_entry::<RefineBOptions>(
            "refine-b",
            "the most loaded host gives processes to the least loaded host; a search finds the lowest load limit that all hosts can keep, between 1 and 1.5 times the maximum load of greedy",
            "Charm++ 8, TreeLB RefineB",
        ),
        strategy_entry::<GreedyCommOptions>(
            "greedy-comm",
            "like greedy, but also counts the cost of messages to processes that are already placed",
            "Charm++ GreedyCommLB",
        ),
        strategy_entry::<HierarchicalOptions>(
            "hierarchical",
            "like Charm++'s TreeLB with levels: first moves work between clusters, then balances each cluster",
            "Charm++ 8, TreeLB with groups of processes; Zheng et al. 2011",
        ),
        strategy_entry::<InformAndTransferOptions>(
            "inform-and-transfer",
            "hosts learn each other's loads by gossip; a host gives a process to another host if this lowers the larger of their loads",
            "DARMA LB Analysis Framework, InformAndTransfer",
        ),
        strategy_entry::<TemperedOptions>(
            "tempered",
            "like vt's TemperedLB with communication: pairs of hosts swap processes if this lowers the larger of their loads, in time and bytes",
            "DARMA vt, TemperedLB with the work model of CCM; Lifflander et al. 2021",
        ),
        strategy_entry::<PrefixOptions>(
            "prefix",
            "gives the processes of the most loaded host, one by one, to the host that would finish first with it",
            "DARMA LB Analysis Framework, CentralizedPrefixOptimizer",
        ),
        strategy_entry::<BruteForceOptions>(
            "brute-force",
            "tries all assignments and takes the best; only for few processes",
            "DARMA LB Analysis Framework, BruteForce",
        ),
        strategy_entry::<RotateOptions>(
            "rotate",
            "moves each process to the next host: shows the cost of migrations without any benefit",
            "Charm++ 8, TreeLB Rotate",
        ),
        strategy_entry::<DiffusionOptions>(
            "diffusion",
            "diffusive load balancing: load flows between neighbours, rounded to whole processes",
            "Cybenko 1989; Diekmann et al. 1999",
        ),
        strategy_entry::<CRandomOptions>(
            "c-random",
            "as in the PUB library: each host asks a few random hosts for their load, and sends one process to a less loaded one",
            "Bonorden, IPDPS 2007",
        ),
        strategy_entry::<ReceiverInitiatedOptions>(
            "receiver-initiated",
            "like work stealing: a host with little load takes one process from a host with much load",
            "Eager, Lazowska and Zahorjan 1986",
        ),
        strategy_entry::<MigPfOptions>(
            "migpf",
            "after MigPF: of several plans of moves takes the one with the shortest predicted superstep, if it is shorter than without moves",
            "da Rosa Righi et al., FGCS 78, 2018",
        ),
        strategy_entry::<MigCubeOptions>(
            "migcube",
            "after MigCube: moves the best candidate and all processes with similar metrics",
            "da Rosa Righi et al., SCPE 17(1), 2016",
        ),
    ];
    StrategyTable::new(["strategy", "strategies", "policy.name"], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        super::{
            Assignment, Instance, StrategyEntry, host_time_lower_bound,
            testing::instance_without_background,
        },
        *,
    };
    use migsim_base::{
        random::{Stream, StreamPurpose},
        units::Bytes,
    };

    /// Returns the decision of each strategy, in each of its variants, about an instance.
    fn all(instance: &Instance<'_>) -> Vec<(String, Assignment)> {
        let decide = |entry: &StrategyEntry, name: String, options: &Value| {
            let mut strategy = entry.build(options).unwrap();
            let mut random = Stream::new(7, StreamPurpose::PolicyDecisions);
            strategy
                .assign(instance, &mut random)
                .map(|found| (name, found))
                .ok()
        };
        let table = standard_table();
        let entries = table.iter().flat_map(|entry| {
            let plain = decide(entry, entry.name.to_owned(), &json!({}));
            let variants = entry.variants().iter().map(move |variant| {
                let name = format!("{}/{}", entry.name, variant.name);
                decide(entry, name, &variant.options_value())
            });
            std::iter::once(plain).chain(variants).flatten()
        });
        entries.collect()
    }

    #[test]
    fn every_strategy_decides_about_every_edge() {
        let edges = [
            instance_without_background(&[1.0, 2.0], &[], &[]),
            instance_without_background(&[1.5], &[0, 0, 0], &[1.0, 2.0, 3.0]),
            instance_without_background(&[1.0, 1.0, 1.0], &[0, 0, 1], &[0.0; 3]),
            instance_without_background(&[1.0; 4], &[0; 40], &[1.0; 40]),
            instance_without_background(&[0.1, 10.0], &[0, 1, 0], &[1e-300, 1e90, 5.0]),
        ];
        for case in &edges {
            for (name, found) in all(case) {
                assert_eq!(found.assigned_hosts.len(), case.process_count(), "{name}");
                assert!(
                    found
                        .assigned_hosts
                        .iter()
                        .all(|&host| host < case.host_count()),
                    "{name}"
                );
                let max = case.max_host_time(&found.assigned_hosts).get();
                assert!(max >= host_time_lower_bound(case) * (1.0 - 1e-12), "{name}");
            }
        }
    }

    #[test]
    fn what_is_ours_fills_no_host_beyond_its_memory() {
        let mut case = instance_without_background(
            &[1.0; 3],
            &[0, 0, 0, 0, 1, 2],
            &[5.0, 4.0, 3.0, 2.0, 1.0, 1.0],
        );
        case.process_memory = vec![Bytes::of(1.0); 6];
        case.host_memory = vec![None, Some(Bytes::of(2.0)), Some(Bytes::of(1.0))];
        for (name, found) in all(&case) {
            if name.contains("/charm")
                || name.contains("/lbaf")
                || name.contains("/vt")
                || name == "rotate"
            {
                continue;
            }
            let on = |host: usize| {
                found
                    .assigned_hosts
                    .iter()
                    .filter(|&&other| other == host)
                    .count()
            };
            assert!(
                on(1) <= 2 && on(2) <= 1,
                "{name}: {:?}",
                found.assigned_hosts
            );
        }
    }

    #[test]
    fn names_of_variants_are_unique_and_their_options_known() {
        for entry in &standard_table() {
            for (at, variant) in entry.variants().iter().enumerate() {
                assert!(entry.resolve(&variant.options_value()).is_ok());
                assert!(
                    entry.variants()[..at]
                        .iter()
                        .all(|other| other.name != variant.name)
                );
            }
            let error = entry
                .build(&json!({ "nonsense": 1 }))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("policy.{}.nonsense", entry.name)),
                "{error}"
            );
        }
    }
}
