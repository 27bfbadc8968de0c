//! Common parts of the figures of a sweep: sizes, labels, types of the drawing library.

use plotters::coord::Shift;
use plotters::prelude::*;

/// The most values of a parameter that are drawn one by one.
pub(super) const MOST_VALUES: usize = 24;

/// The width and height of a panel in pixels.
pub(super) const PANEL: (u32, u32) = (420, 320);

/// Whether something could be drawn.
pub(super) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A place to draw in.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The label at a place of an axis.
pub(super) fn named(labels: &[String], at: &SegmentValue<usize>) -> String {
    match at {
        SegmentValue::CenterOf(at) | SegmentValue::Exact(at) => {
            labels.get(*at).cloned().unwrap_or_default()
        }
        SegmentValue::Last => String::new(),
    }
}

/// How many pixels or panels.
pub(super) fn pixels(count: usize) -> u32 {
    u32::try_from(count).expect("a small picture")
}
