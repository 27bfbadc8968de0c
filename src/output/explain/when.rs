//! When: whether a call was due, and why.

use super::Scene;
use super::numbers::plain;
use crate::output::read::Call;
use crate::words::{counted, of_number};

/// What MigBSP says of the interval that a call closes.
struct Interval<'a> {
    alpha: u64,
    next_alpha: u64,
    votes: &'a str,
}

fn interval(call: &Call) -> Option<Interval<'_>> {
    Some(Interval {
        alpha: call.explanation.get("alpha")?.as_u64()?,
        next_alpha: call.explanation.get("next_alpha")?.as_u64()?,
        votes: call.explanation.get("votes")?.as_str()?,
    })
}

/// What is told of the interval, where a record has it.
pub(super) const OF_INTERVAL: [&str; 4] = ["alpha", "next_alpha", "votes", "d"];

/// Whether the record has the interval, so that it is told here.
pub(super) fn is_interval_told(call: &Call) -> bool {
    interval(call).is_some()
}

impl Scene<'_> {
    pub(super) fn when(&self, policy: &str) -> Vec<String> {
        let superstep = self.question.superstep;
        let Some(call) = self.call else {
            return self.no_call(policy);
        };
        let Some(interval) = interval(call) else {
            return vec![format!(
                "The policy `{policy}` asked for a call after superstep {superstep}."
            )];
        };
        let alpha = interval.alpha;
        let why = match self.last_call() {
            None => format!(
                "A call was due after superstep {superstep}: the first one comes after α = {}.",
                counted(alpha, "superstep")
            ),
            Some(last) => format!(
                "A call was due after superstep {superstep}: the one before it, after {}, had set α to {alpha}, and {} + {alpha} = {}.",
                last.superstep,
                last.superstep,
                last.superstep.saturating_add(alpha),
            ),
        };
        let mut sentences = vec![why, votes(call, &interval)];
        if let Some(history) = self.history() {
            sentences.push(history);
        }
        sentences.push(self.next(superstep, &interval));
        sentences
    }

    /// α at this call and those before it.
    fn history(&self) -> Option<String> {
        let known = self
            .this
            .calls
            .iter()
            .filter(|call| call.superstep <= self.question.superstep);
        let all: Vec<String> = known
            .filter_map(|call| Some(format!("{} at {}", interval(call)?.alpha, call.superstep)))
            .collect();
        let shown = all.len().saturating_sub(8);
        let more = if shown > 0 { "..., " } else { "" };
        (all.len() > 1)
            .then(|| format!("α at the calls so far: {more}{}.", all[shown..].join(", ")))
    }

    fn next(&self, superstep: u64, interval: &Interval<'_>) -> String {
        let due = superstep.saturating_add(interval.next_alpha);
        match self.next_call() {
            Some(next) if next.superstep == due => {
                format!(
                    "The next call came after superstep {due} = {superstep} + {}.",
                    interval.next_alpha
                )
            }
            Some(next) => format!("The next call came after superstep {}.", next.superstep),
            None => format!(
                "No other call came: the next was due after superstep {due}, and the run has {}.",
                self.this.supersteps.len()
            ),
        }
    }

    fn no_call(&self, policy: &str) -> Vec<String> {
        let superstep = self.question.superstep;
        if self.this.calls.is_empty() {
            return vec![format!(
                "The policy `{policy}` asked for no call in this run, so nothing could move."
            )];
        }
        let before = self.last_call().map(|last| {
            let set = interval(last).map_or_else(String::new, |interval| {
                format!(" and set α to {}", interval.next_alpha)
            });
            format!(
                "the last one before it came after superstep {}{set}",
                last.superstep
            )
        });
        let after = self.next_call().map(|next| {
            let first = interval(next).filter(|_| before.is_none());
            let why = first.map_or_else(String::new, |interval| {
                format!(": α was {} at first", interval.alpha)
            });
            format!("the next one came after superstep {}{why}", next.superstep)
        });
        let facts: Vec<String> = before.into_iter().chain(after).collect();
        vec![format!(
            "No call was due after superstep {superstep}, so nothing could move: {}.",
            facts.join(", and ")
        )]
    }
}

/// How the supersteps of the interval were judged.
fn votes(call: &Call, interval: &Interval<'_>) -> String {
    let of = |letter: char| {
        interval
            .votes
            .chars()
            .filter(|vote| *vote == letter)
            .count()
    };
    let idle = match of('.') {
        0 => String::new(),
        idle => format!(", {idle} not judged"),
    };
    let first = if interval.votes.len() as u64 == 64 && interval.alpha > 64 {
        "first "
    } else {
        ""
    };
    let tolerance = call.explanation.get("d").map_or_else(String::new, |d| {
        format!(
            " (stable: the times of all processes within D = {} of their mean)",
            plain(d)
        )
    });
    format!(
        "Of its {first}{} {} {} stable and {} unstable{idle}{tolerance}; α' went from {} to {}.",
        counted(interval.votes.chars().count(), "superstep"),
        of('+'),
        of_number(of('+') as u64, ["was", "were"]),
        of('-'),
        interval.alpha,
        interval.next_alpha,
    )
}
