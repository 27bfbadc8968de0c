//! The processor time that messages take on the cores of their processes.

use migsim::{bsp::ShortcutChoice, engine::ProcessorTime};

use super::*;

/// Links on which only the latency counts: a route has 2 ms.
const LATENCY: Wire = Wire(1e15, 1e-3);

fn time(seconds: f64) -> ProcessorTime {
    ProcessorTime {
        per_message: Seconds::of(seconds),
        ..ProcessorTime::ZERO
    }
}

fn network(send: f64, receive: f64) -> NetworkModel {
    NetworkModel {
        o_send: time(send),
        o_receive: time(receive),
        ..NetworkModel::default()
    }
}

/// Returns the makespan, which is the same by direct evaluation and event by event.
fn both_ways(case: &Case<'_>) -> f64 {
    let [directly, by_events] = [ShortcutChoice::default(), ShortcutChoice::None].map(|choice| {
        let runtime = RuntimeConfig {
            shortcuts: choice,
            ..case.runtime
        };
        let placement = case.placement.clone();
        let case = Case {
            placement,
            runtime,
            ..*case
        };
        makespan(&case.run())
    });
    assert_close(by_events, directly, 1e-12, "both ways");
    directly
}

#[test]
fn a_thousand_messages_of_a_process_cost_more_than_one() {
    let platform = switch(2, LATENCY);
    let time = |messages: usize, (send, receive), sends| {
        let plans = Plans::new(vec![plan(&[1e9, 0.0], &vec![(0, 1, 0.0); messages])]);
        both_ways(&Case {
            network: network(send, receive),
            runtime: exchange(sends, TransferStart::Early),
            ..Case::new(&platform, &plans, 0..2)
        })
    };
    let concurrent = SendOrder::Concurrent;
    assert_close(time(1, (2e-5, 3e-5), concurrent), 1.00205, 1e-12, "one");
    // The first message arrives after 20 us and 2 ms; from then on the receiver is busy.
    let expected = 1.0 + 2e-5 + 2e-3 + 1000.0 * 3e-5;
    assert_close(
        time(1000, (2e-5, 3e-5), concurrent),
        expected,
        1e-12,
        "receiver",
    );
    // The last message is sent after 30 ms.
    let expected = 1.0 + 1000.0 * 3e-5 + 2e-3 + 2e-5;
    assert_close(
        time(1000, (3e-5, 2e-5), concurrent),
        expected,
        1e-12,
        "sender",
    );
    // Each message is sent when the one before has arrived.
    let expected = 1.0 + 1000.0 * (2e-5 + 2e-3) + 3e-5;
    assert_close(
        time(1000, (2e-5, 3e-5), SendOrder::Sequential),
        expected,
        1e-12,
        "one after the other",
    );
}

#[test]
fn processes_of_a_host_share_its_cores_while_they_send() {
    let messages: Vec<_> = (0..8)
        .flat_map(|from| vec![(from, from + 8, 0.0); 10])
        .collect();
    let plans = Plans::new(vec![plan(&[0.0; 16], &messages)]);
    for cores in [1, 4, 8] {
        let mut platform = switch(2, LATENCY);
        (platform.hosts[0].cores, platform.hosts[1].cores) = (cores, 8);
        let case = Case {
            network: network(1e-3, 5e-4),
            ..Case::new(&platform, &plans, (0..16).map(|process| process / 8))
        };
        // Each process has cores/8 of a core for its ten sends. The receivers have a core each, and take less time than the senders.
        let expected = 10.0 * 1e-3 * 8.0 / f64::from(cores) + 2e-3 + 5e-4;
        assert_close(both_ways(&case), expected, 1e-12, "eight processes");
        // With 8 cores, the same holds for the way back: eight receivers that share the cores need the time of 80 receives.
        let back: Vec<_> = messages.iter().map(|one| (one.1, one.0, 0.0)).collect();
        let plans = Plans::new(vec![plan(&[0.0; 16], &back)]);
        let case = Case {
            network: network(1e-9, 1e-3),
            ..Case::new(&platform, &plans, (0..16).map(|process| process / 8))
        };
        let expected = 1e-9 + 2e-3 + 80.0 * 1e-3 / f64::from(cores);
        assert_close(both_ways(&case), expected, 1e-12, "eight receivers");
    }
}

#[test]
fn receives_take_the_cores_that_computations_and_sends_leave() {
    // Process 1 has a message after 0.102 s; process 0, on the same host, computes for 2 s. Other work keeps L cores busy.
    let plans = Plans::new(vec![plan(&[2e9, 0.0, 1e8], &[(2, 1, 0.0)])]);
    for (cores, busy, expected) in [
        (1, 0.0, 2.0 + 0.5),
        (2, 0.0, 2.0), // the receive ends after 0.602 s
        // The computation has half of the core, other work the rest, of which the receive takes half.
        (1, 1.0, 4.0),
    ] {
        let mut platform = switch(2, LATENCY);
        (platform.hosts[0].cores, platform.hosts[0].busy_cores) = (cores, busy);
        let case = Case {
            network: network(0.0, 0.5),
            ..Case::new(&platform, &plans, [0, 0, 1])
        };
        assert_close(both_ways(&case), expected, 1e-12, "makespan");
    }
}

#[test]
fn a_message_that_waits_for_its_receiver_starts_when_the_receiver_has_computed() {
    // The receiver sends for 0.5 s after its computation of 1 s; the message to it starts after 1 s, and is received after 1.5 s.
    let platform = switch(2, LATENCY);
    let plans = Plans::new(vec![plan(&[0.0, 1e9], &[(0, 1, 0.0), (1, 0, 0.0)])]);
    let case = Case {
        network: network(0.5, 0.25),
        runtime: exchange(SendOrder::Concurrent, TransferStart::Late),
        ..Case::new(&platform, &plans, 0..2)
    };
    assert_close(both_ways(&case), 1.5 + 2e-3 + 0.25, 1e-12, "late");
}

#[test]
fn a_price_of_an_end_may_grow_with_bytes_and_cores() {
    let platform = switch(3, LATENCY);
    let plans = Plans::new(vec![plan(&[0.0; 3], &[(0, 1, 1e6)])]);
    let case = Case {
        network: NetworkModel {
            o_receive: "1 ms + 2 ns/B".parse().unwrap(),
            o_per_core: 0.25,
            ..NetworkModel::default()
        },
        ..Case::new(&platform, &plans, 0..3)
    };
    // Three cores: 3 ms of the receiver grow by a half.
    assert_close(both_ways(&case), 2e-3 + 4.5e-3 + 1e-9, 1e-12, "grown");
}

#[test]
fn a_manager_receives_and_answers_one_message_after_the_other() {
    let platform = switch(4, LATENCY);
    let plans = Plans::repeat(plan(&[1e9; 4], &[]), 2);
    let cost = |network| {
        let case = Case {
            network,
            scenario: Scenario::Ii,
            ..Case::new(&platform, &plans, 0..4)
        };
        let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
        outcome.calls[0].cost.get()
    };
    // Three reports are sent together and received in turn, three answers are sent in turn and received together.
    let more = cost(network(0.25, 0.5)) - cost(network(0.0, 0.0));
    assert_close(more, (0.25 + 3.0 * 0.5) + (3.0 * 0.25 + 0.5), 1e-9, "call");
}

#[test]
fn control_messages_of_barriers_are_delayed_by_the_times_of_their_ends() {
    let platform = switch(2, LATENCY);
    let plans = Plans::new(vec![plan(&[1e9, 1e9], &[])]);
    for kind in [BarrierKind::Central, BarrierKind::Dissemination] {
        let runtime = RuntimeConfig {
            barrier: BarrierConfig {
                kind,
                ..BarrierConfig::default()
            },
            ..RuntimeConfig::default()
        };
        let times = [network(0.25, 0.5), NetworkModel::default()].map(|network| {
            both_ways(&Case {
                network,
                runtime,
                ..Case::new(&platform, &plans, 0..2)
            })
        });
        let messages = if kind == BarrierKind::Central {
            2.0
        } else {
            1.0
        };
        assert_close(times[0] - times[1], 0.75 * messages, 1e-9, "barrier");
    }
}
