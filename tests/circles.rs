//! Circles of files: files of a crate that need each other, directly or through others. Re-exports are looked through: a name that a front
//! page passes on is taken from the file that defines it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{
    mass::split_at_tests,
    source::{files, tokens},
};

type Names = Vec<String>;

/// A module that is a file: what it takes from others, and what it passes on by other names.
#[derive(Debug, Default)]
struct Module {
    taken: Vec<Names>,
    passed_on: Vec<(String, Names)>,
}

/// Returns the names of the module that a file is.
fn module_of(file: &Path, source: &Path) -> Names {
    let inside = file.strip_prefix(source).unwrap().with_extension("");
    let mut names: Names = (inside.iter())
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    names.pop_if(|last| *last == "mod" || *last == "lib");
    names
}

/// Reads one path of a tree of imports, or a group of them, and lists the paths with the names by which they are known.
fn read_tree(words: &mut &[&str], before: &[String], found: &mut Vec<(String, Names)>) {
    let mut names = before.to_vec();
    while let Some((&word, rest)) = words.split_first() {
        match word {
            "::" => *words = rest,
            "{" => {
                *words = rest;
                while words[0] != "}" {
                    read_tree(words, &names, found);
                    if words[0] == "," {
                        *words = &words[1..];
                    }
                }
                *words = &words[1..];
                return;
            }
            "as" => {
                found.push((rest[0].to_owned(), names));
                *words = &rest[1..];
                return;
            }
            "," | "}" | ";" => break,
            "self" if !names.is_empty() => *words = rest,
            _ => {
                names.push(word.to_owned());
                *words = rest;
            }
        }
    }
    found.push((names.last().cloned().unwrap_or_default(), names));
}

/// Makes a path of a module begin at the front page of its crate; `None` if it leads to another crate.
fn absolute(path: &[String], module: &[String]) -> Option<Names> {
    let (first, mut rest) = path.split_first()?;
    let mut names = match first.as_str() {
        "crate" => return Some(rest.to_vec()),
        "self" => module.to_vec(),
        "super" => module[..module.len().checked_sub(1)?].to_vec(),
        _ => return None,
    };
    while rest.first().is_some_and(|name| name == "super") {
        names.pop();
        rest = &rest[1..];
    }
    names.extend_from_slice(rest);
    Some(names)
}

fn read_module(text: &str, module: &[String]) -> Module {
    let all = tokens(split_at_tests(text).0);
    let words: Vec<&str> = all.iter().map(|token| token.text.as_str()).collect();
    let mut read = Module::default();
    let mut at = 0;
    while at < words.len() {
        let mut rest = &words[at..];
        let is_path = ["crate", "super"].contains(&rest[0]) && rest.get(1) == Some(&"::");
        if rest[0] == "use" && rest[1] != "<" {
            let is_passed_on = at > 0 && ["pub", ")"].contains(&words[at - 1]);
            let mut found = Vec::new();
            rest = &rest[1..];
            read_tree(&mut rest, &[], &mut found);
            for (name, path) in found {
                let inside = absolute(&path, module).or_else(|| {
                    // `pub use file::Name` on a front page begins at a module inside it.
                    is_passed_on.then(|| [module, &path].concat())
                });
                match inside {
                    Some(path) if is_passed_on => read.passed_on.push((name, path)),
                    Some(path) => read.taken.push(path),
                    None => {}
                }
            }
            at = words.len() - rest.len();
        } else if is_path {
            let names = rest
                .split(|word| *word == "::")
                .map_while(|part| part.first());
            let count = rest
                .iter()
                .skip(1)
                .step_by(2)
                .take_while(|word| **word == "::")
                .count();
            let names: Names = names.take(count + 1).map(|&name| name.to_owned()).collect();
            read.taken.extend(absolute(&names, module));
            at += 2 * count + 1;
        } else {
            at += 1;
        }
    }
    read
}

/// Finds the file that defines what a path names.
fn definition<'m>(
    modules: &'m BTreeMap<Names, Module>,
    path: &[String],
    depth: usize,
) -> Option<&'m Names> {
    let length = (0..=path.len())
        .rev()
        .find(|&length| modules.contains_key(&path[..length]))?;
    let (module, read) = modules.get_key_value(&path[..length])?;
    let passed_on = path.get(length).filter(|_| depth < 9).and_then(|name| {
        let by_name = read.passed_on.iter().find(|(known, _)| known == name);
        let by_star = || read.passed_on.iter().find(|(known, _)| known == "*");
        let (_, path) = by_name.or_else(by_star)?;
        definition(modules, path, depth + 1)
    });
    Some(passed_on.unwrap_or(module))
}

/// Lists the groups of files of a crate that need each other.
fn circles(source: &Path) -> Vec<Vec<String>> {
    let mut modules = BTreeMap::new();
    for file in files(source) {
        let module = module_of(&file, source);
        let is_of_tests = module.iter().any(|name| name.contains("test"));
        if !is_of_tests && module != ["main"] {
            let read = read_module(&fs::read_to_string(&file).unwrap(), &module);
            modules.insert(module, read);
        }
    }
    let mut needs: BTreeMap<&Names, BTreeSet<&Names>> = BTreeMap::new();
    for (module, read) in &modules {
        let defined = read
            .taken
            .iter()
            .filter_map(|path| definition(&modules, path, 0));
        needs.insert(module, defined.filter(|other| *other != module).collect());
    }
    let reached = |from: &Names| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Names> = needs[from].iter().copied().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(&needs[next]);
            }
        }
        reached
    };
    let reached: BTreeMap<&Names, _> = modules
        .keys()
        .map(|module| (module, reached(module)))
        .collect();
    let circle = |module: &&Names| -> Vec<String> {
        let others = reached[*module]
            .iter()
            .filter(|other| reached[**other].contains(*module));
        others.map(|other| other.join("::")).collect()
    };
    let found: BTreeSet<Vec<String>> = modules.keys().map(|module| circle(&module)).collect();
    found
        .into_iter()
        .filter(|files| !files.is_empty())
        .collect()
}

#[test]
fn no_files_need_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    folders.extend(
        fs::read_dir(root.join("crates"))
            .unwrap()
            .map(|entry| entry.unwrap().path().join("src")),
    );
    let mut found = Vec::new();
    for folder in folders {
        found.extend(
            circles(&folder)
                .into_iter()
                .map(|files| format!("{}: {}", folder.display(), files.join(", "))),
        );
    }
    assert!(found.is_empty(), "{found:#?}");
}
