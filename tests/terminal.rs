//! The command at a terminal: shell completion, lists of scenarios, quiet JSON, suggestions for misspelt names, columns as documented.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::{command, done, json, keys, lacks, read, refused, said};

/// The root of the repository, where the tests run.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn printed(line: &str) -> String {
    done(Path::new(HERE), line)
}

/// Returns the completions of bash for the last of `words`.
fn completed(words: &[&str]) -> Vec<String> {
    let script = printed("completions bash");
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    // Call it as bash does: with the command, the current word, and the previous one.
    let call = format!(
        "COMP_WORDS=({}); COMP_CWORD={}; COMPREPLY=(); _migsim migsim '{}' '{}' 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &format!("{script}\n{call}")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_names_and_files() {
    if lacks("bash") {
        return;
    }
    assert_eq!(completed(&["migsim", "run", "--app", "l"]), ["lbm", "lu"]);
    let policies = completed(&["migsim", "sweep", "--policy", "mig"]);
    assert!(policies.starts_with(&["migbsp", "migbsp-2", "migbsp-2007"].map(String::from)));
    assert_eq!(completed(&["migsim", "run", "--network", "cm"]), ["cm02"]);
    assert_eq!(completed(&["migsim", "run", "--load", "on"]), ["on-off"]);
    assert_eq!(completed(&["migsim", "reproduce", "wsp"]), ["wsppd2007"]);
    assert_eq!(
        completed(&["migsim", "run", "lbm-"]),
        ["lbm-a2", "lbm-b1", "lbm-b2"]
    );
    let mut platforms = completed(&["migsim", "run", "--platform", "ufrgs"]);
    platforms.sort();
    assert_eq!(platforms, ["ufrgs", "ufrgs-as-printed", "ufrgs-sw"]);
    // A file may also be a platform.
    let files = completed(&["migsim", "run", "--platform", "platforms/lb"]);
    assert_eq!(files, ["platforms/lbm.json"]);
    assert_eq!(completed(&["migsim", "rep"]), ["report", "reproduce"]);
}

#[test]
fn zsh_and_fish_offer_names_beside_files() {
    let script = |shell: &str| printed(&format!("completions {shell}"));
    let zsh = script("zsh");
    assert!(
        zsh.contains("{compadd -- authors-2015 grid5000 lbm sw-dynamic")
            && zsh.contains("ufrgs-sw; _files}")
    );
    assert!(zsh.contains(":(never migbsp migbsp-2 migbsp-2007"));
    let fish = script("fish");
    // The flag of `reproduce` accepts only files.
    let platform = |line: &&str| line.contains("-l platform ") && line.contains(" -a ");
    let line = fish.lines().find(platform).unwrap();
    assert!(
        line.contains(" -r -a \"authors-2015") && !line.contains(" -f "),
        "{line}"
    );
    for (place, names) in [
        (
            "run",
            "authors-cpu authors-decrescent authors-roundrobin lbm lbm-a2",
        ),
        ("list", "apps experiments"),
        (
            "platform; and __fish_seen_subcommand_from show",
            "authors-2015 grid5000 lbm",
        ),
    ] {
        let start = format!("using_subcommand {place}\" -a \"{names} ");
        assert!(fish.contains(&start), "{start}");
    }
    // Each argument that accepts a platform or an experiment was found, apart from the files of `reproduce`.
    let bash = script("bash");
    assert_eq!(
        bash.matches("compgen -f -W $'authors-2015\\ngrid5000\\nlbm\\nsw-dynamic\\n")
            .count(),
        bash.matches("--platform)").count() - 1
    );
}

const LU: &str = "run --app lu --n 60 --procs 6";

#[test]
fn quiet_leaves_the_form_that_was_asked_for() {
    let run = |more: &str| {
        let output = command(Path::new(HERE), &format!("{LU} {more}"));
        assert!(output.stderr.is_empty(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("--quiet"), "");
    let summary: Value = serde_json::from_str(&run("--quiet --json")).unwrap();
    assert_eq!(summary["scenarios"].as_array().unwrap().len(), 3);
    assert!(run("-q --format csv").starts_with("scenario,makespan_s,"));
}

#[test]
fn any_of_the_scenarios_can_be_run() {
    let scratch = tempfile::tempdir().unwrap();
    for (given, expected) in [
        ("i,iii", "i iii"),
        ("iii,i,i", "i iii"),
        ("i --scenario ii", "i ii"),
        ("iii,all", "i ii iii"),
    ] {
        let run = format!("{LU} --scenario {given} --out run --force");
        let summary = json(scratch.path(), &run);
        let scenarios = summary["scenarios"].as_array().unwrap();
        let names: Vec<&str> = scenarios
            .iter()
            .map(|one| one["scenario"].as_str().unwrap())
            .collect();
        assert_eq!(names.join(" "), expected);
        // The ledger compares with scenario i.
        assert!(scenarios[1]["ledger"]["difference_s"].is_number());
        done(scratch.path(), "report run");
    }
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    for (typed, meant) in [
        ("rnu", "run"),
        ("run --app LU", "lu"),
        ("run --app lux", "lu"),
        ("run lbm-c1", "lbm-b1"),
        ("run --platform urfgs --app lu", "ufrgs"),
        ("run --app lu --policy migbps", "migbsp"),
        ("run --app lu --network cm2", "cm02"),
        ("run --app lu --set policy.migbsp.detla=1", "delta"),
        ("run --app lu --set polcy.name=never", "policy"),
        ("run --app lu --set costs.move.order=paralel", "parallel"),
        ("run --app lu --proc 4", "--procs"),
        ("run --app lu --format jsn", "json"),
        ("list policy", "policies"),
        ("list platfroms", "platforms"),
        ("reproduce sw-iregular", "sw-irregular"),
        ("man swep", "sweep"),
    ] {
        let errors = refused(Path::new(HERE), typed);
        let question = format!("did you mean `{meant}`?");
        assert!(errors.contains(&question), "{typed:?}: {errors}");
    }
    // A name that is not similar is not suggested, and a suggestion replaces a long list.
    for typed in ["run --verbose", "sweep --verbose", "run --app q"] {
        let errors = refused(Path::new(HERE), typed);
        assert!(!errors.contains("did you mean"), "{typed:?}: {errors}");
    }
    let misspelt = "run --app lu --set policy.migbsp.detla=1";
    let errors = refused(Path::new(HERE), misspelt);
    assert!(
        errors.contains(
            "keys are known; list all keys, with their units and ranges: `migsim schema experiment`"
        ),
        "{errors}"
    );
}

#[test]
fn an_error_of_a_missing_value_lists_the_choices() {
    for (typed, choices) in [
        (
            "list",
            "apps, experiments, libraries, loads, papers, policies, platforms, networks",
        ),
        ("schema", "platform, experiment, suite, sweep"),
        ("completions", "bash, elvish, fish, powershell, zsh"),
    ] {
        let errors = refused(Path::new(HERE), typed);
        assert!(
            errors.contains("is missing") && errors.contains(choices),
            "{errors}"
        );
    }
}

/// Lists the columns of a file of a run folder as the book gives them: all words in backticks after `columns` or `keys`.
fn documented(page: &str, file: &str) -> Vec<String> {
    let row = page
        .lines()
        .find(|line| line.starts_with(&format!("| `{file}` |")))
        .unwrap();
    let start = ["columns `", "Columns `", "keys `", "Keys `"]
        .iter()
        .find_map(|start| row.find(start))
        .unwrap();
    let columns = &row[start..];
    columns
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_columns_of_a_run_folder_are_those_that_are_documented() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("run");
    let lu = "run --app lu --n 1000 --procs 25 --quiet --processes --out run";
    done(scratch.path(), lu);
    let page = fs::read_to_string("docs/reference/files.md").unwrap();
    for file in [
        "supersteps.csv",
        "migrations.csv",
        "processes.csv",
        "links.csv",
    ] {
        let text = read(&folder, file);
        let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        assert_eq!(documented(&page, file), head, "{file}");
    }
    let calls = read(&folder, "calls.jsonl");
    let calls = calls
        .lines()
        .map(|call| serde_json::from_str(call).unwrap());
    let call: Value = { calls }
        .find(|call: &Value| call["candidates"][0].is_object())
        .unwrap();
    let documented = documented(&page, "calls.jsonl");
    let (of_call, of_candidate) = (keys(&call), keys(&call["candidates"][0]));
    assert_eq!(documented, [of_call, of_candidate].concat());
    let manifest: Value = serde_json::from_str(&read(&folder, "run.json")).unwrap();
    assert_eq!(self::documented(&page, "run.json"), keys(&manifest));
}

/// Lists the flags in a help, in its order.
fn flags_of(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start);
    let words = lines.filter_map(|line| {
        let line = line.strip_prefix("-").map(|_| line)?;
        let mut words = line.split([' ', '=', ',', '[']);
        words.find(|word| word.starts_with("--"))
    });
    words.collect()
}

#[test]
fn short_help_fits_a_screen_and_the_whole_help_has_every_flag() {
    let help = |command: &str, flag: &str| printed(&format!("{command} {flag}"));
    let usual = "--platform --app --procs --mapping --load --policy --seed --set --out --report";
    let usual: Vec<&str> = usual.split(' ').collect();
    for flag in ["-h", "--help"] {
        let shown = help("run", flag);
        assert_eq!(flags_of(&shown)[..10], usual, "{shown}");
        assert_eq!(flags_of(&shown)[10..], ["--help-all", "--help"], "{shown}");
    }
    for command in [
        "run",
        "sweep",
        "compare",
        "tune",
        "bottlenecks",
        "explain",
        "snapshot",
        "workload show",
        "trace export",
    ] {
        let (short, all) = (help(command, "-h"), help(command, "--help-all"));
        let lines = short.lines().count();
        assert!(lines <= 30, "{command:?}: {lines} lines\n{short}");
        assert!(short.contains("--help-all"), "{short}");
        let (short, all) = (flags_of(&short), flags_of(&all));
        assert!(short.len() <= 12 && all.len() > 25, "{short:?} {all:?}");
        assert!(short.iter().all(|flag| all.contains(flag)), "{short:?}");
    }
    // Shells and the manual page contain every flag.
    let all = help("run", "--help-all");
    let bash = printed("completions bash");
    let man = printed("man run");
    for flag in flags_of(&all) {
        assert!(bash.contains(&format!("{flag} ")), "{flag}");
        assert!(man.contains(&flag.replace('-', "\\-")), "{flag}");
    }
}
