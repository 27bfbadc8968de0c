//! The law of order: no time depends on the order of entries in a list, a trace or a platform.
//!
//! Every case is run as drawn, and a second time with another order of
//!
//! - the decisions in their list,
//! - the records of the trace, above the supersteps and in each of them,
//! - the clusters of the platform, the groups of hosts in a cluster, the links between routers,
//! - the ends of each link between routers (`from` and `to`).
//!
//! All times must be equal within rounding. An order that has a meaning is kept in the second run, in these cases only:
//!
//! - Serial migrations take place in the order of the list: decisions of one superstep keep their order.
//! - A process with sequential sends sends in the order of the trace: its `m` records keep their order.
//! - Managers are the first hosts of clusters. If a call is priced by its messages, the first group of a cluster stays the first.
//! - Barriers with a root, a tree or rounds use the numbers of the processes, which stay the same.

use std::collections::BTreeMap;

use migsim::bsp::RunOutcome;

use migsim::units::Time;

use super::{
    ROUNDING, assert_none,
    case::{Call, Case, Record},
    difference,
    draw::{self, Draw},
    keep, run, seeds,
};

/// Returns the case in another order, and its trace.
fn reordered(case: &Case, draw: &mut Draw) -> (Case, String) {
    let mut other = case.clone();
    reorder_platform(&mut other, draw);
    let decisions = other.decisions.clone();
    draw.shuffle(&mut other.decisions);
    if case.moves.is_serial {
        keep_order(&mut other.decisions, &decisions, |forced| {
            Some(forced.superstep)
        });
    }
    let (mut head, mut steps) = other.records();
    draw.shuffle(&mut head);
    for records in &mut steps {
        let written = records.clone();
        draw.shuffle(records);
        if case.is_sequential {
            keep_order(records, &written, |record: &Record| record.sender);
        }
    }
    let trace = other.trace_of(&head, &steps);
    (other, trace)
}

/// Restores the order of elements with the same key in a shuffled list.
fn keep_order<T: Clone, K: PartialEq>(list: &mut [T], before: &[T], key: impl Fn(&T) -> Option<K>) {
    let keys: Vec<Option<K>> = list.iter().map(&key).collect();
    for position in 0..list.len() {
        if keys[position].is_some() {
            let of_key = |known: &&Option<K>| **known == keys[position];
            let rank = keys[..position].iter().filter(of_key).count();
            let mut same = before
                .iter()
                .filter(|element| key(element) == keys[position]);
            list[position] = same.nth(rank).expect("the same elements").clone();
        }
    }
}

fn reorder_platform(case: &mut Case, draw: &mut Draw) {
    let is_priced_by_managers = matches!(case.call, Call::Messages | Call::PingPong(_));
    let mut names = BTreeMap::new();
    for cluster in &mut case.clusters {
        let mut numbered = Vec::new();
        let mut first = 0;
        for group in &cluster.groups {
            numbered.push((first, group.clone()));
            first += group.hosts;
        }
        draw.shuffle(&mut numbered[usize::from(is_priced_by_managers)..]);
        let mut next = 0;
        for (first, group) in &numbered {
            for host in 0..group.hosts {
                let name = |number: usize| format!("{}-{number}", cluster.name);
                names.insert(name(first + host), name(next + host));
            }
            next += group.hosts;
        }
        cluster.groups = numbered.into_iter().map(|(_, group)| group).collect();
    }
    let moves = case.steps.iter_mut().flat_map(|step| &mut step.moves);
    let hosts = moves.map(|moved| &mut moved.to);
    let hosts = hosts.chain(case.decisions.iter_mut().map(|forced| &mut forced.to));
    for host in hosts.chain(&mut case.start) {
        host.clone_from(&names[host]);
    }
    draw.shuffle(&mut case.clusters);
    draw.shuffle(&mut case.backbones);
    for backbone in &mut case.backbones {
        if draw.once_in(2) {
            std::mem::swap(&mut backbone.from, &mut backbone.to);
        }
    }
}

/// Lists all times of a run; those of migrations are sorted by superstep and process.
fn all_times(outcome: &RunOutcome) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    for dates in &outcome.supersteps {
        all.extend([dates.start, dates.last_computation_end, dates.end].map(Time::get));
    }
    let mut migrations: Vec<_> = outcome.migrations.iter().collect();
    migrations.sort_by_key(|one| (one.superstep, one.process, one.cause.name() == "policy"));
    all.extend(
        migrations
            .iter()
            .flat_map(|one| [one.start.get(), one.end.get()]),
    );
    all.push(outcome.makespan.get());
    all
}

#[test]
fn no_time_depends_on_the_order_of_decisions_records_and_clusters() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut differing = Vec::new();
    for seed in seeds() {
        let case = draw::any_case(seed);
        let trace = case.trace();
        let (other, other_trace) = reordered(&case, &mut Draw(seed.rotate_left(32)));
        let written = all_times(&run(&case, &trace, folder.path()));
        let changed = all_times(&run(&other, &other_trace, folder.path()));
        let difference = difference(&written, &changed);
        if difference > ROUNDING {
            let commands = [keep(&case, &trace), keep(&other, &other_trace)].join("\n");
            differing.push(format!(
                "seed {seed} differs by {difference:.1e}: {written:?} and {changed:?}\n{commands}"
            ));
        }
    }
    assert_none(&differing, seeds().count() as u64);
}
