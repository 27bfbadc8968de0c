//! `migsim compare --map`: the fastest policy at each pair of values of two parameters.

use std::io::Write;

use serde_json::json;

use super::args::CompareArguments;
use super::print::{print, print_json};
use crate::Registry;
use crate::error::{Error, Problem};
use crate::figure::Style;
use crate::output::frame::{Page, prose, section};
use crate::output::{Cell, Form, Sheet, Table, cannot_write, numbers, words, write_file};
use crate::sweep::run::Shard;
use crate::sweep::spec::label;
use crate::sweep::stats::{Sample, short};
use crate::sweep::table::runs_csv;
use crate::sweep::winners::Winners;
use crate::sweep::{Parameter, Plan, Store};
use crate::words::counted;

/// The rows that a page shows at once.
const SHOWN: usize = 50;

/// The two parameters of a map: `KEY=VALUES,KEY=VALUES`, where a comma followed by `KEY=` begins the second one.
pub(super) fn parameters(registry: &Registry, map: &str) -> Result<[Parameter; 2], Error> {
    let wrong = |message: String| {
        let problem = Problem::new(message).source(format!("--map {map}"));
        let hint = "for example `--map workload.spread=0,0.5,1,costs.move.fixed=0,0.1,1s`";
        Error::from(problem.hint(hint))
    };
    let mut found: Vec<(&str, String)> = Vec::new();
    for part in map.split(',') {
        match (part.split_once('='), found.last_mut()) {
            (Some((key, value)), _) => found.push((key.trim(), value.to_owned())),
            (None, Some((_, values))) => {
                values.push(',');
                *values += part;
            }
            (None, None) => return Err(wrong(format!("`{part}` has no key"))),
        }
    }
    let [first, second] = &found[..] else {
        return Err(wrong(format!(
            "a map has two parameters, not {}",
            found.len()
        )));
    };
    let parameter = |(key, values): &(&str, String)| {
        if key.trim_start_matches("policy").is_empty() || key.starts_with("policy.name") {
            return Err(wrong(
                "policies are named by `--policies`, not by a map".into(),
            ));
        }
        Parameter::parse(registry, key, values, format!("--map {key}={values}")).map_err(wrong)
    };
    let pair = [parameter(first)?, parameter(second)?];
    if pair[0].name == pair[1].name {
        return Err(wrong(format!("`{}` stands there twice", pair[0].name)));
    }
    Ok(pair)
}

/// Prints the map, and writes it into the folder of the comparison: `map.csv`, `map.svg`, `compare.json`, `index.html`, `runs.csv`.
pub(super) fn show(
    arguments: &CompareArguments,
    (plan, store): (&Plan, &Store),
    winners: &Winners,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let json = winners.to_json();
    if let Some(folder) = &arguments.out {
        let path = folder.join("runs.csv");
        let runs = runs_csv(plan, Shard::WHOLE, store.rows())
            .map_err(|error| cannot_write(&path.display().to_string(), &error))?;
        write_file(&path, &runs)?;
        write_file(&folder.join("map.csv"), winners.csv().as_bytes())?;
        let picture = winners.figure(&Style::default()).svg();
        write_file(&folder.join("map.svg"), picture.as_bytes())?;
        write_file(
            &folder.join("compare.json"),
            format!("{json:#}\n").as_bytes(),
        )?;
        write_file(&folder.join("index.html"), page(winners, plan).as_bytes())?;
    }
    match arguments.form.form_unless(arguments.quiet) {
        None => Ok(()),
        Some(Form::Json) => print_json(out, &json!(json)),
        Some(form) => {
            let mut sheet = Sheet::default();
            sheet.table(table(winners));
            sheet.line("");
            sheet.line(winners.verdict());
            print(out, &sheet.render(form))
        }
    }
}

/// A row for each pair of values.
fn table(winners: &Winners) -> Table {
    let [(beside, _), (above, _)] = &winners.axes;
    let columns = [
        words(beside.as_str(), "x"),
        words(above.as_str(), "y"),
        words("best", "best"),
        numbers("makespan iii [s]", "makespan_s"),
        words("next", "next"),
        numbers("margin [%]", "margin_percent"),
        words("certain", "is_certain"),
    ];
    let mut table = Table::new("map", "", &columns);
    let with_interval = |mean: f64, half: Option<f64>| match half {
        Some(half) => format!("{} ± {}", short(mean), short(half)),
        None => short(mean),
    };
    for won in &winners.cells {
        let best = &won.comparison.standings[0];
        let next = won.comparison.standings.get(1);
        let [beside, above] = winners.values(won);
        let half = next.and_then(|next| next.behind?.half_width());
        let half = half.map(|half| 100.0 * half / best.makespan.mean);
        let half_of = |sample: Sample| sample.half_width();
        table.push([
            Cell::text(label(beside)),
            Cell::text(label(above)),
            Cell::text(&best.policy),
            Cell::value(
                best.makespan.mean,
                with_interval(best.makespan.mean, half_of(best.makespan)),
            ),
            next.map_or_else(Cell::empty, |next| Cell::text(&next.policy)),
            won.margin().map_or_else(Cell::empty, |margin| {
                Cell::value(margin, with_interval(margin, half))
            }),
            Cell::text(if won.is_certain() { "yes" } else { "no" }),
        ]);
    }
    table
}

fn page(winners: &Winners, plan: &Plan) -> String {
    let svg = winners.figure(&Style::default()).svg();
    let begin = "<svg role=\"img\" aria-label=\"The fastest policy at each pair of values\" style=\"min-width:300px;max-width:640px;width:100%;height:auto\" ";
    let svg = svg
        .split_once("<svg ")
        .map_or(String::new(), |(_, rest)| format!("{begin}{rest}"));
    let picture = format!(
        "<p class=\"verdict\">{}</p>\n<figure class=\"picture\" data-name=\"map\"><div class=\"wide\" aria-label=\"Map\"><div class=\"sheet\">{svg}</div></div></figure>\n",
        prose(&winners.verdict())
    );
    let body = section("map", "Map: the fastest policy", &picture)
        + &section(
            "values",
            "Values: margin over the next policy",
            &table(winners).html(SHOWN),
        );
    let title = format!(
        "Policies by {} and {}",
        winners.axes[0].0, winners.axes[1].0
    );
    Page {
        title: &title,
        lead: &format!(
            "<p>{}, {}.</p>\n",
            counted(winners.policies.len(), "policy"),
            counted(plan.seeds.len(), "seed")
        ),
        body: &body,
        ..Page::default()
    }
    .html()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_before_a_key_begins_the_second_parameter() {
        let registry = Registry::standard();
        let pair = parameters(&registry, "workload.spread=0,0.5,procs=10,20").unwrap();
        assert_eq!(pair.map(|one| one.name), ["workload.spread", "procs"]);
        for (map, part) in [
            ("procs=1,2", "a map has two parameters, not 1"),
            ("1,2", "`1` has no key"),
            ("procs=1,procs=2", "`procs` stands there twice"),
            ("policy=never,procs=2", "named by `--policies`"),
        ] {
            let error = parameters(&registry, map).unwrap_err().to_string();
            assert!(error.contains(part), "{map}: {error}");
        }
    }
}
