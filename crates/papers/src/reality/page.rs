//! Creates the page `reality.md`, the table `reality.csv` and the figures on the comparison of predicted with measured times.

use super::{BarrierCase, MeasurementComparison, PredictedProgram};
use crate::{
    cells::median,
    markdown::{push_table, put},
};
use migsim_base::error::Error;
use migsim_output::figure::{
    self, Dot, DotRowChart, Figure, FigureStyle, LegendSeries, RowGroup,
    SCENARIO_COLOURS_AND_MARKS, ScatterChart, ScatterPoint, select_figures,
};

/// Names of the figures that the option `--figure` accepts.
const FIGURE_NAMES: [&str; 2] = ["scatter", "ratios"];
const COLOURED_CLASSES: [&str; 2] = ["latency", "bandwidth"];
/// Maximum relative error of a prediction that counts as near (a fraction).
const NEAR_ERROR: f64 = 0.05;

/// Creates the Markdown page on the comparison of simulated with measured times.
pub fn markdown_page(reality: &MeasurementComparison) -> String {
    let mut text = String::from(HEAD);
    let all = &reality.predicted_programs;
    let [latency, bandwidth, mixed, every] = CLASSES.map(|class| median_error(all, class));
    put!(
        text,
        "**Median error of the total time: {every:.1} %. By class: {latency:.1} % for programs limited by latency, {bandwidth:.1} % by bandwidth, {mixed:.1} % by both. {} of {} cases are \
         within 5 %.**\n\n",
        near_predictions(all),
        all.len()
    );
    text += CAUTION;
    push_calibration_section(&mut text, reality);
    text += "\n## Cases\n\n![predicted against measured](reality-scatter.svg)\n\n![predicted over measured, case by case](reality-ratios.svg)\n";
    push_cases_table(&mut text, reality, false);
    text += "\nIn these cases the emulation delivered more than 5 % of the packets late, so they count less:\n";
    push_cases_table(&mut text, reality, true);
    text += "\n## Ablation\n\nThe table has the median error of the total time by class, in percent, over all cases. First the effects are added one after the other. Then one effect at a time is left out.\n";
    let columns = "effects | latency | bandwidth | mixed | all | within 5 % | worst";
    push_table(&mut text, columns, reality.ablation_rows.iter().cloned());
    text += "\n## Barriers\n\nThe table has milliseconds per empty superstep. No barrier was fitted. `library` is the barrier that Open MPI chooses for the number of processes.\n";
    let columns = "barrier | processes | measured | predicted | off [%]";
    push_table(&mut text, columns, reality.barrier_rows.iter().cloned());
    text += RECORDED;
    let second = &reality.second_calibration;
    put!(
        text,
        "The *first* machine is that of the cases above. The *second* one is faster: `migsim calibrate` finds an overhead of {:.1} us a message and a bandwidth factor of {:.4} there \
         (`pingpong-second.csv`).\n",
        second.fitted_overhead.unwrap_or_default() * 1e6,
        second.fitted_bandwidth_factor.unwrap_or_default()
    );
    let columns = "run | machine | platform | measured [s] | quartiles [s] | predicted [s] | off [%] | off with barriers [%] | in queues [s] | off [%]";
    push_table(&mut text, columns, reality.recorded_rows.iter().cloned());
    text += FIRST_COME;
    let variants = reality.variants.iter().map(|one| {
        // Variants of the protocol with which the program `backbone-both` was measured.
        let name = match &*one.variant {
            "eager" => "without handshakes",
            "links2" => "with two connections a pair",
            "bbr" => "with BBR instead of cubic",
            other => other,
        };
        format!("{name} {:.2} s", one.median_s)
    });
    let variants: Vec<String> = variants.collect();
    put!(
        text,
        "\n## What is left\n\n{HEAD_OF_LINE} Measurements of `backbone-both` with other protocols: {}.\n",
        variants.join(", ")
    );
    text
}

const HEAD: &str = "# Reality: predicted and measured\n\nWritten by `migsim reproduce reality --out results`; a test writes it again and compares. Open MPI 4.1.4 ran 29 BSP programs over TCP, on 8 or 12 \
network namespaces of one machine with shaped links. Each superstep was measured 12 times (median interquartile range of the total 0.7 %). This page simulates their traces on the nominal platform with duplex links and the library model `open-mpi`, fitted by `migsim calibrate`.\n\n";

const CAUTION: &str = "Reasons to doubt this page:\n\n\
- **The effects were chosen with knowledge of the cases.** When the study chose *which* effects to include, it used all 42 cases, 13 of which are not on this page. Therefore the errors are optimistic.\n\
- **Two numbers are fitted** to one-way times between two hosts (`ping-small` and `ping-large`, which are among the cases). No simulation uses any other measured time.\n\
- **One machine.** Links are emulated in software. Processes sleep while they wait, and the overhead includes the time to wake up. Other MPI libraries and networks other than \
TCP were not measured. The page [Recorded programs](recorded.md) has two processes on one host.\n\
- **Lost packets.** If shallow queues lose packets (`incast-shallow`, `one-three`), the times of equal runs differ by a quarter and more. A fluid model cannot predict the time of a single run.\n";

fn push_calibration_section(text: &mut String, reality: &MeasurementComparison) {
    let found = &reality.calibration;
    let overhead = found.fitted_overhead.unwrap_or_default() * 1e6;
    let factor = found.fitted_bandwidth_factor.unwrap_or_default();
    put!(
        text,
        "\n## Calibration\n\n`migsim calibrate --platform crates/papers/src/reality/two.json --table crates/papers/src/reality/pingpong.csv --out mine.json`: overhead {overhead:.1} us per message, \
         bandwidth factor {factor:.4}; median residual {:.1} %.\n",
        100.0 * found.median_residual
    );
    let rows = reality.measured_pings.iter().zip(&found.predicted_times);
    let rows = rows.map(|(ping, predicted)| {
        let times = format!("{:.3} | {:.3}", ping.median_time * 1e3, predicted * 1e3);
        let off = 100.0 * (predicted / ping.median_time - 1.0);
        format!("{} | {times} | {off:+.1}", ping.message_size)
    });
    push_table(text, "bytes | measured [ms] | fitted [ms] | off [%]", rows);
    let others = reality.predicted_programs.iter();
    let others = others.filter(|one| !one.case.name.starts_with("ping-"));
    let errors: Vec<f64> = others.map(percent_error).collect();
    put!(
        text,
        "\nThe median error of the {} cases to which nothing was fitted is {:.1} %. `benches/reality-cases FOLDER` repeats these predictions from the raw repetitions with the commands of a user: it \
         makes the table of the two pings, calibrates, and runs each case.\n",
        errors.len(),
        median(errors.iter().copied()).unwrap_or_default()
    );
}

fn push_cases_table(text: &mut String, reality: &MeasurementComparison, limited: bool) {
    let all = reality.predicted_programs.iter();
    let rows = all.filter(|one| one.case.limited == limited).map(|one| {
        let case = &one.case;
        let [low, high] = case.quartiles_s;
        let measured = format!("{:.4} | {low:.4} to {high:.4}", case.median_s);
        let predicted = format!(
            "{:.4} | {:+.1}",
            one.simulated_s,
            100.0 * one.relative_error()
        );
        let place = format!("{} | {}", case.class, case.platform);
        format!("{} | {place} | {measured} | {predicted}", case.name)
    });
    let columns =
        "case | class | platform | measured [s] | quartiles [s] | predicted [s] | off [%]";
    push_table(text, columns, rows);
}

pub(super) fn ablation_row(name: &str, predicted: &[PredictedProgram]) -> String {
    let errors = CLASSES
        .map(|class| format!("{:.1}", median_error(predicted, class)))
        .join(" | ");
    let larger = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
    let worst = predicted.iter().map(PredictedProgram::relative_error);
    let worst = 100.0 * worst.fold(0.0, larger);
    format!(
        "{name} | {errors} | {} | {worst:+.0}",
        near_predictions(predicted)
    )
}

/// Creates the row of a barrier, with its times averaged over the empty supersteps of a program \[s\].
pub(super) fn barrier_row(one: &BarrierCase, simulated_s: f64, supersteps: f64) -> String {
    let kind = serde_json::to_value(one.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    let processes = if one.case.ends_with("three") { 12 } else { 8 };
    let [measured, predicted] = [one.median_s, simulated_s].map(|time| time / supersteps);
    let off = 100.0 * (predicted / measured - 1.0);
    format!(
        "`{kind}` | {processes} | {:.2} | {:.2} | {off:+.1}",
        measured * 1e3,
        predicted * 1e3
    )
}

const RECORDED: &str = "\n## Recorded programs\n\n`migsim record` recorded these programs on emulated networks, with 8 processes. The networks are the platform `two`, and `two-slow` with a quarter of its rates and four times its delays. \
The same programs were measured 7 times without the recorder, at a load average of 0.1 to 0.7 (heat) and 0.8 to 3.3 (LAMMPS on `two`, itself included). Traces of `migsim record` have no barriers (`barrier.kind` `none`): each process continues when its own messages have arrived. *Off with barriers* is the error with ideal barriers between the supersteps. The library's \
own barrier would cost far more, and the programs do not call it there. *In queues* is the time with `--net queues=true`: packets are sent in the order \
of their arrival, instead of flows that share links.\n\n";

const FIRST_COME: &str = "\nThe messages of LAMMPS have 3 to 10 packets. If four of them meet in one queue, the one that arrives first is sent first. With equal shares, each \
message takes as long as the last one. The predicted time is then a quarter too long on `two-slow`, and a fifth on `two` with the second machine. With \
packets in queues it is within 3 % on both.\n\n\
**LAMMPS on `two` with the first machine was not measured on that network alone.** Two effects make it slower:\n\n- *Hosts limit the rate at which they send* (shaping), and so does the emulated network. Messages leave TCP in segments \
of up to five packets, and a segment waits until the host may send all of it. On the second machine LAMMPS takes 3.35 s with both limits (7 runs) and \
3.23 s if only the network limits the rate. If hosts first divide their messages into packets, it takes 3.29 s (5 runs). The prediction with queues is \
6 % below the 3.35 s.\n\
- *The program that emulates the network* takes 28 us of a core for each packet on the first machine, and is busy for 2.3 of 3.9 s. Eight hosts that send at 100 Mbps need more than one core. On the second machine a packet takes 21 us, and one packet in 4 000 is sent more than 0.1 \
ms late. Two threads instead of one gain nothing there (3.40 s, 7 runs).\n\nSo the runs of the second machine are on `two` without shaping by the \
hosts. This was decided after a search for the reason why LAMMPS was slow. \
`benches/packets`, a separate program, simulates the packets. For the first machine it predicts 3.39 to 3.45 s, 3.41 to 3.47 s with acknowledgements, \
and 3.85 to 3.86 s if each packet also takes 28 us in the emulation (measured: 3.81 s). For the second machine it predicts 3.14 to 3.19 s, 3.15 to 3.20 \
s, and 3.35 to 3.37 s with 21 us (measured: 3.23 s). \
With equal shares the error on the first machine is smaller for the wrong reason. Heat hardly changes. Nothing was fitted to these programs.\n";

const HEAD_OF_LINE: &str = "**Head of line** (`backbone-both`, the worst error): four pairs of processes send each other large messages over one link. The clear-to-send of one direction waits \
behind the data of the other, since both use one connection. The times jump between repetitions: a superstep takes 0.37 s if both directions are sent at the same time, and up to 0.68 s if one is sent after the \
other. The first superstep is always fast. The times of `duplex` jump, too, but its median is the fast time.\n\nThe table has rules that were tried \
with a prototype, and the error of the total time for `backbone-both`, `duplex` and `wan-large`:\n\n\
| rule | backbone-both | duplex | wan-large |\n|---|---|---|---|\n\
| none: as here | -34 % | -2 % | +0 % |\n\
| the second direction after the first | +31 % | +62 % | +0 % |\n\
| the first 64 KiB, the clear-to-send, the rest | -34 % | -2 % | +0 % |\n\
| the first 128 KiB, the clear-to-send, the rest | -34 % | -2 % | +0 % |\n\
| 64 KiB each way before the rest | -26 % | +2 % | +6 % |\n\
| 128 KiB each way before the rest | -17 % | +6 % | +9 % |\n\n\
No rule explains both cases, so none is implemented. The measured times are between the two values, and which one occurs is random.";

const CLASSES: [&str; 4] = ["latency", "bandwidth", "mixed", ""];

/// Returns the absolute relative error of a prediction \[%\].
fn percent_error(one: &PredictedProgram) -> f64 {
    100.0 * one.relative_error().abs()
}

/// Returns the median of the absolute relative errors of the programs of a class \[%\].
fn median_error(predicted: &[PredictedProgram], class: &str) -> f64 {
    let of_class = predicted
        .iter()
        .filter(|one| class.is_empty() || one.case.class == class);
    median(of_class.map(percent_error)).unwrap_or_default()
}

fn near_predictions(predicted: &[PredictedProgram]) -> usize {
    let near = predicted
        .iter()
        .filter(|one| one.relative_error().abs() <= NEAR_ERROR);
    near.count()
}

/// Creates the CSV table of measured and predicted times, with one row per measured program.
pub fn csv_table(reality: &MeasurementComparison) -> String {
    let mut text = String::from(
        "case,class,platform,limited,measured_s,first_quartile_s,third_quartile_s,predicted_s,off_percent\n",
    );
    for one in &reality.predicted_programs {
        let case = &one.case;
        let [low, high] = case.quartiles_s;
        put!(
            text,
            "{},{},{},{},{},{low},{high},{:.7},{:.2}\n",
            case.name,
            case.class,
            case.platform,
            case.limited,
            case.median_s,
            one.simulated_s,
            100.0 * one.relative_error()
        );
    }
    text
}

/// Draws the figure with the name `wanted`, or all figures if `wanted` is `all`.
///
/// # Errors
/// There is no figure with this name.
pub fn draw_figures(
    reality: &MeasurementComparison,
    wanted: &str,
    style: &FigureStyle,
) -> Result<Vec<Figure>, Error> {
    let wanted = select_figures(wanted, &FIGURE_NAMES)?;
    let draw = |name: &&str| {
        let drawing = match *name {
            "scatter" => scatter_chart(reality).draw(style),
            _ => ratios_chart(reality).draw(style),
        };
        Figure::new(format!("reality-{name}"), drawing)
    };
    Ok(wanted.iter().map(draw).collect())
}

fn series_index_of_program(one: &PredictedProgram) -> usize {
    let place = COLOURED_CLASSES
        .iter()
        .position(|class| *class == one.case.class);
    place.unwrap_or(COLOURED_CLASSES.len())
}

/// Lists the series (colours) of the figures, each with its name and its index.
fn list_series() -> impl Iterator<Item = (&'static str, usize)> {
    COLOURED_CLASSES
        .into_iter()
        .chain(["mixed and others"])
        .zip(0..)
}

fn scatter_chart(reality: &MeasurementComparison) -> ScatterChart {
    let key = |(name, place): (&str, usize)| {
        let (colour, mark) = SCENARIO_COLOURS_AND_MARKS[place];
        (name.to_owned(), colour, mark)
    };
    let point = |one: &PredictedProgram| ScatterPoint {
        series_index: series_index_of_program(one),
        coordinates: (one.case.median_s, one.simulated_s),
    };
    ScatterChart {
        name: "predicted against measured times".into(),
        axis_titles: ["measured [s]".into(), "predicted [s]".into()],
        legend_series: list_series().map(key).collect(),
        points: reality.predicted_programs.iter().map(point).collect(),
        marked_deviation: NEAR_ERROR,
    }
}

fn ratios_chart(reality: &MeasurementComparison) -> DotRowChart {
    let row = |one: &PredictedProgram| {
        let [low, high] = one.case.quartiles_s;
        figure::ChartRow {
            label: one.case.name.clone(),
            dots: vec![Dot {
                series_index: series_index_of_program(one),
                value: one.simulated_s / one.case.median_s,
                whisker_limits: Some((one.simulated_s / high, one.simulated_s / low)),
            }],
            ..figure::ChartRow::default()
        }
    };
    DotRowChart {
        name: "predicted over measured times, case by case".into(),
        axis_title: "predicted over measured: median and quartiles of the repetitions".into(),
        legend_series: list_series()
            .map(|(name, place)| LegendSeries::from_index(name, place))
            .collect(),
        row_groups: vec![RowGroup {
            heading: "cases".into(),
            rows: reality.predicted_programs.iter().map(row).collect(),
            ..RowGroup::default()
        }],
        is_logarithmic: true,
        ..DotRowChart::default()
    }
}
