//! Creates the outputs of the comparison with the authors' program: the page `authors-2015.md`, the table `authors-2015.csv`, and
//! the text for a terminal.

use super::predicted::runs_with_usual_parameters;
use super::{AuthorsComparison, CaseResult, ComparedRun, ComparisonCounts};
use crate::markdown::{escape_cell, put};
use migsim_output::{Cell, OutputForm, Sheet, Table, number_column, text_column};
use migsim_policies::authors_2015::Heuristic;

/// Introduction of the page on the comparison with the authors' program.
const INTRODUCTION_TEXT: &str = "# The authors' own program, decided again

Written by `migsim reproduce authors-2015 --out results`. The authors of MigBSP published a simulation program (`migcubemighull/heuristics`, 2015).
It has no licence, so this project contains none of its text. The cases here are numbers that the program produced with SimGrid 3.32, set to behave like
SimGrid 3.11: the reports of the processes at a call, and the decisions of the managers. The policy
[`authors-2015`](../docs/policies/authors-2015.md) was written from a description of the program's computations, and decides the same calls.

Each case is a chain of 6, 30 or 60 processes on three clusters of Grid'5000, over 80 supersteps. In scenario ii moves are decided but not
made, and in scenario iii they are made. PM is the potential of migration. Each PM(i,j) belongs to a process i and a Set (cluster) j. Sets are
counted from 0, processes and supersteps from 1.

Nothing is fitted. The input of a call is its stored reports: weighted times and bytes, patterns, hosts of processes, and the candidates of
earlier calls. The performance indices of Sets and all PM must be equal to the last bit, since the last digit decides ties. The order of processes, the Set that
each process prefers, the candidates, the moves, their order and their hosts must be equal, too.

Whole runs are also simulated, only from the parameters and the placement of a case (`migsim run authors-cpu` and similar). A run ends
when process 1 leaves its last call or barrier. Its makespan must agree with that of the program within a relative difference of 1e-6.
";

/// Text at the end of the page, which explains what the comparison with the authors' program does not show.
const LIMITATIONS_TEXT: &str = "## What this does not show

- The makespan of a run that takes another course after a tie. If potentials are nearly equal, the last digit of a time decides, and in a whole run this
  digit is not always the program's.
- All calls. For a case, the reports of three calls in scenario iii and of one call in scenario ii are stored. Only cases with 6 processes have all.
- A third of the cases was not available to the author of the policy while it was written. `migsim reproduce authors-2015 --cases FOLDER` reads JSON files of
  the same form.
";

/// Text that explains why scenario ii (rescheduling calls without moves) can be faster than scenario i (no calls).
const FASTER_WITH_CALLS_TEXT: &str = "
## Why scenario ii can be faster than scenario i

In two of three deployments scenario ii ends before scenario i, although each call costs 0.33 to 0.42 s. In the deployment cpu, a superstep before the first call takes 1.003 s in
both scenarios. In scenario ii a superstep after the call takes only 0.952 s, until the next call. In a call all processes wait for each other, and then managers answer one process after the other. The order of the
answers causes the difference. If all answers come at the same time, or if processes only wait for each other, scenario ii is not faster than i.
Probably, processes that are answered one after the other use shared hosts and links at different times.
The makespans are those of all processes, simulated with the policy `authors-2015`.

";

/// Text that introduces the table of whole runs that decide other moves than the program.
const DIFFERENT_MOVES_TEXT: &str = "
## Where a run takes another course

The table has the runs whose moves differ from the program's, at the first call with other moves. With the program's reports of this call, the policy decides the program's moves. So the cause can only be in the reports.
A *pair* is two processes whose largest PM compare differently in the two runs, in the sort of the program.

";

/// Text that introduces the table of gains over scenario i, in the program and with the policy `authors-2015`.
const GAINS_TEXT: &str = "
## Gains of the program and of the edition

The table compares the program with the policy `authors-2015`, the *edition*, in the runs with the usual parameters (60 processes, interval 8, x = 0.2). No constant of the edition was fitted. But it has the program's rules,
so equal numbers show only that the copy is faithful; they are no prediction. Gains are over scenario i of the same deployment.

The abstract of the article on the program (2016) says \"up to 42 %\", but not for which run. The largest gain of the program is 42.7 % (deployment cpu,
heuristic percentage), both in the program and in the edition. This agrees with the abstract. The heuristics in the name of the program, migcube and mighull, gain at most 40.9 %.

";

/// Text that introduces the table of runs with the policy `migbsp` under the common interpretation of the MigBSP rules (the same
/// interpretation for all papers).
const COMMON_INTERPRETATION_TEXT: &str = "
The next table has the policy `migbsp` with the rules `default` of [one-reading](one-reading.md), the *common reading*, on the same deployments. These rules were fitted to
the papers, but not to these runs. The gain is 71 to 76 %, with a tenth of the moves. The makespans are those of all processes.

";

/// Text that explains why the common interpretation of the papers has larger gains than the authors' program, with a table of the
/// gains for two sets of hosts under both sets of rules.
const WHY_LARGER_GAINS_TEXT: &str = "
The common reading gains more for two reasons: it may use more hosts, and it has other rules. Each reason alone adds 10 to 24 percentage points to the gain of migcube. In this table the edition replaces the program:

| experiment | migcube, declared hosts | migcube, all hosts | common reading, declared hosts | common reading, all hosts |
| --- | ---: | ---: | ---: | ---: |
| authors-cpu | 38.1 % | 53.4 % | 49.9 % | 71.3 % |
| authors-decrescent | 39.9 % | 53.3 % | 63.0 % | 74.0 % |
| authors-roundrobin | 39.7 % | 50.0 % | 63.3 % | 76.0 % |

- **Hosts.** The program declares 10 or 15 hosts of each cluster and shares them among 60 processes. The common reading may use all hosts of the platform, including 45 hosts of the fast cluster suno.
- **Moves back and forth.** The edition moves 37 to 60 processes at each call, and 36 to 48 % of the moves go straight back to the previous host. The reason is an error in the program that penalises staying
  ([`authors-2015`](../docs/policies/authors-2015.md)). The common reading moves processes only at the first one or two calls.

The table was made by hand, with `migsim run authors-cpu` and its options `policy.authors-2015.sets` and `--platform`.
";

/// Creates the sentence that summarises the comparison of all calls and runs with the authors' program.
fn summary_sentence(authors: &AuthorsComparison) -> String {
    let counts = &authors.counts;
    format!(
        "{} cases: {} of {} simulated makespans are within 1e-6 of the program's. {} stored calls: {} of {} potentials of migration (PM) are equal to the last bit; the order of the processes is equal in {} calls, the candidates in {}, the moves and their hosts in {} ({} moves)",
        authors.cases,
        authors.makespans_within_1e6,
        authors.makespans,
        counts.calls,
        counts.potentials_equal,
        counts.potentials,
        counts.orders_equal,
        counts.candidates_equal,
        counts.hosts_equal,
        counts.moves
    )
}

/// Creates the text for a terminal: a table of the comparisons by heuristic and scenario, and a list of the differences.
pub fn terminal_text(authors: &AuthorsComparison) -> String {
    let mut sheet = Sheet::default();
    sheet.add_line(summary_sentence(authors));
    sheet.add_line("");
    sheet.add_table(heuristics_table(authors));
    sheet.add_line("");
    sheet.add_table(whole_runs_table(authors));
    if authors
        .by_case
        .iter()
        .any(|one| !one.differences.is_empty())
    {
        sheet.add_line("");
    }
    for (case, difference) in case_differences(authors) {
        sheet.add_line(format!("{case}: {difference}"));
    }
    sheet.render(OutputForm::Table)
}

/// Creates the text of the CSV table of the comparison, with one row per case.
pub fn csv_table(authors: &AuthorsComparison) -> String {
    let mut columns = vec![
        text_column("case", "case"),
        text_column("heuristic", "heuristic"),
        text_column("scenario", "scenario"),
    ];
    columns.extend(COUNT_COLUMNS.map(|(key, _)| number_column(key, key)));
    columns.extend(["program_s", "simulated_s", "starts_equal"].map(|key| number_column(key, key)));
    let mut table = Table::new("cases", "", &columns);
    for one in &authors.by_case {
        let names = [
            one.case.as_str(),
            heuristic_name(one.heuristic),
            &one.scenario,
        ]
        .map(Cell::text);
        let counts = COUNT_COLUMNS.map(|(_, count)| Cell::count(count(&one.counts)));
        let run = authors.by_run.iter().find(|run| run.case == one.case);
        let date = |date: f64| Cell::from_value_and_text(date, format!("{date:.6}"));
        let run = run.map_or_else(
            || [(); 3].map(|()| Cell::empty()),
            |run| {
                let starts = Cell::count(run.starts_equal);
                [date(run.program_s), date(run.simulated_s), starts]
            },
        );
        table.push_row([&names[..], &counts, &run].concat());
    }
    let mut sheet = Sheet::default();
    sheet.add_table(table);
    sheet.render(OutputForm::Csv)
}

/// Creates the Markdown page on the comparison of the policy `authors-2015` with the authors' program of 2015.
pub fn markdown_page(authors: &AuthorsComparison) -> String {
    let mut page = INTRODUCTION_TEXT.to_owned();
    put!(
        page,
        "\n## What came out\n\n{}.\n\n",
        summary_sentence(authors)
    );
    let mut sheet = Sheet::default();
    sheet.add_table(heuristics_table(authors));
    page += &sheet.render(OutputForm::Markdown);
    let counts = &authors.counts;
    put!(
        page,
        "\nA superstep counts as stable if all times are within the mean times 1 ± D. In {} of {} supersteps the policy finds the same number of processes outside this range as the program.\n",
        counts.outside_equal,
        counts.outside
    );
    page += "\n## Whole runs\n\nA superstep is equal if process 1 begins it at the same time. A call is equal if it and all calls before it have the program's moves.\n\n";
    let mut sheet = Sheet::default();
    sheet.add_table(whole_runs_table(authors));
    page += &sheet.render(OutputForm::Markdown);
    page += FASTER_WITH_CALLS_TEXT;
    let mut sheet = Sheet::default();
    sheet.add_table(answer_orders_table(authors));
    page += &sheet.render(OutputForm::Markdown);
    if authors.by_run.iter().any(|run| run.tie.is_some()) {
        page += DIFFERENT_MOVES_TEXT;
        let mut sheet = Sheet::default();
        sheet.add_table(different_moves_table(authors));
        page += &sheet.render(OutputForm::Markdown);
    }
    let mut differences = case_differences(authors).peekable();
    if differences.peek().is_some() {
        page += "\nWhat differs:\n\n";
    }
    for (case, difference) in differences {
        put!(
            page,
            "- {}: {}\n",
            escape_cell(case),
            escape_cell(difference)
        );
    }
    page += GAINS_TEXT;
    let mut sheet = Sheet::default();
    sheet.add_table(predictions_table(authors));
    page += &sheet.render(OutputForm::Markdown);
    page += COMMON_INTERPRETATION_TEXT;
    let mut sheet = Sheet::default();
    sheet.add_table(common_interpretation_table(authors));
    page += &sheet.render(OutputForm::Markdown);
    page += WHY_LARGER_GAINS_TEXT;
    page += "\n## The effect of the program's errors\n\nThe page of [`authors-2015`](../docs/policies/authors-2015.md) lists the errors of the program. Three of them concern the inputs of a call, so the stored calls can be decided without one of these errors. Each call is decided separately, from the reports of the program's run.\n\n";
    let mut sheet = Sheet::default();
    sheet.add_table(without_slips_table(authors));
    page += &sheet.render(OutputForm::Markdown);
    put!(page, "\n{LIMITATIONS_TEXT}");
    page
}

/// Lists the differences between policy and program: the name of the case, and the description of the difference.
fn case_differences(authors: &AuthorsComparison) -> impl Iterator<Item = (&str, &str)> {
    authors.by_case.iter().flat_map(|one| {
        let differences = one.differences.iter();
        differences.map(|difference| (one.case.as_str(), difference.as_str()))
    })
}

/// Column of the table of counts: its heading, and the function that returns its count.
type CountColumn = (&'static str, fn(&ComparisonCounts) -> usize);

/// Columns of the table of counts from left to right, each with its heading and its count.
const COUNT_COLUMNS: [CountColumn; 11] = [
    ("calls", |counts| counts.calls),
    ("indices_equal", |counts| counts.indices_equal),
    ("indices", |counts| counts.indices),
    ("potentials_equal", |counts| counts.potentials_equal),
    ("potentials", |counts| counts.potentials),
    ("orders_equal", |counts| counts.orders_equal),
    ("candidates_equal", |counts| counts.candidates_equal),
    ("hosts_equal", |counts| counts.hosts_equal),
    ("moves", |counts| counts.moves),
    ("outside_equal", |counts| counts.outside_equal),
    ("outside", |counts| counts.outside),
];

/// Returns the name of a heuristic; `none` if there is no heuristic.
fn heuristic_name(heuristic: Option<Heuristic>) -> &'static str {
    match heuristic {
        None => "none",
        Some(Heuristic::One) => "one",
        Some(Heuristic::Percentage) => "percentage",
        Some(Heuristic::MigCube) => "migcube",
        Some(Heuristic::MigHull) => "mighull",
    }
}

/// Creates the table that counts equal values by heuristic and scenario.
fn heuristics_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("heuristic", "heuristic"),
        text_column("scenario", "scenario"),
        number_column("cases", "cases"),
        number_column("calls", "calls"),
        number_column("PM equal", "potentials_equal"),
        number_column("of", "potentials"),
        number_column("orders equal", "orders_equal"),
        number_column("candidates equal", "candidates_equal"),
        number_column("hosts equal", "hosts_equal"),
        number_column("moves", "moves"),
    ];
    let mut table = Table::new("heuristics", "", &columns);
    let heuristics = [
        Heuristic::One,
        Heuristic::Percentage,
        Heuristic::MigCube,
        Heuristic::MigHull,
    ];
    for heuristic in heuristics {
        for scenario in ["ii", "iii"] {
            let is_meant =
                |one: &&CaseResult| one.heuristic == Some(heuristic) && one.scenario == scenario;
            let (mut cases, mut counts) = (0, ComparisonCounts::default());
            for one in authors.by_case.iter().filter(is_meant) {
                cases += 1;
                counts.add(&one.counts);
            }
            if cases > 0 {
                push_counts_row(
                    &mut table,
                    [heuristic_name(Some(heuristic)), scenario],
                    cases,
                    &counts,
                );
            }
        }
    }
    let with_calls = authors.by_case.iter().filter(|one| one.heuristic.is_some());
    push_counts_row(&mut table, ["all", ""], with_calls.count(), &authors.counts);
    table
}

fn push_counts_row(table: &mut Table, names: [&str; 2], cases: usize, counts: &ComparisonCounts) {
    let numbers = [
        cases,
        counts.calls,
        counts.potentials_equal,
        counts.potentials,
        counts.orders_equal,
        counts.candidates_equal,
        counts.hosts_equal,
        counts.moves,
    ];
    table.push_row([&names.map(Cell::text)[..], &numbers.map(Cell::count)].concat());
}

/// Creates the table of the whole runs: one row per scenario, then one row for each run whose end time differs from the
/// program's.
fn whole_runs_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("whole runs", "runs"),
        number_column("runs", "count"),
        number_column("makespan equal", "makespans_equal"),
        number_column("supersteps equal", "starts_equal"),
        number_column("of", "supersteps"),
        number_column("calls equal", "calls_equal"),
        number_column("of", "calls"),
        number_column("largest error %", "largest_error_percent"),
    ];
    let mut table = Table::new("runs", "", &columns);
    let mut row = |name: &str, runs: &[&ComparedRun]| {
        let sum =
            |count: fn(&ComparedRun) -> usize| -> usize { runs.iter().map(|run| count(run)).sum() };
        let counts = [
            runs.len(),
            sum(|run| usize::from(run.is_makespan_equal())),
            sum(|run| run.starts_equal),
            sum(|run| run.supersteps),
            sum(|run| run.calls_equal),
            sum(|run| run.calls),
        ];
        let errors = runs.iter().map(|run| run.relative_error.abs());
        let largest = 100.0 * errors.fold(0.0, f64::max);
        let cells = [&[Cell::text(name)][..], &counts.map(Cell::count)].concat();
        let largest = Cell::from_value_and_text(largest, format!("{largest:.4}"));
        table.push_row([&cells[..], &[largest]].concat());
    };
    for scenario in ["i", "ii", "iii"] {
        let is_meant = |run: &&ComparedRun| run.scenario == scenario;
        let runs: Vec<&ComparedRun> = authors.by_run.iter().filter(is_meant).collect();
        if !runs.is_empty() {
            row(&format!("scenario {scenario}"), &runs);
        }
    }
    let others = authors.by_run.iter().filter(|run| !run.is_makespan_equal());
    others.for_each(|run| row(&run.case, &[run]));
    table
}

/// Creates the table of the makespans of scenario ii, with one column for each order in which a rescheduling call answers the
/// processes.
fn answer_orders_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("experiment", "experiment"),
        number_column("i s", "alone_s"),
        number_column("ii, answers in turn s", "in_turn_s"),
        number_column("ii, answers at once s", "at_once_s"),
        number_column("ii, calls without a price s", "free_s"),
    ];
    let mut table = Table::new("answers", "", &columns);
    for one in &authors.answered {
        let times = [one.alone_s, one.in_turn_s, one.at_once_s, one.free_s];
        let times = times.map(|time| Cell::from_value_and_text(time, format!("{time:.2}")));
        table.push_row([&[Cell::text(one.experiment)][..], &times].concat());
    }
    table
}

/// Creates the table of the simulated runs whose moves differ from those of the authors' program. A row compares the potentials
/// of migration of both at the first call at which the moves differ.
fn different_moves_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("run", "case"),
        number_column("call after superstep", "superstep"),
        number_column("PM equal", "equal"),
        number_column("of", "potentials"),
        number_column("largest relative difference", "largest_difference"),
        number_column("pairs that compare differently", "pairs"),
        number_column("their largest relative distance", "largest_distance"),
    ];
    let mut table = Table::new("ties", "", &columns);
    for run in &authors.by_run {
        if let Some(tie) = &run.tie {
            let small = |value: f64| Cell::from_value_and_text(value, format!("{value:.1e}"));
            table.push_row(vec![
                Cell::text(run.case.as_str()),
                Cell::from_value_and_text(tie.superstep as f64, tie.superstep.to_string()),
                Cell::count(tie.equal),
                Cell::count(tie.potentials),
                small(tie.largest_difference),
                Cell::count(tie.pairs),
                small(tie.largest_distance),
            ]);
        }
    }
    table
}

/// Creates the table of makespans and gains of the program's runs with usual parameters, in the program and with the policy
/// `authors-2015`.
fn predictions_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("deployment", "deployment"),
        text_column("run", "run"),
        number_column("program s", "program_s"),
        number_column("edition s", "edition_s"),
        number_column("program gain %", "program_gain_percent"),
        number_column("edition gain %", "edition_gain_percent"),
    ];
    let mut table = Table::new("predictions", "", &columns);
    for one in runs_with_usual_parameters(&authors.by_run) {
        let ends = one
            .end_times_in_program_and_simulation_s
            .map(|end| Cell::from_value_and_text(end, format!("{end:.3}")));
        let gains = one
            .gains_in_program_and_simulation_percent
            .map(|gain| Cell::from_value_and_text(gain, format!("{gain:+.1}")));
        let names = [one.deployment, one.run].map(Cell::text);
        table.push_row([&names[..], &ends, &gains].concat());
    }
    table
}

/// Creates the table of runs with the initial process placements of the authors' program, simulated under the common
/// interpretation of the MigBSP rules.
fn common_interpretation_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("experiment", "experiment"),
        number_column("i s", "makespan_i_s"),
        number_column("ii s", "makespan_ii_s"),
        number_column("iii s", "makespan_iii_s"),
        number_column("gain %", "gain_percent"),
        number_column("moves", "moves"),
    ];
    let mut table = Table::new("common", "", &columns);
    for one in &authors.common_reading {
        let [i, _, iii] = one.makespans_s;
        let gain = 100.0 * (i - iii) / i;
        let times = one
            .makespans_s
            .map(|time| Cell::from_value_and_text(time, format!("{time:.2}")));
        let last = [
            Cell::from_value_and_text(gain, format!("{gain:+.1}")),
            Cell::count(one.moves),
        ];
        table.push_row([&[Cell::text(one.experiment)][..], &times, &last].concat());
    }
    table
}

/// Creates the table of the results of deciding the calls without one mistake of the program, with one row per mistake.
fn without_slips_table(authors: &AuthorsComparison) -> Table {
    let columns = [
        text_column("stored calls with", "slip"),
        number_column("calls with other moves", "calls_changed"),
        number_column("of", "calls"),
        number_column("moves", "moves"),
    ];
    let mut table = Table::new("slips", "", &columns);
    let counts = &authors.counts;
    let numbers = |numbers: [usize; 3]| numbers.map(Cell::count);
    let all = numbers([0, counts.calls, counts.moves]);
    table.push_row([&[Cell::text("all slips")][..], &all].concat());
    for one in &authors.without_slips {
        let found = numbers([one.calls_changed, counts.calls, one.moves]);
        table.push_row([&[Cell::text(one.slip.correction_text())][..], &found].concat());
    }
    table
}
