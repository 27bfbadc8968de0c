//! Names from input files are data wherever they are written: hostile names go through every writer, and strict parsers of other projects
//! check the output. Folders from another source lead no reader to files outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use roxmltree::{Document, ParsingOptions};
use serde_json::{Value, json};

use crate::support::{command, done, lacks, read, refused, said, succeeded};

/// A name with a meaning in HTML, SVG, spreadsheets, Markdown, JSON, shells, templates and file systems.
const NASTY: &str = r#"=1+1|<script>alert(1)</script>&"'`touch${IFS}pwned`$(touch${IFS}pwned);{{facts}}\%n[x](y)*/./x]]>"#;
/// A name without a special meaning.
const PLAIN: &str = "plain";

/// Writes a platform of two clusters, the second much faster, whose names begin with `name`; returns its file.
fn platform(folder: &Path, name: &str) -> String {
    let cluster = |end: &str, speed: &str| {
        json!({
            "name": format!("{name}{end}"), "hosts": 4, "speed": speed, "router": format!("{name}r{end}"),
            "link": { "bandwidth": "1 Gbps", "latency": "10 us" }
        })
    };
    let value = json!({
        "schema": "migsim-platform-1",
        "name": format!("{name} \u{202e}title"),
        "description": format!("{name}\u{1b}[2J\u{9b}31m\ndescription"),
        "clusters": [cluster("a", "1 GHz"), cluster("b", "4 GHz")],
        "links": [{
            "name": format!("{name}l"), "from": format!("{name}ra"), "to": format!("{name}rb"),
            "bandwidth": "1 Gbps", "latency": "50 us", "bandwidth_profile": format!("{name}p")
        }],
        "profiles": { format!("{name}p"): { "steps": [["0 s", "1 Gbps"], ["1000 s", "0.5 Gbps"]] } },
    });
    let file = format!("platform-{}.json", name.len());
    fs::write(folder.join(&file), value.to_string()).unwrap();
    file
}

/// Settings of a small run with migrations.
const SETTINGS: &str = "--app synthetic --procs 6 --alpha 2 --set workload.spread=0.5 --set workload.supersteps=12 --x 0.5";

/// Asserts that an output has no terminal control characters.
fn assert_harmless(output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(text.clone()).unwrap();
        let steers = |letter: char| letter != '\n' && letter.is_control();
        assert!(!text.contains(steers), "{text:?}");
    }
}

/// Asserts that a spreadsheet would compute no cell, and returns the texts without their guards.
fn texts_of_csv(text: &str) -> BTreeSet<String> {
    let mut table = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut texts = BTreeSet::new();
    for cell in table
        .records()
        .flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
    {
        if cell.parse::<f64>().is_err() {
            assert!(
                !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']),
                "{cell}"
            );
            texts.insert(cell.strip_prefix('\'').unwrap_or(&cell).to_owned());
        }
    }
    texts
}

/// The elements of a drawing with the names of their attributes.
type Shape = Vec<(String, Vec<String>)>;

/// Returns the shape of a drawing, which must not depend on texts.
fn shape(svg: &str) -> Shape {
    let document = Document::parse(svg).unwrap();
    let of = |node: roxmltree::Node<'_, '_>| {
        let attributes = node.attributes().map(|one| one.name().to_owned());
        (node.tag_name().name().to_owned(), attributes.collect())
    };
    document
        .descendants()
        .filter(roxmltree::Node::is_element)
        .map(of)
        .collect()
}

/// Returns the shapes of all drawings in a page, and the number of tags of the page outside scripts.
fn shape_of_page(page: &str) -> (usize, Vec<Shape>) {
    let drawings = page.split("<svg").skip(1).map(|rest| {
        let (svg, _) = rest.split_once("</svg>").unwrap();
        shape(&format!("<svg{svg}</svg>"))
    });
    (page.matches('<').count(), drawings.collect())
}

#[test]
fn a_run_folder_holds_nasty_names_as_data() {
    let scratch = tempfile::tempdir().unwrap();
    let run = |name: &str| {
        let file = platform(scratch.path(), name);
        let out = format!("run-{}", name.len());
        let more = "--mapping contiguous --processes --report --write-trace perfetto,paje";
        let run = format!("run {SETTINGS} {more} --platform {file} --out {out}");
        let output = succeeded(command(scratch.path(), &run));
        assert_harmless(&output);
        (scratch.path().join(out), output)
    };
    let ((nasty, printed), (plain, _)) = (run(NASTY), run(PLAIN));
    assert!(String::from_utf8_lossy(&printed.stdout).contains("=1+1|<script>"));
    // Tables.
    let host = format!("{NASTY}a-0");
    for (file, name) in [
        ("processes.csv", &host),
        ("migrations.csv", &host),
        ("links.csv", &format!("{NASTY}l")),
    ] {
        let texts = texts_of_csv(&read(&nasty, file));
        assert!(
            texts.contains(name) || file == "migrations.csv",
            "{file}: {texts:?}"
        );
        assert_eq!(
            texts.len(),
            texts_of_csv(&read(&plain, file)).len(),
            "{file}"
        );
    }
    assert!(
        read(&nasty, "migrations.csv").lines().count() > 1,
        "somebody moves"
    );
    // JSON.
    for line in read(&nasty, "calls.jsonl").lines() {
        let call: Value = serde_json::from_str(line).unwrap();
        let moves = call["migrations"].as_array().unwrap();
        assert!(
            moves
                .iter()
                .all(|one| one["from_host"].as_str().unwrap().starts_with(NASTY))
        );
    }
    let trace: Value = serde_json::from_str(&read(&nasty, "trace-iii.perfetto.json")).unwrap();
    assert!(trace.to_string().contains("script"));
    // A Paje line has as many fields as with plain names, and quotes come in pairs.
    for (line, other) in read(&nasty, "trace-iii.paje")
        .lines()
        .zip(read(&plain, "trace-iii.paje").lines())
    {
        assert_eq!(
            line.matches('"').count(),
            other.matches('"').count(),
            "{line}"
        );
        let outside = |line: &str| line.split('"').step_by(2).collect::<Vec<_>>().join("\"");
        assert_eq!(outside(line), outside(other));
    }
    // The page has the same elements, and stays the same when it is read from the folder, without guards.
    let (page, other) = (read(&nasty, "report.html"), read(&plain, "report.html"));
    assert_eq!(shape_of_page(&page), shape_of_page(&other));
    let (_, facts) = page.split_once("id=\"facts\">").unwrap();
    let facts: Value = serde_json::from_str(facts.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(facts["clusters"][0], format!("{NASTY}a"));
    let folder = nasty.display();
    done(scratch.path(), &format!("report {folder} -o again.html"));
    assert_eq!(read(scratch.path(), "again.html"), page);
    for form in ["", "--json"] {
        let explain = format!("explain {folder} --superstep 2 {form}");
        assert_harmless(&succeeded(command(scratch.path(), &explain)));
    }
}

#[test]
fn nasty_names_are_shown_as_they_are_in_every_format() {
    let scratch = tempfile::tempdir().unwrap();
    let drawing = scratch.path().join("drawing.svg");
    let show = |name: &str, form: &str| {
        let file = platform(scratch.path(), name);
        let show = format!("platform show {file} --svg drawing.svg --format {form}");
        let output = succeeded(command(scratch.path(), &show));
        assert_harmless(&output);
        (
            String::from_utf8(output.stdout).unwrap(),
            shape(&fs::read_to_string(&drawing).unwrap()),
        )
    };
    let (table, nasty) = show(NASTY, "table");
    assert!(
        table.contains(&format!("{NASTY}a"))
            && table.contains("\\u{1b}[2J\\u{9b}31m")
            && table.contains("\\u{202e}title"),
        "{table}"
    );
    assert_eq!(nasty, show(PLAIN, "table").1);
    let (tables, _) = show(NASTY, "csv");
    let tables = tables
        .split("\n\n")
        .flat_map(texts_of_csv)
        .collect::<BTreeSet<_>>();
    assert!(tables.contains(&format!("{NASTY}a")), "{tables:?}");
    let (json, _) = show(NASTY, "json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["clusters"][0]["cluster"], format!("{NASTY}a"));
    // No Markdown markup is active, and a row has as many cells as with plain names.
    let cells = |name: &str| {
        let (text, _) = show(name, "markdown");
        let plain = ["\\|", "\\<", "\\[", "\\`", "\\*"]
            .iter()
            .fold(text.replace("\\\\", ""), |text, mark| {
                text.replace(mark, "")
            });
        assert!(!plain.contains(['<', '`', '[']), "{plain}");
        plain
            .lines()
            .map(|line| line.matches('|').count())
            .filter(|count| *count > 0)
            .collect::<Vec<_>>()
    };
    assert_eq!(cells(NASTY), cells(PLAIN));
}

#[test]
fn exports_to_simgrid_stay_in_their_folder_and_read_back() {
    let scratch = tempfile::tempdir().unwrap();
    let file = platform(scratch.path(), NASTY);
    let folder = scratch.path().join("export");
    fs::create_dir(&folder).unwrap();
    let export = |from: &str, to: &str| {
        done(
            scratch.path(),
            &format!("platform export {from} --out {to}"),
        )
    };
    export(&file, "export/platform.xml");
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_type().unwrap().is_file());
    assert_eq!(
        files.collect::<Vec<_>>(),
        [true, true],
        "the platform, a profile, and no folder"
    );
    let text = read(&folder, "platform.xml");
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(&text, options).unwrap();
    // The file reads back, and is written again as the same.
    export("export/platform.xml", "export/again.xml");
    assert!(text.contains("&lt;script>"), "{text}");
    assert_eq!(text, read(&folder, "again.xml"));
}

#[test]
fn a_sweep_holds_nasty_file_names_as_data() {
    let scratch = tempfile::tempdir().unwrap();
    let file = platform(scratch.path(), PLAIN);
    let sweep = |name: &str| {
        let folder = scratch.path().join(format!("sweep-{}", name.len()));
        for end in ["1", "2"] {
            let text = read(scratch.path(), &file) + &"\n".repeat(end.parse().unwrap());
            fs::write(scratch.path().join(format!("{name}{end}")), text).unwrap();
        }
        let file = json!({
            "schema": "migsim-sweep-1",
            "experiment": {
                "workload": { "app": "synthetic", "procs": 4, "supersteps": 3 }, "scenarios": ["i"]
            },
            "vary": { "platform": [format!("{name}1"), format!("{name}2")], "workload.seed": [1, 2] },
        });
        fs::write(scratch.path().join("sweep.json"), file.to_string()).unwrap();
        let sweep = format!("sweep sweep.json --out {}", folder.display());
        assert_harmless(&succeeded(command(scratch.path(), &sweep)));
        folder
    };
    let name = "=x|<b onclick=\"y\">&'`$(touch pwned)`\u{1b}[31m\u{202e}{{facts}}\\%n\n";
    let (nasty, plain) = (sweep(name), sweep("plain"));
    for file in ["runs.csv", "summary.csv"] {
        let texts = texts_of_csv(&read(&nasty, file));
        assert!(texts.contains(&format!("{name}1")), "{file}: {texts:?}");
        assert_eq!(texts.len(), texts_of_csv(&read(&plain, file)).len());
    }
    // Long names leave less room for ticks, so that a figure may have fewer texts and lines, but of the same kinds.
    let kinds = |folder: &Path| BTreeSet::from_iter(shape(&read(folder, "lines.svg")));
    assert_eq!(kinds(&nasty), kinds(&plain));
    let marks = |folder: &Path| {
        let page = read(folder, "index.html");
        let drawings = page.split("<svg").skip(1);
        let inside = drawings.filter_map(|rest| Some(rest.split_once("</svg>")?.0));
        let in_drawings: usize = inside.map(|text| text.matches('<').count()).sum();
        page.matches('<').count() - in_drawings
    };
    assert_eq!(marks(&nasty), marks(&plain));
}

#[test]
fn shells_get_nasty_names_as_words() {
    if lacks("bash") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let bin = scratch.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let name = r#"-x $(touch pwned)`touch pwned`;touch pwned;'"'touch pwned'"&|*\ %a #{{x}}"#;
    let file = scratch.path().join(format!("{name}.json"));
    fs::copy(scratch.path().join(platform(scratch.path(), PLAIN)), &file).unwrap();
    let run = |command: &mut Command| {
        command
            .env("PATH", &path)
            .current_dir(scratch.path())
            .output()
            .unwrap()
    };
    // The command that `tune` prints is safe.
    let tune = "tune --app synthetic --procs 4 --set workload.supersteps=5 --alpha 2,4 --budget 8 --fresh 5..6 --seeds 1..2 --platform";
    let output = succeeded(run(Command::new(env!("CARGO_BIN_EXE_migsim"))
        .args(tune.split(' '))
        .arg(&file)));
    let text = String::from_utf8(output.stdout).unwrap();
    let command = text
        .lines()
        .rfind(|line| line.starts_with("migsim run"))
        .unwrap();
    symlink(env!("CARGO_BIN_EXE_migsim"), bin.join("migsim")).unwrap();
    let output = run(Command::new("bash").args(["-c", command]));
    assert!(output.status.success(), "{command}\n{}", said(&output));
    let mut names = fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(!names.any(|name| name == "pwned"));
}

#[test]
fn an_application_that_does_not_exist_is_no_part_of_a_path() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("here");
    fs::create_dir(&folder).unwrap();
    let sweep = r#"{ "schema": "migsim-sweep-1", "vary": { "seed": [1] }, "experiment": { "workload": { "app": "../../there" } } }"#;
    fs::write(folder.join("sweep.json"), sweep).unwrap();
    let output = command(&folder, "sweep sweep.json");
    assert!(!output.status.success());
    assert_eq!(
        fs::read_dir(scratch.path()).unwrap().count(),
        1,
        "{}",
        said(&output)
    );
}

/// Makes a run folder and the folder of a sweep.
fn folders(scratch: &Path) -> [PathBuf; 2] {
    let [run, sweep] = ["run", "sweep"].map(|name| scratch.join(name));
    let settings = format!("{SETTINGS} --platform ufrgs --quiet");
    done(scratch, &format!("run {settings} --out run --processes"));
    done(
        scratch,
        &format!("sweep {settings} --out sweep --d 0.2,0.4"),
    );
    [run, sweep]
}

#[test]
fn links_in_a_folder_lead_no_reader_out_of_it() {
    let scratch = tempfile::tempdir().unwrap();
    let [run, sweep] = folders(scratch.path());
    let report = |folder: &Path| command(scratch.path(), &format!("report {}", folder.display()));
    let outside = scratch.path().join("outside");
    for (folder, file) in [
        (&run, "run.json"),
        (&run, "supersteps.csv"),
        (&run, "calls.jsonl"),
        (&run, "migrations.csv"),
        (&run, "platform.json"),
        (&run, "processes.csv"),
        (&run, "links.csv"),
        (&sweep, "plan.json"),
        (&sweep, "runs.jsonl"),
    ] {
        let file = folder.join(file);
        fs::rename(&file, &outside).unwrap();
        symlink(&outside, &file).unwrap();
        let output = report(folder);
        assert_eq!(output.status.code(), Some(2), "{}", file.display());
        assert!(
            said(&output).contains("it is a symbolic link to a place outside of its folder"),
            "{}",
            said(&output)
        );
        fs::remove_file(&file).unwrap();
        fs::rename(&outside, &file).unwrap();
    }
    // Output is not written outside the folder either: neither the page nor its draft, nor rows.
    fs::write(&outside, "mine").unwrap();
    for folder in [&run, &sweep] {
        for name in ["report.html", ".report.html.tmp"] {
            let _ = fs::remove_file(folder.join(name));
            symlink(&outside, folder.join(name)).unwrap();
        }
        succeeded(report(folder));
        assert!(
            fs::symlink_metadata(folder.join("report.html"))
                .unwrap()
                .is_file()
        );
        assert!(!folder.join(".report.html.tmp").exists());
    }
    fs::remove_file(sweep.join("runs.jsonl")).unwrap();
    symlink(&outside, sweep.join("runs.jsonl")).unwrap();
    let again = format!("sweep {SETTINGS} --platform ufrgs --out sweep");
    let errors = refused(scratch.path(), &again);
    assert!(
        errors.contains(
            "the results of the runs cannot be written to this path, since it is not a regular file"
        ),
        "{errors}"
    );
    assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
}

#[test]
fn a_folder_from_another_source_does_not_control_the_terminal() {
    let scratch = tempfile::tempdir().unwrap();
    let [run, _] = folders(scratch.path());
    // A host of the run gets a name that no platform could give it.
    let text = read(&run, "calls.jsonl");
    let call: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let host = call["candidates"][0]["from_cluster"].as_str().unwrap();
    let replaced = text.replace(
        &format!("\"{host}\""),
        "\"\\u001b[2J\\u009b31m\u{9b}31m\u{202e}\"",
    );
    assert_ne!(text, replaced);
    fs::write(run.join("calls.jsonl"), replaced).unwrap();
    let superstep = call["superstep"].to_string();
    for form in ["", "--json"] {
        let explain = format!("explain run --superstep {superstep} {form}");
        let output = succeeded(command(scratch.path(), &explain));
        let shown = String::from_utf8_lossy(&output.stdout).contains("[2J");
        assert!(shown, "the name is shown");
        let text = String::from_utf8(output.stdout).unwrap();
        let controls = text.contains(|letter: char| letter != '\n' && letter.is_control());
        assert!(!controls, "{text:?}");
    }
}
