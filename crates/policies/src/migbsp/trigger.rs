//! The trigger of MigBSP: the interval of α supersteps between calls and its two adaptations (2007 paper, algorithm 1 and
//! equations 1-2; LU paper, section 2).
//!
//! After each superstep, α' (the length of the next interval) increases by 1 if the system is stable, that is, if the times T of
//! the processes satisfy `min T > avg·(1-D)` and `max T < avg·(1+D)`, and decreases by 1 otherwise. A call takes place α
//! supersteps after the previous call; then α := α'. After ω calls in a row without migration the tolerance D grows, so that more
//! supersteps pass the test and calls become rare.

use serde::Serialize;

use super::config::{
    CallingSuperstep, FirstTest, Floor, Horizon, MigBspConfig, Population, ProcessTime,
    ToleranceGrowth,
};
use crate::View;

#[derive(Clone, Debug)]
pub(crate) struct MigBspTrigger {
    /// The number α of supersteps of the present interval between calls.
    alpha: u64,
    /// The number α' of supersteps of the next interval between calls, as it follows from the supersteps so far.
    next_alpha: u64,
    supersteps_since_call: u64,
    /// D, the present tolerance of the stability test as a share of the mean time.
    tolerance: f64,
    calls_without_migration: u32,
    stability_test_count: u64,
    /// The results of the stability tests in the present interval, one character per superstep: `+` stable, `-` unstable, `.` not
    /// tested. Only the first 64 are stored.
    stability_test_results: String,
    postponed_test_result: Option<char>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct IntervalRecord {
    pub(crate) alpha: u64,
    pub(crate) next_alpha: u64,
    #[serde(rename = "d")]
    pub(crate) tolerance: f64,
    #[serde(rename = "quiet_calls")]
    pub(crate) calls_without_migration: u32,
    #[serde(rename = "votes")]
    pub(crate) stability_test_results: String,
}

impl MigBspTrigger {
    pub(crate) fn new(config: &MigBspConfig) -> Self {
        let alpha = u64::from(config.alpha);
        Self {
            alpha,
            next_alpha: alpha,
            supersteps_since_call: 0,
            tolerance: config.d,
            calls_without_migration: 0,
            stability_test_count: 0,
            stability_test_results: String::new(),
            postponed_test_result: None,
        }
    }

    /// Returns α, the number of supersteps of the present interval between calls.
    pub(crate) fn alpha(&self) -> u64 {
        self.alpha
    }

    /// Returns the number of supersteps over which predicted times are added up.
    pub(crate) fn supersteps_of(&self, horizon: Horizon, view: &View<'_>) -> f64 {
        match horizon {
            Horizon::Superstep => 1.0,
            Horizon::NextInterval => self.next_alpha as f64,
            Horizon::Rest => view.total_supersteps.saturating_sub(view.superstep + 1) as f64,
        }
    }

    /// Tests the stability of the superstep that has just ended, updates α', and returns whether a rescheduling call is due now.
    pub(crate) fn observe(&mut self, config: &MigBspConfig, view: &View<'_>) -> bool {
        let vote = self.test_superstep_stability(config, view);
        self.advance_superstep(config, vote)
    }

    /// Returns whether no rescheduling call will take place in the remaining `left` supersteps of the run, because the present
    /// interval ends later.
    pub(crate) fn is_without_further_calls(&self, left: usize) -> bool {
        self.supersteps_since_call + (left as u64) < self.alpha
    }

    /// Tests the stability of a superstep from the minimum, mean and maximum of the times of hosts \[s\], updates α', and returns
    /// whether a call is due now.
    pub(super) fn observe_host_times(&mut self, config: &MigBspConfig, times: [f64; 3]) -> bool {
        let vote = self.test_stability_of_times(config, times);
        self.advance_superstep(config, vote)
    }

    fn advance_superstep(&mut self, config: &MigBspConfig, vote: char) -> bool {
        self.supersteps_since_call += 1;
        let is_due = self.supersteps_since_call >= self.alpha;
        if is_due && config.calling_superstep == CallingSuperstep::After {
            self.postponed_test_result = Some(vote);
        } else {
            self.apply_test_result(config, vote);
        }
        is_due
    }

    pub(crate) fn interval_record(&self) -> IntervalRecord {
        IntervalRecord {
            alpha: self.alpha,
            next_alpha: self.next_alpha,
            tolerance: self.tolerance,
            calls_without_migration: self.calls_without_migration,
            stability_test_results: self.stability_test_results.clone(),
        }
    }

    pub(crate) fn finish_call(&mut self, config: &MigBspConfig, migrations: usize) {
        if migrations == 0 {
            self.next_alpha = self.next_interval_length(config, migrations);
            self.calls_without_migration += 1;
            self.grow_tolerance(config);
        } else {
            self.calls_without_migration = 0;
        }
        self.alpha = self.next_alpha;
        self.supersteps_since_call = 0;
        self.stability_test_results.clear();
        if let Some(vote) = self.postponed_test_result.take() {
            self.apply_test_result(config, vote);
        }
    }

    /// Returns a description of the error if the state of the trigger is invalid, else `None`. In a valid state α and α' are at
    /// least 1, and the tolerance D is finite and not negative.
    pub(crate) fn describe_invalid_state(&self) -> Option<String> {
        let (alpha, next, d) = (self.alpha, self.next_alpha, self.tolerance);
        let is_right = alpha >= 1 && next >= 1 && (0.0..f64::INFINITY).contains(&d);
        (!is_right).then(|| format!("α = {alpha}, α' = {next} or D = {d} is out of range"))
    }

    /// Returns the number of supersteps of the next interval if the present call decides `migrations` migrations: α', or twice α
    /// if the rule for calls without migration applies.
    pub(crate) fn next_interval_length(&self, config: &MigBspConfig, migrations: usize) -> u64 {
        let is_quiet = migrations == 0 && self.calls_without_migration + 1 >= config.omega;
        if is_quiet && config.d_growth == ToleranceGrowth::DoubleAlpha {
            2 * self.alpha
        } else {
            self.next_alpha
        }
    }

    /// Lets D grow at the ω-th call in a row without migration, and at each further call in this row.
    fn grow_tolerance(&mut self, config: &MigBspConfig) {
        let is_due = self.calls_without_migration >= config.omega;
        if is_due && config.d_growth == ToleranceGrowth::Multiply {
            let grown = self.tolerance * config.d_factor;
            // Beyond this value every superstep is stable; the limit also keeps D finite.
            self.tolerance = grown.min(self.tolerance.max(1e9));
        }
    }

    /// Tests whether the superstep that has just ended was stable, from the times of the processes that the options select.
    fn test_superstep_stability(&mut self, config: &MigBspConfig, view: &View<'_>) -> char {
        let measures = view.measurements;
        let (mut count, mut sum, mut least, mut largest) = (0_u64, 0.0, f64::INFINITY, 0.0_f64);
        for process in 0..view.processes() {
            let takes_part = match config.population {
                Population::All => true,
                Population::Computing => measures.work[process].get() > 0.0,
                Population::Receiving => {
                    let mut traffic = measures.traffic.iter_clusters_of_process(process);
                    traffic.any(|(_, traffic)| traffic.receive_time.get() > 0.0)
                }
            };
            if !takes_part {
                continue;
            }
            let compute = measures.computation_times[process].get();
            let time = compute
                + match config.process_time {
                    ProcessTime::Compute => 0.0,
                    ProcessTime::ComputeAndSend => measures.send_times[process].get(),
                    ProcessTime::ComputeAndCommunicate => {
                        measures.communication_times[process].get()
                    }
                };
            count += 1;
            sum += time;
            // No value is NaN, so that this equals `min` and `max`, with fewer instructions.
            least = if time < least { time } else { least };
            largest = if time > largest { time } else { largest };
        }
        if count == 0 {
            return '.';
        }
        self.test_stability_of_times(config, [least, sum / count as f64, largest])
    }

    /// Returns the result of the stability test for the minimum, the mean and the maximum time \[s\]. The superstep is stable if
    /// minimum and maximum deviate from the mean by less than the share D.
    fn test_stability_of_times(
        &mut self,
        config: &MigBspConfig,
        [least, average, largest]: [f64; 3],
    ) -> char {
        self.stability_test_count += 1;
        let is_stable =
            least > average * (1.0 - self.tolerance) && largest < average * (1.0 + self.tolerance);
        if is_stable || (self.stability_test_count == 1 && config.first_test == FirstTest::Stable) {
            '+'
        } else {
            '-'
        }
    }

    fn apply_test_result(&mut self, config: &MigBspConfig, vote: char) {
        let floor = match config.floor {
            Floor::One => 1,
            Floor::Initial => u64::from(config.alpha),
        };
        match vote {
            '+' => self.next_alpha += 1,
            '-' => self.next_alpha = (self.next_alpha - 1).max(floor),
            _ => {}
        }
        // A long stable run has intervals of thousands of supersteps, so the record keeps only the first votes.
        if self.stability_test_results.len() < 64 {
            self.stability_test_results.push(vote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, Policy, testing::test_view};
    use migsim_base::units::{Instructions, Seconds};

    /// Returns the vote of a superstep of three processes on `lbm` that computed for 1 s each: p1 received nothing and sent for 9 s, p2 and
    /// p3 received for 2 s.
    fn vote(population: Population, process_time: ProcessTime, d: f64) -> char {
        voted(population, process_time, d, 2.0)
    }

    /// Returns the same if p2 and p3 received for `received` seconds.
    fn voted(population: Population, process_time: ProcessTime, d: f64, received: f64) -> char {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let mut measures = Measures::default();
        measures.clear(3);
        measures.work.fill(Instructions::of(1e9));
        measures.computation_times.fill(Seconds::of(1.0));
        measures.send_times[0] = Seconds::of(9.0);
        for process in [1, 2] {
            measures.communication_times[process] = Seconds::of(received);
            measures.traffic_mut(process, 0).receive_time = Seconds::of(received);
        }
        let view = test_view(&platform, &[migsim_base::units::HostId(0); 3], &measures);
        let config = MigBspConfig {
            d,
            population,
            process_time,
            ..MigBspConfig::default()
        };
        MigBspTrigger::new(&config).test_superstep_stability(&config, &view)
    }

    #[test]
    fn own_sends_may_not_count_and_who_receives_nothing_may_be_left_out() {
        // 1, 3 and 3 s: the average is 7/3, and 1 is less than 7/3 - 50 %, but more than 7/3 - 60 %.
        let receive = ProcessTime::ComputeAndCommunicate;
        assert_eq!(vote(Population::All, receive, 0.5), '-');
        assert_eq!(vote(Population::All, receive, 0.6), '+');
        // 1, 2.5 and 2.5 s: 1 is exactly 2 - 50 %, and must differ by less.
        assert_eq!(voted(Population::All, receive, 0.5, 1.5), '-');
        // 3 and 3 s.
        assert_eq!(vote(Population::Receiving, receive, 0.1), '+');
        // 10, 1 and 1 s.
        let send = ProcessTime::ComputeAndSend;
        assert_eq!(vote(Population::All, send, 0.6), '-');
    }

    #[test]
    fn an_interval_of_nothing_or_a_d_that_is_no_number_is_a_fault() {
        let trigger = MigBspTrigger::new(&MigBspConfig::default());
        assert_eq!(trigger.describe_invalid_state(), None);
        let change = |change: fn(&mut MigBspTrigger)| {
            let mut trigger = trigger.clone();
            change(&mut trigger);
            trigger.describe_invalid_state().is_some()
        };
        assert!(change(|trigger| trigger.alpha = 0));
        assert!(change(|trigger| trigger.next_alpha = 0));
        assert!(change(|trigger| trigger.tolerance = f64::NAN));
        assert!(change(|trigger| trigger.tolerance = -0.1));
        let mut policy = crate::MigBsp::new(MigBspConfig::default()).unwrap();
        assert_eq!(policy.fault(), None);
        policy.trigger.next_alpha = 0;
        assert!(policy.fault().is_some());
    }

    #[test]
    fn d_may_stay_as_it_is() {
        let mut config = MigBspConfig::default();
        let grown = |config: &MigBspConfig| {
            let mut trigger = MigBspTrigger::new(config);
            (0..5).for_each(|_| trigger.finish_call(config, 0));
            trigger.tolerance
        };
        // ω = 3: doubled at the third, fourth and fifth call without migration.
        assert_eq!(grown(&config), 4.0);
        config.d_growth = ToleranceGrowth::Never;
        assert_eq!(grown(&config), 0.5);
    }
}
