//! The dependencies of the program: compares the packages of this machine with the lists of `deny.toml`, which `cargo deny` also reads.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::process::Command;

use serde_json::Value;

use crate::support::succeeded;

const POLICY: &str = include_str!("../deny.toml");
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Reads a list of texts in `deny.toml`.
fn list(key: &str) -> Vec<&'static str> {
    let start = format!("{key} = [");
    let line = POLICY
        .lines()
        .find(|line| line.starts_with(&start))
        .unwrap();
    line.split('"').skip(1).step_by(2).collect()
}

/// Returns the output of cargo without the network.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .output()
        .unwrap();
    String::from_utf8(succeeded(output).stdout).unwrap()
}

/// Lists the packages of this machine.
fn packages() -> Vec<Value> {
    let version = cargo(&["--version", "--verbose"]);
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let metadata = [
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ];
    let metadata: Value = serde_json::from_str(&cargo(&metadata)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether the licences `allowed` satisfy an SPDX expression. `OR` binds less than `AND`; old packages write `/` for it.
fn is_met(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (is_met, rest) = any(&words, allowed);
    assert!(rest.is_empty(), "{expression}");
    is_met
}

fn any<'w>(words: &'w [&'w str], allowed: &[&str]) -> (bool, &'w [&'w str]) {
    let (mut is_met, mut rest) = all(words, allowed);
    while let ["OR", more @ ..] = rest {
        let next = all(more, allowed);
        (is_met, rest) = (is_met | next.0, next.1);
    }
    (is_met, rest)
}

fn all<'w>(words: &'w [&'w str], allowed: &[&str]) -> (bool, &'w [&'w str]) {
    let (mut is_met, mut rest) = one(words, allowed);
    while let ["AND", more @ ..] = rest {
        let next = one(more, allowed);
        (is_met, rest) = (is_met & next.0, next.1);
    }
    (is_met, rest)
}

fn one<'w>(words: &'w [&'w str], allowed: &[&str]) -> (bool, &'w [&'w str]) {
    match words {
        ["(", inner @ ..] => {
            let (is_met, rest) = any(inner, allowed);
            (is_met, &rest[1..])
        }
        [name, "WITH", exception, rest @ ..] => (
            allowed.contains(&format!("{name} WITH {exception}").as_str()),
            rest,
        ),
        [name, rest @ ..] => (allowed.contains(name), rest),
        [] => (false, words),
    }
}

#[test]
fn licences_are_read_as_expressions() {
    let met = |expression: &str| is_met(expression, &["MIT", "Zlib"]);
    assert!(
        met("MIT")
            && met("GPL-3.0 OR MIT")
            && met("Apache-2.0/MIT")
            && met("(GPL-3.0 OR MIT) AND Zlib")
    );
    assert!(
        !met("GPL-3.0")
            && !met("MIT AND GPL-3.0")
            && !met("MIT WITH Foo")
            && !met("GPL-3.0 OR MIT AND GPL-2.0")
    );
}

#[test]
fn every_package_may_be_used_and_comes_from_the_registry() {
    let (allowed, banned) = (list("allow"), list("deny"));
    assert!(allowed.contains(&"MIT") && banned.contains(&"curl"));
    let packages = packages();
    assert!(packages.len() > 50);
    for package in &packages {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = text("name");
        assert!(
            is_met(text("license"), &allowed),
            "`{name}` has the licence `{}`, and deny.toml allows {allowed:?}",
            text("license")
        );
        assert!(!banned.contains(&name), "`{name}` is banned by deny.toml");
        let is_ours = name.starts_with("migsim") && package["source"].is_null();
        assert!(
            is_ours || text("source") == REGISTRY,
            "`{name}` comes from {}",
            package["source"]
        );
        if is_ours {
            let any_version =
                |dependency: &&Value| dependency["req"] == "*" && dependency["path"].is_null();
            let found = package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .find(any_version);
            assert!(found.is_none(), "a version that may be any: {found:?}");
        }
    }
}
