//! Tests of packets in queues.

use proptest::prelude::*;

use super::*;

/// A message: start time \[s\], bytes, and links.
type Message = (f64, f64, Vec<u32>);

const PACKET: f64 = 100.0;
const LINKS: usize = 5;

/// Runs the queues until no message is in progress; returns the end of each message \[s\].
fn ends(
    messages: &[Message],
    links: &[(f64, f64, bool)],
    mut change: Option<(f64, f64)>,
) -> Vec<f64> {
    let mut queues = PacketQueues::new(links.len(), PACKET);
    let mut queue = EventList::new();
    let mut bandwidth: Vec<f64> = links.iter().map(|link| link.0).collect();
    for (token, (start, bytes, route)) in messages.iter().enumerate() {
        let way = route.iter().map(|&link| {
            let (_, latency, is_shared) = links[link as usize];
            (link, latency, is_shared)
        });
        let start = MessageStart {
            bytes: *bytes,
            delay: *start,
            connection: None,
        };
        queues.start_message(start, way, token, 0.0, &mut queue);
    }
    let mut ends = vec![f64::NAN; messages.len()];
    while let Some(date) = queue.next_event_time() {
        if let Some((at, to)) = change.filter(|&(at, _)| at < date) {
            bandwidth[0] = to;
            queues.resume_queues_of_link(0, to, at, &mut queue);
            change = None;
            continue;
        }
        assert!(date < f64::INFINITY, "nothing stands still for ever");
        let Some((date, Event::NetworkStep(step))) = queue.pop() else {
            break;
        };
        let speed = |link: u32| bandwidth[link as usize];
        if let Some(ended) =
            queues.perform_packet_step(PacketStep::from_number(step), date, &speed, &mut queue)
        {
            assert_eq!(
                queues.links_on_route(&ended).count(),
                messages[ended.token].2.len()
            );
            ends[ended.token] = date;
        }
    }
    ends
}

/// Computes the same slowly: in each step the packet that is ready first crosses its next link.
fn first_come(messages: &[Message], links: &[(f64, f64, bool)]) -> Vec<f64> {
    // Time at which the packet is ready, message, number, next hop.
    let mut packets: Vec<(f64, usize, usize, usize)> = Vec::new();
    let mut sizes = Vec::new();
    for (message, (start, bytes, _)) in messages.iter().enumerate() {
        let mut left = *bytes;
        let mut list = Vec::new();
        while left > PACKET {
            list.push(PACKET + HEADER_BYTES);
            left -= PACKET;
        }
        list.push(left + HEADER_BYTES);
        packets.extend((0..list.len()).map(|number| (*start, message, number, 0)));
        sizes.push(list);
    }
    let mut free_at = vec![vec![0.0_f64; links.len()]; messages.len() + 1];
    let mut ends = vec![0.0_f64; messages.len()];
    loop {
        let ahead = packets
            .iter_mut()
            .filter(|packet| packet.3 < messages[packet.1].2.len());
        let Some(first) =
            ahead.min_by(|a, b| (a.0, a.1, a.2).partial_cmp(&(b.0, b.1, b.2)).unwrap())
        else {
            break;
        };
        let (ready, message, number, hop) = *first;
        let link = messages[message].2[hop] as usize;
        let (bandwidth, latency, is_shared) = links[link];
        let owner = if is_shared { messages.len() } else { message };
        let free_at = &mut free_at[owner][link];
        *free_at = free_at.max(ready) + sizes[message][number] / bandwidth;
        *first = (*free_at + latency, message, number, hop + 1);
    }
    for (date, message, ..) in packets {
        ends[message] = ends[message].max(date);
    }
    ends
}

fn any_messages() -> impl Strategy<Value = Vec<Message>> {
    let route = Just((0..to_u32(LINKS)).collect::<Vec<_>>()).prop_shuffle();
    let route = (route, 0..LINKS).prop_map(|(links, count)| links[..count].to_vec());
    prop::collection::vec((0.0..5.0_f64, 0.0..1e3_f64, route), 1..12)
}

fn any_links() -> impl Strategy<Value = Vec<(f64, f64, bool)>> {
    let link = (50.0..2e3_f64, 0.0..1.0_f64, prop::bool::weighted(0.8));
    prop::collection::vec(link, LINKS)
}

proptest! {
    #[test]
    fn packets_pass_first_come_first_served(messages in any_messages(), links in any_links()) {
        let (found, expected) = (ends(&messages, &links, None), first_come(&messages, &links));
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() <= 1e-9 * expected, "{} {}", found, expected);
        }
    }

    #[test]
    fn a_link_that_stops_and_goes_on_delays_and_loses_nothing(messages in any_messages(), mut links in any_links(), at in 5.0..50.0_f64) {
        let bandwidth = links[0].0;
        let before = ends(&messages, &links, None);
        links[0].0 = 0.0;
        let after = ends(&messages, &links, Some((at, bandwidth)));
        for ((start, _, route), (before, after)) in messages.iter().zip(before.iter().zip(&after)) {
            prop_assert!(after.is_finite());
            prop_assert!(!route.contains(&0) || *after >= at.max(*start), "{} {}", before, after);
        }
    }
}

#[test]
fn packets_overlap_on_the_links_of_a_route_and_wait_for_those_before_them() {
    // 250 B: packets of 190, 190 and 140 B on the wire. 190 B/s and 95 B/s, 0.5 s after the first link.
    let links = [(190.0, 0.5, true), (95.0, 0.0, true)];
    let message = |start: f64| (start, 250.0, vec![0, 1]);
    // The first packet is on the second link from 1.5 to 3.5 s, the second to 5.5 s, the third for 140 / 95 s more.
    let alone = 5.5 + 140.0 / 95.0;
    assert_eq!(ends(&[message(0.0)], &links, None), [alone]);
    // A second message uses the links after the first one.
    let after = alone + 4.0 + 140.0 / 95.0;
    assert_eq!(
        ends(&[message(0.0), message(0.25)], &links, None),
        [alone, after]
    );
    // A message of no bytes is one packet of headers.
    assert_eq!(
        ends(&[(1.0, 0.0, vec![1])], &links, None),
        [1.0 + 90.0 / 95.0]
    );
    assert_eq!(ends(&[(1.0, 50.0, vec![])], &links, None), [1.0]);
}
