//! Draws the axes of charts, with labelled ticks at round numbers whose labels do not overlap, and the legends of charts.

use super::{
    drawing::{
        AXIS_COLOUR, BLACK, Colour, Drawing, GRID_COLOUR, Mark, TextAlignment, shorten_to_width,
    },
    font,
    style::FigureStyle,
};

/// Width of the line of an axis \[pt\].
const AXIS_LINE_WIDTH: f64 = 0.6;
/// Width of a curve \[pt\].
pub(super) const CURVE_WIDTH: f64 = 1.2;
/// Width of a grid line \[pt\].
const GRID_LINE_WIDTH: f64 = 0.4;

/// An axis of a chart: the range of the quantity that it shows, and the positions of its ends in the drawing.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    /// Low end and high end of the range.
    pub range: (f64, f64),
    is_logarithmic: bool,
    /// Positions of the low end and the high end of the axis in the drawing \[pt\].
    ends: (f64, f64),
}

pub(crate) fn min_and_max(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |bounds, value| {
        let (least, most) = bounds.unwrap_or((value, value));
        Some((least.min(value), most.max(value)))
    })
}

impl Axis {
    pub(super) fn new(values: impl Iterator<Item = f64>, is_log: bool, ends: (f64, f64)) -> Self {
        let finite = values.filter(|value| value.is_finite() && (!is_log || *value > 0.0));
        let (low, high) = min_and_max(finite).unwrap_or((1.0, 2.0));
        let range = if is_log {
            let edge = (high / low).powf(0.05).max(1.05);
            (low / edge, high * edge)
        } else {
            let edge = (0.05 * (high - low)).max(1e-3 * high.abs()).max(1e-9);
            (low - edge, high + edge)
        };
        Self {
            range,
            is_logarithmic: is_log,
            ends,
        }
    }

    fn linear(range: (f64, f64), ends: (f64, f64)) -> Self {
        Self {
            range,
            is_logarithmic: false,
            ends,
        }
    }

    pub(super) fn from_zero(values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Self {
        let high = values.fold(0.0, f64::max);
        Self::linear((0.0, if high > 0.0 { high } else { 1.0 }), ends)
    }

    fn from_range((low, high): (f64, f64), ends: (f64, f64)) -> Self {
        let is_range = low < high;
        Self::linear(
            if is_range {
                (low, high)
            } else {
                (low - 0.5, low + 0.5)
            },
            ends,
        )
    }

    pub(super) fn from_values(values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Self {
        Self::from_range(min_and_max(values).unwrap_or((0.0, 1.0)), ends)
    }

    /// Returns a copy of this axis whose low end and high end have the positions `ends` \[pt\].
    pub(super) fn with_ends(self, ends: (f64, f64)) -> Self {
        Self { ends, ..self }
    }

    pub(super) fn position_of(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let share = if self.is_logarithmic {
            (value / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }

    fn ticks(&self, gap: f64, style: &FigureStyle) -> Vec<(f64, String)> {
        let most = ((self.ends.1 - self.ends.0).abs() / gap).floor().max(1.0);
        let values = if self.is_logarithmic && self.range.1 / self.range.0 >= 4.0 {
            self.powers_of_ten(most)
        } else {
            self.multiples_of_round_step(most)
        };
        let label = |value: f64| style.localise_decimal_mark(&format_decimal_number(value));
        values
            .into_iter()
            .map(|value| (value, label(value)))
            .collect()
    }

    /// Lists the multiples of a round step (1, 2 or 5 times a power of ten) within the range of the axis. The step is chosen such
    /// that there are about `most` multiples.
    fn multiples_of_round_step(&self, most: f64) -> Vec<f64> {
        let rough = (self.range.1 - self.range.0) / most;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0]
            .into_iter()
            .find(|factor| factor * power >= rough)
            .unwrap_or(10.0)
            * power;
        let mut values = Vec::new();
        let mut count = (self.range.0 / step).ceil();
        while count * step <= self.range.1 + 1e-9 * step && values.len() < 50 {
            // In floats, 3 · 0.1 is 0.30000000000000004.
            values.push(round_multiple(count * step, step));
            count += 1.0;
        }
        values
    }

    fn powers_of_ten(&self, most: f64) -> Vec<f64> {
        let choices = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(|factors| -> Vec<f64> {
            let mut values = Vec::new();
            let mut power = self.range.0.log10().floor();
            while power <= self.range.1.log10().ceil() {
                values.extend(factors.iter().map(|factor| factor * 10_f64.powf(power)));
                power += 1.0;
            }
            values.retain(|value| (self.range.0..=self.range.1).contains(value));
            values
        });
        let fewest = choices
            .iter()
            .find(|values| values.len() as f64 <= most)
            .unwrap_or(&choices[2]);
        let each = (fewest.len() as f64 / most).ceil().max(1.0);
        fewest.iter().copied().step_by(whole_number(each)).collect()
    }

    fn vertical_ticks(&self, style: &FigureStyle) -> Vec<(f64, String)> {
        self.ticks(2.2 * style.font_size, style)
    }

    /// Computes the width of the widest tick label if this axis is drawn vertically \[pt\].
    pub(super) fn label_width(&self, drawing: &Drawing) -> f64 {
        let ticks = self.vertical_ticks(&drawing.style);
        drawing.widest(ticks.iter().map(|(_, label)| label))
    }

    pub(super) fn draw_vertical(&self, drawing: &mut Drawing, x: f64, right: f64) {
        for (value, label) in self.vertical_ticks(&drawing.style) {
            let y = self.position_of(value);
            drawing.add_line((x, y), (right, y), (GRID_COLOUR, GRID_LINE_WIDTH));
            let below = y + 0.35 * drawing.style.font_size;
            drawing.add_text((x - 3.0, below), TextAlignment::End, &label, BLACK);
        }
        let (from, to) = self.ends;
        drawing.add_line((x, from), (x, to), (AXIS_COLOUR, AXIS_LINE_WIDTH));
    }

    pub(super) fn draw_vertical_grid_lines(&self, drawing: &mut Drawing, top: f64, bottom: f64) {
        for (value, _) in self.horizontal_ticks(drawing.edges(), &drawing.style) {
            let x = self.position_of(value);
            drawing.add_line((x, top), (x, bottom), (GRID_COLOUR, GRID_LINE_WIDTH));
        }
    }

    /// Returns the ticks of this axis if it is drawn horizontally, with a distance at which their labels do not touch. Labels
    /// stay between the positions `edges` \[pt\].
    fn horizontal_ticks(&self, edges: (f64, f64), style: &FigureStyle) -> Vec<(f64, String)> {
        let size = style.font_size;
        let width = |tick: &(f64, String)| font::text_width(&tick.1, size);
        let middle = |tick: &(f64, String)| {
            let half = width(tick) / 2.0;
            let most = (edges.1 - half).max(edges.0 + half);
            self.position_of(tick.0).clamp(edges.0 + half, most)
        };
        let mut gap = 2.5 * size;
        for _ in 0..12 {
            let ticks = self.ticks(gap, style);
            if !ticks.windows(2).any(|pair| {
                let room = (middle(&pair[1]) - middle(&pair[0])).abs();
                room < pair.iter().map(width).sum::<f64>() / 2.0 + 0.7 * size
            }) {
                return ticks;
            }
            gap *= 1.25;
        }
        Vec::new()
    }

    /// Draws this axis horizontally at the height `y`, with tick labels and title below it; returns the vertical position of its
    /// lower end \[pt\].
    pub(super) fn draw_horizontal(&self, drawing: &mut Drawing, y: f64, title: &str) -> f64 {
        let size = drawing.style.font_size;
        let pen = (AXIS_COLOUR, AXIS_LINE_WIDTH);
        drawing.add_line((self.ends.0, y), (self.ends.1, y), pen);
        let edges = drawing.edges();
        for (value, label) in self.horizontal_ticks(edges, &drawing.style) {
            let x = self.position_of(value);
            drawing.add_line((x, y), (x, y + 2.5), pen);
            drawing.add_label_between((x, y + 3.5 + 0.8 * size), &label, edges, f64::INFINITY);
        }
        let middle = f64::midpoint(self.ends.0, self.ends.1);
        drawing.add_lower_title((middle, y + 3.5 + 2.1 * size), title);
        y + (3.5 + 2.4 * size)
    }
}

/// Draws a colour bar with its scale, from the smallest to the largest value of `range`, and its title at the top of the drawing.
/// Returns the position of its lower end \[pt\].
pub(super) fn draw_colour_bar(drawing: &mut Drawing, title: &str, range: (f64, f64)) -> f64 {
    const STEPS: usize = 48;
    let size = drawing.style.font_size;
    let ends = (size, drawing.width - size);
    let step = (ends.1 - ends.0) / STEPS as f64;
    for index in 0..STEPS {
        let colour = viridis_colour((index as f64 + 0.5) / STEPS as f64);
        let x = ends.0 + index as f64 * step;
        // Each step is a little wider than its part, so that there is no gap between two steps.
        let width = if index + 1 == STEPS { step } else { step + 0.3 };
        drawing.add_rectangle((x, 2.0), (width, 0.7 * size), colour);
    }
    Axis::from_range(range, ends).draw_horizontal(drawing, 2.0 + 0.7 * size, title) + 0.6 * size
}

/// Returns ticks at about `most` round numbers from 0 to `high`: the value and the label of each tick.
pub fn round_ticks(high: f64, most: u32) -> Vec<(f64, String)> {
    Axis::from_range((0.0, high), (0.0, f64::from(most))).ticks(1.0, &FigureStyle::default())
}

pub(super) fn format_decimal_number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Rounds a computed multiple of `step` such that its decimal notation has no error of floating-point multiplication (3 · 0.1
/// becomes 0.3).
fn round_multiple(value: f64, step: f64) -> f64 {
    let digits = 10_f64.powf((2.0 - step.log10().floor()).clamp(-300.0, 300.0));
    let rounded = (value * digits).round() / digits;
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// The symbol that stands before a name in a legend.
pub(super) enum LegendSymbol {
    /// The mark of a data point; the second value tells whether the mark is filled.
    Mark(Mark, bool),
    Area,
    /// A line with dashes of this length \[pt\]; 0 for a solid line.
    Line(f64),
}

/// Draws a legend downwards from the vertical position `top`, on as many lines as it needs; returns the position of its lower end
/// \[pt\]. An entry is the name of a data series, its colour, and the symbol before the name.
pub(super) fn draw_legend<'n>(
    drawing: &mut Drawing,
    entries: impl Iterator<Item = (&'n str, Colour, LegendSymbol)>,
    top: f64,
) -> f64 {
    let size = drawing.style.font_size;
    let mut x = 1.0;
    let mut y = top + 0.85 * size;
    let mut end = top;
    for (name, colour, symbol) in entries {
        let most = drawing.width - 1.5 * size - 2.0;
        let width = 1.3 * size + font::text_width(&shorten_to_width(name, size, most), size);
        if x > 1.0 && x + width > drawing.width - 1.0 {
            x = 1.0;
            y += 1.3 * size;
        }
        let middle = (x + 0.45 * size, y - 0.3 * size);
        match symbol {
            LegendSymbol::Mark(mark, filled) => {
                drawing.add_mark(mark, middle, drawing.mark_radius(), colour, filled);
            }
            LegendSymbol::Area => drawing.add_rectangle(
                (middle.0 - 0.4 * size, middle.1 - 0.35 * size),
                (0.8 * size, 0.7 * size),
                colour,
            ),
            LegendSymbol::Line(dash) => {
                let ends = [-0.45, 0.6].map(|part| (middle.0 + part * size, middle.1));
                drawing.add_dashed_path(ends.to_vec(), (colour, CURVE_WIDTH), dash);
            }
        }
        drawing.add_label((x + 1.15 * size, y), TextAlignment::Start, name, most);
        x += width + 1.2 * size;
        end = y + 0.6 * size;
    }
    end
}

/// Draws the labels of the rows of a map, left of its lower left corner `(left, bottom)` and above; each row has the height
/// `pitch` \[pt\].
pub(super) fn draw_row_labels(
    drawing: &mut Drawing,
    labels: &[String],
    (left, bottom): (f64, f64),
    pitch: f64,
) {
    let size = drawing.style.font_size;
    let each = label_interval(1.1 * size, pitch);
    for (row, label) in labels.iter().enumerate().step_by(each) {
        let y = bottom - (row as f64 + 0.5) * pitch + 0.35 * size;
        drawing.add_label((left - 3.0, y), TextAlignment::End, label, left - 5.0);
    }
}

/// Draws the labels of the columns of a map below its lower left corner and to the right; each column has the width `pitch`
/// \[pt\].
pub(super) fn draw_column_labels(
    drawing: &mut Drawing,
    labels: &[String],
    (left, bottom): (f64, f64),
    pitch: f64,
) {
    let size = drawing.style.font_size;
    let each = label_interval(drawing.widest(labels.iter()) + 0.5 * size, pitch);
    let edges = (0.0, drawing.width);
    let most = (each as f64 * pitch).max(3.0 * size);
    for (column, label) in labels.iter().enumerate().step_by(each) {
        let at = (left + (column as f64 + 0.5) * pitch, bottom + 1.1 * size);
        drawing.add_label_between(at, label, edges, most);
    }
}

/// Computes the smallest n such that every n-th label can be drawn without overlap, if a label needs the length `needed` and
/// neighbouring labels have the distance `pitch` \[pt\].
pub(super) fn label_interval(needed: f64, pitch: f64) -> usize {
    whole_number((needed / pitch).ceil()).max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small count"
)]
fn whole_number(value: f64) -> usize {
    value as usize
}

/// Returns a colour of the colour map viridis (Smith and van der Walt 2015) for a value `share` from 0 (dark) to 1 (light). The
/// brightness of the map increases evenly, so that it is readable in greyscale.
pub fn viridis_colour(share: f64) -> Colour {
    const STEPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = share.clamp(0.0, 1.0) * 4.0;
    let step = whole_number(place).min(3);
    let within = place - step as f64;
    let [red, green, blue] = [0, 1, 2].map(|channel| {
        let from = STEPS[step][channel];
        let to = STEPS[step + 1][channel];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 255"
        )]
        let value = (from + within * (to - from)).round() as u8;
        value
    });
    Colour(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis) -> Vec<String> {
        let ticks = axis.horizontal_ticks((f64::MIN, f64::MAX), &FigureStyle::default());
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_do_not_touch() {
        let axis = Axis::new([-4.8, 9.3].into_iter(), false, (0.0, 180.0));
        assert_eq!(labels(axis), ["−4", "−2", "0", "2", "4", "6", "8", "10"]);
        let axis = Axis::new([1.5, 2400.0].into_iter(), true, (0.0, 180.0));
        assert_eq!(
            labels(axis),
            ["3", "10", "30", "100", "300", "1000", "3000"]
        );
        let equal = Axis::new([3.0, 3.0].into_iter(), false, (0.0, 180.0));
        assert!(!labels(equal).is_empty());
    }

    #[test]
    fn numbers_are_plain_unless_they_are_long() {
        let texts = [0.0, 0.25, 1500.0, 1e-7, 2e9].map(format_decimal_number);
        assert_eq!(texts, ["0", "0.25", "1500", "1e-7", "2e9"]);
    }
}
