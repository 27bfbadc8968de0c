//! Options of the application `lu`, with the source of each default and the range of each value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::error::Problem;
use migsim_base::units::{Bytes, CYCLES, CYCLES_HINT, Instructions};

/// Maximum number of processes: a limit of this program, not of the application.
pub(super) const MAX_PROCESSES: u64 = 10_000_000;
/// Maximum order n of the matrix: with a larger order, the number of supersteps, 2n+1, could not be represented.
pub(super) const MAX_ORDER: u64 = (usize::MAX as u64 - 1) / 2;

/// Method of counting the rows and columns of the remaining matrix that each process owns in stage k of the decomposition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BlockSizes {
    /// The mean number, which is the same for all processes: (n−1−k)/M rows, (n−1−k)/N columns, (n−1−k)²/p elements. M and N must
    /// divide n (eq. 2 of the paper).
    #[default]
    Mean,
    /// The exact number in the cyclic distribution: process row s owns the rows r in k+1..n−1 with r mod M = s, and likewise for
    /// columns.
    Exact,
}

/// How the elements that a process sends to one destination are packed into messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessagePacking {
    /// One message with all elements for a destination; its size is rounded to whole bytes.
    #[default]
    Destination,
    /// One message per element. With [`BlockSizes::Mean`], a fraction of an element counts as a whole element.
    Element,
}

/// Options of the application `lu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LuConfig {
    /// Order n of the matrix: the number of its rows and columns; at least 1. Default 2000.
    #[serde(default = "default_order")]
    #[schemars(range(min = 1))]
    pub n: u64,
    /// Number p of processes; at least 1. Default 50.
    #[serde(default = "default_processes")]
    #[schemars(range(min = 1, max = MAX_PROCESSES))]
    pub procs: u64,
    /// Grid of processes, `[M rows, N columns]` with M·N = p. Default: the paper's 5x5, 10x5, 10x10 and 20x10 for 25, 50, 100 and
    /// 200 processes, if they divide n, otherwise the most square grid with M >= N. With mean blocks, its rows and columns must
    /// divide n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<[u64; 2]>,
    /// Method of counting the rows and columns of the matrix that each process owns. Default `mean` (equation 2 of the paper).
    #[serde(default)]
    pub blocks: BlockSizes,
    /// Size of a matrix element in a message. Default 8 B, a double; the experiment of the paper has 0 B, which fits the times of
    /// the paper best.
    #[serde(default = "default_element")]
    pub bytes_per_element: Bytes,
    /// Whether all elements for one destination are sent in one message, or each element in a separate message. Default
    /// `destination` (inferred: the paper does not say).
    #[serde(default)]
    pub packing: MessagePacking,
    /// Cost of one update `a_ij -= a_ik·a_kj`. Default 5 instr: two loads, a multiplication, a subtraction, a store. The
    /// experiment of the paper has 1006 instr, fitted to the times of the paper.
    #[serde(default = "default_update")]
    pub instructions_per_update: Instructions,
    /// Cost of one division `a_ik /= a_kk`. Default 3 instr: a load, a division, a store. The experiment of the paper has 1006
    /// instr; the times of the paper do not determine this value.
    #[serde(default = "default_division")]
    pub instructions_per_division: Instructions,
    /// Memory of a process for each matrix element that it owns, which is transferred when the process migrates. Default 8 B
    /// (inferred: one double).
    #[serde(default = "default_element")]
    pub image_bytes_per_element: Bytes,
    /// Number of clock cycles that a host needs per instruction; positive. Default 1.
    #[serde(default = "default_cycles")]
    pub cycles_per_instruction: f64,
}

fn default_order() -> u64 {
    2000
}

fn default_processes() -> u64 {
    50
}

fn default_update() -> Instructions {
    Instructions::of(5.0)
}

fn default_division() -> Instructions {
    Instructions::of(3.0)
}

/// Returns the default size of a matrix element in a message, which is also its default size in memory.
fn default_element() -> Bytes {
    Bytes::of(8.0)
}

/// Returns the default number of clock cycles per instruction.
fn default_cycles() -> f64 {
    1.0
}

impl LuConfig {
    /// Creates the default options for a matrix of order `n` on `procs` processes.
    pub fn new(n: u64, procs: u64) -> Self {
        Self {
            n,
            procs,
            grid: None,
            blocks: BlockSizes::default(),
            bytes_per_element: default_element(),
            packing: MessagePacking::default(),
            instructions_per_update: default_update(),
            instructions_per_division: default_division(),
            image_bytes_per_element: default_element(),
            cycles_per_instruction: default_cycles(),
        }
    }
}

/// Returns a problem for each option whose value alone is out of range, independent of the values of the other options.
pub(super) fn problems_of_option_values(config: &LuConfig) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, value, most) in [
        ("n", config.n, MAX_ORDER),
        ("procs", config.procs, MAX_PROCESSES),
    ] {
        if value == 0 || value > most {
            problems.push(
                Problem::new(format!("`{key}` is {value}, which is out of range"))
                    .key(format!("workload.{key}"))
                    .hint(format!("choose a number from 1 to {most}")),
            );
        }
    }
    let cycles = config.cycles_per_instruction;
    if !CYCLES.contains(&cycles) {
        problems.push(
            Problem::new(format!(
                "`cycles_per_instruction` is {cycles}, which is out of range"
            ))
            .key("workload.cycles_per_instruction")
            .hint(CYCLES_HINT),
        );
    }
    problems
}
