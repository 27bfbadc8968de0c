//! Tests of the critical path: cases with their pieces worked by hand.

use super::*;
use crate::{
    BarrierConfig, BarrierKind, CallCostConfig, CallModel, Costs, Decision, Migration,
    MigrationCostConfig, Never, Plan, Policy, RunOutcome, RuntimeConfig, Scenario, Setup,
    TransferStart, View, Workload, simulate,
};
use migsim_base::{
    error::Error,
    random::Stream,
    units::{Bytes, Instructions},
};
use migsim_engine::NetworkModel;
use migsim_platform::{Platform, from_json};

/// Identical supersteps: the work of each process, messages (from, to, bytes), and the memory of each process.
#[derive(Debug, Default)]
struct Case {
    supersteps: usize,
    work: Vec<f64>,
    messages: Vec<(usize, usize, f64)>,
    memory: f64,
    /// Whether the supersteps are declared to repeat the first one.
    repeats: bool,
}

impl Workload for Case {
    fn processes(&self) -> usize {
        self.work.len()
    }

    fn supersteps(&self) -> usize {
        self.supersteps.max(1)
    }

    fn fill(&self, _superstep: usize, plan: &mut Plan) {
        for (work, own) in plan.work.iter_mut().zip(&self.work) {
            *work = Instructions::of(*own);
        }
        for &(from, to, size) in &self.messages {
            plan.send(from, to, Bytes::of(size));
        }
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        Bytes::of(self.memory)
    }

    fn repeats(&self, superstep: usize) -> bool {
        self.repeats && superstep > 0
    }
}

/// A policy with a call after the first superstep, in which process 1 goes to host 2 (both counted from 0).
#[derive(Debug)]
struct Once(bool);

impl Policy for Once {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        view.superstep == 0
    }

    fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        let moves = [Migration::new(1, 2)];
        Ok(Decision::from_migrations(if self.0 {
            moves.to_vec()
        } else {
            Vec::new()
        }))
    }
}

/// Creates two clusters of two hosts of 1 GHz, joined by the link `wan` with this bandwidth and latency.
fn platform(bandwidth: &str, latency: &str) -> Platform {
    let link = r#""link": { "bandwidth": "1 TB/s", "latency": "0 s" }"#;
    let text = format!(
        r#"{{ "schema": "migsim-platform-1", "name": "two", "clusters": [
            {{ "name": "a", "hosts": 2, "speed": "1 GHz", {link}, "router": "x" }},
            {{ "name": "b", "hosts": 2, "speed": "1 GHz", {link}, "router": "y" }} ],
          "routers": ["x", "y"],
          "links": [{{ "name": "wan", "from": "x", "to": "y", "bandwidth": "{bandwidth}", "latency": "{latency}" }}] }}"#
    );
    from_json("two.json", &text).unwrap().platform
}

struct Given {
    platform: Platform,
    case: Case,
    placement: Vec<u32>,
    runtime: RuntimeConfig,
    costs: Costs,
    policy: Option<bool>,
}

impl Given {
    fn new(platform: Platform, case: Case, placement: &[u32]) -> Self {
        Self {
            platform,
            case,
            placement: placement.to_vec(),
            runtime: RuntimeConfig::default(),
            costs: Costs::default(),
            policy: None,
        }
    }

    fn run(&self) -> (RunOutcome, CriticalPath) {
        let placement: Vec<HostId> = self.placement.iter().copied().map(HostId).collect();
        let setup = Setup {
            platform: &self.platform,
            network: NetworkModel::default(),
            workload: &self.case,
            placement: &placement,
            runtime: self.runtime,
            costs: self.costs,
            view: crate::ViewConfig::default(),
            scenario: Scenario::Iii,
            seed: 1,
            memo: None,
        };
        let policy = || -> Box<dyn Policy> {
            match self.policy {
                Some(moves) => Box::new(Once(moves)),
                None => Box::new(Never::default()),
            }
        };
        let mut path = None;
        let outcome = simulate(&setup, policy(), &mut path).unwrap();
        let plain = simulate(&setup, policy(), &mut ()).unwrap();
        let (traced, plain) = (outcome.makespan.get(), plain.makespan.get());
        assert!((traced / plain - 1.0).abs() < 1e-12, "{traced} {plain}");
        (outcome, path.unwrap())
    }

    /// Returns the pieces: kind, begin, end, process counted from 0, and the work.
    fn pieces(&self) -> Vec<(PieceKind, f64, f64, Option<u32>, PieceResources)> {
        let (outcome, path) = self.run();
        check(&path, outcome.makespan);
        let rounded = |time: Time| (time.get() * 1e9).round() / 1e9;
        let pieces = path.pieces.iter();
        let pieces = pieces.map(|one| {
            let process = one.process.map(|process| process.0);
            (
                one.kind,
                rounded(one.begin),
                rounded(one.end),
                process,
                one.resources,
            )
        });
        pieces.collect()
    }
}

/// Checks that the pieces join exactly, from 0 to the makespan.
fn check(path: &CriticalPath, makespan: Time) {
    let mut end = Time::ZERO;
    let mut sum = 0.0;
    for piece in &path.pieces {
        assert_eq!(piece.begin, end);
        assert!(piece.end > piece.begin);
        sum += piece.duration().get();
        end = piece.end;
    }
    assert_eq!(end, makespan);
    assert!((sum / makespan.get() - 1.0).abs() < 1e-12);
}

fn on(host: u32, sharing: u32) -> PieceResources {
    let host = HostId(host);
    PieceResources::Compute {
        host,
        computation_count: sharing,
    }
}

/// The link `wan`.
fn wan(flows: u32) -> RateLimit {
    let platform = platform("1 MB/s", "0 s");
    let link = platform.links.iter().position(|link| link.name == "wan");
    let link = link.unwrap();
    let link = LinkId::from_index(link);
    RateLimit::Link {
        link,
        flow_count: flows,
    }
}

use PieceKind::{Barrier, Call, Compute, Latency, Move, Transfer};

#[test]
fn processes_that_share_a_core_are_counted() {
    // Two processes on one core take 2 s for 1 s of work each.
    let case = Case {
        work: vec![1e9, 1e9, 1e9],
        ..Case::default()
    };
    let given = Given::new(platform("1 MB/s", "1 s"), case, &[0, 0, 1]);
    let pieces = given.pieces();
    assert_eq!(pieces.len(), 1);
    assert_eq!((pieces[0].2, pieces[0].4), (2.0, on(0, 2)));
}

#[test]
fn an_empty_message_takes_the_latency_of_its_route() {
    let case = Case {
        work: vec![1e9, 0.0],
        messages: vec![(0, 1, 0.0)],
        ..Case::default()
    };
    let given = Given::new(platform("1 MB/s", "0.5 s"), case, &[0, 2]);
    let latency = PieceResources::Latency(HostId(0), HostId(2));
    let expected = [
        (Compute, 0.0, 1.0, Some(0), on(0, 1)),
        (Latency, 1.0, 1.5, Some(0), latency),
    ];
    assert_eq!(given.pieces(), expected);
}

#[test]
fn a_transfer_is_bound_by_the_link_that_flows_share() {
    // Two flows of 1 MB share 1 MB/s: 2 s.
    let case = Case {
        work: vec![1e9, 1e9, 0.0, 0.0],
        messages: vec![(0, 2, 1e6), (1, 3, 1e6)],
        ..Case::default()
    };
    let given = Given::new(platform("1 MB/s", "0 s"), case, &[0, 1, 2, 3]);
    let pieces = given.pieces();
    let spans: Vec<_> = pieces.iter().map(|one| (one.0, one.1, one.2)).collect();
    assert_eq!(spans, [(Compute, 0.0, 1.0), (Transfer, 1.0, 3.0)]);
    let PieceResources::Transfer(_, _, bound) = pieces[1].4 else {
        panic!("{pieces:?}")
    };
    assert_eq!(bound, wan(2));
}

#[test]
fn a_message_waits_for_a_late_receiver() {
    let case = Case {
        work: vec![1e9, 3e9],
        messages: vec![(0, 1, 1e6)],
        ..Case::default()
    };
    let mut given = Given::new(platform("1 MB/s", "0 s"), case, &[0, 2]);
    given.runtime.receives = TransferStart::Late;
    let pieces = given.pieces();
    let transfer = PieceResources::Transfer(HostId(0), HostId(2), wan(1));
    let expected = [
        (Compute, 0.0, 3.0, Some(1), on(2, 1)),
        (Transfer, 3.0, 4.0, Some(0), transfer),
    ];
    assert_eq!(pieces, expected);
}

#[test]
fn control_messages_of_a_barrier_are_pieces_of_the_barrier() {
    // The control message of process 1 takes 0.5 s, and so does the answer.
    let case = Case {
        work: vec![1e9, 1e9],
        ..Case::default()
    };
    let mut given = Given::new(platform("1 MB/s", "0.5 s"), case, &[0, 2]);
    given.runtime.barrier = BarrierConfig {
        kind: BarrierKind::Central,
        ..BarrierConfig::default()
    };
    let pieces = given.pieces();
    let spans: Vec<_> = pieces.iter().map(|one| (one.0, one.1, one.2)).collect();
    let expected = [
        (Compute, 0.0, 1.0),
        (Barrier, 1.0, 1.5),
        (Barrier, 1.5, 2.0),
    ];
    assert_eq!(spans, expected);
    assert_eq!(pieces[1].4, PieceResources::Latency(HostId(2), HostId(0)));
    assert_eq!(pieces[2].4, PieceResources::Latency(HostId(0), HostId(2)));
}

fn priced(case: Case, moves: bool) -> Given {
    let mut given = Given::new(platform("1 MB/s", "0 s"), case, &[0, 1]);
    given.policy = Some(moves);
    given.costs.call = CallCostConfig {
        model: CallModel::Additive,
        fixed: Seconds::of(0.7),
        ..CallCostConfig::default()
    };
    given
}

#[test]
fn the_price_of_a_call_is_a_piece() {
    let case = Case {
        supersteps: 2,
        work: vec![1e9, 2e9],
        ..Case::default()
    };
    let expected = [
        (Compute, 0.0, 2.0, Some(1), on(1, 1)),
        (Call, 2.0, 2.7, None, PieceResources::PredefinedWait),
        (Compute, 2.7, 4.7, Some(1), on(1, 1)),
    ];
    assert_eq!(priced(case, false).pieces(), expected);
}

#[test]
fn a_move_is_the_transfer_of_the_memory_and_its_fixed_time() {
    let case = Case {
        supersteps: 2,
        work: vec![1e9, 2e9],
        memory: 1e6,
        ..Case::default()
    };
    let mut given = priced(case, true);
    given.costs.migration = MigrationCostConfig {
        fixed: Seconds::of(0.25),
        ..MigrationCostConfig::default()
    };
    let transfer = PieceResources::Transfer(HostId(1), HostId(2), wan(1));
    let expected = [
        (Compute, 0.0, 2.0, Some(1), on(1, 1)),
        (Call, 2.0, 2.7, None, PieceResources::PredefinedWait),
        (Move, 2.7, 3.7, Some(1), transfer),
        (Move, 3.7, 3.95, None, PieceResources::PredefinedWait),
        (Compute, 3.95, 5.95, Some(1), on(2, 1)),
    ];
    assert_eq!(given.pieces(), expected);
}

#[test]
fn chains_that_end_early_are_dropped() {
    let processes = 20;
    let case = Case {
        supersteps: 200,
        work: (1..=processes).map(|one| 1e6 * one as f64).collect(),
        messages: (0..processes)
            .map(|one| (one, (one + 1) % processes, 1e3))
            .collect(),
        ..Case::default()
    };
    let platform = platform("1 MB/s", "1 us");
    let network = NetworkModel::default();
    let mut trace = trace::CauseTrace::new(&platform, network);
    // Ten thousand activities in a chain, and as many that cause nothing.
    let mut engine = migsim_engine::Simulation::new(&platform, network);
    engine.record_activities();
    for _ in 0..10_000 {
        for process in 0..2 {
            let token = crate::event::ActivityToken::ComputationEnded(process);
            let work = Instructions::of(1e3 * f64::from(process + 1));
            engine.execute(HostId(process), work, token).unwrap();
        }
        while let Some(token) = engine.next_ended().unwrap() {
            trace.record_activities(&mut engine);
            trace.set_cause(token);
        }
    }
    assert!(
        trace.reserved_node_count() < 10_010,
        "{}",
        trace.reserved_node_count()
    );
    let given = Given::new(platform.clone(), case, &[0; 20]);
    let (outcome, path) = given.run();
    check(&path, outcome.makespan);
}

#[test]
fn repeated_supersteps_have_the_pieces_of_supersteps_that_are_simulated() {
    let path = |repeats| {
        let case = Case {
            supersteps: 6,
            work: vec![1e9, 2e9, 5e8, 1e9],
            messages: vec![(0, 2, 1e6), (1, 3, 2e6)],
            repeats,
            ..Case::default()
        };
        let given = Given::new(platform("1 MB/s", "1 ms"), case, &[0, 1, 2, 3]);
        let (outcome, path) = given.run();
        check(&path, outcome.makespan);
        path.pieces
    };
    let (repeated, simulated) = (path(true), path(false));
    assert_eq!(repeated.len(), simulated.len());
    for (a, b) in repeated.iter().zip(&simulated) {
        assert!((a.end.get() - b.end.get()).abs() < 1e-12 * b.end.get());
        let ends = PathPiece {
            begin: b.begin,
            end: b.end,
            ..*a
        };
        assert_eq!(ends, *b);
    }
    assert_eq!(repeated.last().map(|piece| piece.superstep), Some(5));
}
