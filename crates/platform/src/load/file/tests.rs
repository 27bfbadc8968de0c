//! Tests of measured loads: formats, times, and errors.

use super::*;
use migsim_base::random::StreamPurpose;

fn config(name: &str) -> FileConfig {
    serde_json::from_value(serde_json::json!({ "file": name })).unwrap()
}

fn only(config: &FileConfig, text: &str) -> Result<Profile, Problem> {
    let mut profiles = config.read_load(text)?.profiles;
    assert_eq!(profiles.len(), 1);
    Ok(profiles.pop_first().unwrap().1)
}

fn loads(name: &str, text: &str) -> Result<Vec<(f64, f64)>, Problem> {
    Ok(only(&config(name), text)?.steps().take(5).collect())
}

#[test]
fn csv_holds_loads_and_a_simgrid_profile_what_is_left() {
    let csv = "date_s,load\n# measured\n0, 0.25\r\n10,1\n";
    assert_eq!(loads("a.csv", csv).unwrap(), [(0.0, 0.25), (10.0, 1.0)]);
    let simgrid = "PERIODICITY 20\n0 0.75\n10 0.5\n";
    let expected = [
        (0.0, 0.25),
        (10.0, 0.5),
        (20.0, 0.25),
        (30.0, 0.5),
        (40.0, 0.25),
    ];
    assert_eq!(loads("a.trace", simgrid).unwrap(), expected);
}

#[test]
fn reservations_above_the_largest_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let note = |name: &str, text: &str, most: Option<f64>, is_reserved: bool| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let file = path.to_str().unwrap();
        let load = FileConfig {
            most,
            ..config(file)
        }
        .load()
        .unwrap();
        load.notes(is_reserved)
    };
    let csv = "0,0.99\n10,1\n20,0.995\n";
    assert_eq!(note("a.csv", csv, None, true)[0].0, 2);
    assert_eq!(note("a.csv", csv, Some(0.9), true), []);
    assert_eq!(note("a.csv", "0,0.99\n", None, true), []);
    // Other work that keeps all cores busy shares them.
    assert_eq!(note("a.csv", csv, None, false), []);
    // A profile of SimGrid has the available share: 0 is a load of 1.
    assert_eq!(note("a.prof", "0 1\n5 0\n", None, true)[0].0, 1);
}

#[test]
fn a_load_average_counts_cores_and_once_was_a_reservation_for_one_more() {
    let loads = |values| {
        let config = FileConfig {
            values: Some(values),
            repeat: Some(Seconds::of(4.0)),
            ..config("a.csv")
        };
        let profile = only(&config, "0,1\n2,3\n").unwrap();
        profile.steps().take(3).collect::<Vec<_>>()
    };
    let cores = loads(FileValues::LoadAverage);
    assert_eq!(cores, [(0.0, 1.0), (2.0, 3.0), (4.0, 1.0)]);
    let reserved = loads(FileValues::ReservedLoadAverage);
    assert_eq!(reserved, [(0.0, 0.5), (2.0, 0.75), (4.0, 0.5)]);
}

fn with(keys: serde_json::Value, text: &str) -> Result<Vec<(f64, f64)>, Problem> {
    let config: FileConfig = serde_json::from_value(keys).unwrap();
    config.check_parameters().map_err(|error| match error {
        Error::Input(mut problems) => problems.remove(0),
        other => panic!("{other}"),
    })?;
    Ok(only(&config, text)?.steps().take(5).collect())
}

#[test]
fn a_value_a_line_in_percent_becomes_a_load() {
    let keys = serde_json::json!({ "file": "planetlab", "period": "5min", "scale": "percent" });
    let loads = with(keys.clone(), "24\n0\n100\n").unwrap();
    assert_eq!(loads, [(0.0, 0.24), (300.0, 0.0), (600.0, 1.0)]);
    let problem = with(keys, "24\n0,5\n").unwrap_err();
    assert_eq!(problem.location.line_column, Some((2, 1)), "{problem}");
    // Without `period` the hint names it, in either format.
    for name in ["planetlab", "planetlab.csv"] {
        let problem = loads_of_bare(name);
        let hint = problem.hint.unwrap_or_default();
        assert!(hint.contains("`period=5min,scale=percent`"), "{hint}");
    }
    let keys = serde_json::json!({ "file": "a", "period": "5 s", "format": "simgrid" });
    assert!(with(keys, "1\n").is_err());
}

fn loads_of_bare(name: &str) -> Problem {
    loads(name, "24\n23\n").unwrap_err()
}

#[test]
fn times_may_begin_with_the_first_and_be_those_of_a_clock() {
    let keys = serde_json::json!({ "file": "a.csv", "from": "first" });
    let loads = with(keys.clone(), "t,u\n1700000000,0.5\n1700000005,0.25\n").unwrap();
    assert_eq!(loads, [(0.0, 0.5), (5.0, 0.25)]);
    let loads = with(keys, "12:00:05,0.5\n12:01:06.5,0.25\n").unwrap();
    assert_eq!(loads, [(0.0, 0.5), (61.5, 0.25)]);
}

#[test]
fn a_shifted_trace_begins_somewhere_and_goes_on_as_it_does() {
    let profile = Profile::new(vec![(1.0, 0.1), (3.0, 0.2), (4.0, 0.3)], Some(10.0)).unwrap();
    let measured = MeasuredLoad {
        trace_path: String::new(),
        file_sha256: String::new(),
        profiles: BTreeMap::from([(String::new(), profile.clone())]),
        has_random_start: true,
        values: Values::Utilisation,
        above_most_count: 0,
        gap_count: 0,
    };
    for seed in 0..50 {
        let random = Stream::for_object(seed, StreamPurpose::HostLoad, "h0");
        let begin = 10.0 * (1.0 + random.clone().draw_from_zero_to_one());
        let steps: Vec<_> = measured.steps(random).take(8).collect();
        assert_eq!(steps[0].0, 0.0);
        let later = profile.steps().filter(|step| step.0 > begin);
        for (found, expected) in steps[1..].iter().zip(later) {
            assert_eq!(*found, (expected.0 - begin, expected.1));
        }
    }
}

#[test]
fn built_in_loads_are_read_by_name() {
    let load = |name: &str| {
        let keys = serde_json::json!({
            "file": name, "period": "1 s", "values": "reserved-load-average", "repeat": "1 h", "shift": true
        });
        serde_json::from_value::<FileConfig>(keys).unwrap().load()
    };
    for name in ["built-in:build-0", "built-in:build-1"] {
        let steps = load(name)
            .unwrap()
            .steps(Stream::for_object(1, StreamPurpose::HostLoad, "h0"));
        // At most one other program runs on a busy core, which leaves half of it.
        let mut hour = steps.take_while(|step| step.0 < 3600.0);
        assert!(hour.all(|step| step.1 <= 0.5));
    }
    let unknown = load("built-in:build-7").unwrap_err().to_string();
    assert!(
        unknown.contains("known built-in loads: build-0, build-1"),
        "{unknown}"
    );
}

#[test]
fn each_example_of_the_guide_is_half_a_load_and_then_a_quarter() {
    let page = include_str!("../../../../../docs/guide/load.md");
    let rows = page.lines().filter_map(|line| {
        let (line, flag) = line.strip_suffix("` |")?.rsplit_once("`--load ")?;
        let example = line.trim_end_matches(" | ").rsplit_once(" | ")?.1;
        Some((flag, example.trim_matches('`').replace("`<br>`", "\n")))
    });
    let mut count = 0;
    for (flag, text) in rows {
        let mut keys = super::super::from_flag(&[flag.to_owned()]).unwrap();
        keys.as_object_mut().unwrap().remove("kind");
        let config: FileConfig = serde_json::from_value(keys).unwrap();
        config.check_parameters().unwrap();
        let profiles = config.read_load(&text).unwrap().profiles;
        let name = if text.contains("a-0,") || text.contains("a-0;") {
            "a-0"
        } else {
            ""
        };
        let steps = profiles[name].steps_without_repetition();
        let [(0.0, half), (300.0, quarter)] = steps[..] else {
            panic!("{text}: {steps:?}");
        };
        assert_eq!(half, 0.5, "{text}");
        assert!((quarter - 0.25).abs() < 1e-4, "{text}: {quarter}");
        count += 1;
    }
    assert_eq!(count, 23);
}

#[test]
fn tables_whose_columns_are_not_clear_are_refused() {
    let error = |text: &str| loads("a.csv", text).unwrap_err();
    let unclear = error("host,time,user,system\na-0,0,0.5,0.1\n");
    let hint = unclear.hint.unwrap_or_default();
    assert!(
        hint.contains("`column=system`; columns: user, system;"),
        "{hint}"
    );
    assert!(
        error("28.11.2026 12:00,0.5\n28.11.2026 12:05,0.5\n")
            .message
            .contains("28.11.2026")
    );
    for (heading, meaning) in [
        ("% idle", "idle"),
        ("load1", "load-average"),
        ("Load Average", "load-average"),
    ] {
        let hint = error(&format!("time,{heading}\n0,0.5\n")).hint.unwrap();
        assert!(
            hint.starts_with(&format!("add `values={meaning}`;")),
            "{hint}"
        );
    }
    // Half a day back is the next day, less is an error.
    assert_eq!(
        loads("a.csv", "13:00:00,0.5\n00:59:59,0\n").unwrap()[1].0,
        89_999.0
    );
    assert!(
        error("12:59:59,0.5\n01:00:00,0\n")
            .message
            .contains("is not later")
    );
}

/// Reads the key `load`.
fn placed(key: serde_json::Value) -> crate::load::Loads {
    let key = serde_json::from_value(key).unwrap();
    crate::load::Loads::read(&crate::load::standard(), Some(&key)).unwrap()
}

/// Returns the first numbers of busy cores of a host.
fn busy_cores(platform: &crate::Platform, name: &str) -> Vec<(f64, f64)> {
    let host = &platform.hosts[platform.host_named(name).unwrap().index()];
    host.busy_cores_over_time().unwrap().take(5).collect()
}

#[test]
fn a_table_loads_each_host_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let put = |text: &str, on: &str| {
        std::fs::write(&path, text).unwrap();
        let mut platform = crate::open("ufrgs").unwrap().platform;
        let key = serde_json::json!({ "kind": "file", "file": path.to_str(), "on": on });
        placed(key).put_on(&mut platform, 1).map(|()| platform)
    };
    let table = "time,Aquario-1,Labtec-2\n0,0.5,0.25\n";
    let platform = put(table, "hosts").unwrap();
    assert_eq!(busy_cores(&platform, "Aquario-1"), [(0.0, 0.5)]);
    assert_eq!(busy_cores(&platform, "Labtec-2"), [(0.0, 0.25)]);
    let loaded = |platform: &crate::Platform| {
        let hosts = platform.hosts.iter();
        hosts.filter(|host| host.speed_varies()).count()
    };
    assert_eq!(loaded(&platform), 2);
    assert_eq!(loaded(&put(table, "Labtec").unwrap()), 1);
    let error = put("time,Aquario-1,cpu\n0,0.5,0.25\n", "hosts").unwrap_err();
    assert!(
        error.to_string().contains("a load of `cpu`, which is no"),
        "{error}"
    );
}

#[test]
fn a_scaled_load_is_still_the_load_of_each_host() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "time,Aquario-1,Labtec-2\n0,0,0.25\n5,0.5,\n").unwrap();
    let mut platform = crate::open("ufrgs").unwrap().platform;
    let whole = placed(serde_json::json!({ "kind": "file", "file": path.to_str() }));
    let half = whole.clone().scaled(0.5);
    half.put_on(&mut platform, 1).unwrap();
    assert_eq!(
        busy_cores(&platform, "Aquario-1"),
        [(0.0, 0.0), (5.0, 0.25)]
    );
    assert_eq!(busy_cores(&platform, "Labtec-2")[0], (0.0, 0.125));
    assert_eq!(half.user_notes(), whole.user_notes());
    assert!(half.trace_files().eq(whole.trace_files()) && half.trace_files().count() == 1);
    assert!(half.first_positive_times().eq(whole.first_positive_times()));
}

#[test]
fn notes_about_several_files_are_one_note() {
    let folder = tempfile::tempdir().unwrap();
    let file = |(name, text): (&str, &str)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        serde_json::json!({ "kind": "file", "file": path.to_str(), "values": "reserved" })
    };
    let files = [
        ("a.csv", "0,1\n1,\n"),
        ("b.csv", "0,1\n"),
        ("c.csv", "0,1\n"),
    ];
    let notes = placed(files.map(file).to_vec().into()).user_notes();
    assert!(
        notes[0].ends_with(
            "(3 values, in 3 files, such as `FILE`)"
                .replace("FILE", folder.path().join("a.csv").to_str().unwrap())
                .as_str()
        ),
        "{notes:?}"
    );
    assert!(
        notes[1].contains("missing") && notes[1].contains("(1 value, in `"),
        "{notes:?}"
    );
    assert_eq!(notes.len(), 2);
}
