//! Formats tables and lines of text as aligned columns, Markdown, CSV or JSON.
//!
//! In formats for people (aligned columns, Markdown) a cell has a rounded text, with its unit in the heading or in the text. In
//! formats for programs (CSV, JSON) it has an exact value, with its unit in the name of the column. Only aligned columns have
//! colours, as escape codes. The program that prints the columns removes the escape codes if the output is not a terminal.

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value};

use super::{frame::sentence_html, html::escape_html, protect_formula_like_text};
use migsim_base::error::escape_control_characters;

/// Format in which a sequence of lines and tables is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputForm {
    /// Aligned columns for a terminal.
    #[default]
    Table,
    /// Tables and lines in Markdown.
    Markdown,
    /// CSV (RFC 4180): tables only, with an empty line between two tables.
    Csv,
    /// JSON: an object that contains an array for each table.
    Json,
}

/// A sequence of lines of text and tables that can be printed in several formats.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    lines_and_tables: Vec<SheetPart>,
}

#[derive(Clone, Debug)]
enum SheetPart {
    Line(String),
    Table(Table),
    /// A table that only CSV and JSON contain; the formats for people show the same data as lines of text.
    TableForPrograms(Table),
}

/// A table: a name for programs, a title for people, columns, and rows of cells.
#[derive(Clone, Debug)]
pub struct Table {
    name_for_programs: &'static str,
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    has_headings: bool,
}

/// A column of a table: its heading for people, its name for programs, and whether its cells contain numbers.
#[derive(Clone, Debug)]
pub struct Column {
    heading: String,
    name_for_programs: &'static str,
    is_number: bool,
}

/// A cell of a table: a rounded text for people, and an exact value for programs.
#[derive(Clone, Debug)]
pub struct Cell {
    text_for_people: String,
    value_for_programs: Value,
    value_rating: ValueRating,
    /// Length of the bar behind the text on an HTML page, as a fraction of the width of the cell; `None` if the cell has no bar.
    bar_length: Option<f64>,
}

/// Whether the value of a cell is good, bad or neither; output for people shows it as a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueRating {
    /// The value is neither good nor bad, and has no colour.
    #[default]
    Plain,
    /// The value is good, and is shown in green.
    Good,
    /// The value is bad, and is shown in red.
    Bad,
}

/// Creates a column of texts; `heading` is its heading for people, `key` its name for programs.
pub fn text_column(heading: impl Into<String>, key: &'static str) -> Column {
    Column {
        heading: heading.into(),
        name_for_programs: key,
        is_number: false,
    }
}

/// Creates a column of numbers; `heading` is its heading for people, `key` its name for programs.
pub fn number_column(heading: impl Into<String>, key: &'static str) -> Column {
    Column {
        heading: heading.into(),
        name_for_programs: key,
        is_number: true,
    }
}

impl Cell {
    /// Creates a cell with the same text for people and for programs.
    pub fn text(text: impl Into<String>) -> Self {
        let shown = text.into();
        Self {
            text_for_people: escape_control_characters(&shown).into_owned(),
            value_for_programs: Value::from(shown),
            value_rating: ValueRating::Plain,
            bar_length: None,
        }
    }

    /// Creates a cell with the exact value `value` for programs and the text `shown` for people.
    pub fn from_value_and_text(value: impl Into<Value>, shown: impl Into<String>) -> Self {
        Self {
            text_for_people: escape_control_characters(&shown.into()).into_owned(),
            value_for_programs: value.into(),
            value_rating: ValueRating::Plain,
            bar_length: None,
        }
    }

    /// Creates a cell with an exact value for programs, which `format` turns into the text for people.
    pub fn quantity(value: f64, format: impl Fn(f64) -> String) -> Self {
        Self::from_value_and_text(value, format(value))
    }

    /// Creates a cell with a whole number, which is shown with all its digits.
    pub fn count(count: usize) -> Self {
        Self::from_value_and_text(count, count.to_string())
    }

    /// Creates an empty cell.
    pub fn empty() -> Self {
        Self::from_value_and_text(Value::Null, "")
    }

    /// Marks the value of the cell as good or bad; output for people shows this as a colour.
    #[must_use]
    pub fn with_rating(mut self, tone: ValueRating) -> Self {
        self.value_rating = tone;
        self
    }

    /// Adds a bar behind the text of the cell on an HTML page; its length is a fraction of the width of the cell, from 0 to 1.
    #[must_use]
    pub fn with_bar(mut self, length: f64) -> Self {
        self.bar_length = Some(length.clamp(0.0, 1.0));
        self
    }

    fn to_html(&self, column: &Column) -> String {
        let mut classes = Vec::new();
        match self.value_rating {
            ValueRating::Plain => {}
            ValueRating::Good => classes.push("good"),
            ValueRating::Bad => classes.push("bad"),
        }
        if !column.is_number {
            classes.push("words");
            if self.text_for_people.chars().count() > MIN_BREAKABLE_LENGTH {
                classes.push("long");
            }
        }
        let shown = escape_html(&self.text_for_people);
        let shown = match self.bar_length {
            Some(length) => {
                classes.push("barred");
                format!(
                    "<i style=\"width:{:.1}%\"></i><b>{shown}</b>",
                    100.0 * length
                )
            }
            None => shown,
        };
        let class = match &classes[..] {
            [] => String::new(),
            classes => format!(" class=\"{}\"", classes.join(" ")),
        };
        let value = match &self.value_for_programs {
            Value::Number(number) => format!(" data-value=\"{number}\""),
            _ => String::new(),
        };
        format!("<td{class}{value}>{shown}</td>")
    }
}

/// Length of a text from which it may be broken into several lines on an HTML page \[characters\].
const MIN_BREAKABLE_LENGTH: usize = 40;

impl Table {
    /// Creates a table without rows. `key` is its name for programs, `title` its heading for people; an empty title is not shown.
    pub fn new(key: &'static str, title: impl Into<String>, columns: &[Column]) -> Self {
        Self {
            name_for_programs: key,
            title: escape_control_characters(&title.into()).into_owned(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            has_headings: true,
        }
    }

    /// Hides the headings of the columns in the format of aligned columns.
    #[must_use]
    pub fn without_headings(mut self) -> Self {
        self.has_headings = false;
        self
    }

    /// Adds a row to the table; it must contain one cell per column.
    pub fn push_row(&mut self, row: impl Into<Vec<Cell>>) {
        let row = row.into();
        debug_assert_eq!(row.len(), self.columns.len(), "a cell per column");
        self.rows.push(row);
    }

    fn push_as_aligned_columns(&self, text: &mut String) {
        let heading = Style::new().bold();
        if !self.title.is_empty() {
            put!(text, "{heading}{}{heading:#}\n", self.title);
        }
        let widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let cells = self
                    .rows
                    .iter()
                    .map(|row| row[at].text_for_people.chars().count());
                let heading = if self.has_headings {
                    column.heading.chars().count()
                } else {
                    0
                };
                cells.fold(heading, usize::max)
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = (&str, Style)>| {
            let mut line = String::new();
            let mut gap = 0;
            for ((cell, style), (width, column)) in cells.zip(widths.iter().zip(&self.columns)) {
                let rest = width - cell.chars().count();
                gap += if column.is_number { rest } else { 0 };
                if !cell.is_empty() {
                    put!(line, "{:gap$}{style}{cell}{style:#}", "");
                    gap = 0;
                }
                gap += 2 + if column.is_number { 0 } else { rest };
            }
            line
        };
        if self.has_headings {
            let mut headings = self
                .columns
                .iter()
                .map(|column| (column.heading.as_str(), heading));
            put!(text, "{}\n", line(&mut headings));
        }
        for row in &self.rows {
            let mut cells = row.iter().map(|cell| {
                (
                    cell.text_for_people.as_str(),
                    style_of_rating(cell.value_rating),
                )
            });
            put!(text, "{}\n", line(&mut cells));
        }
    }

    fn push_as_markdown(&self, text: &mut String) {
        if !self.title.is_empty() {
            put!(text, "**{}**\n\n", escape_markdown(&self.title));
        }
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            text.push('|');
            for cell in cells {
                // Blanks for alignment are removed.
                let cell = cell.split_whitespace().collect::<Vec<_>>().join(" ");
                put!(text, " {cell} |");
            }
            text.push('\n');
        };
        line(&mut self.columns.iter().map(|column| column.heading.clone()));
        line(&mut self.columns.iter().map(|column| {
            let rule = if column.is_number { "---:" } else { "---" };
            rule.to_owned()
        }));
        for row in &self.rows {
            line(
                &mut row
                    .iter()
                    .map(|cell| escape_markdown(&cell.text_for_people)),
            );
        }
    }

    /// Returns the table as HTML that the reader of the page can sort and save. Of a long table, only the first `shown` rows are
    /// visible until the reader unfolds it.
    pub fn to_html(&self, shown: usize) -> String {
        let mut html = String::new();
        if !self.title.is_empty() {
            put!(html, "<h3>{}</h3>\n", escape_html(&self.title));
        }
        put!(
            html,
            "<div class=\"wide\"><table class=\"sortable\" data-name=\"{}\" data-shown=\"{shown}\">\n<thead><tr>",
            self.name_for_programs
        );
        for column in &self.columns {
            let class = if column.is_number {
                ""
            } else {
                " class=\"words\""
            };
            let heading = escape_html(&column.heading);
            put!(html, "<th scope=\"col\"{class}>{heading}</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            let cells: String = row
                .iter()
                .zip(&self.columns)
                .map(|(cell, column)| cell.to_html(column))
                .collect();
            put!(html, "<tr>{cells}</tr>\n");
        }
        html.push_str("</tbody>\n</table></div>\n");
        html
    }

    /// Returns the table as CSV; the first line contains the names of the columns for programs.
    pub fn to_csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let plain = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => protect_formula_like_text(text).into_owned(),
            other => other.to_string(),
        };
        let head = out.write_record(self.columns.iter().map(|column| column.name_for_programs));
        self.rows
            .iter()
            .map(|row| row.iter().map(|cell| plain(&cell.value_for_programs)))
            .fold(head, |done, row| done.and_then(|()| out.write_record(row)))
            .expect("memory can be written to");
        String::from_utf8(out.into_inner().expect("memory can be written to")).expect("it was text")
    }

    fn to_json(&self) -> Value {
        let keys = || {
            self.columns
                .iter()
                .map(|column| column.name_for_programs.to_owned())
        };
        self.rows
            .iter()
            .map(|row| {
                let values = row.iter().map(|cell| cell.value_for_programs.clone());
                Value::Object(keys().zip(values).collect())
            })
            .collect()
    }
}

fn escape_markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' => plain.extend(['\\', letter]),
            other => plain.push(other),
        }
    }
    plain
}

fn style_of_rating(tone: ValueRating) -> Style {
    match tone {
        ValueRating::Plain => Style::new(),
        ValueRating::Good => AnsiColor::Green.on_default(),
        ValueRating::Bad => AnsiColor::Red.on_default(),
    }
}

impl Sheet {
    /// Adds a line of text, which the formats for people (aligned columns, Markdown) show and CSV and JSON omit.
    pub fn add_line(&mut self, line: impl Into<String>) {
        self.lines_and_tables.push(SheetPart::Line(
            escape_control_characters(&line.into()).into_owned(),
        ));
    }

    /// Adds a table that all formats contain.
    pub fn add_table(&mut self, table: Table) {
        self.lines_and_tables.push(SheetPart::Table(table));
    }

    /// Adds a table that only the formats for programs (CSV and JSON) contain.
    pub fn add_table_for_programs(&mut self, table: Table) {
        self.lines_and_tables
            .push(SheetPart::TableForPrograms(table));
    }

    /// Formats all lines and tables in the given format; the text ends with a line end.
    pub fn render(&self, form: OutputForm) -> String {
        let tables = self.lines_and_tables.iter().filter_map(|part| match part {
            SheetPart::Table(table) | SheetPart::TableForPrograms(table) => Some(table),
            SheetPart::Line(_) => None,
        });
        match form {
            OutputForm::Table | OutputForm::Markdown => self.to_text(form),
            OutputForm::Csv => tables.map(Table::to_csv).collect::<Vec<_>>().join("\n"),
            OutputForm::Json => {
                let tables =
                    tables.map(|table| (table.name_for_programs.to_owned(), table.to_json()));
                format!("{:#}\n", Value::Object(tables.collect::<Map<_, _>>()))
            }
        }
    }

    /// Returns the lines and tables as HTML. Of each long table, only the first `shown` rows are visible until the reader unfolds
    /// it.
    pub fn to_html(&self, shown: usize) -> String {
        let html = self.lines_and_tables.iter().map(|part| match part {
            SheetPart::Line(line) if line.trim().is_empty() => String::new(),
            SheetPart::Line(line) => {
                format!("<p>{}</p>\n", sentence_html(without_colours(line).trim()))
            }
            SheetPart::Table(table) => table.to_html(shown),
            SheetPart::TableForPrograms(_) => String::new(),
        });
        html.collect()
    }

    fn to_text(&self, form: OutputForm) -> String {
        let mut text = String::new();
        for part in &self.lines_and_tables {
            match part {
                SheetPart::Line(line) if form == OutputForm::Markdown => {
                    text.push_str(&escape_markdown(line.trim_end()));
                    text.push('\n');
                }
                SheetPart::Line(line) => {
                    text.push_str(line.trim_end());
                    text.push('\n');
                }
                SheetPart::Table(table) if form == OutputForm::Markdown => {
                    // Without an empty line, a table would be read as a part of the line before it.
                    if !text.is_empty() && !text.ends_with("\n\n") {
                        text.push('\n');
                    }
                    table.push_as_markdown(&mut text);
                    text.push('\n');
                }
                SheetPart::Table(table) => table.push_as_aligned_columns(&mut text),
                SheetPart::TableForPrograms(_) => {}
            }
        }
        if form == OutputForm::Markdown {
            while text.contains("\n\n\n") {
                text = text.replace("\n\n\n", "\n\n");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }
}

/// Removes the escape codes for terminal colours from a text.
pub fn without_colours(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut table = Table::new(
            "hosts",
            "Hosts",
            &[
                text_column("name", "name"),
                number_column("speed [GHz]", "speed_hz"),
                text_column("of", "owner"),
            ],
        );
        table.push_row([
            Cell::text("a|b"),
            Cell::from_value_and_text(1.5e9, "1.5"),
            Cell::text("x, y"),
        ]);
        table.push_row([Cell::text("longer ü"), Cell::empty(), Cell::text("z")]);
        table.push_row([
            Cell::text("c"),
            Cell::from_value_and_text(0.1 + 0.2, "0.3").with_rating(ValueRating::Good),
            Cell::empty(),
        ]);
        let mut sheet = Sheet::default();
        sheet.add_line("A line");
        sheet.add_table(table);
        sheet
    }

    #[test]
    fn columns_are_aligned_by_letters_and_lines_have_no_blanks_at_their_ends() {
        let text = without_colours(&sheet().render(OutputForm::Table));
        let expected = "A line\nHosts\nname      speed [GHz]  of\na|b               1.5  x, y\nlonger ü               z\nc                 0.3\n";
        assert_eq!(text, expected);
        assert!(sheet().render(OutputForm::Table).contains("\u{1b}[32m0.3"));
    }

    #[test]
    fn markdown_has_a_rule_and_no_stray_bars() {
        let expected = "A line\n\n**Hosts**\n\n| name | speed [GHz] | of |\n| --- | ---: | --- |\n| a\\|b | 1.5 | x, y |\n| longer ü |  | z |\n| c | 0.3 |  |\n";
        assert_eq!(sheet().render(OutputForm::Markdown), expected);
    }

    #[test]
    fn programs_get_exact_values_and_empty_cells_for_missing_ones() {
        let expected =
            "name,speed_hz,owner\na|b,1500000000.0,\"x, y\"\nlonger ü,,z\nc,0.30000000000000004,\n";
        assert_eq!(sheet().render(OutputForm::Csv), expected);
        let json: Value = serde_json::from_str(&sheet().render(OutputForm::Json)).unwrap();
        assert_eq!(json["hosts"][2]["speed_hz"], 0.1 + 0.2);
        assert_eq!(json["hosts"][1]["speed_hz"], Value::Null);
        assert_eq!(json["hosts"][0]["owner"], "x, y");
    }
}
