//! Reads a platform in JSON: checks that its parts are consistent, and builds the platform.
//!
//! The stages, in order: names and numbers, profiles, size, hosts and links, paths (as listed in the file, otherwise shortest
//! paths), latencies of pairs of clusters, origins. Each stage reports all its problems; a stage does not begin if its input has
//! errors.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Link, LoadedPlatform,
    assemble::Assembly,
    built_in::equal_built_in_platform,
    copies::{self, CopySources},
    format::{LinkValues, PlatformFile},
    zone_file,
};
use migsim_base::{
    document::{Document, MOST_PROBLEMS, limit_problems, sha256},
    error::{Error, Problem, Result},
    memory::Limits,
    units::LinkId,
};

/// Reads a platform in the format `migsim-platform-1`, with clusters or a tree of zones; `source` is the name of the file in
/// messages.
///
/// ```
/// let text = r#"{
///   "schema": "migsim-platform-1",
///   "name": "pair",
///   "clusters": [
///     {"name": "a", "hosts": 2, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "5 us"}}
///   ]
/// }"#;
/// let loaded = migsim_platform::from_json("pair.json", text)?;
/// assert_eq!(loaded.platform.hosts[1].name, "a-1");
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
///
/// # Errors
/// All problems of the file, each with its line and column.
pub fn from_json(source: &str, text: &str) -> Result<LoadedPlatform> {
    from_json_within_limits(source, text, Limits::default())
}

/// Reads a platform in the format `migsim-platform-1` as [`from_json`] does; refuses a platform that is larger than `limits`
/// allow.
pub(super) fn from_json_within_limits(
    source: &str,
    text: &str,
    limits: Limits,
) -> Result<LoadedPlatform> {
    let hint = "see the keys and units of the format with `migsim schema platform`";
    let document = Document::parse(source, text).map_err(|error| error.with_default_hint(hint))?;
    let loaded = if zone_file::is_zone_file(&document) {
        zone_file::read_zone_file(&document, limits)
    } else {
        read_platform_of_clusters(&document, limits)
    };
    loaded.map_err(|error| error.with_default_hint(hint))
}

fn read_platform_of_clusters(document: &Document, limits: Limits) -> Result<LoadedPlatform> {
    let mut file: PlatformFile = document
        .deserialize()
        .map_err(|error: Error| error.map_problems(add_network_synonym_hint))?;
    let sources = copies::expand_copies(document, &mut file)?;
    let mut loader = PlatformLoader::new(document, &file, &sources);
    loader.check_names();
    loader.check_links();
    loader.check_hosts();
    loader.check_size_limits(limits);
    loader.check_profiles();
    loader.check_origins();
    let clusters = file
        .clusters
        .iter()
        .enumerate()
        .map(|(index, cluster)| loader.describe_cluster(index, cluster))
        .collect();
    let between = loader.links_between_routers();
    let given = loader.file_routes();
    let latencies = loader.pair_latencies();
    loader.fail_if_problems()?;
    let assembly = Assembly::new(file.name.clone(), between, clusters);
    let paths = loader.router_paths(&assembly.media, given, &latencies);
    loader.check_clusters_connected(&paths);
    loader.fail_if_problems()?;
    let mut platform = assembly.finish(paths);
    for (index, cluster) in file.clusters.iter().enumerate() {
        if let Some(loopback) = &cluster.loopback {
            let hosts = platform.clusters[index].hosts.clone();
            platform.add_loopbacks(hosts, loopback.bandwidth, loopback.latency);
        }
    }
    loader.check_latency_profiles(&platform, &latencies);
    loader.fail_if_problems()?;
    Ok(LoadedPlatform {
        platform,
        description: file.description.clone(),
        origins: file.origins.clone(),
        source_description: document.source.clone(),
        file_sha256: sha256(document.text.as_bytes()),
        equal_built_in_platform: equal_built_in_platform(&document.value),
        zone_tree_text: None,
        experiment_settings: Vec::new(),
        user_notes: Vec::new(),
        profile_files: Vec::new(),
    })
}

/// Adds a hint to a problem about an unknown kind of network: the name in the format for a common word such as `hub`.
fn add_network_synonym_hint(problem: Problem) -> Problem {
    let key = problem.location.key.as_deref();
    let is_network = key.is_some_and(|key| key.ends_with(".network"));
    let is_meant =
        |word: &&&str| is_network && problem.message == format!("unknown value `{word}`");
    match ["hub", "bus"].iter().find(is_meant) {
        Some(word) => problem.hint(format!("write `shared-medium` for a {word}")),
        None => problem,
    }
}

/// A platform file of clusters while the file is read and checked, with the problems that were found.
pub(super) struct PlatformLoader<'a> {
    pub document: &'a Document,
    pub file: &'a PlatformFile,
    /// Entry of the file from which each cluster and link was copied.
    copy_sources: &'a CopySources,
    pub cluster_indices: BTreeMap<&'a str, usize>,
    pub router_indices: BTreeMap<&'a str, usize>,
    pub link_indices: BTreeMap<&'a str, usize>,
    pub link_ids: Vec<LinkId>,
    problems: Vec<Problem>,
}

impl<'a> PlatformLoader<'a> {
    fn new(document: &'a Document, file: &'a PlatformFile, sources: &'a CopySources) -> Self {
        let mut loader = Self {
            document,
            file,
            copy_sources: sources,
            cluster_indices: BTreeMap::new(),
            router_indices: BTreeMap::new(),
            link_indices: BTreeMap::new(),
            link_ids: Vec::with_capacity(file.links.len()),
            problems: Vec::new(),
        };
        let mut next = 0;
        for link in &file.links {
            loader.link_ids.push(LinkId::from_index(next));
            next += 1 + usize::from(link.duplex);
        }
        for router in file.routers.iter().flatten() {
            loader.add_router(router);
        }
        if file.routers.is_none() {
            for router in file
                .clusters
                .iter()
                .filter_map(|c| c.router.as_deref())
                .chain(file.links.iter().flat_map(|l| [&*l.from, &*l.to]))
            {
                loader.add_router(router);
            }
        }
        loader
    }

    /// Adds a router with the name `name`, unless such a router exists already.
    fn add_router(&mut self, name: &'a str) {
        let next = self.router_indices.len();
        self.router_indices.entry(name).or_insert(next);
    }

    /// Creates a problem at a key of the file. Once the maximum number of printed problems is reached, the location is left out,
    /// because further problems are only counted.
    fn problem_at_key(&self, key: &str, message: impl Into<String>) -> Problem {
        if self.problems.len() < MOST_PROBLEMS {
            self.document
                .problem_at(&self.copy_sources.to_key_in_file(key), message)
        } else {
            Problem::new(message)
        }
    }

    /// Records a problem at a key of the file; the hint may be empty.
    pub(super) fn report(
        &mut self,
        key: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let problem = self.problem_at_key(key, message);
        let hint = hint.into();
        self.record_problem_once(if hint.is_empty() {
            problem
        } else {
            problem.hint(hint)
        });
    }

    /// Records the problem that there is no `what` named `name`, and suggests the existing names. Names are only collected for
    /// problems that will be printed, since this takes time.
    pub(super) fn report_unknown_name(
        &mut self,
        key: &str,
        what: &str,
        name: &str,
        known: fn(&Self) -> Vec<&str>,
    ) {
        let problem = self
            .problem_at_key(key, format!("unknown {what} `{name}`"))
            .with_unknown_name(what, name);
        let is_printed = self.problems.len() < MOST_PROBLEMS;
        self.record_problem_once(if is_printed {
            problem.with_known_names(&format!("{what}s"), known(self))
        } else {
            problem
        });
    }

    /// Records a problem, unless an equal problem is already recorded.
    fn record_problem_once(&mut self, problem: Problem) {
        if self.problems.len() >= MOST_PROBLEMS || !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn fail_if_problems(&mut self) -> Result {
        Error::unless_empty(limit_problems(std::mem::take(&mut self.problems)))
    }

    /// Checks that names of clusters, links and routers are valid and unique.
    fn check_names(&mut self) {
        let file = self.file;
        if file.clusters.is_empty() {
            self.report(
                "clusters",
                "the platform has no cluster",
                "list at least one cluster under `clusters`",
            );
        }
        if file.name.is_empty() {
            self.report(
                "name",
                "the name of the platform is empty",
                "give the platform a name",
            );
        } else if file.name.contains(char::is_control) {
            self.report(
                "name",
                "the name of the platform contains control characters",
                "use letters, digits, spaces and punctuation",
            );
        }
        for (index, cluster) in file.clusters.iter().enumerate() {
            let key = format!("clusters[{index}].name");
            self.check_name(&key, &cluster.name);
            let first = *self.cluster_indices.entry(&cluster.name).or_insert(index);
            if first != index {
                self.report(
                    &key,
                    format!("cluster `{}` is defined twice", cluster.name),
                    "give each cluster another name",
                );
            }
        }
        for (index, link) in file.links.iter().enumerate() {
            let key = format!("links[{index}].name");
            self.check_name(&key, &link.name);
            let first = *self.link_indices.entry(&link.name).or_insert(index);
            if first != index {
                self.report(
                    &key,
                    format!("link `{}` is defined twice", link.name),
                    "give each link another name",
                );
            } else if self.is_generated_link_name(&link.name) {
                self.report(&key, format!(
                    "migsim itself gives the name `{}` to a link of a cluster",
                    link.name
                ), "choose another name: `CLUSTER-NUMBER-link` and `CLUSTER-medium` name the links of a cluster, `_UP` and `_DOWN` directions");
            }
        }
        let mut seen = BTreeSet::new();
        for (index, router) in file.routers.iter().flatten().enumerate() {
            let key = format!("routers[{index}]");
            self.check_name(&key, router);
            if !seen.insert(router) {
                self.report(
                    &key,
                    format!("router `{router}` is listed twice"),
                    "remove one of the two entries",
                );
            }
        }
    }

    /// Records a problem if a name is empty or has characters that are not allowed.
    fn check_name(&mut self, key: &str, name: &str) {
        if name.is_empty() {
            self.report(key, "the name is empty", "write a name");
        } else if name.contains(|c: char| c.is_whitespace() || c.is_control() || c == ',')
            || name.contains("..")
        {
            self.report(
                key,
                format!("`{name}` is not a valid name"),
                "choose a name without spaces, commas and `..`",
            );
        }
    }

    /// Whether `name` is a name that will be generated for an access link, shared medium or direction of a duplex link.
    fn is_generated_link_name(&self, name: &str) -> bool {
        if let Some(cluster) = name.strip_suffix("-medium") {
            return self.cluster_indices.contains_key(cluster);
        }
        let direction = name
            .strip_suffix("_UP")
            .or_else(|| name.strip_suffix("_DOWN"));
        if direction.is_some_and(|link| self.link_indices.contains_key(link)) {
            return true;
        }
        let Some((cluster, index)) = direction
            .unwrap_or(name)
            .strip_suffix("-link")
            .and_then(|host| host.rsplit_once('-'))
        else {
            return false;
        };
        index.parse::<u64>().is_ok() && self.cluster_indices.contains_key(cluster)
    }

    fn check_links(&mut self) {
        let file = self.file;
        for (index, cluster) in file.clusters.iter().enumerate() {
            if let Some(router) = &cluster.router {
                self.check_router_reference(&format!("clusters[{index}].router"), router);
            }
        }
        for (index, link) in file.links.iter().enumerate() {
            self.check_router_reference(&format!("links[{index}].from"), &link.from);
            self.check_router_reference(&format!("links[{index}].to"), &link.to);
            if link.from == link.to {
                self.report(
                    &format!("links[{index}].to"),
                    format!("link `{}` joins router `{}` to itself", link.name, link.to),
                    "name two different routers in `from` and `to`",
                );
            }
        }
    }

    /// Records a problem if a router is unknown or its name is not valid.
    fn check_router_reference(&mut self, key: &str, router: &str) {
        if !self.router_indices.contains_key(router) {
            self.report_unknown_name(key, "router", router, |loader| {
                loader.router_indices.keys().copied().collect()
            });
        } else if self.file.routers.is_none() {
            self.check_name(key, router);
        }
    }

    /// Checks that each origin refers to a value in the file and states its kind (`stated`, `inferred` or `fitted`).
    fn check_origins(&mut self) {
        for (key, text) in &self.file.origins {
            let place = format!("origins.{key}");
            if key.is_empty() || !self.document.has_value(key) {
                self.report(
                    &place,
                    format!("`origins` has an entry for `{key}`, but this file has no such key"),
                    "write the path of a value of this file, such as `clusters[1].speed`",
                );
            }
            let word = text.split(|c: char| !c.is_alphabetic()).next();
            if !matches!(word, Some("stated" | "inferred" | "fitted")) {
                self.report(&place, format!(
                        "the origin `{text}` does not begin with `stated`, `inferred` or `fitted`"
                    ), "begin with one of these words, and add after a colon where the value is stated, why it is inferred, or to what it is fitted");
            }
        }
    }

    fn links_between_routers(&mut self) -> Vec<Link> {
        let file = self.file;
        let mut links = Vec::new();
        for (index, link) in file.links.iter().enumerate() {
            let values = LinkValues {
                bandwidth: link.bandwidth,
                latency: link.latency,
                duplex: link.duplex,
                bandwidth_profile: link.bandwidth_profile.clone(),
                latency_profile: link.latency_profile.clone(),
            };
            self.read_link(&format!("links[{index}]"), &values, true)
                .append_to(&mut links, link.name.clone());
        }
        links
    }

    pub(super) fn find_cluster(&mut self, key: &str, name: &str) -> Option<usize> {
        let index = self.cluster_indices.get(name).copied();
        if index.is_some() {
            return index;
        }
        self.report_unknown_name(key, "cluster", name, |loader| {
            loader.cluster_indices.keys().copied().collect()
        });
        None
    }
}
