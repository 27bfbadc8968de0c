//! Groups of candidates that are in one cluster and prefer the same other cluster. A group moves as a whole, to a cluster with a
//! free host for each of its members.
//!
//! The paper on dynamic platforms (section 5.2) sends the six processes of a cluster together to the Set that "can run them
//! together in one cluster", not to a faster Set with five free nodes. A group consists of the candidates of a call in one
//! cluster whose highest PM (potential of migration) is to the same cluster. The group goes to the first cluster with enough free
//! hosts, in decreasing order of the PM of the first member.

use std::collections::BTreeMap;

use super::potential::MigrationPotential;
use crate::View;

/// The groups of candidates of a rescheduling call, by the present cluster of their members and the cluster that they prefer.
#[derive(Clone, Debug, Default)]
pub(super) struct CandidateGroups(BTreeMap<(usize, usize), CandidateGroup>);

/// A group of candidates that are in one cluster, prefer the same cluster, and move to one cluster together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CandidateGroup {
    member_count: u32,
    /// Whether a destination of the group was already searched, so that `destination_cluster` is valid.
    is_destination_searched: bool,
    /// The number of the cluster to which the group moves; `None` if no cluster has a free host for each member.
    destination_cluster: Option<usize>,
}

impl CandidateGroups {
    /// Creates the groups of all candidates of a call.
    pub(super) fn from_candidates(candidates: &[MigrationPotential], view: &View<'_>) -> Self {
        let mut groups = BTreeMap::new();
        for candidate in candidates {
            let group: &mut CandidateGroup = groups
                .entry(present_and_preferred_cluster(candidate, view))
                .or_default();
            group.member_count += 1;
        }
        Self(groups)
    }

    /// Returns the cluster to which the group of candidates that contains `candidate` moves; `None` if no cluster can take all
    /// members of the group.
    ///
    /// `find` searches this cluster for the number of members of the group; it is called only for the first candidate of the
    /// group.
    pub(super) fn find_destination_cluster(
        &mut self,
        candidate: &MigrationPotential,
        view: &View<'_>,
        find: impl FnOnce(u32) -> Option<usize>,
    ) -> Option<usize> {
        let group = self
            .0
            .entry(present_and_preferred_cluster(candidate, view))
            .or_default();
        if !group.is_destination_searched {
            group.destination_cluster = find(group.member_count);
            group.is_destination_searched = true;
        }
        group.destination_cluster
    }
}

fn present_and_preferred_cluster(
    candidate: &MigrationPotential,
    view: &View<'_>,
) -> (usize, usize) {
    let own = view.cluster_of(candidate.process()).index();
    (own, candidate.cluster())
}
