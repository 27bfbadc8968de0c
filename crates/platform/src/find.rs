//! Finds a platform by its name: first as a file with that path, then as a file in `platforms/`, then as a built-in platform. A
//! file that describes an experiment is skipped if the search can continue, because an experiment often has the name of its
//! platform. A name that begins with a brace is itself the JSON text of a platform, as in an experiment that contains its
//! platform.

use serde_json::Value;

use super::{
    LoadedPlatform, built_in::built_in_platforms, from_json, read::from_json_within_limits,
    simgrid::from_simgrid_within_limits,
};
use migsim_base::{
    document::{FileKind, path_of_text, read_text},
    error::{Problem, Result},
    memory::Limits,
};

/// Reads the platform `name`: from the file with that path, else from `platforms/<name>`, else from the built-in platforms. The
/// suffix `.json` may be left out. SimGrid XML is recognised by its first character, `<`.
///
/// ```
/// let loaded = migsim_platform::open("ufrgs")?;
/// assert_eq!(loaded.platform.hosts.len(), 174);
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
///
/// # Errors
/// There is no such platform, the file cannot be read, or it is not a platform.
pub fn open(name: &str) -> Result<LoadedPlatform> {
    open_within_limits(name, Limits::default())
}

/// Reads a platform as [`open`] does, but refuses a platform that is larger than `limits` allow.
///
/// # Errors
/// The errors of [`open`], or the platform is too large.
pub fn open_within_limits(name: &str, limits: Limits) -> Result<LoadedPlatform> {
    if is_json_text(name) {
        return from_json_within_limits(EMBEDDED_SOURCE, name, limits);
    }
    let candidates = [
        name.to_owned(),
        format!("{name}.json"),
        format!("platforms/{name}"),
        format!("platforms/{name}.json"),
    ];
    if !name.is_empty() {
        let copy = built_in_platforms()
            .iter()
            .find(|(file, _)| *file == name || file.strip_suffix(".json") == Some(name));
        let is_there = |path: &&String| {
            std::fs::metadata(path_of_text(path)).is_ok_and(|metadata| !metadata.is_dir())
        };
        let mut files = candidates.iter().filter(is_there).peekable();
        while let Some(path) = files.next() {
            let text = read_text(path)?;
            let is_last = files.peek().is_none() && copy.is_none();
            if is_last || !is_experiment_text(&text) {
                return platform_from_text(path, &text, limits);
            }
        }
        if let Some((file, text)) = copy {
            return from_json(&format!("built-in {file}"), text);
        }
    }
    Err(not_found_error(name).into())
}

const EMBEDDED_SOURCE: &str = "the platform of the experiment";

/// Whether `name` is the whole JSON text of a platform instead of the name of a platform, as in an experiment that contains its
/// platform.
pub fn is_json_text(name: &str) -> bool {
    name.starts_with('{')
}

/// Returns the name of a platform for output: the value of its key `name` if the argument is the JSON text of a platform,
/// otherwise the argument itself.
pub fn display_name(name: &str) -> String {
    let text = || {
        let value: Value = serde_json::from_str(name).ok()?;
        Some(value["name"].as_str()?.to_owned())
    };
    if is_json_text(name) {
        text().unwrap_or_else(|| EMBEDDED_SOURCE.to_owned())
    } else {
        name.to_owned()
    }
}

/// Whether the text of a JSON file describes an experiment and not a platform.
pub fn is_experiment_text(text: &str) -> bool {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    !file["workload"].is_null() || file["schema"] == "migsim-experiment-1"
}

/// Reads a platform from the text of a file, in JSON or SimGrid XML.
fn platform_from_text(path: &str, text: &str, limits: Limits) -> Result<LoadedPlatform> {
    let is_xml = text.trim_start().starts_with('<');
    let read = if is_xml {
        from_simgrid_within_limits(path, text, limits)
    } else {
        from_json_within_limits(path, text, limits)
    };
    read.map_err(|error| match FileKind::detect_from_text(text) {
        None | Some(FileKind::Platform) => error,
        Some(kind) => kind.wrong_kind_error("a platform", path).into(),
    })
}

/// Creates the error that no platform has this name, with the built-in platforms as suggestions.
fn not_found_error(name: &str) -> Problem {
    let message = if !name.is_empty() && path_of_text(name).is_dir() {
        format!("`{name}` is a folder, not a platform file")
    } else {
        match std::fs::metadata(path_of_text(name)) {
            Err(error) if !name.is_empty() && error.kind() != std::io::ErrorKind::NotFound => {
                format!("cannot read the platform file `{name}`: {error}")
            }
            _ => format!(
                "unknown platform `{name}`: there is neither a file nor a built-in platform of this name"
            ),
        }
    };
    Problem::new(message)
        .with_unknown_name("platform", name)
        .with_known_names(
            "platforms",
            built_in_platforms()
                .iter()
                .map(|(file, _)| file.strip_suffix(".json").unwrap_or(file)),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::document::sha256;

    #[test]
    fn built_in_platforms_are_found_with_and_without_their_suffix() {
        for (file, text) in built_in_platforms() {
            let name = file.strip_suffix(".json").unwrap();
            assert_eq!(open(file).unwrap().platform.name, name);
            assert_eq!(open(name).unwrap().file_sha256, sha256(text.as_bytes()));
        }
    }

    #[test]
    fn a_platform_may_be_its_text() {
        let text = r#"{"schema": "migsim-platform-1", "name": "pair", "clusters": [{"name": "a", "hosts": 2, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "5 us"}}]}"#;
        assert_eq!(open(text).unwrap().platform.hosts[1].name, "a-1");
        assert_eq!(
            [display_name(text), display_name("x.json")],
            ["pair", "x.json"]
        );
        let error = open("{\"schema\": 1}").unwrap_err().to_string();
        assert!(
            error.contains("the platform of the experiment:1:"),
            "{error}"
        );
    }

    #[test]
    fn an_experiment_is_told_by_its_schema_or_its_workload() {
        assert!(is_experiment_text(r#"{"schema": "migsim-experiment-1"}"#));
        assert!(is_experiment_text(r#"{"workload": {"app": "lu"}}"#));
        assert!(!is_experiment_text(r#"{"schema": "migsim-platform-1"}"#));
        assert!(!is_experiment_text("<platform/>") && !is_experiment_text("{}"));
    }
}
