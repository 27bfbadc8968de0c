//! Implements `migsim calibrate --decisions`: measures the processor time of the decisions of policies on this machine, at
//! barriers of drawn runs of growing size, and writes a formula for each policy. Runs read the formula, never a clock.

use std::{collections::BTreeSet, fs, io::Write, process::Command, time::Instant};

use serde_json::json;

use crate::{
    Registry,
    bsp::{DecisionCost, DecisionSize, Scenario, Stepper},
    cli::{args::CalibrateArguments, print::print_text},
    error::{Error, Result},
    experiment::{Experiment, Layers, Limits, read_library_json},
    output::{Cell, Sheet, Table, number_column, text_column, write_file_named_by_user},
    random::{Stream, StreamPurpose},
    sweep::keys::base_policy_name,
};

/// Numbers of processes, and of hosts of each of two clusters, for which decisions are measured.
const SIZES: [(usize, usize); 8] = [
    (128, 4),
    (128, 16),
    (512, 4),
    (512, 16),
    (512, 64),
    (2048, 4),
    (2048, 16),
    (2048, 64),
];
/// Number of decisions of each size, of which the fastest counts.
const REPETITIONS: usize = 8;
/// Formulas that are tried: the variables of two terms.
const FORMULAS: [[&str; 2]; 9] = [
    ["", " * P"],
    ["", " * P * log2(P)"],
    ["", " * P * log2(H)"],
    ["", " * P * H"],
    ["", " * P * P"],
    ["", " * N"],
    [" * P", " * P * H"],
    [" * P", " * M"],
    [" * H", " * M"],
];

struct Measured {
    size: DecisionSize,
    /// Least time of a decision \[s\].
    time: f64,
}

pub(super) fn calibrate_decisions(
    registry: &Registry,
    arguments: &CalibrateArguments,
    out: &mut dyn Write,
) -> Result {
    let mut library = arguments
        .library
        .as_deref()
        .map(read_library_json)
        .transpose()?
        .unwrap_or_else(|| json!({ "schema": "migsim-library-1" }));
    let columns = [
        text_column("policy", "policy"),
        text_column("time of a decision", "formula"),
        number_column("largest error [%]", "largest_error_percent"),
    ];
    let mut table = Table::new("decisions", "", &columns);
    let origin = format!(
        "fitted: migsim calibrate --decisions, {}",
        machine_and_date()
    );
    let mut names = BTreeSet::new();
    let mut all = arguments.decisions.iter().map(|one| base_policy_name(one));
    if let Some(name) = all.find(|name| !names.insert(*name)) {
        let what = format!("the decisions of `{name}` would be measured twice");
        let hint = "name each policy once: its trigger has no effect on the time of a decision";
        return Err(Error::input(what, "--decisions", hint));
    }
    for policy in &arguments.decisions {
        let measured = SIZES
            .map(|size| measure_decisions(registry, policy, size))
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let (formula, error) = fit_formula(&measured);
        let name = base_policy_name(policy);
        let percent = 100.0 * error;
        library["origins"][format!("policy.decision.{name}")] = json!(origin);
        table.push_row([
            Cell::text(policy),
            Cell::text(&formula),
            Cell::from_value_and_text(percent, format!("{percent:.0}")),
        ]);
        library["policy"]["decision"][name] = json!(formula);
    }
    if let Some(path) = &arguments.out {
        library["name"] = json!(path.file_stem().unwrap_or_default().to_string_lossy());
        write_file_named_by_user(path, format!("{library:#}\n").as_bytes())?;
    }
    let mut sheet = Sheet::default();
    sheet.add_table(table);
    sheet.add_line(origin);
    print_text(out, &sheet.render(arguments.form.output_form()))
}

/// Measures the least time of a decision of a policy about `processes` processes on two clusters of `hosts` hosts each.
fn measure_decisions(
    registry: &Registry,
    policy: &str,
    (processes, hosts): (usize, usize),
) -> Result<Measured> {
    let link = json!({ "bandwidth": "1 Gbps", "latency": "20 us" });
    let cluster = |name: &str| json!({ "name": name, "hosts": hosts, "speed": "1 GHz", "link": link, "router": name });
    let between =
        json!({ "name": "l", "from": "a", "to": "b", "bandwidth": "1 Gbps", "latency": "1 ms" });
    let platform = json!({
        "schema": "migsim-platform-1", "name": "measured", "clusters": [cluster("a"), cluster("b")], "links": [between],
    });
    let layers = Layers::from_pairs([
        ("platform", platform),
        ("workload.app", "synthetic".into()),
        ("workload.procs", processes.into()),
        ("workload.supersteps", (REPETITIONS + 1).into()),
        ("workload.spread", 0.8.into()),
        ("policy.name", policy.into()),
    ]);
    let limits = Limits {
        allows_starting_programs: true,
        ..Limits::default()
    };
    let experiment = Experiment::load_with(registry, &layers, limits)?;
    let setup = experiment.scenario_setup(Scenario::Ii);
    let mut policy = experiment.create_called_policy()?;
    let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
    let mut run = Stepper::new(&setup)?;
    let mut least: Option<Measured> = None;
    while !run.is_over() {
        let view = run.view()?;
        policy.is_call_due(&view);
        #[expect(
            clippy::disallowed_methods,
            reason = "the decision is measured, not simulated"
        )]
        let start = Instant::now();
        let decision = policy.decide(&view, &mut random)?;
        let time = start.elapsed().as_secs_f64();
        if least.as_ref().is_none_or(|least| time < least.time) {
            let size = DecisionSize {
                processes,
                cores: 2 * hosts,
                migrations: decision.migrations.len(),
                operations: decision
                    .procedure
                    .map(|procedure| procedure.operation_count),
            };
            least = Some(Measured { size, time });
        }
        policy.on_migrations_executed(0);
        run.advance(None)?;
    }
    Ok(least.expect("the run has barriers"))
}

/// Returns the formula with the smallest largest relative error, and this error.
fn fit_formula(measured: &[Measured]) -> (String, f64) {
    let fits = FORMULAS.iter().map(|variables| {
        // Of each measured time, the two terms should add up to 1.
        let rows: Vec<[f64; 2]> = measured
            .iter()
            .map(|one| {
                variables.map(|variables| {
                    let unit: DecisionCost = format!("1 s{variables}").parse().expect("a formula");
                    unit.work(one.size, 1.0).get() / one.time
                })
            })
            .collect();
        let factors = nonnegative_least_squares(&rows);
        let largest = rows
            .iter()
            .map(|row| (row[0] * factors[0] + row[1] * factors[1] - 1.0).abs())
            .fold(0.0, f64::max);
        let terms = factors
            .iter()
            .zip(variables)
            .filter(|term| *term.0 > 0.0)
            .map(|(factor, variables)| format!("{:.3} ns{variables}", factor * 1e9));
        (terms.collect::<Vec<_>>().join(" + "), largest)
    });
    fits.min_by(|one, other| one.1.total_cmp(&other.1))
        .expect("there are formulas")
}

/// Returns the factors of two columns, neither below 0, with which each row comes closest to 1.
fn nonnegative_least_squares(rows: &[[f64; 2]]) -> [f64; 2] {
    let sum = |of: &dyn Fn(&[f64; 2]) -> f64| rows.iter().map(of).sum::<f64>();
    let product = |one: usize, other: usize| sum(&|row| row[one] * row[other]);
    let [first, mixed, second] = [product(0, 0), product(0, 1), product(1, 1)];
    let totals = [sum(&|row| row[0]), sum(&|row| row[1])];
    let determinant = first * second - mixed * mixed;
    let both = [
        (totals[0] * second - totals[1] * mixed) / determinant,
        (first * totals[1] - mixed * totals[0]) / determinant,
    ];
    if both[0] < 0.0 {
        [0.0, totals[1] / second]
    } else if both[1] >= 0.0 {
        both
    } else {
        [totals[0] / first, 0.0]
    }
}

/// Describes the processor of this machine and the present date.
fn machine_and_date() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |name| {
            name.trim_start_matches([' ', '\t', ':'])
        });
    let date = Command::new("date").arg("+%F").output();
    let date = date.map_or_else(|_| "unknown date".into(), |date| date.stdout);
    format!("{model}, {}", String::from_utf8_lossy(&date).trim_end())
}
