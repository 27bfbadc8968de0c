//! The report: one HTML file to look at, which needs no other file and no network.
//!
//! ```text
//! Report (material)   a run folder, or a run that has just been done
//!   head              what was run, scenarios, ledger                    HTML
//!   verdict           whether migration pays                             sentence
//!   notes             readings and notes                                 HTML
//!   gantt             rows, bars, levels of detail                       arrays
//!   series            dates of supersteps, imbalance, intervals          arrays
//!   usage             how busy hosts and links are over time             arrays
//!   scores            scores of the policy and their terms               arrays
//!   decisions         calls, candidates, reasons                         facts
//!   reasons           the same in sentences                              arrays
//!   drawing           the platform                                       SVG
//! page                the template with all of it, in the frame of all pages
//! ```
//! Arrays are packed into one block (`compress.rs`), facts are JSON; the scripts of the page (`*.js` in this folder) draw them and put texts in as
//! texts only. The same run gives the same bytes. uPlot (`vendor/`, MIT) draws the line charts.

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

/// The key by which names are sorted so that `h9` comes before `h10`: what precedes the first number, the number, the whole.
fn numbered(name: &str) -> (&str, u64, &str) {
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
    use super::numbered;

    #[test]
    fn names_with_numbers_are_sorted_by_them() {
        let mut names = ["h10", "g", "h9", "h9-link", "99999999999999999999999", "h"];
        names.sort_by_key(|name| numbered(name));
        assert_eq!(
            names,
            ["99999999999999999999999", "g", "h9", "h9-link", "h10", "h"]
        );
    }
}
