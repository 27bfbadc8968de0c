//! The effect of a call: the run as it was, beside the same run without the moves of that call.
//!
//! ```text
//! both runs       the same to the last bit until the call after superstep k is paid
//! with            then the moves, then supersteps k+1 .. u, where u ends with the next call of the run, or with the run
//! without         supersteps k+1 .. u at once, everybody where it was
//! makespan        end(u) - what held up superstep k+1:  held_until with, when the call was paid without
//! gain            makespan(without) - makespan(with)
//! price           held_until - when the call was paid, with
//! net             gain - price = end(u) without - end(u) with
//! ```
//! Calls and moves are forced upon both runs ([`Replay`]), so that any policy can be judged, one that is not there as well. The run *with* has to
//! have the hash of the run that is judged: whoever compares the two knows that it is the same run.
//!
//! The prediction is told in the same quantity. Let `T(i,s) = delay + computation + own sends` be what process i took in superstep s, one
//! of the m supersteps since the call before, and `T'(i,s)` the same for those that move, computation and sends times t2/t1 of the policy for one
//! superstep, without the price of the move. Then, with the mean duration D of these supersteps,
//!
//! ```text
//! g                     = 1/m · Σ_s ( max_i T(i,s) - max_i T'(i,s) )
//! predicted makespans   = (u - k) · D without, (u - k) · (D - g) with
//! ```
//! so that a move of a process that nobody waits for promises nothing. Nobody else is taken to change, and the supersteps to come are taken to be
//! like those since the last call, as the policy takes them.

use super::resolve::Experiment;
use super::run::Progress;
use migsim_base::error::Error;
use migsim_base::units::{HostId, Seconds, Time};
use migsim_bsp::{Outcome, Recorder, Scenario};
use migsim_policies::{ForcedMove, Measures, Replay};

/// The calls of a run of scenario iii, and which of them is to be judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// After which supersteps calls came, counted from 1, in order.
    pub calls: Vec<u64>,
    /// All moves, to hosts, in the order in which each call decided them.
    pub moves: Vec<ForcedMove>,
    /// The index of the judged call; the run goes on after it.
    pub judged: usize,
    /// The policy's prediction for the processes that move; none if it foresees no times.
    pub changes: Option<Vec<Change>>,
}

/// By how much the time of a process is expected to change where it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Who, counted from 1.
    pub process: u64,
    /// The ratio of its time of computation there to that where it is.
    pub computation: f64,
    /// The ratio of the time of its sends there to that where it is.
    pub sends: f64,
}

/// The effect of a call until the next one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Effect {
    /// The first superstep after the call, counted from 1.
    pub from: u64,
    /// The last one before the next call, or of the run.
    pub until: u64,
    /// The prediction; none if the policy foresees no times.
    pub predicted: Option<Prediction>,
    /// The makespan of these supersteps with the moves.
    pub with: Makespan,
    /// And without them.
    pub without: Makespan,
    /// The time for which the moves held up the application.
    pub price: Seconds,
    /// The hash of the events of the run with all its moves.
    pub event_hash: String,
}

/// A makespan of some supersteps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Makespan {
    /// Until the last process had computed, summed over the supersteps.
    pub computation: Seconds,
    /// From there until the last process had left the barrier.
    pub rest: Seconds,
    /// All of it.
    pub total: Seconds,
}

/// A makespan of the same supersteps, foreseen from those before the call.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The first of the supersteps it comes from, counted from 1.
    pub from: u64,
    /// The last one: the superstep of the call.
    pub until: u64,
    /// With the moves.
    pub with: Seconds,
    /// Without them.
    pub without: Seconds,
}

impl Effect {
    /// The number of supersteps.
    pub fn supersteps(&self) -> u64 {
        self.until + 1 - self.from
    }

    /// The time that the supersteps gained by the moves, their price left out \[s\].
    pub fn gain_s(&self) -> f64 {
        self.without.total.get() - self.with.total.get()
    }

    /// The same of one superstep \[s\].
    pub fn rate_s(&self) -> f64 {
        self.gain_s() / self.supersteps() as f64
    }

    /// The time by which the last of these supersteps ended earlier, the price of the moves included \[s\].
    pub fn net_s(&self) -> f64 {
        self.gain_s() - self.price.get()
    }

    /// After how many supersteps the moves are paid back at the realised gain per superstep, `⌈price / rate⌉`; none: never.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number that is not negative; one beyond 2^64 is as good as 2^64"
    )]
    pub fn break_even(&self) -> Option<u64> {
        if self.price == Seconds::default() && self.gain_s() >= 0.0 {
            return Some(0);
        }
        (self.gain_s() > 0.0).then(|| (self.price.get() / self.rate_s()).ceil() as u64)
    }

    /// The effect of the call `judged`, from the run with its moves and the one without them.
    fn new(
        with: &Outcome,
        without: &Outcome,
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
            let lasted = observed[observed.len() - 1]
                .end
                .since(observed[0].start)
                .get();
            let mean = lasted / observed.len() as f64;
            Prediction {
                from: since as u64 + 1,
                until: after as u64,
                with: Seconds::of(expected * (mean - gain).max(0.0)),
                without: Seconds::of(expected * mean),
            }
        });
        Self {
            from: after as u64 + 1,
            until: end as u64,
            predicted,
            with: Makespan::new(with, after..end, call.held_until),
            without: Makespan::new(without, after..end, without.calls[judged].held_until),
            price: call.held_until.since(call.wait.until),
            event_hash: with.event_hash.clone(),
        }
    }
}

impl Makespan {
    /// Of the supersteps in `range`, from `start` on.
    fn new(run: &Outcome, range: std::ops::Range<usize>, start: Time) -> Self {
        let (mut computation, mut rest) = (0.0, 0.0);
        let mut now = start.get();
        for dates in &run.supersteps[range] {
            let end = dates.end.get().max(now);
            let computed = dates.computed.get().clamp(now, end);
            computation += computed - now;
            rest += end - computed;
            now = end;
        }
        Self {
            computation: Seconds::of(computation),
            rest: Seconds::of(rest),
            total: Seconds::of(now - start.get()),
        }
    }
}

/// Watches the supersteps before a call, to tell what its moves promise.
#[derive(Debug)]
struct Foresight {
    /// Counted from 0.
    supersteps: std::ops::Range<usize>,
    /// Per process the factors of its computation and of its sends.
    factors: Vec<(f64, f64)>,
    /// The longest time of a process, less the longest with the factors, summed over the supersteps \[s\].
    gain: f64,
}

impl Foresight {
    /// The gain that is to be expected of one superstep \[s\].
    fn gain_per_superstep(&self) -> f64 {
        self.gain / self.supersteps.len() as f64
    }
}

impl Recorder for Foresight {
    fn superstep(&mut self, superstep: usize, measures: &Measures, _placement: &[HostId]) {
        if !self.supersteps.contains(&superstep) {
            return;
        }
        let longest = |by: &dyn Fn(usize) -> (f64, f64)| {
            let own = |process: usize| {
                let (computation, sends) = by(process);
                measures.delay[process].get()
                    + measures.compute[process].get() * computation
                    + measures.send[process].get() * sends
            };
            (0..self.factors.len()).map(own).fold(0.0, f64::max)
        };
        self.gain += longest(&|_| (1.0, 1.0)) - longest(&|process| self.factors[process]);
    }
}

impl Experiment {
    /// Runs scenario iii with the calls and moves of a run, and once more without the moves of one call.
    ///
    /// # Errors
    /// The moves are not possible here: it is another run, or another machine.
    ///
    /// # Panics
    /// There is no such call, or the run ends with it.
    pub fn effect(&self, trial: &Trial, progress: &Progress) -> Result<Effect, Error> {
        let superstep = trial.calls[trial.judged];
        let since = trial
            .judged
            .checked_sub(1)
            .map_or(0, |before| trial.calls[before]);
        let index = |superstep: u64| usize::try_from(superstep).unwrap_or(usize::MAX);
        let mut factors = vec![(1.0, 1.0); self.placement.len()];
        for change in trial.changes.iter().flatten() {
            if let Some(own) = factors.get_mut(index(change.process - 1)) {
                *own = (change.computation, change.sends);
            }
        }
        let mut foresight = Foresight {
            supersteps: index(since)..index(superstep),
            factors,
            gain: 0.0,
        };
        // The next call is a part of both: all wait for it at the end of the last superstep that is compared.
        let calls = trial.calls[..trial.calls.len().min(trial.judged + 2)].iter();
        let earlier = trial
            .moves
            .iter()
            .filter(|wanted| wanted.superstep < superstep);
        let without = Replay::of_calls(calls.copied(), earlier.cloned());
        let with = Replay::of_calls(trial.calls.iter().copied(), trial.moves.iter().cloned());
        let memo = self.memory();
        let run = |policy: Replay, recorder: &mut (dyn Recorder + Send)| {
            let policy = Box::new(policy);
            self.run_policy(Scenario::Iii, policy, progress, recorder, memo.as_ref())
        };
        let (with, without) = rayon::join(|| run(with, &mut foresight), || run(without, &mut ()));
        let gain = trial
            .changes
            .as_ref()
            .map(|_| foresight.gain_per_superstep());
        Ok(Effect::new(
            &with?.outcome,
            &without?.outcome,
            trial.judged,
            gain,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_bsp::{CallRecord, Sent, SuperstepDates, Wait};
    use migsim_policies::Decision;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Seconds::of(seconds)
    }

    /// A call that costs 1 s, and moves that then hold the run up for some time.
    fn call(superstep: usize, start: f64, held: f64) -> CallRecord {
        let paid = at(start + 1.0);
        CallRecord {
            superstep,
            start: at(start),
            cost: Seconds::of(1.0),
            migration: Seconds::of(held),
            wait: Wait {
                from: at(start),
                until: paid,
            },
            work: Wait::none(paid),
            has_messages: false,
            held_until: paid + Seconds::of(held),
            answered: Vec::new(),
            decision: Decision::default(),
            origins: Vec::new(),
            applied: true,
        }
    }

    /// A run with these dates of supersteps: start, end of the last computation, end.
    fn run(dates: &[[f64; 3]], calls: Vec<CallRecord>) -> Outcome {
        let dates = dates.iter().map(|dates| dates.map(at));
        let supersteps: Vec<SuperstepDates> = dates
            .map(|[start, computed, end]| SuperstepDates {
                start,
                computed,
                end,
            })
            .collect();
        Outcome {
            makespan: supersteps[supersteps.len() - 1].end,
            supersteps,
            calls,
            migrations: Vec::new(),
            scheduling: Seconds::default(),
            migration: Seconds::default(),
            flows: 0,
            sent: Sent::default(),
            event_hash: String::new(),
        }
    }

    /// Two supersteps of 10 s, a call of 1 s, moves that hold up for `held`, two supersteps that compute for `computed` and have a barrier of 1 s.
    fn outcome(held: f64, computed: f64) -> Outcome {
        let start = 21.0 + held;
        let next = start + computed + 1.0;
        let end = next + computed + 1.0;
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
    fn a_call_is_worth_what_its_supersteps_take_without_its_moves_less_what_they_take_with_them() {
        // With: 2 · (6 + 1) = 14 s from 24 s on. Without: 2 · (9 + 1) = 20 s from 21 s on.
        let effect = Effect::new(&outcome(3.0, 6.0), &outcome(0.0, 9.0), 0, Some(2.0));
        assert_eq!((effect.from, effect.until, effect.supersteps()), (3, 4, 2));
        let makespan = |computation, rest| Makespan {
            computation: Seconds::of(computation),
            rest: Seconds::of(rest),
            total: Seconds::of(computation + rest),
        };
        assert_eq!(
            (effect.with, effect.without),
            (makespan(12.0, 2.0), makespan(18.0, 2.0))
        );
        assert_eq!(
            (effect.gain_s(), effect.rate_s(), effect.price.get()),
            (6.0, 3.0, 3.0)
        );
        // Superstep 4 ends at 38 s instead of 41 s; a superstep pays the 3 s back.
        assert_eq!((effect.net_s(), effect.break_even()), (3.0, Some(1)));
        // The supersteps before the call took 10 s each, and 2 s less are promised.
        let expected = Prediction {
            from: 1,
            until: 2,
            with: Seconds::of(16.0),
            without: Seconds::of(20.0),
        };
        assert_eq!(effect.predicted, Some(expected));
    }

    #[test]
    fn moves_are_paid_back_in_whole_supersteps_or_never() {
        let break_even = |held, computed| {
            let effect = Effect::new(&outcome(held, computed), &outcome(0.0, 9.0), 0, None);
            assert_eq!(effect.predicted, None);
            effect.break_even()
        };
        assert_eq!(break_even(7.0, 8.5), Some(14)); // 7 / 0.5
        assert_eq!(break_even(7.25, 8.5), Some(15)); // 14.5
        assert_eq!(break_even(0.0, 8.5), Some(0)); // nothing to pay
        assert_eq!(break_even(1.0, 9.0), None); // nothing is gained
        assert_eq!(break_even(1.0, 9.5), None); // time is lost
        assert_eq!(break_even(0.0, 9.5), None);
    }

    #[test]
    fn only_who_was_waited_for_promises_something() {
        let mut foresight = Foresight {
            supersteps: 1..3,
            factors: vec![(0.5, 1.0), (1.0, 1.0), (0.1, 0.1)],
            gain: 0.0,
        };
        let mut superstep = |superstep: usize, compute: [f64; 3]| {
            let mut measures = Measures::default();
            measures.clear(3);
            measures.compute = compute.map(Seconds::of).to_vec();
            measures.send[0] = Seconds::of(1.0);
            measures.delay[1] = Seconds::of(0.5);
            foresight.superstep(superstep, &measures, &[]);
        };
        superstep(0, [40.0, 0.0, 0.0]); // before the call before
        superstep(1, [4.0, 2.5, 1.0]); // 4 + 1 s, then p2 with 0.5 + 2.5 s and p1 with 2 + 1 s: 2 s less
        superstep(2, [2.0, 3.0, 3.0]); // p2 with 3.5 s all the same
        superstep(3, [40.0, 0.0, 0.0]); // after the call
        assert_eq!(foresight.gain_per_superstep(), 1.0);
    }
}
