//! Disturbances: random factors on the work of each process in each superstep, such as those that other programs, caches and
//! clock rates cause on real machines.
//!
//! ```text
//! work of process i in superstep t:  w_i(t) · f_i(t)     f uniform in 1 ± √3·noise (standard deviation: noise)
//! ```
//! Here `w_i(t)` is the work that the application states, and `noise` the value of the key `runtime.noise`. A deterministic run
//! gives one makespan, and any difference between two policies looks significant. With `runtime.noise=0.01` and several seeds, a
//! difference is significant only if it is larger than the effect of such disturbances. The factors of each superstep come from a
//! separate random stream ([`StreamPurpose::ComputationNoise`]), so that they depend neither on the policy nor on its calls: the work is the same
//! for all policies.

use super::case_change::other_methods;
use migsim_base::error::{Error, Problem};
use migsim_base::random::{Stream, StreamPurpose};
use migsim_base::units::{Bytes, Instructions, ProcessId};
use migsim_workloads::{ApplicationSize, Plan, PrescribedMigration, VtLabels, Workload};

/// The key of an experiment that sets the relative standard deviation of the random factors on the work.
const NOISE_KEY: &str = "runtime.noise";

/// Maximum value of `runtime.noise`; with a value above 1/√3, a factor on the work could be negative.
const MAX_NOISE: f64 = 0.5;

/// Returns the application `inner` with random factors on its work, or `inner` itself if `noise` is 0.
///
/// # Errors
/// The noise is negative or too large.
pub(super) fn add_work_noise(
    inner: Box<dyn Workload>,
    noise: f64,
    seed: u64,
) -> Result<Box<dyn Workload>, Error> {
    if !(0.0..=MAX_NOISE).contains(&noise) {
        let message = format!("`{NOISE_KEY}` is {noise}; it must be from 0 to {MAX_NOISE}");
        let problem = Problem::new(message).key(NOISE_KEY);
        return Err(problem
            .hint("choose a value in this range, such as 0.01")
            .into());
    }
    if noise == 0.0 {
        return Ok(inner);
    }
    Ok(Box::new(NoisyWorkload {
        original_workload: inner,
        noise,
        seed,
    }))
}

/// An application whose work is multiplied by a random factor for each process in each superstep.
#[derive(Debug)]
struct NoisyWorkload {
    original_workload: Box<dyn Workload>,
    /// Relative standard deviation of the random factors on the work \[1\].
    noise: f64,
    seed: u64,
}

impl Workload for NoisyWorkload {
    other_methods!();

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        self.original_workload.fill(superstep, plan);
        let mut random =
            Stream::for_superstep(self.seed, StreamPurpose::ComputationNoise, superstep as u64);
        for work in &mut plan.work {
            let factor = 1.0 + 3.0_f64.sqrt() * self.noise * random.draw_from_minus_one_to_one();
            *work = Instructions::of(work.get() * factor);
        }
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        self.original_workload.memory(process)
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        self.original_workload.prescribed_moves(superstep)
    }

    fn repeats(&self, _superstep: usize) -> bool {
        false
    }

    fn uses_seed(&self) -> bool {
        true
    }

    fn failure(&self) -> Option<Error> {
        self.original_workload.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Experiment, Layers, Limits};
    use super::*;
    use serde_json::json;

    fn works(noise: f64, seed: u64, policy: &str) -> Vec<Vec<f64>> {
        let settings = [
            ("workload", json!({ "app": "lu", "n": 20, "procs": 4 })),
            ("runtime.noise", json!(noise)),
            ("seed", json!(seed)),
            ("policy.name", json!(policy)),
        ];
        let experiment =
            Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap();
        assert_eq!(experiment.uses_seed(), noise > 0.0);
        let workload = &experiment.workload;
        let mut plan = Plan::default();
        let mut work = |superstep| {
            plan.clear(workload.processes());
            workload.fill(superstep, &mut plan);
            plan.work.iter().map(|work| work.get()).collect()
        };
        (0..workload.supersteps()).map(&mut work).collect()
    }

    #[test]
    fn work_is_disturbed_by_the_seed_alone_and_by_the_given_deviation() {
        let plain = works(0.0, 1, "refine");
        let noisy = works(0.02, 1, "refine");
        assert_eq!(noisy, works(0.02, 1, "never"));
        assert_ne!(noisy, works(0.02, 2, "refine"));
        let pairs = plain.iter().flatten().zip(noisy.iter().flatten());
        let errors = pairs.filter(|(work, _)| **work > 0.0);
        let errors: Vec<f64> = errors
            .map(|(work, disturbed)| disturbed / work - 1.0)
            .collect();
        assert!(
            errors
                .iter()
                .all(|error| error.abs() <= 0.02 * 3.0_f64.sqrt())
        );
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let deviation = (squares / errors.len() as f64).sqrt();
        // The standard error of the deviation of a uniform distribution is about 0.45/√n of it.
        let margin = 4.0 * 0.45 / (errors.len() as f64).sqrt();
        assert!(
            (deviation / 0.02 - 1.0).abs() < margin,
            "{deviation}, {}",
            errors.len()
        );
    }

    #[test]
    fn a_noise_out_of_range_is_refused() {
        let settings = [("workload.app", json!("sw")), ("runtime.noise", json!(0.6))];
        let error = Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("it must be from 0 to 0.5"), "{text}");
    }
}
