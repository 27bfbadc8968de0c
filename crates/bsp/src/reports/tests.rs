//! Reports of two processes over a few supersteps, worked out by hand.

use super::*;
use crate::policy::testing;
use migsim_base::units::{Bytes, HostId, ProcessId};

/// Returns what a policy sees after each superstep. Process 0 works for 1, 2, 3, ... instructions, process 1 for 10, 20, 30, ..., and each
/// instruction takes one second. The external load of host 1 is a tenth of the number of the superstep.
fn seen(config: ViewConfig, supersteps: u32) -> Vec<([f64; 2], [f64; 2], f64)> {
    let platform = migsim_platform::open("lbm").unwrap().platform;
    let placement = [0, 1].map(HostId::from_index);
    let mut reports = ReportHistory::new(config, 1).unwrap();
    let mut measures = Measures::default();
    let mut seen = Vec::new();
    for number in 1..=supersteps {
        measures.clear(2);
        for (process, work) in [f64::from(number), 10.0 * f64::from(number)]
            .into_iter()
            .enumerate()
        {
            measures.work[process] = Instructions::of(work);
            measures.computation_times[process] = Seconds::of(work);
        }
        let messages = [Message {
            from: ProcessId(0),
            to: ProcessId(1),
            size: Bytes::of(f64::from(number)),
        }];
        let view = View {
            superstep: number as usize - 1,
            messages: &messages,
            ..testing::test_view(&platform, &placement, &measures)
        };
        let load = f64::from(number) / 10.0;
        let mut loads = vec![ExternalLoad::default(); platform.hosts.len()];
        loads[1] = ExternalLoad::reserved(load);
        reports.record_reports(&view, loads.clone());
        reports.degrade_loads(view.superstep, std::iter::once(1), &mut loads);
        let view = reports.degrade_view(view);
        let of = |list: &[Instructions]| [list[0].get(), list[1].get()];
        let bytes = view.messages[0].size.get();
        assert_eq!(
            view.measurements.work[0].get(),
            view.measurements.computation_times[0].get()
        );
        seen.push((of(&view.measurements.work), [bytes, 0.0], loads[1].reserved));
    }
    seen
}

/// Returns the work of process 0 that a policy sees.
fn works(config: ViewConfig, supersteps: u32) -> Vec<f64> {
    let seen = seen(config, supersteps);
    seen.iter().map(|one| one.0[0]).collect()
}

#[test]
fn nothing_is_kept_where_everything_is_seen_exactly() {
    assert!(ReportHistory::new(ViewConfig::default(), 1).is_none());
    assert_eq!(
        ViewConfig::default().stored_reports_memory(100.0, 1e6, 1e6, 1e3),
        0.0
    );
}

#[test]
fn late_reports_are_those_of_earlier_supersteps() {
    let config = ViewConfig {
        delay: 2,
        ..ViewConfig::default()
    };
    assert_eq!(works(config, 5), [1.0, 1.0, 1.0, 2.0, 3.0]);
    let last = seen(config, 5)[4];
    assert_eq!(last, ([3.0, 30.0], [3.0, 0.0], 0.3)); // its message and the load, too
}

#[test]
fn a_window_averages_what_has_arrived() {
    let window = ViewConfig {
        window: 3,
        ..ViewConfig::default()
    };
    // 1; (1 + 2)/2; (1 + 2 + 3)/3; (2 + 3 + 4)/3.
    assert_eq!(works(window, 4), [1.0, 1.5, 2.0, 3.0]);
    let late = ViewConfig { delay: 1, ..window };
    assert_eq!(works(late, 5), [1.0, 1.0, 1.5, 2.0, 3.0]);
    // The message is from the newest report; the load is a mean: (0.2 + 0.3 + 0.4)/3.
    let (_, message, load) = seen(window, 4)[3];
    assert_eq!(message[0], 4.0);
    assert!((load - 0.3).abs() < 1e-12);
}

#[test]
fn errors_have_the_mean_0_and_the_deviation_that_is_set() {
    let config = ViewConfig {
        noise: 0.05,
        ..ViewConfig::default()
    };
    let found = works(config, 2000);
    let errors: Vec<f64> = (1..)
        .zip(&found)
        .map(|(number, seen)| seen / f64::from(number) - 1.0)
        .collect();
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let deviation = (errors.iter().map(|error| error * error).sum::<f64>() / count).sqrt();
    // Standard errors: 0.05/√2000 = 0.0011 of the mean, about 0.0005 of the deviation.
    assert!(
        mean.abs() < 0.0045 && (deviation - 0.05).abs() < 0.002,
        "{mean} {deviation}"
    );
    assert!(
        errors
            .iter()
            .all(|error| error.abs() <= 3.0_f64.sqrt() * 0.05)
    );
    assert_eq!(found, works(config, 2000));
}

#[test]
fn the_report_before_takes_the_place_of_a_lost_one() {
    let config = ViewConfig {
        missing: 0.5,
        ..ViewConfig::default()
    };
    let found = works(config, 1000);
    assert_eq!(found[0], 1.0);
    let pairs = (2..).zip(found.windows(2));
    let lost = pairs.filter(|(number, pair)| {
        assert!(pair[1] == f64::from(*number) || pair[1] == pair[0]);
        pair[1] == pair[0]
    });
    // 999 draws: a standard deviation of 16.
    let lost = lost.count();
    assert!((430..570).contains(&lost), "{lost}");
    // The draws for losses do not depend on the noise.
    let noisy = ViewConfig {
        noise: 0.01,
        ..config
    };
    let repeats = works(noisy, 1000)
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .count();
    assert_eq!(repeats, lost);
}

#[test]
fn what_is_out_of_range_has_its_key() {
    let config = ViewConfig {
        noise: 0.6,
        delay: 20_000,
        window: 0,
        missing: f64::NAN,
    };
    let keys: Vec<String> = config
        .problems()
        .into_iter()
        .filter_map(|problem| problem.location.key)
        .collect();
    assert_eq!(
        keys,
        ["view.noise", "view.missing", "view.delay", "view.window"]
    );
    assert!(ViewConfig::default().problems().is_empty());
}
