//! Determines the grid of processes over which the matrix is distributed.

use super::{BlockSizes, LuConfig};
use migsim_base::{error::Problem, words::format_count};

/// Grids of processes in the paper (section 5), as numbers M of rows and N of columns.
const PAPER_GRIDS: [(u64, u64); 4] = [(5, 5), (10, 5), (10, 10), (20, 10)];

/// Returns the grid of processes that the options request, or else the default grid, as M rows and N columns.
///
/// # Errors
/// The grid does not suit the matrix or the number of processes.
pub(super) fn process_grid(config: &LuConfig) -> Result<(u64, u64), Problem> {
    match config.grid {
        Some([rows, columns]) => checked_grid(config, rows, columns),
        None => default_grid(config),
    }
}

fn grid_fits(config: &LuConfig, (rows, columns): (u64, u64)) -> bool {
    match config.blocks {
        BlockSizes::Mean => config.n.is_multiple_of(rows) && config.n.is_multiple_of(columns),
        BlockSizes::Exact => rows <= config.n && columns <= config.n,
    }
}

/// Returns the grids of `procs` processes with at least as many rows as columns; the most square grid is first.
fn possible_grids(procs: u64) -> impl Iterator<Item = (u64, u64)> {
    (1..=procs.isqrt())
        .rev()
        .filter(move |columns| procs.is_multiple_of(*columns))
        .map(move |columns| (procs / columns, columns))
}

/// Returns the default grid of processes: the grid of the paper for this number of processes if it fits the matrix, or else the
/// most square grid that fits.
///
/// # Errors
/// No grid fits.
fn default_grid(config: &LuConfig) -> Result<(u64, u64), Problem> {
    PAPER_GRIDS
        .into_iter()
        .filter(|(rows, columns)| rows * columns == config.procs)
        .chain(possible_grids(config.procs))
        .find(|&grid| grid_fits(config, grid))
        .ok_or_else(|| {
            unfit_grid_problem(
                config,
                &format!("no grid of {} fits", format_count(config.procs, "process")),
            )
            .key("workload.procs")
        })
}

/// Returns the requested grid of processes (rows, columns) if it has the right number of processes and fits the matrix; otherwise
/// the problem for the user.
fn checked_grid(config: &LuConfig, rows: u64, columns: u64) -> Result<(u64, u64), Problem> {
    let procs = config.procs;
    if rows.checked_mul(columns) != Some(procs) {
        return Err(Problem::new(format!(
            "the grid of processes, {rows}x{columns}, does not have {}",
            format_count(procs, "process")
        ))
        .key("workload.grid")
        .hint(format!(
            "choose a grid of {}: {}",
            format_count(procs, "process"),
            grid_list(possible_grids(procs))
        )));
    }
    if grid_fits(config, (rows, columns)) {
        return Ok((rows, columns));
    }
    Err(
        unfit_grid_problem(config, &format!("the grid {rows}x{columns} does not fit"))
            .key("workload.grid"),
    )
}

/// Creates the problem that a grid of processes does not fit; it begins with `what` ("the grid 7x3 does not fit"), and its hint
/// lists the grids that fit.
fn unfit_grid_problem(config: &LuConfig, what: &str) -> Problem {
    let good = grid_list(possible_grids(config.procs).filter(|&grid| grid_fits(config, grid)));
    let (how, otherwise) = match config.blocks {
        BlockSizes::Exact => (
            "the grid has more rows or columns than the matrix",
            "use fewer processes or a larger matrix".to_owned(),
        ),
        BlockSizes::Mean => (
            "the rows and columns of the matrix cannot be divided into equal blocks",
            format!(
                "set `blocks` to `exact`, or `n` to a multiple of {}",
                config.procs
            ),
        ),
    };
    let hint = match (good.is_empty(), config.blocks) {
        (true, _) => otherwise,
        (false, BlockSizes::Exact) => format!("choose a grid that fits: {good}"),
        (false, BlockSizes::Mean) => {
            format!("choose a grid that fits: {good}; or set `blocks` to `exact`")
        }
    };
    Problem::new(format!("{what} a matrix of order {}: {how}", config.n)).hint(hint)
}

/// Lists at most eight grids as text, such as `5x5, 25x1`, for a hint.
fn grid_list(grids: impl Iterator<Item = (u64, u64)>) -> String {
    let texts: Vec<String> = grids
        .take(8)
        .map(|(rows, columns)| format!("{rows}x{columns}"))
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{super::Lu, *};
    use migsim_base::error::Error;

    fn only_problem(config: &LuConfig) -> Problem {
        match Lu::new(config) {
            Err(Error::Input(mut problems)) if problems.len() == 1 => problems.remove(0),
            other => panic!("{other:?}"),
        }
    }

    /// Order 4 on a 2x2 grid: rows and columns 0 and 2 belong to s, t = 0, rows and columns 1 and 3 to s, t = 1.
    #[test]
    fn the_default_grid_is_the_papers_or_the_most_square_that_fits() {
        let grid = |n, procs| Lu::new(&LuConfig::new(n, procs)).unwrap().grid();
        assert_eq!(
            [
                grid(500, 25),
                grid(500, 50),
                grid(500, 100),
                grid(5000, 200)
            ],
            PAPER_GRIDS
        );
        assert_eq!(grid(60, 6), (3, 2));
        // 9x8 is the most square one, but 9 does not divide 12.
        assert_eq!(grid(12, 72), (12, 6));
        // None of 20x10, 25x8, 40x5, 50x4, 100x2 and 200x1 divides 50.
        let problem = only_problem(&LuConfig::new(50, 200));
        assert_eq!(problem.location.key.as_deref(), Some("workload.procs"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_way_out() {
        let with_grid = |n, procs, grid| LuConfig {
            grid: Some(grid),
            ..LuConfig::new(n, procs)
        };
        let problem = only_problem(&with_grid(100, 50, [7, 7]));
        assert_eq!(
            problem.message,
            "the grid of processes, 7x7, does not have 50 processes"
        );
        assert_eq!(problem.location.key.as_deref(), Some("workload.grid"));
        assert_eq!(
            problem.hint.as_deref(),
            Some("choose a grid of 50 processes: 10x5, 25x2, 50x1")
        );

        let problem = only_problem(&with_grid(10, 20, [20, 1]));
        assert_eq!(problem.location.key.as_deref(), Some("workload.grid"));
        assert_eq!(
            problem.hint.as_deref(),
            Some("choose a grid that fits: 10x2; or set `blocks` to `exact`")
        );

        let problem = only_problem(&LuConfig::new(10, 7));
        assert_eq!(
            problem.hint.as_deref(),
            Some("set `blocks` to `exact`, or `n` to a multiple of 7")
        );
        assert!(
            Lu::new(&LuConfig {
                blocks: BlockSizes::Exact,
                ..LuConfig::new(10, 7)
            })
            .is_ok()
        );

        let problem = only_problem(&LuConfig {
            blocks: BlockSizes::Exact,
            ..LuConfig::new(3, 7)
        });
        assert_eq!(
            problem.hint.as_deref(),
            Some("use fewer processes or a larger matrix")
        );
        only_problem(&with_grid(10, 20, [u64::MAX, u64::MAX]));
        only_problem(&with_grid(10, 20, [0, 0]));
    }
}
