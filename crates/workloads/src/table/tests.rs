//! Tests of tables: their applications, and their errors.

use super::*;
use crate::{
    Message, Plan, Workload,
    trace::{Trace, TracePreamble},
};
use migsim_base::{
    error::Error,
    units::{Bytes, ProcessId},
};

fn config(first: u64) -> TableConfig {
    let keys = serde_json::json!({ "work": "w.csv", "messages": "m.csv", "first": first, "speed": "2 GHz" });
    serde_json::from_value(keys).unwrap()
}

fn read(work: &str, messages: &str) -> Result<Table, Error> {
    Table::from_csv_bytes(work.as_bytes(), Some(messages.as_bytes()), &config(1))
}

fn plan(table: &Table, superstep: usize) -> (Vec<f64>, Vec<Message>) {
    let mut plan = Plan::default();
    plan.clear(table.processes());
    table.fill(superstep, &mut plan);
    (
        plan.work.iter().map(|work| work.get()).collect(),
        plan.messages,
    )
}

const MESSAGES: &str = "superstep,from,to,bytes [kB]\n";

#[test]
fn rows_and_columns_come_in_any_order_with_units() {
    let work = "process,work [Ginstr],superstep,memory_MB\r\n# two\r\np2,2,1,\r\n1,0.5,1,3\r\np1,500 Minstr,3,5\r\n";
    let messages = "from,to,superstep,bytes [kB]\np1,p2,1,1.5\n2,3,3,7 B\n1,2,1,2\n";
    let table = read(work, messages).unwrap();
    assert_eq!((table.processes(), table.supersteps()), (3, 3));
    let message = |from, to, size| Message {
        from: ProcessId(from),
        to: ProcessId(to),
        size: Bytes::of(size),
    };
    assert_eq!(
        plan(&table, 0),
        (
            vec![5e8, 2e9, 0.0],
            vec![message(0, 1, 1500.0), message(0, 1, 2000.0)]
        )
    );
    assert_eq!(plan(&table, 1), (vec![0.0; 3], vec![]));
    assert_eq!(
        plan(&table, 2),
        (vec![5e8, 0.0, 0.0], vec![message(1, 2, 7.0)])
    );
    let known = [0, 1, 2].map(|process| table.is_memory_known(ProcessId(process)));
    assert_eq!(
        (known, table.memory(ProcessId(0)).get()),
        ([true, false, false], 5e6)
    );
}

#[test]
fn the_memory_of_each_superstep_survives_being_written_as_a_trace() {
    let work = "process,superstep,work,memory\n1,1,1,5\n1,2,1,5\n1,3,1,2\n1,4,1,\n2,2,1,7\n2,3,1,\n2,4,1,9\n3,1,1,\n";
    let table = read(work, MESSAGES).unwrap();
    let mut text = Vec::new();
    Trace::write(&table, &TracePreamble::default(), &mut text).unwrap();
    let trace = Trace::parse_bytes("t", &text).unwrap();
    let largest = [0, 1].map(|process| table.memory(ProcessId(process)).get());
    assert_eq!(largest, [5.0, 9.0]);
    for workload in [&table as &dyn Workload, &trace] {
        let changes = |superstep| -> Vec<(u32, f64)> {
            let changes = workload.memory_changes(superstep).into_iter();
            changes
                .map(|(process, size)| (process.0, size.get()))
                .collect()
        };
        assert_eq!(changes(0), [(1, 7.0)]);
        assert_eq!(changes(1), []);
        assert_eq!(changes(2), [(0, 2.0)]);
        assert_eq!(changes(3), [(1, 9.0)]);
    }
}

#[test]
fn tables_of_other_countries_and_of_pandas_are_read() {
    let usual = read(
        "superstep,process,work [Ginstr]\n1,1,1.5\n1,2,0.25\n",
        "superstep,from,to,bytes [kB]\n1,1,2,1.5\n",
    );
    let usual = usual.unwrap();
    for (work, messages) in [
        (
            "# mine\nsuperstep;process;work [Ginstr]\n1;1;1,5\n1;2;0,25\n",
            "superstep;from;to;bytes [kB]\n1;1;2;1,5\n",
        ),
        (
            "superstep\tprocess\twork [Ginstr]\n1\t1\t1.5\n1\t2\t0.25\n",
            "superstep\tfrom\tto\tbytes [kB]\n1\t1\t2\t1,5 kB\n",
        ),
        (
            ",superstep,process,work [Ginstr]\n0,1.0,1.0,1.5\n1,1.0,2.0,0.25\n",
            "Unnamed: 0,superstep,from,to,bytes [kB]\n0,1,1.0,2.0,1.5\n",
        ),
    ] {
        assert_eq!(read(work, messages).unwrap(), usual, "{work}");
    }
}

#[test]
fn a_file_in_the_place_of_another_is_named() {
    let work = "superstep,process,work\n1,1,5\n";
    let told = read(MESSAGES, work).unwrap_err().to_string();
    for part in [
        "the file is a table of messages, not a table of work\n  --> w.csv:1:1",
        "the file is a table of work, not a table of messages\n  --> m.csv:1:1",
        "check whether `--work` and `--messages` are swapped",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = read("migsim-trace 2\nprocesses 1\n", MESSAGES).unwrap_err();
    assert!(told.to_string().contains("the file is a trace"), "{told}");
}

#[test]
fn a_heading_of_many_columns_is_refused_in_a_moment() {
    let heading = "x,".repeat(3_000_000);
    let Err(Error::Input(problems)) = read(&heading, MESSAGES) else {
        panic!("it was read");
    };
    assert!(
        problems.len() <= migsim_base::document::MOST_PROBLEMS,
        "{}",
        problems.len()
    );
}

#[test]
fn work_may_be_seconds_and_numbers_may_begin_with_0() {
    // 1.5 s on hosts of 2 GHz are 3e9 instructions.
    let table =
        Table::from_csv_bytes(b"superstep,process,work [s]\n0,0,1.5\n", None, &config(0)).unwrap();
    assert_eq!(plan(&table, 0).0, [3e9]);
    let table =
        Table::from_csv_bytes(b"superstep,process,work\n1,1,7\n", None, &config(1)).unwrap();
    assert_eq!(plan(&table, 0).0, [7.0]);
}

/// Work, messages; the place, the message and the hint.
const WRONG: &[[&str; 5]] = &[
    [
        "superstep,process\n",
        MESSAGES,
        "w.csv:1:1",
        "column `work` is missing",
        "`superstep,process,work,memory`",
    ],
    [
        "superstep,process,work,wrk\n",
        MESSAGES,
        "w.csv:1:1",
        "unknown column `wrk`",
        "did you mean `work`?",
    ],
    [
        "superstep,process,work,work\n",
        MESSAGES,
        "w.csv:1:1",
        "column `work` appears twice",
        "remove or rename one of the two columns",
    ],
    [
        "superstep,process,work\n",
        MESSAGES,
        "w.csv:1:1",
        "the table has no line after its heading",
        "write one line",
    ],
    [
        "superstep,process,work\n1,1,x\n",
        MESSAGES,
        "w.csv:2:1",
        "x",
        "work [Ginstr]",
    ],
    [
        "superstep,process,work\n1,1,-5\n",
        MESSAGES,
        "w.csv:2:1",
        "-5",
        "work [Ginstr]",
    ],
    [
        "superstep,process,work [parsec]\n1,1,5\n",
        MESSAGES,
        "w.csv:2:1",
        "parsec",
        "work [Ginstr]",
    ],
    [
        "superstep,process,work\n1,0,5\n",
        MESSAGES,
        "w.csv:2:1",
        "there is no process 0, since the tables count from 1",
        "workload.first=0",
    ],
    [
        "superstep,process,work\n1,one,5\n",
        MESSAGES,
        "w.csv:2:1",
        "`one` is not the number of a process",
        "whole number",
    ],
    [
        "superstep,process,work\n99999999999,1,5\n",
        MESSAGES,
        "w.csv:2:1",
        "the number 99999999999 of a superstep is too large",
        "10 million",
    ],
    [
        "superstep,process,work\n1,1\n",
        MESSAGES,
        "w.csv:2:1",
        "this line has 2 fields, but the heading has 3",
        "one field for each column of the first line",
    ],
    [
        "superstep,process,work\n1,1,5\n1,2,1\n1,p1,6\n",
        MESSAGES,
        "w.csv:4:1",
        "this line has the same process (1) and superstep (1) as line 2",
        "the sum of their work",
    ],
    [
        "superstep process work\n",
        MESSAGES,
        "w.csv:1:1",
        "unknown column `superstep process work`",
        "by commas, semicolons or tabs",
    ],
    [
        ",superstep,process,work\n0,1,1,1\n2,1,2,1\n",
        MESSAGES,
        "w.csv:3:1",
        "it has `2` instead of 1",
        "index=False",
    ],
    [
        "superstep,process,work\n1,1.5,1\n",
        MESSAGES,
        "w.csv:2:1",
        "`1.5` is not the number of a process",
        "whole number",
    ],
    [
        "superstep,process,work [Ginstr]\n1,1,\"1,5\"\n",
        MESSAGES,
        "w.csv:2:1",
        "`,5`",
        "write the number with a decimal point, `1.5`, or separate the fields by `;`",
    ],
    [
        "superstep,process,work\n1,1,5\n",
        "superstep,from,to,bytes\n1,1,2,1 parsec\n",
        "m.csv:2:1",
        "parsec",
        "bytes [kB]",
    ],
];

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for [work, messages, line, what, hint] in WRONG.iter().copied() {
        let told = read(work, messages).unwrap_err().to_string();
        for part in [line, what, hint] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
