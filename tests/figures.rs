//! Figures for articles: letters of at least 6 pt, no text outside, the same bytes each time, refusals with hints.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use roxmltree::Document;

use crate::support::{done, refused};

fn says(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

/// Makes a run and two sweeps in a folder.
fn folders() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let run = "run --app lu --n 40 --procs 8 --grid 2x4 --quiet --processes";
    done(scratch.path(), &format!("{run} --out short"));
    done(
        scratch.path(),
        "run --app sw --n 10 --quiet --processes --out long",
    );
    let sweep = "sweep --app lu --n 40 --procs 4 --grid 2x2 --quiet";
    done(
        scratch.path(),
        &format!("{sweep} --alpha 2,4,8 --x 0.6,0.8 --d 0.1,0.5 --seeds 1,2 --out grid"),
    );
    done(
        scratch.path(),
        &format!("{sweep} --load ar --seeds 1,2 --x 0.1..0.9:0.025 --out many"),
    );
    scratch
}

const RUN: [&str; 4] = ["gantt", "makespan", "placement", "supersteps"];

/// Draws all figures of a folder and returns their files.
fn draw(scratch: &Path, folder: &str, more: &str) -> Vec<PathBuf> {
    let out = format!("{folder}-figures");
    let _ = fs::remove_dir_all(scratch.join(&out));
    done(
        scratch,
        &format!("report {folder} --figure all --out {out} {more}"),
    );
    let mut files: Vec<PathBuf> = fs::read_dir(scratch.join(out))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn names(files: &[PathBuf]) -> Vec<&str> {
    files
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap())
        .collect()
}

/// Checks that every text of a figure is legible and inside the canvas.
fn check_texts(file: &Path, least: f64) {
    let text = fs::read_to_string(file).unwrap();
    let svg = Document::parse(&text).unwrap();
    let number = |node: &roxmltree::Node<'_, '_>, key: &str| -> f64 {
        node.attribute(key)
            .unwrap()
            .trim_end_matches("pt")
            .parse()
            .unwrap()
    };
    let root = svg.root_element();
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    let texts = svg.descendants().filter(|node| node.has_tag_name("text"));
    let mut count = 0;
    for node in texts {
        let size = number(&node, "font-size");
        let (x, y) = (number(&node, "x"), number(&node, "y"));
        let place = format!("{}: `{}`", file.display(), node.text().unwrap());
        assert!(size >= least, "{place}: {size} pt");
        let end = x + number(&node, "textLength");
        assert!(
            x >= -0.01 && end <= width + 0.01,
            "{place}: {x} to {end} of {width}"
        );
        let (top, bottom) = (y - 0.76 * size, y + 0.24 * size);
        assert!(
            top >= -0.01 && bottom <= height + 0.01,
            "{place}: {top} to {bottom} of {height}"
        );
        count += 1;
    }
    assert!(count > 3, "{}: {count} texts", file.display());
}

#[test]
fn every_figure_is_legible_and_whole_at_every_size() {
    let scratch = folders();
    let here = scratch.path();
    for look in [
        "",
        "--style width=170mm",
        "--style width=60mm,font-size=6pt",
        "--style width=4in,font-size=12pt,language=pt",
    ] {
        let least = if look.contains("12pt") { 12.0 } else { 6.0 };
        for (folder, known) in [
            ("short", &RUN[..]),
            ("long", &RUN),
            ("grid", &["heat", "lines"]),
            ("many", &["lines"]),
        ] {
            let files = draw(here, folder, look);
            assert_eq!(names(&files), known, "{folder}");
            for file in files {
                check_texts(&file, least);
            }
        }
    }
}

#[test]
fn committed_figures_are_legible_and_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let files = [root.clone(), root.join("sweeps")]
        .into_iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(folder).unwrap();
            entries
                .map(|entry| entry.unwrap().path())
                .collect::<Vec<_>>()
        });
    // The chart of the speed is drawn by its own benchmark.
    let is_ours = |file: &PathBuf| {
        file.extension().is_some_and(|end| end == "svg") && !file.ends_with("scale.svg")
    };
    let files: Vec<PathBuf> = files.filter(is_ours).collect();
    assert!(files.len() >= 18, "{}", files.len());
    for file in files {
        check_texts(&file, 8.0);
    }
}

#[test]
fn the_same_figure_has_the_same_bytes_each_time() {
    let scratch = folders();
    let here = scratch.path();
    for folder in ["short", "long", "grid", "many"] {
        let read = |files: Vec<PathBuf>| -> Vec<Vec<u8>> {
            files.iter().map(|file| fs::read(file).unwrap()).collect()
        };
        let first = read(draw(here, folder, ""));
        assert!(first.iter().all(|bytes| bytes.starts_with(b"<svg ")));
        assert!(first == read(draw(here, folder, "")), "{folder}");
    }
}

#[test]
fn a_paper_has_its_figures() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    done(here, "reproduce sw-dynamic --figure all --quiet");
    done(
        here,
        "reproduce sw-dynamic --figure times --style language=pt --quiet",
    );
    for file in ["errors.svg", "gains.svg", "times.svg"] {
        assert!(here.join(format!("sw-dynamic-{file}")).is_file(), "{file}");
    }
    let svg = fs::read_to_string(here.join("sw-dynamic-times.svg")).unwrap();
    assert!(
        svg.contains("tempo publicado [s]") && svg.contains("cenário"),
        "{svg}"
    );
    let list = done(here, "reproduce sw-dynamic --figure list --quiet");
    says(&list, "gains   the gain of scenario iii over i");
    assert!(!list.contains("overheads"), "{list}");
    let errors = refused(here, "reproduce sw-dynamic --figure overheads --quiet");
    says(&errors, "unknown figure `overheads`");
    says(&errors, "known figures: all, errors, gains, times");
}

#[test]
fn an_unknown_figure_is_refused_with_the_known_ones() {
    let scratch = folders();
    let here = scratch.path();
    for (arguments, what) in [
        ("report short --figure gant", "did you mean `gantt`?"),
        (
            "report grid --figure gantt",
            "known figures: all, heat, lines",
        ),
        (
            "report short --figure all --style width=85",
            "such as 85mm, 8.5cm or 3.35in",
        ),
        ("report short --figure all --style width=2m", "such as 85mm"),
        (
            "report short --figure all --style width=9in,font-size=3pt",
            "6 to 24 pt",
        ),
        (
            "report short --figure all --style width=900mm",
            "40 to 420 mm",
        ),
        ("report short --figure all --style language=de", "`en`"),
        (
            "report short --figure all --width 85mm",
            "write `--style width=",
        ),
        ("report short --figure gantt --out a.pdf", "rsvg-convert"),
        (
            "reproduce lu --figure times --format csv",
            "only for tables",
        ),
        (
            "reproduce one-reading --figure times",
            "`--figure` cannot be used with `one-reading`",
        ),
        (
            "report short --figure list --out a.svg",
            "this flag is about the drawing, but `--figure list` only prints the names of the figures",
        ),
    ] {
        says(&refused(here, arguments), what);
    }
    done(
        here,
        "run --app lu --n 20 --procs 4 --grid 2x2 --quiet --out bare",
    );
    says(&refused(here, "report bare --figure gantt"), "--processes");
    let first = |folder: &str| -> Vec<String> {
        let list = done(here, &format!("report {folder} --figure list"));
        let names = list.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect()
    };
    assert_eq!(first("short")[..4], RUN);
    assert_eq!(first("bare")[..3], RUN[1..]);
    assert_eq!(first("grid"), ["lines", "heat", "all"]);
    assert_eq!(names(&draw(here, "bare", "")), &RUN[1..]);
}
