//! Flows that meet few others: their rates follow from their links at once, without levels that are kept.
//!
//! ```text
//! alone on its links     rate = the least of its bound and of capacity / share
//! up to 8 that meet      progressive filling: the level rises until a link is full or a bound is met, again and again
//! more, or a crowd       levels, repaired around each change (`maxmin::incremental`, the twin)
//! ```
//! Of a library's messages three of four are alone, and need no levels. For those that meet, the filling costs about what levels cost. Flows that meet are connected over links; a flow that once shares by levels does so to its end, and so do those that meet it.
//! All weights are equal, and no link varies.

/// Up to so many flows that meet are few.
const MOST: usize = 8;
/// Up to so many on a link.
const ON_LINK: usize = 4;
/// Links within this of the least level fill up together.
const SAME_LEVEL: f64 = 1.0 + 1e-13;

/// The few flows on all links.
#[derive(Clone, Debug, Default)]
pub(super) struct FewFlows {
    links: Vec<Link>,
    /// Flows whose rate may have changed, and whether a flow is one of them.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    /// The flows that meet, when each flow was last looked at, and what the current look is called.
    group: Vec<u32>,
    seen: Vec<u32>,
    look: u32,
    open: Vec<OpenLink>,
    rates: Vec<f64>,
}

/// A link: its few flows, how many others share it by levels, and its place among the open ones of a look.
#[derive(Clone, Copy, Debug)]
struct Link {
    capacity: f64,
    flows: [u32; ON_LINK],
    count: usize,
    sharing: u32,
    look: u32,
    place: usize,
}

/// A link while rates are found: the capacity left, the shares of the flows that rise and their number.
#[derive(Clone, Copy, Debug)]
struct OpenLink {
    left: f64,
    pull: f64,
    rising: u32,
    is_full: bool,
}

/// What a flow meets when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    Nobody,
    Few,
    /// It shares by levels, and so do those that [`FewFlows::withdraw`] tells.
    Crowd,
}

/// The links of a flow, each with a share; and the bound of its rate \[B/s\].
pub(super) type Needs<'f> = (&'f [(u32, f64)], f64);

impl FewFlows {
    /// Links of these capacities \[B/s\].
    pub(super) fn new(capacities: impl Iterator<Item = f64>) -> Self {
        let link = |capacity| Link {
            capacity,
            flows: [0; ON_LINK],
            count: 0,
            sharing: 0,
            look: 0,
            place: 0,
        };
        Self {
            links: capacities.map(link).collect(),
            ..Self::default()
        }
    }

    /// A flow starts on these links.
    #[inline]
    pub(super) fn start(&mut self, flow: u32, uses: &[(u32, f64)]) -> Met {
        let (mut most, mut sharing) = (0, 0);
        for used in uses {
            let link = &self.links[used.0 as usize];
            most = most.max(link.count);
            sharing |= link.sharing;
        }
        if sharing > 0 || most == ON_LINK {
            return Met::Crowd;
        }
        for used in uses {
            let link = &mut self.links[used.0 as usize];
            link.flows[link.count] = flow;
            link.count += 1;
        }
        if most == 0 {
            return Met::Nobody;
        }
        self.touch(flow);
        Met::Few
    }

    /// One of the few ends: those that it met have other rates.
    #[inline]
    pub(super) fn end(&mut self, flow: u32, uses: &[(u32, f64)]) {
        if let Some(is_touched) = self.is_touched.get_mut(flow as usize) {
            *is_touched = false;
        }
        for used in uses {
            self.take_off(flow, used.0);
            let Link { flows, count, .. } = self.links[used.0 as usize];
            for other in flows.into_iter().take(count) {
                self.touch(other);
            }
        }
    }

    fn take_off(&mut self, flow: u32, link: u32) {
        let link = &mut self.links[link as usize];
        let flows = &mut link.flows[..link.count];
        if let Some(at) = flows.iter().position(|other| *other == flow) {
            flows[at] = flows[link.count - 1];
            link.count -= 1;
        }
    }

    fn touch(&mut self, flow: u32) {
        let at = flow as usize;
        if at >= self.is_touched.len() {
            self.is_touched.resize(at + 1, false);
        }
        if !std::mem::replace(&mut self.is_touched[at], true) {
            self.touched.push(flow);
        }
    }

    /// Whether a rate may have changed.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.touched.is_empty()
    }

    /// Finds the rates \[B/s\] that may have changed: `settled(flow, rate)`. Flows that meet many are withdrawn and added to `crowd`.
    pub(super) fn settle<'f>(
        &mut self,
        needs: impl Fn(u32) -> Needs<'f>,
        mut settled: impl FnMut(u32, f64),
        crowd: &mut Vec<u32>,
    ) {
        let mut touched = std::mem::take(&mut self.touched);
        for &flow in &touched {
            if !self.is_touched[flow as usize] {
                continue;
            }
            self.gather(needs(flow).0, &needs);
            for &met in &self.group {
                if let Some(is_touched) = self.is_touched.get_mut(met as usize) {
                    *is_touched = false;
                }
            }
            if self.group.len() > MOST {
                self.withdraw_group(&needs, crowd);
                continue;
            }
            self.fill(&needs);
            for (&met, &rate) in self.group.iter().zip(&self.rates) {
                settled(met, rate);
            }
        }
        touched.clear();
        self.touched = touched;
    }

    /// A crowd is on these links: all that can be reached from them share by levels from now on, and are added to it.
    pub(super) fn withdraw<'f>(
        &mut self,
        uses: &[(u32, f64)],
        needs: impl Fn(u32) -> Needs<'f>,
        crowd: &mut Vec<u32>,
    ) {
        self.gather(uses, &needs);
        self.withdraw_group(&needs, crowd);
    }

    fn withdraw_group<'f>(&mut self, needs: &impl Fn(u32) -> Needs<'f>, crowd: &mut Vec<u32>) {
        crowd.extend_from_slice(&self.group);
        for at in 0..self.group.len() {
            let flow = self.group[at];
            if let Some(is_touched) = self.is_touched.get_mut(flow as usize) {
                *is_touched = false;
            }
            for used in needs(flow).0 {
                self.take_off(flow, used.0);
            }
        }
    }

    /// A flow shares these links by levels.
    pub(super) fn share(&mut self, uses: &[(u32, f64)]) {
        for used in uses {
            self.links[used.0 as usize].sharing += 1;
        }
    }

    /// A flow that shared these links by levels ends.
    pub(super) fn leave(&mut self, uses: &[(u32, f64)]) {
        for used in uses {
            self.links[used.0 as usize].sharing -= 1;
        }
    }

    /// All flows are taken off their links.
    pub(super) fn clear(&mut self) {
        for link in &mut self.links {
            (link.count, link.sharing) = (0, 0);
        }
        self.touched.clear();
        self.is_touched.fill(false);
    }

    /// Finds all flows that are connected with these links.
    fn gather<'f>(&mut self, uses: &[(u32, f64)], needs: &impl Fn(u32) -> Needs<'f>) {
        self.group.clear();
        self.look = self.look.wrapping_add(1);
        self.add_those_on(uses);
        let mut at = 0;
        while let Some(&flow) = self.group.get(at) {
            self.add_those_on(needs(flow).0);
            at += 1;
        }
    }

    #[inline]
    fn add_those_on(&mut self, uses: &[(u32, f64)]) {
        for used in uses {
            let Link { flows, count, .. } = self.links[used.0 as usize];
            for flow in flows.into_iter().take(count) {
                let at = flow as usize;
                if at >= self.seen.len() {
                    self.seen.resize(at + 1, self.look.wrapping_sub(1));
                }
                if self.seen[at] != self.look {
                    self.seen[at] = self.look;
                    self.group.push(flow);
                }
            }
        }
    }

    /// Finds the rates of the flows that were gathered.
    fn fill<'f>(&mut self, needs: &impl Fn(u32) -> Needs<'f>) {
        const RISES: f64 = -1.0;
        let Self {
            links,
            group,
            open,
            rates,
            look,
            ..
        } = self;
        open.clear();
        rates.clear();
        for &flow in &*group {
            rates.push(RISES);
            for &(link, share) in needs(flow).0 {
                let state = &mut links[link as usize];
                if state.look != *look {
                    (state.look, state.place) = (*look, open.len());
                    open.push(OpenLink {
                        left: state.capacity,
                        pull: 0.0,
                        rising: 0,
                        is_full: false,
                    });
                }
                let link = &mut open[state.place];
                link.pull += share;
                link.rising += 1;
            }
        }
        let mut rising = group.len();
        while rising > 0 {
            let level = level_of(open);
            let rises = |rate: &f64| *rate < 0.0;
            let is_bound = |flow: u32| needs(flow).1 <= level;
            let mut flows = group.iter().zip(&*rates);
            let has_bound = flows.any(|(flow, rate)| rises(rate) && is_bound(*flow));
            for (&flow, rate) in group.iter().zip(&mut *rates) {
                let (uses, bound) = needs(flow);
                let place = |used: &(u32, f64)| links[used.0 as usize].place;
                let is_met = if has_bound {
                    bound <= level
                } else {
                    uses.iter().any(|used| open[place(used)].is_full)
                };
                if rises(rate) && is_met {
                    *rate = bound.min(level);
                    rising -= 1;
                    for used in uses {
                        open[place(used)].fix(used.1, *rate);
                    }
                }
            }
        }
    }
}

impl OpenLink {
    /// A flow that takes a share of its rate has its rate.
    fn fix(&mut self, share: f64, rate: f64) {
        self.left = (self.left - share * rate).max(0.0);
        self.pull -= share;
        self.rising -= 1;
    }
}

/// The level at which the next links are full; takes note of them.
fn level_of(open: &mut [OpenLink]) -> f64 {
    let level = |link: &OpenLink| {
        if link.rising > 0 {
            link.left / link.pull
        } else {
            f64::INFINITY
        }
    };
    let least = open.iter().map(level).fold(f64::INFINITY, f64::min);
    for link in open {
        link.is_full = level(link) <= least * SAME_LEVEL;
    }
    least
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::maxmin::SharingProblem;
    use super::*;

    #[derive(Clone, Debug)]
    struct Flow {
        uses: Vec<(u32, f64)>,
        bound: f64,
    }

    fn any_flow() -> impl Strategy<Value = Flow> {
        let share = prop_oneof![3 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
        let uses = prop::collection::btree_map(0_u32..10, share, 1..4);
        let bound = prop_oneof![Just(f64::INFINITY), 1.0..20.0_f64];
        (uses, bound).prop_map(|(uses, bound)| Flow {
            uses: uses.into_iter().collect(),
            bound,
        })
    }

    /// Starts and ends flows; after each step the rates of the few are those of the twin, and so is who is one of them.
    fn check(flows: &[Flow], steps: &[usize], capacities: &[f64]) -> Result<(), TestCaseError> {
        let mut few = FewFlows::new(capacities.iter().copied());
        let mut rates = vec![None; flows.len()];
        let mut is_in_crowd = vec![false; flows.len()];
        let needs = |flow: u32| {
            let flow = &flows[flow as usize];
            (&flow.uses[..], flow.bound)
        };
        for &step in steps {
            let at = step % flows.len();
            let (name, uses) = (u32::try_from(at).unwrap(), &flows[at].uses[..]);
            let mut crowd = Vec::new();
            match rates[at].take() {
                Some(_) if std::mem::take(&mut is_in_crowd[at]) => few.leave(uses),
                Some(_) => few.end(name, uses),
                None => {
                    rates[at] = Some(flows[at].bound);
                    match few.start(name, uses) {
                        Met::Nobody => few.touch(name),
                        Met::Few => {}
                        Met::Crowd => {
                            few.withdraw(uses, needs, &mut crowd);
                            crowd.push(name);
                        }
                    }
                }
            }
            few.settle(
                needs,
                |flow, rate| rates[flow as usize] = Some(rate),
                &mut crowd,
            );
            for flow in crowd {
                is_in_crowd[flow as usize] = true;
                few.share(needs(flow).0);
            }
            prop_assert!(few.is_settled());
            let present: Vec<usize> = (0..flows.len()).filter(|at| rates[*at].is_some()).collect();
            let mut twin = SharingProblem::default();
            twin.clear();
            for capacity in capacities {
                twin.add_link(*capacity);
            }
            for &at in &present {
                twin.add_flow(1.0, flows[at].bound, flows[at].uses.iter().copied());
            }
            let mut expected = Vec::new();
            twin.solve(&mut expected);
            for (&at, &expected) in present.iter().zip(&expected) {
                let found = rates[at].unwrap_or(f64::NAN);
                let is_right = (found - expected).abs() <= 1e-12 * expected;
                prop_assert!(is_in_crowd[at] || is_right, "{found} instead of {expected}");
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn few_flows_have_the_rates_of_the_whole_problem(
            flows in prop::collection::vec(any_flow(), 2..14),
            steps in prop::collection::vec(0_usize..1000, 1..60),
            capacities in prop::collection::vec(prop::sample::select(vec![5.0, 10.0, 10.0, 30.0]), 10),
        ) {
            check(&flows, &steps, &capacities)?;
        }
    }
}
