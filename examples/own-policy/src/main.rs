//! The command `migsim` with an additional policy, `roulette`, and an additional application, `ring`.

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
        let to = random.draw_below(view.platform.hosts.len());
        Ok(Decision::from_migrations(vec![Migration::new(process, to)]))
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
    let own = Registry::standard();
    let own = own.policy::<Roulette>("roulette", "a random process to a random host", "-");
    migsim::cli::main_with(own.workload::<Ring>("ring", "each sends to the next one", "-"))
}
