//! Replaces elements of version 3 of SimGrid's format that stand for other elements: `<include>` by the elements of a file,
//! `<foreach>` by elements that are repeated for each name of a `<set>`.
//!
//! | element | becomes |
//! | --- | --- |
//! | `<include file="F"/>` | the content of F, or of the `<platform>` in F if there is one; F is searched beside the platform file, and outside the folder of the platform file only if that is allowed |
//! | `<set id="S" prefix="a" suffix="b" radical="0-9"/>` | nothing: it defines the names `a0b` to `a9b` |
//! | `<foreach set_id="S">` | its elements once for each name of S, which replaces `$1` |
//!
//! The rules of zones with routing `RuleBased` are replaced after these elements, by the module `rules`.
//!
//! The replacement of an element is written on the first line of the element, so that the other lines keep their numbers.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use roxmltree::Node;

use super::{
    cluster::parse_radical_ranges,
    lenient::parse_leniently,
    rules::{MAX_TEXT_LENGTH, replace_routing_rules},
};
use migsim_base::{
    document::{line_column, read_text, sha256},
    error::Problem,
};

const ELEMENTS: [&str; 3] = ["include", "set", "foreach"];
/// Maximum number of rounds of replacement, and thus of the depth to which files include other files.
const MAX_ROUNDS: usize = 16;

/// Replaces the elements of a SimGrid file that stand for other elements. Several rounds may be needed, since a replacement can
/// itself contain an `<include>` or `<foreach>`.
#[derive(Default)]
pub(super) struct Expander {
    set_names: BTreeMap<String, Vec<String>>,
    pub included_files: Vec<(String, String)>,
    replacement_rounds: usize,
    last_included_file: Option<(String, String)>,
    /// Included files, with the positions of their contents in the expanded text.
    inserted_files: Vec<InsertedFile>,
    /// Whether files outside the folder of the platform may be included.
    may_include_outside: bool,
}

/// An included file whose content has been inserted into one line of the expanded text.
struct InsertedFile {
    /// Line and column of the first inserted character in the expanded text, counted from 1.
    insertion_line_and_column: (usize, usize),
    path: String,
    text: String,
}

impl InsertedFile {
    fn position_in_file(&self, (line, column): (usize, usize)) -> Option<(usize, usize)> {
        let content = content_to_insert(&self.text);
        let letters = column.checked_sub(self.insertion_line_and_column.1)?;
        let (offset, _) = content.char_indices().nth(letters)?;
        let start = content.as_ptr().addr() - self.text.as_ptr().addr();
        (line == self.insertion_line_and_column.0).then(|| line_column(&self.text, start + offset))
    }
}

impl Expander {
    pub(super) fn new(may_include_outside: bool) -> Self {
        Self {
            may_include_outside,
            ..Self::default()
        }
    }

    /// Moves a problem from its position in the expanded text to the line and column in the included file. The problem keeps its
    /// position if it is not in an included file, or if more than one round of replacement was needed.
    pub(super) fn relocate_problem(&self, problem: Problem) -> Problem {
        let place = problem
            .location
            .line_column
            .filter(|_| self.replacement_rounds == 1);
        let found = place.and_then(|place| {
            let mut pieces = self.inserted_files.iter();
            pieces.find_map(|piece| Some((piece, piece.position_in_file(place)?)))
        });
        match found {
            Some((piece, (line, column))) => {
                problem.source(&piece.path).at_line_column(line, column)
            }
            None => problem,
        }
    }

    /// Replaces each `<include>`, `<foreach>`, `<set>` and routing rule of the text once; returns the new text, or `None` if the
    /// text has no such element.
    ///
    /// # Errors
    /// A file cannot be read, a set is unknown, or files include each other without end; each error has its line and column.
    pub(super) fn expand_once(
        &mut self,
        source: &str,
        text: &str,
    ) -> Result<Option<String>, Problem> {
        let is_there = |name: &str| text.contains(&format!("<{name}"));
        if !text.contains("RuleBased") && !ELEMENTS.iter().any(|name| is_there(name)) {
            return Ok(None);
        }
        let mut mended = String::new();
        let document = parse_leniently(source, text, &mut mended)?;
        let mut found = Vec::new();
        collect_replaceable_elements(document.root_element(), &mut found);
        let text = document.input_text();
        let at = |node: Node<'_, '_>, problem: Problem| {
            let place = document.text_pos_at(node.range().start);
            problem
                .source(source)
                .at_line_column(place.row as usize, place.col as usize)
        };
        self.replacement_rounds += 1;
        if found.is_empty() {
            return replace_routing_rules(document.root_element(), at);
        }
        if self.replacement_rounds > MAX_ROUNDS {
            let problem = Problem::new(format!(
                "files are included in each other in more than {MAX_ROUNDS} levels"
            ))
                .hint("remove the `<include>` by which a file includes itself, directly or through other files");
            return Err(at(found[0], problem));
        }
        let mut new = String::new();
        let mut done = 0;
        for node in found {
            let range = node.range();
            let with = self
                .replacement_of_element(source, text, node)
                .map_err(|problem| match problem.location.source {
                    Some(_) => problem, // in an included file
                    None => at(node, problem),
                })?;
            new.push_str(&text[done..range.start]);
            self.record_inserted_file(&new);
            new.extend(with.chars().map(|c| if c == '\n' { ' ' } else { c }));
            new.extend(text[range.clone()].chars().filter(|c| *c == '\n'));
            done = range.end;
            if new.len() > MAX_TEXT_LENGTH {
                let problem = Problem::new(
                    "the text of the file is longer than 268 MB after each `<include>` and `<foreach>` is replaced",
                )
                .hint("reduce the numbers of hosts in the sets");
                return Err(at(node, problem));
            }
        }
        new.push_str(&text[done..]);
        Ok(Some(new))
    }

    /// Records that the content of the last included file is inserted after `expanded`, which is the start of the expanded text.
    /// Does nothing if the last replaced element is no `<include>`.
    fn record_inserted_file(&mut self, expanded: &str) {
        if let Some((path, text)) = self.last_included_file.take() {
            self.inserted_files.push(InsertedFile {
                insertion_line_and_column: line_column(expanded, expanded.len()),
                path,
                text,
            });
        }
    }

    fn replacement_of_element(
        &mut self,
        source: &str,
        text: &str,
        node: Node<'_, '_>,
    ) -> Result<String, Problem> {
        let name = node.tag_name().name();
        let given = |attribute: &str| {
            node.attribute(attribute).ok_or_else(|| {
                Problem::new(format!(
                    "the attribute `{attribute}` of the element `<{name}>` is missing"
                ))
                .key(name)
                .hint("add this attribute to the element")
            })
        };
        match name {
            "include" => self.include_file(source, given("file")?),
            "set" => {
                let id = given("id")?;
                let radical = given("radical")?;
                let around = ["prefix", "suffix"].map(|name| node.attribute(name).unwrap_or(""));
                let ranges = parse_radical_ranges(radical).map_err(Problem::new)?;
                let size = |(from, to): &(u64, u64)| to - from;
                if ranges.iter().map(size).fold(0, u64::saturating_add) > MAX_TEXT_LENGTH as u64 {
                    return Err(Problem::new(format!(
                        "the set `{id}` has more numbers than migsim can read"
                    ))
                    .hint("reduce the range of numbers in `radical`"));
                }
                let names = ranges
                    .into_iter()
                    .flat_map(|(from, to)| from..=to)
                    .map(|number| format!("{}{number}{}", around[0], around[1]));
                self.set_names.insert(id.to_owned(), names.collect());
                Ok(String::new())
            }
            _ => {
                let id = given("set_id")?;
                let Some(names) = self.set_names.get(id) else {
                    return Err(Problem::new(format!("unknown set `{id}`"))
                        .with_unknown_name("set", id)
                        .with_known_names("sets", self.set_names.keys().map(String::as_str)));
                };
                let body = node
                    .first_child()
                    .zip(node.last_child())
                    .map_or("", |(first, last)| {
                        &text[first.range().start..last.range().end]
                    });
                if names.len().saturating_mul(body.len()) > MAX_TEXT_LENGTH {
                    return Err(Problem::new(
                        "the text of this `<foreach>` is longer than 268 MB after it is repeated for each name of the set",
                    )
                    .hint("reduce the number of hosts in the set"));
                }
                Ok(names.iter().map(|name| body.replace("$1", name)).collect())
            }
        }
    }

    fn include_file(&mut self, source: &str, file: &str) -> Result<String, Problem> {
        let folder = Path::new(source).parent().unwrap_or(Path::new(""));
        // SimGrid also searches it in the folder of the command.
        let beside = folder.join(file);
        if !self.may_include_outside {
            check_inside_folder(folder, &beside, file)?;
        }
        let is_elsewhere = !beside.exists() && Path::new(file).exists();
        let path = if is_elsewhere {
            PathBuf::from(file)
        } else {
            beside
        };
        let path = path.to_string_lossy().into_owned();
        let text = read_text(&path).map_err(|problem| {
            Problem::new(problem.message)
                .hint("name an existing file; a relative path counts from the folder of the file with this `<include>`")
        })?;
        let hash = sha256(text.as_bytes());
        if !self.included_files.iter().any(|(known, _)| *known == path) {
            self.included_files.push((path.clone(), hash));
        }
        check_included_file(&path, &text)?;
        let inside = content_to_insert(&text).to_owned();
        self.last_included_file = Some((path, text));
        Ok(inside)
    }
}

pub(super) fn check_inside_folder(folder: &Path, file: &Path, name: &str) -> Result<(), Problem> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let real = |path: &Path| path.canonicalize().ok();
    let is_inside = match (real(folder), real(file)) {
        (Some(folder), Some(file)) => file.starts_with(folder),
        // A missing file is reported as missing, unless it would be outside.
        _ => !Path::new(name).exists(),
    };
    if is_inside {
        return Ok(());
    }
    let problem = Problem::new(format!(
        "the file `{name}` is outside of the folder of the platform file, where migsim does not read it by default"
    ));
    Err(problem.hint("copy the file into the folder of the platform file, or allow such files with `--include-outside`"))
}

/// Returns an error, with line and column, if an included file is not XML. An included file may consist of several elements
/// without a common root.
fn check_included_file(path: &str, text: &str) -> Result<(), Problem> {
    let start = text.trim_start();
    let mut mended = String::new();
    if let Err(problem) = parse_leniently(path, start, &mut mended) {
        // Several elements are no document, but are one inside another element.
        let whole = format!("<platform>{}</platform>", content_to_insert(text));
        let mut mended = String::new();
        if parse_leniently(path, &whole, &mut mended).is_err() {
            return Err(problem.source(path));
        }
    }
    Ok(())
}

fn collect_replaceable_elements<'a>(node: Node<'a, 'a>, found: &mut Vec<Node<'a, 'a>>) {
    let mut next = vec![node];
    while let Some(node) = next.pop() {
        if ELEMENTS.contains(&node.tag_name().name()) {
            found.push(node);
        } else {
            next.extend(node.children().filter(Node::is_element).rev());
        }
    }
}

/// Returns the part of an included file that is inserted: without XML declarations, and only the elements inside `<platform>` if
/// there is such an element.
fn content_to_insert(text: &str) -> &str {
    let mut rest = text.trim();
    for _ in 0..text.len() {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!") {
            ">"
        } else {
            break;
        };
        let Some(length) = rest.find(end) else {
            break;
        };
        rest = rest[length + end.len()..].trim_start();
    }
    if let Some(inside) = rest.strip_prefix("<platform")
        && let Some(begin) = inside.find('>')
        && let Some(end) = inside.rfind("</platform")
        && begin < end
    {
        rest = &inside[begin + 1..end];
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::{
        super::{from_simgrid, from_simgrid_within_limits},
        content_to_insert,
    };
    use migsim_base::memory::Limits;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let loaded = from_simgrid("p.xml", text).map_err(|error| error.to_string())?;
        let hosts = loaded.platform.hosts.into_iter();
        Ok(hosts.map(|host| host.name).collect())
    }

    #[test]
    fn each_name_of_a_set_gets_the_elements() {
        let text = "<platform version='3'><AS id='a' routing='Full'>\n<set id='s' prefix='h-' suffix='.me' radical='0-1,7'/>\n\
            <foreach set_id='s'>\n<host id='$1' power='1'/></foreach>\n</AS></platform>";
        assert_eq!(read(text).unwrap(), ["h-0.me", "h-1.me", "h-7.me"]);
        let error = read(&text.replace("set_id='s'", "set_id='t'")).unwrap_err();
        assert!(
            error.contains("unknown set `t`") && error.contains("p.xml:3:1"),
            "{error}"
        );
        let error = read(&text.replace("power='1'", "power='x'")).unwrap_err();
        assert!(error.contains("p.xml:3:"), "{error}");
    }

    #[test]
    fn files_are_included() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let path = folder.path().join("p.xml");
        let text = "<platform version='3'>\n<include file='q.xml'/></platform>";
        let read = || from_simgrid(path.to_str().unwrap(), text);
        let error = read().unwrap_err().to_string();
        assert!(error.contains("p.xml:2:1"), "{error}");
        let cluster =
            "<cluster id='c' prefix='c' suffix='' radical='0-2' power='1' bw='1' lat='0'/>";
        write(
            "q.xml",
            &format!(
                "<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE platform>\n<platform version='3'>{cluster}</platform>"
            ),
        );
        let loaded = read().unwrap();
        assert_eq!(loaded.platform.hosts.len(), 3);
        assert_eq!(loaded.profile_files.len(), 1);
        write("q.xml", "<include file='q.xml'/>");
        let error = read().unwrap_err().to_string();
        assert!(
            error.contains("files are included in each other"),
            "{error}"
        );
    }

    #[test]
    fn a_file_outside_the_folder_is_included_only_if_that_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("p")).unwrap();
        let cluster =
            "<cluster id='c' prefix='c' suffix='' radical='0-2' power='1' bw='1' lat='0'/>";
        std::fs::write(folder.path().join("q.xml"), cluster).unwrap();
        let path = folder.path().join("p/p.xml");
        let text = "<platform version='3'><include file='../q.xml'/></platform>";
        let read = |may_include_outside| {
            let limits = Limits {
                allows_outside_files: may_include_outside,
                ..Limits::default()
            };
            from_simgrid_within_limits(path.to_str().unwrap(), text, limits)
        };
        assert_eq!(read(true).unwrap().platform.hosts.len(), 3);
        let error = read(false).unwrap_err().to_string();
        assert!(
            error.contains("the file `../q.xml` is outside of the folder"),
            "{error}"
        );
        assert!(
            error.contains("p.xml:1:") && error.contains("--include-outside"),
            "{error}"
        );
    }

    #[test]
    fn a_fault_in_an_included_file_is_placed_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("q.xml"), "<cluster>\n <b></cluster>").unwrap();
        let path = folder.path().join("p.xml");
        let text = "<platform version='3'>\n<include file='q.xml'/></platform>";
        let error = from_simgrid(path.to_str().unwrap(), text).unwrap_err();
        assert!(error.to_string().contains("q.xml:2:"), "{error}");
    }

    #[test]
    fn declarations_are_no_content() {
        assert_eq!(
            content_to_insert("<?xml?> <!-- <a> --><b/><c/>"),
            "<b/><c/>"
        );
        assert_eq!(
            content_to_insert("<platform version='3'><b/></platform>"),
            "<b/>"
        );
        assert_eq!(content_to_insert("<!-- open"), "<!-- open");
    }
}
