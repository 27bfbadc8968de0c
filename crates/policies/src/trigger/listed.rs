//! Calls at given barriers, for the search for the best calls of a policy, which are known only after a run.

use super::{Observed, Trigger};

/// The trigger: yes after the supersteps of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The supersteps, counted from 1, in order.
    calls: Vec<usize>,
}

impl Listed {
    /// Creates a trigger for calls after these supersteps, counted from 1, in order.
    pub fn new(calls: &[usize]) -> Self {
        Self {
            calls: calls.to_vec(),
        }
    }
}

impl Trigger for Listed {
    fn is_due(&mut self, observed: &Observed) -> bool {
        self.calls.binary_search(&(observed.superstep + 1)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_yes_after_the_supersteps_of_its_list() {
        let mut trigger = Listed::new(&[2, 5]);
        let due = (0..6).filter(|superstep| {
            trigger.is_due(&Observed {
                superstep: *superstep,
                ..Observed::default()
            })
        });
        assert_eq!(due.collect::<Vec<_>>(), [1, 4]);
    }
}
