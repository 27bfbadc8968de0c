//! `index.html` of a benchmark: tables of the policies, classes and cases, and the figure of the performance profiles.

use super::{
    figure::draw_performance_profiles,
    rows::{BenchCaseResults, BenchResults},
};
use crate::{
    cells::{cell_with, number_cell},
    page::INITIAL_ROWS,
};
use migsim_output::{
    Cell, Table,
    figure::Figure,
    frame::{list_html, picture_html, sections_page},
    number_column, text_column,
};

impl BenchResults {
    /// Returns the HTML page of the benchmark.
    pub(super) fn page(&self) -> String {
        let svg = Figure::new("profile", draw_performance_profiles(self)).to_svg();
        let label = "Share of cases within a factor of the best known, by policy";
        let policies = self.policy_table().to_html(INITIAL_ROWS);
        let sections = [
            (
                "policies",
                "Policies, by mean ratio",
                list_html(&self.remarks()) + &policies,
            ),
            (
                "profile",
                "Performance profiles",
                picture_html("profile", label, &svg),
            ),
            (
                "classes",
                "Classes of cases",
                self.class_table().to_html(INITIAL_ROWS),
            ),
            ("cases", "Cases", self.case_table().to_html(INITIAL_ROWS)),
        ];
        let title = format!("Benchmark {}, {}", self.suite, self.draw_description());
        sections_page(&title, "", sections, &[])
    }

    /// Returns a table with a row per case: its classes, its fastest policy, and the ratio of the policy `never` to the best known
    /// makespan.
    fn case_table(&self) -> Table {
        let columns = [
            text_column("case", "case"),
            text_column("classes", "classes"),
            text_column("fastest", "fastest"),
            number_column("makespan [s]", "makespan_s"),
            number_column("ratio of never", "never_ratio"),
        ];
        let mut table = Table::new("cases", "", &columns);
        let never = self
            .policy_names
            .iter()
            .position(|policy| policy == "never");
        for case in &self.cases {
            let fastest = fastest_policy_index(case);
            let name = fastest.map(|place| Cell::text(&self.policy_names[place]));
            table.push_row([
                Cell::text(&case.case.name),
                Cell::text(case.case.classes.join(", ")),
                name.unwrap_or_else(Cell::empty),
                number_cell(fastest.map(|place| case.policies[place].makespan)),
                cell_with(never.map(|place| case.policies[place].ratio), |ratio| {
                    format!("{ratio:.3}")
                }),
            ]);
        }
        table
    }
}

/// Returns the index of the policy with the lowest mean makespan in a case; `None` if all policies failed. The best static start,
/// which is the last entry, is not considered.
fn fastest_policy_index(case: &BenchCaseResults) -> Option<usize> {
    let makespan = |place: &usize| case.policies[*place].makespan;
    let policies = 0..case.policies.len() - 1;
    policies
        .filter(|place| !case.policies[*place].has_failed)
        .min_by(|a, b| makespan(a).total_cmp(&makespan(b)))
}
