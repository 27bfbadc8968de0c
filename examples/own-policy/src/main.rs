//! The command `migsim` with a plug-in of each kind: the policy `roulette`, the strategy `deal`, the trigger `once`, the application
//! `ring` and the load `saw`.

use migsim::prelude::*;

/// A policy: every `every` supersteps one random process moves to a random host.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Roulette {
    #[serde(default = "ten")]
    every: usize,
}

fn ten() -> usize {
    10
}

impl PolicyOptions for Roulette {
    const RANGES: &'static [(&'static str, &'static str)] = &[("every", "5,10,20,40")];

    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(self))
    }
}

impl Policy for Roulette {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        (view.superstep + 1).is_multiple_of(self.every)
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error> {
        let process = random.draw_below(view.processes());
        let migration = Migration::new(process, random.draw_below(view.platform.hosts.len()));
        let cluster = view.platform.cluster_of(migration.to);
        let from = view.placement[process];
        let reason = "the wheel stopped at this process";
        let mut decision = Decision::from_migrations(vec![migration]);
        decision.candidates = vec![Candidate::accepted(migration, from, cluster, reason)];
        Ok(decision)
    }
}

/// A strategy: deals the processes to the cores in turn. A trigger says when.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Deal {}

impl StrategyOptions for Deal {}

impl Strategy for Deal {
    fn assign(&mut self, state: &Instance<'_>, _random: &mut Stream) -> Result<Assignment, Error> {
        let cores = state.host_count();
        let dealt: Vec<usize> = (0..state.process_count())
            .map(|process| process % cores)
            .collect();
        let operations = dealt.len() as u64;
        Ok(Assignment::from_central_decision(dealt, operations))
    }
}

/// A trigger: one call, after `superstep` supersteps.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Once {
    superstep: u64,
    #[serde(skip)]
    observed: u64,
}

impl TriggerOptions for Once {
    const MAIN_OPTION: &'static str = "superstep";

    fn trigger(self) -> Result<Box<dyn Trigger>, Error> {
        Ok(Box::new(self))
    }
}

impl Trigger for Once {
    fn is_due(&mut self, _observed: &ObservedSuperstep) -> bool {
        self.observed += 1;
        self.observed == self.superstep
    }

    fn reason(&self) -> Reason {
        format!("since superstep {} has ended", self.superstep).into()
    }
}

/// A background load: it takes the share `height` of a host in every second period of 10 s.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Saw {
    height: f64,
}

impl LoadOptions for Saw {
    fn load(self) -> Result<Arc<dyn Load>, Error> {
        if (0.0..=0.99).contains(&self.height) {
            return Ok(Arc::new(self));
        }
        let problem = Problem::new("the height is not from 0 to 0.99").key("height");
        Err(problem
            .hint("choose a share of the host, such as 0.5")
            .into())
    }
}

impl Load for Saw {
    fn steps(&self, _random: Stream) -> Box<dyn Steps> {
        let height = self.height;
        let step = move |number| (10.0 * f64::from(number), height * f64::from(number % 2));
        Box::new((0_u32..).map(step))
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

/// An application: in each superstep every process computes `work` and sends `bytes` to the next one.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ring {
    procs: usize,
    supersteps: usize,
    work: Instructions,
    bytes: Bytes,
}

impl WorkloadOptions for Ring {
    fn application(self) -> Result<BuiltWorkload, Error> {
        Ok(BuiltWorkload::new(self))
    }
}

impl Workload for Ring {
    fn processes(&self) -> usize {
        self.procs
    }

    fn supersteps(&self) -> usize {
        self.supersteps
    }

    fn fill(&self, _superstep: usize, plan: &mut Plan) {
        plan.work.fill(self.work);
        (0..self.procs).for_each(|from| plan.send(from, (from + 1) % self.procs, self.bytes));
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        self.bytes
    }
}

fn main() -> std::process::ExitCode {
    let own = Registry::standard()
        .policy::<Roulette>("roulette", "a random process to a random host", "-")
        .strategy::<Deal>("deal", "deals the processes to the cores in turn", "-")
        .trigger::<Once>("once", "one call", "-")
        .workload::<Ring>("ring", "each sends to the next one", "-")
        .load::<Saw>(
            "saw",
            "a share of the host in every second period of 10 s",
            "-",
        );
    migsim::cli::main_with(own)
}
