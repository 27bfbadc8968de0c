//! Counts how many activities use each host or link, at the present time and just before the present time.

/// The number of activities that use one host or link, now and before the last change.
#[derive(Clone, Copy, Debug, Default)]
struct UserCounts {
    present_users: u32,
    users_before_last_change: u32,
    /// Time of the last change of the number of users \[s\].
    time_of_change: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct UsageCounts(Vec<UserCounts>);

impl UsageCounts {
    pub(super) fn new(count: usize) -> Self {
        Self(vec![UserCounts::default(); count])
    }

    fn user_count_at_change(&mut self, index: usize, time: f64) -> &mut u32 {
        let users = &mut self.0[index];
        if users.time_of_change != time {
            users.users_before_last_change = users.present_users;
            users.time_of_change = time;
        }
        &mut users.present_users
    }

    /// Records that one more activity uses a host or link from the time `time` \[s\] on.
    pub(super) fn add_user(&mut self, index: usize, time: f64) {
        *self.user_count_at_change(index, time) += 1;
    }

    /// Records that one activity less uses a host or link from the time `time` \[s\] on.
    pub(super) fn remove_user(&mut self, index: usize, time: f64) {
        let users = self.user_count_at_change(index, time);
        *users = users.saturating_sub(1);
    }

    /// Returns the number of activities that used a host or link just before the time `time` \[s\], but at least 1. The time must
    /// not be before the last change of the number.
    pub(super) fn user_count_before(&self, index: usize, time: f64) -> u32 {
        let users = &self.0[index];
        let count = if users.time_of_change == time {
            users.users_before_last_change
        } else {
            users.present_users
        };
        count.max(1)
    }
}
