//! Calibration: the overhead and the bandwidth factor of a library, from a table of single messages.
//!
//! ```text
//! t(m) = base(m) + k(m) · overhead + transfer(m) / factor       k: 1, or 2 with a handshake
//! minimise Σ |t(m) - measured(m)| / measured(m)                 over the sizes and pairs of hosts of the table
//! ```
//! Messages inside a host have a line of their own: t(m) = overhead + m / bandwidth. An exchange sends two messages at a time, one each way. The
//! bandwidth counts as shared if exchanges take 1.5 times as long as single messages, in the median of the sizes whose transfer takes most of
//! the time.
//!
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
    /// What was found inside a host; none if the table has no such messages.
    pub inside: Option<Inside>,
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

/// The messages inside a host.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Inside {
    /// Per message \[s\].
    pub overhead: f64,
    /// Of a message \[B/s\]; none if the table has no large messages.
    pub bandwidth: Option<f64>,
    /// Whether messages share the bandwidth; none if the table has no exchanges of large messages.
    pub is_shared: Option<bool>,
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
    let (inside, between): (Vec<&Pings>, Vec<&Pings>) =
        pings.iter().partition(|ping| ping.from == ping.to);
    let equations: Vec<Equation> = between
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
    let overhead = has_small.then_some(found.0);
    let bandwidth_factor = has_large.then_some(rounded(1.0 / found.1, 1e5));
    let in_use = (
        overhead.unwrap_or(network.overhead.get()),
        bandwidth_factor.unwrap_or(network.bandwidth_factor),
    );
    let of_inside = (!inside.is_empty()).then(|| fit_inside(&inside));
    let mut next = equations.iter();
    let predicted: Vec<f64> = (pings.iter())
        .map(|ping| match (of_inside, ping.from == ping.to) {
            (Some(line), true) => line.time(ping),
            _ => next.next().map_or(0.0, |one| one.time(found)),
        })
        .collect();
    let mut residuals: Vec<f64> = (pings.iter().zip(&predicted))
        .filter(|(ping, _)| !ping.is_exchange)
        .map(|(ping, predicted)| (predicted - ping.time).abs() / ping.time)
        .collect();
    let median_residual = median(&mut residuals);
    write(&mut file, overhead, bandwidth_factor, source);
    if let Some(line) = of_inside {
        write_inside(&mut file, line, in_use.1, source);
    }
    if overhead.is_some() || of_inside.is_some() {
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
        in_use,
        inside: of_inside,
        predicted,
        median_residual,
        open: open(&equations, (has_small, has_large), found, base),
        doubts: doubts.into_iter().map(|(_, doubt)| doubt).collect(),
        library: file,
    })
}

/// What a table does not determine, a sentence each.
fn open(
    equations: &[Equation],
    (has_small, has_large): (bool, bool),
    found: (f64, f64),
    base: &str,
) -> Vec<String> {
    let mut open = Vec::new();
    if equations.is_empty() {
        open.push(
            "overhead and bandwidth factor between hosts: all messages are of one host".to_owned(),
        );
    } else if !has_small {
        open.push("the overhead per message: no message is small enough".to_owned());
    } else if found.0 <= 0.0 {
        let what = "the overhead per message: the latencies of the platform explain more time than was measured";
        open.push(what.to_owned());
    }
    if !has_large && !equations.is_empty() {
        let what = "the bandwidth factor: no message is large enough, each transfer takes less than latency and overhead";
        open.push(what.to_owned());
    } else if found.1 < 1.0 && has_large {
        let what =
            "whether the bandwidths of the platform are right: messages are faster than they allow";
        open.push(what.to_owned());
    }
    let rest = "the limit of late messages, the barrier, slow start and sharing: single messages do not show them";
    open.push(format!("{rest}; they are those of `{base}`"));
    open
}

/// The bandwidth inside a host from which the fit starts \[B/s\]: that of [`NetworkModel::default`].
const START: f64 = 1e10;
/// Ratio of the time of an exchange to that of one message from which both directions are taken to share the bandwidth \[1\].
const SHARED: f64 = 1.5;

impl Inside {
    /// The predicted time of a message, or of an exchange \[s\].
    fn time(&self, ping: &Pings) -> f64 {
        let flows = f64::from(1 + u8::from(ping.is_exchange && self.is_shared == Some(true)));
        self.overhead + flows * ping.bytes / self.bandwidth.unwrap_or(START)
    }

    /// Whether the transfer of a message takes most of its time.
    fn is_large(&self, ping: &Pings) -> bool {
        self.bandwidth
            .is_some_and(|bandwidth| ping.bytes / bandwidth > self.overhead)
    }
}

/// Fits the line of the messages inside a host.
fn fit_inside(pings: &[&Pings]) -> Inside {
    let single = || pings.iter().filter(|ping| !ping.is_exchange);
    let equations: Vec<Equation> = single()
        .map(|ping| Equation {
            base: 0.0,
            messages: 1.0,
            transfer: ping.bytes / START,
            measured: ping.time,
        })
        .collect();
    let has_both = tells_apart(&equations);
    let fixed = (!has_both).then_some(1.0);
    let (overhead, inverse) = fit(&equations, (None, fixed));
    let mut line = Inside {
        overhead,
        bandwidth: has_both.then_some(START / inverse),
        is_shared: None,
    };
    let mut ratios: Vec<f64> = single()
        .filter(|ping| line.is_large(ping))
        .filter_map(|ping| {
            let is_same = |other: &&&Pings| {
                other.is_exchange && (other.from, other.bytes) == (ping.from, ping.bytes)
            };
            Some(pings.iter().find(is_same)?.time / ping.time)
        })
        .collect();
    line.is_shared = (!ratios.is_empty()).then(|| median(&mut ratios) > SHARED);
    line
}

/// Writes what was found inside a host into a library, with its origin. The engine multiplies each bandwidth by the factor.
fn write_inside(file: &mut Value, line: Inside, factor: f64, source: &str) {
    let bandwidth = line
        .bandwidth
        .map(|bandwidth| json!(rounded(bandwidth / factor, 1e-3)));
    let found = [
        (
            "loopback_overhead",
            Some(json!(format!("{} us", rounded(line.overhead * 1e6, 1e3)))),
        ),
        ("loopback_bandwidth", bandwidth),
        ("loopback_shared", line.is_shared.map(|is| json!(is))),
    ];
    for (key, value) in found {
        let Some(value) = value else { continue };
        // The default has no origin.
        if value != json!(false) {
            file["origins"][format!("network.{key}")] = json!(format!("fitted: {source}"));
        }
        file["network"][key] = value;
    }
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
    let step = all.len().div_ceil(MOST_POINTS).max(1);
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
mod tests;
