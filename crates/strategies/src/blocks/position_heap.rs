//! The heap of Charm++'s greedy refinement strategies: the host with the smallest load is at the top, and any host can be
//! removed.

use super::Real;

/// A heap of hosts by load, with the smallest load at the top. Positions are counted from 1 as in the original program, so that
/// position 0 is unused.
#[derive(Clone, Debug, Default)]
pub(crate) struct PositionHeap {
    host_at_position: Vec<usize>,
    position_of_host: Vec<usize>,
}

impl PositionHeap {
    /// Creates a list of the hosts from 0 to `hosts - 1` in this order, which becomes a heap when [`Self::build_heap`] is called.
    pub(crate) fn new_unordered(hosts: usize) -> Self {
        let mut items = vec![usize::MAX];
        items.extend(0..hosts);
        Self {
            host_at_position: items,
            position_of_host: (1..=hosts).collect(),
        }
    }

    /// Reorders the hosts in the list so that they form a heap by load; `loads` contains the load of each host.
    pub(crate) fn build_heap<R: PartialOrd>(&mut self, loads: &[R]) {
        for parent in (1..=self.last_position() / 2).rev() {
            let mut at = parent;
            loop {
                let mut least = at;
                for child in [2 * at, 2 * at + 1] {
                    if child <= self.last_position() && self.is_less(child, least, loads) {
                        least = child;
                    }
                }
                if least == at {
                    break;
                }
                self.swap(at, least);
                at = least;
            }
        }
    }

    /// Returns the host with the smallest load; `None` if the heap is empty.
    pub(crate) fn top(&self) -> Option<usize> {
        self.host_at_position.get(1).copied()
    }

    pub(crate) fn push<R: PartialOrd>(&mut self, host: usize, loads: &[R]) {
        self.host_at_position.push(host);
        self.position_of_host[host] = self.last_position();
        self.rise_from(self.last_position(), loads);
    }

    /// Removes a host from the heap; does nothing if the host is not in the heap.
    pub(crate) fn remove<R: PartialOrd>(&mut self, host: usize, loads: &[R]) {
        let at = std::mem::take(&mut self.position_of_host[host]);
        if at == 0 {
            return;
        }
        let moved = self.host_at_position.pop().unwrap_or(host);
        if moved == host {
            return; // it was the last one
        }
        self.host_at_position[at] = moved;
        self.position_of_host[moved] = at;
        if at > 1 && self.is_less(at, at / 2, loads) {
            self.rise_from(at, loads);
        } else {
            self.sink_from(at, loads);
        }
    }

    pub(crate) fn add_load<R: Real>(&mut self, host: usize, load: R, loads: &mut [R]) {
        self.remove(host, loads);
        loads[host] += load;
        self.push(host, loads);
    }

    fn last_position(&self) -> usize {
        self.host_at_position.len() - 1
    }

    fn is_less<R: PartialOrd>(&self, a: usize, b: usize, loads: &[R]) -> bool {
        loads[self.host_at_position[a]] < loads[self.host_at_position[b]]
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.host_at_position.swap(a, b);
        self.position_of_host[self.host_at_position[a]] = a;
        self.position_of_host[self.host_at_position[b]] = b;
    }

    fn rise_from<R: PartialOrd>(&mut self, mut at: usize, loads: &[R]) {
        while at > 1 && self.is_less(at, at / 2, loads) {
            self.swap(at, at / 2);
            at /= 2;
        }
    }

    /// Moves the host at a position of the heap down while a child has a strictly smaller load. The host changes places with the
    /// child that has the smaller load (in case of ties the right child).
    fn sink_from<R: PartialOrd>(&mut self, mut at: usize, loads: &[R]) {
        while 2 * at <= self.last_position() {
            let left = 2 * at;
            let right = 2 * at + 1;
            let child = if right <= self.last_position() && !self.is_less(left, right, loads) {
                right
            } else {
                left
            };
            if !self.is_less(child, at, loads) {
                break;
            }
            self.swap(at, child);
            at = child;
        }
    }
}
