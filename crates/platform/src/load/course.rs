//! Draws and stores what a load takes of a host or link over time, as steps: times, each with the value from then on. The steps are
//! drawn once and shared by all scenarios and all runs of a sweep.
//!
//! ```text
//! drawn steps:   block 0 (8 steps), block 1 (16), ..., then 128 each, up to the latest step that any run has read, as far as the memory for steps suffices
//! value of a step = 1 - load       for a reservation: the share of the capacity that is left
//!                 = load · c       for other work with this utilisation of c cores: the number of busy cores
//!                 = load           for other work with this load average
//! ```
//! A run that reads stored blocks needs no random numbers. If the memory for stored blocks is used up, a run generates all steps
//! again from the beginning, and stores only the steps of the present block. Block sizes are the same in both cases, because the
//! number of steps that a run knows in advance must not depend on other runs. A host that was idle for a while can apply several
//! steps of a block in one operation. Cost: 3 ns per stored step that is read, and 16 B of memory per stored step.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use super::{Load, MAX_LOAD, Values};
use crate::{BufferedSteps, Steps};
use migsim_base::{error::catch_panic, random::Stream};

/// Number of further steps that the background loads of one platform may store in memory; clones share the same counter.
#[derive(Clone, Debug)]
pub(super) struct StepBudget(Arc<AtomicUsize>);

impl Default for StepBudget {
    fn default() -> Self {
        Self::with_steps(1 << 18) // 4 MB
    }
}

impl StepBudget {
    fn with_steps(steps: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(steps)))
    }

    fn try_reserve(&self, steps: usize) -> bool {
        let left = |left: usize| left.checked_sub(steps);
        let order = Ordering::Relaxed;
        self.0.fetch_update(order, order, left).is_ok()
    }
}

/// Steps that are drawn and stored together: for each step, the time \[s\] and its value.
type StepBlock = Arc<[(f64, f64)]>;

fn steps_in_block(number: usize) -> usize {
    8 << number.min(4)
}

/// What the values of a load on a host or link mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub values: Values,
    /// Number of cores of the host.
    pub cores: f64,
}

impl Meaning {
    /// Converts a load to the value of a step.
    pub(super) fn value_of(self, load: f64) -> f64 {
        match self.values {
            Values::Utilisation => load * self.cores,
            Values::LoadAverage => load,
            Values::Reserved => 1.0 - load.min(MAX_LOAD),
        }
    }
}

/// A background load on one host or link, its stream of random numbers, and the steps drawn so far. All runs read the same
/// object.
#[derive(Debug)]
pub(super) struct DrawnLoad {
    load: Arc<dyn Load>,
    meaning: Meaning,
    initial_random: Stream,
    budget: StepBudget,
    stored_steps: Mutex<Drawn>,
    /// What is wrong with the first wrong step, with which the load ends.
    fault: Arc<OnceLock<String>>,
}

#[derive(Debug, Default)]
struct Drawn {
    blocks: Vec<StepBlock>,
    generator: Option<Box<dyn Steps>>,
}

impl DrawnLoad {
    pub(super) fn new(
        load: &Arc<dyn Load>,
        meaning: Meaning,
        random: Stream,
        room: &StepBudget,
    ) -> Self {
        Self {
            load: Arc::clone(load),
            meaning,
            initial_random: random,
            budget: room.clone(),
            stored_steps: Mutex::default(),
            fault: Arc::default(),
        }
    }

    /// Returns what is wrong with the steps that were read; `None` if they are right.
    pub(super) fn fault(&self) -> Option<&String> {
        self.fault.get()
    }

    pub(super) fn reader(self: &Arc<Self>) -> DrawnLoadReader {
        DrawnLoadReader {
            drawn_load: Arc::clone(self),
            present_block: Arc::new([]),
            next_step_index: 0,
            read_block_count: 0,
            steps_before_block: 0,
            fallback_generator: None,
        }
    }

    /// Returns a generator of the steps of the load; the generator starts at the first step.
    fn step_generator(&self) -> Box<dyn Steps> {
        let loads = catch_panic(|| self.load.steps(self.initial_random.clone())).map_err(|text| {
            let _ = self.fault.set(format!("it panics: {text}"));
        });
        Box::new(CheckedSteps {
            steps: loads.ok(),
            meaning: self.meaning,
            last_time: 0.0,
            steps_at_last_time: 0,
            fault: Arc::clone(&self.fault),
        })
    }

    /// Returns the block of steps with the number `number`, counted from 0, which is drawn if necessary; `None` if there is no
    /// memory to store the block. The block is empty after the last step of the load.
    fn stored_block(&self, number: usize) -> Option<StepBlock> {
        let mut drawn = self
            .stored_steps
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = drawn.blocks.get(number) {
            return Some(Arc::clone(block));
        }
        if !self.budget.try_reserve(steps_in_block(number)) {
            return None;
        }
        let block: StepBlock = drawn
            .generator
            .get_or_insert_with(|| self.step_generator())
            .take(steps_in_block(number))
            .collect();
        drawn.blocks.push(Arc::clone(&block));
        Some(block)
    }
}

/// Maximum number of steps of a load at one time; a load whose times converge would never end.
const MAX_STEPS_AT_A_TIME: usize = 1_000;

/// The steps of a load. They are checked, since the load may be a user's own; they end at the first wrong step.
#[derive(Debug)]
struct CheckedSteps {
    steps: Option<Box<dyn Steps>>,
    meaning: Meaning,
    last_time: f64,
    steps_at_last_time: usize,
    fault: Arc<OnceLock<String>>,
}

impl Iterator for CheckedSteps {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        let steps = self.steps.as_mut()?;
        catch_panic(|| steps.next())
            .map_err(|text| format!("it panics: {text}"))
            .and_then(|step| step.map(|step| self.check(step)).transpose())
            .unwrap_or_else(|fault| {
                let _ = self.fault.set(fault);
                self.steps = None;
                None
            })
    }
}

impl CheckedSteps {
    fn check(&mut self, (time, load): (f64, f64)) -> Result<(f64, f64), String> {
        let most = self.meaning.values.most();
        if !(0.0..=most).contains(&load) {
            return Err(format!(
                "its value at {time} s is {load}, not from 0 to {most}"
            ));
        }
        let last = self.last_time;
        if !(time >= last && time.is_finite()) {
            return Err(format!(
                "its step at {last} s is followed by a step at {time} s"
            ));
        }
        self.steps_at_last_time = if time > last {
            0
        } else {
            self.steps_at_last_time + 1
        };
        if self.steps_at_last_time > MAX_STEPS_AT_A_TIME {
            return Err(format!(
                "it has more than {MAX_STEPS_AT_A_TIME} steps at {time} s"
            ));
        }
        self.last_time = time;
        Ok((time, self.meaning.value_of(load)))
    }
}

/// Iterator over the steps of a load on one host or link, in the order of time.
#[derive(Debug)]
pub(super) struct DrawnLoadReader {
    drawn_load: Arc<DrawnLoad>,
    present_block: StepBlock,
    next_step_index: usize,
    read_block_count: usize,
    steps_before_block: usize,
    /// Generator that this reader uses alone, for the steps after the present block; `None` while the stored blocks suffice.
    fallback_generator: Option<Box<dyn Steps>>,
}

impl DrawnLoadReader {
    #[cold]
    fn load_block_and_take_first_step(&mut self) -> Option<(f64, f64)> {
        if self.read_block_count > 0 && self.present_block.is_empty() {
            return None;
        }
        self.steps_before_block += self.present_block.len();
        self.present_block = self
            .fallback_generator
            .is_none()
            .then(|| self.drawn_load.stored_block(self.read_block_count))
            .flatten()
            .unwrap_or_else(|| {
                let course = &self.drawn_load;
                let passed = self.steps_before_block;
                self.fallback_generator
                    .get_or_insert_with(|| -> Box<dyn Steps> {
                        Box::new(course.step_generator().skip(passed))
                    })
                    .take(steps_in_block(self.read_block_count))
                    .collect()
            });
        self.read_block_count += 1;
        self.next_step_index = 1;
        self.present_block.first().copied()
    }
}

impl Iterator for DrawnLoadReader {
    type Item = (f64, f64);

    #[inline]
    fn next(&mut self) -> Option<(f64, f64)> {
        let step = self.present_block.get(self.next_step_index).copied();
        self.next_step_index += usize::from(step.is_some());
        step.or_else(|| self.load_block_and_take_first_step())
    }
}

impl Clone for DrawnLoadReader {
    /// Returns a reader at the same position. Once the copy reaches steps beyond the stored blocks, it generates the steps again
    /// from the beginning.
    fn clone(&self) -> Self {
        let begun = self.steps_before_block + self.present_block.len();
        let own =
            |_: &_| -> Box<dyn Steps> { Box::new(self.drawn_load.step_generator().skip(begun)) };
        Self {
            drawn_load: Arc::clone(&self.drawn_load),
            present_block: Arc::clone(&self.present_block),
            fallback_generator: self.fallback_generator.as_ref().map(own),
            ..*self
        }
    }
}

impl BufferedSteps for DrawnLoadReader {
    fn boxed_clone(&self) -> Box<dyn BufferedSteps> {
        Box::new(self.clone())
    }

    #[inline]
    fn computed_steps(&self) -> &[(f64, f64)] {
        self.present_block
            .get(self.next_step_index..)
            .unwrap_or_default() // nothing behind the last step
    }

    #[inline]
    fn skip_steps(&mut self, count: usize) {
        self.next_step_index += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::random::StreamPurpose;

    /// A load of this number of steps, each drawn.
    #[derive(Debug)]
    struct Drawing(usize);

    impl Load for Drawing {
        fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
            let step = move |at: usize| (at as f64, MAX_LOAD * random.draw_from_zero_to_one());
            Box::new((0..self.0).map(step).collect::<Vec<_>>().into_iter())
        }
    }

    #[test]
    fn readers_get_the_steps_of_the_load_from_stored_and_own_blocks() {
        let meaning = Meaning {
            values: Values::Reserved,
            cores: 1.0,
        };
        for count in [0, 1, 2, 6, 7, 300] {
            let load: Arc<dyn Load> = Arc::new(Drawing(count));
            let random = || Stream::for_object(1, StreamPurpose::HostLoad, "a host");
            let loads = load.steps(random());
            let expected: Vec<_> = loads.map(|(date, load)| (date, 1.0 - load)).collect();
            let mut known_with_no_room = None;
            for room in [0, 7, 8, 24, 100, 1000] {
                let course = Arc::new(DrawnLoad::new(
                    &load,
                    meaning,
                    random(),
                    &StepBudget::with_steps(room),
                ));
                let few: Vec<_> = course.reader().take(3).collect();
                assert_eq!(few, expected[..count.min(3)]);
                for _ in 0..2 {
                    let mut half = course.reader();
                    let before = half.by_ref().take(count / 2).count();
                    let rest = || expected[before..].iter().copied();
                    assert!(half.clone().eq(rest()) && half.eq(rest()), "{count} {room}");
                    let mut all = course.reader();
                    assert!(all.by_ref().eq(expected.iter().copied()), "{count} {room}");
                    assert_eq!(all.next(), None);
                    let (mut at_once, mut ahead, mut known) = (course.reader(), vec![], vec![]);
                    while let Some(step) = at_once.next() {
                        ahead.push(step);
                        let some =
                            &at_once.computed_steps()[..at_once.computed_steps().len().min(40)];
                        ahead.extend_from_slice(some);
                        known.push(at_once.computed_steps().len());
                        at_once.skip_steps(known[known.len() - 1].min(40));
                    }
                    assert_eq!(ahead, expected);
                    let first = known_with_no_room.get_or_insert_with(|| known.clone());
                    assert_eq!(known, *first, "{count} {room}");
                }
            }
        }
    }
}
