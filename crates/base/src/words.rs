//! Words of messages: counts with their nouns, verbs in singular or plural, and the known name that is most similar to a misspelt
//! name.

use std::fmt::Display;

/// Returns the known name that is most similar to `name`; `None` if no known name is similar. A known name is similar if it
/// differs from `name` in case or in few letters, or if it is the only known name that begins with `name`. A name without dots is
/// also compared with the last parts of dotted paths (`alpha` with `policy.migbsp.alpha`).
pub fn most_similar_name<'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    if name.len() > LONGEST {
        return None;
    }
    let wanted = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|known| known.len() <= LONGEST)
        .map(|known| (name_distance(&wanted, &known.to_lowercase()), known))
        .collect();
    found.sort_unstable();
    found.dedup();
    let (letters, first) = found.first()?;
    if *letters <= maximum_edit_distance(&wanted) {
        return Some(first);
    }
    let begin = stem(&wanted)?;
    let mut longer = found
        .iter()
        .map(|(_, known)| *known)
        .filter(|known| known.to_lowercase().starts_with(begin));
    longer.next().filter(|_| longer.next().is_none())
}

/// Returns the first letters of `name`, with which a longer known name must begin to be suggested. A name of at least
/// [`SHORTEST_STEM`] letters is returned without its last letter (`policy`, `policies`). Returns `None` if the name is too short.
fn stem(name: &str) -> Option<&str> {
    match (name.chars().count(), name.char_indices().last()) {
        (SHORTEST_BEGIN..SHORTEST_STEM, _) => Some(name),
        (SHORTEST_STEM.., Some((at, _))) => Some(&name[..at]),
        _ => None,
    }
}

/// Minimum number of letters of a name for which [`stem`] leaves out the last letter.
const SHORTEST_STEM: usize = 6;

/// Maximum number of letters of an unknown name for which similar known names are searched.
const LONGEST: usize = 64;

/// Minimum number of letters of an unknown name for which a known name that begins with the same letters is suggested.
const SHORTEST_BEGIN: usize = 3;

/// Returns the maximum edit distance at which a known name is suggested for the unknown `name`. It is a third of the number of
/// letters, but from 1 to 3, and 0 for a name of less than three letters.
fn maximum_edit_distance(name: &str) -> usize {
    match name.chars().count() {
        0..3 => 0,
        letters => (letters / 3).clamp(1, 3),
    }
}

/// Returns the edit distance between an unknown and a known name; a name without dots is also compared with the last part of a
/// dotted path.
fn name_distance(name: &str, known: &str) -> usize {
    let whole = edit_distance(name, known);
    match known.rsplit_once('.') {
        Some((_, end)) if !name.contains('.') => whole.min(edit_distance(name, end)),
        _ => whole,
    }
}

/// Returns the edit distance of two texts: the number of letters to insert, delete or replace, and of neighbouring letters to
/// swap (the restricted distance of Damerau 1964).
fn edit_distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for (i, letter) in from.iter().enumerate() {
        let above = &rows[i];
        let mut row = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let replaced = above[j] + usize::from(letter != other);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == to[j - 1] && from[i - 1] == *other {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

/// Formats a count with its noun in singular or plural: `1 host`, `2 hosts`, `2 processes`.
pub fn format_count(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    match (count.as_str(), noun.strip_suffix('y')) {
        ("1", _) => format!("{count} {noun}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if noun.ends_with('s') => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Minimum value that is assumed to be a percentage where a fraction is expected \[%\]; smaller values are more likely wrong
/// fractions.
const LEAST_PERCENT: f64 = 5.0;

/// Returns a hint such as `80 % is 0.8` for a value that is probably a percentage where a fraction is expected. Returns `None` if
/// the value is below 5 or above 100.
pub fn percent_hint(value: f64) -> Option<String> {
    let is_percent = (LEAST_PERCENT..=100.0).contains(&value);
    // This order of operations leaves no digits of a binary division.
    is_percent.then(|| format!("{value} % is {}", (value * 1e4).round() / 1e6))
}

/// Returns the first of two words if `count` is 1, and the second word otherwise, as in `is` and `are`.
pub fn singular_or_plural(count: u64, [one, several]: [&'static str; 2]) -> &'static str {
    if count == 1 { one } else { several }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(format_count(1, "seed"), "1 seed");
        assert_eq!(format_count(0, "seed"), "0 seeds");
        assert_eq!(format_count(12_u64, "process"), "12 processes");
        assert_eq!(
            [format_count(2, "policy"), format_count(0, "key")],
            ["2 policies", "0 keys"]
        );
    }

    #[test]
    fn percent_are_told_as_shares() {
        let told = [80.0, 33.3, 100.0, 5.0].map(|value| percent_hint(value).unwrap());
        assert_eq!(
            told,
            [
                "80 % is 0.8",
                "33.3 % is 0.333",
                "100 % is 1",
                "5 % is 0.05"
            ]
        );
        assert_eq!([4.9, 101.0, 0.5].map(percent_hint), [None, None, None]);
    }

    #[test]
    fn letters_to_change_are_counted() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", "abc"), 0);
        assert_eq!(edit_distance("rnu", "run"), 1);
    }

    #[test]
    fn a_near_name_is_found_and_a_far_one_is_not() {
        let names = [
            "run",
            "sweep",
            "report",
            "reproduce",
            "lu",
            "sw",
            "synthetic",
            "delta",
            "policies",
            "x",
        ];
        let near = |name| most_similar_name(name, names);
        for (name, meant) in [
            ("rnu", "run"),
            ("LU", "lu"),
            ("lux", "lu"),
            ("detla", "delta"),
            ("synth", "synthetic"),
            ("policy", "policies"),
            ("X", "x"),
        ] {
            assert_eq!(near(name), Some(meant), "{name}");
        }
        // A name of one or two letters could stand for many.
        for name in ["", "y", "iv", "rep", "quux", "format", "version"] {
            assert_eq!(near(name), None, "{name}");
        }
    }

    #[test]
    fn the_nearest_key_is_found_by_path_or_by_its_end() {
        let known = ["policy.migbsp.alpha", "policy.migbsp.omega", "workload.n"];
        assert_eq!(
            most_similar_name("policy.migbsp.alhpa", known),
            Some("policy.migbsp.alpha")
        );
        assert_eq!(
            most_similar_name("omga", known),
            Some("policy.migbsp.omega")
        );
    }
}
