//! The table of built-in strategies, one row each.

use super::entry::{Table, table_entry};
use super::{
    BruteForceOptions, CRandomOptions, DiffusionOptions, GreedyCommOptions, GreedyOptions,
    GreedyRefineOptions, HierarchicalOptions, InformAndTransferOptions, MigCubeOptions,
    MigPfOptions, PrefixOptions, ReceiverInitiatedOptions, RefineBOptions, RefineOptions,
    RotateOptions, TemperedOptions,
};

/// Returns the table of all strategies that are built into migsim.
pub fn standard() -> Table {
    let rows = vec![
        table_entry::<GreedyOptions>(
            "greedy",
            "list scheduling: processes by decreasing work, each to the host that ends first",
            "Charm++ GreedyLB",
        ),
        table_entry::<GreedyRefineOptions>(
            "greedy-refine",
            "almost the makespan of greedy, with few moves",
            "Charm++ GreedyRefineLB",
        ),
        table_entry::<RefineOptions>(
            "refine",
            "overloaded hosts give to underloaded ones; a search finds the lowest threshold that all hosts can keep",
            "Charm++ RefineLB",
        ),
        table_entry::<RefineBOptions>(
            "refine-b",
            "the heaviest host gives to the lightest; a search finds the lowest bound above the maximum load of greedy",
            "Charm++ 8, TreeLB RefineB",
        ),
        table_entry::<GreedyCommOptions>(
            "greedy-comm",
            "greedy that counts the messages to processes placed before",
            "Charm++ GreedyCommLB",
        ),
        table_entry::<HierarchicalOptions>(
            "hierarchical",
            "after TreeLB with levels: work flows between clusters, then each cluster balances itself",
            "Charm++ 8, TreeLB with groups of processes; Zheng et al. 2011",
        ),
        table_entry::<InformAndTransferOptions>(
            "inform-and-transfer",
            "hosts learn each other's loads by gossip and give processes where this lowers the larger of the two loads",
            "DARMA LB Analysis Framework, InformAndTransfer",
        ),
        table_entry::<TemperedOptions>(
            "tempered",
            "after TemperedLB with communication: pairs of hosts swap processes by time and bytes",
            "DARMA vt, TemperedLB with the work model of CCM; Lifflander et al. 2021",
        ),
        table_entry::<PrefixOptions>(
            "prefix",
            "takes the processes of the most loaded host, and gives each to the host that then ends first",
            "DARMA LB Analysis Framework, CentralizedPrefixOptimizer",
        ),
        table_entry::<BruteForceOptions>(
            "brute-force",
            "the best of all assignments; only for few processes",
            "DARMA LB Analysis Framework, BruteForce",
        ),
        table_entry::<RotateOptions>(
            "rotate",
            "each process to the next host: shows the cost of migrations without any benefit",
            "Charm++ 8, TreeLB Rotate",
        ),
        table_entry::<DiffusionOptions>(
            "diffusion",
            "diffusive load balancing: load flows between neighbours, rounded to whole processes",
            "Cybenko 1989; Diekmann et al. 1999",
        ),
        table_entry::<CRandomOptions>(
            "c-random",
            "as in the PUB library: each host asks random hosts and sends one process to one with less load",
            "Bonorden, IPDPS 2007",
        ),
        table_entry::<ReceiverInitiatedOptions>(
            "receiver-initiated",
            "after work stealing: hosts with little to do take one process from hosts with much",
            "Eager, Lazowska and Zahorjan 1986",
        ),
        table_entry::<MigPfOptions>(
            "migpf",
            "after MigPF: of several plans the one with the shortest predicted superstep, if it is shorter than without moves",
            "da Rosa Righi et al., FGCS 78, 2018",
        ),
        table_entry::<MigCubeOptions>(
            "migcube",
            "after MigCube: processes whose metrics lie near those of the best candidate move with it",
            "da Rosa Righi et al., SCPE 17(1), 2016",
        ),
    ];
    Table::new(["strategy", "strategies", "policy.name"], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::instance;
    use super::super::{Assignment, Entry, Instance, lower_bound};
    use super::*;
    use migsim_base::random::{Purpose, Stream};
    use migsim_base::units::Bytes;

    /// Returns the decision of each strategy, in each of its variants, about an instance.
    fn all(instance: &Instance<'_>) -> Vec<(String, Assignment)> {
        let decide = |entry: &Entry, name: String, options: &Value| {
            let mut strategy = entry.build(options).unwrap();
            let mut random = Stream::new(7, Purpose::Policy);
            strategy
                .assign(instance, &mut random)
                .map(|found| (name, found))
                .ok()
        };
        let table = standard();
        let entries = table.iter().flat_map(|entry| {
            let plain = decide(entry, entry.name.to_owned(), &json!({}));
            let variants = entry.variants().iter().map(move |variant| {
                let name = format!("{}/{}", entry.name, variant.name);
                decide(entry, name, &variant.value())
            });
            std::iter::once(plain).chain(variants).flatten()
        });
        entries.collect()
    }

    #[test]
    fn every_strategy_decides_about_every_edge() {
        let edges = [
            instance(&[1.0, 2.0], &[], &[]),
            instance(&[1.5], &[0, 0, 0], &[1.0, 2.0, 3.0]),
            instance(&[1.0, 1.0, 1.0], &[0, 0, 1], &[0.0; 3]),
            instance(&[1.0; 4], &[0; 40], &[1.0; 40]),
            instance(&[0.1, 10.0], &[0, 1, 0], &[1e-300, 1e90, 5.0]),
        ];
        for case in &edges {
            for (name, found) in all(case) {
                assert_eq!(found.hosts.len(), case.processes(), "{name}");
                assert!(
                    found.hosts.iter().all(|&host| host < case.hosts()),
                    "{name}"
                );
                let max = case.max_time(&found.hosts).get();
                assert!(max >= lower_bound(case) * (1.0 - 1e-12), "{name}");
            }
        }
    }

    #[test]
    fn what_is_ours_fills_no_host_beyond_its_memory() {
        let mut case = instance(
            &[1.0; 3],
            &[0, 0, 0, 0, 1, 2],
            &[5.0, 4.0, 3.0, 2.0, 1.0, 1.0],
        );
        case.memory = vec![Bytes::of(1.0); 6];
        case.host_memory = vec![None, Some(Bytes::of(2.0)), Some(Bytes::of(1.0))];
        for (name, found) in all(&case) {
            if name.contains("/charm")
                || name.contains("/lbaf")
                || name.contains("/vt")
                || name == "rotate"
            {
                continue;
            }
            let on = |host: usize| found.hosts.iter().filter(|&&other| other == host).count();
            assert!(on(1) <= 2 && on(2) <= 1, "{name}: {:?}", found.hosts);
        }
    }

    #[test]
    fn names_of_variants_are_unique_and_their_options_known() {
        for entry in &standard() {
            for (at, variant) in entry.variants().iter().enumerate() {
                assert!(entry.resolve(&variant.value()).is_ok());
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
