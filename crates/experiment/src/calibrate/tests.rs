//! Tables whose overhead, bandwidth factor and lines inside a host are known.

use super::*;
use migsim_base::units::HostId;
use migsim_engine::testing::single_cluster_platform;

/// Two links of 1e6 B/s and 1 ms.
fn platform() -> Platform {
    single_cluster_platform(&[1e9; 2], 1e6, 1e-3)
}

fn table(rows: &[(f64, f64)]) -> Vec<MeasuredMessages> {
    let ping = |&(bytes, time): &(f64, f64)| MeasuredMessages {
        sender_host: HostId(0),
        receiver_host: HostId(1),
        message_size: bytes,
        median_time: time,
        message_count: 1,
        kind: MeasurementKind::Ping,
    };
    rows.iter().map(ping).collect()
}

/// One way over two links, store and forward of 1538 B packets, with an overhead of 50 us and a factor of 0.8.
fn time(bytes: f64) -> f64 {
    let packet = (bytes.min(1448.0) + 90.0) / 1e6;
    let way = 0.002 + 50e-6 + packet + bytes / 0.8e6;
    if bytes > 65_536.0 {
        way + 0.004 + 50e-6
    } else {
        way
    }
}

#[test]
fn overhead_and_factor_are_found_in_spite_of_outliers() {
    let sizes = [1.0, 100.0, 1e3, 1e4, 6e4, 1e5, 1e6, 4e6];
    let mut rows: Vec<(f64, f64)> = sizes.iter().map(|&size| (size, time(size))).collect();
    rows[1].1 *= 3.0;
    rows[5].1 *= 0.6;
    let found = calibrate(&platform(), &table(&rows), "open-mpi", ("mine", "t.csv")).unwrap();
    assert!(
        (found.fitted_overhead.unwrap() - 50e-6).abs() < 1e-9,
        "{found:?}"
    );
    assert!((found.fitted_bandwidth_factor.unwrap() - 0.8).abs() < 1e-5);
    assert!(found.median_residual < 1e-6);
    assert_eq!(found.undetermined_constants.len(), 1);
    assert_eq!(found.library_json["network"]["overhead"], "50 us");
    assert!(
        found.library_json["origins"]["network.overhead"]
            .as_str()
            .unwrap()
            .starts_with("fitted: t.csv")
    );
    assert_eq!(found.library_json["runtime"]["barrier"]["kind"], "library");
    assert_eq!(found.reasons_for_doubt, [""; 0]);
}

#[test]
fn a_fit_that_no_library_has_is_doubted() {
    let found = |rows: &[(f64, f64)]| {
        calibrate(&platform(), &table(rows), "open-mpi", ("mine", "t.csv")).unwrap()
    };
    let sizes = [1.0, 1e3, 1e5, 1e6];
    // Milliseconds are given as seconds.
    let found_in_ms = found(&sizes.map(|size| (size, 1e3 * time(size))));
    assert!(found_in_ms.reasons_for_doubt[0].contains("check that the times are in seconds"));
    let origin = &found_in_ms.library_json["origins"]["network.overhead"];
    assert!(
        origin
            .as_str()
            .unwrap()
            .contains("; doubtful: the overhead of ")
    );
    let description = found_in_ms.library_json["description"].as_str().unwrap();
    assert!(description.contains("t.csv. Doubtful: the overhead of "));
    // The platform is ten times too slow.
    let found_fast = found(&sizes.map(|size| (size, time(size) - size * 1.125e-6)));
    assert!(found_fast.reasons_for_doubt[0].contains("factor 8 is not between 0.1 and 1.05"));
    // No line describes these times.
    let scattered = [
        (1.0, 0.003),
        (2.0, 0.01),
        (3.0, 0.03),
        (4.0, 0.1),
        (5.0, 0.3),
    ];
    let found_none = found(&scattered);
    let last = found_none.reasons_for_doubt.last().unwrap();
    assert!(last.contains("does not describe the table"), "{last}");
}

#[test]
fn a_network_slower_than_its_platform_has_a_small_factor() {
    // A factor of 0.1 makes the transfer at the bandwidth of the platform a tenth of the measured time.
    let slow = |bytes: f64| time(bytes) + bytes / 0.1e6 - bytes / 0.8e6;
    let sizes = [1.0, 1e3, 1e6, 4e6];
    let rows: Vec<(f64, f64)> = sizes.iter().map(|&size| (size, slow(size))).collect();
    let found = calibrate(&platform(), &table(&rows), "open-mpi", ("mine", "t.csv")).unwrap();
    assert!((found.fitted_bandwidth_factor.unwrap() - 0.1).abs() < 1e-5);
    assert!((found.fitted_overhead.unwrap() - 50e-6).abs() < 1e-9);
    assert!(found.median_residual < 1e-6);
    // With one size alone, the overhead is that of the library.
    let one = table(&rows[3..]);
    let found = calibrate(&platform(), &one, "open-mpi", ("mine", "t.csv")).unwrap();
    assert!((found.fitted_bandwidth_factor.unwrap() - 0.1).abs() < 1e-3);
    assert_eq!(
        (
            found.fitted_overhead,
            found.library_overhead_and_bandwidth_factor.0
        ),
        (None, 147e-6)
    );
}

#[test]
fn messages_inside_a_host_have_a_line_of_their_own() {
    let ping = |bytes: f64, is_exchange: bool| MeasuredMessages {
        sender_host: HostId(0),
        receiver_host: HostId(0),
        message_size: bytes,
        // 4 us and 2 GB/s; two at a time take twice the transfer.
        median_time: 4e-6 + bytes / 2e9 * if is_exchange { 2.0 } else { 1.0 },
        message_count: 1,
        kind: if is_exchange {
            MeasurementKind::Exchange
        } else {
            MeasurementKind::Ping
        },
    };
    let sizes = [1.0, 1e3, 1e5, 1e6];
    let mut rows: Vec<MeasuredMessages> = sizes.iter().map(|&bytes| ping(bytes, false)).collect();
    rows.extend(sizes.iter().map(|&bytes| ping(bytes, true)));
    let found = |rows: &[MeasuredMessages]| {
        calibrate(&platform(), rows, "open-mpi", ("mine", "t.csv")).unwrap()
    };
    let alone = found(&rows);
    let inside = alone.inside_host_constants.unwrap();
    assert!((inside.overhead - 4e-6).abs() < 1e-12, "{inside:?}");
    assert!((inside.bandwidth.unwrap() / 2e9 - 1.0).abs() < 1e-9);
    assert_eq!(inside.is_bandwidth_shared, Some(true));
    assert!(alone.median_residual < 1e-9);
    assert_eq!(
        (
            alone.fitted_overhead,
            alone.library_overhead_and_bandwidth_factor
        ),
        (None, (147e-6, 0.94))
    );
    assert!(
        alone.undetermined_constants[0].starts_with("overhead and bandwidth factor between hosts")
    );
    let network = &alone.library_json["network"];
    assert_eq!(
        (&network["loopback_overhead"], &network["overhead"]),
        (&json!("4 us"), &json!("147 us"))
    );
    assert_eq!(network["loopback_shared"], true);
    // The engine has the same times.
    let (model, _) = read_library_models(&alone.library_json).unwrap();
    let platform = platform();
    let mut simulation = Simulation::new(&platform, model);
    simulation
        .send(HostId(0), HostId(0), Bytes::of(1e6), ())
        .unwrap();
    simulation.next_ended().unwrap();
    assert!((simulation.local_time() - 504e-6).abs() < 1e-9);
    // Both kinds in one table.
    let network = [1.0, 1e3, 1e6].map(|size| (size, time(size)));
    let both = found(&[table(&network), rows].concat());
    assert!((both.fitted_overhead.unwrap() - 50e-6).abs() < 1e-9);
    assert!((both.inside_host_constants.unwrap().overhead - 4e-6).abs() < 1e-12);
    assert!(both.median_residual < 1e-6, "{both:?}");
}

#[test]
fn a_stream_divides_the_overhead_into_a_delay_and_processor_times() {
    let sizes = [1.0, 1e3, 6e4, 1e6];
    let mut rows = table(&sizes.map(|size| (size, time(size))));
    let stream = |bytes: f64, time: f64| MeasuredMessages {
        kind: MeasurementKind::Stream,
        ..table(&[(bytes, time)])[0].clone()
    };
    // The transfer of 1 kB takes 1 ms.
    rows.extend([stream(1.0, 20e-6), stream(1e3, 1.1e-3)]);
    let found = |rows: &[MeasuredMessages]| {
        calibrate(&platform(), rows, "open-mpi", ("mine", "t.csv")).unwrap()
    };
    let network = found(&rows).library_json["network"].clone();
    let parts = ["overhead", "o_send", "o_receive"].map(|key| network[key].clone());
    assert_eq!(parts, ["10 us", "20 us", "20 us"].map(Value::from));
    assert_eq!(found(&rows).stream_times, [Some(20e-6), None]);
    // A stream that is slower than half of the overhead shows the slower end.
    rows[4].median_time = 35e-6;
    let network = found(&rows).library_json["network"].clone();
    let parts = ["overhead", "o_send", "o_receive"].map(|key| network[key].clone());
    assert_eq!(parts, ["0 us", "15 us", "35 us"].map(Value::from));
}

#[test]
fn constants_that_a_table_does_not_determine_keep_their_values() {
    let small = table(&[(1.0, time(1.0)), (8.0, time(8.0))]);
    let found = calibrate(&platform(), &small, "open-mpi", ("mine", "t.csv")).unwrap();
    assert_eq!(found.fitted_bandwidth_factor, None);
    assert_eq!(
        found.library_overhead_and_bandwidth_factor,
        (found.fitted_overhead.unwrap(), 0.94)
    );
    assert!((found.fitted_overhead.unwrap() - 50e-6).abs() < 1e-6);
    assert_eq!(found.library_json["network"]["bandwidth_factor"], 0.94);
    let large = table(&[(1e7, time(1e7)), (2e7, time(2e7))]);
    let found = calibrate(&platform(), &large, "open-mpi", ("mine", "t.csv")).unwrap();
    assert_eq!(found.fitted_overhead, None);
    assert!((found.fitted_bandwidth_factor.unwrap() - 0.8).abs() < 1e-4);
    assert!(found.undetermined_constants[0].contains("no measured message is small enough"));
    // The messages are faster than the platform allows: the overhead stays 0.
    let fast = table(&[(1.0, 0.001), (8.0, 0.001)]);
    let found = calibrate(&platform(), &fast, "open-mpi", ("mine", "t.csv")).unwrap();
    assert_eq!(found.fitted_overhead, Some(0.0));
    assert!(found.undetermined_constants[0].contains("are longer than the measured times"));
}
