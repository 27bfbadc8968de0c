//! Counts the activities that use each host or link, at the present time and just before it.

/// The number of activities that use one host or link.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    now: u32,
    /// Number of users just before the time `changed`.
    before: u32,
    /// Time of the last change of the number of users \[s\].
    changed: f64,
}

/// The number of users of every host, or of every link.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage(Vec<Users>);

impl Usage {
    /// Creates the counts for `count` hosts or links, all without users.
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

    /// Counts one more user of a host or link, from the time `time` \[s\] on.
    pub(super) fn add(&mut self, index: usize, time: f64) {
        *self.change(index, time) += 1;
    }

    /// Counts one user less of a host or link, from the time `time` \[s\] on.
    pub(super) fn remove(&mut self, index: usize, time: f64) {
        let users = self.change(index, time);
        *users = users.saturating_sub(1);
    }

    /// Returns the number of users just before the time `time` \[s\], which must not be before the last change; at least 1.
    pub(super) fn users_before(&self, index: usize, time: f64) -> u32 {
        let users = &self.0[index];
        let count = if users.changed == time {
            users.before
        } else {
            users.now
        };
        count.max(1)
    }
}
