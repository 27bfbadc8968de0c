//! The ledger: splits the difference between the makespans of two scenarios into terms whose sum is exact to the last bit.
//!
//! The times that a run records divide it, from 0 to the makespan, into intervals. Each interval belongs to one [`MakespanTerm`]:
//!
//! ```text
//! interval                                                                 term
//! superstep k     from the end of the previous interval to computed(k)     computation
//! superstep k     from computed(k) to end(k)                               communication and barrier
//! after end(k)    moves that the workload prescribes                       moves of the workload
//! call            a simulated call for which processes wait                call messages, call work, call messages
//! call            any other call, until it ends                            waiting for the call
//! after the call  from the end of the call to delayed_until                migrations
//! ```
//! `computed(k)` is the time at which the last process had computed in superstep k, `end(k)` the time at which the last process
//! had left the barrier, and `delayed_until` the time at which the application continues after the moves. A term of a run is the
//! sum of its intervals over all supersteps. A term of the ledger is the term of scenario iii (or ii) minus the term of scenario
//! i:
//!
//! ```text
//! term = Σ_k (interval of superstep k in iii) - Σ_k (interval of superstep k in i),   Σ terms = makespan(iii) - makespan(i)
//! ```
//! The terms always add up to the difference because each interval begins where the previous interval ends; no term is computed
//! as a remainder. Activities that overlap a superstep have no interval. If only the processes that move wait (`wait: movers`),
//! `delayed_until` is `computed(k)` minus the longest computation of superstep k. The term of migrations is then the delay that
//! the migrations caused, without the part that the computation of other processes hid. Of a call that overlaps a superstep, only
//! the part that remains at the barrier counts as waiting. The computation of processes that leave a barrier early belongs to the
//! superstep that this barrier ends.
//!
//! The arithmetic is exact: times are counted in ticks. A tick is the value of the lowest binary digit of the two makespans, and
//! all sums are sums of whole numbers. Times during the run are rounded to the nearest tick, as the engine rounded the makespan.
//! If one makespan is more than 2^9 times the other, a makespan may itself be rounded to 62 bits.

use migsim_base::units::{Seconds, Time};
use migsim_bsp::{CallRecord, RunOutcome};

/// The kinds of activities into which the ledger divides the time of a run; the time of each kind is one term of the makespan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MakespanTerm {
    /// Messages of rescheduling calls: reports of processes, lists that managers exchange, and answers to the processes.
    CallMessages,
    /// Computation of the managers of the clusters in rescheduling calls.
    CallWork,
    /// Waiting for rescheduling calls whose duration is a fixed number, or for the remaining part of a call that overlaps a
    /// superstep.
    CallWaiting,
    /// Time by which the migrations that rescheduling calls decided delayed the application.
    Migrations,
    /// Moves of processes that the workload prescribes in every scenario.
    PrescribedMoves,
    /// Time from the start of each superstep until the last process has finished its computation.
    Computation,
    /// Time from the end of the last computation of each superstep until the last process has left the barrier.
    Communication,
}

impl MakespanTerm {
    /// All terms, in the order in which reports show them.
    pub const ALL: [Self; 7] = [
        Self::CallMessages,
        Self::CallWork,
        Self::CallWaiting,
        Self::Migrations,
        Self::PrescribedMoves,
        Self::Computation,
        Self::Communication,
    ];

    /// Returns the name of the term in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CallMessages => "scheduling messages",
            Self::CallWork => "scheduling work",
            Self::CallWaiting => "waiting for calls",
            Self::Migrations => "migrations",
            Self::PrescribedMoves => "moves of the workload",
            Self::Computation => "computation",
            Self::Communication => "communication, barrier",
        }
    }

    /// Returns the key of the term in JSON output.
    pub const fn key(self) -> &'static str {
        match self {
            Self::CallMessages => "call_messages",
            Self::CallWork => "call_work",
            Self::CallWaiting => "call_waiting",
            Self::Migrations => "migrations",
            Self::PrescribedMoves => "workload_moves",
            Self::Computation => "computation",
            Self::Communication => "communication",
        }
    }
}

/// The difference between the makespan of a run and the makespan of scenario i (application only), split into terms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MakespanLedger {
    /// Length of a tick, the unit of all whole numbers of this ledger \[s\]: a power of two.
    pub tick_length: Seconds,
    /// Makespan of the run minus the makespan of scenario i (application only), in ticks.
    pub difference_ticks: i64,
    /// Contribution of each term to the difference, in ticks, in the order of [`MakespanTerm::ALL`].
    pub term_ticks: [i64; MakespanTerm::ALL.len()],
}

impl MakespanLedger {
    /// Computes the ledger of `run` (scenario ii or iii) compared with `base`, the run of scenario i.
    pub fn new(run: &RunOutcome, base: &RunOutcome) -> Self {
        let grid = TickGrid::containing_times(run.makespan, base.makespan);
        let spent = grid.ticks_by_term(run);
        let before = grid.ticks_by_term(base);
        Self {
            tick_length: Seconds::of(grid.tick_length()),
            difference_ticks: grid.round_to_ticks(run.makespan)
                - grid.round_to_ticks(base.makespan),
            term_ticks: std::array::from_fn(|term| spent[term] - before[term]),
        }
    }

    /// Returns the contribution of each term to the difference of the makespans \[s\]; negative if the run spends less time on
    /// the term than scenario i.
    ///
    /// The returned seconds are exact, and their sum in any order is exact, as long as all terms together are below 2^53 ticks,
    /// which is at least half a makespan. For larger terms, use the exact `term_ticks`.
    pub fn terms_in_seconds(&self) -> impl Iterator<Item = (MakespanTerm, f64)> {
        MakespanTerm::ALL
            .into_iter()
            .zip(self.term_ticks)
            .map(|(term, ticks)| (term, self.ticks_to_seconds(ticks)))
    }

    /// Returns whether the terms add up exactly to the difference of the makespans.
    pub fn terms_add_up(&self) -> bool {
        self.term_ticks
            .iter()
            .map(|&ticks| i128::from(ticks))
            .sum::<i128>()
            == i128::from(self.difference_ticks)
    }

    /// Returns the makespan of the run minus the makespan of scenario i \[s\].
    pub fn difference_in_seconds(&self) -> f64 {
        self.ticks_to_seconds(self.difference_ticks)
    }

    /// Returns whether all terms are zero, because both runs spent the same time on each of them.
    pub fn are_all_terms_zero(&self) -> bool {
        self.term_ticks.iter().all(|&ticks| ticks == 0)
    }

    fn ticks_to_seconds(&self, ticks: i64) -> f64 {
        ticks as f64 * self.tick_length.get()
    }
}

/// A grid of times: each time is counted as a whole number of ticks, and a tick lasts `2^exponent` s.
#[derive(Clone, Copy, Debug)]
struct TickGrid {
    /// Binary logarithm of the length of a tick in s.
    tick_length_exponent: i32,
}

/// Number of fraction bits of an `f64`.
const FRACTION_BITS: i32 = 52;
/// Maximum number of bits of a makespan that is counted in ticks.
const MAX_TICK_BITS: i32 = 62;
/// Minimum binary logarithm of the length of a tick in s, so that the inverse of a tick is finite.
const MIN_TICK_EXPONENT: i32 = -1000;

impl TickGrid {
    /// Returns the coarsest grid on which both times are whole numbers of ticks, with a tick no longer than the unit in the last
    /// place of the later time.
    fn containing_times(a: Time, b: Time) -> Self {
        let lowest = [a, b]
            .into_iter()
            .filter_map(|date| set_bit_exponent_range(date.get()))
            .map(|(lowest, _)| lowest);
        let highest =
            set_bit_exponent_range(a.get().max(b.get())).map_or(0, |(_, highest)| highest);
        let exponent = lowest.min().unwrap_or(0).min(highest - FRACTION_BITS);
        Self {
            tick_length_exponent: exponent
                .max(highest - MAX_TICK_BITS + 1)
                .max(MIN_TICK_EXPONENT),
        }
    }

    /// Returns the length of a tick \[s\].
    fn tick_length(self) -> f64 {
        2.0_f64.powi(self.tick_length_exponent)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a rounded number of at most 62 bits"
    )]
    fn round_to_ticks(self, date: Time) -> i64 {
        (date.get() * 2.0_f64.powi(-self.tick_length_exponent)).round() as i64
    }

    /// Computes the number of ticks that a run spends on each term, in the order of [`MakespanTerm::ALL`].
    fn ticks_by_term(self, run: &RunOutcome) -> [i64; MakespanTerm::ALL.len()] {
        let mut account = TickAccount {
            tick_grid: self,
            assigned_until_ticks: 0,
            end_of_run_ticks: self.round_to_ticks(run.makespan),
            term_ticks: [0; MakespanTerm::ALL.len()],
        };
        let mut calls = run.calls.as_slice();
        for (superstep, dates) in run.supersteps.iter().enumerate() {
            let computed = if dates.last_computation_end > dates.end {
                dates.end
            } else {
                dates.last_computation_end
            };
            account.assign_time_until(MakespanTerm::Computation, computed);
            account.assign_time_until(MakespanTerm::Communication, dates.end);
            let next = run
                .supersteps
                .get(superstep + 1)
                .map_or(run.makespan, |next| next.start);
            let mut rest = MakespanTerm::PrescribedMoves;
            while let [call, others @ ..] = calls
                && call.superstep <= superstep
                && call.waiting_period.from <= next
            {
                account.assign_call(call);
                if call.superstep == superstep {
                    rest = MakespanTerm::Migrations;
                }
                calls = others;
            }
            account.assign_time_until(rest, next);
        }
        account.term_ticks
    }
}

/// Running account of the ticks that a run has spent on each term, from its start up to a time.
#[derive(Debug)]
struct TickAccount {
    tick_grid: TickGrid,
    /// Time up to which the run has been divided between the terms, in ticks.
    assigned_until_ticks: i64,
    end_of_run_ticks: i64,
    /// Time that the run has spent on each term up to now, in ticks, in the order of [`MakespanTerm::ALL`].
    term_ticks: [i64; MakespanTerm::ALL.len()],
}

impl TickAccount {
    /// Adds the time from the end of the last counted interval up to `date` to the term `term`.
    fn assign_time_until(&mut self, term: MakespanTerm, date: Time) {
        let date = self
            .tick_grid
            .round_to_ticks(date)
            .clamp(self.assigned_until_ticks, self.end_of_run_ticks);
        self.term_ticks[term as usize] += date - self.assigned_until_ticks;
        self.assigned_until_ticks = date;
    }

    /// Divides the time of a rescheduling call, and of the migrations that the call decided, between the terms of messages, work,
    /// waiting and migrations.
    fn assign_call(&mut self, call: &CallRecord) {
        self.assign_time_until(MakespanTerm::PrescribedMoves, call.waiting_period.from);
        let is_simulated = call.has_messages && call.waiting_period.from == call.start;
        if is_simulated {
            self.assign_time_until(MakespanTerm::CallMessages, call.decision_period.from);
            self.assign_time_until(MakespanTerm::CallWork, call.decision_period.until);
            self.assign_time_until(MakespanTerm::CallMessages, call.waiting_period.until);
        } else {
            self.assign_time_until(MakespanTerm::CallWaiting, call.waiting_period.until);
        }
        self.assign_time_until(MakespanTerm::Migrations, call.application_delayed_until);
    }
}

/// Returns the exponents of the lowest and the highest set bit of a number; `None` for zero. The number is a multiple of
/// `2^lowest` and lies between `2^highest` and twice that value.
fn set_bit_exponent_range(value: f64) -> Option<(i32, i32)> {
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
        assert_eq!(set_bit_exponent_range(1.0), Some((0, 0)));
        assert_eq!(set_bit_exponent_range(12.0), Some((2, 3)));
        assert_eq!(set_bit_exponent_range(0.625), Some((-3, -1)));
        assert_eq!(set_bit_exponent_range(5e-324), Some((-1074, -1074)));
        assert_eq!(set_bit_exponent_range(0.0), None);
    }

    #[test]
    fn a_ledger_with_a_tick_too_many_does_not_add_up() {
        let mut ledger = MakespanLedger {
            tick_length: Seconds::of(0.5),
            difference_ticks: 3,
            term_ticks: [5, -4, 0, 2, 0, 0, 0],
        };
        assert!(ledger.terms_add_up());
        ledger.term_ticks[4] += 1;
        assert!(!ledger.terms_add_up());
    }

    #[test]
    fn both_makespans_are_on_the_grid() {
        // The last place of 1.5 is 2^-52; that of 0.75 + 2^-53 one less.
        assert_eq!(
            TickGrid::containing_times(time(1.5), time(1.25)).tick_length_exponent,
            -52
        );
        let odd = 0.75 + 2.0_f64.powi(-53);
        let grid = TickGrid::containing_times(time(1.5), time(odd));
        assert_eq!(
            (grid.tick_length_exponent, grid.round_to_ticks(time(odd))),
            (-53, 3 * (1 << 51) + 1)
        );
        assert_eq!(
            TickGrid::containing_times(Time::ZERO, Time::ZERO).round_to_ticks(Time::ZERO),
            0
        );
        // The larger number is 2^62 times the smaller one, and has 62 bits.
        let grid = TickGrid::containing_times(time(2.0_f64.powi(40)), time(2.0_f64.powi(-40)));
        assert_eq!(grid.tick_length_exponent, -21);
    }
}
