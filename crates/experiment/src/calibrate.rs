//! Calibration: fits the overhead per message and the bandwidth factor of a message-passing library to a table of measured times
//! of single messages.
//!
//! ```text
//! t(m) = base(m) + k(m) · overhead + transfer(m) / factor       k: 1, or 2 with a handshake
//! minimise Σ |t(m) - measured(m)| / measured(m)                 over the sizes and pairs of hosts of the table
//! ```
//! Here m is a message of the table, `base` its time without overhead and transfer, and `transfer` its transfer time at the full
//! bandwidth of the route; both come from the engine, which simulates the message on an idle platform. The time of a message
//! inside a host is fitted by a separate straight line: t(m) = overhead + m / bandwidth, with m as the size. An exchange sends
//! two messages at the same time, one in each direction. The bandwidth inside a host counts as shared if exchanges take 1.5 times
//! as long as single messages, in the median of the sizes whose transfer takes most of the time.
//!
//! In a stream of small messages, the end that takes more processor time is never idle, so that the time per message is its
//! processor time. It counts as the time of the receiver, and the sender takes the same time, or less if the overhead is less than
//! both: `o_receive = min(stream, overhead)`, `o_send = min(o_receive, overhead - o_receive)`. What is left of the overhead stays a
//! delay, so that the time of a single message does not change. Streams whose transfer takes more than half of the time say
//! nothing of processor times.
//!
//! Least absolute errors are insensitive to outliers. Their minimum goes through two points of the table, or through one point at
//! a bound, so all pairs of points are tried. TCP slow start is off, because repeated messages keep their connection active. A
//! constant that the table does not determine keeps the value of the library.

use serde_json::{Value, json};

use super::{
    library,
    pingpong::{MeasuredMessages, MeasurementKind, median},
};
use migsim_base::{
    error::{Error, Result},
    units::{Bytes, Seconds},
};
use migsim_bsp::{RuntimeConfig, TransferStart};
use migsim_engine::{MessageOptions, NetworkModel, ProcessorTime, Simulation};
use migsim_platform::Platform;

/// The result of a calibration: the fitted constants of a message-passing library, the message times that these constants
/// predict, and the calibrated library file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibration {
    /// Fitted overhead per message between hosts \[s\]; `None` if the table of measured messages has no small messages.
    pub fitted_overhead: Option<f64>,
    /// Fitted bandwidth factor, which multiplies the rate of each flow; `None` if the table of measured messages has no large
    /// messages between hosts.
    pub fitted_bandwidth_factor: Option<f64>,
    /// The overhead \[s\] and the bandwidth factor of the calibrated library. A constant that the table of measured messages does
    /// not determine has the value of the base library.
    pub library_overhead_and_bandwidth_factor: (f64, f64),
    /// Fitted constants of messages inside a host; `None` if the table of measured messages contains no messages inside a host.
    pub inside_host_constants: Option<InsideHostConstants>,
    /// Processor time per message that the streams of the table show, between hosts and inside a host \[s\]; `None` without
    /// streams of small messages.
    pub stream_times: [Option<f64>; 2],
    /// Time that the calibrated library predicts for each single message of the table, in the order of the table \[s\]; that of a
    /// stream is its measured time.
    pub predicted_times: Vec<f64>,
    /// Median of the absolute relative differences between predicted and measured times of single messages, as a fraction of the
    /// measured time.
    pub median_residual: f64,
    /// Sentences for the user, one for each constant that the table of measured messages does not determine, such as the overhead
    /// per message.
    pub undetermined_constants: Vec<String>,
    /// Reasons to doubt that the fitted constants describe the machine, one sentence for each.
    pub reasons_for_doubt: Vec<String>,
    /// The calibrated library as the JSON value of a library file.
    pub library_json: Value,
}

/// Fitted constants of messages between processes on the same host.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct InsideHostConstants {
    /// Fitted overhead of a message inside a host \[s\].
    pub overhead: f64,
    /// Fitted bandwidth of messages inside a host \[B/s\]; `None` if the table of measured messages does not determine it.
    pub bandwidth: Option<f64>,
    /// Whether two messages that are sent inside a host at the same time share the bandwidth; `None` if no exchanges of large
    /// messages were measured.
    pub is_bandwidth_shared: Option<bool>,
}

/// One measured message of the table as a linear equation for its time: base + overheads · overhead + transfer · (1 / bandwidth
/// factor).
#[derive(Clone, Copy, Debug)]
struct MessageEquation {
    /// Time of the message on an idle route \[s\], simulated without the overhead of the library and without the transfer of its
    /// bytes.
    base_time: f64,
    /// Number of times that the overhead per message counts in the time of this message: 1, or 2 with a handshake.
    overhead_count: f64,
    /// Simulated time that the transfer of the bytes of the message takes at a bandwidth factor of 1 \[s\].
    transfer_time: f64,
    /// Measured time of the message \[s\].
    measured_time: f64,
}

impl MessageEquation {
    /// Predicts the time of the message \[s\] from an overhead per message \[s\] and the inverse of a bandwidth factor.
    fn predict_time(&self, (overhead, inverse): (f64, f64)) -> f64 {
        self.base_time + self.overhead_count * overhead + self.transfer_time * inverse
    }

    /// Returns the relative error (not negative) of the time that is predicted for the message from an overhead \[s\] and the
    /// inverse of a bandwidth factor.
    fn relative_error(&self, at: (f64, f64)) -> f64 {
        (self.predict_time(at) - self.measured_time).abs() / self.measured_time
    }

    /// Returns whether the transfer of the message, at the bandwidth of the platform, takes longer than the rest of its time with
    /// this overhead per message \[s\].
    fn is_mostly_transfer(&self, overhead: f64) -> bool {
        self.transfer_time > self.base_time + self.overhead_count * overhead
    }

    /// Returns the measured time of the message minus its simulated base time \[s\]: the part of the time that the overhead and
    /// the transfer have to explain.
    fn unexplained_time(&self) -> f64 {
        self.measured_time - self.base_time
    }
}

/// Minimum ratio of the longest to the shortest transfer time in a table of measured messages. Below this ratio, overhead and
/// bandwidth factor cannot be determined separately.
const MIN_TRANSFER_RATIO: f64 = 2.0;
/// Maximum plausible overhead per message \[s\]; a fit with a larger overhead is reported as doubtful. For comparison: Open MPI
/// over TCP has an overhead of 0.147 ms if waiting ranks sleep (`results/reality.md`).
const MAX_OVERHEAD: f64 = 0.01;
/// Minimum and maximum plausible bandwidth factor; a fit outside of this range is reported as doubtful. Ethernet frames leave
/// 0.94 of the bandwidth to the payload.
const PLAUSIBLE_BANDWIDTH_FACTORS: [f64; 2] = [0.1, 1.05];
/// Maximum median of the relative differences between predicted and measured times; a fit with a larger median is reported as
/// doubtful.
const MAX_MEDIAN_RESIDUAL: f64 = 0.25;
/// Maximum number of measured messages that enter a fit. From a larger table, only every second, third, ... message enters the
/// fit.
const MAX_FITTED_MESSAGES: usize = 200;

/// Fits the overhead and the bandwidth factor of the library `base` to a table of measured messages on a platform, and returns
/// the calibrated library with the name `name`.
///
/// # Errors
/// The base library is unknown, or a message has no route.
pub fn calibrate(
    platform: &Platform,
    pings: &[MeasuredMessages],
    base: &str,
    (name, source): (&str, &str),
) -> Result<Calibration> {
    let mut file = library::read_library_json(base)?;
    let (network, runtime) = read_library_models(&file)?;
    let receives = runtime.receives;
    let (inside, between): (Vec<&MeasuredMessages>, Vec<&MeasuredMessages>) = pings
        .iter()
        .filter(|ping| ping.kind != MeasurementKind::Stream)
        .partition(|ping| ping.sender_host == ping.receiver_host);
    let equations: Vec<MessageEquation> = between
        .iter()
        .map(|ping| message_equation_by_simulation(platform, network, receives, ping))
        .collect::<Result<_, _>>()?;
    let fit = InterHostFit::from_equations(&equations, &network);
    let stream_times = [false, true].map(|is_inside| stream_time(platform, pings, is_inside));
    let overhead = fit.fitted_overhead();
    let bandwidth_factor = fit.fitted_bandwidth_factor();
    let in_use = (
        overhead.unwrap_or(network.overhead.get()),
        bandwidth_factor.unwrap_or(network.bandwidth_factor),
    );
    let of_inside = (!inside.is_empty()).then(|| fit_inside_host_constants(&inside));
    let predicted = predict_message_times(pings, &equations, &fit, of_inside);
    let median_residual = median_residual(pings, &predicted);
    let between = [("bandwidth_factor", bandwidth_factor.map(Value::from))];
    write_constants(&mut file, source, between);
    let [of_stream, of_stream_inside] = stream_times;
    let inside_overhead = of_inside.map(|line| line.overhead);
    for (names, whole, stream) in [
        (["overhead", "o_send", "o_receive"], overhead, of_stream),
        (
            ["loopback_overhead", "loopback_o_send", "loopback_o_receive"],
            inside_overhead,
            of_stream_inside,
        ),
    ] {
        // A fitted overhead contains all times of the ends.
        let parts = whole.map(|whole| divide_overhead(whole, stream.unwrap_or(0.0)));
        for (name, part) in names.into_iter().zip(parts.into_iter().flatten()) {
            let is_written = stream.is_some() || name.ends_with("overhead");
            if is_written {
                write_constants(&mut file, source, [(name, Some(in_microseconds(part)))]);
            } else {
                file["network"]
                    .as_object_mut()
                    .map(|keys| keys.remove(name));
            }
        }
    }
    if let Some(line) = of_inside {
        // The engine multiplies each bandwidth by the factor.
        let bandwidth = |bandwidth| json!(round_to_fraction(bandwidth / in_use.1, 1e-3));
        let inside = [
            ("loopback_bandwidth", line.bandwidth.map(bandwidth)),
            ("loopback_shared", line.is_bandwidth_shared.map(Value::from)),
        ];
        write_constants(&mut file, source, inside);
    }
    if overhead.is_some() || of_inside.is_some() {
        keep_only_library_of_machine(&mut file);
    }
    let doubts = reasons_for_doubt(overhead, bandwidth_factor, median_residual);
    file["name"] = json!(name);
    write_description_and_doubts(&mut file, base, source, &doubts);
    file["measured"] = json!({
        "points": pings.len(),
        "messages": pings.iter().map(|ping| ping.message_count).sum::<usize>(),
        "median_residual": round_to_fraction(median_residual, 1e6),
    });
    Ok(Calibration {
        fitted_overhead: overhead,
        fitted_bandwidth_factor: bandwidth_factor,
        library_overhead_and_bandwidth_factor: in_use,
        inside_host_constants: of_inside,
        stream_times,
        predicted_times: predicted,
        median_residual,
        undetermined_constants: undetermined_constants(&equations, &fit, base),
        reasons_for_doubt: doubts.into_iter().map(|(_, doubt)| doubt).collect(),
        library_json: file,
    })
}

/// The fit of the time of messages between hosts.
#[derive(Clone, Copy, Debug)]
struct InterHostFit {
    /// Overhead per message \[s\] and inverse of the bandwidth factor with the smallest error. A constant that the messages do not
    /// determine has the value of the base library.
    overhead_and_inverse_factor: (f64, f64),
    /// Whether at least one message is so small that the rest of its time is at least as long as its transfer.
    has_small_messages: bool,
    /// Whether at least one message is so large that its transfer takes longer than the rest of its time.
    has_large_messages: bool,
}

impl InterHostFit {
    /// Fits the constants of messages between hosts to the equations of these messages; a constant that the equations do not
    /// determine keeps its value in `network`.
    fn from_equations(equations: &[MessageEquation], network: &NetworkModel) -> Self {
        // Both constants are fitted, unless the messages are too similar to determine them separately.
        let free = if can_separate_constants(equations) {
            fit_overhead_and_inverse_factor(equations, (None, None)).0
        } else {
            network.overhead.get()
        };
        let has_small = equations.iter().any(|one| !one.is_mostly_transfer(free));
        let has_large = equations.iter().any(|one| one.is_mostly_transfer(free));
        let fixed = (
            (!has_small).then_some(network.overhead.get()),
            (!has_large).then_some(1.0 / network.bandwidth_factor),
        );
        Self {
            overhead_and_inverse_factor: fit_overhead_and_inverse_factor(equations, fixed),
            has_small_messages: has_small,
            has_large_messages: has_large,
        }
    }

    /// Returns the fitted overhead per message \[s\]; `None` if there are no small messages.
    fn fitted_overhead(&self) -> Option<f64> {
        self.has_small_messages
            .then_some(self.overhead_and_inverse_factor.0)
    }

    /// Returns the fitted bandwidth factor, rounded to five digits after the point; `None` if there are no large messages.
    fn fitted_bandwidth_factor(&self) -> Option<f64> {
        self.has_large_messages.then_some(round_to_fraction(
            1.0 / self.overhead_and_inverse_factor.1,
            1e5,
        ))
    }
}

/// Predicts the time of each message of the table from the fitted constants \[s\]. `equations` are those of the messages between
/// hosts, in the order of the table; `of_inside` is `None` if the table has no messages inside a host.
fn predict_message_times(
    pings: &[MeasuredMessages],
    equations: &[MessageEquation],
    fit: &InterHostFit,
    of_inside: Option<InsideHostConstants>,
) -> Vec<f64> {
    let mut next = equations.iter();
    pings
        .iter()
        .map(|ping| {
            let is_inside = ping.sender_host == ping.receiver_host;
            match (ping.kind, of_inside, is_inside) {
                (MeasurementKind::Stream, ..) => ping.median_time,
                (_, Some(line), true) => line.predict_time(ping),
                _ => next
                    .next()
                    .map_or(0.0, |one| one.predict_time(fit.overhead_and_inverse_factor)),
            }
        })
        .collect()
}

/// Returns the median of the absolute relative differences between predicted and measured times of single messages, as a fraction
/// of the measured time.
fn median_residual(pings: &[MeasuredMessages], predicted: &[f64]) -> f64 {
    let mut residuals: Vec<f64> = pings
        .iter()
        .zip(predicted)
        .filter(|(ping, _)| ping.kind == MeasurementKind::Ping)
        .map(|(ping, predicted)| (predicted - ping.median_time).abs() / ping.median_time)
        .collect();
    median(&mut residuals)
}

/// Removes the conditions of the machine from a library file, except the name of the library: the table of measured messages
/// states neither the transport of its messages nor how processes waited for them.
fn keep_only_library_of_machine(file: &mut Value) {
    let library = file["machine"]["library"].take();
    file["machine"] = json!({ "library": library });
    if file["machine"]["library"].is_null() {
        file.as_object_mut().map(|keys| keys.remove("machine"));
    }
}

/// Writes the description of a library that was calibrated on `source` into its file, with the reasons to doubt the fit. Each
/// reason is also written to the origin of its key.
fn write_description_and_doubts(
    file: &mut Value,
    base: &str,
    source: &str,
    doubts: &[(Option<&'static str>, String)],
) {
    let mut description = format!("The library {base}, calibrated on {source}.");
    for (key, doubt) in doubts {
        description.extend([" Doubtful: ", doubt.as_str()]);
        if let Some(key) = key {
            file["origins"][key] = json!(format!("fitted: {source}; doubtful: {doubt}"));
        }
    }
    file["description"] = json!(description);
}

/// Returns one sentence for the user for each constant of the library that the table of measured messages does not determine.
fn undetermined_constants(
    equations: &[MessageEquation],
    fit: &InterHostFit,
    base: &str,
) -> Vec<String> {
    let (overhead, inverse) = fit.overhead_and_inverse_factor;
    let mut open = Vec::new();
    if equations.is_empty() {
        open.push(
            "overhead and bandwidth factor between hosts, since all measured messages stay inside one host".to_owned(),
        );
    } else if !fit.has_small_messages {
        open.push("the overhead per message, since no measured message is small enough".to_owned());
    } else if overhead <= 0.0 {
        let what = "the overhead per message, since the latencies of the platform alone are longer than the measured times";
        open.push(what.to_owned());
    }
    if !fit.has_large_messages && !equations.is_empty() {
        let what = "the bandwidth factor, since no measured message is large enough: each transfer takes less time than latency and overhead";
        open.push(what.to_owned());
    } else if inverse < 1.0 && fit.has_large_messages {
        open.push(format!(
            "whether the bandwidths of the platform are right, since measured messages are faster than these bandwidths and the other settings of the library `{base}` allow"
        ));
    }
    let rest = "the size from which receives are late, the barrier, slow start and the sharing of links, which single messages do not show";
    open.push(format!(
        "{rest}; these settings keep the values of the library `{base}`"
    ));
    open
}

/// Bandwidth of messages inside a host \[B/s\] that is assumed before the fit: the value of [`NetworkModel::default`].
const INITIAL_BANDWIDTH: f64 = 1e10;
/// Ratio of the time of an exchange of two messages to the time of one message above which both directions count as sharing the
/// bandwidth.
const MIN_SHARED_RATIO: f64 = 1.5;

impl InsideHostConstants {
    /// Predicts the time of a measured message inside a host \[s\], or of an exchange of two messages at the same time.
    fn predict_time(&self, ping: &MeasuredMessages) -> f64 {
        let flows = f64::from(
            1 + u8::from(
                ping.kind == MeasurementKind::Exchange && self.is_bandwidth_shared == Some(true),
            ),
        );
        self.overhead + flows * ping.message_size / self.bandwidth.unwrap_or(INITIAL_BANDWIDTH)
    }

    /// Returns whether the transfer of a message inside a host takes longer than its overhead.
    fn is_mostly_transfer(&self, ping: &MeasuredMessages) -> bool {
        self.bandwidth
            .is_some_and(|bandwidth| ping.message_size / bandwidth > self.overhead)
    }
}

fn fit_inside_host_constants(pings: &[&MeasuredMessages]) -> InsideHostConstants {
    let single = || {
        pings
            .iter()
            .filter(|ping| ping.kind == MeasurementKind::Ping)
    };
    let equations: Vec<MessageEquation> = single()
        .map(|ping| MessageEquation {
            base_time: 0.0,
            overhead_count: 1.0,
            transfer_time: ping.message_size / INITIAL_BANDWIDTH,
            measured_time: ping.median_time,
        })
        .collect();
    let has_both = can_separate_constants(&equations);
    let fixed = (!has_both).then_some(1.0);
    let (overhead, inverse) = fit_overhead_and_inverse_factor(&equations, (None, fixed));
    let mut line = InsideHostConstants {
        overhead,
        bandwidth: has_both.then_some(INITIAL_BANDWIDTH / inverse),
        is_bandwidth_shared: None,
    };
    let mut ratios: Vec<f64> = single()
        .filter(|ping| line.is_mostly_transfer(ping))
        .filter_map(|ping| {
            let is_same = |other: &&&MeasuredMessages| {
                other.kind == MeasurementKind::Exchange
                    && (other.sender_host, other.message_size)
                        == (ping.sender_host, ping.message_size)
            };
            Some(pings.iter().find(is_same)?.median_time / ping.median_time)
        })
        .collect();
    line.is_bandwidth_shared = (!ratios.is_empty()).then(|| median(&mut ratios) > MIN_SHARED_RATIO);
    line
}

/// Returns the processor time of the end of a message that streams of small messages show, as the median of the streams of the
/// smallest size \[s\]; `None` without such streams.
fn stream_time(platform: &Platform, pings: &[MeasuredMessages], is_inside: bool) -> Option<f64> {
    let is_small = |ping: &&MeasuredMessages| {
        let route = platform.route(ping.sender_host, ping.receiver_host);
        let transfer = route
            .and_then(|route| platform.bottleneck_bandwidth(&route))
            .map_or(0.0, |rate| ping.message_size / rate.get());
        ping.kind == MeasurementKind::Stream
            && (ping.sender_host == ping.receiver_host) == is_inside
            && 2.0 * transfer <= ping.median_time
    };
    let small: Vec<&MeasuredMessages> = pings.iter().filter(is_small).collect();
    let least = small
        .iter()
        .map(|ping| ping.message_size)
        .reduce(f64::min)?;
    let times = small.iter().filter(|ping| ping.message_size <= least);
    Some(median(
        &mut times.map(|ping| ping.median_time).collect::<Vec<_>>(),
    ))
}

/// Divides the overhead of a message into a delay and the processor times of sender and receiver \[s\].
fn divide_overhead(overhead: f64, stream: f64) -> [f64; 3] {
    let receive = stream.min(overhead);
    let send = receive.min(overhead - receive);
    [overhead - send - receive, send, receive]
}

/// Writes fitted constants of the network, and the source of these constants, into a library file.
fn write_constants<const N: usize>(
    file: &mut Value,
    source: &str,
    constants: [(&str, Option<Value>); N],
) {
    for (key, value) in constants {
        let Some(value) = value else { continue };
        // The default has no origin.
        if value != json!(false) {
            file["origins"][format!("network.{key}")] = json!(format!("fitted: {source}"));
        }
        file["network"][key] = value;
    }
}

fn in_microseconds(seconds: f64) -> Value {
    json!(format!("{} us", round_to_fraction(seconds * 1e6, 1e3)))
}

/// Returns the reasons to doubt a fit, each with the key of the library file to which the doubt applies; the key is `None` if the
/// doubt applies to the whole fit.
fn reasons_for_doubt(
    overhead: Option<f64>,
    factor: Option<f64>,
    residual: f64,
) -> Vec<(Option<&'static str>, String)> {
    let mut doubts = Vec::new();
    if let Some(overhead) = overhead.filter(|overhead| *overhead > MAX_OVERHEAD) {
        let found = round_to_fraction(overhead, 1e4);
        let most = MAX_OVERHEAD;
        doubts.push((Some("network.overhead"), format!(
            "the overhead of {found} s per message is above {most} s, far more than that of message-passing libraries: check that the \
            times are in seconds"
        )));
    }
    let [least, most] = PLAUSIBLE_BANDWIDTH_FACTORS;
    if let Some(factor) = factor.filter(|factor| !(least..=most).contains(factor)) {
        doubts.push((Some("network.bandwidth_factor"), format!(
            "the bandwidth factor {factor} is not between {least} and {most}: check that the times are in seconds and the bandwidths of \
            the platform are right"
        )));
    }
    if residual > MAX_MEDIAN_RESIDUAL {
        let found = 100.0 * residual;
        let most = 100.0 * MAX_MEDIAN_RESIDUAL;
        doubts.push((None, format!(
            "the median residual (difference of measured and predicted times) of {found:.1} % is above {most} %: the fitted library does not describe the table"
        )));
    }
    doubts
}

/// Rounds a value to the nearest multiple of `1 / steps`.
fn round_to_fraction(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

/// Reads the network model, and the settings of how supersteps are executed, from the JSON value of the file of a message-passing
/// library.
///
/// # Errors
/// A key or a value is wrong.
pub fn read_library_models(file: &Value) -> Result<(NetworkModel, RuntimeConfig)> {
    let keys = file["network"].as_object().cloned().unwrap_or_default();
    let network = super::resolve::read_network_model(&keys)?;
    let runtime = match &file["runtime"] {
        Value::Null => RuntimeConfig::default(),
        runtime => migsim_base::document::from_value(runtime, "runtime")?,
    };
    Ok((network, runtime))
}

/// Returns the equation for the time of one measured message; its terms are obtained by simulating the message on an idle
/// platform.
fn message_equation_by_simulation(
    platform: &Platform,
    network: NetworkModel,
    receives: TransferStart,
    ping: &MeasuredMessages,
) -> Result<MessageEquation> {
    let time = |overhead: f64, bandwidth_factor: f64| {
        let model = NetworkModel {
            overhead: Seconds::of(overhead),
            bandwidth_factor,
            slow_start: false,
            o_send: ProcessorTime::ZERO,
            o_receive: ProcessorTime::ZERO,
            ..network
        };
        let mut simulation = Simulation::new(platform, model);
        let size = Bytes::of(ping.message_size);
        let options = MessageOptions {
            has_handshake: receives.has_handshake(size),
            ..MessageOptions::default()
        };
        simulation.send_message((ping.sender_host, ping.receiver_host), size, options, ())?;
        simulation.next_ended()?;
        Ok::<f64, Error>(simulation.local_time())
    };
    let plain = time(0.0, 1.0)?;
    let with_overhead = time(1.0, 1.0)?;
    let at_half = time(0.0, 0.5)?;
    let transfer = at_half - plain;
    Ok(MessageEquation {
        base_time: plain - transfer,
        overhead_count: with_overhead - plain,
        transfer_time: transfer,
        measured_time: ping.median_time,
    })
}

/// Returns whether the transfer times of the messages differ enough to determine overhead and bandwidth factor separately.
fn can_separate_constants(equations: &[MessageEquation]) -> bool {
    let (least, most) = equations
        .iter()
        .map(|one| one.transfer_time / one.overhead_count)
        .fold((f64::INFINITY, 0.0), |(least, most), part| {
            (part.min(least), part.max(most))
        });
    most > MIN_TRANSFER_RATIO * least
}

/// Returns the overhead \[s\] and the inverse of the bandwidth factor with the smallest sum of relative errors. A value given in
/// `fixed` is returned unchanged.
fn fit_overhead_and_inverse_factor(
    all: &[MessageEquation],
    fixed: (Option<f64>, Option<f64>),
) -> (f64, f64) {
    let points: Vec<MessageEquation> = all
        .iter()
        .step_by(all.len().div_ceil(MAX_FITTED_MESSAGES).max(1))
        .copied()
        .collect();
    let cost = |at: (f64, f64)| points.iter().map(|one| one.relative_error(at)).sum::<f64>();
    let overhead = fixed.0.unwrap_or(0.0);
    let inverse = fixed.1.unwrap_or(1.0);
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
        consider((
            (a.unexplained_time() - a.transfer_time * inverse) / a.overhead_count,
            inverse,
        ));
        consider((
            overhead,
            (a.unexplained_time() - a.overhead_count * overhead) / a.transfer_time,
        ));
        for b in &points[index + 1..] {
            let determinant =
                a.overhead_count * b.transfer_time - b.overhead_count * a.transfer_time;
            consider((
                (a.unexplained_time() * b.transfer_time - b.unexplained_time() * a.transfer_time)
                    / determinant,
                (a.overhead_count * b.unexplained_time() - b.overhead_count * a.unexplained_time())
                    / determinant,
            ));
        }
    }
    best.1
}

/// Returns the JSON text of the library file that a calibration produced.
pub fn library_file_text(calibration: &Calibration) -> String {
    format!("{:#}\n", calibration.library_json)
}

#[cfg(test)]
mod tests;
