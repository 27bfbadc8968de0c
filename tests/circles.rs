//! The files of `src` depend on one another in one direction: no circles, and no module uses one that stands left of it in the map.
//!
//! A file depends on another if a path in it names an item that is defined there. What a `mod.rs` imports or exports for others counts as the
//! file where it is defined; the modules below `#[cfg(test)]` do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Token, tokens, without_tests};

/// A path of names, from the crate's root.
type Names = Vec<String>;

/// A file of `src`: a module.
#[derive(Debug, Default)]
struct Module {
    file: String,
    /// Whether it is `lib.rs` or a `mod.rs`, whose imports others may use.
    is_front_page: bool,
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Name and path of each import.
    imports: Vec<(String, Names)>,
    /// Modules of which everything is imported.
    globs: Vec<Names>,
    /// Paths in the code, and imports that are not for others.
    uses: Vec<Names>,
}

/// All modules by their path from the root.
type Modules = BTreeMap<Names, Module>;

/// Dependencies: of each file the files that define what it uses.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Reads the module at `path`, defined in `file`, and all below it.
fn read(path: Names, file: &Path, modules: &mut Modules) {
    let source = fs::read_to_string(file).expect("Rust source in src");
    let mut module = parse(&without_tests(&tokens(&source)));
    let name = file.strip_prefix(root()).expect("a file of src");
    name.to_str()
        .expect("a name in letters")
        .clone_into(&mut module.file);
    module.is_front_page = file.ends_with("lib.rs") || file.ends_with("mod.rs");
    let folder = if module.is_front_page {
        file.parent().expect("Rust source in src").to_owned()
    } else {
        file.with_extension("")
    };
    for child in module.children.clone() {
        let beside = folder.join(format!("{child}.rs"));
        let path = [path.clone(), vec![child.clone()]].concat();
        let inside = folder.join(&child).join("mod.rs");
        read(
            path,
            if beside.exists() { &beside } else { &inside },
            modules,
        );
    }
    modules.insert(path, module);
}

/// The folder `src`.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The declarations and paths among `tokens`.
fn parse(tokens: &[Token]) -> Module {
    let mut module = Module::default();
    let mut at = 0;
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut is_public = false;
    while at < tokens.len() {
        match text(at) {
            "mod" if text(at + 2) == ";" => {
                module.children.insert(text(at + 1).to_owned());
            }
            "use" if text(at + 1) != "<" => {
                let mut found = Vec::new();
                at = tree(tokens, at + 1, &[], &mut found);
                for (name, path) in found {
                    if name == "*" {
                        module.globs.push(path.clone());
                    } else {
                        module.imports.push((name, path.clone()));
                    }
                    if !is_public {
                        module.uses.push(path);
                    }
                }
            }
            "fn" | "struct" | "enum" | "trait" | "const" | "static" | "type" => {
                module.items.insert(text(at + 1).to_owned());
            }
            _ if text(at + 1) == "::" && is_name(text(at)) && (at == 0 || text(at - 1) != "::") => {
                let mut path = vec![text(at).to_owned()];
                while text(at + 1) == "::" && is_name(text(at + 2)) {
                    path.push(text(at + 2).to_owned());
                    at += 2;
                }
                module.uses.push(path);
            }
            _ => {}
        }
        is_public =
            text(at) == "pub" || is_public && matches!(text(at), "(" | "crate" | "super" | ")");
        at += 1;
    }
    module
}

/// Reads the tree of a `use` at `at`, below `prefix`; the place of the sign after it.
fn tree(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<(String, Names)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens[at].text.as_str() {
            "::" => {}
            "*" => found.push(("*".to_owned(), path.clone())),
            "{" => {
                while tokens[at].text != "}" {
                    at = tree(tokens, at + 1, &path, found);
                }
                path.clear();
            }
            "as" => {
                found.push((tokens[at + 1].text.clone(), path.clone()));
                path.clear();
                at += 1;
            }
            "," | ";" | "}" => {
                let is_alone = tokens[at - 1].text != "*" && path.len() > prefix.len();
                if is_alone {
                    if path.last().expect("Rust source in src") == "self" {
                        path.pop();
                    }
                    found.push((path.last().expect("Rust source in src").clone(), path));
                }
                return at;
            }
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
}

/// Whether `text` is a name, not a sign or a number.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The file where what `path` names, seen from the module `from`, is defined; none for other crates and for folders of modules.
fn defined(modules: &Modules, from: &Names, path: &[String], depth: usize) -> Option<String> {
    if depth > 20 {
        return None;
    }
    let module = &modules[from];
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" | "migsim" => below(modules, Vec::new(), rest, depth),
        "self" => below(modules, from.clone(), rest, depth),
        "super" => below(
            modules,
            from[..from.len().checked_sub(1)?].to_vec(),
            rest,
            depth,
        ),
        child if module.children.contains(child) => below(
            modules,
            [from.clone(), vec![child.to_owned()]].concat(),
            rest,
            depth,
        ),
        name => {
            let (_, import) = module.imports.iter().find(|(import, path)| {
                import == name && path.first().expect("Rust source in src") != name
            })?;
            defined(modules, from, &[import, rest].concat(), depth + 1)
        }
    }
}

/// The file where what `path` names below the module `at` is defined.
fn below(modules: &Modules, mut at: Names, mut path: &[String], depth: usize) -> Option<String> {
    while let Some((name, rest)) = path.split_first() {
        let module = &modules[&at];
        if name == "super" {
            at.pop();
        } else if module.children.contains(name) {
            at.push(name.clone());
        } else if !module.is_front_page || module.items.contains(name) {
            return Some(module.file.clone());
        } else {
            let import = module
                .imports
                .iter()
                .find(|(import, _)| import == name)
                .map(|(_, path)| [path, rest].concat());
            let globs = module
                .globs
                .iter()
                .map(|glob| [glob.as_slice(), path].concat());
            return import
                .into_iter()
                .chain(globs)
                .find_map(|path| defined(modules, &at, &path, depth + 1));
        }
        path = rest;
    }
    let module = &modules[&at];
    (!module.is_front_page).then(|| module.file.clone())
}

/// Which file uses which.
fn dependencies() -> Edges {
    let mut modules = Modules::new();
    read(Vec::new(), &root().join("lib.rs"), &mut modules);
    let mut edges = Edges::new();
    for (path, module) in &modules {
        let targets = module
            .uses
            .iter()
            .filter_map(|used| defined(&modules, path, used, 0));
        edges.insert(
            module.file.clone(),
            targets.filter(|file| *file != module.file).collect(),
        );
    }
    edges
}

/// One circle of `edges`, its first file also last; none if there is no circle.
fn circle(mut edges: Edges) -> Option<Vec<String>> {
    while let Some(leaf) = edges
        .iter()
        .find(|(_, uses)| uses.is_empty())
        .map(|(file, _)| file.clone())
    {
        edges.remove(&leaf);
        for uses in edges.values_mut() {
            uses.remove(&leaf);
        }
    }
    let mut walk = vec![edges.keys().next()?.clone()];
    loop {
        let next = edges[walk.last()?].first()?.clone();
        if let Some(start) = walk.iter().position(|file| *file == next) {
            walk.push(next);
            return Some(walk.split_off(start));
        }
        walk.push(next);
    }
}

#[test]
fn no_file_uses_one_that_uses_it() {
    let edges = dependencies();
    assert!(
        edges.values().map(BTreeSet::len).sum::<usize>() > edges.len(),
        "the paths of the sources are not understood"
    );
    let found = circle(edges);
    assert_eq!(
        found, None,
        "these files use one another in a circle: move what they share into a file below both"
    );
}

/// The map in a text: the names of its groups, from left to right.
fn map(text: &str) -> Vec<Vec<String>> {
    let line = text
        .lines()
        .find(|line| line.contains("cli ──> "))
        .expect("a map");
    let groups = line.trim_start_matches("//! ").split(" ──> ");
    groups
        .map(|group| group.split(", ").map(str::to_owned).collect())
        .collect()
}

#[test]
fn readme_and_library_have_one_map_and_modules_keep_to_it() {
    let library = fs::read_to_string(root().join("lib.rs")).expect("Rust source in src");
    let map_of_library = map(&library);
    assert_eq!(map_of_library, map(include_str!("../README.md")));
    let rank = |file: &str| {
        let module = file.split(['/', '.']).next().expect("Rust source in src");
        map_of_library
            .iter()
            .position(|group| group.iter().any(|name| name == module))
    };
    for (file, uses) in dependencies() {
        if ["lib.rs", "prelude.rs"].contains(&&*file) {
            continue; // front pages of the crate
        }
        let own = rank(&file).unwrap_or_else(|| panic!("the map has no `{file}`"));
        for used in uses {
            let is_right = rank(&used).is_some_and(|used| used >= own);
            assert!(
                is_right,
                "`{file}` uses `{used}`, which does not stand to its right in the map"
            );
        }
    }
}
