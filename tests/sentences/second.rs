//! A second, small implementation of the quantities in the sentences, from the raw records of a run and the definitions.

use migsim::bsp::{Recorder, RunOutcome, Scenario};
use migsim::output::{RecordedCall, Run, ScenarioRecords};
use migsim::policy::Measures;
use migsim::units::HostId;
use serde_json::Value;

/// The times of each process in each superstep: delay, computation, sends [s].
#[derive(Debug, Default)]
pub(crate) struct Watched(pub(crate) Vec<Vec<[f64; 3]>>);

impl Recorder for Watched {
    fn on_superstep(&mut self, _superstep: usize, measures: &Measures, _placement: &[HostId]) {
        let own = |process: usize| {
            [
                &measures.begin_delays,
                &measures.computation_times,
                &measures.send_times,
            ]
            .map(|list| list[process].get())
        };
        self.0
            .push((0..measures.computation_times.len()).map(own).collect());
    }
}

/// The raw data about a call.
#[derive(Debug)]
pub(crate) struct Raw<'a> {
    pub(crate) run: &'a Run,
    pub(crate) this: &'a ScenarioRecords,
    pub(crate) call: &'a RecordedCall,
    /// Options of the policy.
    pub(crate) options: &'a Value,
    /// The same run without the moves of the call, up to the next call; none if it was not repeated.
    pub(crate) without: Option<&'a RunOutcome>,
    pub(crate) watched: &'a Watched,
    /// The outcome of the run itself.
    pub(crate) with: &'a RunOutcome,
}

/// PM(i,j) of a record.
#[derive(Clone, Debug)]
struct Pm {
    process: u64,
    cluster: String,
    is_there: bool,
    terms: [f64; 3],
}

impl Pm {
    fn value(&self) -> f64 {
        self.terms[0] + self.terms[1] - self.terms[2]
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

impl Raw<'_> {
    fn list(&self, key: &str) -> &[Value] {
        self.call
            .explanation
            .get(key)
            .and_then(Value::as_array)
            .map_or(&[], |list| list)
    }

    fn potentials(&self) -> Vec<Pm> {
        let one = |entry: &Value| Pm {
            process: entry["process"].as_u64().unwrap(),
            cluster: entry["cluster"].as_str().unwrap().to_owned(),
            is_there: entry["is_there"].as_bool().unwrap(),
            terms: ["compute_s", "communication_s", "memory_s"]
                .map(|key| entry[key].as_f64().unwrap()),
        };
        let list = self.list("potentials").iter();
        // The entries of the edition authors-2015 have other terms, and no sentences.
        list.filter(|entry| entry["potential_s"].is_number() && entry["is_there"].is_boolean())
            .map(one)
            .collect()
    }

    /// Lists the best cluster of each process, and the first of equal ones.
    fn best(&self) -> Vec<Pm> {
        let mut best: Vec<Pm> = Vec::new();
        for pm in self.potentials() {
            match best.iter_mut().find(|known| known.process == pm.process) {
                Some(known) if pm.value() > known.value() => *known = pm,
                Some(_) => {}
                None => best.push(pm),
            }
        }
        best
    }

    fn elsewhere(&self) -> Option<f64> {
        let best = self.best();
        let away = best.iter().filter(|pm| !pm.is_there).map(Pm::value);
        away.reduce(f64::max)
    }

    fn threshold(&self) -> Option<f64> {
        let highest = self.elsewhere()?;
        let x = self.options["x"].as_f64()?;
        Some(if highest > 0.0 {
            x * highest
        } else {
            highest - (1.0 - x) * highest.abs()
        })
    }

    /// Lists the candidates by the rule "more than x of the highest", if the policy uses that rule.
    pub(crate) fn candidates(&self) -> Option<Vec<u64>> {
        let is_rule = self.options["heuristic"] == "one" && self.options["x_of"] == "of-maximum";
        let highest = self.elsewhere().filter(|_| is_rule)?;
        if highest <= 0.0 && self.options["only_positive"] == true {
            return Some(Vec::new());
        }
        let threshold = self.threshold()?;
        let best = self.best();
        let above = best
            .iter()
            .filter(|pm| !pm.is_there && pm.value() > threshold * (1.0 + 1e-12));
        let mut above: Vec<u64> = above.map(|pm| pm.process).collect();
        above.sort_unstable();
        Some(above)
    }

    fn weighed(&self, process: u64) -> Option<&Value> {
        self.list("weighed")
            .iter()
            .find(|entry| entry["process"] == process)
    }

    fn part(&self, process: u64, key: &str) -> Option<f64> {
        self.weighed(process)?[key].as_f64()
    }

    /// Computes t1, or t2, from its parts.
    fn time(&self, process: u64, keys: [&str; 2], once: &[&str]) -> Option<f64> {
        let part = |key: &str| self.part(process, key);
        let steps = part("supersteps")? * (part(keys[0])? + part(keys[1])?);
        let once: Option<Vec<f64>> = once.iter().map(|key| part(key)).collect();
        Some(steps + once?.iter().sum::<f64>())
    }

    fn stay(&self, process: u64) -> Option<f64> {
        self.time(process, ["stay_compute_s", "stay_communication_s"], &[])
    }

    fn go(&self, process: u64) -> Option<f64> {
        let once = ["go_transfer_s", "go_operations_s"];
        self.time(process, ["go_compute_s", "go_communication_s"], &once)
    }

    /// Returns the last superstep before the next call, or the last one of the run.
    pub(crate) fn until(&self) -> u64 {
        let after = |call: &&RecordedCall| call.superstep > self.call.superstep;
        let next = self.this.calls.iter().find(after);
        next.map_or(self.this.supersteps.len() as u64, |next| next.superstep)
    }

    fn ahead(&self) -> f64 {
        (self.until() - self.call.superstep) as f64
    }

    fn end(&self, superstep: u64) -> f64 {
        self.this.supersteps[index(superstep) - 1].end_s
    }

    /// Computes the number of supersteps since the previous call, their mean time, and the gain per superstep that the policy predicts.
    fn predicted(&self) -> (f64, f64) {
        let before = |call: &&RecordedCall| call.superstep < self.call.superstep;
        let since = self
            .this
            .calls
            .iter()
            .rev()
            .find(before)
            .map_or(0, |call| call.superstep);
        let rows = &self.this.supersteps[index(since)..index(self.call.superstep)];
        let count = rows.len() as f64;
        let mean = (rows[rows.len() - 1].end_s - rows[0].start_s) / count;
        let mut gain = 0.0;
        for superstep in index(since)..index(self.call.superstep) {
            let longest = |with: bool| {
                let times = self.watched.0[superstep].iter().zip(1..);
                let time = |([delay, compute, send], process): (&[f64; 3], u64)| {
                    let [computation, sends] = if with {
                        self.factors(process)
                    } else {
                        [1.0; 2]
                    };
                    delay + compute * computation + send * sends
                };
                times.map(time).fold(0.0, f64::max)
            };
            gain += longest(false) - longest(true);
        }
        (mean, gain / count)
    }

    /// Computes t2 / t1 of a superstep for a process that moves: of its computation and of its sends.
    fn factors(&self, process: u64) -> [f64; 2] {
        if self
            .call
            .migrations
            .iter()
            .all(|one| one.process != process)
        {
            return [1.0; 2];
        }
        let ratio = |go: Option<f64>, stay: Option<f64>| match (go, stay) {
            (Some(go), Some(stay)) if stay > 0.0 => go / stay,
            _ => 1.0,
        };
        if self.weighed(process).is_none() {
            let one = self
                .call
                .candidates
                .iter()
                .find(|one| one.process == process);
            return [one.map_or(1.0, |one| ratio(one.go_s, one.stay_s)); 2];
        }
        let part = |key: &str| self.part(process, key);
        [
            ratio(part("go_compute_s"), part("stay_compute_s")),
            ratio(part("go_communication_s"), part("stay_communication_s")),
        ]
    }

    /// Computes the time for which the moves delayed the run.
    fn price(&self) -> f64 {
        let call = self
            .with
            .calls
            .iter()
            .find(|call| call.superstep as u64 + 1 == self.call.superstep);
        call.map_or(0.0, |call| {
            call.application_delayed_until.get() - call.waiting_period.until.get()
        })
    }

    fn realised_with(&self) -> f64 {
        let call = self
            .with
            .calls
            .iter()
            .find(|call| call.superstep as u64 + 1 == self.call.superstep);
        self.end(self.until()) - call.unwrap().application_delayed_until.get()
    }

    fn realised_without(&self) -> Option<f64> {
        let without = self.without?;
        let call = without
            .calls
            .iter()
            .find(|call| call.superstep as u64 + 1 == self.call.superstep);
        let end = without.supersteps[index(self.until()) - 1].end.get();
        Some(end - call.unwrap().application_delayed_until.get())
    }

    fn gain(&self) -> Option<f64> {
        Some(self.realised_without()? - self.realised_with())
    }

    fn votes(&self, letter: char) -> Option<f64> {
        let votes = self.call.explanation.get("votes")?.as_str()?;
        Some(votes.chars().filter(|vote| *vote == letter).count() as f64)
    }

    /// Computes the quantity `name` of a sentence about a process and a cluster, if it is known here.
    pub(crate) fn value(&self, name: &str, process: u64, cluster: &str) -> Option<f64> {
        self.selection(name, process, cluster)
            .or_else(|| self.placement(name, process))
            .or_else(|| self.outcome(name))
    }

    fn selection(&self, name: &str, process: u64, cluster: &str) -> Option<f64> {
        let all = self.potentials();
        let pm = || {
            all.iter()
                .find(|pm| pm.process == process && pm.cluster == cluster)
        };
        let best = self.best();
        let own = best.iter().find(|pm| pm.process == process).map(Pm::value);
        match name {
            "potential_s" => Some(pm()?.value()),
            "potential_compute_s" => Some(pm()?.terms[0]),
            "potential_communication_s" => Some(pm()?.terms[1]),
            "potential_memory_s" => Some(pm()?.terms[2]),
            "highest_elsewhere_s" => self.elsewhere(),
            "highest_potential_s" => best.iter().map(Pm::value).reduce(f64::max),
            "threshold_s" => self.threshold(),
            "below_threshold_s" => Some(self.threshold()? - own?),
            "below_zero_s" => Some(-own?),
            "x" => self.options["x"].as_f64(),
            "higher_at_home" => {
                let highest = self.elsewhere()?;
                let higher = best.iter().filter(|pm| pm.is_there && pm.value() > highest);
                Some(higher.count() as f64)
            }
            "rank" => {
                let own = own?;
                let ahead =
                    |pm: &&Pm| pm.value() > own || pm.value() == own && pm.process < process;
                Some(best.iter().filter(ahead).count() as f64 + 1.0)
            }
            "ranked" => Some(best.len() as f64),
            "stable" => self.votes('+'),
            "unstable" => self.votes('-'),
            "not_judged" => self.votes('.'),
            _ => None,
        }
    }

    fn placement(&self, name: &str, process: u64) -> Option<f64> {
        match name {
            "t1_s" => self.stay(process),
            "t2_s" => self.go(process),
            "t1_minus_t2_s" => Some(self.stay(process)? - self.go(process)?),
            "t2_minus_t1_s" => Some(self.go(process)? - self.stay(process)?),
            "t2_price_s" => {
                Some(self.part(process, "go_transfer_s")? + self.part(process, "go_operations_s")?)
            }
            "slowdown_own" => {
                // The value is (r + 1) / c; the factor with the harm to the r residents of c cores is (2 r + 1) / c.
                let residents = self.part(process, "residents")?;
                let slowdown = self.part(process, "slowdown")?;
                Some(slowdown * (residents + 1.0) / (2.0 * residents + 1.0))
            }
            "slowdown_inflicted" => {
                let residents = self.part(process, "residents")?;
                Some(self.part(process, "slowdown")? * residents / (2.0 * residents + 1.0))
            }
            _ => None,
        }
    }

    fn outcome(&self, name: &str) -> Option<f64> {
        let rate = || Some(self.gain()? / self.ahead());
        match name {
            "call_cost_s" => Some(self.call.cost_s),
            "migration_s" => Some(self.call.migration_s),
            "migrations" => {
                let moved =
                    self.this.migrations.iter().filter(|one| {
                        one.cause == "policy" && one.superstep == self.call.superstep
                    });
                Some(moved.count() as f64)
            }
            "migrations_decided" => Some(self.call.migrations.len() as f64),
            "predicted_without_s" => Some(self.ahead() * self.predicted().0),
            "predicted_with_s" => {
                let (mean, gain) = self.predicted();
                Some(self.ahead() * (mean - gain).max(0.0))
            }
            "predicted_gain_s" => {
                let (mean, gain) = self.predicted();
                Some(self.ahead() * gain.min(mean))
            }
            "predicted_loss_s" => Some(-self.ahead() * self.predicted().1),
            "realised_with_s" => Some(self.realised_with()),
            "realised_without_s" => self.realised_without(),
            "realised_gain_s" => self.gain(),
            "realised_loss_s" => Some(-self.gain()?),
            "price_s" => Some(self.price()),
            "gain_per_superstep_s" => rate(),
            "loss_per_superstep_s" => Some(-rate()?),
            "break_even_supersteps" => Some((self.price() / rate()?).ceil()),
            "supersteps_left" => {
                Some(self.this.supersteps.len() as f64 - self.call.superstep as f64)
            }
            "net_gain_s" => Some(self.gain()? - self.price()),
            "net_loss_s" => Some(self.price() - self.gain()?),
            "t1_minus_t2_sum_s" => {
                let accepted = self.call.candidates.iter().filter(|one| one.accepted);
                Some(
                    accepted
                        .filter_map(|one| Some(one.stay_s? - one.go_s?))
                        .sum(),
                )
            }
            _ => None,
        }
    }

    /// Computes the gain on scenario i until the next call.
    pub(crate) fn gain_on_i(&self) -> Option<f64> {
        let base = self.run.scenario(Scenario::I)?;
        let took = |run: &ScenarioRecords| -> f64 {
            let rows = &run.supersteps[index(self.call.superstep)..index(self.until())];
            rows.iter().map(|row| row.end_s - row.start_s).sum()
        };
        Some(took(base) - took(self.this))
    }
}

/// Computes the quantities of an overview and of the verdict of a report.
pub(crate) fn of_run(run: &Run, this: &ScenarioRecords, name: &str) -> Option<f64> {
    let base = run.scenario(Scenario::I)?.makespan_s;
    let percent = 100.0 * (base - this.makespan_s) / base;
    let calls = this.calls.len() as f64;
    let cost: f64 = this.calls.iter().map(|call| call.cost_s).sum();
    let moves: f64 = this.calls.iter().map(|call| call.migration_s).sum();
    let happens = |call: &&RecordedCall| call.applied || this.scenario == Scenario::Ii;
    let done = || {
        this.calls
            .iter()
            .filter(happens)
            .map(|call| call.migrations.len())
    };
    match name {
        "calls" => Some(calls),
        "moving_calls" => Some(done().filter(|count| *count > 0).count() as f64),
        "moved" => Some(done().sum::<usize>() as f64),
        "migrations_of_run" => Some(this.migrations.len() as f64),
        "scheduling_s" => Some(cost),
        "mean_call_cost_s" => Some(cost / calls),
        "migration_s" => Some(moves),
        "cost_s" => Some(cost + moves),
        "less_than_i_percent" | "gain_percent" => Some(percent),
        "more_than_i_percent" | "loss_percent" | "overhead_percent" => Some(-percent),
        _ => None,
    }
}
