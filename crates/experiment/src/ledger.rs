//! The ledger: splits the difference between two makespans into terms that add up to the last bit.
//!
//! The dates of a run cut its time, from 0 to the makespan, into intervals, and each interval belongs to one [`Term`]:
//!
//! ```text
//! superstep k   from where the last interval ended   until computed(k)   computation
//!               from computed(k)                     until end(k)        communication and barrier
//! after it      what the workload itself moves                           moves of the workload
//!               a call that is waited for            messages | work | messages, or waiting, until it is paid
//!               from there                           until held_until    migrations
//! ```
//! `computed(k)` is when the last process had computed, `end(k)` when the last one had left the barrier. A term of a run is the sum of its
//! intervals over all supersteps; a term of the ledger is that of scenario iii (or ii) less that of scenario i,
//!
//! ```text
//! term = Σ_k (interval of superstep k in iii) - Σ_k (interval of superstep k in i),   Σ terms = makespan(iii) - makespan(i)
//! ```
//! Since intervals share their ends, each sum telescopes, whatever the dates are: no term is what the others leave over. What happens beside
//! a superstep is no interval of its own. If only those that move wait (`wait: movers`), `held_until` is `computed(k)` less the longest
//! computation of superstep k, so that the migrations get what they delayed and nothing that others hid by computing; of a call that
//! overlaps a superstep only what is left of it at the barrier is waiting; processes that leave a barrier early compute in the superstep
//! that is being left.
//!
//! The arithmetic is exact: dates are counted in ticks, the last binary place that either makespan has, and the rest are sums of whole numbers.
//! A date in between is rounded to the nearest tick, as the engine rounded the makespan. A makespan more than 2^9 times
//! the other one may itself be cut to 62 bits.

use migsim_base::units::{Seconds, Time};
use migsim_bsp::{CallRecord, Outcome};

/// The kinds of spent time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Term {
    /// Messages of rescheduling calls: reports, lists between managers, answers.
    CallMessages,
    /// The computation of the managers.
    CallWork,
    /// Waiting for calls whose price is a number, or for what is left of one that overlaps a superstep.
    CallWaiting,
    /// Moving what a call decided, as far as it held the application up.
    Migrations,
    /// Moves that the workload prescribes in every scenario.
    WorkloadMoves,
    /// From the start of each superstep until its last process has computed.
    Computation,
    /// From there until the last process has left the barrier.
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

    /// Its name for people.
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

    /// Its key in JSON.
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
    /// One tick, a power of two.
    pub tick: Seconds,
    /// `makespan - makespan of scenario i`, in ticks.
    pub difference: i64,
    /// The share of each term in it, in ticks, in the order of [`Term::ALL`].
    pub ticks: [i64; Term::ALL.len()],
}

impl Ledger {
    /// The ledger of `run` against `base`.
    pub fn new(run: &Outcome, base: &Outcome) -> Self {
        let grid = Grid::of(run.makespan, base.makespan);
        let (spent, before) = (grid.spent(run), grid.spent(base));
        Self {
            tick: Seconds::of(grid.tick()),
            difference: grid.count(run.makespan) - grid.count(base.makespan),
            ticks: std::array::from_fn(|term| spent[term] - before[term]),
        }
    }

    /// Each term \[s\]: negative if the run spends less than scenario i. As long as all terms together are below 2^53 ticks, half a makespan
    /// at least, they are exact and so is their sum, in any order; beyond, `ticks` are.
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

/// Dates as whole numbers of ticks of 2^exponent s.
#[derive(Clone, Copy, Debug)]
struct Grid {
    exponent: i32,
}

/// The last binary place of a number, below its first one.
const PRECISION: i32 = 52;
/// So many bits hold a makespan.
const BITS: i32 = 62;
/// No tick is smaller than 2^this, so that its inverse is a number, too.
const LEAST_EXPONENT: i32 = -1000;

impl Grid {
    /// The coarsest grid on which both dates are, and all others between them as exactly as the later one can be.
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

    /// The ticks that a run spends on each term.
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

/// The terms of a run up to a date.
#[derive(Debug)]
struct Account {
    grid: Grid,
    until: i64,
    end: i64,
    ticks: [i64; Term::ALL.len()],
}

impl Account {
    /// Books the time up to `date` as spent on `term`.
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

/// The places of the lowest and the highest bit of a number that is not zero: it is between `2^highest` and twice that, and a
/// multiple of `2^lowest`.
fn binary(value: f64) -> Option<(i32, i32)> {
    const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let biased = i32::try_from((bits >> FRACTION) & 0x7ff).ok()?;
    // Below 2^-1022 there is no leading one.
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
        // 2^62 times another: the larger one has 62 bits.
        let grid = Grid::of(time(2.0_f64.powi(40)), time(2.0_f64.powi(-40)));
        assert_eq!(grid.exponent, -21);
    }
}
