//! Joins the vt data of all ranks into one application: processes, supersteps, and a note about data that is ignored.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    application::Vt,
    config::VtConfig,
    files::RankFile,
    left_out::{IgnoredData, IgnoredKind, describe_read_counts},
    rank::{self, MAX_PHASES, PhaseData, RankData},
};
use crate::{Message, VtLabels, recorded::StoredSupersteps};
use migsim_base::{
    document::limit_problems,
    error::{Error, Problem, Result},
    units::{Bytes, ProcessId},
    words::{format_count, singular_or_plural},
};

/// Key of a task over all phases: number, rank and position. Rank and position are 0 unless several tasks of a phase share the
/// number; the position is counted from 1 among the tasks of the rank with this number.
type TaskKey = (u64, usize, usize);

impl Vt {
    /// Creates an application from the data files of all ranks, ordered by rank from 0; also returns a note for the user about
    /// the data that was read and ignored.
    ///
    /// # Errors
    /// All problems of the files, each with its file, rank, phase and task.
    pub fn from_files(files: &[RankFile], config: &VtConfig) -> Result<(Self, String)> {
        let mut read = Vec::with_capacity(files.len());
        let mut problems = Vec::new();
        for file in files {
            match rank::read_rank_file(file, config) {
                Ok(rank) => read.push(rank),
                Err(Error::Input(found)) => problems.extend(found),
                Err(other) => return Err(other),
            }
        }
        Error::unless_empty(limit_problems(problems))?;
        join_ranks(files, &read, config)
    }
}

fn join_ranks(files: &[RankFile], ranks: &[RankData], config: &VtConfig) -> Result<(Vt, String)> {
    let numbers = phase_numbers(files, ranks)?;
    let mut tasks = ApplicationBuilder {
        shared_task_numbers: BTreeSet::new(),
        process_of_task: BTreeMap::new(),
        ignored_data: IgnoredData::default(),
        application: Vt {
            steps: StoredSupersteps::default(),
            initial_ranks: Vec::new(),
            is_movable: Vec::new(),
            memory: Vec::new(),
            task_labels: VtLabels {
                entity_values: Vec::new(),
                phase_numbers: numbers.clone(),
                assumed_speed: Some(config.speed),
                rank_count: ranks.len(),
            },
        },
        last_rank_of_process: Vec::new(),
        stated_memory: Vec::new(),
        recorded_move_count: 0,
    };
    for rank in ranks {
        tasks.ignored_data.merge(&rank.ignored_data);
    }
    for_each_phase(ranks, &numbers, |of_ranks, is_new| {
        if is_new {
            tasks.add_shared_task_numbers(of_ranks);
        }
    });
    for_each_phase(ranks, &numbers, |of_ranks, is_new| {
        if is_new {
            tasks.add_processes(of_ranks);
        }
    });
    if tasks.application.initial_ranks.is_empty() {
        return Err(Error::input(
            "the data has no tasks",
            &config.data,
            "name data in which at least one phase has `tasks`",
        ));
    }
    for_each_phase(ranks, &numbers, |of_ranks, is_new| {
        tasks.add_superstep(of_ranks, is_new);
    });
    let Vt { steps, memory, .. } = &mut tasks.application;
    steps.set_memory(std::mem::take(&mut tasks.stated_memory), memory);
    for memory in memory {
        *memory = memory.or(config.memory);
    }
    let note = tasks.describe_read_data(config, &numbers);
    Ok((tasks.application, note))
}

/// Returns the numbers of the phases of all ranks in increasing order.
///
/// # Errors
/// There are no phases or too many phases, or a rank lacks a phase that another rank has.
fn phase_numbers(files: &[RankFile], ranks: &[RankData]) -> Result<Vec<u64>> {
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for (at, rank) in ranks.iter().enumerate() {
        for number in rank.phases.keys().chain(&rank.identical_phases) {
            numbers.entry(*number).or_insert(at);
        }
    }
    if numbers.is_empty() || numbers.len() as u64 > MAX_PHASES {
        let message = match numbers.len() {
            0 => "the data has no phases".to_owned(),
            some => format!("the data has {some} phases, which is too many"),
        };
        return Err(Error::input(
            message,
            files.first().map_or("", |file| &file.source),
            format!("name data with 1 to {MAX_PHASES} phases"),
        ));
    }
    let mut problems = Vec::new();
    for (rank, file) in ranks.iter().zip(files) {
        let first = rank.phases.keys().next();
        let is_there = |number: &u64| {
            rank.phases.contains_key(number)
                || rank.identical_phases.contains(number)
                    && first.is_some_and(|first| first < number)
        };
        if let Some((number, other)) = numbers.iter().find(|(number, _)| !is_there(number)) {
            let message = format!(
                "rank {} has no phase {number}, but rank {other} has it",
                file.rank
            );
            let hint = "add the phase to this file, with `\"tasks\": []` if it has none, or name its number in `identical_to_previous` after a phase with data";
            problems.push(
                Problem::new(message)
                    .source(&file.source)
                    .key("phases")
                    .hint(hint),
            );
        }
    }
    Error::unless_empty(limit_problems(problems)).map(|()| numbers.into_keys().collect())
}

/// Calls `look` for each phase with the data of all ranks, and with whether the data of any rank differs from the phase before.
fn for_each_phase(ranks: &[RankData], numbers: &[u64], mut look: impl FnMut(&[&PhaseData], bool)) {
    let mut present: Vec<Option<&PhaseData>> = vec![None; ranks.len()];
    for number in numbers {
        let mut is_new = false;
        for (rank, phase) in ranks.iter().zip(&mut present) {
            if let Some(own) = rank.phases.get(number) {
                (*phase, is_new) = (Some(own), true);
            }
        }
        let of_ranks: Vec<&PhaseData> = present.iter().copied().flatten().collect();
        look(&of_ranks, is_new);
    }
}

/// The tasks found so far in the data of all ranks, and the application that is built from them.
struct ApplicationBuilder {
    shared_task_numbers: BTreeSet<u64>,
    process_of_task: BTreeMap<TaskKey, usize>,
    ignored_data: IgnoredData,
    application: Vt,
    last_rank_of_process: Vec<usize>,
    /// Memory of processes that the data states: the superstep, the process and its memory.
    stated_memory: Vec<(usize, ProcessId, Bytes)>,
    /// Number of times that a task changes its rank from one phase to another in the recorded run.
    recorded_move_count: u64,
}

impl ApplicationBuilder {
    /// Adds the numbers that several tasks of this phase have in common; `of_ranks` has the data of each rank.
    fn add_shared_task_numbers(&mut self, of_ranks: &[&PhaseData]) {
        let mut ids: Vec<u64> = of_ranks
            .iter()
            .flat_map(|phase| &phase.tasks)
            .map(|task| task.id)
            .collect();
        ids.sort_unstable();
        let twice = ids.windows(2).filter(|pair| pair[0] == pair[1]);
        self.shared_task_numbers.extend(twice.map(|pair| pair[0]));
    }

    fn task_keys(&self, rank: usize, phase: &PhaseData) -> Vec<TaskKey> {
        let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
        let key = |id: u64| {
            if !self.shared_task_numbers.contains(&id) {
                return (id, 0, 0);
            }
            let count = seen.entry(id).or_default();
            *count += 1;
            (id, rank, *count)
        };
        phase.tasks.iter().map(|task| task.id).map(key).collect()
    }

    /// Creates a process for each task of a phase that has no process yet.
    fn add_processes(&mut self, of_ranks: &[&PhaseData]) {
        for (rank, phase) in of_ranks.iter().enumerate() {
            for (key, task) in self.task_keys(rank, phase).into_iter().zip(&phase.tasks) {
                let next = self.process_of_task.len();
                let process = *self.process_of_task.entry(key).or_insert(next);
                if process == next {
                    self.application.initial_ranks.push(rank);
                    self.application.is_movable.push(task.is_migratable);
                    self.application.memory.push(None);
                    self.application
                        .task_labels
                        .entity_values
                        .push(task.entity.clone());
                }
            }
        }
        self.last_rank_of_process
            .clone_from(&self.application.initial_ranks);
    }

    /// Adds a phase as a superstep; if `is_new` is false, the superstep is equal to the superstep before.
    fn add_superstep(&mut self, of_ranks: &[&PhaseData], is_new: bool) {
        if !is_new {
            return self.application.steps.repeat_last_superstep();
        }
        let superstep = self.application.steps.len();
        self.application.steps.open_superstep();
        for (rank, phase) in of_ranks.iter().enumerate() {
            for (key, task) in self.task_keys(rank, phase).into_iter().zip(&phase.tasks) {
                let process = self.process_of_task[&key];
                let place = &mut self.last_rank_of_process[process];
                self.recorded_move_count += u64::from(*place != rank);
                *place = rank;
                let process = ProcessId::from_index(process);
                self.application.steps.add_work(process, task.work);
                let stated = task.memory.map(|memory| (superstep, process, memory));
                self.stated_memory.extend(stated);
            }
            for edge in &phase.messages {
                match (
                    self.process_of_task_number(edge.sender, rank),
                    self.process_of_task_number(edge.receiver, rank),
                ) {
                    (Some(from), Some(to)) => {
                        for _ in 0..edge.count {
                            self.application.steps.add_message(Message {
                                from,
                                to,
                                size: edge.size,
                            });
                        }
                    }
                    _ => self.ignored_data.count_items(IgnoredKind::UnknownTask, 1),
                }
            }
        }
        self.application.steps.close_superstep();
    }

    /// Returns the process of the task with the number `id` to which a message on `rank` refers; `None` if there is no such task.
    fn process_of_task_number(&self, id: u64, rank: usize) -> Option<ProcessId> {
        let process = self
            .process_of_task
            .get(&(id, 0, 0))
            .or_else(|| self.process_of_task.get(&(id, rank, 1)))?;
        Some(ProcessId::from_index(*process))
    }

    fn describe_read_data(&self, config: &VtConfig, numbers: &[u64]) -> String {
        let pinned = self
            .application
            .is_movable
            .iter()
            .filter(|movable| !**movable)
            .count();
        let mut parts = vec![format!(
            "`{}` has {}",
            config.data,
            describe_read_counts(
                self.application.task_labels.rank_count,
                self.application.initial_ranks.len(),
                pinned,
                numbers.len()
            )
        )];
        if let (Some(first), Some(last)) = (numbers.first(), numbers.last())
            && (*first, *last) != (0, numbers.len() as u64 - 1)
        {
            parts.push(format!(
                "its phases, numbered from {first} to {last}, become the supersteps"
            ));
        }
        if !self.shared_task_numbers.is_empty() {
            let count = format_count(self.shared_task_numbers.len(), "id");
            parts.push(format!(
                "{count} shared by several tasks, which migsim distinguishes by their rank and their position in the file"
            ));
        }
        if self.recorded_move_count > 0 {
            let count = format_count(self.recorded_move_count, "move");
            parts.push(format!(
                "{count} of the recorded run {} not repeated, and each task starts on the rank where it appears first",
                singular_or_plural(self.recorded_move_count, ["is", "are"])
            ));
        }
        parts.extend(
            self.ignored_data
                .description()
                .map(|words| format!("migsim ignores {words}")),
        );
        parts.join("; ")
    }
}
