//! Reads the record of a process: its lines, and the operations that they describe.
//!
//! ```text
//! migsim-record 1 RANK SIZE [started]      `started` by MPI_Comm_spawn: ranks in a separate world
//! g ID N WORLD...              a communicator and the ranks of its members in MPI_COMM_WORLD
//! w NS                         the process computes
//! s ID TO TAG BYTES            the process sends
//! r SEQ ID FROM TAG            a receive completes that was posted as number SEQ
//! c NAME ID ROOT NUMBER BYTES N BYTES...   a collective begins; N sizes, one for each member, or none
//! n ID NUMBER N (TO BYTES)... FROM...      a collective of neighbours begins: N messages to members, and one message from each listed member
//! b NUMBER                     a non-blocking call returns, whose messages are recorded as the library sends them
//! f NUMBER                     this call completes: the following lines are its messages since it returned
//! e NUMBER                     the collective completes, or the messages of the call end
//! migsim-record failed REASON  instead of all other lines: the record could not be written
//! x CALL [from a second thread]            a call that is not supported
//! i KEY VALUE                  a property of the library or the host
//! p NAME, p                    a region with this name begins; the region that began last ends
//! m BYTES, o NS, end           memory, the duration of a call of the recorder, the last line
//! h HZ                         cycles of the core per second; the recorder measures them before and after the run
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use super::collective::{Collective, CollectiveKind, CollectiveMessage};
use migsim_base::error::Problem;

/// Maximum value of a count in a record; larger whole numbers cannot all be represented by floating-point numbers.
const MAX_COUNT: u64 = 1 << 53;

/// A sequence of messages that are received in the order in which they are sent.
///
/// These are the messages with the same sender, receiver, communicator and tag, or the messages from one sender to one receiver
/// in one collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageSequence {
    pub sender: usize,
    pub receiver: usize,
    communicator_id: u64,
    /// Number of the collective in its communicator, counted from 0; `None` for messages outside collectives.
    collective_number: Option<u64>,
    tag: i64,
}

impl MessageSequence {
    /// Describes message number `nth` of the sequence, counted from 0, in words for error messages.
    pub(super) fn describe_message(&self, nth: usize) -> String {
        let number = nth + 1;
        let from = self.sender;
        match self.collective_number {
            Some(collective) => format!(
                "message {number} from rank {from} in collective number {} of a communicator",
                collective + 1
            ),
            None if self.tag < 0 => format!(
                "message {number} of the library's tag {} from rank {from}",
                self.tag
            ),
            None => format!("message {number} from rank {from} with tag {}", self.tag),
        }
    }
}

/// An operation of a recorded process; collectives are already replaced by messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// The process computes for this time \[ns\].
    Work(u64),
    Send(MessageSequence, u64),
    /// The process receives the message with this number, counted from 0, of a sequence of messages.
    Receive(MessageSequence, usize),
    /// The non-blocking call with this number returns: the library may exchange its other messages from here on.
    CallReturns(u64),
    /// The call completes: the operations up to [`Operation::CallEnds`] are its other messages, unless they are already exchanged.
    CallCompletes(u64),
    CallEnds(u64),
}

impl Operation {
    /// Describes the operation in words, as an action of its process, for error messages.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Work(time) => format!("computes {time} ns"),
            Self::Send(lane, bytes) => {
                format!(
                    "sends {bytes} B to rank {} with tag {}",
                    lane.receiver, lane.tag
                )
            }
            Self::CallReturns(_) => "starts a non-blocking collective".into(),
            Self::CallCompletes(_) | Self::CallEnds(_) => {
                "completes a non-blocking collective".into()
            }
            Self::Receive(lane, nth) => format!("receives {}", lane.describe_message(*nth)),
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    Work(u64),
    Send(MessageSequence, u64),
    Receive(MessageSequence, u64),
    Collective(u64, Collective),
    Call(Operation),
    BeginRegion(String),
    EndRegion,
}

fn unsupported_call_error(rank: usize, call: &str) -> Problem {
    let (call, thread) = call.split_once(' ').unwrap_or((call, ""));
    let (why, hint) = match call {
        _ if !thread.is_empty() => (
            "",
            "change the program so that one thread of each process calls MPI",
        ),
        _ if call.starts_with("MPI_Comm_spawn") => (
            "starts processes and therefore ",
            "start all processes with `mpirun` at the beginning",
        ),
        _ if call.starts_with("MPI_Win_") => (
            "",
            "change the program to messages or collectives instead of one-sided communication",
        ),
        "MPI_Request_free" => (
            "",
            "change the program so that it completes the receive or collective with `MPI_Wait` before it frees the request",
        ),
        _ => (
            "",
            "change the program to communicators within one `MPI_COMM_WORLD`, without a second group (docs/guide/record.md lists what can be recorded)",
        ),
    };
    let space = if thread.is_empty() { "" } else { " " };
    Problem::new(format!(
        "rank {rank} calls `{call}`{space}{thread}, which {why}cannot be converted into supersteps"
    ))
    .source(format!("rank {rank}"))
    .hint(hint)
}

#[derive(Clone, Debug, Default)]
pub(super) struct ProcessRecord {
    pub rank: usize,
    /// Number of processes of the program.
    pub process_count: usize,
    /// Whether another process of the program started this process (`MPI_Comm_spawn`).
    pub is_spawned: bool,
    /// Memory of the process \[B\]; 0 if unknown.
    pub memory: u64,
    /// Time that the recorder adds to each recorded call \[ns\].
    pub recorder_overhead_ns: u64,
    /// Measurements of the cycles per second of the core \[1/s\]; empty if the recorder did not measure them.
    pub cycles_per_second: Vec<u64>,
    pub library_and_host_facts: BTreeMap<String, String>,
    members_of_communicator: BTreeMap<u64, Vec<usize>>,
    /// The recorded events of the process, in the order in which they occurred.
    events: Vec<Event>,
}

struct LineWords<'t> {
    remaining_words: std::str::SplitAsciiWhitespace<'t>,
}

impl<'t> LineWords<'t> {
    fn next_word(&mut self) -> Result<&'t str, String> {
        self.remaining_words
            .next()
            .ok_or_else(|| "this line of the record has too few words".into())
    }

    fn next_number<T: FromStr>(&mut self) -> Result<T, String> {
        let word = self.next_word()?;
        word.parse()
            .map_err(|_| format!("the word `{word}` of this line should be a number"))
    }

    /// Returns the next word of the line as a count, or an error if it is not a number or exceeds [`MAX_COUNT`].
    fn next_count(&mut self) -> Result<u64, String> {
        let count: u64 = self.next_number()?;
        let is_small = count <= MAX_COUNT;
        is_small
            .then_some(count)
            .ok_or_else(|| format!("the number {count} of this line is too large"))
    }
}

#[derive(Default)]
struct BegunCollectives {
    next_collective_number: BTreeMap<u64, u64>,
    /// Collectives that have begun but not completed, by their number in the record; each with its number in the communicator.
    incomplete_collectives: BTreeMap<u64, (u64, Collective)>,
    incomplete_calls: BTreeSet<u64>,
}

impl BegunCollectives {
    /// Adds a collective that begins; `number` is the number of the collective in the record.
    fn begin(&mut self, number: u64, collective: Collective) {
        let next = self
            .next_collective_number
            .entry(collective.communicator_id)
            .or_default();
        self.incomplete_collectives
            .insert(number, (*next, collective));
        *next += 1;
    }
}

impl ProcessRecord {
    /// Parses the text of a record; `name` is the name of its file in error messages.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Problem> {
        let refused = |line: usize, message: String| {
            let hint = "record the program again, since this line is not one that the recorder has written";
            Problem::new(message)
                .source(name)
                .at_line_column(line, 1)
                .hint(hint)
        };
        let mut record = Self::from_first_line(text).map_err(|message| refused(1, message))?;
        let mut begun = BegunCollectives::default();
        let mut number = 1;
        for line in text.lines().skip(1) {
            number += 1;
            if line == "end" {
                return Ok(record);
            }
            if let Some(call) = line.strip_prefix("x ") {
                return Err(unsupported_call_error(record.rank, call));
            }
            record
                .parse_line(line, &mut begun)
                .map_err(|message| refused(number, message))?;
        }
        let message = format!("the record of rank {} has no `end` line", record.rank);
        let hint = "check that the program calls MPI_Finalize and that the disk has space, then record the program again";
        Err(Problem::new(message)
            .source(name)
            .at_line_column(number, 1)
            .hint(hint))
    }

    pub(super) fn from_first_line(text: &str) -> Result<Self, String> {
        let words = text
            .lines()
            .next()
            .unwrap_or_default()
            .strip_prefix("migsim-record 1 ")
            .ok_or("the record does not begin with `migsim-record 1`")?;
        let mut words = LineWords {
            remaining_words: words.split_ascii_whitespace(),
        };
        Ok(Self {
            rank: words.next_number()?,
            process_count: words.next_number()?,
            is_spawned: words.remaining_words.next() == Some("started"),
            ..Self::default()
        })
    }

    fn parse_line(&mut self, line: &str, begun: &mut BegunCollectives) -> Result<(), String> {
        let mut words = LineWords {
            remaining_words: line.split_ascii_whitespace(),
        };
        match words.next_word()? {
            "w" => self.events.push(Event::Work(words.next_count()?)),
            "m" => self.memory = words.next_count()?,
            "o" => self.recorder_overhead_ns = words.next_count()?,
            "h" => self.cycles_per_second.push(words.next_count()?),
            "i" => {
                let key = words.next_word()?.to_owned();
                let value: Vec<&str> = words.remaining_words.collect();
                self.library_and_host_facts.insert(key, value.join(" "));
            }
            "s" => {
                let lane = self.message_sequence(
                    words.next_number()?,
                    words.next_number()?,
                    true,
                    words.next_number()?,
                )?;
                self.events.push(Event::Send(lane, words.next_count()?));
            }
            "r" => {
                let posted = words.next_number()?;
                let lane = self.message_sequence(
                    words.next_number()?,
                    words.next_number()?,
                    false,
                    words.next_number()?,
                )?;
                self.events.push(Event::Receive(lane, posted));
            }
            "g" => self.parse_communicator(&mut words)?,
            "c" => self.parse_collective(&mut words, begun)?,
            "n" => self.parse_neighbours(&mut words, begun)?,
            "p" => match words.remaining_words.next() {
                Some(name) => self.events.push(Event::BeginRegion(name.to_owned())),
                None => self.events.push(Event::EndRegion),
            },
            "e" => {
                let number: u64 = words.next_number()?;
                let ended = begun.incomplete_collectives.remove(&number);
                let is_call = begun.incomplete_calls.remove(&number);
                self.events.push(match ended {
                    Some((instance, collective)) => Event::Collective(instance, collective),
                    None if is_call => Event::Call(Operation::CallEnds(number)),
                    None => return Err("this line ends a collective that no earlier line begins".into()),
                });
            }
            "b" => {
                let number = words.next_number()?;
                begun.incomplete_calls.insert(number);
                self.events
                    .push(Event::Call(Operation::CallReturns(number)));
            }
            "f" => {
                self.events
                    .push(Event::Call(Operation::CallCompletes(words.next_number()?)));
            }
            other => return Err(format!("the line begins with the unknown word `{other}`")),
        }
        Ok(())
    }

    /// Returns the sequence to which a message between this process and the process with the rank `peer` belongs.
    fn message_sequence(
        &self,
        group: u64,
        peer: usize,
        is_sender: bool,
        tag: i64,
    ) -> Result<MessageSequence, String> {
        if peer >= self.process_count {
            return Err(format!(
                "the line names rank {peer}, which the program does not have"
            ));
        }
        let (from, to) = if is_sender {
            (self.rank, peer)
        } else {
            (peer, self.rank)
        };
        Ok(MessageSequence {
            sender: from,
            receiver: to,
            communicator_id: group,
            collective_number: None,
            tag,
        })
    }

    fn parse_communicator(&mut self, words: &mut LineWords<'_>) -> Result<(), String> {
        let (id, count): (u64, usize) = (words.next_number()?, words.next_number()?);
        let members: Vec<usize> = words
            .remaining_words
            .by_ref()
            .map(|word| word.parse().map_err(|_| format!("`{word}` is not a rank")))
            .collect::<Result<_, _>>()?;
        if members.len() != count || members.iter().any(|&rank| rank >= self.process_count) {
            return Err(format!(
                "the line should list {count} ranks of the program as members of communicator {id}, but does not"
            ));
        }
        self.members_of_communicator.insert(id, members);
        Ok(())
    }

    fn parse_collective(
        &mut self,
        words: &mut LineWords<'_>,
        begun: &mut BegunCollectives,
    ) -> Result<(), String> {
        let name = words.next_word()?;
        let kind = CollectiveKind::from_name(name)
            .ok_or_else(|| format!("unknown collective `{name}`"))?;
        let group: u64 = words.next_number()?;
        let (members, me) = self.members_and_rank(group)?;
        let (root, number): (usize, u64) = (words.next_number()?, words.next_number()?);
        let bytes = words.next_count()?;
        let sizes: usize = words.next_number()?;
        if root >= members.len() || sizes != 0 && sizes != members.len() {
            return Err(
                "the root or the number of sizes does not fit the members of the communicator"
                    .into(),
            );
        }
        let sizes = (0..sizes)
            .map(|_| words.next_count())
            .collect::<Result<_, _>>()?;
        let collective = Collective {
            kind,
            communicator_id: group,
            member_count: members.len(),
            rank: me,
            root,
            data_bytes: bytes,
            member_data_bytes: sizes,
            neighbour_messages: Vec::new(),
        };
        begun.begin(number, collective);
        Ok(())
    }

    fn parse_neighbours(
        &mut self,
        words: &mut LineWords<'_>,
        begun: &mut BegunCollectives,
    ) -> Result<(), String> {
        let (group, number): (u64, u64) = (words.next_number()?, words.next_number()?);
        let (members, me) = self.members_and_rank(group)?;
        let count = members.len();
        let member = |words: &mut LineWords<'_>| {
            let member: usize = words.next_number()?;
            let is_known = member < count;
            is_known.then_some(member).ok_or_else(|| {
                format!("the line names member {member}, which the communicator does not have")
            })
        };
        let mut neighbours = Vec::new();
        for _ in 0..words.next_count()? {
            neighbours.push(CollectiveMessage::Send(member(words)?, words.next_count()?));
        }
        while words.remaining_words.clone().next().is_some() {
            neighbours.push(CollectiveMessage::Receive(member(words)?));
        }
        let collective = Collective {
            kind: CollectiveKind::Neighbours,
            communicator_id: group,
            member_count: count,
            rank: me,
            root: 0,
            data_bytes: 0,
            member_data_bytes: Vec::new(),
            neighbour_messages: neighbours,
        };
        begun.begin(number, collective);
        Ok(())
    }

    fn members_and_rank(&self, group: u64) -> Result<(&[usize], usize), String> {
        let members = self
            .members_of_communicator
            .get(&group)
            .ok_or("the line names a communicator that no earlier line describes")?;
        let me = members
            .iter()
            .position(|&rank| rank == self.rank)
            .ok_or("the process is not a member of this communicator")?;
        Ok((members, me))
    }

    /// Returns the names of the regions that the process enters.
    pub(super) fn regions(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match event {
            Event::BeginRegion(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns the operations of the process in their order, with collectives replaced by messages, and whether each operation
    /// is inside the region with this name; all operations are if no name is given.
    pub(super) fn operations(&self, region: Option<&str>) -> Vec<(Operation, bool)> {
        let mut posted: BTreeMap<MessageSequence, Vec<u64>> = BTreeMap::new();
        for event in &self.events {
            if let Event::Receive(lane, number) = event {
                posted.entry(*lane).or_default().push(*number);
            }
        }
        for numbers in posted.values_mut() {
            numbers.sort_unstable();
        }
        let mut open = Vec::new();
        let mut marked = Vec::new();
        let mut operations = Vec::new();
        for event in &self.events {
            match event {
                Event::BeginRegion(name) => open.push(name.as_str()),
                Event::EndRegion => drop(open.pop()),
                Event::Call(operation) => operations.push(*operation),
                Event::Work(time) => operations.push(Operation::Work(*time)),
                Event::Send(lane, bytes) => operations.push(Operation::Send(*lane, *bytes)),
                Event::Receive(lane, number) => {
                    let nth = posted[lane].partition_point(|before| before < number);
                    operations.push(Operation::Receive(*lane, nth));
                }
                Event::Collective(instance, collective) => {
                    self.append_messages(*instance, collective, &mut operations);
                }
            }
            let is_inside = region.is_none_or(|name| open.contains(&name));
            marked.extend(operations.drain(..).map(|operation| (operation, is_inside)));
        }
        marked
    }

    /// Appends the messages of a collective to `operations`; `instance` is the number of the collective in its communicator,
    /// counted from 0.
    fn append_messages(
        &self,
        instance: u64,
        collective: &Collective,
        operations: &mut Vec<Operation>,
    ) {
        let members = &self.members_of_communicator[&collective.communicator_id];
        let lane = |from: usize, to: usize| MessageSequence {
            sender: members[from],
            receiver: members[to],
            communicator_id: collective.communicator_id,
            collective_number: Some(instance),
            tag: 0,
        };
        let mut received: BTreeMap<usize, usize> = BTreeMap::new();
        for step in collective.messages() {
            operations.push(match step {
                CollectiveMessage::Send(to, bytes) => {
                    Operation::Send(lane(collective.rank, to), bytes)
                }
                CollectiveMessage::Receive(from) => {
                    let nth = received.entry(from).or_default();
                    *nth += 1;
                    Operation::Receive(lane(from, collective.rank), *nth - 1)
                }
            });
        }
    }
}
