//! Finds the hosts and links to which a load of an experiment applies, and adds the load to them.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Load, Values,
    config::{LoadSpec, Loads, On},
    course::{DrawnLoad, Meaning, StepBudget},
};
use crate::{BackgroundLoad, BufferedSteps, Platform};
use migsim_base::{
    error::{Error, Problem, Result},
    random::{Stream, StreamPurpose},
    units::{BytesPerSecond, InstructionsPerSecond},
};

/// A host or a link, by its index in the list of hosts or links of the platform.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LoadTarget {
    Host(usize),
    Link(usize),
}

/// Returns the hosts and links that `on` names, each once; hosts precede links.
fn resolve_targets(on: &On, platform: &Platform) -> Result<Vec<LoadTarget>, Problem> {
    let mut targets = Vec::new();
    for name in on.names() {
        let link = || platform.links.iter().position(|link| link.name == *name);
        if name == "hosts" {
            targets.extend((0..platform.hosts.len()).map(LoadTarget::Host));
        } else if name == "links" {
            targets.extend((0..platform.links.len()).map(LoadTarget::Link));
        } else if let Some(cluster) = platform.cluster_named(name) {
            let hosts = platform.clusters[cluster.index()].hosts.clone();
            targets.extend(hosts.map(|host| LoadTarget::Host(host as usize)));
        } else if let Some(host) = platform.host_named(name) {
            targets.push(LoadTarget::Host(host.index()));
        } else if let Some(link) = link() {
            targets.push(LoadTarget::Link(link));
        } else {
            let problem = Problem::new(format!(
                "`on` names `{name}`, which is no cluster, host or link of the platform"
            ));
            let clusters = platform.clusters.iter().map(|cluster| &*cluster.name);
            let problem = problem.with_unknown_name("place", name);
            return Err(problem.with_known_names("places", clusters.chain(["hosts", "links"])));
        }
    }
    targets.sort_unstable();
    targets.dedup();
    Ok(targets)
}

type LoadOfTarget = (LoadTarget, Arc<dyn Load>);

/// Returns the hosts and links of a load, each with its load. Of a table with a load for each host, the rows of the hosts and links
/// that `on` names are used.
fn resolve_loads(spec: &LoadSpec, platform: &Platform) -> Result<Vec<LoadOfTarget>, Problem> {
    let allowed = resolve_targets(&spec.targets, platform)?;
    let named = spec.load.loads_by_name();
    if named.is_empty() {
        return Ok(allowed
            .into_iter()
            .map(|target| (target, Arc::clone(&spec.load)))
            .collect());
    }
    let mut loads = Vec::new();
    for (name, load) in named {
        let targets = resolve_targets(&On::One(name.to_owned()), platform).map_err(|problem| {
            let file = spec.load.file_and_sha256().map_or("the load", |file| file.0);
            let message = format!("`{file}` has a load of `{name}`, which is no cluster, host or link of the platform");
            let hint = "remove this host from the file; or, if only one column is the load of all hosts, name it, such as `column=load`";
            let message = Problem { message, ..problem };
            message.hint(hint)
        })?;
        let placed = targets
            .into_iter()
            .filter(|target| allowed.contains(target));
        loads.extend(placed.map(|target| (target, Arc::clone(&load))));
    }
    Ok(loads)
}

/// A load that varies over time, on one host or link.
#[derive(Clone, Debug)]
struct PlacedLoad {
    kind: &'static str,
    /// Name of the host or link.
    place: String,
    drawn: Arc<DrawnLoad>,
}

impl BackgroundLoad for PlacedLoad {
    fn steps(&self) -> Box<dyn BufferedSteps> {
        Box::new(self.drawn.reader())
    }

    fn fault(&self) -> Option<Error> {
        let kind = self.kind;
        let place = &self.place;
        let fault = self.drawn.fault()?;
        let message = format!("the load `{kind}` of `{place}` has a fault: {fault}");
        let problem = Problem::new(message).key("load");
        let hint = format!("correct the code of the load `{kind}`");
        Some(Error::SimulationFailure(problem.hint(hint)))
    }
}

impl Loads {
    /// Applies all loads to the hosts and links of `platform`. Varying loads are drawn from `seed`.
    ///
    /// # Errors
    /// A load names a host, cluster or link that the platform does not have, or a varying load is on a link that is not shared.
    pub fn put_on(&self, platform: &mut Platform, seed: u64) -> Result {
        // Number of loads of a kind on a host or link: equal loads have different random streams.
        let mut before: BTreeMap<(&str, LoadTarget), u32> = BTreeMap::new();
        let mut problems = Vec::new();
        let room = StepBudget::default();
        for spec in &self.load_specs {
            let parts = resolve_loads(spec, platform).unwrap_or_else(|problem| {
                problems.push(problem.key(format!("{}.on", spec.key)));
                Vec::new()
            });
            for (target, load) in parts {
                let count = before.entry((spec.kind, target)).or_default();
                let load = (spec, &load, &room);
                if let Err(problem) = apply_load(load, *count, target, platform, seed) {
                    problems.push(problem.key(format!("{}.on", spec.key)));
                    break;
                }
                *count += 1;
            }
        }
        Error::unless_empty(problems)
    }
}

fn apply_load(
    (spec, load, room): (&LoadSpec, &Arc<dyn Load>, &StepBudget),
    count: u32,
    target: LoadTarget,
    platform: &mut Platform,
    seed: u64,
) -> Result<(), Problem> {
    let kind = spec.kind;
    let meaning = match target {
        LoadTarget::Host(index) => Meaning {
            values: spec.values,
            cores: f64::from(platform.hosts[index].cores),
        },
        LoadTarget::Link(index) if spec.values == Values::LoadAverage => {
            let link = &platform.links[index].name;
            let message = format!("a load average counts processes, but `{link}` is a link");
            return Err(Problem::new(message).hint("leave out `values` for links"));
        }
        LoadTarget::Link(_) => Meaning {
            values: Values::Reserved,
            cores: 1.0,
        },
    };
    if let Some(load) = load.constant_value() {
        match target {
            LoadTarget::Host(index) if meaning.values != Values::Reserved => {
                platform.hosts[index].busy_cores += meaning.value_of(load);
            }
            _ => scale_capacity(target, platform, meaning.value_of(load))?,
        }
        return Ok(());
    }
    let (name, purpose) = match target {
        LoadTarget::Host(index) => (&platform.hosts[index].name, StreamPurpose::HostLoad),
        LoadTarget::Link(index) if platform.links[index].is_shared => {
            (&platform.links[index].name, StreamPurpose::LinkLoad)
        }
        LoadTarget::Link(index) => {
            return Err(Problem::new(format!(
                "link `{}` gives each message its whole bandwidth (it is not shared), so that it cannot have a load that varies",
                platform.links[index].name
            ))
                .hint("name only shared links in `on`, or use the load `constant`"));
        }
    };
    let random = Stream::for_object(seed, purpose, &format!("{kind}[{count}] {name}"));
    let placed = Arc::new(PlacedLoad {
        kind,
        place: name.clone(),
        drawn: Arc::new(DrawnLoad::new(load, meaning, random, room)),
    });
    match target {
        LoadTarget::Host(index) if meaning.values == Values::Reserved => {
            platform.hosts[index].loads.push(placed);
        }
        LoadTarget::Host(index) => platform.hosts[index].other_work.push(placed),
        LoadTarget::Link(index) => platform.links[index].loads.push(placed),
    }
    Ok(())
}

/// Multiplies the speed of a host or the bandwidth of a link by `share` for the whole run.
fn scale_capacity(target: LoadTarget, platform: &mut Platform, share: f64) -> Result<(), Problem> {
    let nothing = |what: &str, name: &str| {
        Problem::new(format!("the constant loads of {what} `{name}` together leave no capacity"))
            .hint("put fewer or smaller loads on this host or link: each load leaves the share 1 - load of the capacity, and these shares multiply")
    };
    match target {
        LoadTarget::Host(index) => {
            let host = &mut platform.hosts[index];
            let left = host.speed.get() * share;
            host.speed =
                InstructionsPerSecond::new(left).ok_or_else(|| nothing("host", &host.name))?;
        }
        LoadTarget::Link(index) => {
            let link = &mut platform.links[index];
            let left = link.bandwidth.get() * share;
            link.bandwidth =
                BytesPerSecond::new(left).ok_or_else(|| nothing("link", &link.name))?;
            link.bandwidth_profile = link.bandwidth_profile.take().map(|it| it.scaled(share));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn loads(key: serde_json::Value) -> Loads {
        let key = serde_json::from_value(key).unwrap();
        Loads::read(&crate::load::standard(), Some(&key)).unwrap()
    }

    fn open(name: &str) -> Platform {
        crate::open(name).unwrap().platform
    }

    /// Returns the first availabilities of a host.
    fn first(platform: &Platform, name: &str) -> Vec<(f64, f64)> {
        let host = &platform.hosts[platform.host_named(name).unwrap().index()];
        let steps = host.availability_over_time();
        steps
            .or_else(|| host.busy_cores_over_time())
            .unwrap()
            .take(5)
            .collect()
    }

    #[test]
    fn a_host_has_the_same_load_whatever_else_there_is() {
        let mut whole = open("ufrgs");
        let mut part = whole.clone();
        part.hosts.drain(..30);
        part.clusters.clear();
        let mut more = whole.clone();
        loads(json!({ "kind": "walk" }))
            .put_on(&mut whole, 7)
            .unwrap();
        loads(json!({ "kind": "walk" }))
            .put_on(&mut part, 7)
            .unwrap();
        let several =
            json!([{ "kind": "ar", "on": "links" }, { "kind": "walk", "on": ["Aquario"] }]);
        loads(several).put_on(&mut more, 7).unwrap();
        assert_eq!(first(&whole, "Aquario-3"), first(&part, "Aquario-3"));
        assert_eq!(first(&whole, "Aquario-3"), first(&more, "Aquario-3"));
        assert_ne!(first(&whole, "Aquario-3"), first(&whole, "Aquario-4"));
        let mut other = open("ufrgs");
        loads(json!({ "kind": "walk" }))
            .put_on(&mut other, 8)
            .unwrap();
        assert_ne!(first(&whole, "Aquario-3"), first(&other, "Aquario-3"));
    }

    #[test]
    fn equal_reservations_on_one_host_are_independent_and_multiply() {
        let (mut one, mut two) = (open("ufrgs"), open("ufrgs"));
        let walk = json!({ "kind": "walk", "values": "reserved" });
        loads(walk.clone()).put_on(&mut one, 1).unwrap();
        loads(json!([walk, walk])).put_on(&mut two, 1).unwrap();
        let (single, double) = (first(&one, "Aquario-0"), first(&two, "Aquario-0"));
        for ((_, single), (_, double)) in single.iter().zip(&double) {
            assert!(double < single && *double != single * single);
        }
        // Other work adds up.
        for (values, cores) in [("utilisation", 4.0), ("load-average", 1.0)] {
            let mut platform = open("ufrgs");
            platform.hosts[0].cores = 4;
            let half = json!({ "kind": "constant", "load": 0.5, "values": values });
            let on_off = json!({ "kind": "on-off", "load": 1, "busy": "1e9 s", "values": values });
            let name = platform.hosts[0].name.clone();
            loads(json!([half, on_off, half]))
                .put_on(&mut platform, 1)
                .unwrap();
            assert_eq!(platform.hosts[0].busy_cores, cores);
            assert_eq!(first(&platform, &name)[0].1, 2.0 * cores);
        }
    }

    #[test]
    fn places_are_clusters_hosts_and_links() {
        let mut platform = open("ufrgs");
        let link = platform.links[0].name.clone();
        let on = json!({ "kind": "walk", "on": ["Aquario", "Labtec-1", link, "Aquario-0"] });
        loads(on).put_on(&mut platform, 1).unwrap();
        let aquario = platform.cluster_named("Aquario").unwrap();
        let hosts = platform.clusters[aquario.index()].hosts.len();
        assert_eq!(
            platform
                .hosts
                .iter()
                .filter(|host| host.speed_varies())
                .count(),
            hosts + 1
        );
        assert_eq!(
            platform
                .links
                .iter()
                .filter(|link| link.varies_over_time())
                .count(),
            1
        );
        let wrong = loads(json!([{ "kind": "walk", "on": "Aquarius" }]));
        let error = wrong.put_on(&mut platform, 1).unwrap_err().to_string();
        assert!(
            error.contains("load[0].on") && error.contains("Aquario"),
            "{error}"
        );
    }

    #[test]
    fn a_constant_load_also_scales_the_profile_of_a_link() {
        let mut platform = open("ufrgs");
        let profile = crate::Profile::new(vec![(1.0, 80.0)], None).unwrap();
        platform.links[0].bandwidth_profile = Some(profile);
        let quarter = json!({ "kind": "constant", "load": 0.75, "on": "links" });
        loads(quarter).put_on(&mut platform, 1).unwrap();
        let capacity: Vec<_> = platform.links[0].bandwidth_over_time().unwrap().collect();
        assert_eq!(capacity, [(1.0, 20.0)]);
    }

    #[test]
    fn loads_that_leave_nothing_are_refused_where_they_stand() {
        for on in ["hosts", "links"] {
            let one = json!({ "kind": "constant", "load": 0.99, "on": on, "values": "reserved" });
            // The share left is 1e-12 with 6 factors of 0.01; with 20 it is below the minimum bandwidth or speed.
            let stacked = |count: usize| loads(vec![one.clone(); count].into());
            stacked(6).put_on(&mut open("ufrgs"), 1).unwrap();
            let error = stacked(20).put_on(&mut open("ufrgs"), 1).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("together leave no capacity"), "{error}");
            assert!(error.contains("load[") && error.contains("].on"), "{error}");
        }
    }

    #[test]
    fn a_load_that_varies_is_refused_on_a_link_that_is_not_shared() {
        let mut platform = open("ufrgs");
        platform.links[0].is_shared = false;
        let varying = loads(json!({ "kind": "walk", "on": "links" }));
        let error = varying.put_on(&mut platform, 1).unwrap_err().to_string();
        assert!(error.contains("(it is not shared)"), "{error}");
        let constant = loads(json!({ "kind": "constant", "on": "links" }));
        constant.put_on(&mut platform, 1).unwrap();
    }
}
