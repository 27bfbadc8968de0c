//! The effect of a rescheduling call: compares a run with a second run that leaves out the moves of that call.
//!
//! ```text
//! both runs       identical to the last bit until the end of the call after superstep k
//! with            then the moves, then supersteps k+1 .. u, where u ends with the next call of the run, or with the run
//! without         supersteps k+1 .. u without a pause, each process on the host it was on
//! makespan        end(u) - start,  start: delayed_until with the moves, the end of the call without
//! gain            makespan(without) - makespan(with)
//! cost            delayed_until - the end of the call, with
//! net             gain - cost = end(u) without - end(u) with
//! ```
//! `delayed_until` is the time at which the application continues after the moves. Both runs repeat recorded calls
//! ([`ReschedulingPlan`]), so that any policy can be examined, even a policy that is not available. The supersteps of the run *with*
//! the moves must end when those of the recorded run did, up to rounding: otherwise it is not the same run.
//!
//! The policy's prediction of the same gain is computed as follows. Let `T(i,s) = delay + computation + own sends` be the time of
//! process i in superstep s, one of the m supersteps since the previous call. `T'(i,s)` is the same time after the moves: for a
//! process that moves, its computation and its sends are multiplied by the ratio t2/t1 that the policy predicts for one superstep
//! (t1: on the present host, t2: at the destination), without the cost of the move. Then, with the mean duration D of these
//! supersteps,
//!
//! ```text
//! g                     = 1/m · Σ_s ( max_i T(i,s) - max_i T'(i,s) )
//! predicted makespans   = (u - k) · D without, (u - k) · (D - g) with
//! ```
//! so that no gain is predicted from moving a process for which no other process waits. The prediction assumes that all other
//! processes stay as they are, and that the next supersteps are like those since the previous call. The policy assumes the same.

use super::{plan::ReschedulingPlan, resolve::Experiment, run::Progress};
use migsim_base::{
    error::{Error, Problem, Result},
    units::{HostId, Seconds, Time},
};
use migsim_bsp::{Recorder, RunOutcome, Scenario};
use migsim_policies::Measures;

/// A recorded run of scenario iii (with moves) to repeat: its rescheduling calls, and the call whose effect is computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRun {
    /// The rescheduling calls of the recorded run.
    pub plan: ReschedulingPlan,
    /// The time at which each superstep of the recorded run ended \[s\].
    pub superstep_ends_s: Vec<f64>,
    /// Index of the rescheduling call whose effect is computed; at least one superstep must follow this call.
    pub examined_call_index: usize,
    /// The changes that the policy predicted for the times of the processes that move; `None` if the policy predicts no times.
    pub predicted_changes: Option<Vec<PredictedChange>>,
}

/// The changes that a policy predicts for the computation time and the send time of a process that moves to another host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedChange {
    /// The process that moves, counted from 1.
    pub process: u64,
    /// Ratio of the predicted computation time of the process at the destination to its computation time on the present host.
    pub computation_ratio: f64,
    /// Ratio of the predicted time in which the process sends its messages at the destination to this time on the present host.
    pub send_ratio: f64,
}

/// The effect of the moves of one rescheduling call, compared with the same run without these moves, until the next call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallEffect {
    /// The first superstep after the examined rescheduling call, counted from 1.
    pub first_superstep: u64,
    /// The last superstep before the next rescheduling call, or the last superstep of the run, counted from 1.
    pub last_superstep: u64,
    /// The makespans of the supersteps up to the next call, with and without the moves, as the policy predicted them; `None` if
    /// the policy predicts no times.
    pub predicted_makespans: Option<PredictedMakespans>,
    /// The makespan of the supersteps up to the next call, in the run with the moves of the examined call.
    pub makespan_with_moves: Makespan,
    /// The makespan of the supersteps up to the next call, in the run without the moves of the examined call.
    pub makespan_without_moves: Makespan,
    /// Time by which the moves of the examined call delayed the start of the next superstep \[s\].
    pub move_delay: Seconds,
}

/// The makespan of a range of supersteps, split into the time until the last process has computed and the remaining time of each
/// superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Makespan {
    /// Time from the start of a superstep until the last process has computed, summed over the supersteps \[s\].
    pub computation_time: Seconds,
    /// Time from the end of the last computation of a superstep until the last process has left its barrier, summed over the
    /// supersteps \[s\].
    pub time_after_computation: Seconds,
    /// Makespan of the range of supersteps \[s\]: the sum of `computation_time` and `time_after_computation`.
    pub total: Seconds,
}

/// The makespans of the supersteps after a rescheduling call that a policy predicts from the supersteps before the call.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PredictedMakespans {
    /// The first superstep on which the prediction is based, counted from 1.
    pub first_observed_superstep: u64,
    /// The last superstep on which the prediction is based, counted from 1: the superstep before the call.
    pub last_observed_superstep: u64,
    /// Predicted makespan of the supersteps after the call if its moves are made \[s\].
    pub with_moves: Seconds,
    /// Predicted makespan of the supersteps after the call if no process moves \[s\].
    pub without_moves: Seconds,
}

impl CallEffect {
    /// Returns the number of supersteps from the examined call to the next call, or to the end of the run if there is no next
    /// call.
    pub fn superstep_count(&self) -> u64 {
        self.last_superstep + 1 - self.first_superstep
    }

    /// Computes the time that the moves saved in these supersteps \[s\]; the cost of the moves is not subtracted.
    pub fn gain_s(&self) -> f64 {
        self.makespan_without_moves.total.get() - self.makespan_with_moves.total.get()
    }

    /// Computes the mean time that the moves saved per superstep \[s\]; the cost of the moves is not subtracted.
    pub fn gain_per_superstep_s(&self) -> f64 {
        self.gain_s() / self.superstep_count() as f64
    }

    /// Computes the time that the moves saved in these supersteps minus the cost of the moves \[s\]; negative if they cost more
    /// than they saved.
    pub fn net_gain_s(&self) -> f64 {
        self.gain_s() - self.move_delay.get()
    }

    /// Computes the number of supersteps after which the time saved equals the cost of the moves: `⌈cost / gain per superstep⌉`;
    /// `None` if the moves save no time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number that is not negative; one beyond 2^64 is as good as 2^64"
    )]
    pub fn break_even_supersteps(&self) -> Option<u64> {
        if self.move_delay == Seconds::default() && self.gain_s() >= 0.0 {
            return Some(0);
        }
        (self.gain_s() > 0.0)
            .then(|| (self.move_delay.get() / self.gain_per_superstep_s()).ceil() as u64)
    }

    /// Computes the effect of the rescheduling call with index `judged`, from the run with the moves of that call and the run
    /// without these moves.
    fn new(
        with: &RunOutcome,
        without_moves: &RunOutcome,
        judged: usize,
        gain_per_superstep: Option<f64>,
    ) -> Self {
        let call = &with.calls[judged];
        let after = call.superstep + 1;
        let next = with.calls.get(judged + 1);
        let end = next.map_or(with.supersteps.len(), |next| next.superstep + 1);
        let since = judged
            .checked_sub(1)
            .map_or(0, |before| with.calls[before].superstep + 1);
        let expected = (end - after) as f64;
        let predicted = gain_per_superstep.map(|gain| {
            let observed = &with.supersteps[since..after];
            let mean = observed[observed.len() - 1]
                .end
                .since(observed[0].start)
                .get()
                / observed.len() as f64;
            PredictedMakespans {
                first_observed_superstep: since as u64 + 1,
                last_observed_superstep: after as u64,
                with_moves: Seconds::of(expected * (mean - gain).max(0.0)),
                without_moves: Seconds::of(expected * mean),
            }
        });
        Self {
            first_superstep: after as u64 + 1,
            last_superstep: end as u64,
            predicted_makespans: predicted,
            makespan_with_moves: Makespan::new(with, after..end, call.application_delayed_until),
            makespan_without_moves: Makespan::new(
                without_moves,
                after..end,
                without_moves.calls[judged].application_delayed_until,
            ),
            move_delay: call
                .application_delayed_until
                .since(call.waiting_period.until),
        }
    }
}

impl Makespan {
    /// Computes the makespan of the supersteps in `range` of a run, measured from the time `start`.
    fn new(run: &RunOutcome, range: std::ops::Range<usize>, start: Time) -> Self {
        let mut computation = 0.0;
        let mut rest = 0.0;
        let mut now = start.get();
        for dates in &run.supersteps[range] {
            let end = dates.end.get().max(now);
            let computed = dates.last_computation_end.get().clamp(now, end);
            computation += computed - now;
            rest += end - computed;
            now = end;
        }
        Self {
            computation_time: Seconds::of(computation),
            time_after_computation: Seconds::of(rest),
            total: Seconds::of(now - start.get()),
        }
    }
}

/// Computes the gain that the policy predicts from the moves of the examined call, from the supersteps between the previous call
/// and the examined call.
#[derive(Debug)]
struct PredictedGainRecorder {
    /// The supersteps between the previous call and the examined call, counted from 0.
    observed_supersteps: std::ops::Range<usize>,
    /// For each process, the predicted ratios of its computation time and of its send time at the destination to the times on the
    /// present host; 1 if the process stays.
    computation_and_send_time_ratios: Vec<(f64, f64)>,
    /// Sum over the observed supersteps of the predicted gain \[s\]: the longest observed time of a process minus the longest
    /// time of a process that is predicted after the moves.
    total_gain: f64,
}

impl PredictedGainRecorder {
    /// Returns the predicted gain per superstep \[s\], averaged over the observed supersteps.
    fn gain_per_superstep(&self) -> f64 {
        self.total_gain / self.observed_supersteps.len() as f64
    }
}

impl Recorder for PredictedGainRecorder {
    fn on_superstep(&mut self, superstep: usize, measures: &Measures, _placement: &[HostId]) {
        if !self.observed_supersteps.contains(&superstep) {
            return;
        }
        let longest = |by: &dyn Fn(usize) -> (f64, f64)| {
            (0..self.computation_and_send_time_ratios.len())
                .map(|process| {
                    let (computation, sends) = by(process);
                    measures.begin_delays[process].get()
                        + measures.computation_times[process].get() * computation
                        + measures.send_times[process].get() * sends
                })
                .fold(0.0, f64::max)
        };
        self.total_gain += longest(&|_| (1.0, 1.0))
            - longest(&|process| self.computation_and_send_time_ratios[process]);
    }
}

impl Experiment {
    /// Computes the effect of one rescheduling call: simulates scenario iii with the recorded calls and moves, and a second time
    /// without the moves of that call.
    ///
    /// # Errors
    /// The recorded moves are impossible in this experiment, or the repetition has other times than the recorded run, because the
    /// calls come from another run or another platform.
    ///
    /// # Panics
    /// The call does not exist, or the run ends with this call.
    pub fn call_effect(&self, trial: &RecordedRun, progress: &Progress) -> Result<CallEffect> {
        let calls = trial.plan.calls();
        let superstep = calls[trial.examined_call_index].superstep;
        let since = trial
            .examined_call_index
            .checked_sub(1)
            .map_or(0, |before| calls[before].superstep);
        let index = |superstep: u64| usize::try_from(superstep).unwrap_or(usize::MAX);
        let mut factors = vec![(1.0, 1.0); self.placement.len()];
        for change in trial.predicted_changes.iter().flatten() {
            if let Some(own) = factors.get_mut(index(change.process - 1)) {
                *own = (change.computation_ratio, change.send_ratio);
            }
        }
        let mut predictor = PredictedGainRecorder {
            observed_supersteps: index(since)..index(superstep),
            computation_and_send_time_ratios: factors,
            total_gain: 0.0,
        };
        // The next call is a part of both runs: all processes wait for it at the end of the last superstep that is compared.
        let mut earlier = calls[..calls.len().min(trial.examined_call_index + 2)].to_vec();
        for call in &mut earlier[trial.examined_call_index..] {
            call.moves.clear();
        }
        let without = ReschedulingPlan::new(earlier);
        let memo = self.new_superstep_cache();
        let run = |plan: &ReschedulingPlan, recorder: &mut (dyn Recorder + Send)| {
            self.run_with_plan(Scenario::Iii, plan, progress, recorder, memo.as_ref())
        };
        let (with, without) = rayon::join(
            || run(&trial.plan, &mut predictor),
            || run(&without, &mut ()),
        );
        let with = with?.outcome;
        let without = without?.outcome;
        check_repetition(&with, &trial.superstep_ends_s)?;
        Ok(CallEffect::new(
            &with,
            &without,
            trial.examined_call_index,
            trial
                .predicted_changes
                .as_ref()
                .map(|_| predictor.gain_per_superstep()),
        ))
    }
}

/// Largest difference between an end of a superstep in a run and in its repetition, relative to the time, that rounding explains:
/// a run with its critical path is computed event by event, its repetition is not.
const ROUNDING: f64 = 1e-9;

fn check_repetition(run: &RunOutcome, recorded_ends_s: &[f64]) -> Result {
    let ends = run.supersteps.iter().map(|one| one.end.get());
    let is_same = run.supersteps.len() == recorded_ends_s.len()
        && ends
            .zip(recorded_ends_s)
            .all(|(end, recorded)| (end - recorded).abs() <= ROUNDING * recorded);
    if is_same {
        return Ok(());
    }
    let message = "a repetition of the run with its recorded calls gives other times";
    let hint = "run the experiment again with this version of migsim: versions before 0.4 did not record the messages of calls";
    Err(Error::SimulationFailure(Problem::new(message).hint(hint)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_bsp::{CallRecord, Period, SentMessages, SuperstepTimes};

    fn at(seconds: f64) -> Time {
        Time::ZERO + Seconds::of(seconds)
    }

    /// A call that costs 1 s and moves.
    fn call(superstep: usize, start: f64, held: f64) -> CallRecord {
        let paid = at(start + 1.0);
        CallRecord {
            superstep,
            start: at(start),
            cost: Seconds::of(1.0),
            migration_duration: Seconds::of(held),
            waiting_period: Period {
                from: at(start),
                until: paid,
            },
            decision_period: Period::empty_at(paid),
            has_messages: false,
            application_delayed_until: paid + Seconds::of(held),
            answer_times: Vec::new(),
            decision: migsim_policies::Decision::default(),
            migration_origins: Vec::new(),
            migrations_applied: true,
            reports_early: false,
        }
    }

    /// A run with these times of supersteps: start, end of the last computation, end.
    fn run(dates: &[[f64; 3]], calls: Vec<CallRecord>) -> RunOutcome {
        let dates = dates.iter().map(|dates| dates.map(at));
        let supersteps: Vec<SuperstepTimes> = dates
            .map(|[start, computed, end]| SuperstepTimes {
                start,
                last_computation_end: computed,
                end,
            })
            .collect();
        RunOutcome {
            makespan: supersteps[supersteps.len() - 1].end,
            supersteps,
            calls,
            migrations: Vec::new(),
            call_waiting_time: Seconds::default(),
            migration_waiting_time: Seconds::default(),
            flow_count: 0,
            sent_messages: SentMessages::default(),
            event_hash: String::new(),
        }
    }

    /// Two supersteps of 10 s, a call of 1 s, moves that delay the run for `held`, and two supersteps with `computed` of computation and a
    /// barrier of 1 s.
    fn outcome(held: f64, computed: f64) -> RunOutcome {
        let start = 21.0 + held;
        let (next, end) = (start + computed + 1.0, start + 2.0 * (computed + 1.0));
        let supersteps = [
            [0.0, 8.0, 10.0],
            [10.0, 18.0, 20.0],
            [start, start + computed, next],
            [next, next + computed, end],
            [end + 1.0, end + 2.0, end + 3.0],
        ];
        run(&supersteps, vec![call(1, 20.0, held), call(3, end, 0.0)])
    }

    #[test]
    fn the_effect_of_a_call_is_the_difference_between_runs_without_and_with_its_moves() {
        // With: 2 · (6 + 1) = 14 s from 24 s on. Without: 2 · (9 + 1) = 20 s from 21 s on.
        let effect = CallEffect::new(&outcome(3.0, 6.0), &outcome(0.0, 9.0), 0, Some(2.0));
        assert_eq!(
            (
                effect.first_superstep,
                effect.last_superstep,
                effect.superstep_count()
            ),
            (3, 4, 2)
        );
        let makespan = |computation, rest| Makespan {
            computation_time: Seconds::of(computation),
            time_after_computation: Seconds::of(rest),
            total: Seconds::of(computation + rest),
        };
        assert_eq!(
            (effect.makespan_with_moves, effect.makespan_without_moves),
            (makespan(12.0, 2.0), makespan(18.0, 2.0))
        );
        assert_eq!(
            (
                effect.gain_s(),
                effect.gain_per_superstep_s(),
                effect.move_delay.get()
            ),
            (6.0, 3.0, 3.0)
        );
        // Superstep 4 ends at 38 s instead of 41 s. The gain of one superstep pays the 3 s.
        assert_eq!(
            (effect.net_gain_s(), effect.break_even_supersteps()),
            (3.0, Some(1))
        );
        // The supersteps before the call took 10 s each. The prediction is 2 s less.
        let expected = PredictedMakespans {
            first_observed_superstep: 1,
            last_observed_superstep: 2,
            with_moves: Seconds::of(16.0),
            without_moves: Seconds::of(20.0),
        };
        assert_eq!(effect.predicted_makespans, Some(expected));
    }

    #[test]
    fn moves_are_paid_back_in_whole_supersteps_or_never() {
        let break_even = |held, computed| {
            let effect = CallEffect::new(&outcome(held, computed), &outcome(0.0, 9.0), 0, None);
            assert_eq!(effect.predicted_makespans, None);
            effect.break_even_supersteps()
        };
        assert_eq!(break_even(7.0, 8.5), Some(14)); // 7 / 0.5
        assert_eq!(break_even(7.25, 8.5), Some(15)); // 14.5
        assert_eq!(break_even(0.0, 8.5), Some(0)); // nothing to pay
        assert_eq!(break_even(1.0, 9.0), None); // nothing is gained
        assert_eq!(break_even(1.0, 9.5), None); // time is lost
        assert_eq!(break_even(0.0, 9.5), None);
    }

    #[test]
    fn only_moves_of_processes_that_others_wait_for_predict_a_gain() {
        let mut predictor = PredictedGainRecorder {
            observed_supersteps: 1..3,
            computation_and_send_time_ratios: vec![(0.5, 1.0), (1.0, 1.0), (0.1, 0.1)],
            total_gain: 0.0,
        };
        let mut superstep = |superstep: usize, compute: [f64; 3]| {
            let mut measures = Measures::default();
            measures.clear(3);
            measures.computation_times = compute.map(Seconds::of).to_vec();
            measures.send_times[0] = Seconds::of(1.0);
            measures.begin_delays[1] = Seconds::of(0.5);
            predictor.on_superstep(superstep, &measures, &[]);
        };
        superstep(0, [40.0, 0.0, 0.0]); // before the previous call
        superstep(1, [4.0, 2.5, 1.0]); // 5 s (p1: 4 + 1) becomes 3 s (p1: 2 + 1, p2: 0.5 + 2.5): 2 s less
        superstep(2, [2.0, 3.0, 3.0]); // p2 takes 3.5 s with the moves, too: no gain
        superstep(3, [40.0, 0.0, 0.0]); // after the call
        assert_eq!(predictor.gain_per_superstep(), 1.0);
    }
}
