//! Flows that are alone on their links: their rates follow from their routes, and nothing is shared.
//!
//! ```text
//! link:  free -> held by a lone flow -> shared by n flows -> free when the last one has left
//! ```
//! A flow that starts on free links is alone. When another one starts on a link of it, both share, and a flow that shares does so to its end.
//! Of a library's messages three of four never meet another one. Only flows of weight 1 are alone: for them the rate of the sharing
//! ([`super::maxmin::incremental`], the twin) is the rate alone to the bit.

/// The flows on each link, by those that are alone and those that share.
#[derive(Clone, Debug, Default)]
pub(super) struct LoneFlows {
    links: Vec<Tenancy>,
}

#[derive(Clone, Copy, Debug)]
struct Tenancy {
    /// The lone flow, else `NOBODY`.
    lone: u32,
    /// How many flows share.
    sharing: u32,
}

const NOBODY: u32 = u32::MAX;
const FREE: Tenancy = Tenancy {
    lone: NOBODY,
    sharing: 0,
};

impl LoneFlows {
    /// So many links without flows.
    pub(super) fn new(links: usize) -> Self {
        Self {
            links: vec![FREE; links],
        }
    }

    /// A flow starts on these links; whether it is alone there.
    #[inline]
    pub(super) fn start(&mut self, flow: u32, uses: &[(u32, f64)]) -> bool {
        let is_free = |link: &Tenancy| link.lone == NOBODY && link.sharing == 0;
        let are_free = uses
            .iter()
            .all(|used| is_free(&self.links[used.0 as usize]));
        if are_free {
            for used in uses {
                self.links[used.0 as usize].lone = flow;
            }
        }
        are_free
    }

    /// The lone flow of a link.
    #[inline]
    pub(super) fn on(&self, link: u32) -> Option<u32> {
        let lone = self.links[link as usize].lone;
        (lone != NOBODY).then_some(lone)
    }

    /// A lone flow ends, or is alone no more.
    #[inline]
    pub(super) fn end(&mut self, uses: &[(u32, f64)]) {
        for used in uses {
            self.links[used.0 as usize].lone = NOBODY;
        }
    }

    /// A flow shares these links from now on.
    pub(super) fn share(&mut self, uses: &[(u32, f64)]) {
        for used in uses {
            self.links[used.0 as usize].sharing += 1;
        }
    }

    /// A flow that shared these links ends.
    pub(super) fn leave(&mut self, uses: &[(u32, f64)]) {
        for used in uses {
            self.links[used.0 as usize].sharing -= 1;
        }
    }

    /// All flows are taken off their links.
    pub(super) fn clear(&mut self) {
        self.links.fill(FREE);
    }
}
