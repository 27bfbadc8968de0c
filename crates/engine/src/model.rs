//! The network model: the constants in which versions of SimGrid's network models differ, as named presets and as single
//! settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    factors::{SizeFactor, SizeFactors, Weights},
    processor_time::ProcessorTime,
};
use migsim_base::{
    error::Problem,
    units::{Bytes, BytesPerSecond, Seconds, lesser},
};
use migsim_platform::{Platform, Routes};

/// Constants of the network model, which determine the duration of a flow from its route.
///
/// A flow waits for `latency_factor · Σ latency`, then transfers its bytes at `bandwidth_factor` times its share of the links.
/// Shares are weighted max-min fair: the weight of a flow is `Σ latency + Σ weight_s / bandwidth`, and its share is at most
/// `tcp_gamma / (2 · Σ latency)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is an effect of its own"
)]
pub struct NetworkModel {
    /// Whether flows share the capacity of links; otherwise each flow has the whole capacity of its route.
    pub sharing: bool,
    /// Factor by which the latency of a route is multiplied; dimensionless.
    pub latency_factor: f64,
    /// Factor by which the rate of a flow is multiplied; dimensionless.
    pub bandwidth_factor: f64,
    /// Constant of the weights of flows \[B\]: each link on the route of a flow adds `weight_s / bandwidth` to the weight of the
    /// flow \[s\].
    pub weight_s: f64,
    /// Maximum TCP window \[B\], which limits the rate on routes with a long latency; `none` for no limit.
    pub tcp_gamma: Option<f64>,
    /// Whether a flow also takes 5 % of its rate on the links of the route from the receiver to the sender, for its
    /// acknowledgements.
    pub crosstraffic: bool,
    /// Maximum rate of a flow between two processes on the same host \[B/s\].
    pub loopback_bandwidth: f64,
    /// Latency of a message inside a host for which the platform defines no loopback; it is multiplied by `latency_factor`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loopback_latency: Seconds,
    /// Time that a message inside a host takes in addition to its latency and its transfer; it replaces `overhead`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loopback_overhead: Seconds,
    /// Whether all messages inside a host share one loopback; otherwise each message has the whole bandwidth.
    ///
    /// If they share a loopback, an experiment adds a link with `loopback_bandwidth` and `loopback_latency` to each host for
    /// which the platform defines no loopback.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loopback_shared: bool,
    /// Whether a change of the weight of a flow in progress has the same two side effects as in SimGrid.
    ///
    /// The weight of a flow changes with a latency on its route or, with `weight_s`, with a bandwidth. First, a flow in its
    /// latency phase starts its transfer immediately. Second, a flow without latency gets its computed weight instead of 1.
    pub reweigh_slip: bool,
    /// Rule by which flows share a link of the kind that SimGrid calls `FATPIPE`. If no rule is given, SimGrid's rule applies on
    /// platforms in SimGrid's format; on other platforms each flow has the whole capacity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fatpipe: Option<Fatpipe>,
    /// Rule that sets the weights of flows that share a link: by latency, or equal for all flows.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weights: Weights,
    /// Time that each message takes in addition to its time in the network; it also applies to the control messages of barriers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub overhead: Seconds,
    /// Processor time of the sender of a message between hosts: a time per message and a time per byte, on a core of the sender
    /// at its nominal speed. Control messages of barriers take it as a delay.
    #[serde(default, skip_serializing_if = "is_default")]
    pub o_send: ProcessorTime,
    /// Processor time of the receiver of a message between hosts, as `o_send`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub o_receive: ProcessorTime,
    /// Processor time of the sender of a message inside a host, as `o_send`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loopback_o_send: ProcessorTime,
    /// Processor time of the receiver of a message inside a host, as `o_send`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loopback_o_receive: ProcessorTime,
    /// Fraction by which `o_send` and `o_receive` grow with each core on which processes start, after the first; dimensionless.
    #[serde(default, skip_serializing_if = "is_default")]
    pub o_per_core: f64,
    /// Maximum payload of a packet with store and forward, where routers forward only whole packets; `none` if routers forward
    /// each byte immediately.
    #[serde(default, skip_serializing_if = "is_default")]
    pub packet: Option<Bytes>,
    /// Whether messages are sent as packets that wait in queues, first come, first served; otherwise flows share links.
    ///
    /// The payload of a packet is `packet`, or 1448 B if none is given. With queues, headers are counted instead of the bandwidth
    /// factor, and weights, window and cross-traffic have no effect.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queues: bool,
    /// Whether a connection that has been idle starts again with a small window (TCP slow start). Each process has one connection
    /// to each process to which it sends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub slow_start: bool,
    /// Factors of latency and bandwidth for messages of certain sizes, in addition to `latency_factor` and `bandwidth_factor`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "Vec<SizeFactor>")]
    pub factors: SizeFactors,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The rule by which flows share a link of SimGrid's kind `FATPIPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fatpipe {
    /// Flows share the link by the expressions of SimGrid, in which flows on longer routes get smaller shares.
    Simgrid,
    /// Each flow has the whole capacity of the link, which only limits its rate.
    Whole,
}

/// A named set of values for all constants of the network model.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name of the preset, which is given after the option `--network`.
    pub name: &'static str,
    /// Description of the preset in one line, as shown to users.
    pub summary: &'static str,
    /// Network model in which all constants have the values of the preset.
    pub model: NetworkModel,
}

const CM02: NetworkModel = NetworkModel {
    sharing: true,
    latency_factor: 1.0,
    bandwidth_factor: 1.0,
    weight_s: 0.0,
    tcp_gamma: None,
    crosstraffic: false,
    loopback_bandwidth: 1e10,
    loopback_latency: Seconds::ZERO,
    loopback_overhead: Seconds::ZERO,
    loopback_shared: false,
    reweigh_slip: true,
    fatpipe: None,
    weights: Weights::Latency,
    overhead: Seconds::ZERO,
    o_send: ProcessorTime::ZERO,
    o_receive: ProcessorTime::ZERO,
    loopback_o_send: ProcessorTime::ZERO,
    loopback_o_receive: ProcessorTime::ZERO,
    o_per_core: 0.0,
    packet: None,
    queues: false,
    slow_start: false,
    factors: SizeFactors::NONE,
};

/// All presets of the network model; the first is the default. The constants are those of SimGrid's `CM02` and `LV08` models in
/// the named releases.
pub const PRESETS: [Preset; 6] = [
    Preset {
        name: "cm02",
        summary: "fair sharing weighted by latency, without other corrections (default)",
        model: CM02,
    },
    Preset {
        name: "ideal",
        summary: "no sharing: every flow gets the full bandwidth of its route",
        model: NetworkModel {
            sharing: false,
            ..CM02
        },
    },
    Preset {
        name: "simgrid-3.3",
        summary: "SimGrid 3.3: cm02 with a TCP window of 20000 B",
        model: NetworkModel {
            tcp_gamma: Some(20_000.0),
            ..CM02
        },
    },
    Preset {
        name: "simgrid-3.4",
        summary: "SimGrid 3.4 to 3.6",
        model: NetworkModel {
            latency_factor: 10.4,
            bandwidth_factor: 0.92,
            weight_s: 8775.0,
            tcp_gamma: Some(20_000.0),
            ..CM02
        },
    },
    Preset {
        name: "simgrid-3.7",
        summary: "SimGrid 3.7 and 3.8",
        model: NetworkModel {
            latency_factor: 13.01,
            bandwidth_factor: 0.97,
            weight_s: 20_537.0,
            tcp_gamma: Some(20_000.0),
            crosstraffic: true,
            ..CM02
        },
    },
    Preset {
        name: "simgrid-3.9",
        summary: "SimGrid 3.9 and later (LV08); `lv08` is the same",
        model: NetworkModel {
            latency_factor: 13.01,
            bandwidth_factor: 0.97,
            weight_s: 20_537.0,
            tcp_gamma: Some(4_194_304.0),
            crosstraffic: true,
            ..CM02
        },
    },
];

impl Default for NetworkModel {
    fn default() -> Self {
        CM02
    }
}

/// Load of a flow on the links of the route from its receiver to its sender, as a fraction of its rate, if `crosstraffic` is on
/// (SimGrid's constant).
pub(super) const ACKNOWLEDGEMENT_LOAD: f64 = 0.05;
/// Minimum weight of a flow \[s\]. Weights are limited to a range that is much wider than the weights that occur in practice,
/// because outside this range the product of a weight and a size may overflow or vanish.
const MIN_FLOW_WEIGHT: f64 = 1e-60;
const MAX_FLOW_WEIGHT: f64 = 1e60;

/// The equations for the duration of a flow, with L the latency of its route \[s\]:
///
/// ```text
/// delay  = latency_factor · L              (plus the costs of a message: `message`)
/// weight = L + Σ weight_s / bandwidth      (1 if L is 0, or if weights are equal; loopbacks on the route count as links)
/// window = tcp_gamma / 2L                  (infinite without a window or a latency, and in zones without links)
/// rate   = bandwidth_factor · share        where share <= min(least bandwidth of the route, window)
/// ```
/// Both the simulation by events (`transport`) and the solution of batches (`batch::path_table`) call these functions, so that
/// each equation exists only once.
impl NetworkModel {
    /// Returns the time that a message of `size` takes if there is no other traffic \[s\]. `latency` is the sum of the latencies
    /// of the links on its route, `narrowest` their smallest bandwidth (`None` if the route crosses no link).
    ///
    /// ```text
    /// duration = o_send + delay + bytes / rate + o_receive
    /// ```
    /// The duration does not include slow start, handshakes, store and forward, and the acknowledgements of `crosstraffic`.
    ///
    /// ```
    /// use migsim_base::units::{Bytes, BytesPerSecond, Seconds};
    ///
    /// // 2 ms of latency and 5 MB at 100 MB/s: 52 ms.
    /// let model = migsim_engine::NetworkModel::default();
    /// let rate = BytesPerSecond::new(100e6);
    /// let duration = model.message_time(Seconds::of(2e-3), rate, Bytes::of(5e6));
    /// assert!((duration.get() - 0.052).abs() < 1e-12);
    /// ```
    pub fn message_time(
        &self,
        latency: Seconds,
        narrowest: Option<BytesPerSecond>,
        size: Bytes,
    ) -> Seconds {
        let latency = latency.get();
        let bytes = size.get();
        let link = narrowest.map_or(f64::INFINITY, BytesPerSecond::get);
        let rate = self.bandwidth_factor * lesser(link, self.max_share_of_tcp_window(latency));
        let (send, receive) = self.processor_times(false, bytes);
        let delay = send + self.message_delay(latency, 0.0, bytes) + receive;
        Seconds::of(delay + self.flow_bytes(bytes) / rate)
    }

    /// Returns the factor by which the latency of a route is multiplied for a message of this size; dimensionless.
    pub fn latency_factor_for_size(&self, size: Bytes) -> f64 {
        self.latency_factor * self.factors.factors_for_bytes(size.get()).latency
    }

    /// Returns the time from the start of a flow until its transfer begins \[s\], on a route with this latency \[s\].
    pub(super) fn flow_delay(&self, latency: f64) -> f64 {
        self.latency_factor * latency
    }

    /// Returns the part of a flow's weight that comes from the bandwidths of the links \[B/s\] and the number of loopbacks on its
    /// route \[s\].
    pub(super) fn weight_from_links(
        &self,
        bandwidths: impl Iterator<Item = f64>,
        loopbacks: u32,
    ) -> f64 {
        if self.weight_s > 0.0 {
            let links: f64 = bandwidths.map(|bandwidth| self.weight_s / bandwidth).sum();
            links + f64::from(loopbacks) * self.weight_s / self.loopback_bandwidth
        } else {
            0.0
        }
    }

    /// Returns the maximum rate of a flow whose route has this number of loopbacks \[B/s\]; infinite without loopbacks.
    pub(super) fn loopback_max_rate(&self, loopbacks: u32) -> f64 {
        if loopbacks > 0 {
            self.loopback_bandwidth
        } else {
            f64::INFINITY
        }
    }

    /// Returns the weight of a flow in the sharing of links \[s\], limited to the range of valid weights. `latency` is the
    /// latency of the route \[s\], and `of_links` the part of the weight that comes from bandwidths \[s\]. `slips` states whether
    /// SimGrid's rule for a weight that changes during a transfer applies (`reweigh_slip`).
    pub(super) fn flow_weight(&self, latency: f64, of_links: f64, slips: bool) -> f64 {
        if self.weights == Weights::Equal {
            1.0
        } else if latency > 0.0 || (slips && self.reweigh_slip && of_links > 0.0) {
            (latency + of_links).clamp(MIN_FLOW_WEIGHT, MAX_FLOW_WEIGHT)
        } else {
            1.0
        }
    }

    /// Returns the maximum share of a flow that the TCP window allows on a route with this latency \[B/s\]; infinite if there is
    /// no window or no latency.
    pub(super) fn max_share_of_tcp_window(&self, latency: f64) -> f64 {
        match self.tcp_gamma {
            Some(gamma) if latency > 0.0 => gamma / (2.0 * latency),
            _ => f64::INFINITY,
        }
    }

    /// Whether a message that crosses no link takes only its delay and no time for the transfer, which is SimGrid's rule and
    /// applies to platforms in SimGrid's format. Links that are crossed only by acknowledgements count as links of the message.
    pub(super) fn has_instant_linkless_transfer(platform: &Platform) -> bool {
        matches!(platform.routes, Routes::Zoned { .. })
    }

    /// Whether SimGrid's rule for links of kind `FATPIPE` applies to any link of the platform, so that it affects the rates of
    /// flows.
    pub fn uses_pipe_sharing(&self, platform: &Platform) -> bool {
        let is_followed = self
            .fatpipe
            .map_or(!platform.unshared_links_have_full_bandwidth(), |kind| {
                kind == Fatpipe::Simgrid
            });
        is_followed && self.sharing && platform.has_unshared_links()
    }

    /// Returns the delay of a message inside a host over a loopback with this latency \[s\].
    pub(super) fn loopback_delay(&self, latency: f64) -> f64 {
        self.flow_delay(latency) + self.loopback_overhead.get()
    }

    /// Returns the rate of a flow between two processes on the same host \[B/s\].
    pub(super) fn loopback_rate(&self) -> f64 {
        self.loopback_bandwidth * self.bandwidth_factor
    }
}

/// The names of the constants of the network model that users can set by name.
const SETTABLE_CONSTANT_NAMES: [&str; 23] = [
    "sharing",
    "latency_factor",
    "bandwidth_factor",
    "weight_s",
    "tcp_gamma",
    "crosstraffic",
    "loopback_bandwidth",
    "loopback_latency",
    "loopback_overhead",
    "loopback_shared",
    "reweigh_slip",
    "fatpipe",
    "weights",
    "overhead",
    "o_send",
    "o_receive",
    "loopback_o_send",
    "loopback_o_receive",
    "o_per_core",
    "packet",
    "queues",
    "slow_start",
    "factors",
];

impl NetworkModel {
    /// Returns the network model of the preset `name`; `lv08` is another name of `simgrid-3.9`.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn preset(name: &str) -> Result<Self, Problem> {
        let wanted = if name == "lv08" { "simgrid-3.9" } else { name };
        PRESETS
            .iter()
            .find(|preset| preset.name == wanted)
            .map(|preset| preset.model)
            .ok_or_else(|| {
                Problem::unknown_name("network model", name).with_known_names(
                    "network models",
                    PRESETS.iter().map(|preset| preset.name).chain(["lv08"]),
                )
            })
    }

    /// Sets the constant `key` to a value given as text. In the key, dashes count as underscores and capitals as small letters.
    /// The TCP window is switched off by `none`, by 0, and by any window of 1e20 B or more (SimGrid's notation).
    ///
    /// # Errors
    /// The key is unknown, or the value is not of its kind or out of range.
    pub fn set_constant(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        match key.to_ascii_lowercase().replace('-', "_").as_str() {
            "sharing" if value == "equal" => {
                (self.sharing, self.weights) = (true, Weights::Equal);
            }
            "sharing" => self.sharing = parse_boolean_constant(key, value)?,
            "weights" => {
                self.weights = match value {
                    "latency" => Weights::Latency,
                    "equal" => Weights::Equal,
                    _ => {
                        let problem = Problem::unknown_name("value of `weights`", value);
                        return Err(problem.with_known_names("values", ["latency", "equal"]));
                    }
                };
            }
            "overhead" => self.overhead = parse_duration_constant(key, value)?,
            "o_send" => self.o_send = parse_processor_time(key, value)?,
            "o_receive" => self.o_receive = parse_processor_time(key, value)?,
            "loopback_o_send" => self.loopback_o_send = parse_processor_time(key, value)?,
            "loopback_o_receive" => self.loopback_o_receive = parse_processor_time(key, value)?,
            "o_per_core" => self.o_per_core = parse_number_constant(key, value, 0.0)?,
            "loopback_latency" => self.loopback_latency = parse_duration_constant(key, value)?,
            "loopback_overhead" => self.loopback_overhead = parse_duration_constant(key, value)?,
            "loopback_shared" => self.loopback_shared = parse_boolean_constant(key, value)?,
            "packet" => {
                self.packet = match value {
                    "none" | "null" => None,
                    _ => Some(parse_quantity_constant(key, Bytes::parse(value))?),
                };
            }
            "queues" => self.queues = parse_boolean_constant(key, value)?,
            "slow_start" => self.slow_start = parse_boolean_constant(key, value)?,
            "factors" => {
                self.factors = match value {
                    "none" | "null" => SizeFactors::NONE,
                    _ => serde_json::from_str(value).map_err(|error| {
                        let message = format!(
                            "the value of the network constant `{key}` cannot be read: {error}"
                        );
                        let example = r#"[{"from": "0 B", "latency": 1.1, "bandwidth": 0.9}]"#;
                        Problem::new(message).hint(format!("write a list, for example {example}"))
                    })?,
                };
            }
            "crosstraffic" => self.crosstraffic = parse_boolean_constant(key, value)?,
            "reweigh_slip" => self.reweigh_slip = parse_boolean_constant(key, value)?,
            "fatpipe" => {
                self.fatpipe = Some(match value {
                    "simgrid" => Fatpipe::Simgrid,
                    "whole" => Fatpipe::Whole,
                    _ => {
                        let problem = Problem::unknown_name("value of `fatpipe`", value);
                        return Err(problem.with_known_names("values", ["simgrid", "whole"]));
                    }
                });
            }
            "latency_factor" => self.latency_factor = parse_number_constant(key, value, 0.0)?,
            "bandwidth_factor" => {
                self.bandwidth_factor = parse_number_constant(key, value, MIN_POSITIVE_CONSTANT)?;
            }
            "weight_s" => self.weight_s = parse_number_constant(key, value, 0.0)?,
            "loopback_bandwidth" => {
                self.loopback_bandwidth = parse_number_constant(key, value, MIN_POSITIVE_CONSTANT)?;
            }
            "tcp_gamma" => {
                let window = if matches!(value, "none" | "null") {
                    0.0
                } else {
                    parse_number_constant(key, value, 0.0)?
                };
                self.tcp_gamma = (window > 0.0 && window < 1e20).then_some(window);
            }
            _ => {
                return Err(Problem::unknown_name("network constant", key)
                    .with_known_names("constants", SETTABLE_CONSTANT_NAMES));
            }
        }
        Ok(())
    }
}

/// Parses the value of a constant that is a duration; `none` stands for zero.
fn parse_duration_constant(key: &str, value: &str) -> Result<Seconds, Problem> {
    match value {
        "none" | "null" => Ok(Seconds::ZERO),
        _ => parse_quantity_constant(key, Seconds::parse(value)),
    }
}

fn parse_processor_time(key: &str, value: &str) -> Result<ProcessorTime, Problem> {
    match value {
        "none" | "null" => Ok(ProcessorTime::ZERO),
        _ => parse_quantity_constant(key, value.parse()),
    }
}

fn parse_boolean_constant(key: &str, value: &str) -> Result<bool, Problem> {
    match value {
        "true" | "yes" | "on" => Ok(true),
        "false" | "no" | "off" => Ok(false),
        _ => Err(Problem::new(format!(
            "network constant `{key}` is `{value}`, which is neither true nor false"
        ))
        .hint("write `true` or `false`")),
    }
}

fn parse_quantity_constant<T>(
    key: &str,
    value: Result<T, migsim_base::units::UnitError>,
) -> Result<T, Problem> {
    value.map_err(|error| {
        Problem::new(format!(
            "the value of the network constant `{key}` is not valid: {error}"
        ))
        .hint("write a number with its unit")
    })
}

/// Maximum value of a constant of the network model.
const MAX_CONSTANT: f64 = 1e30;
/// Minimum value of each constant of the network model that must be positive.
const MIN_POSITIVE_CONSTANT: f64 = 1e-30;

/// Parses the value of a constant that is a number from `least` to the maximum value of a constant.
fn parse_number_constant(key: &str, value: &str, least: f64) -> Result<f64, Problem> {
    match value.parse::<f64>() {
        Ok(number) if (least..=MAX_CONSTANT).contains(&number) => Ok(number),
        _ => Err(Problem::new(format!(
            "network constant `{key}` is `{value}`; it must be a number from {least:?} to {MAX_CONSTANT:?}"
        ))
        .hint("write a number in this range, without a unit")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_and_its_overrides() {
        let mut model = NetworkModel::preset("lv08").unwrap();
        assert_eq!(model, NetworkModel::preset("simgrid-3.9").unwrap());
        model.set_constant("TCP-gamma", "20000").unwrap();
        model.set_constant("crosstraffic", "no").unwrap();
        assert_eq!(
            (model.tcp_gamma, model.crosstraffic),
            (Some(20_000.0), false)
        );
        model.set_constant("tcp_gamma", "1e20").unwrap();
        assert_eq!(model.tcp_gamma, None);
    }

    #[test]
    fn an_error_tells_whether_0_is_allowed() {
        let told = |key: &str| {
            let problem = NetworkModel::default().set_constant(key, "-1").unwrap_err();
            problem.message
        };
        assert!(told("weight_s").ends_with("a number from 0.0 to 1e30"));
        assert!(told("bandwidth_factor").ends_with("a number from 1e-30 to 1e30"));
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let problem = NetworkModel::preset("lv09").unwrap_err();
        assert!(problem.hint.unwrap().contains("cm02, ideal, lv08"));
        assert!(
            NetworkModel::default()
                .set_constant("gamma", "1")
                .unwrap_err()
                .hint
                .unwrap()
                .contains("tcp_gamma")
        );
        assert!(
            NetworkModel::default()
                .set_constant("weight_s", "-1")
                .is_err()
        );
        assert!(
            NetworkModel::default()
                .set_constant("weight_s", "nan")
                .is_err()
        );
    }
}
