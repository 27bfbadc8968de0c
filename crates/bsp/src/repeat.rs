//! Repeated supersteps: supersteps that equal the one before to the last bit.
//!
//! ```text
//! all processes left superstep k - 1 together; nothing is in progress; superstep k has the plan and the placement of k - 1
//!     =>  durations, measures and digest of k are those of k - 1; only its times differ
//! ```
//! This holds on a platform whose capacities are constant: local time starts from zero, so that neither earlier supersteps nor the policy
//! matter. The remaining steps of a superstep are done here, in the order of [`Run::begin`], [`Run::complete`] and `Run::close`.
//!
//! Cost: some 370 instructions per superstep, whatever the number of processes. Twin: the supersteps themselves, simulated again
//! (`shortcuts` of the runtime: `at-once`).

use super::invariants;
use super::record::{Beginnings, SuperstepDates};
use super::run::Run;
use super::shortcut::{Digest, SuperstepResult};
use migsim_base::error::Error;
use migsim_base::units::Time;

impl Run<'_, '_> {
    /// Processes the supersteps from `first` on that equal the one before; returns their number. It ends when all processes meet after one
    /// of them or the recorder stops the run.
    pub(super) fn repeat(&mut self, first: usize) -> Result<usize, Error> {
        let is_alone = !self.superstep.is_underway
            && !self.rescheduling.call.is_overlapped
            && self.ahead.is_none();
        let known = self.shortcuts.repeated(&self.world.placement);
        let Some((result, digest)) = known.filter(|_| is_alone) else {
            return Ok(0);
        };
        self.superstep.is_by_events = false;
        self.superstep.began.clear();
        let mut next = first;
        let mut start = self.world.engine.now();
        while self.world.repeats(next) && self.pass(next, result) {
            start = self.date(next, start, &digest)?;
            next += 1;
            if self.rescheduling.is_held || self.recorder.is_stopped() {
                break;
            }
        }
        if next > first && !self.rescheduling.awaits_answer {
            self.go_on_together()?;
        }
        Ok(next - first)
    }

    /// Advances time by the duration of one more superstep, on a clock that begins with it; returns whether the clock could advance.
    fn pass(&mut self, superstep: usize, result: SuperstepResult) -> bool {
        let engine = &mut self.world.engine;
        engine.rebase() && engine.repeat(superstep, (result.duration, result.flows))
    }

    /// Sets the times of a superstep whose time has passed, and checks and records it; the policy observes it. Returns its end.
    fn date(
        &mut self,
        superstep: usize,
        start: Time,
        (digest, longest): &Digest,
    ) -> Result<Time, Error> {
        let Self {
            world,
            recorder,
            checks,
            ..
        } = self;
        world.enter(superstep);
        let end = world.engine.now();
        self.superstep.origin = start;
        world.log.log(digest);
        world.outcome.supersteps[superstep] = SuperstepDates {
            start,
            computed: start + *longest,
            end,
        };
        invariants::check_superstep(world, &self.superstep, &self.shortcuts, checks)?;
        recorder.began(Beginnings {
            origin: start,
            after: &[],
            now: end,
        });
        recorder.superstep(superstep, &world.measures, &world.placement);
        world.ending = superstep;
        self.rescheduling.observe(world)?;
        world.log.date(end.get());
        Ok(end)
    }
}
