//! The command as a user meets it: transcripts of valid and invalid calls, run folders, and equal bytes in a repetition.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::{command, done, json, keys, lacks, read, refused, said};

/// Returns the files of a run folder, without the one value that differs between runs.
fn folder(path: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let lines: Vec<&str> = text
                .lines()
                .filter(|line| !line.contains("\"loop_cpu_s\""))
                .collect();
            (
                file.file_name().unwrap().to_str().unwrap().to_owned(),
                lines.join("\n"),
            )
        })
        .collect()
}

/// Asserts that two folders have equal files.
fn assert_same(first: &BTreeMap<String, String>, second: &BTreeMap<String, String>) {
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        second.keys().collect::<Vec<_>>()
    );
    for (file, text) in first {
        let differs = text.lines().zip(second[file].lines()).find(|(a, b)| a != b);
        assert!(*text == second[file], "{file} differs: {differs:.300?}");
    }
}

const LU: &str = "run --app lu --n 400 --procs 50 --quiet --processes";

fn run_into(scratch: &Path, name: &str, flags: &str) -> BTreeMap<String, String> {
    let text = done(scratch, &format!("{LU} --out {name} {flags}"));
    assert!(text.is_empty());
    folder(&scratch.join(name))
}

#[test]
fn transcripts_of_commands() {
    let cases = trycmd::TestCases::new();
    cases
        .case("tests/transcripts/*.trycmd")
        .case("README.md")
        .case("docs/*.md")
        .case("docs/*/*.md");
    cases.run();
}

#[test]
fn the_same_run_gives_the_same_bytes_with_any_number_of_threads() {
    let scratch = tempfile::tempdir().unwrap();
    let first = run_into(scratch.path(), "a", "--threads 1");
    assert_eq!(
        first.keys().collect::<Vec<_>>(),
        [
            "calls.jsonl",
            "links.csv",
            "migrations.csv",
            "platform.json",
            "processes.csv",
            "run.json",
            "supersteps.csv"
        ]
    );
    assert_same(&first, &run_into(scratch.path(), "b", "--threads 3"));
    // The run is repeated into a folder with results.
    assert_same(&first, &run_into(scratch.path(), "a", ""));
}

#[test]
fn a_manifest_holds_an_experiment_that_gives_the_same_run() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let first = run_into(here, "a", "--alpha 8 --set policy.migbsp.delta=0.4");
    let manifest: Value = serde_json::from_str(&read(here, "a/run.json")).unwrap();
    assert_eq!(manifest["experiment"]["policy"]["migbsp"]["alpha"], 8);
    assert_eq!(manifest["inputs"][0]["role"], "platform");
    assert_same(&first, &run_into(here, "b", "a/run.json"));
}

#[test]
fn every_option_of_the_policy_is_in_the_manifest() {
    let shown = shown(Path::new("."), "--app lu");
    let defaults = serde_json::to_value(migsim::policy::MigBspConfig::default()).unwrap();
    assert_eq!(keys(&shown["policy"]["migbsp"]), keys(&defaults));
}

/// Returns the settings that a run would have.
fn shown(folder: &Path, flags: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("run {flags} --show"))).unwrap()
}

#[test]
fn files_of_an_experiment_are_found_beside_it() {
    let scratch = tempfile::tempdir().unwrap();
    fs::copy("platforms/ufrgs.json", scratch.path().join("mine.json")).unwrap();
    let experiment = scratch.path().join("experiment.json");
    let text = r#"{"platform": "mine.json", "workload": {"app": "lu", "n": 50, "procs": 25}}"#;
    fs::write(&experiment, text).unwrap();
    let summary = json(Path::new("."), &format!("run {}", experiment.display()));
    assert_eq!(summary["scenarios"].as_array().unwrap().len(), 3);
}

/// Lists the JSON files of a folder of the repository, except schemas, from the root.
fn files_in(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut names: Vec<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension() == Some("json".as_ref()))
        .filter(|name| !name.contains(".schema.") && !name.starts_with("lb-")) // suites
        .collect();
    names.sort();
    assert!(names.len() > 5, "{names:?}");
    names
}

#[test]
fn every_experiment_and_every_platform_is_read_by_its_path() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // They are read from the root by path, and in their own folder, where the experiment `lbm.json` has a platform of that name.
    for folder in ["workloads", "platforms"] {
        for name in files_in(folder) {
            for (at, path) in [
                (root, format!("{folder}/{name}")),
                (&root.join(folder), name),
            ] {
                // Two of these files are for any application.
                let is_general = ["neutral.json", "one-reading.json", "common-rules.json"]
                    .iter()
                    .any(|name| path.ends_with(name));
                let line = match folder {
                    "platforms" => format!("platform show {path} --rows 1"),
                    _ if is_general => format!("run {path} --quiet --app sw --n 5"),
                    _ => format!("run {path} --quiet"),
                };
                done(at, &line);
            }
        }
    }
}

#[test]
fn a_table_of_places_is_found_beside_its_experiment_hashed_and_run_again() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts/files");
    done(here, &format!("run {files}/placed.json --quiet --out one"));
    let manifest = |folder: &str| -> Value {
        serde_json::from_str(&read(&here.join(folder), "run.json")).unwrap()
    };
    let first = manifest("one");
    let mut inputs = first["inputs"].as_array().unwrap().iter();
    let table = inputs.find(|input| input["role"] == "mapping").unwrap();
    let text = fs::read(format!("{files}/places.csv")).unwrap();
    let digest = Sha256::digest(text);
    let halves = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits: String = halves
        .map(|half| char::from_digit(half.into(), 16).unwrap())
        .collect();
    assert_eq!(table["sha256"], digits);
    assert_eq!(first["summary"]["placed"][0]["processes"], 3);
    done(here, "run one/run.json --quiet --out again");
    let hashes = |manifest: &Value| manifest["summary"]["scenarios"][2]["event_hash"].clone();
    assert_eq!(hashes(&first), hashes(&manifest("again")));
    // A rule is never taken for a file, whatever files are beside the experiment.
    fs::write(here.join("by-core"), "no rule").unwrap();
    let rule = read(Path::new(files), "placed.json").replace("places.csv", "by-core");
    fs::write(here.join("rule.json"), rule.replace("lab.json", "ufrgs")).unwrap();
    let shown = shown(here, "rule.json");
    assert_eq!(shown["mapping"], "by-core");
}

#[test]
fn an_output_that_cannot_be_written_leaves_nothing_half() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let told = refused(scratch.path(), "run --app lu --n 50 --procs 25 --out file");
    assert!(told.starts_with("error: cannot write `"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    if lacks("bash") {
        return;
    }
    let shell = format!(
        "{} list policies | true; {} run --app lu --n 50 --procs 25 | head -1",
        env!("CARGO_BIN_EXE_migsim"),
        env!("CARGO_BIN_EXE_migsim")
    );
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &shell])
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Removes from the schema `printed` the plug-ins that `published` lacks; these are published when the file is renewed.
fn of_published(printed: &str, published: &str) -> Value {
    let [mut printed, published] =
        [printed, published].map(|text| serde_json::from_str::<Value>(text).unwrap_or_default());
    for place in ["/$defs", "/properties/policy/properties"] {
        if let Some(Value::Object(all)) = printed.pointer_mut(place) {
            all.retain(|name, _| published.pointer(&format!("{place}/{name}")).is_some());
        }
    }
    let lists = [
        "/properties/policy/properties/name/enum",
        "/properties/workload/anyOf",
        "/properties/load/anyOf/1/anyOf",
        "/properties/load/anyOf/2/items/anyOf",
    ];
    for place in lists {
        let known = published.pointer(place).and_then(Value::as_array);
        let known: Vec<&Value> = known.into_iter().flatten().collect();
        let is_known = |one: &Value| match one.get("title") {
            Some(title) => known.iter().any(|other| other["title"] == *title),
            None => known.contains(&one),
        };
        if let Some(Value::Array(all)) = printed.pointer_mut(place) {
            all.retain(is_known);
        }
    }
    printed
}

#[test]
fn published_schemas_are_current() {
    for format in ["platform", "experiment", "suite", "sweep"] {
        let path = match format {
            "platform" => "platforms/platform.schema.json",
            "experiment" => "workloads/experiment.schema.json",
            "suite" => "workloads/suite.schema.json",
            _ => "workloads/sweep.schema.json",
        };
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let printed = done(Path::new("."), &format!("schema {format}"));
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, &printed).unwrap();
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        let expected = of_published(&printed, &published);
        assert!(
            published == format!("{expected:#}\n"),
            "{} is not current: run the tests once with UPDATE_SCHEMA=1",
            path.display()
        );
    }
}

#[test]
fn completions_and_manual_pages_come_from_the_definition() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = done(Path::new("."), &format!("completions {shell}"));
        assert!(text.contains("platform"), "{shell}");
    }
    let page = done(Path::new("."), "man run");
    assert!(page.contains(".TH") && page.contains("procs"), "{page}");
}

#[test]
fn a_preset_on_the_command_line_replaces_the_constants_of_a_file() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let lu = "--app lu --n 100 --procs 25 --set 'workload.bytes_per_element=8 B'";
    let settings = done(here, &format!("run {lu} --show"));
    fs::write(here.join("shown.json"), settings).unwrap();
    let makespan = |settings: &str| {
        let summary = json(here, &format!("run {settings} --network lv08 --scenario i"));
        summary["scenarios"][0]["makespan_s"].clone()
    };
    assert_eq!(makespan("shown.json"), makespan(lu));
}

#[test]
fn a_value_that_is_replaced_loses_its_origin() {
    let origins = &shown(Path::new("."), "--app lu --alpha 9")["origins"];
    let alpha = &origins["policy.migbsp.alpha"];
    assert_eq!(alpha, "stated: given by command line");
    let fixed = origins["costs.call.fixed"].as_str().unwrap();
    assert!(fixed.starts_with("fitted"));
}

#[test]
fn numbers_at_the_edge_are_errors_and_never_panics() {
    for edge in [
        "costs.call.fixed=1e308 s",
        "costs.call.per_process_superstep=1e308 s",
        "workload.cycles_per_instruction=1e308",
        "workload.instructions_per_update=1e308 instr",
        "policy.migbsp.viability_cost=1e308 s",
    ] {
        let run = format!("run --app lu --n 20 --procs 4 --set '{edge}'");
        let output = command(Path::new("."), &run);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=2)), "{edge}: {}", said(&output));
    }
}

#[test]
fn every_built_in_experiment_runs_on_every_network_model() {
    for experiment in migsim::experiment::built_in_names() {
        for preset in migsim::engine::PRESETS {
            let run = format!("run {experiment} --network {} --show", preset.name);
            done(Path::new("."), &run);
        }
    }
}

#[test]
fn exported_traces_and_platforms_give_the_same_times() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let lu = "--platform ufrgs --app lu --n 200 --procs 25";
    done(here, &format!("trace export --out lu.trace {lu}"));
    done(here, "platform export ufrgs --out ufrgs.xml");
    let makespan = |settings: &str| -> f64 {
        let summary = json(here, &format!("run --scenario i {settings}"));
        summary["scenarios"][0]["makespan_s"].as_f64().unwrap()
    };
    let again = makespan("--platform ufrgs.xml --app trace --trace lu.trace");
    let original = makespan(lu);
    // SimGrid adds latencies in another order.
    assert!((again / original - 1.0).abs() < 1e-14, "{again} {original}");
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    for command in ["run", "sweep", "tune"] {
        let run = format!("{command} --app sw --n 5 --threads 100000");
        let errors = refused(Path::new("."), &run);
        assert!(
            errors.contains("`100000` is out of range; write a number from 0 to 1024"),
            "{errors}"
        );
    }
}

#[test]
fn scenario_i_is_not_run_to_be_explained() {
    // This case is far too large to run.
    let question = "explain --superstep 4 --scenario i --app lu --n 100000 --procs 50";
    let errors = refused(Path::new("."), question);
    assert!(
        errors.starts_with("error: in scenario i (application only) no policy decides"),
        "{errors}"
    );
}

/// Returns the command without settings that forbid or force colours.
fn plain(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_migsim"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let show = ["platform", "show", "lbm"];
    let has_colour = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout.contains(&0x1b)
    };
    // Redirected output has no colours unless they are requested.
    assert!(!has_colour(&mut plain(&show)));
    assert!(has_colour(plain(&show).env("CLICOLOR_FORCE", "1")));
    assert!(!has_colour(
        plain(&show).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")
    ));
    // Forms for programs never have colours.
    for form in ["markdown", "csv", "json"] {
        let mut command = plain(&show);
        command.args(["--format", form]).env("CLICOLOR_FORCE", "1");
        assert!(!has_colour(&mut command), "{form}");
    }
}

#[test]
fn json_is_the_same_as_the_format() {
    let run = "run --app lu --n 60 --procs 6";
    let mut by_flag = json(Path::new("."), run);
    let by_format = done(Path::new("."), &format!("{run} --format json"));
    let mut by_format: Value = serde_json::from_str(&by_format).unwrap();
    for value in [&mut by_flag, &mut by_format] {
        value["simulator"]["loop_cpu_s"] = Value::Null;
    }
    assert_eq!(by_flag, by_format);
}

/// Checks that a drawing is XML, and returns its texts.
fn texts(path: &Path) -> Vec<String> {
    let svg = fs::read_to_string(path).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let nodes = document.descendants().filter(roxmltree::Node::is_text);
    nodes
        .map(|node| node.text().unwrap().trim().to_owned())
        .collect()
}

#[test]
fn platforms_and_applications_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drawing.svg");
    let draw = |line: &str| {
        done(folder.path(), &format!("{line} --svg drawing.svg"));
        texts(&file)
    };
    let platform = draw("platform show ufrgs");
    for name in [
        "Labtec",
        "Corisco",
        "Frontal",
        "ICE",
        "Aquario",
        "112 hosts, 112 cores",
        "1.6 GHz",
    ] {
        assert!(platform.contains(&name.to_owned()), "{name}: {platform:?}");
    }
    assert!(
        platform.iter().any(|text| text.contains("46.2 us, 1 Gbps")),
        "{platform:?}"
    );
    let workload = draw("workload show --app sw --n 25");
    for name in [
        "work [instr]",
        "h-relation [B]",
        "superstep 1 to 49",
        "200 kB",
    ] {
        assert!(workload.contains(&name.to_owned()), "{name}: {workload:?}");
    }
    assert!(
        fs::read_dir(folder.path()).unwrap().count() == 1,
        "no temporary file stays"
    );
}

#[test]
fn large_platforms_are_shown_in_few_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.json");
    let platform = serde_json::json!({
        "schema": "migsim-platform-1",
        "name": "large <&\">",
        "routers": ["middle"],
        "clusters": [{
            "name": "c#", "copies": 1000, "hosts": 100, "speed": "1 GHz", "router": "middle",
            "link": { "bandwidth": "1 Gbps", "latency": "10 us" }
        }],
    });
    fs::write(&file, platform.to_string()).unwrap();
    let drawing = folder.path().join("large.svg");
    let text = done(folder.path(), "platform show large.json --svg large.svg");
    assert!(text.lines().count() < 120, "{text}");
    assert!(text.contains("100000 hosts in 1000 clusters"), "{text}");
    assert!(
        text.contains("and 960 more groups of hosts") && text.contains("and 499460 more routes"),
        "{text}"
    );
    assert!(
        texts(&drawing)
            .iter()
            .any(|text| text.contains("the first 24 of them"))
    );
    assert!(fs::metadata(&drawing).unwrap().len() < 200_000);
}

/// A platform of many sites of clusters, some of them equal, and a zone in a zone in a zone.
fn sites() -> String {
    let mut text = vec!["<platform version='4'><zone id='world' routing='Full'>".to_owned()];
    for site in 0..40 {
        text.push(format!(
            "<zone id='site-{site}' routing='Full'><link id='l{site}' bandwidth='1GBps' latency='1ms'/>"
        ));
        for cluster in 0..3 {
            text.push(format!(
                "<cluster id='s{site}c{cluster}' prefix='s{site}c{cluster}-' suffix='' radical='0-{}' speed='{}Gf' bw='1GBps' lat='50us' router_id='r{site}-{cluster}'/>",
                9 + site % 7,
                1 + cluster
            ));
        }
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            text.push(format!(
                "<zoneRoute src='s{site}c{a}' dst='s{site}c{b}' gw_src='r{site}-{a}' gw_dst='r{site}-{b}'><link_ctn id='l{site}'/></zoneRoute>"
            ));
        }
        text.push("</zone>".to_owned());
    }
    for (a, b) in (0..40).flat_map(|a| (a + 1..40).map(move |b| (a, b))) {
        text.push(format!(
            "<link id='w{a}-{b}' bandwidth='{}MBps' latency='5ms'/><zoneRoute src='site-{a}' dst='site-{b}' gw_src='r{a}-0' gw_dst='r{b}-0'>\
            <link_ctn id='w{a}-{b}'/></zoneRoute>",
            100 + a
        ));
    }
    let long = "a long name ".repeat(20);
    for depth in 0..30 {
        text.push(format!("<zone id='{long}{depth}' routing='Full'>"));
    }
    text.push("<host id='alone' speed='1Gf'/>".to_owned());
    text.concat() + &"</zone>".repeat(31) + "</platform>"
}

/// Returns the position of each text of a drawing, with an upper estimate of its width: name, left, top, right, bottom.
fn places(path: &Path) -> Vec<(String, [f64; 4])> {
    let svg = fs::read_to_string(path).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let mut places = Vec::new();
    for node in document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
    {
        let number = |key: &str| node.attribute(key).unwrap().parse::<f64>().unwrap();
        let (text, size) = (node.text().unwrap().to_owned(), number("font-size"));
        let width = 0.58 * size * text.chars().count() as f64;
        let is_middle = node.attribute("text-anchor") == Some("middle");
        let left = number("x") - if is_middle { width / 2.0 } else { 0.0 };
        let base = number("y");
        places.push((
            text,
            [left, base - 0.8 * size, left + width, base + 0.2 * size],
        ));
    }
    places
}

#[test]
fn zones_are_drawn_as_boxes_and_no_text_meets_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (file, drawing) = (folder.path().join("sites.xml"), folder.path().join("a.svg"));
    fs::write(&file, sites()).unwrap();
    let files = format!("{}/tests", env!("CARGO_MANIFEST_DIR"));
    let names = [
        "transcripts/files/zones.xml",
        "data/zones/nested-three.json",
        "../platforms/two-fabrics.json",
    ];
    let names = names.map(|name| format!("{files}/{name}"));
    for name in ["sites.xml", &names[0], &names[1], &names[2]] {
        done(folder.path(), &format!("platform show {name} --svg a.svg"));
        let places = places(&drawing);
        let svg = fs::read_to_string(&drawing).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let edge = |key: &str| {
            document
                .root_element()
                .attribute(key)
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        for (at, (text, [left, top, right, bottom])) in places.iter().enumerate() {
            let is_inside =
                *left >= 0.0 && *top >= 0.0 && *right <= edge("width") && *bottom <= edge("height");
            assert!(is_inside, "{name}: `{text}`");
            for (other, [a, b, c, d]) in &places[at + 1..] {
                let meets = left < c && a < right && top < d && b < bottom;
                assert!(!meets, "{name}: `{text}` and `{other}`");
            }
        }
        assert!(edge("width") < 3000.0 && svg.len() < 100_000, "{name}");
    }
}

#[test]
fn of_zones_that_are_alike_some_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (file, drawing) = (folder.path().join("sites.xml"), folder.path().join("a.svg"));
    fs::write(&file, sites()).unwrap();
    done(folder.path(), "platform show sites.xml --svg a.svg");
    let texts = texts(&drawing);
    for text in [
        "site-0",
        "Full, 3 zones, 30 hosts",
        "s0c2",
        "Cluster, 10 hosts",
        "and 36 more",
        "5 ms, 800 Mbps",
    ] {
        assert!(texts.iter().any(|one| one == text), "{text}: {texts:?}");
    }
}
