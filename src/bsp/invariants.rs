//! What must hold of every superstep and every run, whatever is simulated. A break is a fault of this program: it stops the run with
//! [`Error::Broken`], which names the superstep and the process and carries what is needed to look into it.
//!
//! ```text
//! always                  dates: start(k-1) <= start(k) <= computed(k) <= end(k)
//!                         each message is delivered once; nobody waits for one when the barrier opens
//!                         placement(end) = placement(start) and the migrations in their order; every host exists
//!                         what a policy says of its own state ([`Policy::fault`]): of MigBSP α >= 1, 0 <= D < ∞
//!                         the terms of a ledger add up to its difference (see [`crate::experiment`])
//! with debug assertions   no process computes faster than its host:          compute(p) >= work(p) / speed
//!   (in all tests)        no host does more than its cores can:     Σ work(p on h) <= cores · speed · longest(h)
//!                         no link carries more than its capacity:   Σ bytes over l <= factor · capacity · duration
//!                         the engine's own sums ([`Simulation::fault`])
//! ```
//! with durations to within what two dates can be apart and yet are one: next to 1e6 s a microsecond is hardly told from nothing.
//! The bounds of hosts and links follow from the plan and what was measured alone, however the superstep was simulated: by events, at once
//! or from memory. They hold for hosts and links that do not vary.
//!
//! [`Policy::fault`]: crate::policy::Policy::fault
//! [`Simulation::fault`]: crate::engine::Simulation::fault

use serde_json::{Map, Value, json};

use super::runtime::Runtime;
use crate::engine::DATE_SLACK;
use crate::error::{Broken, Error};
use crate::policy::refill;
use crate::units::{HostId, Time};

/// Rounding that sums of many numbers may have (relative).
const ROUNDING: f64 = 1.0 + 1e-6;
/// So many processes and messages are written into a dump; it says how many there were.
const MOST_DUMPED: usize = 100_000;

impl Runtime<'_, '_> {
    /// Checks the superstep whose barrier has just opened.
    pub(super) fn check_superstep(&mut self) -> Result<(), Error> {
        let dates = self.outcome.supersteps[self.superstep()];
        let before = self.superstep().checked_sub(1);
        let began = before.map_or(Time::ZERO, |before| self.outcome.supersteps[before].start);
        let now = self.engine.now();
        // A date by adding may be a rounding later than the same date by the clock.
        let is_in_order = |a: Time, b: Time| a.get() <= b.get() * (1.0 + 1e-12);
        let dates_rise = is_in_order(began, dates.start)
            && is_in_order(dates.start, dates.computed)
            && is_in_order(dates.computed, now);
        if !dates_rise {
            let what = format!(
                "its dates are {began}, {}, {}, {now}",
                dates.start, dates.computed
            );
            return Err(self.broken(None, &format!("time went back: {what}")));
        }
        if self.passed_by_events()
            && let Some(process) = self.exchange.awaited.iter().position(|&left| left != 0)
        {
            let what = "its barrier opened before all messages for it were delivered";
            return Err(self.broken(Some(process), what));
        }
        if cfg!(debug_assertions) {
            let mut sums = std::mem::take(&mut self.sums);
            self.check_hosts(&mut sums)?;
            self.check_links(&mut sums)?;
            self.sums = sums;
            let fault = self.engine.fault();
            if let Some(fault) = fault.or_else(|| self.at_once.fault(self.setup.platform)) {
                return Err(self.broken(None, &fault));
            }
        }
        Ok(())
    }

    /// Checks a run that is over.
    pub(super) fn check_run(&self) -> Result<(), Error> {
        if let Some(fault) = self.engine.fault() {
            return Err(self.broken(None, &fault));
        }
        let mut placement = self.setup.placement.to_vec();
        for moved in &self.outcome.migrations {
            let process = moved.process.index();
            if placement[process] != moved.from {
                let what = "it left a host where it was not";
                return Err(self.broken(Some(process), what));
            }
            placement[process] = moved.to;
        }
        let differs = |process: &usize| placement[*process] != self.placement[*process];
        match (0..placement.len()).find(differs) {
            Some(process) => Err(self.broken(Some(process), "its migrations lead to another host")),
            None => Ok(()),
        }
    }

    /// How near two dates of the superstep at hand must be to be one \[s\]: what is done in less has no duration.
    fn resolution(&self) -> f64 {
        DATE_SLACK * self.engine.local_now() + f64::MIN_POSITIVE
    }

    /// The cycles of the computation of a process.
    fn cycles(&self, process: usize) -> f64 {
        self.plan.work[process].get() * self.setup.workload.cycles_per_instruction()
    }

    /// No process computes faster than its host can, and all of a host not faster than its cores.
    fn check_hosts(&self, sums: &mut Vec<(f64, f64)>) -> Result<(), Error> {
        let hosts = &self.setup.platform.hosts;
        // Per host: what is done there, and until when.
        refill(sums, hosts.len(), (0.0, 0.0));
        let resolution = self.resolution();
        for (process, &HostId(at)) in self.placement.iter().enumerate() {
            let host = &hosts[at as usize];
            let cycles = self.cycles(process);
            let compute = self.measures.compute[process].get() + resolution;
            if !host.varies() && cycles > host.speed.get() * compute * ROUNDING {
                let what = format!("it computed faster than host `{}` can", host.name);
                return Err(self.broken(Some(process), &what));
            }
            let delay = self
                .measures
                .delay
                .get(process)
                .map_or(0.0, |delay| delay.get());
            let (sum, until) = &mut sums[at as usize];
            (*sum, *until) = (*sum + cycles, until.max(delay + compute));
        }
        for (host, &(sum, until)) in hosts.iter().zip(&*sums) {
            let most = f64::from(host.cores) * host.speed.get() * until;
            if !host.varies() && sum > most * ROUNDING {
                let what = format!("host `{}` did more than its cores can", host.name);
                return Err(self.broken(None, &what));
            }
        }
        Ok(())
    }

    /// No link carried more in this superstep than it can in the time that the superstep took.
    fn check_links(&self, sums: &mut Vec<(f64, f64)>) -> Result<(), Error> {
        let (platform, network) = (self.setup.platform, self.setup.network);
        if !network.sharing {
            return Ok(());
        }
        let duration = self.duration() + self.resolution();
        // Per link: the bytes.
        refill(sums, platform.links.len(), (0.0, 0.0));
        let has_events = self.passed_by_events();
        for (index, message) in self.plan.messages.iter().enumerate() {
            let (from, to) = if has_events {
                self.exchange.ends()[index]
            } else {
                (
                    self.placement[message.from.index()],
                    self.placement[message.to.index()],
                )
            };
            if from == to {
                continue;
            }
            if let Some(route) = platform.route(from, to) {
                route
                    .links()
                    .for_each(|link| sums[link.index()].0 += message.size.get());
            }
        }
        for (link, &(bytes, _)) in platform.links.iter().zip(&*sums) {
            let most = link.bandwidth.get() * network.bandwidth_factor * duration;
            let is_checked = link.is_shared && !link.varies();
            if is_checked && bytes > most * ROUNDING {
                let what = format!("link `{}` carried more than its capacity", link.name);
                return Err(self.broken(None, &what));
            }
        }
        Ok(())
    }

    /// The error of a fault of ours in the superstep at hand, with all that is needed to look into it.
    pub(super) fn broken(&self, process: Option<usize>, what: &str) -> Error {
        let superstep = self.superstep() + 1;
        let place = match process {
            Some(process) => format!("superstep {superstep}, process {}", process + 1),
            None => format!("superstep {superstep}"),
        };
        let host = |at: &HostId| self.setup.platform.hosts[at.index()].name.as_str();
        let messages = self.plan.messages.iter().take(MOST_DUMPED);
        let messages = messages.map(|message| {
            let (from, to) = (message.from.index() + 1, message.to.index() + 1);
            json!([from, to, message.size.get()])
        });
        let numbers = |list: &[crate::units::Seconds]| -> Value {
            list.iter()
                .take(MOST_DUMPED)
                .map(|time| time.get())
                .collect()
        };
        let mut dump = Map::new();
        let mut put = |key: &str, value: Value| dump.insert(key.to_owned(), value);
        put("fault", json!(what));
        put("superstep", json!(superstep));
        put("process", json!(process.map(|process| process + 1)));
        put("date_s", json!(self.engine.now().get()));
        put("scenario", json!(self.setup.scenario.name()));
        put("seed", json!(self.setup.seed));
        put("processes", json!(self.placement.len()));
        put("messages", json!(self.plan.messages.len()));
        let placement = self.placement.iter().take(MOST_DUMPED).map(host);
        put("placement", placement.collect());
        let work = self
            .plan
            .work
            .iter()
            .take(MOST_DUMPED)
            .map(|work| work.get());
        put("work", work.collect());
        put("message", messages.collect());
        put("compute_s", numbers(&self.measures.compute));
        put("communication_s", numbers(&self.measures.communication));
        Error::Broken(Box::new(Broken::new(what, &place, dump)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsp::{Costs, MigrationRecord, RuntimeConfig, Scenario, Setup};
    use crate::engine::NetworkModel;
    use crate::engine::testing::line;
    use crate::policy::Never;
    use crate::units::{Bytes, Instructions, ProcessId, Seconds};
    use crate::workload::{Message, Plan, Workload};

    /// Two processes that compute 1e9 each, and send each other 1e6 B, twice.
    #[derive(Debug)]
    struct Two;

    impl Workload for Two {
        fn processes(&self) -> usize {
            2
        }
        fn supersteps(&self) -> usize {
            2
        }
        fn fill(&self, _superstep: usize, plan: &mut Plan) {
            plan.work.fill(Instructions::of(1e9));
            for (from, to) in [(0, 1), (1, 0)] {
                plan.messages.push(Message {
                    from: ProcessId(from),
                    to: ProcessId(to),
                    size: Bytes::of(1e6),
                });
            }
        }
        fn memory(&self, _process: ProcessId) -> Bytes {
            Bytes::default()
        }
    }

    /// The message of the check that fails when `change` is made to a run that has opened its first barrier at 3 s; nothing if none does.
    fn fault(change: impl FnOnce(&mut Runtime<'_, '_>)) -> Option<String> {
        // 1 s of computation, and 2e6 B over each link of 1 MB/s: 2 s.
        let platform = line(&[1e9, 1e9], 1e6, 0.0);
        let setup = Setup {
            platform: &platform,
            network: NetworkModel::default(),
            workload: &Two,
            placement: &[HostId(0), HostId(1)],
            runtime: RuntimeConfig::default(),
            costs: Costs::default(),
            scenario: Scenario::I,
            seed: 1,
            remembered: None,
        };
        let mut ignored = ();
        let mut runtime = Runtime::new(&setup, Box::new(Never {}), &mut ignored);
        runtime.open(0);
        runtime.begin_all().expect("routes are there");
        let dates = &mut runtime.outcome.supersteps[0];
        dates.computed = dates.start + Seconds::of(1.0);
        change(&mut runtime);
        let checked = runtime.check_superstep().and_then(|()| runtime.check_run());
        let Err(Error::Broken(broken)) = checked else {
            assert_eq!(checked, Ok(()));
            return None;
        };
        assert_eq!(broken.dump["superstep"], 1);
        assert_eq!(broken.dump["message"].as_array().map(Vec::len), Some(2));
        Some(broken.problem.to_string())
    }

    fn breaks(what: &str, change: impl FnOnce(&mut Runtime<'_, '_>)) {
        let told = fault(change).unwrap_or_default();
        assert!(told.contains(what), "`{told}` does not tell `{what}`");
    }

    #[test]
    fn a_run_as_it_is_breaks_nothing() {
        assert_eq!(fault(|_| ()), None);
    }

    #[test]
    fn dates_that_fall_stop_a_run() {
        breaks("time went back", |run| {
            run.outcome.supersteps[0].start = Time::new(2.0).unwrap();
        });
        breaks("time went back", |run| {
            run.outcome.supersteps[0].computed = Time::new(3.5).unwrap();
        });
    }

    #[test]
    fn a_computation_faster_than_its_host_stops_a_run() {
        breaks("process 2\n", |run| {
            run.measures.compute[1] = Seconds::of(0.999);
        });
        // Both on one host of one core: each may take 1 s, but not both.
        breaks("host `h0` did more than its cores can", |run| {
            run.placement[1] = HostId(0);
        });
    }

    #[test]
    fn more_bytes_than_a_link_can_carry_stop_a_run() {
        breaks("link `l0` carried more", |run| {
            run.plan.messages[0].size = Bytes::of(3.1e6);
        });
    }

    #[test]
    fn a_process_that_is_not_where_its_migrations_lead_stops_a_run() {
        let moved = |from: u32, to: u32| MigrationRecord {
            superstep: 0,
            process: ProcessId(1),
            from: HostId(from),
            to: HostId(to),
            size: Bytes::default(),
            start: Time::ZERO,
            end: Time::ZERO,
            cause: crate::bsp::Cause::Policy,
        };
        breaks("it left a host where it was not", |run| {
            run.outcome.migrations.push(moved(0, 1));
        });
        breaks("its migrations lead to another host", |run| {
            run.outcome.migrations.push(moved(1, 0));
        });
    }
}
