//! The causal profile of a run as an HTML page (gains, critical path, each change, settings), and the files of its folder.

use std::path::Path;

use super::CausalProfile;
use crate::folder::write_text_files;
use crate::page::INITIAL_ROWS;
use migsim_base::error::Error;
use migsim_base::quantities::format_seconds;
use migsim_output::figure::FigureStyle;
use migsim_output::frame::{list_html, picture_html, sections_page, sentence_html, settings_table};
use migsim_output::{Cell, Table, number_column, text_column};

impl CausalProfile {
    /// Writes the profile into a folder: `bottlenecks.json`, `quantities.csv`, `changes.csv`, and the page `index.html`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_into_folder(&self, folder: &Path) -> Result<(), Error> {
        let json = format!("{:#}\n", self.to_json());
        let texts = [
            ("bottlenecks.json", &*json),
            ("quantities.csv", &self.gain_table().to_csv()),
            ("changes.csv", &self.change_table().to_csv()),
            ("index.html", &self.html_page()),
        ];
        write_text_files(folder, &texts)
    }

    /// Returns the profile as an HTML page.
    pub fn html_page(&self) -> String {
        let figure = self.gain_figure(&FigureStyle::default()).to_svg();
        let label = "Gain of each change, by 10 % and without limit";
        let picture = picture_html("gains", label, (300, 720), &figure);
        let vain: Vec<String> = self.ineffective_quantities_line().into_iter().collect();
        let gains = format!(
            "{}{}{}",
            self.gain_table().to_html(INITIAL_ROWS),
            list_html(&vain),
            picture
        );
        let pairs = if self.change_pairs.is_empty() {
            String::new()
        } else {
            self.pair_table().to_html(INITIAL_ROWS)
        };
        let path = format!(
            "{}<p class=\"note\">The chain of activities that ends last, from time 0 to the makespan, of the first seed.</p>\n",
            self.critical_path_table().to_html(INITIAL_ROWS)
        );
        let sections = [
            (
                "gains",
                "What a change of each quantity gains".to_owned(),
                gains,
            ),
            ("pairs", "Two changes together".to_owned(), pairs),
            (
                "path",
                "Critical path: what the time goes to".to_owned(),
                path,
            ),
            (
                "changes",
                "All changes".to_owned(),
                self.change_table().to_html(INITIAL_ROWS),
            ),
            (
                "settings",
                "Settings".to_owned(),
                settings_table("All settings of the unchanged run", &self.settings),
            ),
        ];
        let title = format!("Bottlenecks of scenario {}", self.scenario.name());
        let lead = format!(
            "<p class=\"verdict\">{}</p>\n{}",
            sentence_html(&self.verdict()),
            list_html(&self.user_notes)
        );
        sections_page(&title, &lead, sections, &[])
    }

    /// Creates the table of the critical path, summed by kind of activity, resource and process.
    fn critical_path_table(&self) -> Table {
        let columns = [
            text_column("kind", "kind"),
            text_column("resource", "resource"),
            text_column("process", "process"),
            number_column("time [s]", "seconds"),
            number_column("share [%]", "percent"),
        ];
        let mut table = Table::new("path", "", &columns);
        let most = self
            .critical_path
            .first()
            .map_or(1.0, |share| share.percent);
        for share in &self.critical_path {
            let process = share
                .process
                .map(|process| format!("p{}", process.index() + 1));
            let time = share.time.get();
            table.push_row([
                Cell::text(share.activity_kind.name()),
                Cell::text(&share.resource),
                Cell::text(process.unwrap_or_default()),
                Cell::from_value_and_text(time, format_seconds(time)),
                Cell::from_value_and_text(share.percent, format!("{:.1}", share.percent))
                    .with_bar(share.percent / most),
            ]);
        }
        table
    }
}
