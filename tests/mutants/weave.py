"""Weaves all mutants of a crate into one program, so that it is built once and each mutant is a number in the environment.

Mutants are those of `cargo mutants --list --json`. At each place the source gets one copy per mutant, and `crate::woven::at` selects one:

    a + b    becomes    (match crate::woven::at(7) { 7 => (a) - (b), 8 => (a) * (b), _ => a + b })

Mutants that do not compile in this form (in a constant, or with a value that cannot be made) are left out: see `build` in `run`.
"""

import re
from pathlib import Path

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

# The module that the woven source calls. MUTANT is the number of the active mutant; REACHED names a file for the places that were passed.
SWITCH = """//! Which mutant is on.
#![allow(missing_docs, clippy::all)]
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
static ACTIVE: LazyLock<u32> = LazyLock::new(|| std::env::var("MUTANT").map_or(0, |text| text.parse().unwrap_or(0)));
static REACHED: LazyLock<Option<(String, Vec<AtomicBool>)>> =
    LazyLock::new(|| Some((std::env::var("REACHED").ok()?, (0..COUNT).map(|_| AtomicBool::new(false)).collect())));
const COUNT: u32 = %d;
#[inline]
pub fn at(place: u32) -> u32 {
    if let Some((file, reached)) = &*REACHED
        && !reached[place as usize].swap(true, Ordering::Relaxed)
    {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        let _ = file.and_then(|mut file| file.write_all(format!("{place}\\n").as_bytes()));
    }
    *ACTIVE
}
"""


def offset(lines, place):
    """Returns the byte offset of a place (line and column in characters, from 1); `lines` are bytes with their line ends."""
    before = sum(len(line) for line in lines[: place["line"] - 1])
    text = lines[place["line"] - 1].decode() if place["line"] <= len(lines) else ""
    return before + len(text[: place["column"] - 1].encode())


class Weaver:
    """One file and its mutants: the number and the place of each."""

    def __init__(self, source: bytes, mutants):
        self.source = source
        self.tree = PARSER.parse(source)
        self.of_node = {}  # node id -> [(number, mutant)]
        self.first_of = {}  # number -> number of its place
        self.strange = []  # numbers of what we cannot weave
        lines = source.splitlines(keepends=True)
        for number, mutant in mutants:
            start, end = offset(lines, mutant["span"]["start"]), offset(lines, mutant["span"]["end"])
            node = self.place(mutant["genre"], start, end)
            if node is None or is_second_iterator(mutant):
                self.strange.append(number)
                continue
            same = self.of_node.setdefault(node.id, [])
            same.append((number, mutant))
            self.first_of[number] = same[0][0]

    def place(self, genre, start, end):
        """Returns the node that a mutant changes."""
        wanted = {
            "BinaryOperator": ("binary_expression", "compound_assignment_expr"),
            "UnaryOperator": ("unary_expression",),
            "MatchArm": ("match_arm",),
            "MatchArmGuard": ("match_pattern",),
            "FnValue": ("function_item",),
            "StructField": ("field_initializer",),
        }.get(genre, ())
        node = self.tree.root_node.descendant_for_byte_range(start, max(start, end - 1))
        while node is not None and node.type not in wanted:
            if genre == "BinaryOperator" and node.type in ("let_chain", "block", "token_tree"):
                return None
            node = node.parent
        return node

    def text(self, node):
        return self.source[node.start_byte : node.end_byte].decode()

    def whole(self):
        return self.emit(self.tree.root_node)

    def emit(self, node):
        """Returns the text of a node with its mutants."""
        mutants = self.of_node.get(node.id, [])
        parts, at = [], node.start_byte
        for child in node.children:
            parts.append(self.source[at : child.start_byte].decode())
            if node.type == "function_item" and child.type == "block" and mutants:
                parts.append(self.body(child, mutants))
            elif node.type == "match_arm" and child.type == "match_pattern" and mutants:
                parts.append(self.arm(child, mutants[0][0]))
            else:
                parts.append(self.emit(child))
            at = child.end_byte
        parts.append(self.source[at : node.end_byte].decode())
        return self.wrapped(node, "".join(parts), mutants)

    def wrapped(self, node, plain, mutants):
        if not mutants:
            return plain
        if node.type in ("binary_expression", "compound_assignment_expr"):
            left, right = (self.text(node.child_by_field_name(side)) for side in ("left", "right"))
            return choice([(n, f"{{ ({left}) {m['replacement']} ({right}) }}") for n, m in mutants], plain)
        if node.type == "unary_expression":
            return choice([(n, self.text(node.named_children[-1])) for n, _ in mutants], plain)
        if node.type == "match_pattern":
            guard = node.child_by_field_name("condition")
            start = guard.start_byte - node.start_byte
            pattern = self.source[node.start_byte : node.start_byte + start].decode()
            return pattern + choice([(n, m["replacement"]) for n, m in mutants], self.emit(guard))
        if node.type == "field_initializer":
            return self.field(node, plain, mutants)
        return plain

    def body(self, block, mutants):
        text = self.emit(block)
        if "impl Iterator" in (mutants[0][1]["function"]["return_type"] or ""):
            # All return values of a function have one type, so its own iterator is shortened.
            number = mutants[0][0]
            return f"{{ let all = {text}; all.take(if crate::woven::at({number}) == {number} {{ 0 }} else {{ usize::MAX }}) }}"
        returns = [
            f"if crate::woven::at({mutants[0][0]}) == {n} {{ return {marked(n, m['replacement'])}; }}\n" for n, m in mutants
        ]
        return "{" + "".join(returns) + text[1:]

    def arm(self, pattern, number):
        guard = pattern.child_by_field_name("condition")
        text = self.emit(pattern)
        is_on = f"crate::woven::at({number}) != {number}"
        if guard is None:
            return f"{text} if {marked(number, is_on)}"
        at = guard.start_byte - pattern.start_byte
        return f"{text[:at]}{is_on} && ({text[at:]})"

    def field(self, node, plain, mutants):
        """Returns the field of the base of the struct expression."""
        fields = node.parent
        base = next((c for c in fields.named_children if c.type == "base_field_initializer"), None)
        name, value = (node.child_by_field_name(field) for field in ("field", "value"))
        if base is None or name is None or value is None:
            return plain
        kind = self.text(fields.parent.child_by_field_name("name"))
        alternative = f"{{ let base: {kind} = {self.text(base.named_children[-1])}; base.{self.text(name)} }}"
        return f"{self.text(name)}: " + choice([(mutants[0][0], alternative)], self.emit(value))


def is_second_iterator(mutant):
    """Whether a mutant replaces an iterator by one that is not empty, which would have another type."""
    is_iterator = "impl Iterator" in (mutant["function"] or {}).get("return_type", "") and mutant["genre"] == "FnValue"
    return is_iterator and "empty()" not in mutant["replacement"]


def marked(number, text):
    """Marks text so that an error can be traced back to it."""
    return f"/*<{number}*/ {text} /*{number}>*/"


def choice(alternatives, plain):
    first = alternatives[0][0]
    arms = "".join(f"{number} => {marked(number, text)},\n" for number, text in alternatives)
    return f"(match crate::woven::at({first}) {{ {arms} _ => {plain} }})"


MARK = re.compile(rb"/\*(?:<(\d+)|(\d+)>)\*/")


def guilty(source: bytes, at: int):
    """Returns the number of the innermost marked text around byte `at`."""
    open_marks = []
    for mark in MARK.finditer(source):
        if mark.start() > at:
            break
        if mark[1]:
            open_marks.append(int(mark[1]))
        elif open_marks:
            open_marks.pop()
    return open_marks[-1] if open_marks else None


def weave(tree: Path, mutants):
    """Weaves `mutants` (number -> mutant) into the files of `tree`; returns number -> number of its place, without the strange ones."""
    by_file = {}
    for number, mutant in mutants.items():
        by_file.setdefault(mutant["file"], []).append((number, mutant))
    first_of = {}
    for file, its in sorted(by_file.items()):
        path = tree / file
        weaver = Weaver(path.read_bytes(), its)
        path.write_text(weaver.whole())
        first_of.update(weaver.first_of)
    (tree / "src/woven.rs").write_text(SWITCH % (max(mutants, default=0) + 1))
    library = tree / "src/lib.rs"
    text = library.read_text()
    first_module = re.search(r"^pub mod ", text, re.M).start()
    allowed = "#![allow(arithmetic_overflow, unconditional_panic, unconditional_recursion)]\n"
    library.write_text(allowed + text[:first_module] + "pub mod woven;\n" + text[first_module:])
    return first_of
