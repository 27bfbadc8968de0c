//! Describes an application in lines of text and a table of the work and messages of its supersteps.

use super::SuperstepLoad;
use crate::{
    placed::StartsByCluster,
    table::experiment_heading,
    table_format::{Cell, Sheet, Table, number_column, text_column},
};
use migsim_base::{
    quantities::{format_data_size, format_four_digits, format_work},
    words::format_count,
};
use migsim_experiment::Experiment;

/// A line of text with a small chart: the name of a quantity, the function that returns its value for a superstep, and the
/// function that formats a value.
type QuantityLine = (&'static str, fn(&SuperstepLoad) -> f64, fn(f64) -> String);

/// Describes the application of an experiment: a heading, small charts over the supersteps, and a table of at most `rows` ranges
/// of supersteps.
pub fn workload_sheet(experiment: &Experiment, loads: &[SuperstepLoad], rows: usize) -> Sheet {
    let mut sheet = Sheet::default();
    let placed = StartsByCluster::from_experiment(experiment);
    sheet.add_line(experiment_heading(experiment));
    sheet.add_line(placed.to_line());
    sheet.add_line("");
    let lines: [QuantityLine; 3] = [
        ("work", |load| load.total_work, format_work),
        (
            "messages",
            |load| load.message_count as f64,
            format_four_digits,
        ),
        ("h-relation", |load| load.h_relation, format_data_size),
    ];
    for (name, of, shown) in lines {
        let values: Vec<f64> = loads.iter().map(of).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        let course = sparkline(&values);
        sheet.add_line(format!("{name:<10}  {course}  up to {}", shown(highest)));
    }
    sheet.add_line("");
    sheet.add_table(mean_loads_table(loads, rows));
    sheet.add_table_for_programs(placed.to_table());
    let total = |of: fn(&SuperstepLoad) -> f64| loads.iter().map(of).sum::<f64>();
    sheet.add_line("");
    let memory: f64 = (0..experiment.workload.processes())
        .map(|process| {
            let process = migsim_base::units::ProcessId::from_index(process);
            experiment.workload.memory(process).get()
        })
        .sum();
    sheet.add_line(format!(
        "total of all supersteps: {} of work, {} with together {}; total memory of the processes: {}",
        format_work(total(|load| load.total_work)),
        format_count(
            loads.iter().map(|load| load.message_count).sum::<usize>(),
            "message"
        ),
        format_data_size(total(|load| load.message_volume)),
        format_data_size(memory)
    ));
    sheet
}

fn mean_loads_table(loads: &[SuperstepLoad], rows: usize) -> Table {
    let columns = [
        text_column("supersteps", "supersteps"),
        number_column("work", "work_instructions"),
        number_column("imbalance", "imbalance"),
        number_column("messages", "messages"),
        number_column("volume", "volume_bytes"),
        number_column("largest h-relation", "largest_h_bytes"),
    ];
    let title = "Means per superstep, over ranges of supersteps";
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
        table.push_row(mean_loads_row(&name, &loads[range]));
    }
    if !loads.is_empty() {
        table.push_row(mean_loads_row("all", loads));
    }
    table
}

fn mean_loads_row(name: &str, loads: &[SuperstepLoad]) -> [Cell; 6] {
    let mean =
        |of: fn(&SuperstepLoad) -> f64| loads.iter().map(of).sum::<f64>() / loads.len() as f64;
    let mean_work = mean(|load| load.total_work);
    let imbalance = mean(|load| load.imbalance);
    let messages = mean(|load| load.message_count as f64);
    let volume = mean(|load| load.message_volume);
    let h = loads.iter().map(|load| load.h_relation).fold(0.0, f64::max);
    [
        Cell::text(name),
        Cell::from_value_and_text(mean_work, format_work(mean_work)),
        Cell::from_value_and_text(imbalance, format_four_digits(imbalance)),
        Cell::from_value_and_text(messages, format_four_digits(messages)),
        Cell::from_value_and_text(volume, format_data_size(volume)),
        Cell::from_value_and_text(h, format_data_size(h)),
    ]
}

pub(super) fn sparkline(values: &[f64]) -> String {
    const LETTERS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let means = means_of_equal_parts(values, 60);
    let highest = means.iter().copied().fold(0.0, f64::max);
    let letter = |mean: &f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 8, since no mean is negative or above the highest"
        )]
        let step = (mean / highest * 8.0) as usize; // 0/0 is NaN, which becomes 0
        LETTERS[step.min(7)]
    };
    means.iter().map(letter).collect()
}

pub(super) fn means_of_equal_parts(values: &[f64], most: usize) -> Vec<f64> {
    let count = values.len().min(most);
    (0..count)
        .map(|index| {
            let range = index * values.len() / count..(index + 1) * values.len() / count;
            let length = range.len() as f64;
            values[range].iter().sum::<f64>() / length
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_go_from_nothing_to_the_highest() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0]), "▁▂▅█");
        assert_eq!(sparkline(&[0.0, 0.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&vec![1.0; 1000]).chars().count(), 60);
    }
}
