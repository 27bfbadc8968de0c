//! The share of a host or link that a load leaves over time. It is drawn once for all scenarios and all runs of a sweep.
//!
//! ```text
//! share = 1 - load
//! drawn:   block 0 (8 steps), block 1 (16), ..., then 128 each, up to the latest step that any run has read and memory allows
//! ```
//! A run reads the blocks without calling the generator; beyond the available memory it draws blocks of its own, from the beginning. The
//! blocks are equal in both cases, because the steps that a run knows in advance must not depend on other runs. A host that was not needed
//! for a while applies the steps of a block at once. Cost: 3 ns per step that is drawn already, and 16 B of memory per step.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Load, MOST_LOAD};
use crate::{Steps, StepsAhead};
use migsim_base::random::Stream;

/// Number of steps that the loads of one platform may still store.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<AtomicUsize>);

impl Default for Room {
    fn default() -> Self {
        Self::of(1 << 18) // 4 MB
    }
}

impl Room {
    fn of(steps: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(steps)))
    }

    /// Reserves memory for steps; returns whether there was enough.
    fn take(&self, steps: usize) -> bool {
        let left = |left: usize| left.checked_sub(steps);
        let order = Ordering::Relaxed;
        self.0.fetch_update(order, order, left).is_ok()
    }
}

/// Steps that were drawn together.
type Block = Arc<[(f64, f64)]>;

/// Returns the number of steps of a block.
fn size(number: usize) -> usize {
    8 << number.min(4)
}

/// A load, its random numbers, and the shares drawn so far.
#[derive(Debug)]
pub(super) struct Course {
    load: Arc<dyn Load>,
    random: Stream,
    room: Room,
    drawn: Mutex<Drawn>,
}

#[derive(Debug, Default)]
struct Drawn {
    blocks: Vec<Block>,
    /// The generator of the following steps; none before the first.
    rest: Option<Box<dyn Steps>>,
}

impl Course {
    pub(super) fn new(load: &Arc<dyn Load>, random: Stream, room: &Room) -> Self {
        Self {
            load: Arc::clone(load),
            random,
            room: room.clone(),
            drawn: Mutex::default(),
        }
    }

    /// Returns the shares that the load leaves, from the first one on.
    pub(super) fn follow(self: &Arc<Self>) -> CourseReader {
        CourseReader {
            course: Arc::clone(self),
            block: Arc::new([]),
            at: 0,
            blocks: 0,
            passed: 0,
            own: None,
        }
    }

    fn start(&self) -> Box<dyn Steps> {
        let loads = self.load.steps(self.random.clone());
        Box::new(loads.map(|(date, load)| {
            debug_assert!((0.0..=MOST_LOAD).contains(&load), "{load} is no load");
            (date, 1.0 - load)
        }))
    }

    /// Returns a block, which is empty after the last step; none if there is no memory for it.
    fn block(&self, number: usize) -> Option<Block> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = drawn.blocks.get(number) {
            return Some(Arc::clone(block));
        }
        if !self.room.take(size(number)) {
            return None;
        }
        let rest = drawn.rest.get_or_insert_with(|| self.start());
        let block: Block = rest.take(size(number)).collect();
        drawn.blocks.push(Arc::clone(&block));
        Some(block)
    }
}

/// Reads the steps of a course one after the other.
#[derive(Debug)]
pub(super) struct CourseReader {
    course: Arc<Course>,
    block: Block,
    /// Index of the next step in the block.
    at: usize,
    /// Number of blocks read, and number of steps before the present block.
    blocks: usize,
    passed: usize,
    /// The generator of steps beyond the stored blocks and the present block.
    own: Option<Box<dyn Steps>>,
}

impl CourseReader {
    #[cold]
    fn turn(&mut self) -> Option<(f64, f64)> {
        if self.blocks > 0 && self.block.is_empty() {
            return None;
        }
        self.passed += self.block.len();
        let are_shared = self.own.is_none();
        let shared = are_shared.then(|| self.course.block(self.blocks)).flatten();
        self.block = shared.unwrap_or_else(|| {
            let (course, passed) = (&self.course, self.passed);
            let start = || -> Box<dyn Steps> { Box::new(course.start().skip(passed)) };
            let own = self.own.get_or_insert_with(start);
            own.take(size(self.blocks)).collect()
        });
        self.blocks += 1;
        self.at = 1;
        self.block.first().copied()
    }
}

impl Iterator for CourseReader {
    type Item = (f64, f64);

    #[inline]
    fn next(&mut self) -> Option<(f64, f64)> {
        let step = self.block.get(self.at).copied();
        self.at += usize::from(step.is_some());
        step.or_else(|| self.turn())
    }
}

impl Clone for CourseReader {
    /// Returns a reader at the same position. The copy draws steps beyond the stored blocks again, from the beginning, once it reaches them.
    fn clone(&self) -> Self {
        let begun = self.passed + self.block.len();
        let own = |_: &_| -> Box<dyn Steps> { Box::new(self.course.start().skip(begun)) };
        Self {
            course: Arc::clone(&self.course),
            block: Arc::clone(&self.block),
            own: self.own.as_ref().map(own),
            ..*self
        }
    }
}

impl StepsAhead for CourseReader {
    fn boxed_clone(&self) -> Box<dyn StepsAhead> {
        Box::new(self.clone())
    }

    #[inline]
    fn ahead(&self) -> &[(f64, f64)] {
        self.block.get(self.at..).unwrap_or_default() // nothing behind the last step
    }

    #[inline]
    fn pass(&mut self, count: usize) {
        self.at += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::random::Purpose;

    /// A load of this number of steps, each drawn.
    #[derive(Debug)]
    struct Drawing(usize);

    impl Load for Drawing {
        fn steps(&self, mut random: Stream) -> Box<dyn Steps> {
            let step = move |at: usize| (at as f64, MOST_LOAD * random.unit());
            Box::new((0..self.0).map(step).collect::<Vec<_>>().into_iter())
        }
    }

    #[test]
    fn readers_get_the_steps_of_the_load_from_stored_and_own_blocks() {
        for count in [0, 1, 2, 6, 7, 300] {
            let load: Arc<dyn Load> = Arc::new(Drawing(count));
            let random = || Stream::named(1, Purpose::HostLoad, "a host");
            let loads = load.steps(random());
            let expected: Vec<_> = loads.map(|(date, load)| (date, 1.0 - load)).collect();
            let mut known_with_no_room = None;
            for room in [0, 7, 8, 24, 100, 1000] {
                let course = Arc::new(Course::new(&load, random(), &Room::of(room)));
                let few: Vec<_> = course.follow().take(3).collect();
                assert_eq!(few, expected[..count.min(3)]);
                for _ in 0..2 {
                    let mut half = course.follow();
                    let before = half.by_ref().take(count / 2).count();
                    let rest = || expected[before..].iter().copied();
                    assert!(half.clone().eq(rest()) && half.eq(rest()), "{count} {room}");
                    let mut all = course.follow();
                    assert!(all.by_ref().eq(expected.iter().copied()), "{count} {room}");
                    assert_eq!(all.next(), None);
                    let (mut at_once, mut ahead, mut known) = (course.follow(), vec![], vec![]);
                    while let Some(step) = at_once.next() {
                        ahead.push(step);
                        let some = &at_once.ahead()[..at_once.ahead().len().min(40)];
                        ahead.extend_from_slice(some);
                        known.push(at_once.ahead().len());
                        at_once.pass(known[known.len() - 1].min(40));
                    }
                    assert_eq!(ahead, expected);
                    let first = known_with_no_room.get_or_insert_with(|| known.clone());
                    assert_eq!(known, *first, "{count} {room}");
                }
            }
        }
    }
}
