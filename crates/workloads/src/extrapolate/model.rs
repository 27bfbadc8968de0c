//! Fits the laws by which work and message sizes depend on the number of processes P.
//!
//! ```text
//! work of a process in a group   W(P) = W(P_last) (P / P_last)^b          b: least squares of the logarithms
//! size of the messages of a slot s(P) = a · basis(P)                      basis: 1, 1/(processes across the slot), 1/P, 1/P², or P^c
//! ```
//! `P_last` is the number of processes of the largest recording used, and a the factor that fits this recording. A group contains
//! the exchanges of one family with equal message sizes, such as the same exchange in all iterations. One law for the whole group
//! averages the noise of its exchanges. Process p of P computes like process `floor(p P_last / P)` of the largest recording.

use std::collections::BTreeMap;
use std::fmt;

use super::family::PatternFamily;
use super::pattern::RecordedExchange;
use super::sample::RecordedRun;
use migsim_base::error::{Error, Problem};

/// Maximum deviation of a recorded message size from the fitted law, relative to the recorded size.
const MESSAGE_SIZE_TOLERANCE: f64 = 0.02;
/// Maximum deviation of a recorded message size from the fitted law that rounding to whole bytes explains \[B\].
const ROUNDING_TOLERANCE_BYTES: f64 = 1.0;

/// Law by which the size of a message \[B\] depends on the number of processes: a factor times a basis function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MessageSizeLaw {
    /// The basis function of the number of processes.
    basis_function: Basis,
    /// The factor of the basis function \[B\].
    factor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Basis {
    Constant,
    Inverse,
    InverseSquare,
    /// 1 / (number of processes in the cross-section of a grid perpendicular to the dimension of a slot).
    InverseCrossSection(PatternFamily, usize),
    Power(f64),
}

impl Basis {
    /// Returns the value of the basis function for a number of processes.
    fn value_for_process_count(self, processes: usize) -> f64 {
        let count = processes as f64;
        match self {
            Self::Constant => 1.0,
            Self::Inverse => 1.0 / count,
            Self::InverseSquare => 1.0 / (count * count),
            Self::InverseCrossSection(family, slot) => {
                1.0 / family.cross_section_process_count(slot, processes) as f64
            }
            Self::Power(exponent) => count.powf(exponent),
        }
    }
}

impl MessageSizeLaw {
    /// Returns the size of a message \[B\] for a number of processes.
    pub(super) fn message_size(self, processes: usize) -> f64 {
        self.factor * self.basis_function.value_for_process_count(processes)
    }

    /// Fits the message sizes of all slots of a family by laws with the same basis function; returns `None` if no basis function
    /// fits all points. The first basis function that fits is chosen.
    ///
    /// `slots` has the points of each slot: numbers of processes and message sizes \[B\]. A slot without points gets no law.
    fn fit_laws_of_slots(
        slots: &[Vec<(usize, f64)>],
        family: PatternFamily,
    ) -> Option<Vec<Option<Self>>> {
        let kinds: [&dyn Fn(usize) -> Option<Basis>; 5] = [
            &|_| Some(Basis::Constant),
            &|slot| Some(Basis::InverseCrossSection(family, slot)),
            &|_| Some(Basis::Inverse),
            &|_| Some(Basis::InverseSquare),
            &|slot| fit_power_law_exponent(&slots[slot]).map(Basis::Power),
        ];
        let follows = |slot: usize, kind: &dyn Fn(usize) -> Option<Basis>| {
            let Some(&(last, size)) = slots[slot].last() else {
                return Some(None);
            };
            let basis = kind(slot)?;
            let factor = size / basis.value_for_process_count(last);
            let law = Self {
                basis_function: basis,
                factor,
            };
            let is_near = |&(processes, size): &(usize, f64)| {
                (law.message_size(processes) - size).abs()
                    <= MESSAGE_SIZE_TOLERANCE * size + ROUNDING_TOLERANCE_BYTES
            };
            slots[slot].iter().all(is_near).then_some(Some(law))
        };
        kinds
            .into_iter()
            .find_map(|kind| (0..slots.len()).map(|slot| follows(slot, kind)).collect())
    }
}

impl fmt::Display for MessageSizeLaw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factor = self.factor.round();
        match self.basis_function {
            Basis::Constant => write!(out, "{factor} B"),
            Basis::Inverse => write!(out, "{factor} B / P"),
            Basis::InverseSquare => write!(out, "{factor} B / P^2"),
            Basis::InverseCrossSection(..) => write!(out, "{factor} B / processes across"),
            Basis::Power(exponent) => write!(out, "{factor} B x P^{exponent:.2}"),
        }
    }
}

/// Fits a power law to points (number of processes, value) and returns its exponent, the slope of the least-squares line through
/// the logarithms. `None` for fewer than two points, or if a value is not positive.
fn fit_power_law_exponent(points: &[(usize, f64)]) -> Option<f64> {
    if points.len() < 2 || points.iter().any(|(_, value)| *value <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = (points.iter())
        .map(|(count, value)| ((*count as f64).ln(), value.ln()))
        .collect();
    let count = logs.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|one| one.0), mean(&|one| one.1));
    let (mut up, mut across) = (0.0, 0.0);
    for (at, value) in &logs {
        up += (at - x) * (value - y);
        across += (at - x) * (at - x);
    }
    Some(up / across)
}

/// A group of exchanges of a program that have the same pattern of messages (family) and the same message sizes, with the laws by which their work and message sizes depend on the number of processes.
#[derive(Clone, Debug)]
pub(super) struct ExchangeGroup {
    /// Communication pattern of the exchanges.
    pub(super) family: PatternFamily,
    /// Number of exchanges in the group.
    pub(super) exchange_count: usize,
    /// Exponent of the power law by which the work of a process depends on the number of processes.
    pub(super) work_exponent: f64,
    /// The law for the message size of each slot; `None` for a slot without messages.
    pub(super) size_laws: Vec<Option<MessageSizeLaw>>,
}

/// Model of a program for any number of processes: the laws of all its exchanges, fitted to recordings.
#[derive(Clone, Debug)]
pub(super) struct ProgramModel<'s> {
    /// The recording with the most processes, whose work and memory the model scales.
    largest_recording: &'s RecordedRun,
    pub(super) exchange_groups: Vec<ExchangeGroup>,
    /// For each exchange in the order of the program, the index of its group, and its supersteps in the largest recording.
    group_and_supersteps_of_exchange: Vec<(usize, std::ops::Range<usize>)>,
    /// Exponent of the power law by which the memory of a process depends on the number of processes.
    memory_exponent: f64,
}

impl<'s> ProgramModel<'s> {
    /// Fits the laws to at least two recordings, ordered by number of processes; `phases` are the exchanges of which each
    /// recording consists.
    ///
    /// # Errors
    /// Message sizes follow no law.
    pub(super) fn fit(
        samples: &'s [RecordedRun],
        phases: &[RecordedExchange],
    ) -> Result<Self, Error> {
        let end = samples.len() - 1;
        let mut members: BTreeMap<(PatternFamily, Vec<u64>), Vec<&RecordedExchange>> =
            BTreeMap::new();
        let key = |phase: &RecordedExchange| {
            let sizes = phase.mean_message_sizes[end]
                .iter()
                .map(|size| size.unwrap_or(0.0).to_bits());
            (phase.family, sizes.collect())
        };
        for phase in phases {
            members.entry(key(phase)).or_default().push(phase);
        }
        let groups = members.values().map(|phases| fit_group(samples, phases));
        let groups: Vec<ExchangeGroup> = groups.collect::<Result<_, _>>()?;
        let number = |phase: &RecordedExchange| {
            members
                .keys()
                .position(|one| *one == key(phase))
                .unwrap_or(0)
        };
        let mean = |sample: &RecordedRun| {
            let known: Vec<f64> = sample.memory_of_process.iter().flatten().copied().collect();
            known.iter().sum::<f64>() / known.len().max(1) as f64
        };
        let memory: Vec<(usize, f64)> = samples
            .iter()
            .map(|one| (one.process_count, mean(one)))
            .collect();
        Ok(Self {
            largest_recording: &samples[end],
            exchange_groups: groups,
            group_and_supersteps_of_exchange: phases
                .iter()
                .map(|phase| (number(phase), phase.supersteps_in_recording[end].clone()))
                .collect(),
            memory_exponent: fit_power_law_exponent(&memory).unwrap_or(0.0),
        })
    }

    /// Returns the process of the largest recording whose work and memory represent process `process` of `count`.
    fn representative_recorded_process(&self, process: usize, count: usize) -> usize {
        process * self.largest_recording.process_count / count
    }

    /// Returns the extrapolated memory of process `process` of `count` \[B\]; `None` if the recording does not state it.
    pub(super) fn extrapolated_memory(&self, process: usize, count: usize) -> Option<f64> {
        let ratio = count as f64 / self.largest_recording.process_count as f64;
        Some(
            (self.largest_recording.memory_of_process
                [self.representative_recorded_process(process, count)]?
                * ratio.powf(self.memory_exponent))
            .round(),
        )
    }

    /// Computes the supersteps of a run with `count` processes: the work of each process, and the messages with their sizes.
    ///
    /// # Errors
    /// A family of exchanges does not exist for this number of processes.
    pub(super) fn compute_supersteps(
        &self,
        count: usize,
    ) -> Result<Vec<PredictedSuperstep>, Error> {
        let ratio = count as f64 / self.largest_recording.process_count as f64;
        let mut made = Vec::new();
        for (group, supersteps) in &self.group_and_supersteps_of_exchange {
            let group = &self.exchange_groups[*group];
            let Some(steps) = group.family.messages_by_superstep(count) else {
                let message = format!(
                    "the messages of the program have the pattern `{}`, which does not exist for {count} processes",
                    group.family
                );
                return Err(Problem::new(message)
                    .source("--procs")
                    .hint("choose a power of two as the number of processes")
                    .into());
            };
            let recorded = self
                .largest_recording
                .total_work_by_process(supersteps.clone());
            let scale = ratio.powf(group.work_exponent);
            let work = (0..count).map(|process| {
                recorded[self.representative_recorded_process(process, count)] * scale
            });
            let mut work: Vec<f64> = work.collect();
            let all = steps.len();
            for (index, step) in steps.into_iter().enumerate() {
                let factor = group.family.relative_message_size(index, all);
                let size = |slot: usize| {
                    let law = group.size_laws[slot];
                    law.map_or(0.0, |law| (law.message_size(count) * factor).round())
                };
                made.push(PredictedSuperstep {
                    work_of_process: std::mem::take(&mut work),
                    messages: step
                        .into_iter()
                        .map(|(from, to, slot)| (from, to, size(slot)))
                        .collect(),
                });
            }
        }
        Ok(made)
    }
}

/// A superstep that the model computes for a number of processes: work and messages.
#[derive(Clone, Debug)]
pub(super) struct PredictedSuperstep {
    /// Work of each process \[instructions\]; empty if no process computes.
    pub(super) work_of_process: Vec<f64>,
    /// Sender, receiver and size \[B\] of each message.
    pub(super) messages: Vec<(usize, usize, f64)>,
}

/// Fits the laws for work and message sizes to the exchanges `phases` of one group.
///
/// # Errors
/// Message sizes follow no law.
fn fit_group(
    samples: &[RecordedRun],
    phases: &[&RecordedExchange],
) -> Result<ExchangeGroup, Error> {
    let family = phases[0].family;
    let mean_work = |index: usize, sample: &RecordedRun| {
        let of_phase = |phase: &&RecordedExchange| {
            sample
                .total_work_by_process(phase.supersteps_in_recording[index].clone())
                .iter()
                .sum::<f64>()
        };
        phases.iter().map(of_phase).sum::<f64>() / sample.process_count as f64
    };
    let points = samples.iter().enumerate();
    let work: Vec<(usize, f64)> = points
        .map(|(index, one)| (one.process_count, mean_work(index, one)))
        .collect();
    let of_slot = |slot: usize| -> Vec<(usize, f64)> {
        let size = |index: usize| {
            let known: Vec<f64> = phases
                .iter()
                .filter_map(|phase| phase.mean_message_sizes[index][slot])
                .collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let points = samples.iter().enumerate();
        points
            .filter_map(|(index, one)| Some((one.process_count, size(index)?)))
            .collect()
    };
    let slots: Vec<Vec<(usize, f64)>> = (0..family.slot_count()).map(of_slot).collect();
    let sizes = MessageSizeLaw::fit_laws_of_slots(&slots, family)
        .ok_or_else(|| no_law_error(family, &slots.concat()))?;
    Ok(ExchangeGroup {
        family,
        exchange_count: phases.len(),
        work_exponent: fit_power_law_exponent(&work).unwrap_or(0.0),
        size_laws: sizes,
    })
}

/// Creates the error that the message sizes of an exchange follow no known law.
fn no_law_error(family: PatternFamily, points: &[(usize, f64)]) -> Error {
    let shown: Vec<String> = points
        .iter()
        .map(|(count, size)| format!("{size:.0} B with {count} processes"))
        .collect();
    let message = format!(
        "the sizes of the messages with the pattern `{family}` follow no known law: {}",
        shown.join(", ")
    );
    let hint = "record runs with other numbers P of processes: the known laws are constant sizes, 1/P, 1/P^2, the sides of grids, and powers \
    of P that fit all recordings within 2 %";
    Problem::new(message).hint(hint).into()
}
