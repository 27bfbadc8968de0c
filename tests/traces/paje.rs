//! A strict parser of Paje traces: definitions come before their use, every field has its type, times never go back, states and links are
//! in existing containers, and everything is ended at the end.

use std::collections::BTreeMap;

/// The contents of a trace.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Told {
    /// Seconds in each state, summed over all processes.
    pub(crate) seconds: BTreeMap<String, f64>,
    /// For each link: container of the start, container of the end, start, end.
    pub(crate) links: Vec<(String, String, f64, f64)>,
    /// The values of each variable.
    pub(crate) values: BTreeMap<String, Vec<f64>>,
    /// Number of containers created, by type.
    pub(crate) containers: BTreeMap<String, usize>,
    /// The last time.
    pub(crate) end: f64,
}

/// The number and the name of an event, and the names and types of its fields.
type Definition = (String, String, Vec<(String, String)>);

/// An existing container.
struct Container {
    kind: String,
    parent: String,
    created: f64,
    /// The current state and its start, by type of state.
    states: BTreeMap<String, (String, f64)>,
}

#[derive(Default)]
struct Reader {
    events: BTreeMap<String, (String, Vec<(String, String)>)>,
    /// Types: alias to (kind of type, parent types, name).
    types: BTreeMap<String, (&'static str, Vec<String>, String)>,
    /// Values of states and links: (type, alias) to name.
    values: BTreeMap<(String, String), String>,
    alive: BTreeMap<String, Container>,
    ended: Vec<String>,
    open_links: BTreeMap<String, (String, f64)>,
    told: Told,
}

/// Parses a trace; an error gives the line and the problem.
pub(crate) fn check(text: &str) -> Result<Told, String> {
    let mut reader = Reader::default();
    let mut definition: Option<Definition> = None;
    let mut body = false;
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: String| format!("line {}: {what}: {line}", number + 1);
        if let Some(rest) = line.strip_prefix('%') {
            if body {
                return Err(wrong("a definition of an event after events".into()));
            }
            let words: Vec<&str> = rest.split_whitespace().collect();
            match (words.as_slice(), &mut definition) {
                (["EventDef", name, number], none @ None) => {
                    *none = Some(((*number).into(), (*name).into(), Vec::new()));
                }
                (["EndEventDef"], Some(_)) => {
                    let (number, name, fields) = definition.take().expect("it is there");
                    if reader.events.insert(number, (name, fields)).is_some() {
                        return Err(wrong("an event defined twice".into()));
                    }
                }
                ([field, kind], Some((_, _, fields))) => {
                    if !["string", "date", "double", "color"].contains(kind) {
                        return Err(wrong(format!("an unknown type {kind}")));
                    }
                    fields.push(((*field).into(), (*kind).into()));
                }
                _ => return Err(wrong("a definition that is none".into())),
            }
            continue;
        }
        if definition.is_some() {
            return Err(wrong("an event inside a definition".into()));
        }
        body = true;
        reader.event(&words(line).map_err(wrong)?).map_err(wrong)?;
    }
    if !text.ends_with('\n') {
        return Err("the last line is incomplete".into());
    }
    if let Some(alias) = reader.alive.keys().next() {
        return Err(format!("container {alias} is never destroyed"));
    }
    if let Some(key) = reader.open_links.keys().next() {
        return Err(format!("link {key} does not end"));
    }
    Ok(reader.told)
}

/// Splits a line into fields; a field in quotes may contain spaces.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or("a quote is not closed")?;
            words.push(quoted[..end].to_owned());
            rest = &quoted[end + 1..];
            if !rest.is_empty() && !rest.starts_with(' ') {
                return Err("text after a quote".into());
            }
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    Ok(words)
}

/// Reads a number without an exponent.
fn decimal(text: &str) -> Result<f64, String> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
    if plain && number.is_finite() {
        Ok(number)
    } else {
        Err(format!("{text} is no plain number"))
    }
}

/// Returns the value of a field that the event must have.
fn of(field: &BTreeMap<String, String>, event: &str, key: &str) -> Result<String, String> {
    let value = field.get(key).cloned();
    value.ok_or(format!("{event} has no {key}"))
}

impl Reader {
    fn event(&mut self, words: &[String]) -> Result<(), String> {
        let number = words.first().ok_or("an empty line")?;
        let (name, fields) = self
            .events
            .get(number)
            .ok_or_else(|| format!("event {number} is not defined"))?;
        if words.len() != fields.len() + 1 {
            return Err(format!("{name} has {} fields", fields.len()));
        }
        let mut field: BTreeMap<String, String> = BTreeMap::new();
        for ((key, kind), value) in fields.iter().zip(&words[1..]) {
            match kind.as_str() {
                "date" | "double" => drop(decimal(value)?),
                "color" => {
                    let parts: Vec<f64> =
                        value.split(' ').map(decimal).collect::<Result<_, _>>()?;
                    if parts.len() != 3 || parts.iter().any(|part| !(0.0..=1.0).contains(part)) {
                        return Err(format!("{value} is no colour"));
                    }
                }
                _ if value.is_empty() => return Err(format!("{key} is empty")),
                _ => {}
            }
            field.insert(key.clone(), value.clone());
        }
        let name = name.clone();
        if let Some(date) = field.get("Time") {
            let date = decimal(date)?;
            if date < self.told.end {
                return Err(format!("the date goes back from {}", self.told.end));
            }
            self.told.end = date;
        }
        self.act(&name, &field)
    }

    /// Handles a definition of a type or of a value, or an event of containers.
    fn act(&mut self, event: &str, field: &BTreeMap<String, String>) -> Result<(), String> {
        let get = |key: &str| of(field, event, key);
        match event {
            "PajeDefineContainerType" => {
                let parent = get("Type")?;
                if parent != "0" {
                    self.type_of(&parent, "container")?;
                }
                self.define(get("Alias")?, "container", vec![parent], get("Name")?)
            }
            "PajeDefineStateType" | "PajeDefineVariableType" => {
                let kind = if event == "PajeDefineStateType" {
                    "state"
                } else {
                    "variable"
                };
                self.type_of(&get("Type")?, "container")?;
                self.define(get("Alias")?, kind, vec![get("Type")?], get("Name")?)
            }
            "PajeDefineLinkType" => {
                let parents = vec![
                    get("Type")?,
                    get("StartContainerType")?,
                    get("EndContainerType")?,
                ];
                for parent in &parents {
                    self.type_of(parent, "container")?;
                }
                self.define(get("Alias")?, "link", parents, get("Name")?)
            }
            "PajeDefineEntityValue" => {
                let kind = get("Type")?;
                if self.type_of(&kind, "state").is_err() {
                    self.type_of(&kind, "link")?;
                }
                let key = (kind, get("Alias")?);
                if self.values.insert(key, get("Name")?).is_some() {
                    return Err("a value defined twice".into());
                }
                Ok(())
            }
            _ => self.act_on_containers(event, field),
        }
    }

    /// Handles the start or end of a container, or an event inside containers.
    fn act_on_containers(
        &mut self,
        event: &str,
        field: &BTreeMap<String, String>,
    ) -> Result<(), String> {
        let get = |key: &str| of(field, event, key);
        let now = self.told.end;
        match event {
            "PajeCreateContainer" => {
                let (alias, kind, parent) = (get("Alias")?, get("Type")?, get("Container")?);
                let (parents, name) = self.type_of(&kind, "container")?;
                let of_parent = self.alive.get(&parent).map_or("0", |one| one.kind.as_str());
                if parents[0] != of_parent || (parent != "0" && !self.alive.contains_key(&parent)) {
                    return Err(format!("a container in {parent}, which is not its parent"));
                }
                if self.ended.contains(&alias) || self.alive.contains_key(&alias) {
                    return Err(format!("container {alias} was there before"));
                }
                *self.told.containers.entry(name).or_default() += 1;
                let container = Container {
                    kind,
                    parent,
                    created: now,
                    states: BTreeMap::new(),
                };
                self.alive.insert(alias, container);
                Ok(())
            }
            "PajeDestroyContainer" => {
                let alias = get("Name")?;
                self.living(&alias, &get("Type")?)?;
                if self.alive.values().any(|one| one.parent == alias) {
                    return Err(format!("{alias} ends before what it contains"));
                }
                let container = self.alive.remove(&alias).expect("it lives");
                let has_states = self
                    .types
                    .values()
                    .any(|(kind, parents, _)| *kind == "state" && parents[0] == container.kind);
                if has_states && container.states.is_empty() && container.created < now {
                    return Err(format!("{alias} has never been in a state"));
                }
                for (state, since) in container.states.into_values() {
                    *self.told.seconds.entry(state).or_default() += now - since;
                }
                self.ended.push(alias);
                Ok(())
            }
            _ => self.act_inside(event, field),
        }
    }

    /// Handles a state, a variable or a link.
    fn act_inside(&mut self, event: &str, field: &BTreeMap<String, String>) -> Result<(), String> {
        let get = |key: &str| of(field, event, key);
        let now = self.told.end;
        match event {
            "PajeSetState" => {
                let (kind, alias) = (get("Type")?, get("Container")?);
                let (parents, _) = self.type_of(&kind, "state")?;
                self.living(&alias, &parents[0])?;
                let value = self.value(&kind, &get("Value")?)?;
                let container = self.alive.get_mut(&alias).expect("it lives");
                match container.states.insert(kind, (value, now)) {
                    Some((state, since)) => {
                        *self.told.seconds.entry(state).or_default() += now - since;
                    }
                    None if container.created < now => {
                        return Err(format!("{alias} was in no state until now"));
                    }
                    None => {}
                }
                Ok(())
            }
            "PajeSetVariable" => {
                let (parents, name) = self.type_of(&get("Type")?, "variable")?;
                self.living(&get("Container")?, &parents[0])?;
                let value = decimal(&get("Value")?)?;
                self.told.values.entry(name).or_default().push(value);
                Ok(())
            }
            "PajeStartLink" | "PajeEndLink" => {
                let (parents, _) = self.type_of(&get("Type")?, "link")?;
                self.living(&get("Container")?, &parents[0])?;
                self.value(&get("Type")?, &get("Value")?)?;
                let key = get("Key")?;
                if event == "PajeStartLink" {
                    let from = get("StartContainer")?;
                    self.living(&from, &parents[1])?;
                    if self.open_links.insert(key, (from, now)).is_some() {
                        return Err("a link started twice".into());
                    }
                } else {
                    let to = get("EndContainer")?;
                    self.living(&to, &parents[2])?;
                    let (from, start) = self.open_links.remove(&key).ok_or("no such link")?;
                    self.told.links.push((from, to, start, now));
                }
                Ok(())
            }
            other => Err(format!("{other} is not expected here")),
        }
    }

    fn define(
        &mut self,
        alias: String,
        kind: &'static str,
        parents: Vec<String>,
        name: String,
    ) -> Result<(), String> {
        if self.types.insert(alias, (kind, parents, name)).is_some() {
            return Err("a type defined twice".into());
        }
        Ok(())
    }

    /// Returns the parents and the name of a type.
    fn type_of(&self, alias: &str, kind: &str) -> Result<(Vec<String>, String), String> {
        match self.types.get(alias) {
            Some((found, parents, name)) if *found == kind => Ok((parents.clone(), name.clone())),
            _ => Err(format!("{alias} is no type of a {kind}")),
        }
    }

    fn value(&self, kind: &str, alias: &str) -> Result<String, String> {
        let found = self.values.get(&(kind.to_owned(), alias.to_owned()));
        found.cloned().ok_or(format!("{alias} is no value"))
    }

    fn living(&self, alias: &str, kind: &str) -> Result<(), String> {
        match self.alive.get(alias) {
            Some(container) if container.kind == kind => Ok(()),
            Some(_) => Err(format!("{alias} is of another type")),
            None => Err(format!("{alias} does not live")),
        }
    }
}
