//! The paper on irregular Smith-Waterman: da Rosa Righi et al., *Applying Processes Rescheduling over Irregular BSP Application*.
//! The reproduction covers its table of times, its decisions, and its 37 claims.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value, json};

use super::{
    claims::{
        check_messages_to_next, check_superstep_counts, decide, is_increasing, number,
        rounds_to_published, try_map, with_moves,
    },
    facts::Config,
    runs::{ClaimCheck, FinishedRun, Paper, PaperCase, Runs},
};
use migsim_base::error::Error;
use migsim_bsp::Scenario;

const SWITCHED_OFF: &str = "The transfer of the memory in t2, the predicted time after a move, is switched off. Every link carries the 99.6 \
MB/s that fit the Lattice Boltzmann paper, although the text says Fast Ethernet for three clusters. Corisco has 1.2 GHz instead of the 1.0 GHz \
of the paper's figure. A call in a superstep of duration T costs max(0, 1.00 s - T), where 1.00 s is fitted. This cost stands for the scheduling computation and for messages whose size \
the text does not give";

pub(super) const PAPER: Paper = Paper {
    name: "sw-irregular",
    title: "da Rosa Righi et al.: Applying Processes Rescheduling over Irregular BSP Application",
    experiment: Some("sw"),
    facts_json: include_str!("facts/sw-irregular.json"),
    case_of_config,
    // The times of scenario iii follow from published decisions, to which options were fitted.
    claim_checks: CLAIMS,
    switched_off_parts: SWITCHED_OFF,
    notes: include_str!("notes/sw-irregular.md"),
};

/// Returns the run for the settings of a fact. The interval α between rescheduling calls is 2 supersteps for scenario i, which
/// has no calls and can share this run.
fn case_of_config(config: &Config) -> PaperCase {
    let keys = [
        ("workload.n", "n", None),
        ("policy.migbsp.alpha", "alpha", Some(ALPHAS[0])),
    ];
    PaperCase::from_config("sw", config, &keys)
}

/// Returns the finished run of the application with the order `n` (problem size) and the initial interval `alpha` between
/// rescheduling calls \[supersteps\].
fn run(runs: &Runs<'_>, n: u64, alpha: u64) -> Result<Arc<FinishedRun>, Error> {
    runs.at(&json!({ "n": n, "alpha": alpha }))
}

fn times(runs: &Runs<'_>, n: u64, alphas: &[u64], scenario: Scenario) -> Result<Vec<f64>, Error> {
    try_map(alphas, |alpha| Ok(run(runs, n, alpha)?.makespan(scenario)))
}

/// Lists the work of the first process \[instr\] in those supersteps in which this process computes.
fn work_of_first_process(done: &FinishedRun) -> Vec<f64> {
    let works = done.plans().map(|plan| plan.work[0].get());
    works.filter(|&work| work > 0.0).collect()
}

const ORDERS: [u64; 5] = [10, 25, 50, 100, 200];
const ALPHAS: [u64; 4] = [2, 4, 8, 16];

const CLAIMS: &[(&str, ClaimCheck)] = &[
    ("swi-c06", |runs, _| {
        let times = times(runs, 10, &[2, 4], Scenario::Ii)?;
        let count = run(runs, 10, 4)?.call_records(Scenario::Iii).len();
        decide(times[1] < times[0] && count == 2, times)
    }),
    ("swi-c09", |runs, _| {
        // The run is slower than scenario i. Processes p24 and p25 stay. With them moved with the others at 24, it would have been faster.
        let done = run(runs, 25, 8)?;
        let stay = done
            .moves()
            .iter()
            .all(|one| ![24, 25].contains(&one.process));
        let moved = runs.at(&with_moves(json!({ "n": 25, "alpha": 8 }), 24, 21..=25))?;
        let (alone, with) = (done.makespan(Scenario::I), done.makespan(Scenario::Iii));
        let moved = moved.makespan(Scenario::Iii);
        decide(
            stay && with > alone && moved < alone,
            json!({ "i_s": alone, "iii_s": with, "iii_with_p24_and_p25_s": moved }),
        )
    }),
    ("swi-c10", |runs, _| {
        let left = try_map(&[2, 16], |alpha| {
            Ok(2 * 25 - 1 - run(runs, 25, alpha)?.last_move())
        })?;
        decide(left == [19, 1], left)
    }),
    ("swi-c11", |runs, _| {
        // For 25x25 in scenario i, the last two processes are on Corisco in each of the supersteps 30 to 49, so that its clock alone
        // determines the time.
        let done = run(runs, 25, 2)?;
        let run = done.results.get(Scenario::I);
        let supersteps = run.map_or(&[][..], |run| &run.outcome.supersteps[29..]);
        let works = done.largest_works().into_iter().skip(29);
        let shares = works.zip(supersteps).map(|(work, dates)| {
            work * done.experiment.workload.cycles_per_instruction()
                / 1.2e9
                / (dates.end.get() - dates.start.get())
        });
        // The rest of a superstep is its messages.
        let least = shares.fold(f64::MAX, f64::min);
        decide(least > 0.95, least)
    }),
    ("swi-c14", |runs, _| {
        let first = try_map(&ORDERS, |n| Ok(run(runs, n, 2)?.first_move()))?;
        decide(first.is_sorted() && first[0] < first[4], first)
    }),
    ("swi-c15", |runs, _| {
        // The share grows uniformly, but the sum over all processes changes with n.
        let (mut totals, mut grows) = (Vec::new(), true);
        for n in ORDERS {
            let done = run(runs, n, 2)?;
            let works = done.largest_works();
            let steps: Vec<f64> = works.windows(2).map(|pair| pair[1] - pair[0]).collect();
            grows &= steps
                .iter()
                .all(|step| (step / steps[0] - 1.0).abs() < 1e-6);
            let total = done
                .plans()
                .map(|plan| plan.work.iter().map(|work| work.get()).sum::<f64>());
            totals.push(total.sum::<f64>());
        }
        let is_fixed = totals
            .iter()
            .all(|total| (total / totals[0] - 1.0).abs() < 0.01);
        decide(is_fixed && grows, totals)
    }),
    ("swi-c16", |runs, claim| {
        let gains = try_map(&[2, 4], |alpha| Ok(run(runs, 50, alpha)?.gain_percent()))?;
        decide(
            rounds_to_published(gains[1], number(&claim.published_value)) && gains[1] > gains[0],
            gains,
        )
    }),
    ("swi-c17", |runs, _| {
        let last = try_map(&[2, 4], |alpha| {
            let calls = run(runs, 50, alpha)?.call_supersteps(Scenario::Iii);
            Ok(calls.last().copied().unwrap_or(0))
        })?;
        decide(last[0] == last[1] + 2, last)
    }),
    ("swi-c18", |runs, _| {
        let times = times(runs, 50, &ALPHAS, Scenario::Iii)?;
        let moves_frontal = run(runs, 50, 8)?.calls(Scenario::Iii).iter().any(|call| {
            call.superstep == 56
                && call.moves.len() == 6
                && call.moves.iter().all(|one| one.from_cluster == "Frontal")
        });
        decide(
            moves_frontal && times.iter().all(|&time| time >= times[2]),
            times,
        )
    }),
    ("swi-c20", |runs, _| {
        let moves = run(runs, 100, 2)?.moves();
        let origins: BTreeSet<&str> = moves.iter().map(|one| one.from_cluster.as_str()).collect();
        decide(origins == BTreeSet::from(["Corisco", "Frontal"]), origins)
    }),
    ("swi-c21", |runs, _| {
        let mut moves = run(runs, 100, 2)?.moves();
        moves.retain(|one| one.to_cluster == "Aquario");
        let hosts: BTreeSet<&str> = moves.iter().map(|one| one.to_host.as_str()).collect();
        decide(
            moves.len() == 20 && hosts.len() == 20,
            json!({ "moves": moves.len(), "hosts": hosts.len() }),
        )
    }),
    ("swi-c23", |runs, _| {
        // "Satisfactory" has no number. It is read as: the gain of the migrations exceeds the cost of the scheduler.
        let mut pays = true;
        let gains = try_map(&ALPHAS, |alpha| {
            let done = run(runs, 200, alpha)?;
            pays &= done.gain_percent() > done.overhead_percent();
            Ok(done.gain_percent())
        })?;
        decide(pays, gains)
    }),
    ("swi-c24", |runs, _| {
        // Check that α doubles at each call if the test covers only processes that compute, and not if it covers all processes.
        let calls = |population: &str| -> Result<Vec<u64>, Error> {
            let config = json!({ "n": 200, "alpha": 2, "policy.migbsp.population": population });
            Ok(runs.at(&config)?.call_supersteps(Scenario::Iii))
        };
        let (computing, all) = (calls("computing")?, calls("all")?);
        let doubles = |calls: &[u64]| {
            calls.len() > 6 && calls[..7].windows(2).all(|pair| pair[1] == 2 * pair[0] + 2)
        };
        decide(
            doubles(&computing) && !doubles(&all),
            json!({ "computing": computing, "all": all }),
        )
    }),
    ("swi-c25", |runs, _| {
        let left = run(runs, 200, 2)?.experiment.workload.supersteps() - 388;
        decide(left == 10, left)
    }),
    ("swi-c26", |runs, _| {
        let mut places = BTreeSet::new();
        for n in ORDERS {
            for alpha in ALPHAS {
                let moves = run(runs, n, alpha)?.moves();
                places.extend(moves.into_iter().map(|one| one.to_cluster));
            }
        }
        decide(places.iter().eq(["Aquario"]), places)
    }),
    ("swi-c28", |runs, _| {
        check_superstep_counts(&try_map(&ORDERS, |n| run(runs, n, 2))?)
    }),
    ("swi-c29", |runs, _| {
        check_messages_to_next(&*run(runs, 50, 2)?)
    }),
    ("swi-c30", |runs, _| {
        // For each order, collect the highest PM of scenario ii, and the number of migrations that it decided.
        let (mut all, mut holds) = (Map::new(), true);
        for n in ORDERS {
            let (mut highest, mut decided) = (f64::MIN, 0);
            for alpha in ALPHAS {
                let done = run(runs, n, alpha)?;
                highest = highest.max(done.highest_potential(Scenario::Ii));
                let calls = done.call_records(Scenario::Ii).iter();
                decided += calls
                    .map(|call| call.decision.migrations.len())
                    .sum::<usize>();
            }
            holds &= highest < 0.0 && decided == 0;
            all.insert(n.to_string(), json!([highest, decided]));
        }
        decide(holds, all)
    }),
    ("swi-c31", |runs, _| {
        let works = work_of_first_process(&*run(runs, 10, 2)?);
        // The paper truncates: 287.5e5 is printed as 287e5.
        let forecast = f64::midpoint(works[0], works[1]);
        decide(
            works[1] == 565e5 && (forecast / 1e5).floor() == 287.0,
            [works[1], forecast],
        )
    }),
    ("swi-c32", |runs, _| {
        // Compare PI with I in every superstep of an interval, for intervals that begin anywhere.
        let mut least = f64::MAX;
        for n in ORDERS {
            let works = work_of_first_process(&*run(runs, n, 2)?);
            for first in 0..works.len() {
                let mut forecast = works[first];
                for work in &works[first + 1..] {
                    forecast = f64::midpoint(forecast, *work);
                    least = least.min(forecast / work);
                }
            }
        }
        decide(least >= 0.5, least)
    }),
    ("swi-c33", |runs, _| {
        // The α with the latest last migration is the best one.
        let (mut all, mut holds) = (Map::new(), true);
        for n in ORDERS {
            let rows = try_map(&ALPHAS, |alpha| {
                let done = run(runs, n, alpha)?;
                Ok((done.last_move(), done.makespan(Scenario::Iii)))
            })?;
            let latest = rows.iter().max_by_key(|(last, _)| *last);
            holds &= latest == rows.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            all.insert(n.to_string(), json!(rows));
        }
        decide(holds, all)
    }),
    ("swi-c34", |runs, _| {
        // The last processes of 25x25 move at 30, while the same total load is shifted to the last supersteps.
        let gains = try_map(&[0.5, 0.375, 0.25, 0.125, 0.001], |first| {
            let mut config = with_moves(json!({ "n": 25, "alpha": 2 }), 30, 21..=25);
            config["workload.first_instructions"] = giga_instructions(first);
            config["workload.last_instructions"] = giga_instructions(1.001 - first);
            Ok(runs.at(&config)?.gain_percent())
        })?;
        decide(is_increasing(&gains), gains)
    }),
    ("swi-c35", |runs, _| {
        // Count the hosts of Aquario on which a process computes, by superstep, if no process moves: 200x200.
        let done = run(runs, 200, 2)?;
        let counts: Vec<usize> = done
            .plans()
            .map(|plan| {
                let busy = plan.work.iter().zip(&done.experiment.placement);
                busy.filter(|(work, host)| work.get() > 0.0 && done.cluster(**host) == "Aquario")
                    .count()
            })
            .collect();
        let at = [126, 170, 254, 360, 388].map(|superstep| counts[superstep - 1]);
        decide(at == [0, 16, 20, 14, 0], at)
    }),
    ("swi-c36", |runs, _| {
        // Without a cost of calls, no overhead remains.
        let free = runs.at(&json!({ "n": 50, "alpha": 2, "costs.call.fixed": "0 s" }))?;
        let overheads = [
            free.overhead_percent(),
            run(runs, 50, 2)?.overhead_percent(),
        ];
        decide(overheads[0] == 0.0 && overheads[1] > 0.0, overheads)
    }),
];

fn giga_instructions(amount: f64) -> Value {
    format!("{} instr", amount * 1e9).into()
}
