//! The simulation engine: a discrete-event simulation of activities that share the capacities of hosts and links.
//!
//! ```text
//! execute, send, wait ──> Simulation ──> next_ended(): the next activity that ends, and its end time
//!                          │  clock        the current instant, in local time
//!                          │  queue        future events in order of (time, sequence)
//!                          │  cpu          executions share the cores of a host
//!                          │  transport    networks: `fluid`, or of packets (`packet`)
//!                          │  │ model      the network model: delay, weight and bound of a flow, by `factors`
//!                          │  │ message    the costs of a message in addition to its flow
//!                          │  │ flows      a latency phase, then a transfer, of fluid networks
//!                          │  │ packets    in the place of flows: queues of packets, first come, first served
//!                          │  │ maxmin     weighted max-min shares: `solve` from scratch, `incremental`, `bottleneck`, `pipes`
//!                          │  └ service    many flows: their ends are computed from the service of their bottleneck links
//!                          │  completion   the earliest end time over all flow classes
//!                          └  profile      capacities that change over time
//! evaluate            ──> batch: flows whose starts are known, without a queue of all events
//!                          │  path_table   delay, weight and bound of each route
//!                          │  contention   groups of flows that share links; all other flows in closed form
//!                          │  together     equal flows that end at the same time, in closed form
//!                          │  memoized     sets of active flows that recur: each is solved once, in `rate_cache`
//!                          └  grouped      other sets: fair shares are updated, `incremental` or by `service` for crowds
//!
//! checks: invariants of every simulation        log: the hash of all events
//! ```
//!
//! # Why a superstep can be computed by several methods
//!
//! A superstep can always be computed by events ([`Simulation`]). Most supersteps are simpler, and each of the other methods is
//! faster for one kind of superstep. The results of all methods agree to a relative difference of 1e-12 (the tests compare them),
//! and the choice of the method depends on the superstep alone.
//!
//! | method | used when | time saved |
//! |---|---|---|
//! | memo (`bsp`) | the work, the messages and the placement of processes are those of an earlier superstep | the superstep: 100 ns instead of 5 ns per process and 10 ns per message |
//! | direct evaluation, with a batch | all processes start together, and capacities change in known ways | the event queue: LU 2000/50 takes 6 ms |
//! | `contention`, in a batch | always for large batches: flows that never share a link are solved in closed form | rings of unequal work: 26 instead of 86 ms for 10 000 processes |
//! | `memoized`, in a batch | few flows, or sets of active flows recur | Smith-Waterman 200x200: 3 instead of 8 ms; LU 500/25: 1 instead of 4 ms |
//! | `bottleneck`, in a batch | flows share each link with 12 others or more, on average | 4 000 processes behind saturated uplinks: 0.24 instead of 7.6 s |
//! | `incremental`, in a batch | every other batch | 1 500 connected flows: an end changes 11 rates |
//! | `service`, by events | from 256 flows in transfer on, until nothing is in progress | all-to-all of 100 processes on changing links: 0.08 instead of 2.8 s |
//! | events | everything else: capacities that change, overlapped calls | - |
//!
//! The engine knows nothing of BSP. Its times agree with SimGrid's (`Cas01` hosts; `CM02` and `LV08` networks): a test compares
//! 38 simulations done with SimGrid.
//!
//! The central type is [`Simulation`]. Processes, supersteps and policies are defined in crates that depend on this one.
//!
//! ```
//! use migsim_base::units::{HostId, Instructions};
//! use migsim_engine::{NetworkModel, Simulation};
//!
//! let platform = migsim_platform::from_json("two.json", r#"{
//!     "schema": "migsim-platform-1",
//!     "name": "two",
//!     "clusters": [{ "name": "c", "hosts": 2, "speed": "1 GHz", "link": { "bandwidth": "100 Mbps", "latency": "100 us" } }],
//!     "links": []
//! }"#)?.platform;
//! let mut simulation = Simulation::new(&platform, NetworkModel::default());
//! simulation.execute(HostId(0), Instructions::of(2e9), "two seconds of work")?;
//! assert_eq!(simulation.next_ended()?, Some("two seconds of work"));
//! assert_eq!(simulation.now().get(), 2.0);
//! # Ok::<(), migsim_base::error::Error>(())
//! ```

// A new kind must not run as another one.
#![warn(clippy::wildcard_enum_match_arm)]

mod activity;
mod batch;
mod checks;
mod clock;
mod completion;
mod connections;
mod cpu;
mod event;
mod factors;
mod log;
mod maxmin;
mod message;
mod model;
mod packets;
mod processor_time;
mod profile;
mod queue;
mod service;
mod simulation;
/// Test helpers: small platforms, random flows, and random runs.
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod transport;

pub use connections::MessageEnds;
pub use factors::{SizeFactor, SizeFactors, Weights};
pub use log::EventHash;
pub use maxmin::SharingProblem;
pub use model::{NetworkModel, PRESETS, Preset};

pub use processor_time::ProcessorTime;

pub use activity::{ActivityEvent, Message, MessageOptions};
pub use queue::{EventKey, EventQueue};
pub use simulation::{Activities, AvailabilityIntervalStart, Evaluated, Packet, Simulation};

pub use checks::END_TIME_TOLERANCE;
