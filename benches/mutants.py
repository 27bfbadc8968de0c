#!/usr/bin/env python3
"""Mutation testing of the engine, of bsp and of MigBSP: puts small faults into the source and counts those that the tests detect.

    python3 benches/mutants.py build [--commit C] [--draw N] [--seed S]    draws N places and builds them all into one program
    python3 benches/mutants.py run [--patience S] [--first N]              tries each mutant; continues, and tries survivors again that had less patience
    python3 benches/mutants.py table                                       prints the counts and the mutants that survive

At each drawn place the source has both variants, of which `mutant::is` selects one when the program runs:

    a < b    becomes    (if mutant::is(7) { a <= b } else { a < b })

Mutants that the compiler refuses are left out. `run` measures once which tests reach which places. A mutant is then tried on the tests that
reach it, unit tests of its crate first, until one fails or takes more than 5 times as long as without a mutant, and for at most PATIENCE
seconds of other tests. Everything is in target/mutants.
"""

import argparse, collections, csv, json, os, random, re, resource, shutil, signal, subprocess, sys, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target/mutants"
TREE = TARGET / "tree"
SOURCES = {"engine": "crates/engine/src", "bsp": "crates/bsp/src", "MigBSP": "crates/policies/src/migbsp"}
STRONG = ("determinism::", "oracle::", "laws::", "slow::", "runtime::", "migbsp::", "one_time::", "reference::", "cli::transcripts", "papers::no_decision")  # first
LONGEST_TEST = 60.0  # [s]
ENVIRONMENT = dict(os.environ, RUST_TEST_THREADS="1", PROPTEST_MAX_SHRINK_ITERS="0", TMPDIR=str(TARGET / "tmp"))
SWITCH = """//! Which mutant is active.
#![allow(missing_docs, clippy::all, clippy::pedantic)]
use std::{env::var, fs::OpenOptions, io::Write, sync::LazyLock, sync::atomic::{AtomicBool, Ordering::Relaxed}};
static ACTIVE: LazyLock<u32> = LazyLock::new(|| var("MIGSIM_MUTANT").map_or(0, |text| text.parse().unwrap_or(0)));
static REACHED: LazyLock<Option<(String, Vec<AtomicBool>)>> =
    LazyLock::new(|| Some((var("MIGSIM_REACHED").ok()?, (0..10_000).map(|_| AtomicBool::new(false)).collect())));
#[inline]
pub fn is(n: u32) -> bool {
    if let Some((file, reached)) = &*REACHED && !reached[n as usize].swap(true, Relaxed) {
        let _ = OpenOptions::new().append(true).create(true).open(file).and_then(|mut file| file.write_all(format!("{n}\\n").as_bytes()));
    }
    *ACTIVE == n
}
"""

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<string>b?r(?P<hash>\#*)".*?"(?P=hash)|[bc]?"(?:\\.|[^"\\])*")|(?P<char>b?'(?:\\[^\n']+|\\'|[^\\'])')|(?P<life>'\w+)
    |(?P<number>\d[\d_]*(?:\.\d[\d_]*|\.(?![\w.]))?(?:[eE][+-]?\d+)?\w*)|(?P<word>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|\.\.=|=>|->|::|&&|\|\||[=!<>+\-*/%^&|]=|<<|>>|\.\.|.)""",
    re.S | re.X,
)
LEVEL = {"*": 9, "/": 9, "%": 9, "+": 8, "-": 8, "<<": 7, ">>": 7, "&": 6, "^": 5, "|": 4, "&&": 2, "||": 1}
LEVEL |= dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], 3)
OTHERS = {"<": "<= >=", "<=": "< >", ">": ">= <=", ">=": "> <", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*"}
OTHERS |= {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
METHODS = {"min": "max", "max": "min", "any": "all", "all": "any"}
FUNCTIONS = {"greater": "lesser", "lesser": "greater"}
LITERALS = {"0": "1", "1": "2", "0.0": "1.0", "1.0": "2.0", "0.5": "1.0", "2.0": "1.0", "true": "false", "false": "true"}
KEYWORDS = set("return if while match in let else break move loop unsafe for fn impl where mut ref dyn use pub const static".split())
BREAKS = {";", ",", "=>", "=", "->", ":", "..", "..=", "#", "+=", "-=", "*=", "/=", "|", "||"}


class Source:
    """The tokens of a file, its brackets, and the places that can be changed: (start, end, new text) in characters."""

    def __init__(self, text):
        self.text = text
        self.tokens = [(m.lastgroup if m.lastgroup != "hash" else "string", m[0], m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
        self.words = [token[1] for token in self.tokens]
        self.pair, open_ = {}, []
        for i, (kind, word, *_) in enumerate(self.tokens):
            if kind == "op" and word in "([{":
                open_.append(i)
            elif kind == "op" and word in ")]}":
                self.pair[i], self.pair[open_[-1]] = open_[-1], i
                open_.pop()
        self.skipped = self.find_skipped()

    def find_skipped(self):
        """Tokens of attributes, tests, constants, macros and `use`, which stay as they are."""
        skipped, words, i = set(), self.words, 0
        while i < len(words):
            end, word = i - 1, words[i]
            if word == "#" and words[i + 1 : i + 2] and words[i + 1] in "[!":
                end = self.pair[i + 1 + (words[i + 1] == "!")]
                if "".join(words[i : end + 1]) == "#[cfg(test)]":
                    end = self.end_of_item(end + 1)
            elif word in ("const", "static", "use", "type") and self.tokens[i][0] == "word":
                end = self.end_of_item(i)
            elif word == "!" and self.tokens[i - 1][0] == "word" and i + 1 in self.pair and self.tokens[i - 1][3] == self.tokens[i][2]:
                end = self.pair[i + 1]
            elif word == "macro_rules":
                end = self.end_of_item(i)
            skipped.update(range(i, end + 1))
            i = max(end + 1, i + 1)
        return skipped

    def end_of_item(self, i):
        while i < len(self.words) and self.words[i] not in (";", "{"):
            i = self.pair[i] + 1 if self.words[i] in ("(", "[") else i + 1
        return self.pair.get(i, i) if i < len(self.words) else i - 1

    def level(self, i):
        """The precedence of a binary operator, which rustfmt puts between two spaces; 0 if token `i` is none."""
        kind, word, start, end = self.tokens[i]
        before = self.tokens[i - 1]
        is_spaced = self.text[start - 1].isspace() and self.text[end : end + 1].isspace()
        is_after_value = before[0] in ("number", "string", "char") or before[1] in (")", "]", "}", "?") or before[0] == "word" and before[1] not in KEYWORDS
        return LEVEL.get(word, 0) if kind == "op" and is_spaced and is_after_value else 0

    def left(self, i, level):
        """The first token of the operand that ends before token `i`, or None."""
        first, at = None, i - 1
        while at >= 0:
            word = self.words[at]
            if word == "}":
                if first is None or self.words[at + 1] in (".", "?"):
                    return None
                break
            if 0 < self.level(at) < level or word in BREAKS and not self.level(at) or word in KEYWORDS or word in ("(", "[", "{"):
                break
            first = at = self.pair[at] if word in (")", "]") else at
            at -= 1
        return first

    def right(self, i, level):
        """The last token of the operand that begins after token `i`, or None."""
        last, at = None, i + 1
        while at < len(self.words):
            word = self.words[at]
            if word in KEYWORDS - {"else"} or last is None and word == "{" or word in ("|", "||") and not self.level(at):
                return None
            if 0 < self.level(at) <= level or word in BREAKS and not self.level(at) or word in ("{", "}", ")", "]", "else"):
                break
            last = at = self.pair[at] if word in ("(", "[") else at
            at += 1
        return last

    def receiver(self, dot):
        at = dot
        while self.words[at] in (".", "::", "?") or at < dot:
            before = at - 1
            if self.words[before] in (")", "]", "?"):
                at = self.pair.get(before, before)
                if self.tokens[at - 1][0] == "word" and self.words[at - 1] not in KEYWORDS and self.tokens[at - 1][3] == self.tokens[at][2]:
                    at -= 1
                elif self.words[at] == "[":
                    continue
            elif self.tokens[before][0] in ("word", "number", "string") and self.words[before] not in KEYWORDS:
                at = before
            else:
                return None
            if self.words[at - 1] not in (".", "::", "?"):
                return at
            at -= self.words[at - 1] != "?"
        return None

    def is_pattern(self, i):
        """Whether a literal is part of a pattern: `=>` comes before the next `;` or block."""
        while i < len(self.words) and self.words[i] not in (";", "{", "}"):
            if self.words[i] in ("=>", "|") and not self.level(i):
                return True
            i = self.pair[i] + 1 if self.words[i] in ("(", "[") else i + 1
        return False

    def places(self):
        for i, (kind, word, start, end) in enumerate(self.tokens):
            if i in self.skipped or i == 0:
                continue
            ends = None
            if word in OTHERS and (self.level(i) or word in ("+=", "-=", "*=", "/=")):
                ends = self.left(i, self.level(i) or 0.5), self.right(i, self.level(i) or 0.5)
                news = OTHERS[word].split() if word != "+" or not re.match("[A-Z][a-z]", self.words[i + 1]) else []  # bounds of a type
            elif word == "." and self.words[i + 1] in METHODS and self.words[i + 2] == "(" and self.words[i + 3] != ")":
                ends, (start, end), news = (self.receiver(i), self.pair[i + 2]), self.tokens[i + 1][2:], [METHODS[self.words[i + 1]]]
            elif word in FUNCTIONS and self.words[i + 1] == "(" and self.words[i - 1] not in (".", "fn"):
                ends, news = (i, self.pair[i + 1]), ["::migsim_base::units::" + FUNCTIONS[word]]
            elif word in LITERALS and (kind == "number" or word in ("true", "false")) and self.words[i - 1] not in (".", "let", ";") and not self.is_pattern(i):
                ends, news = (i, i), [LITERALS[word]]
            elif word == "if" and (last := self.right(i, 0)) and "let" not in self.words[i:last]:
                yield self.tokens[i + 1][2], self.tokens[last][3], None
            if not ends or None in ends:
                continue
            words = self.words[ends[0] : ends[1] + 1]
            if "let" in words or any(self.tokens[j][0] == "life" for j in range(ends[0], ends[1] + 1)) or "dyn" in words or "impl" in words:
                continue
            first, last = self.tokens[ends[0]][2], self.tokens[ends[1]][3]
            for new in news:
                yield first, last, self.text[first:start] + new + self.text[end:last]


def emit(text, start, end, mutants):
    """The characters from `start` to `end`; the alternatives of its `mutants` (number, start, end, new) stand between marks."""
    out, at, rest = [], start, sorted(mutants, key=lambda mutant: (mutant[1], -mutant[2]))
    while rest:
        n, first, last, new = rest.pop(0)
        inner = [mutant for mutant in rest if mutant[2] <= last]
        rest = [mutant for mutant in rest if mutant[1] >= last]
        plain, switch = emit(text, first, last, inner), f"::migsim_base::mutant::is({n})"
        changed = f"({switch} != ({plain}))" if new is None else f"(if {switch} {{ {new} }} else {{ {plain} }})"
        out += [text[at:first], f"/*<{n}*/{changed}/*{n}>*/"]
        at = last
    return "".join(out) + text[at:end]


def guilty(source, at):
    """The innermost mutant around byte `at` of a changed file."""
    inside = []
    for mark in re.finditer(rb"/\*(?:<(\d+)\*/|\d+>\*/)", source[: at + 1]):
        inside.append(int(mark[1])) if mark[1] else inside.pop()
    return inside[-1] if inside else None


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked", "--message-format=json"]
    done = subprocess.run(command, cwd=TREE, env=dict(os.environ, CARGO_TARGET_DIR=str(TARGET / "build"), CARGO_INCREMENTAL="0"), capture_output=True, text=True)
    return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def build(commit, draw, seed):
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "xf", "-"], cwd=TREE, input=archive, check=True)
    (TREE / "crates/base/src/mutant.rs").write_text(SWITCH)
    for file, old, new in [("crates/base/src/lib.rs", "pub mod memory;", "pub mod memory;\npub mod mutant;"), ("Cargo.toml", "[workspace.lints.rust]\n", "[workspace.lints.rust]\narithmetic_overflow = \"allow\"\nunconditional_panic = \"allow\"\n")]:
        (TREE / file).write_text((TREE / file).read_text().replace(old, new, 1))
    files = [(crate, path) for crate, folder in SOURCES.items() for path in sorted((TREE / folder).rglob("*.rs"))]
    files = [(crate, path) for crate, path in files if path.stem not in ("tests", "testing") and "tests" not in path.parts[len(TREE.parts) :]]
    texts = {path: path.read_text() for _, path in files}
    places = [(crate, path, *place) for crate, path in files for place in Source(texts[path]).places()]
    drawn = random.Random(seed).sample(places, min(draw, len(places)))
    mutants, kept = {}, collections.defaultdict(list)
    for number, (crate, path, start, end, new) in enumerate(drawn, start=1):  # of places that overlap or coincide, the first drawn
        if all(end <= s or e <= start or (start, end) != (s, e) and (s <= start and end <= e or start <= s and e <= end) for _, s, e, _ in kept[path]):
            kept[path].append((number, start, end, new))
            line = texts[path].count("\n", 0, start) + 1
            mutants[number] = [crate, str(path.relative_to(TREE)), line, texts[path][start:end], f"!({texts[path][start:end]})" if new is None else new]
    print(f"{len(places)} possible mutants, {len(mutants)} drawn", flush=True)
    while True:
        for path, its in kept.items():
            if path.read_text() != (changed := emit(texts[path], 0, len(texts[path]), [mutant for mutant in its if mutant[0] in mutants])):
                path.write_text(changed)
        done, messages = cargo("check", "-p", "migsim-policies", "--lib")
        errors = [message["message"] for message in messages if message.get("message", {}).get("level") == "error"]
        if done.returncode == 0:
            break
        spans = [span for error in errors for span in error["spans"] + [span for child in error["children"] for span in child["spans"]]]
        bad = {guilty((TREE / span["file_name"]).read_bytes(), span["byte_start"]) for span in spans if (TREE / span["file_name"]).is_file()} & set(mutants)
        if not bad:
            sys.exit("\n".join(error["rendered"] for error in errors)[:4000] or done.stderr[-4000:])
        print(f"{len(bad)} do not compile: " + ", ".join(f"{mutants[n][1]}:{mutants[n][2]}" for n in sorted(bad)), flush=True)
        for n in bad:
            del mutants[n]
    done, messages = cargo("test", "--no-run", "-p", "migsim-engine", "-p", "migsim-bsp", "-p", "migsim-policies", "-p", "migsim", "--lib", "--bins", "--test", "tests")
    if done.returncode != 0:
        sys.exit(done.stderr[-4000:])
    programs = [m["executable"] for m in messages if m.get("executable") and m["profile"]["test"]]
    (TARGET / "mutants.json").write_text(json.dumps({"commit": commit, "programs": programs, "mutants": mutants}))
    (TARGET / "tests.json").unlink(missing_ok=True)
    (TARGET / "outcomes.jsonl").unlink(missing_ok=True)
    print(f"{len(mutants)} mutants built into {len(programs)} programs")


def run_tests(program, names, patience, **variables):
    """Whether the tests pass, and how long they take [s]."""
    (TARGET / "tmp").mkdir(exist_ok=True)
    begin = time.monotonic()
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    folder = TREE / "crates" / re.match(r"(?:migsim_)?(\w+)", Path(program).name)[1]
    process = subprocess.Popen([program, "--exact", *names], cwd=folder if folder.is_dir() else TREE, env=dict(ENVIRONMENT, **variables), preexec_fn=limit,
                               start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        outcome = "passed" if process.wait(patience) == 0 else "failed"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        outcome = "timeout"
    shutil.rmtree(TARGET / "tmp", ignore_errors=True)
    return outcome, time.monotonic() - begin


def measured(programs, known):
    """The duration [s] and the reached places of each test that passes without a mutant."""
    for program in programs:
        listing = subprocess.run([program, "--list", "--format", "terse"], cwd=TREE, check=True, capture_output=True, text=True).stdout
        for name in re.findall(r"^(.*): test$", listing, re.M):
            if any(test[:2] == [program, name] for test in known):
                continue
            (reached := TARGET / "reached").unlink(missing_ok=True)
            outcome, seconds = run_tests(program, [name], 300, MIGSIM_REACHED=str(reached))
            places = sorted({int(n) for n in reached.read_text().split()}) if reached.exists() else []
            if outcome != "passed" and places:
                outcome = run_tests(program, [name], 300)[0]  # a test of allocations notices how places are noted
            if outcome != "passed":
                print(f"left out, {outcome} without a mutant: {name}", flush=True)
            elif seconds > LONGEST_TEST:
                print(f"left out, takes {seconds:.0f} s: {name}", flush=True)
            known.append([program, name, seconds, places if outcome == "passed" and seconds <= LONGEST_TEST else []])
            (TARGET / "tests.json").write_text(json.dumps(known))
    return known


def judge(number, crate, tests, patience):
    """Tries one mutant; returns which kind of test caught it, and the first of the tests that were then tried."""
    reaching = [test for test in tests if number in test[3]]
    is_whole = lambda test: Path(test[0]).name.startswith("tests-")
    own = {"MigBSP": "migsim_policies"}.get(crate, f"migsim_{crate}")
    rank = lambda test: 1 + 2 * (not test[1].startswith(STRONG)) if is_whole(test) else 2 * (not Path(test[0]).name.startswith(own))
    reaching.sort(key=lambda test: (rank(test), test[0], test[2]))
    spent = 0.0
    while reaching and spent < patience:
        size, budget = 1, 2.0 if is_whole(reaching[0]) else 3.0
        while size < len(reaching) and rank(reaching[size]) == rank(reaching[0]) and reaching[size][0] == reaching[0][0] and sum(test[2] for test in reaching[: size + 1]) <= budget:
            size += 1
        batch, reaching = reaching[:size], reaching[size:]
        outcome, seconds = run_tests(batch[0][0], [test[1] for test in batch], 5 + 5 * sum(test[2] for test in batch), MIGSIM_MUTANT=str(number))
        if outcome != "passed":
            return "whole" if is_whole(batch[0]) else "unit", outcome, batch[0][1]
        spent += seconds if rank(batch[0]) else 0.0
    return "survived" if any(number in test[3] for test in tests) else "unreached", len(reaching), ""


def run(patience, first):
    stored = json.loads((TARGET / "mutants.json").read_text())
    known, results = TARGET / "tests.json", TARGET / "outcomes.jsonl"
    tests = measured(stored["programs"], json.loads(known.read_text()) if known.exists() else [])
    print(f"{len(tests)} tests, {sum(test[2] for test in tests):.0f} s", flush=True)
    sets = [[*test[:3], set(test[3])] for test in tests if test[3]]
    done = {n for n, (outcome, left, _, spent) in outcomes().items() if outcome != "survived" or left == 0 or spent >= patience}
    for number, mutant in stored["mutants"].items():
        if int(number) not in done and int(number) <= first:
            with results.open("a") as file:
                file.write(json.dumps([int(number), *judge(int(number), mutant[0], sets, patience), patience]) + "\n")


def outcomes():
    """The last outcome of each mutant: kind, tests left or how it was caught, test, patience."""
    results = TARGET / "outcomes.jsonl"
    return {row[0]: row[1:] for row in map(json.loads, results.read_text().splitlines())} if results.exists() else {}


def table():
    stored = json.loads((TARGET / "mutants.json").read_text())
    counts = collections.defaultdict(collections.Counter)
    for number, (outcome, *_) in outcomes().items():
        for name in (stored["mutants"][str(number)][0], "all"):
            counts[name][outcome] += 1
    print(f"commit {stored['commit']}\n\n| part | mutants | caught by unit tests | by tests of the whole | missed | not reached | share caught |\n|---|" + "---:|" * 6)
    for name in [*SOURCES, "all"]:
        count = counts[name]
        share = 100 * (count["unit"] + count["whole"]) / max(count.total(), 1)
        print(f"| {name} | {count.total()} | {count['unit']} | {count['whole']} | {count['survived']} | {count['unreached']} | {share:.1f} % |")
    for number, (outcome, left, *_) in sorted(outcomes().items()):
        if outcome in ("survived", "unreached"):
            crate, file, line, old, new = stored["mutants"][str(number)]
            print(f"\n{number} {outcome} ({left} tests left) {file}:{line}\n  {' '.join(old.split())}\n  {' '.join(new.split())}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("part", choices=["build", "run", "table"])
parser.add_argument("--commit", default="HEAD", help="whose source is changed; default: the last one")
parser.add_argument("--draw", type=int, default=600)
parser.add_argument("--seed", type=int, default=68)
parser.add_argument("--patience", type=float, default=60.0)
parser.add_argument("--first", type=int, default=10_000, help="tries the mutants up to this number only, which are a sample")
arguments = parser.parse_args()
if arguments.part == "build":
    commit = subprocess.run(["git", "rev-parse", arguments.commit], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    build(commit, arguments.draw, arguments.seed)
elif arguments.part == "run":
    run(arguments.patience, arguments.first)
else:
    table()
