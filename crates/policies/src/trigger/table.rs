//! The table of built-in triggers, one row each.

use super::{
    BoulmierOptions, EveryOptions, ImprovedMenonOptions, MarquezOptions, MenonOfflineOptions,
    MenonOptions, MetaBalancerOptions, NeverOptions, ProcassiniOptions, ZhaiOptions,
    entry::{Table, table_entry},
};
use crate::migbsp::AdaptiveOptions;

/// Returns the table of all triggers that are built into migsim.
pub fn standard() -> Table {
    let rows = vec![
        table_entry::<NeverOptions>("never", "baseline: no balancing", "-"),
        table_entry::<EveryOptions>("every", "a fixed period", "-"),
        table_entry::<AdaptiveOptions>(
            "migbsp",
            "MigBSP's adaptive interval: longer while the times of hosts are alike, shorter otherwise",
            "da Rosa Righi et al., LU paper, section 2",
        ),
        table_entry::<MenonOptions>(
            "menon",
            "as soon as the time lost to imbalance reaches the cost of a balancing",
            "Menon et al. 2012",
        ),
        table_entry::<ImprovedMenonOptions>(
            "improved-menon",
            "like menon, but counts only the imbalance beyond what the last call left",
            "Boulmier et al. 2021",
        ),
        table_entry::<MenonOfflineOptions>(
            "menon-offline",
            "a period from the growth of the imbalance: the square root law",
            "Menon et al. 2012",
        ),
        table_entry::<BoulmierOptions>(
            "boulmier",
            "as soon as the condition of optimality for a growing imbalance holds",
            "Boulmier et al. 2021",
        ),
        table_entry::<ZhaiOptions>(
            "zhai",
            "as soon as the excess of the last supersteps over the mean adds up to the cost of a balancing",
            "Zhai et al. 2018",
        ),
        table_entry::<ProcassiniOptions>(
            "procassini",
            "if the predicted next superstep, including the balancing, is short enough",
            "Procassini et al. 2004",
        ),
        table_entry::<MarquezOptions>(
            "marquez",
            "as soon as the time of a host is outside a tolerance around the average",
            "Marquez et al. 2013",
        ),
        table_entry::<MetaBalancerOptions>(
            "meta-balancer",
            "a period from lines fitted to the maximum and the average time of the hosts",
            "Charm++ MetaBalancer, Menon et al. 2012",
        ),
    ];
    Table::new(["trigger", "triggers", "policy.trigger"], rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::testing::superstep_with_times, *};
    use crate::{strategy::Variant, trigger::ObservedSuperstep};

    #[test]
    fn every_trigger_answers_at_every_edge() {
        for entry in &standard() {
            let variants = entry.variants().iter().map(Variant::options_value);
            for options in std::iter::once(json!({})).chain(variants) {
                for step in [
                    ObservedSuperstep::default(),
                    superstep_with_times(1e90, 1e-90, 0.0),
                    superstep_with_times(1.0, 1.0, 1e90),
                ] {
                    let mut trigger = entry.build(&options).unwrap();
                    for superstep in 0..50 {
                        trigger.is_due(&ObservedSuperstep { superstep, ..step });
                    }
                }
            }
            assert!(entry.build(&json!({ "nonsense": 1 })).is_err());
        }
    }
}
