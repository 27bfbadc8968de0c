//! Describes an application for users: the computation and messages of its processes, for each superstep or for ranges of
//! supersteps.
//!
//! | column | meaning |
//! | --- | --- |
//! | work | the sum of the work of all processes \[instr\] |
//! | imbalance | the largest work of a process over the mean work of all processes (including processes without work), minus 1 |
//! | messages, volume | the number of messages, and the sum of their sizes \[B\] |
//! | h | the h-relation \[B\]: the largest number of bytes that one process sends or receives (Valiant 1990) |
//!
//! All supersteps are evaluated. A row for a range of supersteps shows the means of its supersteps, and the largest h.

mod loads;
mod picture;
mod table;

pub use loads::{SuperstepLoad, superstep_loads};
pub use picture::workload_svg;
pub use table::workload_sheet;
