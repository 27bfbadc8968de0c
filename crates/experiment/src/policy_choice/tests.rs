//! Tests of the choice of a policy.

use super::*;

fn chosen(keys: &Value) -> Result<Value, String> {
    let registry = Registry::standard();
    let keys = keys.as_object().unwrap();
    let chosen = PolicyChoice::from_settings(&registry, keys, &|_| true);
    let chosen = chosen.map_err(|error| error.to_string())?;
    Ok(chosen.complete_policy_settings().unwrap())
}

#[test]
fn a_trigger_is_named_in_four_ways() {
    let expected = json!({
        "name": "rotate",
        "rotate": {},
        "trigger": { "name": "every", "every": { "supersteps": 50, "offset": 0 } },
    });
    for keys in [
        json!({ "name": "rotate/every=50" }),
        json!({ "name": "rotate", "trigger": "every=50" }),
        json!({ "name": "rotate", "trigger": "every, supersteps=50" }),
        json!({ "name": "rotate", "trigger": { "every": { "supersteps": 50 } } }),
    ] {
        assert_eq!(chosen(&keys).as_ref(), Ok(&expected), "{keys}");
    }
}

#[test]
fn the_options_of_a_trigger_count_wherever_it_is_named() {
    let every = |supersteps: u32, offset: u32| json!({ "name": "every", "every": { "supersteps": supersteps, "offset": offset } });
    let options = json!({ "every": { "supersteps": 7, "offset": 2 }, "menon": {} });
    let named = |name: &str| {
        let mut options = options.clone();
        options["name"] = name.into();
        options
    };
    for (keys, expected) in [
        (
            json!({ "name": "rotate/every", "trigger": options }),
            every(7, 2),
        ),
        (
            json!({ "name": "rotate/every=9", "trigger": options }),
            every(9, 2),
        ),
        (
            json!({ "name": "rotate", "trigger": named("every") }),
            every(7, 2),
        ),
        (
            json!({ "name": "rotate", "trigger": named("every=9") }),
            every(9, 2),
        ),
    ] {
        assert_eq!(chosen(&keys).unwrap()["trigger"], expected, "{keys}");
    }
    let wrong = json!({ "name": "rotate/every", "trigger": { "every": { "offst": 2 } } });
    let error = chosen(&wrong).unwrap_err();
    assert!(error.contains("policy.trigger.every.offst"), "{error}");
}

#[test]
fn a_policy_with_a_trigger_of_its_own_keeps_it_unless_another_one_is_named() {
    let own = chosen(&json!({ "name": "never" })).unwrap();
    assert_eq!(own, json!({ "name": "never", "never": {} }));
    let other = json!({ "name": "replay", "trigger": "never,only_if_paid_back=true" });
    let other = chosen(&other).unwrap();
    assert_eq!(
        other["trigger"],
        json!({ "name": "never", "never": {}, "only_if_paid_back": true })
    );
    // The trigger of a whole comparison does not apply to the baseline, whose calls would have a cost.
    let baseline = chosen(&json!({ "name": "never", "trigger": "every=5" })).unwrap();
    assert_eq!(baseline, own);
    let priced = chosen(&json!({ "name": "never/every=5" })).unwrap();
    assert_eq!(priced["trigger"]["every"]["supersteps"], 5);
}

#[test]
fn every_policy_may_have_to_pay_its_calls_back() {
    for (name, label) in [
        ("migbsp/paid-back", "migbsp/paid-back"),
        ("refine/paid-back", "refine/boulmier/paid-back"),
        ("refine/menon/paid-back", "refine/menon/paid-back"),
        ("refine/paid-back/menon", "refine/menon/paid-back"),
        (
            "exec:./a b/c/every=5/paid-back",
            "exec:./a b/c/every=5/paid-back",
        ),
    ] {
        let found = chosen(&json!({ "name": name })).unwrap();
        assert_eq!(found["trigger"]["only_if_paid_back"], true, "{name}");
        assert_eq!(policy_label(&Registry::standard(), &found), label, "{name}");
        assert_eq!(chosen(&found).as_ref(), Ok(&found), "{name}");
    }
    // With only this key, `MigBSP` keeps its own trigger.
    let key = chosen(&json!({ "trigger": { "only_if_paid_back": true } })).unwrap();
    assert_eq!(key["trigger"], json!({ "only_if_paid_back": true }));
}

#[test]
fn an_edition_wins_over_built_in_settings_and_the_user_over_the_edition() {
    let registry = Registry::standard();
    let keys = json!({
        "name": "migbsp/equal-information",
        "migbsp": { "own_cluster": "competes", "x": 0.68 },
    });
    let of = |is_chosen: bool| {
        let keys = keys.as_object().unwrap();
        let chosen = PolicyChoice::from_settings(&registry, keys, &|_| is_chosen).unwrap();
        let options = chosen.complete_policy_settings().unwrap()["migbsp"].clone();
        (options["own_cluster"].clone(), options["x"].clone())
    };
    assert_eq!(of(false), (json!("within"), json!(0.68)));
    assert_eq!(of(true), (json!("competes"), json!(0.68)));
}

#[test]
fn options_in_braces_win_over_all_others() {
    let given = json!({ "x": 0.1, "d": 0.7 });
    for name in [
        "migbsp/equal-information{x=0.5,own_cluster=competes}/every=9",
        "migbsp/equal-information/every=9 { x = 0.5, own_cluster = competes }",
    ] {
        let found = chosen(&json!({ "name": name, "migbsp": given })).unwrap();
        let own = &found["migbsp"];
        assert_eq!(
            [&own["x"], &own["d"], &own["own_cluster"]],
            [&json!(0.5), &json!(0.7), &json!("competes")]
        );
        assert_eq!(found["trigger"]["every"]["supersteps"], 9);
    }
    let found = chosen(&json!({ "name": "exec:sh -c 'a{b}'/c{timeout=5 s}/every=5" })).unwrap();
    assert_eq!(found["exec"]["timeout"], "5 s");
    assert_eq!(found["exec"]["command"], "sh -c 'a{b}'/c");
}

#[test]
fn options_are_added_to_those_in_the_braces_of_a_name() {
    let more = [("alpha".to_owned(), json!(8)), ("x".to_owned(), json!(0.7))];
    for (given, expected) in [
        ("migbsp", "migbsp{alpha=8,x=0.7}"),
        ("migbsp{x=0.5,d=0.2}", "migbsp{x=0.7,d=0.2,alpha=8}"),
        ("migbsp{x=0.5}/every=9", "migbsp/every=9{x=0.7,alpha=8}"),
        ("exec:./a/b{x=1}", "exec:./a/b{x=0.7,alpha=8}"),
    ] {
        assert_eq!(name_with_options(given, more.clone()).unwrap(), expected);
    }
    assert_eq!(name_with_options("never", []).unwrap(), "never");
}

#[test]
fn the_cost_of_a_decision_is_that_of_the_policy() {
    let registry = Registry::standard();
    let read = |decision: Value| {
        let keys = json!({ "decision": decision });
        let keys = keys.as_object().unwrap().clone();
        read_decision_cost(&registry, &keys, "greedy").map(|own| own.map(|own| own.1))
    };
    let cost = "1 us * P".parse().unwrap();
    let both = json!({ "greedy": "1 us * P", "refine": "2 us * P" });
    assert_eq!(read(both).unwrap(), Some(cost));
    assert_eq!(read(json!({ "refine": "2 us * P" })).unwrap(), None);
    for (wrong, place) in [("greedy", "1 us * X"), ("refine", "7")] {
        let error = read(json!({ wrong: place })).unwrap_err().to_string();
        assert!(
            error.contains(&format!("policy.decision.{wrong}")),
            "{error}"
        );
    }
}

#[test]
fn a_forecast_is_the_third_part_of_a_name() {
    for keys in [
        json!({ "name": "refine/menon/ewma" }),
        json!({ "name": "refine/ewma/menon" }),
        json!({ "name": "refine/menon", "forecast": "ewma" }),
        json!({ "name": "refine/menon/ewma", "forecast": "last" }),
    ] {
        let found = chosen(&keys).unwrap();
        assert_eq!(found["forecast"], "ewma", "{keys}");
        assert_eq!(
            policy_label(&Registry::standard(), &found),
            "refine/menon/ewma"
        );
        assert_eq!(chosen(&found).as_ref(), Ok(&found));
    }
    // The usual forecast is not written.
    let usual = chosen(&json!({ "name": "refine/menon/mean" })).unwrap();
    assert_eq!(usual, chosen(&json!({ "name": "refine/menon" })).unwrap());
}

#[test]
fn errors_have_their_place() {
    for (keys, expected) in [
        (
            json!({ "name": "rotate/sometimes" }),
            "unknown edition, trigger or forecast `sometimes`",
        ),
        (
            json!({ "trigger": "every=0" }),
            "found integer `0`, expected a whole number of at least 1\n  --> policy.trigger.every.supersteps",
        ),
        (json!({ "trigger": "never=5" }), "takes no value after `=`"),
        (
            json!({ "name": "migbsp{x=0.5,own}" }),
            "`own` is not of the form OPTION=VALUE",
        ),
        (
            json!({ "name": "migbsp{x=0.5" }),
            "`migbsp{x=0.5` has no closing brace `}`",
        ),
        (
            json!({ "name": "migbsp{x=0.5,x=0.7}" }),
            "`x` is given twice",
        ),
        (
            json!({ "name": "migbsp{x=5}" }),
            "policy.name migbsp{x=5}, policy.migbsp.x",
        ),
        (
            json!({ "trigger": "every,50" }),
            "not of the form KEY=VALUE",
        ),
        (json!({ "trigger": 50 }), "neither a name nor an object"),
        (
            json!({ "trigger": { "always": {} } }),
            "unknown key `always`",
        ),
        (
            json!({ "trigger": { "only_if_paid_back": 1 } }),
            "neither true nor false",
        ),
        (json!({ "name": "rotate", "rotate": 5 }), "policy.rotate"),
        (json!({ "name": 5 }), "not a text"),
        (
            json!({ "name": "migbsp/ewma" }),
            "`migbsp` cannot use the forecast",
        ),
        (
            json!({ "name": "exec:./mylb", "forecast": "oracle" }),
            "`exec` cannot use the forecast `oracle`",
        ),
        (
            json!({ "name": "refine", "forecast": "tarot" }),
            "unknown forecast `tarot`",
        ),
    ] {
        let error = chosen(&keys).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}
