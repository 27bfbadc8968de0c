//! The ledger: splits the difference between two makespans into terms that add up to the last bit.
//!
//! The times that a run records divide it, from 0 to the makespan, into intervals. Each interval belongs to one [`Term`]:
//!
//! ```text
//! superstep k   from the end of the last interval    until computed(k)   computation
//!               from computed(k)                     until end(k)        communication and barrier
//! after it      moves that the workload prescribes                       moves of the workload
//! a call that processes wait for        messages | work | messages, or waiting, until it is paid
//!               from there                           until held_until    migrations
//! ```
//! `computed(k)` is the time at which the last process had computed, and `end(k)` the time at which the last one had left the barrier. A
//! term of a run is the sum of its intervals over all supersteps. A term of the ledger is the term of scenario iii (or ii) less that of
//! scenario i:
//!
//! ```text
//! term = Σ_k (interval of superstep k in iii) - Σ_k (interval of superstep k in i),   Σ terms = makespan(iii) - makespan(i)
//! ```
//! Since neighbouring intervals share an end, each sum telescopes for any times; no term is computed as a remainder. Activities that
//! overlap a superstep have no interval of their own. If only the processes that move wait (`wait: movers`), `held_until` is `computed(k)`
//! less the longest computation of superstep k. The term of migrations is then the delay that they caused, without the part that the
//! computation of other processes hid. Of a call that overlaps a superstep, only the part that is left at the barrier counts as waiting.
//! Processes that leave a barrier early compute in the superstep whose barrier it is.
//!
//! The arithmetic is exact: times are counted in ticks. A tick is the last binary place that either makespan has, and all else is sums of
//! whole numbers. A time in between is rounded to the nearest tick, as the engine rounded the makespan. If one makespan is more than 2^9
//! times the other, a makespan may itself be rounded to 62 bits.

use migsim_base::units::{Seconds, Time};
use migsim_bsp::{CallRecord, Outcome};

/// The terms by which a run spends time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Term {
    /// Messages of rescheduling calls: reports, lists between managers, answers.
    CallMessages,
    /// Computation of the managers.
    CallWork,
    /// Waiting for calls whose duration is a given number, or for the rest of a call that overlaps a superstep.
    CallWaiting,
    /// Moves that a call decided, as far as they delayed the application.
    Migrations,
    /// Moves that the workload prescribes in every scenario.
    WorkloadMoves,
    /// From the start of each superstep until the last process has finished its computation.
    Computation,
    /// From that time until the last process has left the barrier.
    Communication,
}

impl Term {
    /// All terms, in the order of a ledger.
    pub const ALL: [Self; 7] = [
        Self::CallMessages,
        Self::CallWork,
        Self::CallWaiting,
        Self::Migrations,
        Self::WorkloadMoves,
        Self::Computation,
        Self::Communication,
    ];

    /// The name of the term for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CallMessages => "scheduling messages",
            Self::CallWork => "scheduling work",
            Self::CallWaiting => "waiting for calls",
            Self::Migrations => "migrations",
            Self::WorkloadMoves => "moves of the workload",
            Self::Computation => "computation",
            Self::Communication => "communication, barrier",
        }
    }

    /// The key of the term in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::CallMessages => "call_messages",
            Self::CallWork => "call_work",
            Self::CallWaiting => "call_waiting",
            Self::Migrations => "migrations",
            Self::WorkloadMoves => "workload_moves",
            Self::Computation => "computation",
            Self::Communication => "communication",
        }
    }
}

/// The difference of two makespans by term.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ledger {
    /// Length of a tick, a power of two.
    pub tick: Seconds,
    /// `makespan - makespan of scenario i`, in ticks.
    pub difference: i64,
    /// Share of each term in the difference, in ticks, in the order of [`Term::ALL`].
    pub ticks: [i64; Term::ALL.len()],
}

impl Ledger {
    /// Computes the ledger of `run` against `base`.
    pub fn new(run: &Outcome, base: &Outcome) -> Self {
        let grid = Grid::of(run.makespan, base.makespan);
        let (spent, before) = (grid.spent(run), grid.spent(base));
        Self {
            tick: Seconds::of(grid.tick()),
            difference: grid.count(run.makespan) - grid.count(base.makespan),
            ticks: std::array::from_fn(|term| spent[term] - before[term]),
        }
    }

    /// Returns each term \[s\]; it is negative if the run spends less than scenario i. The terms are exact, and so is their sum in any
    /// order, as long as all terms together are below 2^53 ticks, which is at least half a makespan. Beyond that, use the exact `ticks`.
    pub fn terms(&self) -> impl Iterator<Item = (Term, f64)> {
        Term::ALL
            .into_iter()
            .zip(self.ticks)
            .map(|(term, ticks)| (term, self.seconds(ticks)))
    }

    /// Whether the terms add up to the difference of the makespans, to the last tick.
    pub fn adds_up(&self) -> bool {
        let sum = self
            .ticks
            .iter()
            .map(|&ticks| i128::from(ticks))
            .sum::<i128>();
        sum == i128::from(self.difference)
    }

    /// The difference of the makespans \[s\].
    pub fn difference_s(&self) -> f64 {
        self.seconds(self.difference)
    }

    /// Whether the two runs spent the same on every term.
    pub fn is_empty(&self) -> bool {
        self.ticks.iter().all(|&ticks| ticks == 0)
    }

    fn seconds(&self, ticks: i64) -> f64 {
        ticks as f64 * self.tick.get()
    }
}

/// A grid of times: whole numbers of ticks of 2^exponent s.
#[derive(Clone, Copy, Debug)]
struct Grid {
    exponent: i32,
}

/// Number of fraction bits of an `f64`.
const PRECISION: i32 = 52;
/// Maximum number of bits of a makespan in ticks.
const BITS: i32 = 62;
/// Minimum exponent of a tick, so that the inverse of a tick is finite, too.
const LEAST_EXPONENT: i32 = -1000;

impl Grid {
    /// Finds the coarsest grid that contains both times, and that resolves the times between them as finely as the later one.
    fn of(a: Time, b: Time) -> Self {
        let lowest = [a, b]
            .into_iter()
            .filter_map(|date| binary(date.get()))
            .map(|(lowest, _)| lowest);
        let highest = binary(a.get().max(b.get())).map_or(0, |(_, highest)| highest);
        let exponent = lowest.min().unwrap_or(0).min(highest - PRECISION);
        Self {
            exponent: exponent.max(highest - BITS + 1).max(LEAST_EXPONENT),
        }
    }

    fn tick(self) -> f64 {
        2.0_f64.powi(self.exponent)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a rounded number of at most 62 bits"
    )]
    fn count(self, date: Time) -> i64 {
        (date.get() * 2.0_f64.powi(-self.exponent)).round() as i64
    }

    /// Counts the ticks that a run spends on each term.
    fn spent(self, run: &Outcome) -> [i64; Term::ALL.len()] {
        let mut account = Account {
            grid: self,
            until: 0,
            end: self.count(run.makespan),
            ticks: [0; Term::ALL.len()],
        };
        let mut calls = run.calls.as_slice();
        for (superstep, dates) in run.supersteps.iter().enumerate() {
            let computed = if dates.computed > dates.end {
                dates.end
            } else {
                dates.computed
            };
            account.spend(Term::Computation, computed);
            account.spend(Term::Communication, dates.end);
            let next = run
                .supersteps
                .get(superstep + 1)
                .map_or(run.makespan, |next| next.start);
            let mut rest = Term::WorkloadMoves;
            while let [call, others @ ..] = calls
                && call.superstep <= superstep
                && call.wait.from <= next
            {
                account.call(call);
                if call.superstep == superstep {
                    rest = Term::Migrations;
                }
                calls = others;
            }
            account.spend(rest, next);
        }
        account.ticks
    }
}

/// The terms of a run up to a time.
#[derive(Debug)]
struct Account {
    grid: Grid,
    until: i64,
    end: i64,
    ticks: [i64; Term::ALL.len()],
}

impl Account {
    /// Counts the time up to `date` as spent on `term`.
    fn spend(&mut self, term: Term, date: Time) {
        let date = self.grid.count(date).clamp(self.until, self.end);
        self.ticks[term as usize] += date - self.until;
        self.until = date;
    }

    fn call(&mut self, call: &CallRecord) {
        self.spend(Term::WorkloadMoves, call.wait.from);
        let is_simulated = call.has_messages && call.wait.from == call.start;
        if is_simulated {
            self.spend(Term::CallMessages, call.work.from);
            self.spend(Term::CallWork, call.work.until);
            self.spend(Term::CallMessages, call.wait.until);
        } else {
            self.spend(Term::CallWaiting, call.wait.until);
        }
        self.spend(Term::Migrations, call.held_until);
    }
}

/// Finds the places of the lowest and the highest bit of a number that is not zero. The number is a multiple of `2^lowest` and lies between
/// `2^highest` and twice that.
fn binary(value: f64) -> Option<(i32, i32)> {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let biased = i32::try_from((bits >> FRACTION) & 0x7ff).ok()?;
    // Numbers below 2^-1022 have no implicit leading one.
    let (mantissa, exponent) = if biased == 0 {
        (fraction, 1)
    } else {
        (fraction | 1 << FRACTION, biased)
    };
    let unit = exponent - 1023 - FRACTION.cast_signed();
    let place = |zeros: u32| unit + zeros.cast_signed();
    (mantissa > 0).then(|| {
        (
            place(mantissa.trailing_zeros()),
            place(u64::BITS - 1 - mantissa.leading_zeros()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: f64) -> Time {
        Time::new(seconds).unwrap()
    }

    #[test]
    fn bits_of_numbers_are_found() {
        assert_eq!(binary(1.0), Some((0, 0)));
        assert_eq!(binary(12.0), Some((2, 3)));
        assert_eq!(binary(0.625), Some((-3, -1)));
        assert_eq!(binary(5e-324), Some((-1074, -1074)));
        assert_eq!(binary(0.0), None);
    }

    #[test]
    fn a_ledger_with_a_tick_too_many_does_not_add_up() {
        let mut ledger = Ledger {
            tick: Seconds::of(0.5),
            difference: 3,
            ticks: [5, -4, 0, 2, 0, 0, 0],
        };
        assert!(ledger.adds_up());
        ledger.ticks[4] += 1;
        assert!(!ledger.adds_up());
    }

    #[test]
    fn both_makespans_are_on_the_grid() {
        // The last place of 1.5 is 2^-52; that of 0.75 + 2^-53 one less.
        assert_eq!(Grid::of(time(1.5), time(1.25)).exponent, -52);
        let odd = 0.75 + 2.0_f64.powi(-53);
        let grid = Grid::of(time(1.5), time(odd));
        assert_eq!(
            (grid.exponent, grid.count(time(odd))),
            (-53, 3 * (1 << 51) + 1)
        );
        assert_eq!(Grid::of(Time::ZERO, Time::ZERO).count(Time::ZERO), 0);
        // The larger number is 2^62 times the smaller one, and has 62 bits.
        let grid = Grid::of(time(2.0_f64.powi(40)), time(2.0_f64.powi(-40)));
        assert_eq!(grid.exponent, -21);
    }
}
