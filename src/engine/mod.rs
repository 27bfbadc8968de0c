//! Time, hosts and links: a discrete-event simulation of activities that share capacities.
//!
//! ```text
//! execute, send, wait ──> Simulation ──> next_ended(): who has ended, and when
//!                          │  clock      the current instant, in local time
//!                          │  queue      future events in (date, sequence) order
//!                          │  cpu        executions share the cores of a host
//!                          │  network    flows: latency, then a share of their links
//!                          │  │ levels   weighted max-min shares, repaired where something changes
//!                          │  │ maxmin   the same as a function of the whole: the twin
//!                          │  │ model    the constants of the network model
//!                          └  profile    capacities that change over time
//! known starts       ──> Flights: no queue of all events; on links that do not change
//!                          │  meetings   which flows can meet: the rest are closed form
//!                          │  volley     few sets of flows: remembered shares
//!                          └  swarm      many sets of flows: repaired levels, flows of a path as one
//!                             └ ends     the next end of each path, of which many change at every date
//!
//! checks: what must hold whatever is simulated
//! ```
//!
//! The engine never hears of BSP. Its dates are SimGrid's (`Cas01` hosts; `CM02` and `LV08` networks): 38 simulations done with
//! SimGrid are a test.

mod checks;
mod clock;
mod cpu;
mod ends;
mod flight;
mod levels;
mod log;
mod lookup;
mod maxmin;
mod meetings;
mod model;
mod network;
mod paths;
mod profile;
mod queue;
mod shares;
mod simulation;
mod swarm;
#[cfg(test)]
pub(crate) mod testing;
mod volley;

pub use clock::Clock;
pub use log::EventLog;
pub use maxmin::SharingProblem;
pub use model::{NetworkModel, PRESETS, Preset};
pub use profile::{Change, Changes, Target};
pub use queue::{EventQueue, Key};
pub use simulation::{Availability, Simulation};

pub(crate) use checks::DATE_SLACK;
pub(crate) use clock::SAME_DATE;
pub(crate) use flight::{Flights, Start};
pub(crate) use paths::{PathId, Paths};
