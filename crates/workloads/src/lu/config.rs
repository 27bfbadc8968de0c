//! Options of the application `lu`, with the source of each default and the range of each value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Bytes, Instructions};

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
#[serde(deny_unknown_fields, default)]
pub struct LuConfig {
    /// Order n of the matrix: the number of its rows and columns; at least 1. Default 2000.
    #[schemars(range(min = 1))]
    pub n: u64,
    /// Number p of processes; at least 1. Default 50.
    #[schemars(range(min = 1, max = MAX_PROCESSES))]
    pub procs: u64,
    /// Grid of processes, `[M rows, N columns]` with M·N = p. Default: the paper's 5x5, 10x5, 10x10 and 20x10 for 25, 50, 100 and
    /// 200 processes, if they divide n, otherwise the most square grid with M >= N. With mean blocks, its rows and columns must
    /// divide n.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<[u64; 2]>,
    /// Method of counting the rows and columns of the matrix that each process owns. Default `mean` (equation 2 of the paper).
    pub blocks: BlockSizes,
    /// Size of a matrix element in a message. Default 8 B, a double; the experiment of the paper has 0 B, which fits the times of
    /// the paper best.
    pub bytes_per_element: Bytes,
    /// Whether all elements for one destination are sent in one message, or each element in a separate message. Default
    /// `destination` (inferred: the paper does not say).
    pub packing: MessagePacking,
    /// Cost of one update `a_ij -= a_ik·a_kj`. Default 5 instr: two loads, a multiplication, a subtraction, a store. The
    /// experiment of the paper has 1006 instr, fitted to the times of the paper.
    pub instructions_per_update: Instructions,
    /// Cost of one division `a_ik /= a_kk`. Default 3 instr: a load, a division, a store. The experiment of the paper has 1006
    /// instr; the times of the paper do not determine this value.
    pub instructions_per_division: Instructions,
    /// Memory of a process for each matrix element that it owns, which is transferred when the process migrates. Default 8 B
    /// (inferred: one double).
    pub image_bytes_per_element: Bytes,
    /// Number of clock cycles that a host needs per instruction; positive. Default 1.
    pub cycles_per_instruction: f64,
}

impl Default for LuConfig {
    fn default() -> Self {
        Self {
            n: 2000,
            procs: 50,
            grid: None,
            blocks: BlockSizes::default(),
            bytes_per_element: Bytes::of(8.0),
            packing: MessagePacking::default(),
            instructions_per_update: Instructions::of(5.0),
            instructions_per_division: Instructions::of(3.0),
            image_bytes_per_element: Bytes::of(8.0),
            cycles_per_instruction: 1.0,
        }
    }
}

impl LuConfig {
    /// Creates the default options for a matrix of order `n` on `procs` processes.
    pub fn new(n: u64, procs: u64) -> Self {
        Self {
            n,
            procs,
            ..Self::default()
        }
    }
}
