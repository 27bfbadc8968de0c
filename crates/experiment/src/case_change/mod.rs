//! Changes of a case: the same experiment with one quantity of its platform or its application changed.
//!
//! ```text
//! cluster NAME speed AMOUNT                       the speed of each host of a cluster
//! cluster NAME links bandwidth|latency AMOUNT     the access link of each host of a cluster
//! link NAME bandwidth|latency AMOUNT              one link, with both directions if it is duplex
//! route A B latency AMOUNT                        the latency that the platform gives for two clusters
//! loopback bandwidth|latency AMOUNT               messages between processes of the same host
//! barrier AMOUNT                                  the times of the barrier, and the delays and sizes of its messages
//! overhead AMOUNT                                 the fixed time that the library adds to each message
//! calls AMOUNT                                    times and work of rescheduling calls, delays and sizes of their messages
//! moves AMOUNT                                    the fixed time and the memory of each migration
//! load AMOUNT                                     the share of the background load in hosts and links
//! imbalance AMOUNT                                the deviation of the work of each process from balance
//! processes per host +1|-1                        one process more or less on each host
//! ```
//! AMOUNT is a percentage by which the quantity grows (`+10%`) or shrinks (`-10%`), or `unlimited`: a speed or bandwidth 10^6
//! times as high, and any other quantity 0. A change leaves everything else as the settings describe it: the placement at the
//! start, the routes and the random draws stay the same. This module parses changes; [`mod@apply`] applies them.

mod apply;
mod capacities;
mod possible;
mod spread;

use std::{fmt, str::FromStr};

use migsim_base::error::Problem;

pub(super) use capacities::links_altered_by_change;
pub use possible::PossibleChanges;

/// Factor that multiplies a speed or a bandwidth that a change makes `unlimited`.
const UNLIMITED_FACTOR: f64 = 1e6;

/// The quantity of a link that a change alters: bandwidth or latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkQuantity {
    /// The bandwidth of the link.
    Bandwidth,
    /// The latency of the link.
    Latency,
}

impl LinkQuantity {
    const fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth",
            Self::Latency => "latency",
        }
    }
}

/// The quantity of an experiment that a change alters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangedQuantity {
    /// Speed of the hosts of a cluster.
    ClusterSpeed(String),
    /// Bandwidth or latency of the access links of the hosts of a cluster.
    ClusterLinks(String, LinkQuantity),
    /// Bandwidth or latency of the link with this name.
    Link(String, LinkQuantity),
    /// Bandwidth or latency of messages between processes of the same host.
    Loopback(LinkQuantity),
    /// Latency that the platform specifies for the route between two clusters; the text holds their names, separated by a space.
    RouteLatency(String),
    /// Times that the barrier protocol adds, and delays and sizes of the messages of the barrier.
    BarrierCosts,
    /// Fixed time that the library adds to each message, besides the latency and the transfer.
    MessageOverhead,
    /// Times and work of rescheduling calls, and delays and sizes of the messages of these calls.
    CallCosts,
    /// Fixed time of each migration, and the memory that migrations transfer.
    MoveCosts,
    /// Share of the capacity of hosts and links that the background load takes.
    BackgroundLoad,
    /// Deviation of the work of each process from the work that it would have in a balanced superstep.
    Imbalance,
    /// Number of processes on each host at the start.
    ProcessesPerHost,
}

/// The amount by which a change alters a quantity of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Amount {
    /// Percentage by which the quantity grows; negative, above -100, if it shrinks.
    Percent(f64),
    /// The change makes the quantity so favourable that it no longer limits a run: a speed or bandwidth 10^6 times as high, any
    /// other quantity 0.
    Unlimited,
    /// Number of processes that each host gets in addition; a negative number takes processes away from each host.
    ProcessCount(i32),
}

/// A change of one quantity of an experiment by an amount.
///
/// ```
/// use migsim_experiment::{Amount, CaseChange, ChangedQuantity, LinkQuantity};
///
/// let change: CaseChange = "link wan bandwidth +10%".parse()?;
/// let wan = ChangedQuantity::Link("wan".to_owned(), LinkQuantity::Bandwidth);
/// assert_eq!((change.quantity, change.amount), (wan, Amount::Percent(10.0)));
/// # Ok::<(), migsim_base::error::Problem>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CaseChange {
    /// The quantity that the change alters.
    pub quantity: ChangedQuantity,
    /// The amount by which the change alters the quantity: a percentage, `unlimited`, or a number of processes.
    pub amount: Amount,
}

/// The forms in which a change can be written, for error messages.
const CHANGE_FORMS: [&str; 8] = [
    "barrier|overhead|calls|moves|load|imbalance -10%",
    "cluster NAME links bandwidth|latency +10%",
    "cluster NAME speed +10%",
    "link NAME bandwidth +10%",
    "link NAME latency -10%",
    "loopback bandwidth|latency +10%",
    "processes per host +1",
    "route CLUSTER CLUSTER latency -10%",
];

impl CaseChange {
    /// Creates a change of a quantity by an amount.
    pub const fn new(changed: ChangedQuantity, amount: Amount) -> Self {
        Self {
            quantity: changed,
            amount,
        }
    }

    /// Returns whether the change leaves its quantity as it is.
    fn is_zero(&self) -> bool {
        self.amount == Amount::Percent(0.0)
    }

    fn rate_factor(&self) -> f64 {
        self.factor(UNLIMITED_FACTOR)
    }

    /// Returns the factor by which the change multiplies a quantity that costs time: a latency, a size, a duration, or the share
    /// that a load takes.
    fn cost_factor(&self) -> f64 {
        self.factor(0.0)
    }

    fn factor(&self, unlimited: f64) -> f64 {
        match self.amount {
            Amount::Percent(percent) => 1.0 + percent / 100.0,
            Amount::Unlimited => unlimited,
            Amount::ProcessCount(_) => 1.0,
        }
    }
}

impl ChangedQuantity {
    /// Returns whether the quantity is a speed or a bandwidth, so that a larger value makes a run faster.
    pub const fn is_rate(&self) -> bool {
        matches!(
            self,
            Self::ClusterSpeed(_)
                | Self::ClusterLinks(_, LinkQuantity::Bandwidth)
                | Self::Link(_, LinkQuantity::Bandwidth)
                | Self::Loopback(LinkQuantity::Bandwidth)
        )
    }
}

impl fmt::Display for ChangedQuantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClusterSpeed(name) => write!(out, "cluster {name} speed"),
            Self::ClusterLinks(name, of) => write!(out, "cluster {name} links {}", of.name()),
            Self::Link(name, of) => write!(out, "link {name} {}", of.name()),
            Self::Loopback(of) => write!(out, "loopback {}", of.name()),
            Self::RouteLatency(names) => write!(out, "route {names} latency"),
            Self::BarrierCosts => out.write_str("barrier"),
            Self::MessageOverhead => out.write_str("overhead"),
            Self::CallCosts => out.write_str("calls"),
            Self::MoveCosts => out.write_str("moves"),
            Self::BackgroundLoad => out.write_str("load"),
            Self::Imbalance => out.write_str("imbalance"),
            Self::ProcessesPerHost => out.write_str("processes per host"),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => write!(out, "{percent:+}%"),
            Self::Unlimited => out.write_str("unlimited"),
            Self::ProcessCount(count) => write!(out, "{count:+}"),
        }
    }
}

impl fmt::Display for CaseChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.quantity, self.amount)
    }
}

impl FromStr for CaseChange {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some((amount, quantity)) = words.split_last() else {
            return Err(unparsable_change_problem("the text of the change is empty"));
        };
        let changed = parse_quantity(quantity).ok_or_else(|| {
            let no = format!("`{text}` is not a change that migsim can make");
            unparsable_change_problem(&no)
        })?;
        let amount = parse_amount(amount, &changed)?;
        Ok(Self {
            quantity: changed,
            amount,
        })
    }
}

/// Returns the error that a change cannot be parsed, with `message` and the forms in which changes can be written.
fn unparsable_change_problem(message: &str) -> Problem {
    Problem::new(message).hint(format!(
        "write the change in one of these forms: {}",
        CHANGE_FORMS.join(", ")
    ))
}

/// Parses the words before the amount as the quantity that a change alters; `None` if they name no quantity.
fn parse_quantity(words: &[&str]) -> Option<ChangedQuantity> {
    let link = |word: &str| match word {
        "bandwidth" => Some(LinkQuantity::Bandwidth),
        "latency" => Some(LinkQuantity::Latency),
        _ => None,
    };
    Some(match words {
        ["cluster", name @ .., "speed"] if !name.is_empty() => {
            ChangedQuantity::ClusterSpeed(name.join(" "))
        }
        ["cluster", name @ .., "links", of] if !name.is_empty() => {
            ChangedQuantity::ClusterLinks(name.join(" "), link(of)?)
        }
        ["link", name @ .., of] if !name.is_empty() => {
            ChangedQuantity::Link(name.join(" "), link(of)?)
        }
        ["loopback", of] => ChangedQuantity::Loopback(link(of)?),
        ["route", names @ .., "latency"] if names.len() > 1 => {
            ChangedQuantity::RouteLatency(names.join(" "))
        }
        ["barrier"] => ChangedQuantity::BarrierCosts,
        ["overhead"] => ChangedQuantity::MessageOverhead,
        ["calls"] => ChangedQuantity::CallCosts,
        ["moves"] => ChangedQuantity::MoveCosts,
        ["load"] => ChangedQuantity::BackgroundLoad,
        ["imbalance"] => ChangedQuantity::Imbalance,
        ["processes", "per", "host"] => ChangedQuantity::ProcessesPerHost,
        _ => return None,
    })
}

/// Parses the amount of a change of the quantity `changed`.
fn parse_amount(text: &str, changed: &ChangedQuantity) -> Result<Amount, Problem> {
    if *changed == ChangedQuantity::ProcessesPerHost {
        return match text {
            "+1" => Ok(Amount::ProcessCount(1)),
            "-1" => Ok(Amount::ProcessCount(-1)),
            _ => Err(Problem::new(format!(
                "the amount of a change of `{changed}` is `{text}`, but it must be one process"
            ))
            .hint("write `+1` or `-1`")),
        };
    }
    if text == "unlimited" {
        return Ok(Amount::Unlimited);
    }
    let has_sign = text.starts_with(['+', '-']);
    let number = text.strip_suffix('%').filter(|_| has_sign);
    let Some(percent) = number
        .and_then(|number| number.parse::<f64>().ok())
        .filter(|percent| percent.is_finite())
    else {
        return Err(Problem::new(format!(
            "`{text}` does not say by how much the quantity changes"
        ))
        .hint("write a percentage with its sign, such as `+10%` or `-10%`, or `unlimited`"));
    };
    if percent <= -100.0 || percent > 100.0 * UNLIMITED_FACTOR {
        return Err(Problem::new(format!("the amount `{text}` of the change is out of range")).hint(
            "choose a percentage above -100% and up to +100000000%, or `unlimited` for a quantity without limit",
        ));
    }
    if *changed == ChangedQuantity::BackgroundLoad && percent > 0.0 {
        let problem = Problem::new(format!(
            "the change `{text}` would increase the background load, but a change can only reduce it"
        ));
        return Err(problem.hint("write a percentage below 0, or add load with `--load`"));
    }
    Ok(Amount::Percent(percent))
}

#[cfg(test)]
mod tests;
