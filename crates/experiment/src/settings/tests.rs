//! Settings as a list: the setting that wins, the settings that are replaced, and the origins of values.

use super::*;
use serde_json::json;

fn layers() -> Layers {
    let mut layers = Layers::default();
    layers.push_file(
        Document::parse(
            "base.json",
            "{\"a\": {\"x\": 1, \"y\": 2},\n \"list\": [1]}",
        )
        .unwrap(),
    );
    layers.push_file(
        Document::parse("mine.json", "{\"a\": {\n  \"y\": 3}, \"list\": [4, 5]}").unwrap(),
    );
    let flag = KeySetting {
        key: "a.z".into(),
        source_text: "--z 6".into(),
        value: json!(6),
    };
    layers.push_flags(vec![flag]);
    layers
}

#[test]
fn later_layers_win_key_by_key() {
    assert_eq!(
        layers().merged_settings().unwrap(),
        json!({"a": {"x": 1, "y": 3, "z": 6}, "list": [4, 5]})
    );
    assert_eq!(layers().get("a.y"), Some(json!(3)));
}

#[test]
fn an_object_of_a_flag_replaces_the_whole_object_below_it() {
    let mut layers = layers();
    let flags = [
        ("a", json!({ "x": 7 })),
        ("list[1]", json!(6)),
        ("a.z", json!(8)),
    ];
    let flags = flags.map(|(key, value)| KeySetting {
        key: key.into(),
        source_text: format!("--set {key}"),
        value,
    });
    layers.push_flags(flags.to_vec());
    let merged = json!({"a": {"x": 7, "z": 8}, "list": [4, 6]});
    assert_eq!(layers.merged_settings().unwrap(), merged);
    for key in ["a.x", "a.y", "a.z", "list[1]", "b"] {
        let expected = value_at_path(&merged, key).cloned();
        assert_eq!(layers.get(key), expected, "{key}");
    }
}

#[test]
fn the_name_of_a_trigger_and_its_options_come_in_any_order() {
    let merged = |flags: [(&str, Value); 2]| {
        let mut layers = Layers::default();
        let flag = |(key, value): (&str, Value)| KeySetting {
            key: key.into(),
            source_text: format!("--set {key}"),
            value,
        };
        layers.push_flags(flags.map(flag).to_vec());
        layers.merged_settings().unwrap()
    };
    let (name, option) = ("policy.trigger", "policy.trigger.every.supersteps");
    let expected = json!({ "name": "every", "every": { "supersteps": 7 } });
    let first = merged([(name, json!("every")), (option, json!(7))]);
    assert_eq!(first["policy"]["trigger"], expected);
    let last = merged([(option, json!(7)), (name, json!("every"))]);
    assert_eq!(last["policy"]["trigger"], expected);
}

#[test]
fn an_error_about_a_key_in_a_list_shows_its_form() {
    let hint = |key: &str| {
        let mut layers = layers();
        let flag = KeySetting {
            key: key.into(),
            source_text: format!("--set {key}=1"),
            value: json!(1),
        };
        layers.push_flags(vec![flag]);
        layers.merged_settings().unwrap_err().to_string()
    };
    let written =
        "`list` is a list here: name one of its entries, `list[0].step` to `list[1].step`";
    assert!(hint("list.step").contains(written));
    assert!(hint("list[2].step").contains(written));
    assert!(!hint("list[0].step").contains("hint"));
}

#[test]
fn a_flag_for_a_key_without_letters_is_refused() {
    for key in ["", ".", ".migbsp.x", "a..x", "a."] {
        let mut layers = layers();
        let (flag, value) = (format!("--set {key}=1"), json!(1));
        let key = key.into();
        layers.push_flags(vec![KeySetting {
            key,
            source_text: flag,
            value,
        }]);
        let error = layers.merged_settings().unwrap_err().to_string();
        assert!(error.contains("  --> --set"), "{error}");
    }
}

#[test]
fn a_problem_points_at_the_layer_that_caused_it() {
    let at = |key: &str| {
        let Error::Input(problems) =
            layers().add_locations_to_problems(Problem::new("wrong").key(key).into())
        else {
            unreachable!()
        };
        (
            problems[0].location.source.clone().unwrap(),
            problems[0].location.line_column,
        )
    };
    assert_eq!(at("a.x"), ("base.json".into(), Some((1, 13))));
    assert_eq!(at("a.y"), ("mine.json".into(), Some((2, 8))));
    assert_eq!(at("a.z"), ("--z 6".into(), None));
    assert_eq!(at("list[1]"), ("mine.json".into(), Some((2, 24))));
}

#[test]
fn the_origin_of_a_value_is_that_of_the_setting_that_gives_or_replaces_it() {
    let text = r#"{
        "network": { "model": "lv08", "latency_factor": 2 },
        "policy": { "migbsp": { "x": 1 } },
        "origins": { "network.latency_factor": "fitted: a", "policy.migbsp.x": "stated: b" }
    }"#;
    let mut layers = Layers::default();
    layers.push_file(Document::parse("paper.json", text).unwrap());
    let text = |text: &str| Some((text.to_owned(), true));
    let given = |source: &str| Some((format!("stated: given by {source}"), false));
    assert_eq!(
        layers.origin_and_is_from_file("network.latency_factor"),
        text("fitted: a")
    );
    assert_eq!(
        layers.origin_and_is_from_file("policy.migbsp.x"),
        text("stated: b")
    );
    assert_eq!(
        layers.origin_and_is_from_file("network.model"),
        given("paper.json")
    );
    assert_eq!(layers.origin_and_is_from_file("seed"), None);
    // The name of a network sets its constants; an empty object sets defaults.
    let flags = [("network.model", json!("cm02")), ("policy", json!({}))];
    layers = Layers::join_with_library(&[&layers, &Layers::from_pairs(flags)], None);
    let of_flags = given("command line");
    assert_eq!(
        layers.origin_and_is_from_file("network.latency_factor"),
        of_flags
    );
    assert_eq!(layers.origin_and_is_from_file("policy.migbsp.x"), None);
    // The text of an origin counts wherever its source also gives the value.
    let mut flags = vec![("origins.seed", json!("stated: c")), ("seed", json!(9))];
    assert_eq!(
        Layers::from_pairs(flags.clone()).origin_and_is_from_file("seed"),
        text("stated: c")
    );
    flags.reverse();
    assert_eq!(
        Layers::from_pairs(flags).origin_and_is_from_file("seed"),
        text("stated: c")
    );
}

#[test]
fn constants_of_a_library_stay_beside_another_network() {
    let mut given = Layers::default();
    let file = r#"{ "library": "mine", "network": { "weights": 1 } }"#;
    given.push_file(Document::parse("given.json", file).unwrap());
    let flag = |(key, value): (&str, Value)| KeySetting {
        key: key.into(),
        source_text: key.into(),
        value,
    };
    let settings = [
        ("network.model", json!("lv08")),
        ("network.overhead", json!(3)),
    ];
    let settings = settings.map(flag);
    let below = Layers::from_pairs([("network.overhead", json!(2)), ("network.packet", json!(9))]);
    let join = |given: &Layers| {
        Layers::join_with_library(
            &[&below, given],
            Some(&("library".to_owned(), &settings[..])),
        )
    };
    let network = |given: &Layers| join(given).merged_settings().unwrap()["network"].take();
    let expected = json!({ "model": "lv08", "overhead": 3, "weights": 1 });
    assert_eq!(network(&given), expected);
    given.push_flags(vec![flag(("network.model", json!("cm02")))]);
    assert_eq!(network(&given), json!({ "model": "cm02", "overhead": 3 }));
    assert_eq!(
        join(&given).source_and_is_file("network.overhead"),
        Some(("library", false))
    );
    given.push_flags(vec![flag(("network", json!({})))]);
    assert_eq!(network(&given), json!({}));
    assert_eq!(join(&given).source_and_is_file("network.overhead"), None);
}
