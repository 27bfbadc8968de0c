//! The report of a run: one HTML file that needs no other file and no network.
//!
//! ```text
//! Report              a run folder, or the results of a run in memory
//!   head              description of the run, scenarios, causes of      HTML
//!                     the differences between their makespans
//!   verdict           whether migration pays                             sentence
//!   notes             interpretations of the papers, and notes           HTML
//!   gantt             activity of the processes over time                arrays
//!   series            times of supersteps, imbalance, intervals          arrays
//!   usage             use of hosts and links over time                   arrays
//!   scores            scores of the policy and their terms               arrays
//!   decisions         calls, candidates, reasons                         JSON
//!   reasons           the decisions in sentences                         arrays
//!   path              the critical path                                  arrays
//!   drawing           the platform                                       SVG
//! page                the template with all these parts, in the frame of all pages
//! ```
//! Arrays are packed into one compressed block (`compress.rs`). The scripts of the page (`*.js` in this folder) draw the data of
//! the arrays and of JSON, and insert texts only as texts, never as HTML. Reports of the same run are equal byte by byte. uPlot
//! (`vendor/`, MIT) draws the line charts.

mod compress;
mod decisions;
mod drawing;
mod figures;
mod gantt;
mod head;
mod notes;
mod page;
mod page_data;
mod path;
mod reasons;
mod scores;
mod series;
mod usage;
mod verdict;

pub use page_data::Report;

/// Returns the key by which names are sorted such that `h9` comes before `h10`: the text before the first number, this number,
/// and the whole name.
fn natural_sort_key(name: &str) -> (&str, u64, &str) {
    let start = name
        .find(|letter: char| letter.is_ascii_digit())
        .unwrap_or(name.len());
    let digits = &name[start..];
    let end = digits
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(digits.len());
    (
        &name[..start],
        digits[..end].parse().unwrap_or(u64::MAX),
        name,
    )
}

#[cfg(test)]
mod tests {
    use super::natural_sort_key;

    #[test]
    fn names_with_numbers_are_sorted_by_them() {
        let mut names = ["h10", "g", "h9", "h9-link", "99999999999999999999999", "h"];
        names.sort_by_key(|name| natural_sort_key(name));
        assert_eq!(
            names,
            ["99999999999999999999999", "g", "h9", "h9-link", "h10", "h"]
        );
    }
}
