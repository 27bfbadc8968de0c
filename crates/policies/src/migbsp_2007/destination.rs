//! The destination of a process in MigBSP of 2007: the host that the manager of the preferred cluster offers (section 2.4).
//!
//! The manager sorts its processors by decreasing `ICPU(p) = peak(p) · (1 - load(p))` (equation 10) and takes the first processor
//! whose host has memory for the process. If no host has enough memory, the migration fails and the process stays. Communication
//! inside a cluster is uniform and has no effect.
//!
//! The paper does not say how one call places several processes. Here a process that is sent to a host occupies one processor of
//! this host when later processes of the same call are placed (the load of the host grows by 1/cores, and its ICPU stays at least
//! 0). The memory of the process is counted on the new host. The measured load of the old host does not change. If several hosts
//! have equal ICPU, the host with the lower load comes first (this distinguishes hosts with ICPU 0), then the host with the
//! lowest index.

use super::{config::MigBsp2007Config, load::HostLoads};
use crate::View;
use migsim_base::units::{HostId, InstructionsPerSecond};

/// Returns ICPU, the computing power of a processor that its load leaves \[instr/s\] (equation 10); `load` is a share in \[0,
/// 1\].
pub(super) fn remaining_power(peak: InstructionsPerSecond, load: f64) -> f64 {
    peak.get() * (1.0 - load)
}

#[derive(Clone, Debug)]
pub(super) struct HostOffers<'a> {
    view: &'a View<'a>,
    /// The load(p) of each host as measured, plus 1/cores for each process that this call has sent to the host.
    loads: Vec<f64>,
    /// Memory used by processes on each host \[B\], including the moves that this call has decided.
    used_memory: Vec<f64>,
}

impl<'a> HostOffers<'a> {
    pub(super) fn new(
        config: &MigBsp2007Config,
        loads: &mut HostLoads,
        view: &'a View<'a>,
    ) -> Self {
        let hosts = view.platform.hosts.len();
        let mut memory = vec![0.0; hosts];
        for (host, image) in view.placement.iter().zip(view.process_memory) {
            memory[host.index()] += image.get();
        }
        Self {
            view,
            loads: (0..hosts)
                .map(|host| loads.mean_load(config, HostId::from_index(host), view))
                .collect(),
            used_memory: memory,
        }
    }

    /// Returns the host that the manager of `cluster` offers to `process`; `None` if no host has memory for the process. It is
    /// the host with the largest ICPU (remaining computing power).
    pub(super) fn best_host(&self, process: usize, cluster: usize) -> Option<HostId> {
        let mut best: Option<(f64, f64, HostId)> = None;
        for host in self.view.platform.clusters[cluster].hosts.clone() {
            let host = HostId(host);
            if !self.has_host_memory_for_process(process, host) {
                continue;
            }
            let load = self.loads[host.index()];
            let power =
                remaining_power(self.view.platform.hosts[host.index()].speed, load.min(1.0));
            let is_before = |(most, least, _)| power > most || (power == most && load < least);
            if best.is_none_or(is_before) {
                best = Some((power, load, host));
            }
        }
        best.map(|(.., host)| host)
    }

    pub(super) fn reserve_host(&mut self, process: usize, to: HostId) {
        let image = self.view.process_memory[process].get();
        self.used_memory[self.view.placement[process].index()] -= image;
        self.used_memory[to.index()] += image;
        let cores = self.view.platform.hosts[to.index()].cores;
        self.loads[to.index()] += 1.0 / f64::from(cores);
    }

    fn has_host_memory_for_process(&self, process: usize, host: HostId) -> bool {
        if self.view.placement[process] == host {
            return true;
        }
        let needed = self.used_memory[host.index()] + self.view.process_memory[process].get();
        let limit = self.view.platform.hosts[host.index()].memory;
        limit.is_none_or(|limit| needed <= limit.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn icpu_is_what_others_leave_of_the_peak() {
        let icpu = remaining_power(InstructionsPerSecond::of(2e9), 0.25);
        assert_eq!(icpu, 1.5e9);
    }
}
