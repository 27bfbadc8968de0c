//! Tests on data of two ranks: its application, its errors, and its export.

use serde_json::{Value, json};

use super::*;
use crate::{Message, Plan, Workload};
use migsim_base::{
    error::Error,
    units::{Bytes, InstructionsPerSecond, ProcessId},
};

fn task(id: u64, rank: usize, seconds: f64) -> Value {
    json!({
        "entity": { "id": id, "home": rank, "type": "object", "migratable": true },
        "node": rank, "resource": "cpu", "time": seconds,
    })
}

fn edge(kind: &str, from: u64, to: u64, bytes: f64) -> Value {
    let end = |id: u64| json!({ "type": "object", "id": id, "home": 0, "migratable": true });
    json!({ "type": kind, "from": end(from), "to": end(to), "messages": 1, "bytes": bytes })
}

fn file(rank: usize, value: &Value) -> RankFile {
    RankFile {
        rank,
        source: format!("data.{rank}.json"),
        bytes: value.to_string().into(),
    }
}

/// Two ranks, phases 2, 5 and 6: p1 and p2 begin on rank 0, p3 on rank 1; rank 1 repeats phase 5.
fn two_ranks() -> [Value; 2] {
    let mut fixed = task(8, 0, 2.0);
    fixed["entity"]["migratable"] = json!(false);
    let mut large = task(9, 1, 4.0);
    large["user_defined"] = json!({ "task_footprint_bytes": 100.0, "task_serialized_bytes": 60.0 });
    let zero = json!({
        "type": "LBDatafile",
        "phases": [
            { "id": 2, "tasks": [task(7, 0, 1.0), fixed], "communications": [edge("SendRecv", 7, 9, 64.0), edge("SendRecv", 7, 7, 1.0)] },
            { "id": 5, "tasks": [task(7, 0, 1.5), fixed], "communications": [edge("SendRecv", 8, 9, 32.0), edge("SendRecv", 8, 77, 1.0)] },
            { "id": 6, "tasks": [fixed] },
        ],
    });
    let one = json!({
        "metadata": { "type": "LBDatafile", "rank": 1, "phases": {
            "skipped": { "list": [3], "range": [] }, "identical_to_previous": { "list": [6], "range": [] } } },
        "phases": [
            { "id": 5, "tasks": [large], "communications": [edge("Broadcast", 9, 7, 8.0)] },
            { "id": 2, "tasks": [large] },
        ],
    });
    [zero, one]
}

fn read(values: &[Value]) -> Result<(Vt, String), Error> {
    read_with(values, &VtConfig::new("data"))
}

fn read_with(values: &[Value], config: &VtConfig) -> Result<(Vt, String), Error> {
    let files: Vec<RankFile> = (values.iter().enumerate())
        .map(|(rank, value)| file(rank, value))
        .collect();
    Vt::from_files(&files, config)
}

fn plan(vt: &Vt, superstep: usize) -> (Vec<f64>, Vec<Message>) {
    let mut plan = Plan::default();
    plan.clear(vt.processes());
    vt.fill(superstep, &mut plan);
    (
        plan.work.iter().map(|work| work.get()).collect(),
        plan.messages,
    )
}

fn message(from: u32, to: u32, size: f64) -> Message {
    Message {
        from: ProcessId(from),
        to: ProcessId(to),
        size: Bytes::of(size),
    }
}

#[test]
fn a_communication_has_as_many_messages_as_it_says() {
    let with = |count: u64| {
        let mut two = edge("SendRecv", 1, 2, 1000.0);
        two["messages"] = json!(count);
        let tasks = [task(1, 0, 1.0), task(2, 0, 1.0)];
        read(&[
            json!({ "type": "LBDatafile", "phases": [{ "id": 0, "tasks": tasks, "communications": [two] }] }),
        ])
    };
    // 1000 B in 4 messages.
    assert_eq!(
        plan(&with(4).unwrap().0, 0).1,
        vec![message(0, 1, 250.0); 4]
    );
    let error = with(10_000_001).unwrap_err().to_string();
    assert!(error.contains("more than 10000000 messages"), "{error}");
}

#[test]
fn tasks_are_processes_and_phases_are_supersteps() {
    let (vt, note) = read(&two_ranks()).unwrap();
    assert_eq!((vt.processes(), vt.supersteps()), (3, 3));
    assert_eq!(
        plan(&vt, 0),
        (vec![1e9, 2e9, 4e9], vec![message(0, 2, 64.0)])
    );
    assert_eq!(
        plan(&vt, 1),
        (vec![1.5e9, 2e9, 4e9], vec![message(1, 2, 32.0)])
    );
    assert_eq!(plan(&vt, 2), (vec![0.0, 2e9, 4e9], vec![]));
    let each = |of: &dyn Fn(ProcessId) -> f64| [0, 1, 2].map(|process| of(ProcessId(process)));
    assert_eq!(each(&|process| vt.memory(process).get()), [0.0, 0.0, 100.0]);
    assert_eq!(vt.initial_ranks, [0, 0, 1]);
    assert_eq!(vt.is_movable, [true, false, true]);
    assert_eq!(vt.task_labels.phase_numbers, [2, 5, 6]);
    assert_eq!(
        note,
        "`data` has 2 ranks, 3 tasks (1 of them may not migrate), 3 phases; its phases, numbered from 2 to 6, become the supersteps; migsim ignores 1 message of a \
         task to itself, 1 message with an unknown task, 1 broadcast (`--set workload.broadcasts=send` keeps them)"
    );
}

#[test]
fn options_say_what_the_data_does_not() {
    let config = VtConfig {
        speed: InstructionsPerSecond::of(2e9),
        broadcasts: Broadcasts::Send,
        memory: Some(Bytes::of(5.0)),
        ..VtConfig::new("data")
    };
    let (vt, note) = read_with(&two_ranks(), &config).unwrap();
    assert_eq!(plan(&vt, 1).0, [3e9, 4e9, 8e9]);
    assert_eq!(plan(&vt, 1).1[1], message(2, 0, 8.0));
    assert_eq!(vt.memory(ProcessId(0)), Bytes::of(5.0));
    assert!(!note.contains("broadcast"), "{note}");
}

#[test]
fn a_phase_that_all_ranks_repeat_is_the_one_before() {
    let same = json!({ "phases": { "skipped": { "list": [], "range": [] }, "identical_to_previous": { "list": [1], "range": [[2, 4]] } } });
    let value = |rank| json!({ "metadata": same, "phases": [{ "id": 0, "tasks": [task(rank as u64, rank, 1.0)] }] });
    let (vt, _) = read(&[value(0), value(1)]).unwrap();
    assert_eq!(vt.supersteps(), 5);
    assert!((1..5).all(|superstep| vt.repeats(superstep)));
    assert_eq!(plan(&vt, 4).0, [1e9, 1e9]);
}

#[test]
fn a_task_that_moved_starts_where_it_comes_first() {
    let value = |tasks: [Value; 2]| {
        let phases: Vec<Value> = tasks
            .iter()
            .enumerate()
            .map(|(id, tasks)| json!({ "id": id, "tasks": tasks }))
            .collect();
        json!({ "type": "LBDatafile", "phases": phases })
    };
    let zero = value([json!([task(1, 0, 1.0)]), json!([])]);
    let one = value([json!([]), json!([task(1, 1, 1.0)])]);
    let (vt, note) = read(&[zero, one]).unwrap();
    assert_eq!((vt.processes(), &vt.initial_ranks[..]), (1, &[0][..]));
    assert!(
        note.contains("1 move of the recorded run is not repeated"),
        "{note}"
    );
}

#[test]
fn equal_numbers_in_a_phase_are_told_apart() {
    let value = |rank| {
        json!({ "type": "LBDatafile", "phases": [
        { "id": 0, "tasks": [task(3, rank, 1.0), task(3, rank, 2.0)], "communications": [edge("SendRecv", 3, 4, 1.0)] }] })
    };
    let (vt, note) = read(&[value(0), value(1)]).unwrap();
    assert_eq!(plan(&vt, 0).0, [1e9, 2e9, 1e9, 2e9]);
    assert!(note.contains("1 id shared by several tasks"), "{note}");
    assert!(note.contains("2 messages with unknown tasks"), "{note}");
}

#[test]
fn compressed_data_is_known_by_its_content() {
    let bytes = include_bytes!("../../../../tests/data/vt/brotli.0.json");
    let file = RankFile {
        rank: 0,
        source: "brotli.0.json".into(),
        bytes: bytes.to_vec(),
    };
    let (vt, _) = Vt::from_files(&[file], &VtConfig::new("brotli")).unwrap();
    assert_eq!((vt.processes(), vt.supersteps()), (4, 3));
}

/// Returns the error message for the two ranks after a change of the first one.
fn told(change: &dyn Fn(&mut Value)) -> String {
    let [mut zero, one] = two_ranks();
    change(&mut zero);
    read(&[zero, one]).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_with_a_task_is_told_with_rank_and_phase() {
    for (key, value, text) in [
        (
            "time",
            json!(-1),
            "`time` of task 8 in phase 5 of rank 0 is -1\n  --> data.0.json:1:",
        ),
        (
            "time",
            json!(1e305),
            "`time` of task 8 in phase 5 of rank 0 is out of range",
        ),
        (
            "node",
            json!(1),
            "`node` of task 8 in phase 5 of rank 0 is 1, not the rank of the file",
        ),
        (
            "entity",
            json!(null),
            "task number 2 in phase 5 of rank 0 has no entity",
        ),
        (
            "entity",
            json!({}),
            "task number 2 in phase 5 of rank 0 has neither `id` nor `seq_id`",
        ),
        (
            "entity",
            json!({ "id": "x" }),
            "`id` of task number 2 in phase 5 of rank 0 is \"x\"",
        ),
        (
            "entity",
            json!({ "id": 8 }),
            "task 8 in phase 5 of rank 0 has no `migratable`",
        ),
    ] {
        let error = told(&|data| data["phases"][1]["tasks"][1][key] = value.clone());
        assert!(
            error.contains(text) && error.contains("hint: "),
            "{text}: {error}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_rank() {
    let range = json!({ "phases": { "identical_to_previous": { "list": [], "range": [[0, 1_000_000_000_000_u64]] } } });
    for (path, value, text) in [
        (
            "/type",
            json!("LBStatsfile"),
            "the type of the data of rank 0 is \"LBStatsfile\", not `LBDatafile`",
        ),
        (
            "/phases",
            json!(5),
            "the data of rank 0 has no list `phases`",
        ),
        ("/phases/1/id", json!(2), "phase 2 of rank 0 appears twice"),
        (
            "/phases/0/tasks",
            json!(7),
            "`tasks` of phase 2 of rank 0 is 7, not a list",
        ),
        (
            "/phases/1/id",
            json!(9),
            "rank 1 has no phase 9, but rank 0 has it",
        ),
        (
            "/phases/0/communications/0/bytes",
            json!(null),
            "`bytes` of communication number 1 in phase 2 of rank 0 is null",
        ),
        (
            "/metadata",
            json!({ "rank": 3 }),
            "the file name has rank 0, but the file itself has rank 3",
        ),
        (
            "/metadata",
            range,
            "the range of phases 0 to 1000000000000 of rank 0 is too long",
        ),
    ] {
        let error = told(&|data| match data.pointer_mut(path) {
            Some(place) => *place = value.clone(),
            None => data["metadata"] = value.clone(),
        });
        assert!(
            error.contains(text) && error.contains("hint: "),
            "{text}: {error}"
        );
    }
    let none = read(&[json!({ "phases": [] })]).unwrap_err().to_string();
    assert!(none.contains("the data has no phases"), "{none}");
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let (vt, _) = read(&two_ranks()).unwrap();
    let export = VtExport {
        workload: &vt,
        rank_count: 2,
        initial_ranks: &vt.initial_ranks,
        moves: &[],
    };
    let values = |texts: &[String]| -> Vec<Value> {
        texts
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect()
    };
    let texts = to_vt_files(&export);
    let (again, _) = read(&values(&texts)).unwrap();
    assert_eq!(again.task_labels, vt.task_labels);
    assert_eq!(
        (&again.initial_ranks, &again.is_movable, &again.memory),
        (&vt.initial_ranks, &vt.is_movable, &vt.memory)
    );
    for superstep in 0..3 {
        assert_eq!(plan(&again, superstep), plan(&vt, superstep));
    }
    let moved = VtExport {
        moves: &[RankMove {
            superstep: 0,
            process: ProcessId(0),
            new_rank: 1,
        }],
        ..export
    };
    let places = |rank: usize, phase: usize| -> Vec<u64> {
        let value = &values(&to_vt_files(&moved))[rank];
        let tasks = value["phases"][phase]["tasks"].as_array().unwrap();
        tasks
            .iter()
            .map(|task| task["entity"]["id"].as_u64().unwrap())
            .collect()
    };
    // The move after superstep 1 shows in the second phase.
    assert_eq!(
        [places(0, 0), places(0, 1), places(1, 1)],
        [vec![7, 8], vec![8], vec![7, 9]]
    );
}
