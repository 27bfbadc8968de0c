//! Triggers balancings after given supersteps. This trigger is used in the search for the best rescheduling calls of a policy,
//! which are known only after a run.

use super::{ObservedSuperstep, Trigger};

/// A trigger that requests a balancing after each superstep of a list.
#[derive(Clone, Debug)]
pub struct ListedCallsTrigger {
    /// The supersteps after which a balancing is requested, counted from 1, in increasing order.
    call_supersteps: Vec<usize>,
}

impl ListedCallsTrigger {
    /// Creates a trigger that requests a balancing after each of these supersteps, which are counted from 1 and in increasing
    /// order.
    pub fn new(calls: &[usize]) -> Self {
        Self {
            call_supersteps: calls.to_vec(),
        }
    }
}

impl Trigger for ListedCallsTrigger {
    fn is_due(&mut self, observed: &ObservedSuperstep) -> bool {
        self.call_supersteps
            .binary_search(&(observed.superstep + 1))
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_yes_after_the_supersteps_of_its_list() {
        let mut trigger = ListedCallsTrigger::new(&[2, 5]);
        let due = (0..6).filter(|superstep| {
            trigger.is_due(&ObservedSuperstep {
                superstep: *superstep,
                ..ObservedSuperstep::default()
            })
        });
        assert_eq!(due.collect::<Vec<_>>(), [1, 4]);
    }
}
