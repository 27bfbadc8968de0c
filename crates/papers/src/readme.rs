//! Creates the page `results/README.md`: results that are reproduced, results that are not reproduced, fitted constants, and
//! predictions.

use serde_json::Value;

use super::{
    claim_counts::ClaimCounts,
    decisions::{DecisionKind, Verdict},
    effects::{ERROR_BOUNDS, Effect, EffectCounts, OVERHEAD, effect_counts, effect_text},
    facts::Contradiction,
    markdown::{escape_cell, percent_text, push_table, put},
    reproduce::{PaperResults, Reproduction},
    residuals::{Residuals, push_residuals, residuals},
};

const START: &str = "# Papers on MigBSP: three reproduced, one in part, one without runs

Written by `migsim reproduce all --out results`; CI writes the page again and compares. No simulation reads published results:
they are kept in `crates/papers/src/facts/`, which only the comparison reads. But constants and options were fitted to published results (section 3).

- **Reproduced**, with most times within 2.5 % and most effects (section 1) within 25 %: the papers on [LU](lu.md), on [Lattice Boltzmann](lbm.md) and on
  [irregular Smith-Waterman](sw-irregular.md). Two parts of the Lattice Boltzmann paper are exceptions: the overheads of Table 1, and scenario iii of Table 2 with α = 16.
- **In part**: the paper on [Smith-Waterman on dynamic platforms](sw-dynamic.md). Most of its calls are reproduced, and most of its
  times within 5 %. Most of its gains are not reproduced.
- **Without runs**: the [paper of 2007](wsppd2007.md) publishes no run. Its rules are implemented as the policy `migbsp-2007`, which was checked against the examples in the paper.

Sections 1 to 4 say what is reproduced, what is not, what was fitted, and what was predicted. In short:

";

const EFFECTS: &str = "
## 1. What is reproduced

### Effects

Scenario i is the application alone, ii adds calls without moves, and iii has calls and moves. The *effects* are overheads and gains.
If the scenarios take the times `i`, `ii` and `iii`, the *overhead* is `ii - i` and the *gain* is `i - iii`. Outputs show both in percent of `i`.
These pages compare effects in seconds. The columns *within* count the effects that are simulated within 10, 25 and 50 % of the published ones.
*Right sign* counts the effects with the published sign; an effect below 5 ms counts as 0, without a sign. The columns on times count times of scenario ii in rows of overheads, and of scenario iii in rows of gains.

Two baselines use no simulation:

- *Constant of each column*: one number replaces all effects in a column of a published table, for example for each α (supersteps between two calls).
  It is a time or a share of scenario i, whichever brings more effects within 25 %. The number of these constants is in brackets. *Row left out* predicts each row with constants that are chosen from the other rows of its column.
- *Copied*: scenarios ii and iii get the published time of scenario i. If a time is within 2.5 % even so, it says nothing about a model.
";

const TIMES: &str = "
### Times and decisions

The *mean log error* is the mean of `|ln(simulated / published)|` over the times in tables. It and the share of the times within 0.25 % are the [score of a fit](../docs/understand/trust.md#the-score-of-a-fit).
*In texts* are overheads and gains that only the text of a paper gives. They are counted apart, and so are decisions *derived from times*, which follow from published times, but are not stated.

The *decisions* of a paper are its calls, stays (a call moves nothing), statements on stability, and migrations. The system is stable while the time of each process differs from the mean by at most the share D.
The four columns after *decisions* count the decisions by kind.
*Moves not reported* are simulated moves that the paper does not name, in runs whose migrations it reports. A *call schedule* is the list of calls of a run.
A call that the text only implies counts as published. For lbm all schedules are implied.
A migration is *near* if some of the named processes move, but together with other processes, to another place, or at a neighbouring call. A call is near if it comes one or two supersteps early or late. A call at the stated superstep is only near, and does not match, if it comes more than 5 % before or after the stated time.
A decision that neither matches nor is near is a *mismatch*. The five decisions of wsppd2007 are rules in its text, checked on the policy `migbsp-2007`.
";

const SIGNS: &str = "
- **Dynamic Smith-Waterman.** The gains with 10 and 25 processes are computed from published times of scenario i that are longer than the simulated ones. These published times are also longer than those of the
  paper on irregular Smith-Waterman for the same runs (entry swd-x09 of section 5). With 50 processes and α = 16, processes p49 and p50 stay on the slow cluster D. [Its page](sw-dynamic.md) has the details.
- **Three of the other effects** are at most 0.14 s and are simulated as 0. With α = 16 no call comes in 10 supersteps, so all scenarios are equal (lbm-x02, lbm-x09).
  In irregular Smith-Waterman of size 10x10 with α = 16, the superstep of the only call is longer than 1.00 s, so the call costs nothing (section 3).
";

const DOUBT: &str = "
Reasons to doubt these values, and where to check them:

- **Fitted constants** are listed at the end of each paper's page, with their evidence. An option of MigBSP counts as fitted if the paper leaves
  it open and it was chosen because it reproduces published numbers. The experiment files (`workloads/`) and the platforms give the origin of
  every other value: stated in the paper, or inferred from it.
- **The simulator** is not fitted. It is the same for all papers, and its event times agree with those of SimGrid where both have the same
  model (`tests/oracle`).
- **Fragile decisions**: each page prints the margin of each decision, the smallest |t1 - t2| among the candidates of its call.
  Here t1 and t2 are the predicted times without and with the move. If the margin is near 0, a tiny change can reverse the decision.
- **A reviewer's questions**: the [audit](audit.md) compares the degrees of freedom with the independent data, predicts held-out times, and varies every number.
  It also tests every option, counts the alternatives that were tried, and says how far rounding and contradictions in the papers could shift the counts.
- **Other rules**: [one-reading](one-reading.md) applies the rules of each paper, and one common set of rules, to all papers.
- **Contradictions**: cells and decisions on which a paper contradicts itself still count. No single set of rules reproduces both sections 5.1
  and 5.2 of sw-dynamic, so each section has its own values of two fitted constants. For the same supersteps of 200 processes, one section reports no move, and the other reports 20 moves (swd-x06).
  With 25 processes, p3 both leaves and stays at superstep 28 (swd-x02). With 10 and 25 processes, scenario i takes longer than its computation explains. But if supersteps
  cost more, scenario iii would be longer than published. The paper on irregular Smith-Waterman has other times for these runs (swd-x09).
";

/// Creates the text of the page `results/README.md`.
pub(super) fn readme_page(reproduction: &Reproduction) -> String {
    let papers = &reproduction.papers;
    let mut text = String::from(START);
    let counts = effect_counts(papers.iter().map(|paper| &*paper.effects));
    push_short_results(&mut text, &counts, papers);
    text += EFFECTS;
    push_effect_table(&mut text, &counts);
    push_column_constants(&mut text, &counts, papers);
    text += TIMES;
    let linked = |one: Residuals| match &*one.paper {
        "all" => ("all".to_owned(), one),
        name => (format!("[{name}]({name}.md)"), one),
    };
    let rows: Vec<_> = residuals(papers).into_iter().map(linked).collect();
    push_residuals(&mut text, &rows);
    push_claim_counts(&mut text, papers);
    push_missed_results(&mut text, papers);
    push_fitted_constants(&mut text, papers);
    push_predictions_section(&mut text, papers);
    text += "\n## 5. Where the papers contradict themselves\n\nEach row has two statements of the papers that contradict each other. The last column says which statement the simulation or the comparison follows, or why both may be true.\n";
    let all = papers.iter().flat_map(|paper| &paper.contradictions);
    push_contradiction_table(&mut text, all);
    text
}

/// Appends the results in five lines, which are also those of the first page of the project.
fn push_short_results(text: &mut String, counts: &[EffectCounts], papers: &[PaperResults]) {
    let all = Residuals::of(papers);
    let [tenth, quarter, one, close, near] = all.cells_within;
    let [median, mean] = [all.median_error, all.mean_log_error].map(percent_text);
    put!(
        text,
        "- **Times**: of {} published times, {tenth} are simulated within 0.1 %, {quarter} within 0.25 %, {one} within 1 % and {close} within 2.5 %. The median error is {median}, the mean log error {mean}.\n",
        all.cells
    );
    let held_out = counts.last().map_or(0, |all| all.columns_held_out);
    put!(
        text,
        "- **Effects**: of {} published overheads (`ii - i`) and gains (`i - iii`), {} are within 25 %, and {} have the right sign. Without a simulation, one constant for each column of a table, chosen from its other rows, brings {held_out} within 25 %.\n",
        all.effects,
        all.effects_within[1],
        all.right_signs
    );
    let kinds = DecisionKind::ALL.map(|kind| {
        let [matching, count] = all.decisions_by_kind[kind.name()];
        format!("{} {matching} of {count}", kind.name())
    });
    put!(
        text,
        "- **Decisions** that match: {}. A *stay* is a call that moves nothing; *stability* is the test that lengthens the interval between calls.\n",
        kinds.join(", ")
    );
    let tables = counts.iter().filter(|one| 2 * one.within[1] < one.rows);
    let tables = tables.map(|one| {
        let [name, table, effect] = [application_name(&one.paper), &one.table, &one.effect];
        format!(
            "the {effect}s of {table} of {name} ({} of {} within 25 %)",
            one.within[1], one.rows
        )
    });
    let tables: Vec<String> = tables.collect();
    let claims = ClaimCounts::from_claims(papers.iter().flat_map(|paper| &paper.claims));
    put!(
        text,
        "- **Not reproduced**: {}; {} times are more than 5 % off; {} statements of the texts do not hold in the simulation, of {} that the published numbers confirm.\n",
        tables.join(" and "),
        all.cells - near,
        claims.confirmed_fail,
        claims.confirmed_fail + claims.confirmed_hold
    );
    let [mild, harsh] = [4, 6].map(|column| audit_number("| all | 194 |", column));
    let inferred: usize = inferred_values().iter().sum();
    put!(
        text,
        "- **Chosen and unseen**: {} values were fitted to published results, and {inferred} more that matter were inferred. When constants were fitted again without a part of the times, in the last audit, {harsh} to {mild} of {} times came out within 2.5 % from the other parts; no time was predicted before it was known.\n",
        all.fitted_constants,
        all.cells
    );
}

pub(super) fn push_contradiction_table<'c>(
    text: &mut String,
    all: impl IntoIterator<Item = &'c Contradiction>,
) {
    let value = |value: &Value| {
        let text = value.as_str().map(str::to_owned);
        escape_cell(&text.unwrap_or_else(|| value.to_string()))
    };
    let rows = all.into_iter().map(|one| {
        let values = format!("{} | {}", value(&one.value_a), value(&one.value_b));
        let reading = escape_cell(&one.suggested_reading);
        format!(
            "{} | {} | {values} | {reading}",
            one.id,
            escape_cell(&one.what)
        )
    });
    let columns = "id | what | one statement | the other | our reading";
    push_table(text, columns, rows);
}

/// Appends a table with the numbers of effects (overheads and gains) that are reproduced.
pub(super) fn push_effect_table(text: &mut String, counts: &[EffectCounts]) {
    let rows = counts.iter().map(|one| {
        let name = if one.table.is_empty() {
            one.paper.clone()
        } else {
            format!("{}, {}", one.paper, one.table)
        };
        let effect = if one.effect.is_empty() {
            "both"
        } else {
            &one.effect
        };
        let within = one.within.map(|count| count.to_string()).join(" | ");
        let middle = one.median_error.map_or(f64::NAN, |middle| 100.0 * middle);
        format!(
            "{name} | {effect} | {} | {within} | {middle:.0} % | {} | {} | {} ({}) | {} | {}",
            one.rows,
            one.right_sign,
            one.columns_within,
            one.columns_held_out,
            one.columns,
            one.times,
            one.copied_times
        )
    });
    let bounds = ERROR_BOUNDS
        .map(|bound| format!("within {:.0} %", 100.0 * bound))
        .join(" | ");
    let columns = format!(
        "paper and table | effect | rows | {bounds} | median error | right sign | constant of each column: within 25 % | row left out: within 25 % (constants) | times within 2.5 % | copied: times within 2.5 %"
    );
    push_table(text, &columns, rows);
}

/// Appends a paragraph that compares the simulation with the best constant per column of a table: numbers of effects within 25 %,
/// and numbers of constants.
fn push_column_constants(text: &mut String, counts: &[EffectCounts], papers: &[PaperResults]) {
    let Some(all) = counts.last() else {
        return;
    };
    put!(
        text,
        "\nThe fair comparison is with one constant for each column, judged on rows that it has not seen: it brings {} of {} effects within 25 %. If the {} constants are chosen from all rows, they bring {}. The simulation brings {} with {} fitted constants, which have seen all rows; \
         section 4 has its predictions of times that were held out. A constant cannot predict when a process moves, and where: the decisions of the next tables can be compared with no baseline. But some of the fitted options were chosen because decisions then match (section 3).\n",
        all.columns_held_out,
        all.rows,
        all.columns,
        all.columns_within,
        all.within[1],
        Residuals::of(papers).fitted_constants
    );
}

/// Appends the numbers of claims that hold in the simulation, grouped by whether the published numbers confirm them.
fn push_claim_counts(text: &mut String, papers: &[PaperResults]) {
    *text += "\n### Claims\n\nA *claim* is a statement in the text of a paper. A claim tests the simulation only if the paper's own numbers confirm it (columns 2 and 3).\nColumn 4 counts claims that the paper's numbers neither confirm nor contradict. Some of them state an overhead or a gain for which the paper prints no times; the pages of the papers compare these effects, too, in their sections on effects.\nThree claims on overheads hold, but say little, since the simulated overheads are below 0.002 % (lbm-c01, lbm-c09, swd-c31). The page of each paper lists its claims by these ids.\n";
    let row = |name: &str, counts: ClaimCounts| {
        format!(
            "{name} | {} | {} | {} of {} | {} of {}",
            counts.confirmed_hold,
            counts.confirmed_fail,
            counts.unpublished_hold,
            counts.unpublished_claims(),
            counts.contradicted_hold,
            counts.contradicted_claims()
        )
    };
    let all = ClaimCounts::from_claims(papers.iter().flat_map(|paper| &paper.claims));
    let rows = papers
        .iter()
        .map(|paper| row(paper.paper, paper.claim_counts()));
    let columns = "paper | confirmed by published numbers: holds | confirmed by published numbers: fails | no other published number: holds | contradicted by published numbers: the simulation agrees with the claim";
    push_table(text, columns, rows.chain([row("all", all)]));
}

/// Appends the list of effects, times, decisions and claims that are not reproduced.
fn push_missed_results(text: &mut String, papers: &[PaperResults]) {
    *text += "\n## 2. What is not reproduced\n\nAll overheads of Table 1 of the Lattice Boltzmann paper are simulated as 0; section 3 says why. The effects in the following table do not have the published sign. The id of a cell names the paper, the table (t), the size (n) or the number of supersteps (s), the processes (p), the scenario and α (a):\n";
    let effects = papers.iter().flat_map(|paper| &paper.effects);
    let is_zero =
        |one: &&Effect| (one.paper, one.effect) == ("lbm", OVERHEAD) && one.table == "Table 1";
    let wrong = effects.filter(|one| !one.has_sign && !is_zero(one));
    let rows = wrong.map(|one| {
        let effects = [one.published_s, one.simulated_s]
            .map(effect_text)
            .join(" | ");
        format!("{} | {} | {effects}", one.id, one.effect)
    });
    let columns = "cell | effect | published \\[s\\] | simulated \\[s\\]";
    push_table(text, columns, rows);
    *text += SIGNS;
    *text += "\nThe following simulated times differ by more than 5 % from a table or a figure (a figure has an id with `f`, such as `lu-f04`):\n";
    let cells = papers.iter().flat_map(|paper| &paper.cells);
    let rows = cells.filter(|cell| cell.error.abs() > 0.05).map(|one| {
        let times = format!("{:.2} | {:.2}", one.published_s, one.simulated_s);
        let error = 100.0 * one.error;
        format!(
            "{} | {times} | {error:+.1} % | {}",
            one.id,
            note_cell(one.note.as_ref())
        )
    });
    let columns = "cell | published \\[s\\] | simulated \\[s\\] | error | why";
    push_table(text, columns, rows);
    *text += "\nThese decisions and claims are not reproduced. The page of each paper says what is published and what is simulated:\n\n";
    for paper in papers {
        put!(
            text,
            "- [{0}]({0}.md): {1}\n",
            paper.paper,
            ids_of_missed_results(paper)
        );
    }
}

/// Lists the identifiers of a paper's decisions with the verdict near or mismatch, and of its claims that fail.
fn ids_of_missed_results(paper: &PaperResults) -> String {
    let of = |name: &'static str, verdict: Verdict| {
        let all = paper.decisions.iter();
        let all = all.filter(move |one| one.verdict == verdict);
        (name, all.map(|one| one.id.as_str()).collect())
    };
    let claims = paper.claims.iter().filter(|one| one.verdict == "fails");
    let claims = ("failed claims", claims.map(|one| one.id.as_str()).collect());
    let near = of("near decisions", Verdict::Near);
    let mismatches = of("mismatches", Verdict::Mismatch);
    let groups: [(&str, Vec<&str>); 3] = [near, mismatches, claims];
    let groups = groups.iter().filter(|(_, ids)| !ids.is_empty());
    let groups = groups.map(|(name, ids)| format!("{name} {}", ids.join(", ")));
    let groups: Vec<String> = groups.collect();
    if groups.is_empty() {
        "none".into()
    } else {
        groups.join("; ")
    }
}

/// Appends the number of fitted constants, and the parts of the model that are switched off for each paper.
fn push_fitted_constants(text: &mut String, papers: &[PaperResults]) {
    put!(
        text,
        "\n## 3. What was fitted\n\n{} constants and options were fitted; the last column of the table on times and decisions counts them by paper. A constant that several papers share counts once in the sum.\n",
        Residuals::of(papers).fitted_constants
    );
    push_strict_count(text, papers);
    *text += "Some constants switch off a part of the model, or stand for something that is not modelled:\n\n";
    for paper in papers.iter().filter(|paper| !paper.switched_off.is_empty()) {
        let name = application_name(paper.paper);
        put!(text, "- **{name}**: {}.\n", paper.switched_off);
    }
    *text += DOUBT;
    *text += include_str!("notes/frontier.md");
}

/// Appends the number of values that no paper states and that matter: the fitted ones, and those that the last audit found.
fn push_strict_count(text: &mut String, papers: &[PaperResults]) {
    let fitted = Residuals::of(papers).fitted_constants;
    let [options, numbers] = inferred_values();
    put!(
        text,
        "**A strict count has {} values that no paper gives and that matter**: the {fitted} fitted ones, {options} options and {numbers} numbers. The last two were inferred and do not count as fitted, but in the last [audit](audit.md) (section 1) a result was lost when they were changed.\n",
        fitted + options + numbers
    );
}

/// Counts the options and the numbers that were inferred and matter, by the last audit.
fn inferred_values() -> [usize; 2] {
    [6, 7].map(|column| audit_number("| all papers, added |", column))
}

/// Returns the number in a column of the first row of the audit's page that starts with `row`; 0 if there is none.
fn audit_number(row: &str, column: usize) -> usize {
    let row = AUDIT.lines().find(|line| line.starts_with(row));
    let cells = row.unwrap_or_default().trim_matches('|').split('|');
    let number = cells.map(str::trim).nth(column);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the name of the application of a paper as it is printed in tables, such as `LU`.
fn application_name(paper: &str) -> &str {
    match paper {
        "lu" => "LU",
        "lbm" => "Lattice Boltzmann",
        "sw-irregular" => "irregular Smith-Waterman",
        "sw-dynamic" => "dynamic Smith-Waterman",
        other => other,
    }
}

/// The audit is no part of the program: its numbers are those of its page and of its table of held-out times.
const AUDIT: &str = include_str!("../../../results/audit.md");
const HELD_OUT: &str = include_str!("../../../results/audit-held-out.csv");

/// Appends the section on held-out published times, and on where to find predictions that were made before any fit.
fn push_predictions_section(text: &mut String, papers: &[PaperResults]) {
    *text += "\n## 4. What was predicted\n\nNo published time was predicted blind: options were chosen with knowledge of all times. Instead, some times are held out: the numeric constants\nare fitted again to the other times, and then predict the times held out. Fitted options stay as they are ([audit](audit.md), section 2). The audit is not part of `migsim reproduce`, so its numbers are those of its last run. In this fit the simulated times are approximated as linear functions of the constants.\nA split says which times are held out together. The mildest split has the most predictions within 2.5 %, the harshest split the fewest:\n";
    let table = AUDIT.find("\n| paper | cells | within 2.5 % as fitted |");
    let table = table.map_or("", |at| &AUDIT[at..]);
    *text += table.split("\n\n").next().unwrap_or_default();
    *text += "\n\nThe next table has the median errors of such predictions beside those of the best constant of each column (section 1). The constant predicts the times of scenarios ii and iii from the published time of scenario i, which the simulation has to predict, too. Only one paper has two tables:\n";
    let median_error = |paper: &str, split: &str| {
        let start = format!("{paper},all cells,");
        let row = HELD_OUT.lines().find_map(|line| {
            let rest = line.strip_prefix(&start)?;
            rest.trim_start_matches('"')
                .starts_with(split)
                .then_some(rest)
        });
        percent_text(row.and_then(|row| row.rsplit(',').next()?.parse().ok()))
    };
    let timed = papers.iter().filter(|paper| !paper.effects.is_empty());
    let rows = timed.map(|paper| {
        let name = paper.paper;
        let counts = effect_counts([&*paper.effects]);
        let constant = counts.last().and_then(|all| all.held_out_time_error);
        let simulated = ["one row", "one table"].map(|split| median_error(name, split));
        format!(
            "{} | {} | {}",
            application_name(name),
            simulated.join(" | "),
            percent_text(constant)
        )
    });
    push_table(
        text,
        "paper | simulation, row left out | simulation, table left out | constant of each column, row left out",
        rows,
    );
    *text += "\nTwo more pages use no fitted constant:\n\n- [The authors' own program](authors-2015.md): a copy of its rules, written from a description, makes the same decisions as the program in all calls whose inputs were stored, and gives the same makespan in nearly all of its runs.\n  This shows that the copy is faithful. The page also applies MigBSP with one set of rules for all papers ([one-reading](one-reading.md)) to the same cases.\n- [Grid'5000](grid5000.md): the papers' applications on the platform that two papers plan to use. No results are published to compare with.\n";
}

/// Formats a remark as a cell of a table; `None` becomes an empty cell.
pub(super) fn note_cell(note: Option<&String>) -> String {
    escape_cell(note.map_or("", String::as_str))
}
