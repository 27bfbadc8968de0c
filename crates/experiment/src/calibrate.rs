//! Calibration: the overhead and the bandwidth factor of a library, from a table of single messages.
//!
//! ```text
//! t(m) = base(m) + k(m) · overhead + transfer(m) / factor       k: 1, or 2 with a handshake
//! minimise Σ |t(m) - measured(m)| / measured(m)                 over the sizes and pairs of hosts of the table
//! ```
//! `base`, `k` and `transfer` come from the engine, which simulates one message on an idle platform. Least absolute errors are insensitive
//! to outliers. Their minimum goes through two points of the table, or through one point at a bound, so all pairs of points are tried. Slow
//! start is off, because pings keep their connection active. A constant that the table does not determine keeps the value of the library.

use serde_json::{Value, json};

use super::library;
use super::pingpong::{Pings, median};
use migsim_base::error::Error;
use migsim_base::units::{Bytes, Seconds};
use migsim_bsp::{Receives, RuntimeConfig};
use migsim_engine::{NetworkModel, Simulation};
use migsim_platform::Platform;

/// The result of a calibration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// Overhead of a message \[s\]; none if the table has no small messages.
    pub overhead: Option<f64>,
    /// Bandwidth factor: the factor of the rate of a flow; none if the table has no large messages.
    pub bandwidth_factor: Option<f64>,
    /// The overhead \[s\] and the bandwidth factor in use: the calibrated value, or else the value of the library.
    pub in_use: (f64, f64),
    /// The predicted times, in the order of the table \[s\].
    pub predicted: Vec<f64>,
    /// The median of the absolute relative residuals.
    pub median_residual: f64,
    /// The constants that the table does not determine, one sentence each.
    pub open: Vec<String>,
    /// Reasons to doubt the fit, a sentence each.
    pub doubts: Vec<String>,
    /// The calibrated library as a file.
    pub library: Value,
}

/// A point of the table as an equation.
#[derive(Clone, Copy, Debug)]
struct Equation {
    base: f64,
    messages: f64,
    transfer: f64,
    measured: f64,
}

impl Equation {
    /// Predicts the time \[s\] from an overhead \[s\] and the inverse of a bandwidth factor.
    fn time(&self, (overhead, inverse): (f64, f64)) -> f64 {
        self.base + self.messages * overhead + self.transfer * inverse
    }

    fn error(&self, at: (f64, f64)) -> f64 {
        (self.time(at) - self.measured).abs() / self.measured
    }

    /// Whether the transfer, at the bandwidth of the platform, takes longer than the latency plus this overhead \[s\].
    fn is_large(&self, overhead: f64) -> bool {
        self.transfer > self.base + self.messages * overhead
    }

    /// The measured time without the part that the platform explains.
    fn rest(&self) -> f64 {
        self.measured - self.base
    }
}

/// Minimum ratio of the longest to the shortest transfer of a table. Below it, overhead and bandwidth cannot be determined separately.
const SPREAD: f64 = 2.0;
/// Maximum plausible overhead of a message \[s\]. Open MPI over TCP has 0.147 ms where ranks sleep (`results/reality.md`).
const MOST_OVERHEAD: f64 = 0.01;
/// Minimum and maximum plausible bandwidth factor. Frames of Ethernet leave 0.94 to the payload.
const FACTORS: [f64; 2] = [0.1, 1.05];
/// The largest median residual of a fit that describes its table.
const MOST_RESIDUAL: f64 = 0.25;
/// Maximum number of points that are fitted. From a larger table the fit takes each second, third, ... point.
const MOST_POINTS: usize = 200;

/// Fits the library `base` to a table of messages on a platform; the result is called `name`.
///
/// # Errors
/// The base is unknown, or a message has no route.
pub fn calibrate(
    platform: &Platform,
    pings: &[Pings],
    base: &str,
    (name, source): (&str, &str),
) -> Result<Calibration, Error> {
    let mut file = library::file_of(base)?;
    let (network, runtime) = models(&file)?;
    let receives = runtime.receives;
    let equations: Vec<Equation> = pings
        .iter()
        .map(|ping| equation(platform, network, receives, ping))
        .collect::<Result<_, _>>()?;
    // Both constants are fitted, unless the messages are too similar to determine them separately.
    let free = if tells_apart(&equations) {
        fit(&equations, (None, None)).0
    } else {
        network.overhead.get()
    };
    let has_small = equations.iter().any(|one| !one.is_large(free));
    let has_large = equations.iter().any(|one| one.is_large(free));
    let fixed = (
        (!has_small).then_some(network.overhead.get()),
        (!has_large).then_some(1.0 / network.bandwidth_factor),
    );
    let found = fit(&equations, fixed);
    let mut open = Vec::new();
    if !has_small {
        open.push("the overhead per message: no message is small enough".to_owned());
    } else if found.0 <= 0.0 {
        let what = "the overhead per message: the latencies of the platform explain more time than was measured";
        open.push(what.to_owned());
    }
    if !has_large {
        let what = "the bandwidth factor: no message is large enough, each transfer takes less than latency and overhead";
        open.push(what.to_owned());
    } else if found.1 < 1.0 {
        let what =
            "whether the bandwidths of the platform are right: messages are faster than they allow";
        open.push(what.to_owned());
    }
    let rest = "the limit of late messages, the barrier, slow start and sharing: single messages do not show them";
    open.push(format!("{rest}; they are those of `{base}`"));
    let predicted: Vec<f64> = equations.iter().map(|one| one.time(found)).collect();
    let mut residuals: Vec<f64> = equations.iter().map(|one| one.error(found)).collect();
    let median_residual = median(&mut residuals);
    let overhead = has_small.then_some(found.0);
    let bandwidth_factor = has_large.then_some(rounded(1.0 / found.1, 1e5));
    write(&mut file, overhead, bandwidth_factor, source);
    if overhead.is_some() {
        // The table states neither the transport of its messages nor how processes waited for them.
        let library = file["machine"]["library"].take();
        file["machine"] = json!({ "library": library });
        if file["machine"]["library"].is_null() {
            file.as_object_mut().map(|keys| keys.remove("machine"));
        }
    }
    let doubts = doubts(overhead, bandwidth_factor, median_residual);
    file["name"] = json!(name);
    let mut description = format!("The library {base}, calibrated on {source}.");
    for (key, doubt) in &doubts {
        description.extend([" Doubtful: ", doubt.as_str()]);
        if let Some(key) = key {
            file["origins"][key] = json!(format!("fitted: {source}; doubtful: {doubt}"));
        }
    }
    file["description"] = json!(description);
    file["measured"] = json!({
        "points": pings.len(),
        "messages": pings.iter().map(|ping| ping.count).sum::<usize>(),
        "median_residual": rounded(median_residual, 1e6),
    });
    Ok(Calibration {
        overhead,
        bandwidth_factor,
        in_use: (
            overhead.unwrap_or(network.overhead.get()),
            bandwidth_factor.unwrap_or(network.bandwidth_factor),
        ),
        predicted,
        median_residual,
        open,
        doubts: doubts.into_iter().map(|(_, doubt)| doubt).collect(),
        library: file,
    })
}

/// Reasons to doubt a fit, each with the key of the library that it is about.
fn doubts(
    overhead: Option<f64>,
    factor: Option<f64>,
    residual: f64,
) -> Vec<(Option<&'static str>, String)> {
    let mut doubts = Vec::new();
    if let Some(overhead) = overhead.filter(|overhead| *overhead > MOST_OVERHEAD) {
        let (found, most) = (rounded(overhead, 1e4), MOST_OVERHEAD);
        let doubt = format!(
            "the overhead of {found} s a message is above {most} s, far more than message-passing libraries have: are the times in seconds?"
        );
        doubts.push((Some("network.overhead"), doubt));
    }
    let [least, most] = FACTORS;
    if let Some(factor) = factor.filter(|factor| !(least..=most).contains(factor)) {
        let doubt = format!(
            "the bandwidth factor {factor} is not between {least} and {most}: are the times in seconds, and are the bandwidths of the platform right?"
        );
        doubts.push((Some("network.bandwidth_factor"), doubt));
    }
    if residual > MOST_RESIDUAL {
        let (found, most) = (100.0 * residual, 100.0 * MOST_RESIDUAL);
        let doubt = format!(
            "the median residual of {found:.1} % is above {most} %: the fit does not describe the table"
        );
        doubts.push((None, doubt));
    }
    doubts
}

/// Writes the fitted constants into a library, with their origin.
fn write(file: &mut Value, overhead: Option<f64>, factor: Option<f64>, source: &str) {
    let overhead = overhead.map(|overhead| json!(format!("{} us", rounded(overhead * 1e6, 1e3))));
    let found = [
        ("overhead", overhead),
        ("bandwidth_factor", factor.map(|factor| json!(factor))),
    ];
    for (key, value) in found {
        if let Some(value) = value {
            file["network"][key] = value;
            file["origins"][format!("network.{key}")] = json!(format!("fitted: {source}"));
        }
    }
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

/// Reads the network model and the settings of supersteps from the file of a library.
///
/// # Errors
/// A key or a value is wrong.
pub fn models(file: &Value) -> Result<(NetworkModel, RuntimeConfig), Error> {
    let keys = file["network"].as_object().cloned().unwrap_or_default();
    let network = super::resolve::network(&keys)?;
    let runtime = match &file["runtime"] {
        Value::Null => RuntimeConfig::default(),
        runtime => migsim_base::document::from_value(runtime, "runtime")?,
    };
    Ok((network, runtime))
}

/// Computes the parts of the simulated time of a message.
fn equation(
    platform: &Platform,
    network: NetworkModel,
    receives: Receives,
    ping: &Pings,
) -> Result<Equation, Error> {
    let time = |overhead: f64, bandwidth_factor: f64| {
        let model = NetworkModel {
            overhead: Seconds::of(overhead),
            bandwidth_factor,
            slow_start: false,
            ..network
        };
        let mut simulation = Simulation::new(platform, model);
        let size = Bytes::of(ping.bytes);
        let message = (size, receives.has_handshake(size));
        simulation.send_message(ping.from, ping.to, message, ())?;
        simulation.next_ended()?;
        Ok::<f64, Error>(simulation.local_now())
    };
    let (plain, with_overhead, at_half) = (time(0.0, 1.0)?, time(1.0, 1.0)?, time(0.0, 0.5)?);
    let transfer = at_half - plain;
    Ok(Equation {
        base: plain - transfer,
        messages: with_overhead - plain,
        transfer,
        measured: ping.time,
    })
}

/// Whether some transfers are short and some long enough to determine overhead and bandwidth separately.
fn tells_apart(equations: &[Equation]) -> bool {
    let parts = equations.iter().map(|one| one.transfer / one.messages);
    let (least, most) = parts.fold((f64::INFINITY, 0.0), |(least, most), part| {
        (part.min(least), part.max(most))
    });
    most > SPREAD * least
}

/// Finds the overhead and the inverse of the bandwidth factor with the least sum of errors; a fixed value is kept.
fn fit(all: &[Equation], fixed: (Option<f64>, Option<f64>)) -> (f64, f64) {
    let step = all.len().div_ceil(MOST_POINTS);
    let points: Vec<Equation> = all.iter().step_by(step).copied().collect();
    let cost = |at: (f64, f64)| points.iter().map(|one| one.error(at)).sum::<f64>();
    let (overhead, inverse) = (fixed.0.unwrap_or(0.0), fixed.1.unwrap_or(1.0));
    let mut best = (cost((overhead, inverse)), (overhead, inverse));
    let mut consider = |(overhead, inverse): (f64, f64)| {
        let at = (
            fixed.0.unwrap_or(overhead.max(0.0)),
            fixed.1.unwrap_or(inverse),
        );
        if at.0.is_finite() && at.1.is_finite() && at.1 > 0.0 {
            let cost = cost(at);
            if cost < best.0 {
                best = (cost, at);
            }
        }
    };
    for (index, a) in points.iter().enumerate() {
        // The fit goes through one point, with the other value fixed or at its bound.
        consider(((a.rest() - a.transfer * inverse) / a.messages, inverse));
        consider((overhead, (a.rest() - a.messages * overhead) / a.transfer));
        for b in &points[index + 1..] {
            let determinant = a.messages * b.transfer - b.messages * a.transfer;
            consider((
                (a.rest() * b.transfer - b.rest() * a.transfer) / determinant,
                (a.messages * b.rest() - b.messages * a.rest()) / determinant,
            ));
        }
    }
    best.1
}

/// The text of the library file that a calibration makes.
pub fn text_of(calibration: &Calibration) -> String {
    format!("{:#}\n", calibration.library)
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::HostId;
    use migsim_engine::testing::line;

    /// Two links of 1e6 B/s and 1 ms.
    fn platform() -> Platform {
        line(&[1e9; 2], 1e6, 1e-3)
    }

    fn table(rows: &[(f64, f64)]) -> Vec<Pings> {
        let ping = |&(bytes, time): &(f64, f64)| Pings {
            from: HostId(0),
            to: HostId(1),
            bytes,
            time,
            count: 1,
        };
        rows.iter().map(ping).collect()
    }

    /// The one-way time over two links, with store and forward of 1538 B packets, an overhead of 50 us and a factor of 0.8.
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
        assert!((found.overhead.unwrap() - 50e-6).abs() < 1e-9, "{found:?}");
        assert!((found.bandwidth_factor.unwrap() - 0.8).abs() < 1e-5);
        assert!(found.median_residual < 1e-6);
        assert_eq!(found.open.len(), 1);
        assert_eq!(found.library["network"]["overhead"], "50 us");
        assert!(
            found.library["origins"]["network.overhead"]
                .as_str()
                .unwrap()
                .starts_with("fitted: t.csv")
        );
        assert_eq!(found.library["runtime"]["barrier"]["kind"], "library");
        assert_eq!(found.doubts, [""; 0]);
    }

    #[test]
    fn a_fit_that_no_library_has_is_doubted() {
        let found = |rows: &[(f64, f64)]| {
            calibrate(&platform(), &table(rows), "open-mpi", ("mine", "t.csv")).unwrap()
        };
        let sizes = [1.0, 1e3, 1e5, 1e6];
        // Milliseconds are given as seconds.
        let found_in_ms = found(&sizes.map(|size| (size, 1e3 * time(size))));
        assert!(found_in_ms.doubts[0].contains("are the times in seconds?"));
        let origin = &found_in_ms.library["origins"]["network.overhead"];
        assert!(
            origin
                .as_str()
                .unwrap()
                .contains("; doubtful: the overhead of ")
        );
        let description = found_in_ms.library["description"].as_str().unwrap();
        assert!(description.contains("t.csv. Doubtful: the overhead of "));
        // The platform is ten times too slow.
        let found_fast = found(&sizes.map(|size| (size, time(size) - size * 1.125e-6)));
        assert!(found_fast.doubts[0].contains("factor 8 is not between 0.1 and 1.05"));
        // No line describes these times.
        let scattered = [
            (1.0, 0.003),
            (2.0, 0.01),
            (3.0, 0.03),
            (4.0, 0.1),
            (5.0, 0.3),
        ];
        let found_none = found(&scattered);
        let last = found_none.doubts.last().unwrap();
        assert!(last.contains("does not describe the table"), "{last}");
    }

    #[test]
    fn a_network_slower_than_its_platform_has_a_small_factor() {
        // A factor of 0.1 makes the transfer at the bandwidth of the platform a tenth of the measured time.
        let slow = |bytes: f64| time(bytes) + bytes / 0.1e6 - bytes / 0.8e6;
        let sizes = [1.0, 1e3, 1e6, 4e6];
        let rows: Vec<(f64, f64)> = sizes.iter().map(|&size| (size, slow(size))).collect();
        let found = calibrate(&platform(), &table(&rows), "open-mpi", ("mine", "t.csv")).unwrap();
        assert!((found.bandwidth_factor.unwrap() - 0.1).abs() < 1e-5);
        assert!((found.overhead.unwrap() - 50e-6).abs() < 1e-9);
        assert!(found.median_residual < 1e-6);
        // With one size alone, the overhead is that of the library.
        let one = table(&rows[3..]);
        let found = calibrate(&platform(), &one, "open-mpi", ("mine", "t.csv")).unwrap();
        assert!((found.bandwidth_factor.unwrap() - 0.1).abs() < 1e-3);
        assert_eq!((found.overhead, found.in_use.0), (None, 147e-6));
    }

    #[test]
    fn constants_that_a_table_does_not_determine_keep_their_values() {
        let small = table(&[(1.0, time(1.0)), (8.0, time(8.0))]);
        let found = calibrate(&platform(), &small, "open-mpi", ("mine", "t.csv")).unwrap();
        assert_eq!(found.bandwidth_factor, None);
        assert_eq!(found.in_use, (found.overhead.unwrap(), 0.94));
        assert!((found.overhead.unwrap() - 50e-6).abs() < 1e-6);
        assert_eq!(found.library["network"]["bandwidth_factor"], 0.94);
        let large = table(&[(1e7, time(1e7)), (2e7, time(2e7))]);
        let found = calibrate(&platform(), &large, "open-mpi", ("mine", "t.csv")).unwrap();
        assert_eq!(found.overhead, None);
        assert!((found.bandwidth_factor.unwrap() - 0.8).abs() < 1e-4);
        assert!(found.open[0].contains("no message is small enough"));
        // The messages are faster than the platform allows: the overhead stays 0.
        let fast = table(&[(1.0, 0.001), (8.0, 0.001)]);
        let found = calibrate(&platform(), &fast, "open-mpi", ("mine", "t.csv")).unwrap();
        assert_eq!(found.overhead, Some(0.0));
        assert!(found.open[0].contains("explain more time"));
    }
}
