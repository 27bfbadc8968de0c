//! Repeated supersteps: a superstep that equals the previous superstep to the last bit is not simulated; the result of the
//! previous superstep is used instead.
//!
//! ```text
//! all processes left superstep k - 1 together; nothing is in progress; superstep k has the plan and the placement of k - 1
//!     =>  durations, measurements and hash value of k equal those of k - 1; only the times differ
//! ```
//! This holds on a platform whose capacities are constant: local time starts from zero in each superstep, so that neither earlier
//! supersteps nor the policy affect the durations. The remaining steps of a superstep are executed here, in the same order as for
//! a simulated superstep (`run.rs`: the superstep begins, is completed, and is closed).
//!
//! Cost: some 370 instructions per superstep, independently of the number of processes. The reference implementation simulates
//! each superstep again (runtime option `shortcuts`: `at-once`).

use super::{
    invariants,
    memo::{SuperstepDigest, SuperstepResult},
    record::{SuperstepBeginnings, SuperstepTimes},
    reschedule::Between,
    run::Run,
};
use migsim_base::{error::Result, units::Time};

impl Run<'_, '_> {
    /// Processes the supersteps from number `first` on that equal the superstep before `first`, and returns the number of these
    /// supersteps. It stops before the first superstep that differs, after a superstep at whose end processes have to wait for
    /// each other, and when the recorder stops the run.
    pub(super) fn repeat_supersteps(&mut self, first: usize) -> Result<usize> {
        let is_alone = !self.superstep.may_next_superstep_have_begun
            && !self.rescheduling.call.overlaps_superstep
            && self.open_supersteps.is_none();
        let known = self.shortcuts.result_if_repeated(&self.world.placement);
        let Some((result, digest)) = known.filter(|_| is_alone) else {
            return Ok(0);
        };
        self.superstep.is_simulated_by_events = false;
        self.superstep.begin_times.clear();
        let mut next = first;
        let mut start = self.world.engine.now();
        while self.world.repeats_previous_plan(next)
            && self.advance_by_repeated_superstep(next, result)
        {
            start = self.record_repeated_superstep(next, start, &digest)?;
            next += 1;
            if self.rescheduling.between != Between::Nothing || self.recorder.is_stopped() {
                break;
            }
        }
        if next > first && self.rescheduling.between != Between::CallerDecides {
            self.continue_all_processes()?;
        }
        Ok(next - first)
    }

    /// Advances time by the duration of the repeated superstep, and returns whether the clock could advance. Local time starts
    /// from zero in the superstep.
    fn advance_by_repeated_superstep(&mut self, superstep: usize, result: SuperstepResult) -> bool {
        let engine = &mut self.world.engine;
        let has_passed = engine.try_move_time_origin_to_now()
            && engine.try_advance_time(result.duration, result.flow_count);
        if has_passed {
            self.world
                .update_trace(|trace, now| trace.record_repeated_superstep(superstep, now));
        }
        has_passed
    }

    /// Records and checks a repeated superstep after time has advanced to its end, and lets the policy observe it. Returns the
    /// time at which the superstep ended.
    fn record_repeated_superstep(
        &mut self,
        superstep: usize,
        start: Time,
        (digest, longest): &SuperstepDigest,
    ) -> Result<Time> {
        let Self {
            world,
            recorder,
            invariant_sums: checks,
            ..
        } = self;
        world.begin_superstep(superstep);
        let end = world.engine.now();
        self.superstep.local_time_origin = start;
        world.event_log.add_hash(digest);
        *world.times_mut(superstep) = SuperstepTimes {
            start,
            last_computation_end: start + *longest,
            end,
        };
        invariants::check_superstep(world, &self.superstep, checks)?;
        recorder.on_beginnings(SuperstepBeginnings {
            local_time_origin: start,
            begin_delays: &[],
            now: end,
        });
        recorder.on_superstep(superstep, &world.measurements, &world.placement);
        world.ending_superstep = superstep;
        self.rescheduling.observe_superstep(world)?;
        world.event_log.add_time(end.get());
        Ok(end)
    }
}
