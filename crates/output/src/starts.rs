//! Describes static starts (initial placements that never change during the run) in sentences, tables and JSON. Scenario iii
//! (with migrations) is compared with the fastest static start.

use serde_json::{Value, json};

use super::table_format::{Cell, Table, number_column, text_column};
use migsim_base::quantities::{format_percent, format_seconds};
use migsim_experiment::{StaticPlacementMakespan, best_static_placement};

/// Smallest difference between two makespans \[%\] that is expressed as a multiple (`2.0 times as long`) instead of a percentage.
const MIN_PERCENT_FOR_MULTIPLE: f64 = 95.0;

/// Compares the makespan `makespan_s` with the makespan `with_s` in words. Returns a verb with its object, and the conjunction
/// before the makespan `with_s`.
///
/// ```text
/// (takes 2.0 times as long, as)   (takes 5.6 % longer, than)   (takes 5.6 % less time, than)   (takes as long, as)
/// ```
pub fn compare_makespans(makespan_s: f64, with_s: f64) -> (String, &'static str) {
    let ratio = makespan_s / with_s;
    let percent = 100.0 * (ratio - 1.0);
    match percent {
        MIN_PERCENT_FOR_MULTIPLE.. => {
            let times = format!("{ratio:.1}");
            (format!("takes {times} times as long"), "as")
        }
        0.05.. => (format!("takes {} longer", format_percent(percent)), "than"),
        ..-0.05 => (
            format!("takes {} less time", format_percent(-percent)),
            "than",
        ),
        _ => ("takes as long".into(), "as"),
    }
}

/// Describes the fastest static start in one line. If the makespan `iii` of scenario iii (with migrations) is given \[s\], the
/// line compares this makespan with the makespan of the fastest static start. Returns `None` if no static start was simulated.
pub(super) fn fastest_start_line(
    starts: &[StaticPlacementMakespan],
    iii: Option<f64>,
) -> Option<String> {
    let best = best_static_placement(starts)?;
    let rule = best.mapping_rule.map_or_else(String::new, |rule| {
        format!(" with `--mapping {}`", rule.name())
    });
    let time = format_seconds(best.makespan_s);
    let rest = match iii {
        _ if best.is_initial_placement_of_run => ", the start of this run".to_owned(),
        Some(iii) => format!(
            "; scenario iii {}",
            compare_makespans(iii, best.makespan_s).0
        ),
        None => String::new(),
    };
    Some(format!("fastest start without moves: {time} s{rule}{rest}"))
}

/// Compares the makespan `iii` of scenario iii (with migrations) \[s\] with the fastest static start, in a sentence that follows
/// the verdict of a run. Returns `None` if no static start was simulated.
pub(super) fn fastest_start_sentence(
    starts: &[StaticPlacementMakespan],
    iii: f64,
) -> Option<String> {
    let best = best_static_placement(starts)?;
    if best.is_initial_placement_of_run {
        return Some(
            "Without moves, no built-in initial placement is faster than that of this run.".into(),
        );
    }
    let (verb, joined) = compare_makespans(iii, best.makespan_s);
    Some(format!(
        "Scenario iii {verb} {joined} the application without moves after {} (`--mapping {}`, makespan {} s), the fastest of the built-in initial placements.",
        best.placement_description(),
        best.rule_name(),
        format_seconds(best.makespan_s)
    ))
}

/// Creates a table of all static starts with the makespans of scenario i (application only) \[s\].
pub(super) fn static_starts_table(starts: &[StaticPlacementMakespan]) -> Table {
    let columns = [
        text_column("static start", "rule"),
        number_column("time [s]", "makespan_s"),
        text_column("start of this run", "own"),
    ];
    let mut table = Table::new("static_starts", "", &columns);
    for start in starts {
        table.push_row([
            Cell::text(start.rule_name()),
            Cell::from_value_and_text(start.makespan_s, format_seconds(start.makespan_s)),
            Cell::from_value_and_text(
                start.is_initial_placement_of_run,
                if start.is_initial_placement_of_run {
                    "yes"
                } else {
                    ""
                },
            ),
        ]);
    }
    table
}

/// Returns two JSON values for the summary of a run: the list of all static starts, and the fastest static start. The second
/// value contains the gain of scenario iii (with migrations) relative to the fastest static start. Returns `None` if no static
/// start was simulated.
pub(super) fn static_starts_json(
    starts: &[StaticPlacementMakespan],
    iii: Option<f64>,
) -> Option<(Value, Value)> {
    let of_one = |start: &StaticPlacementMakespan| {
        json!({
            "rule": start.rule_name(),
            "makespan_s": start.makespan_s,
            "own": start.is_initial_placement_of_run,
        })
    };
    let best = best_static_placement(starts)?;
    let mut of_best = of_one(best);
    if let Some(iii) = iii.filter(|_| best.makespan_s > 0.0) {
        let gain = 100.0 * (best.makespan_s - iii) / best.makespan_s;
        of_best["gain_percent"] = gain.into();
    }
    Some((starts.iter().map(of_one).collect(), of_best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_platform::MappingRule;

    #[test]
    fn scenario_iii_is_compared_with_the_best_start() {
        let starts = [
            StaticPlacementMakespan::new(MappingRule::Contiguous, 33.91, true),
            StaticPlacementMakespan::new(MappingRule::ByCore, 11.43, false),
            StaticPlacementMakespan::new(MappingRule::FastFirst, 11.43, false),
        ];
        // 22.98 / 11.43 = 2.01
        assert_eq!(
            fastest_start_line(&starts, Some(22.98)).unwrap(),
            "fastest start without moves: 11.43 s with `--mapping by-core`; scenario iii takes 2.0 times as long"
        );
        let (all, best) = static_starts_json(&starts, Some(22.86)).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 3);
        assert!((best["gain_percent"].as_f64().unwrap() + 100.0).abs() < 1e-9);
        assert_eq!(
            fastest_start_line(&starts, None).unwrap(),
            "fastest start without moves: 11.43 s with `--mapping by-core`"
        );
        let own = [StaticPlacementMakespan::new(
            MappingRule::ByCore,
            11.43,
            true,
        )];
        assert_eq!(
            fastest_start_line(&own, Some(10.0)).unwrap(),
            "fastest start without moves: 11.43 s with `--mapping by-core`, the start of this run"
        );
        assert_eq!(fastest_start_line(&[], Some(10.0)), None);
    }

    #[test]
    fn small_differences_are_none_and_large_ones_are_counted_in_times() {
        let verb = |makespan_s| compare_makespans(makespan_s, 10.0).0.clone();
        assert_eq!(verb(10.004), "takes as long");
        assert_eq!(verb(10.56), "takes 5.6 % longer");
        assert_eq!(verb(9.0), "takes 10.0 % less time");
        assert_eq!(verb(20.0), "takes 2.0 times as long");
    }
}
