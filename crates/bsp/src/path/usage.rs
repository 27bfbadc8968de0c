//! The number of activities that use a host or a link, now and just before the present.

/// Users of one resource.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    now: u32,
    /// Number of users before the changes at the time `changed`.
    before: u32,
    /// The time of the last change \[s\].
    changed: f64,
}

/// The users of all resources of a kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage(Vec<Users>);

impl Usage {
    /// Creates the state of `count` resources without users.
    pub(super) fn new(count: usize) -> Self {
        Self(vec![Users::default(); count])
    }

    fn change(&mut self, index: usize, time: f64) -> &mut u32 {
        let users = &mut self.0[index];
        if users.changed != time {
            users.before = users.now;
            users.changed = time;
        }
        &mut users.now
    }

    /// Adds a user from this time on.
    pub(super) fn add(&mut self, index: usize, time: f64) {
        *self.change(index, time) += 1;
    }

    /// Removes a user from this time on.
    pub(super) fn remove(&mut self, index: usize, time: f64) {
        let users = self.change(index, time);
        *users = users.saturating_sub(1);
    }

    /// Returns the number of users until this time, which is the time of the last change or later; at least one.
    pub(super) fn until(&self, index: usize, time: f64) -> u32 {
        let users = &self.0[index];
        let count = if users.changed == time {
            users.before
        } else {
            users.now
        };
        count.max(1)
    }
}
