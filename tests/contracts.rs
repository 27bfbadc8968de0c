//! Plug-ins that break their contracts: each ends with an error that names it, in time, and no wrong answer is believed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]
#![expect(clippy::panic, reason = "a plug-in panics on purpose")]

use std::{
    sync::{Arc, mpsc::channel},
    time::Duration,
};

use migsim::{
    Registry,
    bsp::{CallProcedure, Scenario},
    error::{Error, Problem},
    experiment::{Experiment, Layers, Limits, Progress},
    load::{Load, LoadOptions},
    platform::Steps,
    policy::{
        Decision, Migration, Policy, PolicyOptions, View,
        strategy::{Assignment, Gather, Instance, Strategy, StrategyOptions},
    },
    random::Stream,
    units::{Bytes, Instructions, ProcessId, Seconds},
    workload::{
        ApplicationSize, Plan, PrescribedMigration, Workload,
        registry::{BuiltWorkload, WorkloadOptions},
    },
};
use serde_json::json;

/// The options of each plug-in: the name of its fault.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default)]
struct Faulty {
    fault: String,
}

impl Faulty {
    fn is(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn panic_if(&self, fault: &str) {
        assert!(!self.is(fault), "own words");
    }
}

/// An application of 4 processes whose superstep 3 is wrong.
#[derive(Debug)]
struct App(Faulty, Vec<PrescribedMigration>);

impl WorkloadOptions for Faulty {
    fn application(self) -> Result<BuiltWorkload, Error> {
        self.panic_if("create");
        let wrong = PrescribedMigration {
            process: ProcessId(if self.is("move-process") { 9 } else { 0 }),
            destination_host: if self.is("move-host") {
                "nowhere"
            } else {
                "Labtec-1"
            }
            .to_owned(),
            transferred_bytes: Bytes::of(1.0) * if self.is("move-bytes") { -1.0 } else { 1.0 },
            wait_after_transfer: Seconds::of(0.0),
        };
        Ok(BuiltWorkload::new(App(self, vec![wrong])))
    }
}

impl Workload for App {
    fn processes(&self) -> usize {
        self.0.panic_if("processes-panic");
        if self.0.is("no-process") { 0 } else { 4 }
    }

    fn supersteps(&self) -> usize {
        6
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        plan.work.fill(Instructions::of(1e6));
        plan.send(0, 1, Bytes::of(8.0));
        if superstep != 2 {
            return;
        }
        let (size, work) = (&mut plan.messages[0].size, &mut plan.work[1]);
        match self.0.fault.as_str() {
            "panic" => panic!("own words"),
            "long" => plan.work.push(Instructions::of(1.0)),
            "short" => plan.work.truncate(3),
            "from" => plan.send(4, 0, Bytes::of(8.0)),
            "to" => plan.send(0, 4, Bytes::of(8.0)),
            "nan-work" => *work = Instructions::of(f64::NAN),
            "negative-work" => *work = Instructions::of(-1e9),
            "infinite-work" => *work = Instructions::of(f64::INFINITY),
            "nan-bytes" => *size = Bytes::of(f64::NAN),
            "negative-bytes" => *size = *size * -1.0,
            "infinite-bytes" => *size = Bytes::of(f64::INFINITY),
            _ => {}
        }
    }

    fn repeats(&self, _: usize) -> bool {
        self.0.panic_if("repeats-panic");
        self.0.is("repeats")
    }

    fn extent(&self) -> ApplicationSize {
        ApplicationSize {
            max_messages: if self.0.is("extent") { f64::NAN } else { 1.0 },
            data_bytes: 0.0,
        }
    }

    fn memory(&self, _: ProcessId) -> Bytes {
        self.0.panic_if("memory-panic");
        Bytes::of(1e3) * if self.0.is("memory") { -1.0 } else { 1.0 }
    }

    fn initial_host(&self, _: ProcessId) -> Option<&str> {
        self.0.is("host").then_some("nowhere")
    }

    fn prescribes_moves(&self) -> bool {
        self.0.fault.starts_with("move")
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        let are_here = superstep == 2 && self.prescribes_moves();
        if are_here { &self.1 } else { &[] }
    }

    fn failure(&self) -> Option<Error> {
        let failure = || Problem::new("the application `faulty` cannot go on");
        self.0
            .is("failure")
            .then(|| Error::SimulationFailure(failure()))
    }

    fn cycles_per_instruction(&self) -> f64 {
        match self.0.fault.as_str() {
            "cycles-negative" => -1.0,
            "cycles-nan" => f64::NAN,
            "cycles-0" => 0.0,
            _ => 1.0,
        }
    }
}

impl PolicyOptions for Faulty {
    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        self.panic_if("create");
        Ok(Box::new(self))
    }
}

impl Policy for Faulty {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.panic_if("due-panic");
        view.superstep == 2
    }

    fn is_done(&self, _: usize) -> bool {
        self.panic_if("done-panic");
        false
    }

    fn decide(&mut self, _: &View<'_>, _: &mut Stream) -> Result<Decision, Error> {
        self.panic_if("panic");
        let moves = |wrong: [(usize, usize); 2]| {
            Decision::from_migrations(
                wrong
                    .map(|(process, to)| Migration::new(process, to))
                    .to_vec(),
            )
        };
        let rounds = |rounds, operation_count| Decision {
            procedure: Some(CallProcedure {
                gather: Gather::BetweenNeighbours {
                    rounds,
                    max_messages_per_round: 1,
                },
                operation_count,
            }),
            ..Decision::default()
        };
        match self.fault.as_str() {
            "host" => Ok(moves([(0, 9999), (1, 1)])),
            "process" => Ok(moves([(4, 1), (1, 1)])),
            "twice" => Ok(moves([(1, 1), (1, 2)])),
            "error" => Err(Problem::new("I cannot").into()),
            "rounds" => Ok(rounds(u32::MAX, 1)),
            "operations" => Ok(rounds(1, u64::MAX)),
            _ => Ok(moves([(0, 1), (1, 1)])),
        }
    }

    fn memory(&self, _: f64, _: f64) -> f64 {
        if self.is("memory") { f64::NAN } else { 0.0 }
    }

    fn on_migrations_executed(&mut self, _: usize) {
        self.panic_if("executed-panic");
    }

    fn fault(&self) -> Option<String> {
        self.is("fault").then(|| "I am broken".to_owned())
    }
}

impl StrategyOptions for Faulty {
    fn into_strategy(self) -> Result<Box<dyn Strategy>, Error> {
        Ok(Box::new(self))
    }
}

impl Strategy for Faulty {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment, Error> {
        self.panic_if("panic");
        let mut hosts = vec![0; instance.process_count()];
        match self.fault.as_str() {
            "short" => hosts.truncate(3),
            "long" => hosts.push(0),
            "host" => hosts[1] = 9999,
            "error" => return Err(Problem::new("I cannot").into()),
            _ => {}
        }
        Ok(Assignment::from_central_decision(hosts, 1))
    }
}

impl LoadOptions for Faulty {
    fn load(self) -> Result<Arc<dyn Load>, Error> {
        self.panic_if("create");
        Ok(Arc::new(self))
    }
}

impl Load for Faulty {
    fn steps(&self, _: Stream) -> Box<dyn Steps> {
        self.panic_if("steps-panic");
        let step: fn(i32) -> (f64, f64) = match self.fault.as_str() {
            "nan" => |_| (0.0, f64::NAN),
            "negative" => |_| (0.0, -0.5),
            "above" => |_| (0.0, 1.5),
            "time-nan" => |_| (f64::NAN, 0.5),
            "time-back" => |at| (5e-4 - f64::from(at) * 1e-4, 0.5),
            "time-still" => |_| (1e-3, 0.5),
            "time-converges" => |at| (2e-3 - 1e-3 * 0.5_f64.powi(at), 0.5),
            "panic" => |_| panic!("own words"),
            _ => |at| (f64::from(at), 0.5),
        };
        Box::new((0..).map(step))
    }

    fn constant_value(&self) -> Option<f64> {
        match self.fault.as_str() {
            "constant-nan" => Some(f64::NAN),
            "constant-2" => Some(2.0),
            _ => None,
        }
    }
}

/// Runs the broken plug-in of a kind, on a thread of its own, since a hang must not stop the test; returns the makespan of
/// scenario iii, or the error.
fn run(kind: &str, fault: &str) -> Result<f64, String> {
    let of = |this: &str| if kind == this { fault } else { "" };
    let policy = if kind == "strategy" {
        "placer"
    } else {
        "decider"
    };
    let mut settings = vec![
        ("extends", json!("none")),
        ("platform", json!("ufrgs")),
        ("mapping", json!("contiguous")),
        (
            "workload",
            json!({ "app": "faulty", "fault": of("application") }),
        ),
        (
            "policy",
            json!({ "name": policy, "decider": { "fault": of("policy") } }),
        ),
        ("costs.call.model", json!("messages")),
    ];
    if kind == "strategy" {
        let every = json!({ "name": "every", "every": { "supersteps": 3 } });
        let of_strategy = json!({ "name": policy, "trigger": every, "placer": { "fault": fault } });
        settings[4] = ("policy", of_strategy);
    }
    if kind == "load" {
        settings.push(("load", json!({ "kind": "burden", "fault": fault })));
    }
    if fault == "host" && kind == "application" {
        settings.remove(2); // the mapping would override what the application says
    }
    let registry = Registry::standard()
        .workload::<Faulty>("faulty", "an application", "-")
        .policy::<Faulty>("decider", "a policy", "-")
        .strategy::<Faulty>("placer", "a strategy", "-")
        .load::<Faulty>("burden", "a load", "-");
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let experiment =
            Experiment::load_with(&registry, &Layers::from_pairs(settings), Limits::default());
        let results = experiment.and_then(|experiment| experiment.run(&Progress::default()));
        let makespan = results.map(|results| {
            let run = results.get(Scenario::Iii).unwrap();
            assert!(run.outcome.makespan.get().is_finite());
            run.outcome.makespan.get()
        });
        let _ = send.send(makespan.map_err(|error| error.to_string()));
    });
    receive
        .recv_timeout(Duration::from_mins(1))
        .unwrap_or_else(|_| Err("HANG OR PANIC".to_owned()))
}

#[test]
fn broken_contracts_end_with_an_error_that_names_the_plug_in() {
    let place = "in superstep 3";
    let call = "call after superstep 3";
    let rows: &[(&str, &str, &[&str])] = &[
        (
            "application",
            "`faulty`",
            &["create", "processes-panic", "no-process"],
        ),
        (
            "application",
            "`faulty`",
            &["extent", "cycles-negative", "cycles-nan", "cycles-0"],
        ),
        (
            "application",
            "`faulty`",
            &["memory", "memory-panic", "failure", "repeats-panic"],
        ),
        (
            "application",
            place,
            &["panic", "long", "short", "from", "to", "nan-work"],
        ),
        (
            "application",
            place,
            &["negative-work", "infinite-work", "nan-bytes"],
        ),
        (
            "application",
            place,
            &[
                "negative-bytes",
                "infinite-bytes",
                "move-process",
                "move-bytes",
            ],
        ),
        ("application", "nowhere", &["host", "move-host"]),
        ("policy", "decider", &["create", "memory"]),
        (
            "policy",
            "superstep 3",
            &["host", "process", "twice", "rounds", "operations"],
        ),
        (
            "policy",
            call,
            &["panic", "executed-panic", "error", "fault"],
        ),
        ("policy", "after superstep 1", &["due-panic", "done-panic"]),
        (
            "strategy",
            call,
            &["short", "long", "host", "panic", "error"],
        ),
        (
            "load",
            "`burden`",
            &["create", "steps-panic", "panic", "nan", "negative", "above"],
        ),
        (
            "load",
            "`burden`",
            &["time-nan", "time-back", "time-still", "time-converges"],
        ),
        ("load", "`burden`", &["constant-nan", "constant-2"]),
    ];
    let (mut count, mut wrong) = (0, Vec::new());
    for (kind, place, faults) in rows {
        for fault in *faults {
            count += 1;
            let ended = run(kind, fault);
            let name = match *kind {
                "application" => "faulty",
                "policy" => "decider",
                "strategy" => "placer",
                _ => "burden",
            };
            let is_good = ended.as_ref().is_err_and(|error| {
                let is_named = error.contains(name) || *place == "nowhere";
                is_named && error.contains(place) && !error.contains("error in migsim")
            });
            if !is_good {
                wrong.push(format!("{kind} {fault}: {ended:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count >= 51, "{count}");
}

#[test]
fn plug_ins_without_a_fault_run_and_a_constant_application_may_always_repeat() {
    let right = run("application", "").unwrap();
    assert_eq!(run("application", "repeats").unwrap(), right);
    for kind in ["policy", "strategy", "load"] {
        assert!(run(kind, "").is_ok(), "{kind}");
    }
}
