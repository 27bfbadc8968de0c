//! Numbers with their nouns, for people.

use std::fmt::Display;

/// `1 host`, `2 hosts`, `2 processes`.
pub(crate) fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = match count.as_str() {
        "1" => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// `is` of one, `are` of any other number; likewise `was` and `were`.
pub(crate) fn of_number(count: u64, [one, several]: [&'static str; 2]) -> &'static str {
    if count == 1 { one } else { several }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(counted(1, "seed"), "1 seed");
        assert_eq!(counted(0, "seed"), "0 seeds");
        assert_eq!(counted(12_u64, "process"), "12 processes");
    }
}
