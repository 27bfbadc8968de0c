//! Robust least squares with few parameters: fits the values of constants to published times.
//!
//! The model is linear: the relative error of published time c is `e_c + Σ_k s_ck · d_k`. Here `e_c` is the present error, `d_k`
//! the relative change of constant k, and `s_ck` the slope of the error for this constant.
//!
//! The fit minimises the sum of Huber's function of the errors by iteratively reweighted least squares. Errors below [`BEND`]
//! count squared and larger errors linearly, so that a time that no constant can improve has little weight. The function is
//! convex, so the minimum does not depend on the present values of the constants.
//!
//! A constant that the times do not determine keeps its value. Such constants are found by pivoted Gram-Schmidt orthogonalisation
//! of the columns of slopes, where the column with the longest residual comes next. A column whose residual is shorter than `BEND
//! / MAX_UNCERTAINTY` is left out, because times with errors of `BEND` would leave its constant uncertain by more than the
//! fraction `MAX_UNCERTAINTY`.

/// Relative error at which Huber's function changes from quadratic to linear: 1 %.
const BEND: f64 = 0.01;

/// Maximum relative uncertainty with which a constant is still fitted (a fraction); less certain constants keep their values.
const MAX_UNCERTAINTY: f64 = 0.25;

/// Number of iterations of the reweighting in the robust fit; the weights converge in far fewer iterations.
const ROUNDS: usize = 200;

/// A published time in the linear model: its present relative error, and the slope of this error for each constant.
#[derive(Clone, Debug)]
pub(super) struct ModelRow {
    /// Relative error with the present constants: simulated time divided by published time, minus 1.
    pub(super) present_error: f64,
    /// Derivative of the relative error with respect to the relative change of each constant.
    pub(super) slopes: Vec<f64>,
}

impl ModelRow {
    /// Computes the relative error that the linear model predicts if each constant changes by the fraction in `change`.
    pub(super) fn error_after_changes(&self, change: &[f64]) -> f64 {
        self.present_error + dot_product(&self.slopes, change)
    }
}

/// Computes the relative change of each constant (a fraction) that minimises the errors of the published times in `rows`; `None`
/// for a constant that these times do not determine.
pub(super) fn fit_constants(rows: &[&ModelRow], constants: usize) -> Vec<Option<f64>> {
    let taken = indices_of_determined_constants(rows, constants);
    let mut change = vec![0.0; constants];
    for _ in 0..ROUNDS {
        let weights = rows.iter().map(|row| {
            let error = row.error_after_changes(&change).abs();
            if error <= BEND { 1.0 } else { BEND / error }
        });
        let weights: Vec<f64> = weights.collect();
        let matrix: Vec<Vec<f64>> = taken
            .iter()
            .map(|&a| {
                let product = |b: usize| {
                    let pairs = rows.iter().zip(&weights);
                    pairs.map(move |(row, weight)| weight * row.slopes[a] * row.slopes[b])
                };
                taken.iter().map(|&b| product(b).sum()).collect()
            })
            .collect();
        let right = taken.iter().map(|&a| {
            let pairs = rows.iter().zip(&weights);
            pairs
                .map(|(row, weight)| -weight * row.slopes[a] * row.present_error)
                .sum()
        });
        let Some(solved) = solve_by_cholesky(matrix, right.collect()) else {
            break;
        };
        for (&k, value) in taken.iter().zip(solved) {
            change[k] = value;
        }
    }
    let is_taken = |k: usize| taken.contains(&k);
    change
        .into_iter()
        .enumerate()
        .map(|(k, value)| is_taken(k).then_some(value))
        .collect()
}

/// Lists the indices of the constants that the published times in `rows` determine, ordered from the best to the least determined
/// constant.
fn indices_of_determined_constants(rows: &[&ModelRow], constants: usize) -> Vec<usize> {
    let column = |k: usize| rows.iter().map(|row| row.slopes[k]).collect::<Vec<f64>>();
    let mut rests: Vec<Vec<f64>> = (0..constants).map(column).collect();
    let mut taken: Vec<usize> = Vec::new();
    loop {
        let left = (0..constants).filter(|k| !taken.contains(k));
        let lengths = left.map(|k| (k, dot_product(&rests[k], &rests[k]).sqrt()));
        let longest = lengths.reduce(|best, one| if one.1 > best.1 { one } else { best });
        let Some((next, length)) = longest.filter(|(_, length)| *length >= BEND / MAX_UNCERTAINTY)
        else {
            return taken;
        };
        taken.push(next);
        let unit: Vec<f64> = rests[next].iter().map(|value| value / length).collect();
        for rest in &mut rests {
            let along = dot_product(rest, &unit);
            for (value, unit) in rest.iter_mut().zip(&unit) {
                *value -= along * unit;
            }
        }
    }
}

fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves `matrix · x = right` for a symmetric positive definite matrix by Cholesky decomposition. Returns `None` if the matrix
/// is not positive definite.
fn solve_by_cholesky(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let sum = matrix[i][j] - dot_product(&matrix[i][..j], &matrix[j][..j]);
            if i == j {
                if sum <= 0.0 {
                    return None;
                }
                matrix[i][i] = sum.sqrt();
            } else {
                matrix[i][j] = sum / matrix[j][j];
            }
        }
        right[i] = (right[i] - dot_product(&matrix[i][..i], &right[..i])) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| matrix[j][i] * right[j]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(error: f64, slopes: &[f64]) -> ModelRow {
        ModelRow {
            present_error: error,
            slopes: slopes.to_vec(),
        }
    }

    #[test]
    fn two_constants_are_found_in_spite_of_an_outlier() {
        // The true changes are +2 % and -1 %, and one cell is off by 80 %.
        let truth = |slopes: [f64; 2]| row(-(0.02 * slopes[0] - 0.01 * slopes[1]), &slopes);
        let mut rows: Vec<ModelRow> = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 1.0], [1.0, 0.2]]
            .map(truth)
            .into();
        rows.push(row(0.8, &[0.3, 0.3]));
        let all: Vec<&ModelRow> = rows.iter().collect();
        let found = fit_constants(&all, 2);
        assert!((found[0].unwrap() - 0.02).abs() < 2e-3, "{found:?}");
        assert!((found[1].unwrap() + 0.01).abs() < 2e-3, "{found:?}");
        // Without the outlier, the fit is exact.
        let found = fit_constants(&all[..5], 2);
        assert!((found[0].unwrap() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn constants_that_the_cells_do_not_determine_keep_their_values() {
        // The second column is almost twice the first one, so only one of the two can be determined. The third one has no effect.
        let rows = [
            row(0.01, &[1.0, 2.0, 0.0]),
            row(0.01, &[1.0, 2.001, 0.0]),
            row(0.01, &[1.0, 1.999, 0.0]),
        ];
        let all: Vec<&ModelRow> = rows.iter().collect();
        let found = fit_constants(&all, 3);
        assert_eq!((found[0], found[2]), (None, None));
        assert!((found[1].unwrap() + 0.005).abs() < 1e-5, "{found:?}");
        assert_eq!(fit_constants(&[], 3), [None; 3]);
    }
}
