//! An application for people: what its processes compute and send, superstep by superstep or for ranges of supersteps.
//!
//! | column | what |
//! | --- | --- |
//! | work | the sum over the processes \[instr\] |
//! | imbalance | the largest work of a process over the mean, less 1 (of all processes, those without work too) |
//! | messages, volume | their number, and the bytes that they carry |
//! | h | the h-relation \[B\]: the most that a process sends, or receives (Valiant 1990) |
//!
//! All supersteps are looked at; of a range, means are shown, and the largest h.

mod picture;

pub use picture::picture;

use super::placed::Placed;
use super::quantities::{digits, size, work};
use super::sheet::{Cell, Sheet, Table, numbers, words};
use crate::experiment::Experiment;
use crate::words::counted;
use crate::workload::Plan;

/// One superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// \[instr\]
    pub work: f64,
    /// The largest work of a process over the mean, less 1; 0 if nobody works.
    pub imbalance: f64,
    /// How many.
    pub messages: usize,
    /// \[B\]
    pub volume: f64,
    /// \[B\]
    pub h: f64,
}

/// All supersteps of the application of an experiment.
pub fn loads(experiment: &Experiment) -> Vec<Load> {
    let workload = &experiment.workload;
    let processes = workload.processes();
    let mut plan = Plan::default();
    let (mut sent, mut received) = (vec![0.0; processes], vec![0.0; processes]);
    let mut loads: Vec<Load> = Vec::with_capacity(workload.supersteps());
    for superstep in 0..workload.supersteps() {
        let last = loads.last().copied();
        if let Some(last) = last.filter(|_| workload.repeats(superstep)) {
            loads.push(last);
            continue;
        }
        plan.clear(processes);
        workload.fill(superstep, &mut plan);
        loads.push(load(&plan, &mut sent, &mut received));
    }
    loads
}

/// What is in a plan; `sent` and `received` are filled for each process.
fn load(plan: &Plan, sent: &mut [f64], received: &mut [f64]) -> Load {
    sent.fill(0.0);
    received.fill(0.0);
    let mut volume = 0.0;
    for message in &plan.messages {
        let size = message.size.get();
        sent[message.from.index()] += size;
        received[message.to.index()] += size;
        volume += size;
    }
    let works = plan.work.iter().map(|work| work.get());
    let (sum, largest) = works.fold((0.0, 0.0_f64), |(sum, most), work| {
        (sum + work, most.max(work))
    });
    let mean = sum / plan.work.len() as f64;
    Load {
        work: sum,
        imbalance: if mean > 0.0 {
            (largest / mean - 1.0).max(0.0)
        } else {
            0.0
        },
        messages: plan.messages.len(),
        volume,
        h: sent.iter().chain(&*received).copied().fold(0.0, f64::max),
    }
}

/// A line of letters: its name, its value, and how that is written.
type Line = (&'static str, fn(&Load) -> f64, fn(f64) -> String);

/// The application as lines and a table of at most `rows` rows.
pub fn workload_sheet(experiment: &Experiment, loads: &[Load], rows: usize) -> Sheet {
    let mut sheet = Sheet::default();
    let placed = Placed::of(experiment);
    sheet.line(super::table::heading(experiment));
    sheet.line(placed.line());
    sheet.line("");
    let lines: [Line; 3] = [
        ("work", |load| load.work, work),
        ("messages", |load| load.messages as f64, digits),
        ("h", |load| load.h, size),
    ];
    for (name, of, shown) in lines {
        let values: Vec<f64> = loads.iter().map(of).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        let course = sparkline(&values);
        sheet.line(format!("{name:<8}  {course}  up to {}", shown(highest)));
    }
    sheet.line("");
    let columns = [
        words("supersteps", "supersteps"),
        numbers("work", "work_instructions"),
        numbers("imbalance", "imbalance"),
        numbers("messages", "messages"),
        numbers("volume", "volume_bytes"),
        numbers("largest h", "largest_h_bytes"),
    ];
    let title = "Means over ranges of supersteps";
    let is_single = loads.len() <= rows;
    let mut table = Table::new("supersteps", if is_single { "" } else { title }, &columns);
    let count = rows.clamp(1, loads.len().max(1));
    for part in 0..count {
        let range = part * loads.len() / count..(part + 1) * loads.len() / count;
        let name = match range.len() {
            0 => continue,
            1 => (range.start + 1).to_string(),
            _ => format!("{} to {}", range.start + 1, range.end),
        };
        table.push(row(&name, &loads[range]));
    }
    if !loads.is_empty() {
        table.push(row("all", loads));
    }
    sheet.table(table);
    sheet.data(placed.table());
    let total = |of: fn(&Load) -> f64| loads.iter().map(of).sum::<f64>();
    sheet.line("");
    let memory: f64 = (0..experiment.workload.processes())
        .map(|process| {
            let process = crate::units::ProcessId::from_index(process);
            experiment.workload.memory(process).get()
        })
        .sum();
    sheet.line(format!(
        "in all {}, {} with {}; the memory of all processes is {}",
        work(total(|load| load.work)),
        counted(
            loads.iter().map(|load| load.messages).sum::<usize>(),
            "message"
        ),
        size(total(|load| load.volume)),
        size(memory)
    ));
    sheet
}

/// The means of some supersteps.
fn row(name: &str, loads: &[Load]) -> [Cell; 6] {
    let mean = |of: fn(&Load) -> f64| loads.iter().map(of).sum::<f64>() / loads.len() as f64;
    let (mean_work, imbalance) = (mean(|load| load.work), mean(|load| load.imbalance));
    let (messages, volume) = (mean(|load| load.messages as f64), mean(|load| load.volume));
    let h = loads.iter().map(|load| load.h).fold(0.0, f64::max);
    [
        Cell::text(name),
        Cell::value(mean_work, work(mean_work)),
        Cell::value(imbalance, digits(imbalance)),
        Cell::value(messages, digits(messages)),
        Cell::value(volume, size(volume)),
        Cell::value(h, size(h)),
    ]
}

/// The course of some values, drawn with letters: the mean of each part, from nothing to the highest.
pub(super) fn sparkline(values: &[f64]) -> String {
    const LETTERS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let means = parts(values, 60);
    let highest = means.iter().copied().fold(0.0, f64::max);
    let letter = |mean: &f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 8, since no mean is negative or above the highest"
        )]
        let step = (mean / highest * 8.0) as usize; // of 0/0, which is no number, it makes 0
        LETTERS[step.min(7)]
    };
    means.iter().map(letter).collect()
}

/// The means of at most `most` parts of some values.
fn parts(values: &[f64], most: usize) -> Vec<f64> {
    let count = values.len().min(most);
    let part = |index: usize| {
        let range = index * values.len() / count..(index + 1) * values.len() / count;
        let length = range.len() as f64;
        values[range].iter().sum::<f64>() / length
    };
    (0..count).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Instructions, ProcessId};
    use crate::workload::Message;

    #[test]
    fn a_plan_is_summed_up() {
        let message = |from, to, size| Message {
            from: ProcessId(from),
            to: ProcessId(to),
            size: Bytes::of(size),
        };
        let plan = Plan {
            work: [6.0, 2.0, 1.0].map(Instructions::of).to_vec(),
            messages: vec![message(0, 1, 10.0), message(0, 2, 5.0), message(1, 2, 12.0)],
        };
        // p1 sends 15, p3 receives 17; the mean work is 3.
        let expected = Load {
            work: 9.0,
            imbalance: 1.0,
            messages: 3,
            volume: 27.0,
            h: 17.0,
        };
        assert_eq!(load(&plan, &mut [0.0; 3], &mut [0.0; 3]), expected);
        let idle = Plan {
            work: vec![Instructions::default(); 3],
            messages: Vec::new(),
        };
        assert_eq!(load(&idle, &mut [9.0; 3], &mut [9.0; 3]), Load::default());
    }

    #[test]
    fn sparklines_go_from_nothing_to_the_highest() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0]), "▁▂▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&vec![1.0; 1000]).chars().count(), 60);
    }
}
