//! The engine of a run, which refuses amounts that nobody can wait for as soon as they start.
//!
//! ```text
//! least(message) = size / narrowest bandwidth,   least(work) = work / speed          what nothing can be faster than
//! changes        = least · (Σ over links of their changes per second + those of the slowest sleeper among the hosts)
//! ```
//! Each change of capacity while an activity lasts is simulated, so that an activity that outlasts [`MOST_CHANGES`] never ends. The engine
//! finds that by following them all; here it is foreseen. On a platform that does not vary nothing is checked.
//!
//! Cost: a comparison for each activity; the rates of change are measured when an activity takes [`LONG`] at least.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use super::event::Token;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, HostId, Instructions, Seconds};
use migsim_engine::{NetworkModel, Simulation};
use migsim_platform::{Host, Link, Platform, Profile};

/// Changes of capacity during one activity that are refused: several times those that the engine follows without an end of anything.
const MOST_CHANGES: f64 = 1e9;
/// The least time of an activity that is looked at \[s\]; at a change of everything each microsecond there are enough of them in it.
const LONG: f64 = 100.0;
/// The number of changes looked at to measure all rates.
const LOOKED_AT: usize = 500_000;
/// The number of changes of one capacity, at least and at most.
const OF_ONE: (usize, usize) = (16, 4096);
/// The CPU time of a change \[s\], for the message.
const CHANGE: f64 = 1e-7;
const HINT: &str = "make it smaller, or give the profiles and loads longer periods";

/// The engine of a run on a platform.
#[derive(Debug)]
pub(super) struct Patience<'a> {
    engine: Simulation<'a, Token>,
    platform: &'a Platform,
    placement: &'a [HostId],
    /// More than these takes [`LONG`] wherever it is; infinite if nothing varies.
    many_bytes: f64,
    much_work: f64,
    long_wait: f64,
    /// Changes of all links, and of the host that changes most among those on which processes start \[1/s\].
    rates: OnceCell<(f64, f64)>,
    /// Whether no host is needed after the open superstep.
    pub(super) is_last: bool,
    refused: Option<Problem>,
}

impl<'a> Patience<'a> {
    pub(super) fn new(
        platform: &'a Platform,
        model: NetworkModel,
        placement: &'a [HostId],
    ) -> Self {
        let varies =
            platform.hosts.iter().any(Host::varies) || platform.links.iter().any(Link::varies);
        let long = |most: f64| if varies { LONG * most } else { f64::INFINITY };
        Self {
            engine: Simulation::new(platform, model),
            platform,
            placement,
            many_bytes: long(platform.links.iter().map(bandwidth).fold(0.0, f64::max)),
            much_work: long(platform.hosts.iter().map(speed).fold(0.0, f64::max)),
            long_wait: long(1.0),
            rates: OnceCell::new(),
            is_last: false,
            refused: None,
        }
    }

    /// As [`Simulation::send`].
    pub(super) fn send(
        &mut self,
        from: HostId,
        to: HostId,
        size: Bytes,
        token: Token,
    ) -> Result<(), Error> {
        self.send_message(from, to, (size, false), token)
    }

    /// As [`Simulation::send_message`].
    pub(super) fn send_message(
        &mut self,
        from: HostId,
        to: HostId,
        (size, is_late): (Bytes, bool),
        token: Token,
    ) -> Result<(), Error> {
        if size.get() > self.many_bytes && from != to {
            self.check_message(from, to, size, token)?;
        }
        self.engine.send_message(from, to, (size, is_late), token)
    }

    /// As [`Simulation::execute`].
    pub(super) fn execute(
        &mut self,
        host: HostId,
        work: Instructions,
        token: Token,
    ) -> Result<(), Error> {
        if work.get() > self.much_work {
            let at = &self.platform.hosts[host.index()];
            let own = change_rate(at.availability(), OF_ONE.1);
            let least = work.get() / speed(at);
            let what = || format!("work of {} cycles on host `{}`", work.get(), at.name);
            self.check(least, own, what).map_err(Error::Run)?;
        }
        self.engine.execute(host, work, token)
    }

    /// As [`Simulation::wait`]; a wait without end is refused when the next activity is waited for.
    pub(super) fn wait(&mut self, duration: Seconds, token: Token) {
        if duration.get() > self.long_wait {
            let what = || format!("{} of {duration}", wait_of(token));
            let checked = self.check(duration.get(), self.of_sleepers(), what);
            self.refused = self.refused.take().or(checked.err());
        }
        self.engine.wait(duration, token);
    }

    /// As [`Simulation::next_ended`].
    pub(super) fn next_ended(&mut self) -> Result<Option<Token>, Error> {
        match self.refused.take() {
            Some(problem) => Err(Error::Run(problem)),
            None => self.engine.next_ended(),
        }
    }

    #[cold]
    fn check_message(
        &self,
        from: HostId,
        to: HostId,
        size: Bytes,
        token: Token,
    ) -> Result<(), Error> {
        let Some(route) = self.platform.route(from, to) else {
            return Ok(());
        };
        let links = route.links().map(|link| &self.platform.links[link.index()]);
        let narrowest = links.map(bandwidth).fold(f64::INFINITY, f64::min);
        let host = |host: HostId| &self.platform.hosts[host.index()].name;
        let what = || {
            let (what, from, to) = (message_of(token), host(from), host(to));
            format!("{what} of {size} from host `{from}` to host `{to}`")
        };
        self.check(size.get() / narrowest, self.of_sleepers(), what)
            .map_err(Error::Run)
    }

    /// Changes of a host that sleeps meanwhile, and is needed afterwards \[1/s\].
    fn of_sleepers(&self) -> f64 {
        if self.is_last { 0.0 } else { self.rates().1 }
    }

    /// Refuses an activity that takes `least` seconds and more, during which hosts change `of_hosts` times a second.
    #[cold]
    fn check(&self, least: f64, of_hosts: f64, what: impl Fn() -> String) -> Result<(), Problem> {
        let rate = self.rates().0 + of_hosts;
        let changes = least * rate;
        // A rate of zero makes no number of what is infinite.
        if changes.is_nan() || changes <= MOST_CHANGES {
            return Ok(());
        }
        let message = format!(
            "{} would never end: it takes {least:.1e} s at least, while capacities change {rate:.1} times a second; to follow {changes:.1e} changes takes some {:.1e} h of CPU",
            what(),
            changes * CHANGE / 3600.0
        );
        let place = format!("{}, at {}", self.platform.name, self.engine.now());
        Err(Problem::new(message).source(place).hint(HINT))
    }

    fn rates(&self) -> (f64, f64) {
        *self.rates.get_or_init(|| {
            let links = self.platform.links.iter().filter(|link| link.varies());
            let hosts: BTreeSet<HostId> = self.placement.iter().copied().collect();
            let hosts = hosts.iter().map(|host| &self.platform.hosts[host.index()]);
            let count = links.clone().count() + hosts.clone().count();
            let of_one = (LOOKED_AT / count.max(1)).clamp(OF_ONE.0, OF_ONE.1);
            let latency = |link: &Link| link.latency_profile.as_ref().map(Profile::steps);
            let of_link = |link: &Link| {
                change_rate(link.capacity(), of_one) + change_rate(latency(link), of_one)
            };
            let of_host = |host: &Host| change_rate(host.availability(), of_one);
            (
                links.map(of_link).sum(),
                hosts.map(of_host).fold(0.0, f64::max),
            )
        })
    }
}

impl<'a> Deref for Patience<'a> {
    type Target = Simulation<'a, Token>;

    fn deref(&self) -> &Self::Target {
        &self.engine
    }
}

impl DerefMut for Patience<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.engine
    }
}

/// The changes of a capacity per second, from the first ones; 0 if they end.
fn change_rate(steps: Option<impl Iterator<Item = (f64, f64)>>, count: usize) -> f64 {
    let last = steps.and_then(|mut steps| steps.nth(count - 1));
    last.map_or(0.0, |(date, _)| count as f64 / date)
}

/// The most that a link ever has \[B/s\].
fn bandwidth(link: &Link) -> f64 {
    link.bandwidth
        .get()
        .max(most(link.bandwidth_profile.as_ref()))
}

/// The most that a core of a host ever has \[instructions/s\].
fn speed(host: &Host) -> f64 {
    host.speed.get() * most(host.speed_profile.as_ref()).max(1.0)
}

fn most(profile: Option<&Profile>) -> f64 {
    let steps = profile.map_or(&[][..], Profile::once);
    steps.iter().map(|step| step.1).fold(0.0, f64::max)
}

/// The name of a message, by its owner.
fn message_of(token: Token) -> &'static str {
    match token {
        Token::Barrier(_) => "a message of the barrier",
        Token::Call => "a message of the rescheduling call",
        Token::Transferred(_) | Token::Settled(_) => "the memory of a process,",
        Token::Begins(_) | Token::Computed(_) | Token::Delivered(_) => "a message",
    }
}

/// The name of a wait, by its owner.
fn wait_of(token: Token) -> &'static str {
    match token {
        Token::Begins(_) | Token::Barrier(_) => "a wait at the barrier",
        Token::Call => "a wait for the rescheduling call",
        _ => "a wait for a migration",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::{BytesPerSecond, InstructionsPerSecond};
    use migsim_platform::Platform;

    /// Hosts of 1 GHz whose speed and links of 1 MB/s of which the bandwidth halves each half second.
    fn platform(has_varying_links: bool) -> Platform {
        let mut platform = migsim_platform::open("lbm").unwrap().platform;
        let halves = |value: f64| {
            let steps = vec![(0.0, value), (0.5, value / 2.0)];
            Some(Profile::new(steps, Some(1.0)).unwrap())
        };
        for host in &mut platform.hosts {
            host.speed = InstructionsPerSecond::of(1e9);
            host.speed_profile = halves(1.0);
        }
        for link in &mut platform.links {
            link.bandwidth = BytesPerSecond::of(1e6);
            link.bandwidth_profile = halves(1e6).filter(|_| has_varying_links);
        }
        platform
    }

    fn refusal(done: Result<(), Error>) -> String {
        done.err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn amounts_that_outlast_all_patience_are_refused_at_once() {
        let platform = platform(true);
        let placement = [HostId(0), HostId(1)];
        let mut engine = Patience::new(&platform, NetworkModel::default(), &placement);
        let (size, work) = (Bytes::of(1e300), Instructions::of(1e300));
        let send = engine.send(HostId(0), HostId(1), size, Token::Delivered(0));
        let send = refusal(send);
        assert!(
            send.contains("a message of 1e300 B from host `n-0` to host `n-1` would never end"),
            "{send}"
        );
        assert!(
            send.contains("1.0e294 s at least") && send.contains("hint: make it smaller"),
            "{send}"
        );
        let execute = refusal(engine.execute(HostId(1), work, Token::Computed(1)));
        assert!(
            execute.contains("work of") && execute.contains("host `n-1`"),
            "{execute}"
        );
        engine.wait(Seconds::of(1e300), Token::Call);
        let wait = refusal(engine.next_ended().map(|_| ()));
        assert!(wait.contains("the rescheduling call of 1e300 s"), "{wait}");
    }

    #[test]
    fn nothing_is_refused_that_ends_or_passes_while_nothing_changes() {
        let (varying, hosts_only) = (platform(true), platform(false));
        let still = migsim_platform::open("lbm").unwrap().platform;
        let placement = [HostId(0), HostId(1)];
        let model = NetworkModel::default();
        let send = |platform: &Platform, is_last: bool, size: f64| {
            let mut engine = Patience::new(platform, model, &placement);
            engine.is_last = is_last;
            refusal(engine.send(HostId(0), HostId(1), Bytes::of(size), Token::Delivered(0)))
        };
        assert_eq!(send(&varying, false, 1e9), "");
        assert_eq!(send(&still, false, 1e300), "");
        // The hosts sleep, and are needed again only if it is not the last superstep.
        assert_eq!(send(&hosts_only, true, 1e300), "");
        assert_ne!(send(&hosts_only, false, 1e300), "");
    }
}
