//! A multi-armed bandit over strategies: at each rescheduling call it chooses the strategy that promises the shortest supersteps,
//! based on the results of the previous calls.
//!
//! ```text
//! t_k   mean time of a superstep from call k to call k + 1, with the cost of call k and its moves: (start of call k + 1 − start of call k) / supersteps
//! r_k   reward of call k: t_min / t_k, with the smallest t so far; in (0, 1], since UCB1 requires bounded rewards
//! X_j   mean reward of the n_j calls of strategy j; n is the number of all calls
//! UCB1  each strategy once, in the order of `strategies`; then argmax X_j + √(2·ln n / n_j), ties go to the first strategy
//! ```
//! A [trigger](super::trigger) determines when calls take place. The choice depends only on simulated times, so that a repeated
//! run has the same calls. The regret (the loss compared with always choosing the best
//! strategy) grows at most with ln n, if the rewards of a strategy are drawn independently from one distribution.
//!
//! Two choices are not in the paper: the definition of the reward (the paper only requires bounded rewards), and the strategies
//! that can be chosen, among which `never` leaves all processes where they are. The assumption of the paper is violated if work
//! changes over time, because old times weigh as much as recent ones, and if the success of a strategy depends on the placement
//! that the previous strategy has left. The supersteps after the last call of a run are not used.
//!
//! Source: Auer, Cesa-Bianchi and Fischer, Finite-time analysis of the multiarmed bandit problem, Machine Learning 47, 2002.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Decision, Policy, PolicyOptions, View,
    balancer::{BalancerNarrator, decide_by_assignment},
    entry::NEVER,
    explain::Narrator,
    strategy::{self, Assignment, Gather, Instance, Strategy},
    window::LoadWindow,
};
use migsim_base::{
    error::{Problem, Result},
    random::Stream,
};

/// The options of the policy `bandit`, which chooses a strategy for each call by the results of earlier calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BanditOptions {
    /// The strategies among which the bandit chooses, at least one. A variant follows the name of its strategy, as in
    /// `greedy/charm-8`; `never` leaves all processes where they are.
    pub strategies: Vec<String>,
}

impl Default for BanditOptions {
    fn default() -> Self {
        Self {
            strategies: ["refine", "greedy-refine", "diffusion", NEVER]
                .map(str::to_owned)
                .to_vec(),
        }
    }
}

impl PolicyOptions for BanditOptions {
    const NEEDS_TRIGGER: bool = true;

    fn narrator() -> &'static dyn Narrator {
        &BalancerNarrator
    }

    fn policy(self) -> Result<Box<dyn Policy>> {
        if self.strategies.is_empty() {
            return Err(Problem::new("the list `strategies` is empty")
                .key("strategies")
                .hint("list at least one strategy (`migsim list policies`)")
                .into());
        }
        let strategies = self
            .strategies
            .iter()
            .map(|name| build_strategy(name))
            .collect::<Result<Vec<_>, _>>()?;
        let mut used = strategies.iter().flatten();
        let needs_communication = used.any(|one| one.needs_communication());
        Ok(Box::new(Bandit {
            arms: Arms::new(strategies.len()),
            strategy_names: self.strategies,
            strategies,
            needs_communication,
            load_window: LoadWindow::default(),
            last_call: None,
        }))
    }
}

/// Creates the strategy with this name, such as `greedy/charm-8`; returns `None` for `never`, which moves no process.
///
/// # Errors
/// The name or its variant is unknown.
fn build_strategy(name: &str) -> Result<Option<Box<dyn Strategy>>> {
    if name == NEVER {
        return Ok(None);
    }
    let table = strategy::standard_table();
    let mut parts = name.splitn(2, '/');
    let name = parts.next().unwrap_or_default();
    let edition = parts.next();
    let at = |problem: Problem| problem.key("strategies");
    let entry = table
        .find(name)
        .map_err(|error| error.map_problems_without_location(at))?;
    let mut options = json!({});
    if let Some(edition) = edition {
        let variants = entry.variants().iter();
        let found = variants
            .clone()
            .find(|variant| variant.name == edition)
            .ok_or_else(|| {
                let names = variants.map(|variant| variant.name);
                at(Problem::unknown_name("edition", edition).with_known_names("editions", names))
            })?;
        options = found.options_value();
    }
    entry.build(&options).map(Some)
}

#[derive(Clone, Debug)]
struct Arms {
    /// The number of calls of each strategy, and the sum of 1/t over these calls \[1/s\], where t is the mean time of a superstep
    /// until the next call.
    results: Vec<(u32, f64)>,
    /// The smallest mean time of a superstep after any call so far \[s\]; infinite before the first result.
    min_superstep_time: f64,
}

impl Arms {
    fn new(count: usize) -> Self {
        Self {
            results: vec![(0, 0.0); count],
            min_superstep_time: f64::INFINITY,
        }
    }

    /// Records `time`, the mean time of a superstep between a call of the strategy `arm` and the next call \[s\].
    fn record_superstep_time(&mut self, arm: usize, time: f64) {
        let time = time.max(f64::MIN_POSITIVE);
        self.min_superstep_time = self.min_superstep_time.min(time);
        self.results[arm].0 += 1;
        self.results[arm].1 += 1.0 / time;
    }

    fn choose_arm(&self) -> usize {
        if let Some(new) = self.results.iter().position(|&(calls, _)| calls == 0) {
            return new;
        }
        let total: u32 = self.results.iter().map(|&(calls, _)| calls).sum();
        strategy::candidate_with_min_key(0..self.results.len(), None, |arm: usize| {
            let (calls, inverse_times) = self.results[arm];
            let reward = self.min_superstep_time * inverse_times / f64::from(calls);
            let bonus = 2.0 * f64::from(total).ln() / f64::from(calls);
            -(reward + bonus.sqrt())
        })
        .unwrap_or(0)
    }
}

#[derive(Debug)]
struct Bandit {
    strategy_names: Vec<String>,
    strategies: Vec<Option<Box<dyn Strategy>>>,
    needs_communication: bool,
    arms: Arms,
    load_window: LoadWindow,
    /// The last call: the index of its strategy, its superstep counted from 0, and the simulated time at which it started \[s\];
    /// `None` before the first call.
    last_call: Option<(usize, usize, f64)>,
}

impl Policy for Bandit {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.load_window.observe(view, self.needs_communication);
        false
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision> {
        let now = view.now.get();
        if let Some((arm, superstep, date)) = self.last_call {
            let supersteps = view.superstep.saturating_sub(superstep).max(1);
            self.arms
                .record_superstep_time(arm, (now - date) / supersteps as f64);
        }
        let arm = self.arms.choose_arm();
        self.last_call = Some((arm, view.superstep, now));
        let strategy = &mut self.strategies[arm];
        let words = format!(
            "the bandit chooses the strategy `{}`, which earlier calls have used {} times",
            self.strategy_names[arm], self.arms.results[arm].0
        );
        let assign = |instance: &Instance<'_>| {
            let mut assignment = match strategy {
                Some(strategy) => strategy.assign(instance, random)?,
                None => Assignment {
                    assigned_hosts: instance.current_hosts.clone(),
                    communication_pattern: Gather::None,
                    ..Assignment::default()
                },
            };
            assignment.remarks.insert(0, words);
            Ok(assignment)
        };
        let needs_communication = self.needs_communication;
        decide_by_assignment(view, &mut self.load_window, needs_communication, assign)
    }

    fn uses_seed(&self) -> bool {
        let mut used = self.strategies.iter().flatten();
        used.any(|one| one.uses_random_numbers())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strategies of some calls, where calls of strategy j are followed by supersteps of the time `times[j]`.
    fn choices(times: &[f64], calls: usize) -> Vec<usize> {
        let mut arms = Arms::new(times.len());
        let mut call = |_| {
            let arm = arms.choose_arm();
            arms.record_superstep_time(arm, times[arm]);
            arm
        };
        (0..calls).map(&mut call).collect()
    }

    #[test]
    fn the_strategy_with_the_best_bound_is_called() {
        // Rewards 1/2 and 1. After 0 and 1 once each both bounds have √(2 ln 2): 1. n = 3: 0.5 + √(2 ln 3) = 1.982 against 1 + √(ln 3) = 2.048: 1.
        // n = 4: 0.5 + √(2 ln 4) = 2.165 against 1 + √(2/3 · ln 4) = 1.961: 0.
        assert_eq!(choices(&[2.0, 1.0], 5), [0, 1, 1, 1, 0]);
        // The paper bounds the calls of a strategy whose reward is less by d: 8 ln n / d² + 1 + π²/3.
        let calls = choices(&[2.0, 1.0], 4000);
        let worse = calls.iter().filter(|&&arm| arm == 0).count() as f64;
        assert!(worse <= 8.0 * 4000.0_f64.ln() / 0.25 + 1.0 + std::f64::consts::PI.powi(2) / 3.0);
    }

    #[test]
    fn strategies_that_do_not_exist_are_refused() {
        for (name, expected) in [
            ("greedier", "unknown strategy `greedier`"),
            ("greedy/charm-7", "unknown edition `charm-7`"),
        ] {
            let options = BanditOptions {
                strategies: vec![name.into()],
            };
            let error = options.policy().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let none = BanditOptions {
            strategies: Vec::new(),
        };
        assert!(none.policy().is_err());
        let gossip = BanditOptions {
            strategies: vec!["inform-and-transfer/gossip".into()],
        };
        assert!(
            gossip.policy().unwrap().uses_seed()
                && !BanditOptions::default().policy().unwrap().uses_seed()
        );
    }
}
