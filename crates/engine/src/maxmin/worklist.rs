//! An entry of the work queue of links whose fair-share levels have to be updated, ordered by level.

/// A link to be updated, ordered by its fair-share level and then by its number. Level and number are combined into one integer;
/// the level is not negative, so that its bits sort like its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuedLink(u128);

impl QueuedLink {
    pub(super) fn new(level: f64, link: u32) -> Self {
        Self(u128::from(level.to_bits()) << 32 | u128::from(link))
    }

    pub(super) fn link(self) -> u32 {
        u32::try_from(self.0 & u128::from(u32::MAX)).expect("the lower half")
    }
}
