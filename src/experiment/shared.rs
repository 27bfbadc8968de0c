//! Inputs shared by many experiments, read once: platforms, and built-in experiments.
//!
//! One [`Shared`] serves any number of threads. A file that changes while it is used is not read again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::built_in;
use crate::document::Document;
use crate::error::Error;
use crate::memory::Limits;
use crate::platform::{self, LoadedPlatform};

/// A built-in experiment that another one extends, and the application.
type ChainKey = (Option<String>, String);

/// Files that were read, by name.
#[derive(Debug, Default)]
pub struct Shared {
    platforms: Mutex<BTreeMap<String, Arc<LoadedPlatform>>>,
    chains: Mutex<BTreeMap<ChainKey, Vec<Arc<Document>>>>,
}

impl Shared {
    /// The platform `name`, read when it is first asked for.
    pub(super) fn platform(
        &self,
        name: &str,
        limits: Limits,
    ) -> Result<Arc<LoadedPlatform>, Error> {
        remembered(&self.platforms, name.to_owned(), || {
            platform::open_within(name, limits).map(Arc::new)
        })
    }

    /// Keeps a platform, which stands for the file of that name from then on.
    pub(crate) fn put(&self, name: &str, platform: LoadedPlatform) {
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

    /// The built-in experiments below one that extends `extends` or else belongs to `app`, the lowest first.
    pub(super) fn chain(
        &self,
        extends: Option<&str>,
        app: &str,
    ) -> Result<Vec<Arc<Document>>, Error> {
        let key = (extends.map(str::to_owned), app.to_owned());
        remembered(&self.chains, key, || {
            let chain = built_in::chain(extends, app)?;
            Ok(chain.into_iter().map(Arc::new).collect())
        })
    }
}

/// The value of a key, made when it is first asked for; what cannot be made is tried again the next time.
pub(crate) fn remembered<K: Ord, V: Clone>(
    known: &Mutex<BTreeMap<K, V>>,
    key: K,
    make: impl FnOnce() -> Result<V, Error>,
) -> Result<V, Error> {
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(value) = lock().get(&key) {
        return Ok(value.clone());
    }
    // Two threads may both make it: the values are equal.
    let value = make()?;
    lock().insert(key, value.clone());
    Ok(value)
}
