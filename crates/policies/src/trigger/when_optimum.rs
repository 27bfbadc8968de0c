//! The best supersteps to balance at, computed after a run. The resulting total time is a lower bound of the total time with any
//! trigger.
//!
//! The computation assumes that a balancer maps the state at a barrier to the same placement whatever happened before (true for
//! greedy strategies, not for refinement). Then the best set of balancings is a shortest path: `best_j = min_{i<j} best_i + C_i +
//! Σ_{t=i}^{j−1} dur(i, t)`. Here `best_j` is the shortest time until superstep j begins, `C_i` the cost of a balancing before
//! superstep i, and dur(i, t) the time of superstep t under the placement chosen before superstep i (0: the initial placement,
//! which costs nothing). The computing time is O(T²) for T supersteps.

/// The smallest possible total time of all supersteps and balancings, and the supersteps at which to balance to achieve it.
#[derive(Clone, Debug, PartialEq)]
pub struct BestBalancings {
    /// The smallest total time of all supersteps and balancings \[s\].
    pub total_time: f64,
    /// The supersteps before which to balance, counted from 0. If several sets of supersteps have the smallest total time, the
    /// set with the latest last balancing is returned.
    pub balancing_supersteps: Vec<usize>,
}

/// Returns the supersteps before which to balance so that the total time of `supersteps` supersteps is smallest, and this time.
///
/// `price(i)` is the cost of a balancing before superstep i > 0 \[s\]; `duration(i, t)` is the time of superstep t under the
/// placement chosen before superstep i \[s\].
pub fn best_balancings(
    supersteps: usize,
    price: impl Fn(usize) -> f64,
    mut duration: impl FnMut(usize, usize) -> f64,
) -> BestBalancings {
    // The least time until each superstep begins, and the last balancing before it.
    let mut best = vec![f64::INFINITY; supersteps + 1];
    let mut last = vec![0; supersteps + 1];
    best[0] = 0.0;
    for made in 0..supersteps {
        let mut total = best[made] + if made == 0 { 0.0 } else { price(made) };
        for step in made..supersteps {
            total += duration(made, step);
            if total < best[step + 1] {
                (best[step + 1], last[step + 1]) = (total, made);
            }
        }
    }
    let mut balances = Vec::new();
    let mut at = supersteps;
    while at > 0 {
        at = last[at];
        if at > 0 {
            balances.push(at);
        }
    }
    balances.reverse();
    BestBalancings {
        total_time: best[supersteps],
        balancing_supersteps: balances,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_do_takes_no_time() {
        assert_eq!(best_balancings(0, |_| 1.0, |_, _| 1.0).total_time, 0.0);
        let dear = best_balancings(3, |_| 100.0, |made, step| (step - made) as f64);
        assert_eq!(
            (dear.total_time, dear.balancing_supersteps),
            (3.0, Vec::new())
        );
    }

    #[test]
    fn it_is_the_least_of_all_sets() {
        let duration =
            |made: usize, step: usize| 1.0 + ((step - made) * (step + 3 * made) % 7) as f64;
        let price = |at: usize| (at % 3) as f64;
        let found = best_balancings(8, price, duration);
        let total = |set: u32| {
            let (mut made, mut total) = (0, 0.0);
            for step in 0..8 {
                if step > 0 && set & (1 << step) != 0 {
                    made = step;
                    total += price(step);
                }
                total += duration(made, step);
            }
            total
        };
        let least = (0..256).map(total).fold(f64::INFINITY, f64::min);
        assert_eq!(found.total_time, least);
        let set = found
            .balancing_supersteps
            .iter()
            .fold(0, |set, at| set | 1 << at);
        assert_eq!(total(set), least);
    }
}
