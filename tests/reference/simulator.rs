//! The processes: supersteps, barriers, calls and moves as the documents describe them.

use super::{
    case::{Barrier, Call, Case, Prescribed, Receives, Transfer},
    fluid::Fluid,
};

/// The activity that ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tag {
    /// The computation of a process.
    Work(usize),
    /// A message: its superstep and its number in the superstep.
    Message(usize, usize),
    /// The control message of a process to process 0: superstep and process.
    Notice(usize, usize),
    /// The answer of process 0: superstep and process.
    Answer(usize, usize),
    /// The transfer and the delay of a prescribed move: its superstep and its number in the superstep.
    Transfer(usize, usize),
    Delay(usize, usize),
    /// A call after a superstep.
    Call(usize),
    /// The transfer and the operations of a migration: its index in the list of decisions.
    Migration(usize),
    Operations(usize),
}

/// The activity of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Ready,
    Working,
    Computed,
    /// Waits for the delivery of its message with this number (sequential sends).
    Sending(usize),
    Receiving,
    InBarrier,
    MovingAsPrescribed,
    /// Waits for all other processes, and for calls and moves.
    Meeting,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Delivery {
    NotSent,
    Sent,
    Flowing,
    Done,
}

/// A meeting of all processes after a superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meeting {
    Gathering,
    Calling,
    /// Waits for this number of migrations.
    Migrating(usize),
    Over,
}

/// The data of one superstep that several processes share.
#[derive(Debug)]
struct Round {
    messages: Vec<Delivery>,
    has_arrived: Vec<bool>,
    notices: Vec<Delivery>,
    answers: Vec<Delivery>,
    started: f64,
    ended: f64,
    meeting: Meeting,
}

struct Simulator<'a> {
    case: &'a Case,
    fluid: Fluid<Tag>,
    place: Vec<usize>,
    /// The superstep and stage of each process.
    process: Vec<(usize, Stage)>,
    /// Whether a process waits for its own migration.
    is_migrating: Vec<bool>,
    rounds: Vec<Round>,
    last_call: usize,
}

/// Simulates a case and returns the ends of all supersteps and the makespan \[s\].
pub(crate) fn simulate(case: &Case) -> Vec<f64> {
    let count = case.start.len();
    let fluid = Fluid::new(case);
    let place = case.start.iter().map(|name| fluid.machine.host(name));
    let round = |messages: usize| Round {
        messages: vec![Delivery::NotSent; messages],
        has_arrived: vec![false; count],
        notices: vec![Delivery::NotSent; count],
        answers: vec![Delivery::NotSent; count],
        started: f64::INFINITY,
        ended: 0.0,
        meeting: Meeting::Gathering,
    };
    let mut simulator = Simulator {
        case,
        place: place.collect(),
        fluid,
        process: vec![(0, Stage::Ready); count],
        is_migrating: vec![false; count],
        rounds: case
            .steps
            .iter()
            .map(|step| round(step.messages.len()))
            .collect(),
        last_call: 0,
    };
    simulator.run();
    let ends = simulator.rounds.iter().map(|round| round.ended);
    ends.chain([simulator.fluid.now]).collect()
}

impl Simulator<'_> {
    fn run(&mut self) {
        self.react();
        while let Some(ended) = self.fluid.advance() {
            for tag in ended {
                self.book(tag);
            }
            self.react();
        }
        let is_done = |process: &(usize, Stage)| process.1 == Stage::Done;
        assert!(
            self.process.iter().all(is_done),
            "deadlock: {:?}",
            self.process
        );
    }

    /// Lets the processes react to the activities that have ended at the present time. If a reaction ends further activities at the same
    /// time, they are recorded before any process continues.
    fn react(&mut self) {
        loop {
            let ended = self.fluid.ended_now();
            if !ended.is_empty() {
                for tag in ended {
                    self.book(tag);
                }
                continue;
            }
            let mut has_changed = self.start_messages();
            for process in 0..self.process.len() {
                has_changed |= self.step(process);
            }
            if !has_changed {
                return;
            }
        }
    }

    /// Records an end; only moves continue at once.
    fn book(&mut self, tag: Tag) {
        match tag {
            Tag::Work(process) => self.process[process].1 = Stage::Computed,
            Tag::Message(step, index) => self.rounds[step].messages[index] = Delivery::Done,
            Tag::Notice(step, process) => self.rounds[step].notices[process] = Delivery::Done,
            Tag::Answer(step, process) => self.rounds[step].answers[process] = Delivery::Done,
            Tag::Transfer(step, index) => {
                let delay = self.case.steps[step].moves[index].delay;
                self.fluid.delay(delay, Tag::Delay(step, index));
            }
            Tag::Delay(step, index) => {
                let Prescribed { process, to, .. } = &self.case.steps[step].moves[index];
                self.place[*process] = self.fluid.machine.host(to);
                self.process[*process].1 = Stage::Meeting;
            }
            Tag::Call(step) => self.begin_migrations(step),
            Tag::Migration(index) => {
                let fixed = self.case.moves.fixed;
                self.fluid.delay(fixed, Tag::Operations(index));
            }
            Tag::Operations(index) => self.end_migration(index),
        }
    }

    /// Does one step of a process, if one is possible.
    fn step(&mut self, process: usize) -> bool {
        let (step, stage) = self.process[process];
        let next = match stage {
            Stage::Ready => Some(self.begin(process, step)),
            Stage::Computed if self.case.is_sequential => Some(self.send_from(process, step, 0)),
            Stage::Computed => {
                self.send_all(process, step);
                Some(Stage::Receiving)
            }
            Stage::Sending(index) => (self.rounds[step].messages[index] == Delivery::Done)
                .then(|| self.send_from(process, step, index + 1)),
            Stage::Receiving => self.has_received(process, step).then(|| {
                self.rounds[step].has_arrived[process] = true;
                Stage::InBarrier
            }),
            Stage::InBarrier => self
                .may_leave(process, step)
                .then(|| self.leave(process, step)),
            Stage::Meeting => {
                let may_go_on = self.meet(step) && !self.is_migrating[process];
                may_go_on.then(|| self.after(process, step))
            }
            Stage::Working | Stage::MovingAsPrescribed | Stage::Done => None,
        };
        if let Some(next) = next {
            self.process[process].1 = next;
        }
        next.is_some()
    }

    // Supersteps.

    fn begin(&mut self, process: usize, step: usize) -> Stage {
        let round = &mut self.rounds[step];
        round.started = round.started.min(self.fluid.now);
        let work = self.case.steps[step].work[process];
        if work == 0.0 {
            return Stage::Computed;
        }
        self.fluid
            .work(self.place[process], work, Tag::Work(process));
        Stage::Working
    }

    fn send_all(&mut self, process: usize, step: usize) {
        let messages = self.case.steps[step].messages.iter();
        for (message, delivery) in messages.zip(&mut self.rounds[step].messages) {
            if message.0 == process {
                *delivery = Delivery::Sent;
            }
        }
    }

    /// Sends the messages of the process with this number and higher ones, one after the other.
    fn send_from(&mut self, process: usize, step: usize, first: usize) -> Stage {
        let messages = self.case.steps[step]
            .messages
            .iter()
            .enumerate()
            .skip(first);
        let mut own = messages.filter(|(_, message)| message.0 == process);
        let Some((index, _)) = own.next() else {
            return Stage::Receiving;
        };
        self.rounds[step].messages[index] = Delivery::Sent;
        Stage::Sending(index)
    }

    /// Starts the flows of all messages that have been sent and need not wait for their receiver.
    fn start_messages(&mut self) -> bool {
        let mut has_started = false;
        for step in 0..self.rounds.len() {
            for (index, &(from, to, size)) in self.case.steps[step].messages.iter().enumerate() {
                let is_late = self.case.receives == Receives::Late || self.has_handshake(size);
                let may_start = !is_late || self.process[to] == (step, Stage::Receiving);
                if may_start && self.rounds[step].messages[index] == Delivery::Sent {
                    self.rounds[step].messages[index] = Delivery::Flowing;
                    let (from, to) = (self.place[from], self.place[to]);
                    self.send(from, to, size, Tag::Message(step, index));
                    has_started = true;
                }
            }
            has_started |= self.start_notices(step);
        }
        has_started
    }

    /// Starts a flow, with its handshake.
    fn send(&mut self, from: usize, to: usize, size: f64, tag: Tag) {
        let has_handshake = self.has_handshake(size);
        self.fluid.flow(from, to, size, has_handshake, tag);
    }

    /// Whether a message of this size waits for its receiver, and its sender for the delivery.
    fn has_handshake(&self, size: f64) -> bool {
        matches!(self.case.receives, Receives::LateAbove(largest) if size > largest)
    }

    /// Whether a process has received all its messages, and all messages that it must wait for are delivered.
    fn has_received(&self, process: usize, step: usize) -> bool {
        let messages = self.case.steps[step].messages.iter();
        let mut needed = messages
            .zip(&self.rounds[step].messages)
            .filter(|(message, _)| {
                message.1 == process || message.0 == process && self.has_handshake(message.2)
            });
        needed.all(|(_, delivery)| *delivery == Delivery::Done)
    }

    // Barriers.

    fn start_notices(&mut self, step: usize) -> bool {
        let Barrier::Central(bytes) = self.case.barrier else {
            return false;
        };
        let round = &mut self.rounds[step];
        let mut has_started = false;
        for process in 1..self.place.len() {
            let may_start = round.has_arrived[process]
                && (self.case.receives != Receives::Late || round.has_arrived[0]);
            if may_start && round.notices[process] == Delivery::NotSent {
                round.notices[process] = Delivery::Flowing;
                let (from, root) = (self.place[process], self.place[0]);
                self.fluid
                    .flow(from, root, bytes, false, Tag::Notice(step, process));
                has_started = true;
            }
        }
        let are_here = |deliveries: &[Delivery]| {
            deliveries[1..]
                .iter()
                .all(|delivery| *delivery == Delivery::Done)
        };
        if round.has_arrived[0] && are_here(&round.notices) {
            for process in 1..self.place.len() {
                if round.answers[process] == Delivery::NotSent {
                    round.answers[process] = Delivery::Flowing;
                    let (root, to) = (self.place[0], self.place[process]);
                    self.fluid
                        .flow(root, to, bytes, false, Tag::Answer(step, process));
                    has_started = true;
                }
            }
        }
        has_started
    }

    fn may_leave(&self, process: usize, step: usize) -> bool {
        let round = &self.rounds[step];
        let have_all_arrived = || round.has_arrived.iter().all(|has_arrived| *has_arrived);
        let are_done =
            |answers: &[Delivery]| answers.iter().all(|answer| *answer == Delivery::Done);
        match self.case.barrier {
            Barrier::Ideal => have_all_arrived(),
            Barrier::Central(_) if process > 0 => are_done(&round.answers[process..=process]),
            Barrier::Central(_) => are_done(&round.answers[1..]),
            // Without barriers, all processes meet if a call is due or if the workload moves processes.
            Barrier::None => !self.is_meeting(step) || have_all_arrived(),
            Barrier::Other(..) => unreachable!("not known here"),
        }
    }

    fn leave(&mut self, process: usize, step: usize) -> Stage {
        self.rounds[step].ended = self.fluid.now;
        let moves = &self.case.steps[step].moves;
        if let Some(index) = moves.iter().position(|moved| moved.process == process) {
            let (from, to) = (
                self.place[process],
                self.fluid.machine.host(&moves[index].to),
            );
            if moves[index].size > 0.0 {
                self.send(from, to, moves[index].size, Tag::Transfer(step, index));
            } else {
                self.fluid
                    .delay(moves[index].delay, Tag::Delay(step, index));
            }
            return Stage::MovingAsPrescribed;
        }
        if self.is_meeting(step) {
            Stage::Meeting
        } else {
            self.after(process, step)
        }
    }

    /// Whether all processes meet after a superstep.
    fn is_meeting(&self, step: usize) -> bool {
        self.has_call(step) || !self.case.steps[step].moves.is_empty()
    }

    /// Starts the next superstep.
    fn after(&mut self, process: usize, step: usize) -> Stage {
        if step + 1 == self.rounds.len() {
            return Stage::Done;
        }
        self.process[process].0 += 1;
        Stage::Ready
    }

    // Calls and migrations.

    fn has_call(&self, step: usize) -> bool {
        self.case
            .decisions
            .iter()
            .any(|forced| forced.superstep == step + 1)
    }

    /// Whether processes that do not migrate may continue after the meeting of a superstep. When all have arrived, the call begins.
    fn meet(&mut self, step: usize) -> bool {
        let are_all_here = self
            .process
            .iter()
            .all(|process| *process == (step, Stage::Meeting));
        match self.rounds[step].meeting {
            Meeting::Gathering if are_all_here && self.has_call(step) => {
                self.rounds[step].meeting = Meeting::Calling;
                let price = self.price(step);
                self.last_call = step + 1;
                self.fluid.delay(price, Tag::Call(step));
                false
            }
            Meeting::Gathering if are_all_here => {
                self.rounds[step].meeting = Meeting::Over;
                true
            }
            Meeting::Gathering | Meeting::Calling => false,
            Meeting::Migrating(_) => self.case.moves.only_movers_wait,
            Meeting::Over => true,
        }
    }

    /// Computes the price of a call \[s\].
    fn price(&self, step: usize) -> f64 {
        let processes = self.place.len() as f64;
        let round = &self.rounds[step];
        match self.case.call {
            Call::None => 0.0,
            Call::Additive(fixed, process, superstep) => {
                let supersteps = (step + 1 - self.last_call) as f64;
                fixed + process * processes + superstep * processes * supersteps
            }
            Call::Hidden(least) => (least - (self.fluid.now - round.started)).max(0.0),
            Call::PingPong(size) => self.ping_pong(size),
            Call::Messages => unreachable!("not known here"),
        }
    }

    /// Computes the time of the busiest manager: a message and its answer for each process outside its cluster, one after the other.
    fn ping_pong(&self, size: f64) -> f64 {
        let machine = &self.fluid.machine;
        let cluster = |place: &usize| machine.hosts[*place].cluster;
        let times = self.place.iter().map(cluster).map(|own| {
            let others = self.place.iter().filter(|place| cluster(place) != own);
            let times =
                others.map(|&place| machine.nominal_time(machine.manager(own), place, size));
            2.0 * times.sum::<f64>()
        });
        times.fold(0.0, f64::max)
    }

    /// Lists the decisions after a superstep that move a process. There are none after the last superstep, and a decision to the present
    /// host of a process does not count.
    fn migrations(&self, step: usize) -> Vec<usize> {
        let is_last = step + 1 == self.rounds.len();
        let decisions = self.case.decisions.iter().enumerate();
        let here = decisions.filter(|(_, forced)| {
            let is_move = self.place[forced.process] != self.fluid.machine.host(&forced.to);
            !is_last && forced.superstep == step + 1 && is_move
        });
        here.map(|(index, _)| index).collect()
    }

    fn begin_migrations(&mut self, step: usize) {
        let migrations = self.migrations(step);
        self.rounds[step].meeting = match migrations.len() {
            0 => Meeting::Over,
            count => Meeting::Migrating(count),
        };
        for &index in &migrations {
            self.is_migrating[self.case.decisions[index].process] = true;
        }
        let at_once = if self.case.moves.is_serial {
            1
        } else {
            migrations.len()
        };
        for &index in migrations.iter().take(at_once) {
            self.begin_migration(index);
        }
    }

    fn begin_migration(&mut self, index: usize) {
        let forced = &self.case.decisions[index];
        let (from, to) = (
            self.place[forced.process],
            self.fluid.machine.host(&forced.to),
        );
        let memory = self.case.memory;
        match self.case.moves.transfer {
            Transfer::Flow if memory > 0.0 => {
                self.send(from, to, memory, Tag::Migration(index));
            }
            // Without memory, no flow starts, as in prescribed moves.
            Transfer::Flow | Transfer::None => self.fluid.delay(0.0, Tag::Migration(index)),
            Transfer::Nominal => {
                let duration = self.fluid.machine.nominal_time(from, to, memory);
                self.fluid.delay(duration, Tag::Migration(index));
            }
        }
    }

    fn end_migration(&mut self, index: usize) {
        let forced = &self.case.decisions[index];
        let (step, process) = (forced.superstep - 1, forced.process);
        self.place[process] = self.fluid.machine.host(&forced.to);
        self.is_migrating[process] = false;
        if let Meeting::Migrating(count) = self.rounds[step].meeting {
            self.rounds[step].meeting = match count {
                1 => Meeting::Over,
                _ => Meeting::Migrating(count - 1),
            };
        }
        // The other entries of the list have not moved yet.
        let rest = self.migrations(step);
        let next = rest.into_iter().find(|&other| other > index);
        if let (true, Some(next)) = (self.case.moves.is_serial, next) {
            self.begin_migration(next);
        }
    }
}
