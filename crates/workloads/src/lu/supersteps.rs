//! The 2n+1 supersteps of `lu`: the work of each process and the messages between processes.

use super::{
    BlockSizes, LuConfig, MessagePacking,
    config::{MAX_ORDER, MAX_PROCESSES},
    grid::process_grid,
};
use crate::{
    ApplicationSize, Message, Plan, Workload,
    ranges::{count_problem, cycles_problem, refuse_any},
};
use migsim_base::{
    error::{Problem, Result},
    units::{Bytes, Instructions, ProcessId},
};

/// Maximum number of messages in one superstep; each message takes 24 B of memory.
const MAX_MESSAGES: u128 = 100_000_000;

/// The application `lu`, the LU decomposition of a matrix: see the [module](super).
///
/// ```
/// use migsim_workloads::{Plan, Workload, lu::{Lu, LuConfig}};
/// let lu = Lu::new(&LuConfig::new(1000, 25))?;
/// assert_eq!(lu.supersteps(), 2001);
/// let mut plan = Plan::default();
/// plan.clear(25);
/// lu.fill(2, &mut plan); // type 3, k = 0: 999² / 25 updates of 5 instructions each
/// assert_eq!(plan.work[7].get(), 999.0 * 999.0 / 25.0 * 5.0);
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lu {
    matrix_order: u64,
    grid_rows: u64,
    grid_columns: u64,
    config: LuConfig,
}

impl Lu {
    /// Creates the application with these options.
    ///
    /// # Errors
    /// A value is out of range. The grid does not have `procs` processes, or has more rows or columns than the matrix. With mean
    /// blocks, the grid does not divide the matrix. The amounts are too large to be numbers. All problems are reported together.
    pub fn new(config: &LuConfig) -> Result<Self> {
        refuse_any([
            count_problem("n", config.n, MAX_ORDER),
            count_problem("procs", config.procs, MAX_PROCESSES),
            cycles_problem(config.cycles_per_instruction),
        ])?;
        let (rows, columns) = process_grid(config)?;
        let lu = Self {
            matrix_order: config.n,
            grid_rows: rows,
            grid_columns: columns,
            config: config.clone(),
        };
        lu.check_message_count()?;
        Ok(lu)
    }

    /// Returns the grid of processes: M rows and N columns.
    pub fn grid(&self) -> (u64, u64) {
        (self.grid_rows, self.grid_columns)
    }

    /// Checks that no superstep has more messages than can be stored; stage 0 has the most messages.
    ///
    /// # Errors
    /// A superstep has more than [`MAX_MESSAGES`] messages.
    fn check_message_count(&self) -> Result<(), Problem> {
        let n = u128::from(self.matrix_order);
        let m = u128::from(self.grid_rows);
        let columns = u128::from(self.grid_columns);
        // Every element below and right of the diagonal may be a separate message to each other process of its row or column.
        let messages = n * (m + columns - 2);
        if self.config.packing == MessagePacking::Element && messages > MAX_MESSAGES {
            return Err(Problem::new(format!(
                "a superstep has {messages} messages, more than the maximum of {MAX_MESSAGES}"
            ))
            .key("workload.packing")
            .hint("set `workload.packing` to `destination`, or choose a smaller matrix or a smaller grid of processes"));
        }
        Ok(())
    }

    /// Returns the number of matrix rows from `first` to n−1 that process row `index` of `parts` process rows owns; likewise for
    /// columns.
    fn owned_rows_or_columns(&self, first: u64, parts: u64, index: u64) -> f64 {
        match self.config.blocks {
            BlockSizes::Mean => (self.matrix_order - first) as f64 / parts as f64,
            BlockSizes::Exact => {
                (count_congruent(self.matrix_order, parts, index)
                    - count_congruent(first, parts, index)) as f64
            }
        }
    }

    fn process_at(&self, row: u64, column: u64) -> ProcessId {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are at most `MAX_PROCESSES`"
        )]
        ProcessId((row * self.grid_columns + column) as u32)
    }

    /// Adds the messages with `elements` matrix elements from process P(s,t) to each other process in its row of the grid.
    fn add_messages_along_row(&self, plan: &mut Plan, s: u64, t: u64, elements: f64) {
        for other in (0..self.grid_columns).filter(|&other| other != t) {
            self.add_messages_between(
                plan,
                self.process_at(s, t),
                self.process_at(s, other),
                elements,
            );
        }
    }

    /// Adds the messages with `elements` matrix elements from process P(s,t) to each other process in its column of the grid.
    fn add_messages_along_column(&self, plan: &mut Plan, s: u64, t: u64, elements: f64) {
        for other in (0..self.grid_rows).filter(|&other| other != s) {
            self.add_messages_between(
                plan,
                self.process_at(s, t),
                self.process_at(other, t),
                elements,
            );
        }
    }

    /// Adds the message with `elements` matrix elements from one process to another. With the option `packing` set to `element`,
    /// adds one message per element instead.
    fn add_messages_between(&self, plan: &mut Plan, from: ProcessId, to: ProcessId, elements: f64) {
        let message = |elements: f64| {
            let size = Bytes::of((elements * self.config.bytes_per_element.get()).round());
            Message { from, to, size }
        };
        match self.config.packing {
            MessagePacking::Destination if elements > 0.0 => plan.messages.push(message(elements)),
            MessagePacking::Destination => {}
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most MAX_MESSAGES"
            )]
            MessagePacking::Element => {
                let count = elements.ceil() as usize;
                let each = std::iter::repeat_n(message(1.0), count);
                plan.messages.extend(each);
            }
        }
    }

    /// Adds the messages in which the process that owns the diagonal element `a_kk` of stage k sends this element to the other
    /// processes in its column.
    ///
    /// The messages belong to superstep 0 and to the supersteps of type 3.
    fn add_diagonal_messages(&self, stage: u64, plan: &mut Plan) {
        self.add_messages_along_column(
            plan,
            stage % self.grid_rows,
            stage % self.grid_columns,
            1.0,
        );
    }

    /// Adds the work and the messages of a superstep of type 2: the divisions, and the messages with the column and the row of
    /// the matrix that all processes need.
    fn add_divisions(&self, stage: u64, plan: &mut Plan) {
        let diagonal_row = stage % self.grid_rows;
        let diagonal_column = stage % self.grid_columns;
        let per_division = self.config.instructions_per_division.get();
        for s in 0..self.grid_rows {
            let elements = self.owned_rows_or_columns(stage + 1, self.grid_rows, s);
            plan.work[self.process_at(s, diagonal_column).index()] =
                to_instructions(elements * per_division);
            for t in 0..self.grid_columns {
                if t == diagonal_column {
                    self.add_messages_along_row(plan, s, t, elements);
                }
                if s == diagonal_row {
                    self.add_messages_along_column(
                        plan,
                        s,
                        t,
                        self.owned_rows_or_columns(stage + 1, self.grid_columns, t),
                    );
                }
            }
        }
    }

    /// Adds the work of a superstep of type 3: the updates of the remaining matrix.
    fn add_updates(&self, stage: u64, plan: &mut Plan) {
        let per_update = self.config.instructions_per_update.get();
        if self.config.blocks == BlockSizes::Mean {
            let rest = (self.matrix_order - 1 - stage) as f64;
            let processes = (self.grid_rows * self.grid_columns) as f64;
            plan.work
                .fill(to_instructions(rest * rest / processes * per_update));
            return;
        }
        for s in 0..self.grid_rows {
            let rows = self.owned_rows_or_columns(stage + 1, self.grid_rows, s);
            for t in 0..self.grid_columns {
                let elements = rows * self.owned_rows_or_columns(stage + 1, self.grid_columns, t);
                plan.work[self.process_at(s, t).index()] = to_instructions(elements * per_update);
            }
        }
    }
}

impl Workload for Lu {
    fn processes(&self) -> usize {
        usize::try_from(self.grid_rows * self.grid_columns).expect("at most MAX_PROCESSES")
    }

    fn supersteps(&self) -> usize {
        usize::try_from(2 * self.matrix_order + 1).expect("the order is at most MAX_ORDER")
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        let superstep = superstep as u64;
        if superstep == 0 {
            return self.add_diagonal_messages(0, plan);
        }
        let stage = (superstep - 1) / 2;
        if superstep % 2 == 1 {
            return self.add_divisions(stage, plan);
        }
        self.add_updates(stage, plan);
        if stage + 1 < self.matrix_order {
            self.add_diagonal_messages(stage + 1, plan);
        }
    }

    /// Returns the number of messages of the largest superstep, which is in stage 0, and the memory of the stored supersteps,
    /// which is 0 B because they are not stored.
    fn extent(&self) -> ApplicationSize {
        let rows = self.grid_rows as f64;
        let columns = self.grid_columns as f64;
        let messages = match self.config.packing {
            MessagePacking::Destination => rows * (columns - 1.0) + columns * (rows - 1.0),
            MessagePacking::Element => self.matrix_order as f64 * (rows + columns - 2.0),
        };
        ApplicationSize {
            max_messages: messages,
            data_bytes: 0.0,
        }
    }

    /// Returns the memory of a process \[B\]: the number of matrix elements that it owns, n²/p if the grid divides n, times
    /// `image_bytes_per_element`.
    fn memory(&self, process: ProcessId) -> Bytes {
        let s = u64::from(process.0) / self.grid_columns;
        let t = u64::from(process.0) % self.grid_columns;
        let elements = count_congruent(self.matrix_order, self.grid_rows, s) as f64
            * count_congruent(self.matrix_order, self.grid_columns, t) as f64;
        self.config.image_bytes_per_element * elements
    }

    fn cycles_per_instruction(&self) -> f64 {
        self.config.cycles_per_instruction
    }
}

/// Returns how many of the numbers 0 to `end` − 1 are equal to `index` modulo `parts`.
fn count_congruent(end: u64, parts: u64, index: u64) -> u64 {
    (end + (parts - 1 - index)) / parts
}

fn to_instructions(value: f64) -> Instructions {
    Instructions::of(value)
}

#[cfg(test)]
mod tests {
    use migsim_base::error::Error;
    use proptest::prelude::*;

    use super::*;

    /// Returns options with 1 instruction per division, 10 per update, and 8 B per element, which are easy to distinguish.
    fn small(n: u64, procs: u64, blocks: BlockSizes) -> LuConfig {
        LuConfig {
            blocks,
            bytes_per_element: Bytes::new(8.0).unwrap(),
            instructions_per_update: Instructions::new(10.0).unwrap(),
            instructions_per_division: Instructions::new(1.0).unwrap(),
            ..LuConfig::new(n, procs)
        }
    }

    fn plan_of(lu: &Lu, superstep: usize) -> (Vec<f64>, Vec<(u32, u32, f64)>) {
        let mut plan = Plan::default();
        plan.clear(lu.processes());
        lu.fill(superstep, &mut plan);
        let work = plan.work.iter().map(|work| work.get()).collect();
        let messages = plan
            .messages
            .iter()
            .map(|m| (m.from.0, m.to.0, m.size.get()))
            .collect();
        (work, messages)
    }

    fn only_problem(config: &LuConfig) -> Problem {
        match Lu::new(config) {
            Err(Error::Input(mut problems)) if problems.len() == 1 => problems.remove(0),
            other => panic!("{other:?}"),
        }
    }

    /// Order 4 on a 2x2 grid: rows and columns 0 and 2 belong to s, t = 0, rows and columns 1 and 3 to s, t = 1.
    #[test]
    fn all_supersteps_of_order_4_on_a_2x2_grid_with_exact_blocks() {
        let lu = Lu::new(&small(4, 4, BlockSizes::Exact)).unwrap();
        let none = vec![0.0; 4];
        let expected = [
            // Type 1: a_00 from P(0,0) = 0 to P(1,0) = 2.
            (none.clone(), vec![(0, 2, 8.0)]),
            // 2(0): rows 1..3: one (2) for s = 0, two (1, 3) for s = 1; columns likewise. Owners of column 0: processes 0, 2.
            (
                vec![1.0, 0.0, 2.0, 0.0],
                vec![(0, 1, 8.0), (0, 2, 8.0), (1, 3, 16.0), (2, 3, 16.0)],
            ),
            // 3(0): rows·columns = 1·1, 1·2, 2·1, 2·2 updates; then a_11 from P(1,1) = 3 to P(0,1) = 1.
            (vec![10.0, 20.0, 20.0, 40.0], vec![(3, 1, 8.0)]),
            // 2(1): rows 2, 3: one each. Owners of column 1: processes 1, 3; of row 1: 2, 3.
            (
                vec![0.0, 1.0, 0.0, 1.0],
                vec![(1, 0, 8.0), (2, 0, 8.0), (3, 2, 8.0), (3, 1, 8.0)],
            ),
            (vec![10.0; 4], vec![(0, 2, 8.0)]),
            // 2(2): row 3 only, of s = 1; column 3 only, of t = 1.
            (vec![0.0, 0.0, 1.0, 0.0], vec![(1, 3, 8.0), (2, 3, 8.0)]),
            (vec![0.0, 0.0, 0.0, 10.0], vec![(3, 1, 8.0)]),
            // Stage 3 has nothing to do.
            (none.clone(), vec![]),
            (none, vec![]),
        ];
        assert_eq!(lu.supersteps(), expected.len());
        for (superstep, expected) in expected.into_iter().enumerate() {
            assert_eq!(plan_of(&lu, superstep), expected, "superstep {superstep}");
        }
    }

    #[test]
    fn mean_blocks_share_the_rest_equally() {
        let lu = Lu::new(&small(4, 4, BlockSizes::Mean)).unwrap();
        // Stage 0: 3 rows left, 1.5 per process row, 12 B; 9 elements left, 2.25 per process.
        let (work, messages) = plan_of(&lu, 1);
        assert_eq!(work, [1.5, 0.0, 1.5, 0.0]);
        assert_eq!(
            messages,
            [(0, 1, 12.0), (0, 2, 12.0), (1, 3, 12.0), (2, 3, 12.0)]
        );
        assert_eq!(plan_of(&lu, 2), (vec![22.5; 4], vec![(3, 1, 8.0)]));
        assert_eq!(plan_of(&lu, 7), (vec![0.0; 4], vec![]));
        assert_eq!(plan_of(&lu, 8), (vec![0.0; 4], vec![]));
    }

    #[test]
    fn elements_may_travel_one_by_one() {
        let mut config = small(4, 4, BlockSizes::Exact);
        config.packing = MessagePacking::Element;
        let (_, messages) = plan_of(&Lu::new(&config).unwrap(), 1);
        assert_eq!(
            messages,
            [
                (0, 1, 8.0),
                (0, 2, 8.0),
                (1, 3, 8.0),
                (1, 3, 8.0),
                (2, 3, 8.0),
                (2, 3, 8.0)
            ]
        );
        // Mean blocks: 1.5 elements are two messages.
        config.blocks = BlockSizes::Mean;
        assert_eq!(plan_of(&Lu::new(&config).unwrap(), 1).1.len(), 8);
    }

    #[test]
    fn absurd_amounts_are_errors_and_all_bad_values_are_named() {
        let Err(Error::Input(problems)) = Lu::new(&LuConfig {
            cycles_per_instruction: f64::NAN,
            ..LuConfig::new(0, 0)
        }) else {
            panic!("accepted");
        };
        assert_eq!(problems.len(), 3);
        only_problem(&LuConfig::new(u64::MAX, 1));
        only_problem(&LuConfig::new(1000, u64::MAX));
        only_problem(&LuConfig {
            packing: MessagePacking::Element,
            ..LuConfig::new(1_000_000_000, 25)
        });
        // Creating the largest order takes no time.
        let lu = Lu::new(&LuConfig::new(u64::MAX / 2, 1)).unwrap();
        assert_eq!(lu.supersteps(), usize::MAX);
    }

    proptest! {
        #[test]
        fn cyclic_counts_are_counts(end in 0_u64..200, parts in 1_u64..20) {
            for index in 0..parts {
                prop_assert_eq!(count_congruent(end, parts, index), (0..end).filter(|r| r % parts == index).count() as u64);
            }
        }
    }
}
