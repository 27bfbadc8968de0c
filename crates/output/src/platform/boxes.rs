//! Draws nested boxes with texts, and lines between boxes that are side by side, as SVG.
//!
//! ```text
//! ┌ name ───────────────────────┐
//! │ ┌──────┐ ┌──────┐ ┌──────┐  │   boxes in a row,
//! │ └──┬─┬─┘ └──┬───┘ └───┬──┘  │
//! │    │ └─1 ms─┘         │     │   lines below them, each at its own height, the shortest first:
//! │    └──────5 ms────────┘     │   no two texts overlap
//! └─────────────────────────────┘
//! ```

use super::format_names;
use crate::svg::{escape_svg, open_svg, stroke_width};
use migsim_base::words::format_count;

/// Sizes in the drawing \[px\]: the padding of a box and the gap between two boxes, the font size and the height of a line in a
/// box, the distance of connecting lines and the font size of their labels.
const BOX_PADDING: f64 = 12.0;
const GAP: f64 = 22.0;
const FONT_SIZE: f64 = 12.0;
const LINE: f64 = 16.0;
const CONNECTION_SPACING: f64 = 22.0;
const LABEL: f64 = 11.0;
/// Maximum width of a text in a box \[px\]; a longer text is shortened.
const MAX_TEXT_WIDTH: f64 = 300.0;
const LEAST_WIDTH: f64 = 100.0;
/// Ratio of the width of bold letters to the width of normal letters of the same font size.
const BOLD_RATIO: f64 = 1.1;
/// Space around the outermost box, height of the title above this box, and font size of the title \[px\].
const MARGIN: f64 = 20.0;
const TITLE_HEIGHT: f64 = 44.0;
const TITLE_LETTERS: f64 = 17.0;
/// Maximum number of lines that connect the boxes in a box.
const MAX_CONNECTIONS: usize = 15;
/// Height of the cell of a host, distance of two lines of cells, and space for the number of processes of a cluster \[px\].
const CELL_HEIGHT: f64 = 18.0;
const CELL_SPACING: f64 = 22.0;
const COUNT_WIDTH: f64 = 100.0;

/// A box that represents a zone of the platform: lines of text, inner boxes side by side, and lines that connect the inner boxes.
#[derive(Default)]
pub(crate) struct NestedBox {
    /// Lines of text at the top of the box; the first line is the name of the box.
    pub text_lines: Vec<String>,
    /// Text of the tooltip that appears when the mouse pointer is over the box.
    pub tooltip: String,
    /// Whether the box represents all zones that are not drawn one by one because there are too many of them.
    pub is_summary_of_zones: bool,
    pub inner_boxes: Vec<NestedBox>,
    pub connections: Vec<Connection>,
    /// Text at the lower edge of the box, below the lines that connect the inner boxes; `None` if the box has no such text.
    pub remark: Option<String>,
    pub cells: Option<HostCells>,
}

/// The hosts of a cluster as cells, which the page of a report fills with processes. The page knows the cluster and each host by
/// an index.
pub(crate) struct HostCells {
    pub cluster: usize,
    pub hosts: Vec<(usize, String)>,
    pub cell_width: f64,
}

/// A line that connects two inner boxes of the same box; the left box is its first end.
pub(crate) struct Connection {
    box_indices: [usize; 2],
    label: String,
    tooltip: String,
    /// Tooltips about the gateways at the left end and at the right end of the line; `None` if there is no gateway at this end.
    pub gateway_tooltips: [Option<String>; 2],
    /// Width with which the line is drawn \[px\].
    stroke_width: f64,
}

impl Connection {
    pub(crate) fn new<'n>(
        box_indices: [usize; 2],
        label: String,
        bandwidth: Option<f64>,
        links: impl ExactSizeIterator<Item = &'n str>,
    ) -> Self {
        Self {
            box_indices,
            tooltip: format!("{label}: {}", format_names(links)),
            label,
            gateway_tooltips: [None, None],
            stroke_width: stroke_width(bandwidth.unwrap_or(0.0)),
        }
    }
}

impl HostCells {
    /// Writes the stripe and the place for the number of processes of a cluster whose box has the corner `(left, top)`, and the
    /// cells from `y` downwards \[px\].
    fn draw(&self, (left, top): (f64, f64), (width, height): (f64, f64), y: f64, svg: &mut String) {
        put!(
            svg,
            "<g data-cluster=\"{}\"><rect class=\"swatch\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"6\" height=\"{height:.1}\" rx=\"3\"/><text class=\"count\" x=\"{:.1}\" y=\"{:.1}\"></text>\n",
            self.cluster,
            left + width - 8.0,
            top + BOX_PADDING + FONT_SIZE - 1.0
        );
        for (at, (index, name)) in self.hosts.iter().enumerate() {
            let x = left + BOX_PADDING + (at % self.hosts_per_line()) as f64 * self.cell_width;
            let y = y + (at / self.hosts_per_line()) as f64 * CELL_SPACING;
            put!(
                svg,
                "<g class=\"host\" data-host=\"{index}\"><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{CELL_HEIGHT}\" rx=\"2\"/><text x=\"{:.1}\" y=\"{:.1}\"></text></g>\n",
                escape_svg(name),
                self.cell_width - 3.0,
                x + (self.cell_width - 3.0) / 2.0,
                y + 13.0
            );
        }
        *svg += "</g>\n";
    }

    fn hosts_per_line(&self) -> usize {
        let is_flat = |count: &usize| count * count >= 2 * self.hosts.len();
        (6..=self.hosts.len()).find(is_flat).unwrap_or(6)
    }
}

/// Estimates an upper bound of the width of a text \[px\] at the font size `letters` \[px\], for any font that the reader may
/// have.
fn estimate_width(text: &str, letters: f64) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ' ' | '\'' | '|' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        'A'..='Z' => 0.78,
        ' '..='~' => 0.66,
        _ => 1.0,
    };
    letters * text.chars().map(of).sum::<f64>()
}

/// Shortens a text by an ellipsis at its end if it is wider than [`MAX_TEXT_WIDTH`] at the font size `letters` \[px\].
fn shorten_to_max_width(text: &str, letters: f64) -> String {
    if estimate_width(text, letters) <= MAX_TEXT_WIDTH {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if estimate_width(&short, letters) > MAX_TEXT_WIDTH - 2.0 * letters {
            break;
        }
        short.push(letter);
    }
    short + "…"
}

impl NestedBox {
    /// Adds the lines that connect the inner boxes. Boxes that are close to each other are connected first; of too many lines,
    /// the rest is counted.
    pub(crate) fn connect(&mut self, mut connections: Vec<Connection>) {
        connections
            .sort_by_key(|line| (line.box_indices[1] - line.box_indices[0], line.box_indices));
        let left_out = connections.len().saturating_sub(MAX_CONNECTIONS);
        self.remark = (left_out > 0).then(|| {
            let pairs = format_count(left_out, "more pair");
            format!("and routes between {pairs} of boxes")
        });
        connections.truncate(MAX_CONNECTIONS);
        self.connections = connections;
    }

    pub(super) fn to_svg(&self, name: &str, size: &str) -> String {
        let title = format!("{}: {size}", shorten_to_max_width(name, TITLE_LETTERS));
        let (width, height) = self.width_and_height();
        let width = width.max(BOLD_RATIO * estimate_width(&title, TITLE_LETTERS));
        let mut svg = open_svg(width + 2.0 * MARGIN, height + TITLE_HEIGHT + MARGIN, name);
        put!(
            svg,
            "<text x=\"{MARGIN}\" y=\"28\" font-size=\"{TITLE_LETTERS}\" font-weight=\"bold\">{}</text>\n",
            escape_svg(&title)
        );
        self.draw((MARGIN, TITLE_HEIGHT), &mut svg);
        svg + "</svg>\n"
    }

    /// Computes the width and the height of the box, including its inner boxes \[px\].
    pub(crate) fn width_and_height(&self) -> (f64, f64) {
        let count = if self.cells.is_some() {
            COUNT_WIDTH
        } else {
            0.0
        };
        let name = self
            .text_lines
            .first()
            .map(|name| (name, BOLD_RATIO, count));
        let others = self.text_lines.iter().skip(1).chain(&self.remark);
        let texts = name
            .into_iter()
            .chain(others.map(|text| (text, 1.0, 0.0)))
            .map(|(text, wider, more)| {
                more + wider * estimate_width(&shorten_to_max_width(text, FONT_SIZE), FONT_SIZE)
            });
        let labels = self
            .connections
            .iter()
            .map(|way| estimate_width(&shorten_to_max_width(&way.label, LABEL), LABEL));
        let mut widest = texts.chain(labels).fold(LEAST_WIDTH, f64::max);
        if let Some(cells) = &self.cells {
            widest = widest.max(cells.hosts_per_line() as f64 * cells.cell_width);
        }
        let sizes = self.inner_boxes.iter().map(Self::width_and_height);
        let (wide, high) = sizes.fold((-GAP, 0.0_f64), |(wide, high), size| {
            (wide + GAP + size.0, high.max(size.1))
        });
        (
            widest.max(wide) + 2.0 * BOX_PADDING,
            self.header_height() + high + self.footer_height() + BOX_PADDING,
        )
    }

    /// Computes the height of the upper part of the box, which contains the lines of text and the cells above the inner boxes
    /// \[px\].
    fn header_height(&self) -> f64 {
        let lines = self
            .cells
            .iter()
            .map(|cells| cells.hosts.len().div_ceil(cells.hosts_per_line()));
        let space = if self.inner_boxes.is_empty() {
            0.0
        } else {
            6.0
        };
        self.height_of_texts() + CELL_SPACING * lines.sum::<usize>() as f64 + space
    }

    fn height_of_texts(&self) -> f64 {
        BOX_PADDING + LINE * self.text_lines.len() as f64
    }

    /// Computes the height of the lower part of the box, which contains the connecting lines and the remark below the inner boxes
    /// \[px\].
    fn footer_height(&self) -> f64 {
        let remark = if self.remark.is_some() { LINE } else { 0.0 };
        CONNECTION_SPACING * self.connections.len() as f64 + remark
    }

    /// Writes the box and its inner boxes to `svg`, with the upper left corner of the box at `(left, top)` \[px\].
    pub(crate) fn draw(&self, (left, top): (f64, f64), svg: &mut String) {
        let (width, height) = self.width_and_height();
        let look = match (self.is_summary_of_zones, self.inner_boxes.is_empty()) {
            (true, _) => "class=\"axis\" fill=\"none\" stroke-dasharray=\"4 3\"",
            (_, true) => "class=\"cluster\"",
            _ => "class=\"axis\" fill=\"none\"",
        };
        put!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"8\" {look}><title>{}</title></rect>\n",
            escape_svg(&self.tooltip)
        );
        for (index, line) in self.text_lines.iter().enumerate() {
            let weight = if index == 0 { "bold" } else { "normal" };
            let y = top + BOX_PADDING + LINE * index as f64 + FONT_SIZE - 1.0;
            write_svg_text(svg, left + BOX_PADDING, y, weight, line);
        }
        if let Some(cells) = &self.cells {
            cells.draw(
                (left, top),
                (width, height),
                top + self.height_of_texts(),
                svg,
            );
        }
        let mut x = left + BOX_PADDING;
        let below = top + self.header_height();
        let mut places = Vec::with_capacity(self.inner_boxes.len());
        for inner in &self.inner_boxes {
            let (wide, high) = inner.width_and_height();
            inner.draw((x, below), svg);
            places.push((x, wide, below + high));
            x += wide + GAP;
        }
        let lowest = places.iter().map(|place| place.2).fold(below, f64::max);
        self.draw_connecting_lines(
            left + BOX_PADDING,
            left + width - BOX_PADDING,
            lowest,
            &places,
            svg,
        );
        if let Some(remark) = &self.remark {
            let y = lowest + CONNECTION_SPACING * self.connections.len() as f64 + LINE - 4.0;
            write_svg_text(svg, left + BOX_PADDING, y, "normal", remark);
        }
    }

    /// Writes the connecting lines below the inner boxes to `svg`. `places` contains the left edge, the width and the lower edge
    /// of each inner box \[px\].
    fn draw_connecting_lines(
        &self,
        left: f64,
        right: f64,
        lowest: f64,
        places: &[(f64, f64, f64)],
        svg: &mut String,
    ) {
        let mut labels = String::new();
        for (index, way) in self.connections.iter().enumerate() {
            let ports = [0, 1].map(|end| self.connecting_line_start(index, end, places));
            let y = lowest + CONNECTION_SPACING * (index + 1) as f64 - 5.0;
            let [(a, from), (b, to)] = ports;
            put!(
                svg,
                "<path fill=\"none\" stroke=\"#0072b2\" stroke-opacity=\"0.6\" stroke-width=\"{:.1}\" d=\"M{a:.1} {from:.1}V{y:.1}H{b:.1}V{to:.1}\"><title>{}</title></path>\n",
                way.stroke_width,
                escape_svg(&way.tooltip)
            );
            for (gateway, (x, y)) in way.gateway_tooltips.iter().zip(ports) {
                if let Some(gateway) = gateway {
                    put!(
                        svg,
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#0072b2\"><title>{}</title></circle>\n",
                        escape_svg(gateway)
                    );
                }
            }
            let label = shorten_to_max_width(&way.label, LABEL);
            let half = estimate_width(&label, LABEL) / 2.0;
            let middle = f64::midpoint(a, b).min(right - half).max(left + half);
            put!(
                labels,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" font-size=\"{LABEL}\" text-anchor=\"middle\" class=\"label\">{}</text>\n",
                y - 5.0,
                escape_svg(&label)
            );
        }
        *svg += &labels;
    }

    /// Computes the point on the lower edge of an inner box at which the connecting line number `way` starts \[px\]. On each box,
    /// lines to boxes on the left start further left, and shorter lines start closer to the box at their other end, so that lines
    /// do not cross.
    fn connecting_line_start(
        &self,
        way: usize,
        end: usize,
        places: &[(f64, f64, f64)],
    ) -> (f64, f64) {
        let here = self.connections[way].box_indices[end];
        let mut ports: Vec<(bool, isize, usize)> = Vec::new();
        for (index, other) in self.connections.iter().enumerate() {
            if let Some(side) = other.box_indices.iter().position(|&at| at == here) {
                let depth = isize::try_from(index).unwrap_or_default();
                let is_right = side == 0;
                ports.push((is_right, if is_right { -depth } else { depth }, index));
            }
        }
        ports.sort_unstable();
        let rank = ports.iter().position(|port| port.2 == way).unwrap_or(0);
        let (left, wide, low) = places[here];
        let share = (rank + 1) as f64 / (ports.len() + 1) as f64;
        (left + wide * share, low)
    }
}

fn write_svg_text(svg: &mut String, x: f64, y: f64, weight: &str, line: &str) {
    put!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{FONT_SIZE}\" font-weight=\"{weight}\">{}</text>\n",
        escape_svg(&shorten_to_max_width(line, FONT_SIZE))
    );
}
