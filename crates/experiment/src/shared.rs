//! A cache of inputs that many experiments share, so that platforms and built-in experiments are read only once.
//!
//! One [`SharedInputs`] serves any number of threads. A file that changes after it has been read is not read again.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use super::built_in;
use migsim_base::{document::Document, error::Result, memory::Limits};
use migsim_platform::{self as platform, HostGrouping, LoadedPlatform, load::Loads};

/// Key of the cache of chains of built-in experiments: the value of the key `extends` of an experiment, and the application of
/// this experiment.
type ExperimentChainKey = (Option<String>, String);

/// A platform with background loads in the cache, for experiments with the same platform, the same loads and the same seed.
#[derive(Debug)]
struct PlatformWithLoadEntry {
    platform_without_load: Arc<LoadedPlatform>,
    /// The settings of the background loads as JSON text, followed by the SHA-256 of their files.
    load_settings: String,
    load_seed: u64,
    platform_with_load: Arc<LoadedPlatform>,
}

/// Maximum total number of hosts and links in the stored platforms with background loads; if it is exceeded, the oldest platforms
/// are removed.
const MAX_STORED_HOSTS_AND_LINKS: usize = 1 << 13;

/// Cache of the platforms and built-in experiments that several experiments share; each is read only once.
#[derive(Debug, Default)]
pub struct SharedInputs {
    /// The platforms that were read, by name. If the settings form other clusters on a platform, the key consists of the name of
    /// the platform and the description of these clusters.
    platforms: Mutex<BTreeMap<String, Arc<LoadedPlatform>>>,
    /// The chains of built-in experiments that complete settings, by the value of the key `extends` and the application. Each
    /// experiment of a chain overrides the experiments before it.
    experiment_chains: Mutex<BTreeMap<ExperimentChainKey, Vec<Arc<Document>>>>,
    /// The platforms with background loads, in the order in which they were stored.
    platforms_with_load: Mutex<VecDeque<PlatformWithLoadEntry>>,
}

impl SharedInputs {
    /// Returns the platform `name`; its file is read only at the first call.
    pub(super) fn get_or_read_platform(
        &self,
        name: &str,
        limits: Limits,
    ) -> Result<Arc<LoadedPlatform>> {
        get_or_compute(&self.platforms, name.to_owned(), || {
            platform::open_within_limits(name, limits).map(Arc::new)
        })
    }

    /// Returns the platform with the clusters that `text` describes; the clusters are formed only at the first call with this
    /// text.
    pub(super) fn get_or_form_clusters(
        &self,
        name: &str,
        platform: &Arc<LoadedPlatform>,
        text: &str,
    ) -> Result<Arc<LoadedPlatform>> {
        // A file name contains no byte 0.
        get_or_compute(
            &self.platforms,
            format!("{name}\0{text}\0{}", platform.file_sha256),
            || {
                let mut formed = LoadedPlatform::clone(platform);
                text.parse::<HostGrouping>()?
                    .apply_to(&mut formed.platform)?;
                Ok(Arc::new(formed))
            },
        )
    }

    /// Returns a copy of the platform `without` on which the background loads, drawn from `seed`, take capacity.
    ///
    /// # Errors
    /// As [`Loads::put_on`].
    pub(super) fn get_or_apply_load(
        &self,
        without: &Arc<LoadedPlatform>,
        loads: &Loads,
        seed: u64,
    ) -> Result<Arc<LoadedPlatform>> {
        let mut written = loads
            .load_key_with_defaults()
            .unwrap_or_default()
            .to_string();
        written.extend(loads.trace_files().map(|(_, sha256)| sha256));
        let is_it = |known: &&PlatformWithLoadEntry| {
            Arc::ptr_eq(&known.platform_without_load, without)
                && known.load_seed == seed
                && known.load_settings == written
        };
        let lock = || {
            let known = self.platforms_with_load.lock();
            known.unwrap_or_else(PoisonError::into_inner)
        };
        let found = lock()
            .iter()
            .find(is_it)
            .map(|known| Arc::clone(&known.platform_with_load));
        if let Some(loaded) = found {
            return Ok(loaded);
        }
        // Two threads may both make it; the loads are equal.
        let mut loaded = LoadedPlatform::clone(without);
        loads.put_on(&mut loaded.platform, seed)?;
        let loaded = Arc::new(loaded);
        let mut known = lock();
        known.push_back(PlatformWithLoadEntry {
            platform_without_load: Arc::clone(without),
            load_settings: written,
            load_seed: seed,
            platform_with_load: Arc::clone(&loaded),
        });
        let parts = |known: &PlatformWithLoadEntry| {
            let platform = &known.platform_with_load.platform;
            platform.hosts.len() + platform.links.len()
        };
        while known.iter().map(parts).sum::<usize>() > MAX_STORED_HOSTS_AND_LINKS {
            known.pop_front();
        }
        Ok(loaded)
    }

    /// Stores a platform under `name`; experiments then use this platform instead of the platform file with that name.
    pub fn store_platform(&self, name: &str, platform: LoadedPlatform) {
        let mut known = self
            .platforms
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let short = name.strip_suffix(".json").unwrap_or(name);
        let platform = Arc::new(platform);
        for name in [name, short] {
            known.insert(name.to_owned(), Arc::clone(&platform));
        }
    }

    /// Returns the chain of built-in experiments that complete an experiment, in which each experiment overrides the experiments
    /// before it. The last experiment is the one that the key `extends` names; without this key, it is the experiment of the
    /// application `app`.
    pub(super) fn chain_of_extended_experiments(
        &self,
        extends: Option<&str>,
        app: &str,
    ) -> Result<Vec<Arc<Document>>> {
        let key = (extends.map(str::to_owned), app.to_owned());
        get_or_compute(&self.experiment_chains, key, || {
            Ok(built_in::chain_of_extended_experiments(extends, app)?
                .into_iter()
                .map(Arc::new)
                .collect())
        })
    }
}

/// Returns the value of a key from a cache. If the cache has no value for the key, computes the value with `make` and stores it;
/// if this fails, the next call computes the value again.
///
/// # Errors
/// The value cannot be computed.
pub fn get_or_compute<K: Ord, V: Clone>(
    known: &Mutex<BTreeMap<K, V>>,
    key: K,
    make: impl FnOnce() -> Result<V>,
) -> Result<V> {
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(value) = lock().get(&key) {
        return Ok(value.clone());
    }
    // Two threads may both make it; the values are equal.
    let value = make()?;
    lock().insert(key, value.clone());
    Ok(value)
}
