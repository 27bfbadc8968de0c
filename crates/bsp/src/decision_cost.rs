//! The processor time of a decision about migrations: a formula of the size of the problem, such as `1 ms + 0.64 us * P`.

use std::str::FromStr;

use migsim_base::units::{Instructions, Seconds};

/// Processor time of a decision on each host that decides: a sum of terms.
///
/// A term is a time or a number of instructions, multiplied by any of the variables P (processes), H (cores of all hosts), M
/// (migrations that were decided), N (operations that the strategy counted; 100 P if it counts none), `log2(P)` and `log2(H)`:
///
/// ```
/// let cost: migsim_bsp::DecisionCost = "2 ms + 0.1 us * P * log2(H) + 80 us * M".parse()?;
/// assert!("3 * P".parse::<migsim_bsp::DecisionCost>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionCost {
    terms: [Term; MAX_TERMS],
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Term {
    seconds: f64,
    instructions: f64,
    powers: [u8; VARIABLES.len()],
}

const MAX_TERMS: usize = 6;
const VARIABLES: [&str; 6] = ["P", "H", "M", "N", "log2(P)", "log2(H)"];

/// Operations that a decision counts for each process if its policy does not count operations.
pub const OPERATIONS_PER_PROCESS: u64 = 100;

/// Sizes on which the time of a decision depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionSize {
    /// Number of processes.
    pub processes: usize,
    /// Number of cores of all hosts.
    pub cores: usize,
    /// Number of migrations that were decided.
    pub migrations: usize,
    /// Number of operations that the strategy counted; `None` if it counts none.
    pub operations: Option<u64>,
}

impl DecisionCost {
    /// Computes the work of a decision on a core that executes `speed` instructions in a second.
    pub fn work(&self, size: DecisionSize, speed: f64) -> Instructions {
        let processes = size.processes as f64;
        let cores = size.cores as f64;
        let operations = size.operations.map(|count| count as f64);
        let values = [
            processes,
            cores,
            size.migrations as f64,
            operations.unwrap_or(OPERATIONS_PER_PROCESS as f64 * processes),
            processes.log2(),
            cores.log2(),
        ];
        let work = self.terms.iter().map(|term| {
            let size: f64 = values
                .iter()
                .zip(&term.powers)
                .map(|(value, power)| value.powi((*power).into()))
                .product();
            (term.instructions + term.seconds * speed) * size
        });
        Instructions::of(work.sum())
    }

    /// Multiplies the cost by a factor.
    pub fn scale(&mut self, factor: f64) {
        for term in &mut self.terms {
            term.seconds *= factor;
            term.instructions *= factor;
        }
    }
}

impl FromStr for DecisionCost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut terms = [Term::default(); MAX_TERMS];
        let parts: Vec<&str> = text.split(" + ").collect();
        if parts.len() > MAX_TERMS {
            return Err(format!("`{text}` has more than {MAX_TERMS} terms"));
        }
        for (term, part) in terms.iter_mut().zip(parts) {
            let mut factors = part.split('*').map(str::trim);
            let amount = factors.next().unwrap_or_default();
            match (amount.parse::<Seconds>(), amount.parse::<Instructions>()) {
                (Ok(time), _) => term.seconds = time.get(),
                (_, Ok(work)) => term.instructions = work.get(),
                (Err(_), Err(_)) => {
                    return Err(format!(
                        "`{amount}` is no time and no number of instructions"
                    ));
                }
            }
            for factor in factors {
                let variable = VARIABLES
                    .iter()
                    .position(|name| *name == factor)
                    .ok_or_else(|| {
                        let known = VARIABLES.join(", ");
                        format!("unknown variable `{factor}` (known variables: {known})")
                    })?;
                term.powers[variable] += 1;
            }
        }
        Ok(Self { terms })
    }
}

impl Default for DecisionCost {
    /// Returns 10 instructions for each operation, including its memory accesses.
    fn default() -> Self {
        "10 instr * N".parse().expect("a formula")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_add_up_with_their_variables() {
        let size = DecisionSize {
            processes: 8,
            cores: 4,
            migrations: 3,
            operations: Some(50),
        };
        let work = |text: &str| text.parse::<DecisionCost>().unwrap().work(size, 2e9).get();
        // 1e-3 · 2e9 + 5 · 8 · 2 + 1e-6 · 2e9 · 3 · 8 · 3 + 10 · 50
        let text = "1 ms + 5 instr*P*log2(H) + 1 us * log2(P) * P * M + 10 instr * N";
        assert_eq!(work(text), 2e6 + 80.0 + 144_000.0 + 500.0);
        assert_eq!(work("0 s"), 0.0);
        let uncounted = DecisionSize {
            operations: None,
            ..size
        };
        assert_eq!(DecisionCost::default().work(uncounted, 2e9).get(), 8000.0);
        let mut twice: DecisionCost = text.parse().unwrap();
        twice.scale(2.0);
        assert_eq!(twice.work(size, 2e9).get(), 2.0 * work(text));
        for wrong in ["", "P", "1 us * Q", "3 * P", "1 us * P + ", "1 B"] {
            assert!(wrong.parse::<DecisionCost>().is_err(), "{wrong}");
        }
    }
}
