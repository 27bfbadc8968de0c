//! The heuristics of the policy `authors-2015`, which choose the candidates for migration from the order of the processes and the
//! terms of their potentials of migration (PM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{potential::PotentialTerms, ranking::SetPreference};

/// The heuristic that chooses the candidates for migration in a rescheduling call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Heuristic {
    /// Chooses only the process with the largest potential of migration (PM).
    One,
    /// Chooses every process whose potential of migration (PM) is above x times the largest PM, where x is an option.
    Percentage,
    /// Chooses every process inside a cube around the process with the largest potential of migration, in the space of the terms
    /// (Comp, Comm, Mem).
    MigCube,
    /// Chooses every process near a line through two processes, in all three planes of the space of the terms (Comp, Comm, Mem)
    /// of the potential of migration.
    MigHull,
}

type TermsPoint = [f64; 3];

/// Returns the numbers of the processes that the heuristic chooses as candidates.
///
/// `order` has the processes by decreasing potential of migration, `terms` the terms of the potential of each process for each
/// Set, and `x` is the factor of the heuristic `percentage`.
pub(super) fn chosen_processes(
    heuristic: Heuristic,
    x: f64,
    order: &[SetPreference],
    terms: &[Vec<PotentialTerms>],
) -> Vec<usize> {
    let Some(first) = order.first() else {
        return Vec::new();
    };
    let is_chosen: Vec<bool> = match heuristic {
        Heuristic::One => (0..order.len()).map(|position| position == 0).collect(),
        Heuristic::Percentage => {
            let limit = x * first.potential;
            order.iter().map(|wish| wish.potential > limit).collect()
        }
        Heuristic::MigCube => are_in_cube(&process_points(order, terms, last_set_terms)),
        Heuristic::MigHull => are_near_line(order, &process_points(order, terms, largest_terms)),
    };
    order
        .iter()
        .zip(is_chosen)
        .filter_map(|(wish, is_chosen)| is_chosen.then_some(wish.process))
        .collect()
}

/// Returns the point of each process in the space of the terms, in the order of `order`; `point` computes a process's point from
/// its terms for all Sets.
fn process_points(
    order: &[SetPreference],
    terms: &[Vec<PotentialTerms>],
    point: fn(&[PotentialTerms]) -> TermsPoint,
) -> Vec<TermsPoint> {
    let of_wish = |wish: &SetPreference| point(&terms[wish.process]);
    order.iter().map(of_wish).collect()
}

/// Returns the point at which `MigCube` places a process: the terms for the last Set, whichever Set the process prefers (an error
/// of the original program).
fn last_set_terms(terms: &[PotentialTerms]) -> TermsPoint {
    terms.last().map_or([0.0; 3], |terms| terms.comp_comm_mem)
}

/// Returns the point at which `MigHull` places a process: the maximum of each term over all Sets, at least 0 \[s\].
fn largest_terms(terms: &[PotentialTerms]) -> TermsPoint {
    [0, 1, 2].map(|axis| {
        terms
            .iter()
            .map(|terms| terms.comp_comm_mem[axis])
            .fold(0.0, f64::max)
    })
}

/// Returns whether each point lies inside the cube of `MigCube` or on its surface. The first point is the centre of the cube;
/// half the edge is the mean distance of the other points from the first.
fn are_in_cube(points: &[TermsPoint]) -> Vec<bool> {
    let first = points[0];
    let away = |point: &TermsPoint| [0, 1, 2].map(|axis: usize| point[axis] - first[axis]);
    let others = points.len().saturating_sub(1);
    let distances = points[1..].iter().map(|point| {
        let [x, y, z] = away(point);
        (x * x + y * y + z * z).sqrt()
    });
    let half_edge = if others == 0 {
        0.0
    } else {
        distances.sum::<f64>() / others as f64
    };
    let is_inside = |point: &TermsPoint| {
        (0..3).all(|axis| {
            let range = first[axis] - half_edge..=first[axis] + half_edge;
            range.contains(&point[axis])
        })
    };
    points.iter().map(is_inside).collect()
}

/// Returns whether each point is near the line of `MigHull` in all three planes of the space of the terms.
///
/// The line ends at the wrong points (an error of the original program): the numbers of the first two processes of the order,
/// counted from 0, are used as positions in the order. A point is near the line in a plane if its cross product with the line, or
/// with the reversed line, is in `[0, limit)`.
fn are_near_line(order: &[SetPreference], points: &[TermsPoint]) -> Vec<bool> {
    let Some(second) = order.get(1) else {
        return vec![true; points.len()];
    };
    let ends = [points[order[0].process], points[second.process]];
    let planes = [[0, 1], [0, 2], [1, 2]]
        .into_iter()
        .zip(cross_product_limits(points));
    let planes: Vec<([usize; 2], f64)> = planes.collect();
    let is_near = |point: &TermsPoint| {
        planes.iter().all(|&(plane, limit)| {
            let [start, end, point] =
                [&ends[0], &ends[1], point].map(|point| plane.map(|axis| point[axis]));
            let near = 0.0..limit;
            near.contains(&cross_product(start, end, point))
                || near.contains(&cross_product(end, start, point))
        })
    };
    points.iter().map(is_near).collect()
}

/// Returns the limit of the cross product up to which a point is near the line, for each of the planes xy, xz and yz. Each limit
/// is a standard deviation \[s\], although cross products have the unit s² (an error of the original program).
///
/// The limit of each plane should be the larger standard deviation of its two coordinates. Instead, the program writes all three
/// values into the limit of the first plane (another error).
fn cross_product_limits(points: &[TermsPoint]) -> [f64; 3] {
    let [x, y, z] = standard_deviations(points);
    let mut xy = x;
    for (larger, smaller) in [(y, x), (z, x), (z, y)] {
        if larger > smaller {
            xy = larger;
        }
    }
    [xy, x, y]
}

/// Returns the standard deviation of each coordinate of the points \[s\]; the variance is the sum of squares divided by the
/// number of points.
fn standard_deviations(points: &[TermsPoint]) -> [f64; 3] {
    let count = points.len() as f64;
    [0, 1, 2].map(|axis| {
        let mean = points.iter().map(|point| point[axis]).sum::<f64>() / count;
        let squares = points.iter().map(|point| (point[axis] - mean).powi(2));
        (squares.sum::<f64>() / count).sqrt()
    })
}

/// Returns the cross product of the vector from `start` to `end` and the vector from `start` to `point` \[s²\].
fn cross_product(start: [f64; 2], end: [f64; 2], point: [f64; 2]) -> f64 {
    (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns processes with these points for their only Set, in this order.
    fn case(points: &[TermsPoint]) -> (Vec<SetPreference>, Vec<Vec<PotentialTerms>>) {
        let terms = points.iter().map(|&metrics| {
            vec![PotentialTerms {
                comp_comm_mem: metrics,
            }]
        });
        let terms: Vec<Vec<PotentialTerms>> = terms.collect();
        let wish = |(process, terms): (usize, &Vec<PotentialTerms>)| SetPreference {
            process,
            preferred_set: Some(0),
            potential: terms[0].potential(),
        };
        (terms.iter().enumerate().map(wish).collect(), terms)
    }

    #[test]
    fn the_percentage_is_of_the_first_potential_and_strict() {
        let (order, terms) = case(&[[2.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.0, 0.0, 0.0]]);
        assert_eq!(
            chosen_processes(Heuristic::Percentage, 0.5, &order, &terms),
            [0, 1]
        );
        assert_eq!(chosen_processes(Heuristic::One, 0.5, &order, &terms), [0]);
    }

    #[test]
    fn the_cube_includes_its_edges() {
        // Distances 1, 2 and 3 from the first process: half the edge is 2.
        let (order, terms) = case(&[
            [5.0, 0.0, 0.0],
            [4.0, 0.0, 0.0],
            [3.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
        ]);
        assert_eq!(
            chosen_processes(Heuristic::MigCube, 0.0, &order, &terms),
            [0, 1, 2]
        );
    }

    #[test]
    fn the_cube_is_that_of_the_last_set() {
        let (order, mut terms) = case(&[[5.0, 0.0, 0.0], [4.0, 0.0, 0.0], [1.0, 0.0, 0.0]]);
        // In the second Set, p2 is at the point of p0, and p1 is at distance 4: half the edge is 2.
        for (terms, computation) in terms.iter_mut().zip([9.0, 5.0, 9.0]) {
            let metrics = [computation, 0.0, 0.0];
            terms.push(PotentialTerms {
                comp_comm_mem: metrics,
            });
        }
        assert_eq!(
            chosen_processes(Heuristic::MigCube, 0.0, &order, &terms),
            [0, 2]
        );
    }

    #[test]
    fn two_of_the_three_larger_deviations_end_in_the_first_limit() {
        // Deviations 1, 2 and 3: the first limit is 1, then 2, then 3, then 3 again.
        let points = [[1.0, 2.0, 3.0], [3.0, 6.0, 9.0]];
        assert_eq!(cross_product_limits(&points), [3.0, 1.0, 2.0]);
        // 3, 1 and 2: first 3, and 2 since z is above y.
        let points = [[3.0, 1.0, 2.0], [9.0, 3.0, 6.0]];
        assert_eq!(cross_product_limits(&points), [2.0, 3.0, 1.0]);
    }

    #[test]
    fn the_ends_of_the_line_are_positions_with_the_numbers_of_processes() {
        let points = [[4.0, 0.0, 0.0], [3.0, 9.0, 0.0], [1.0, 0.0, 0.0]];
        let (mut order, terms) = case(&points);
        // Order p2, p0, p1: numbers 2 and 0, so that the line goes from the third of the order, p1, to the first, p2.
        order.rotate_right(1);
        // Plane xy, from (3, 9) to (1, 0): p0 at (4, 0) has -2 · -9 + 9 · 1 = 27, and the reversed line has -27; the limit is s_y = 4.2.
        assert_eq!(
            chosen_processes(Heuristic::MigHull, 0.0, &order, &terms),
            [2, 1]
        );
    }
}
