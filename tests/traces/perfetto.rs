//! A strict parser of Chrome's JSON traces: it requires valid JSON, complete and typed events, slices of a track without overlap, names of
//! groups and tracks before their slices, arrows paired from slice to slice, and numeric counters.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The contents of a trace; times are in nanoseconds.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Told {
    /// Nanoseconds in each state, summed over all processes.
    pub(crate) spent: BTreeMap<String, u64>,
    /// For each arrow: the names of the groups that it joins, its start and its end.
    pub(crate) arrows: Vec<(String, String, u64, u64)>,
    /// The values of each counter.
    pub(crate) values: BTreeMap<String, Vec<f64>>,
    /// Number of supersteps.
    pub(crate) supersteps: usize,
    /// The last end of a slice.
    pub(crate) end: u64,
}

struct Slice {
    name: String,
    start: u64,
    end: u64,
}

type Place = (u64, u64);

/// Parses a trace; an error describes the problem.
pub(crate) fn check(text: &str) -> Result<Told, String> {
    let trace: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if trace["displayTimeUnit"] != "ns" {
        return Err("the unit of display is missing".into());
    }
    let events = trace["traceEvents"].as_array().ok_or("no events")?;
    let mut groups: BTreeMap<u64, String> = BTreeMap::new();
    let mut tracks: BTreeSet<Place> = BTreeSet::new();
    let mut slices: BTreeMap<Place, Vec<Slice>> = BTreeMap::new();
    let mut starts: BTreeMap<u64, (Place, u64)> = BTreeMap::new();
    let mut ends = starts.clone();
    let mut told = Told::default();
    for event in events {
        let wrong = |what: &str| format!("{what}: {event}");
        let number = |key: &str| event[key].as_u64().ok_or_else(|| wrong(key));
        let name = event["name"].as_str().ok_or_else(|| wrong("name"))?;
        let group = number("pid")?;
        let date = || date(&event["ts"], 2).ok_or_else(|| wrong("ts"));
        match event["ph"].as_str() {
            Some("M") => match name {
                "process_name" | "thread_name" => {
                    let of = event["args"]["name"]
                        .as_str()
                        .ok_or_else(|| wrong("args"))?;
                    let is_new = if name == "process_name" {
                        groups.insert(group, of.into()).is_none()
                    } else {
                        tracks.insert((group, number("tid")?));
                        true // who comes back is introduced again
                    };
                    if !is_new {
                        return Err(wrong("a group named twice"));
                    }
                }
                "process_sort_index" if event["args"]["sort_index"].is_u64() => {}
                _ => return Err(wrong("an unknown description")),
            },
            Some("X") => {
                let place = (group, number("tid")?);
                if !tracks.contains(&place) || !groups.contains_key(&group) {
                    return Err(wrong("a slice on a track without a name"));
                }
                let start = date()?;
                let duration = self::date(&event["dur"], 0).ok_or_else(|| wrong("dur"))?;
                let slice = Slice {
                    name: name.into(),
                    start,
                    end: start + duration,
                };
                slices.entry(place).or_default().push(slice);
            }
            Some("C") => {
                let value = event["args"]["value"].as_f64();
                let value = value.ok_or_else(|| wrong("a counter without a value"))?;
                date()?;
                told.values.entry(name.into()).or_default().push(value);
            }
            Some(end @ ("s" | "f")) => {
                let place = (group, number("tid")?);
                if end == "f" && event["bp"] != "e" {
                    return Err(wrong("an arrow to the next slice"));
                }
                let all = if end == "s" { &mut starts } else { &mut ends };
                if all.insert(number("id")?, (place, date()?)).is_some() {
                    return Err(wrong("an arrow twice"));
                }
            }
            _ => return Err(wrong("an unknown event")),
        }
    }
    told.spend(&mut slices)?;
    if !starts.keys().eq(ends.keys()) {
        return Err("arrows without an end, or without a start".into());
    }
    for (id, (from, start)) in starts {
        let (to, end) = ends[&id];
        check_arrow(id, (from, start), (to, end), &slices)?;
        let group = |place: Place| groups[&place.0].clone();
        told.arrows.push((group(from), group(to), start, end));
    }
    Ok(told)
}

impl Told {
    /// Adds the times and supersteps of the slices, which must not overlap on their track.
    fn spend(&mut self, slices: &mut BTreeMap<Place, Vec<Slice>>) -> Result<(), String> {
        for (place, slices) in slices {
            slices.sort_by_key(|slice| (slice.start, slice.end));
            if let Some(pair) = slices.windows(2).find(|pair| pair[1].start < pair[0].end) {
                let start = pair[1].start;
                return Err(format!("slices overlap in {place:?} at {start} ns"));
            }
            for slice in &*slices {
                self.end = self.end.max(slice.end);
                if place.0 == 1 {
                    self.supersteps += 1;
                } else {
                    *self.spent.entry(slice.name.clone()).or_default() += slice.end - slice.start;
                }
            }
        }
        Ok(())
    }
}

/// Checks that an arrow joins the start of a migration with the start of a slice in another group.
fn check_arrow(
    id: u64,
    (from, start): (Place, u64),
    (to, end): (Place, u64),
    slices: &BTreeMap<Place, Vec<Slice>>,
) -> Result<(), String> {
    let at = |place: Place, holds: &dyn Fn(&Slice) -> bool| {
        slices.get(&place).is_some_and(|all| all.iter().any(holds))
    };
    let is_migration = |slice: &Slice| slice.name == "migrate" && slice.start == start;
    if !at(from, &is_migration) {
        return Err(format!("arrow {id} starts at no migration"));
    }
    if !at(to, &|slice| slice.start == end) {
        return Err(format!("arrow {id} ends at no slice"));
    }
    if from.1 != to.1 || from.0 == to.0 {
        return Err(format!("arrow {id} from {from:?} to {to:?}"));
    }
    Ok(())
}

/// Converts microseconds to whole nanoseconds; the value must have `tenths` tenths of a nanosecond beyond.
fn date(value: &Value, tenths: u64) -> Option<u64> {
    let text = value.as_number()?.as_f64()?;
    let rounded = (text * 1e4).round();
    if !(0.0..1e19).contains(&rounded) || (text * 1e4 - rounded).abs() > 1e-3 * rounded.max(1.0) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it has just been checked"
    )]
    let rounded = rounded as u64;
    (rounded % 10 == tenths).then_some(rounded / 10)
}
