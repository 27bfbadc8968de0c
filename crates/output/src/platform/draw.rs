//! Draws a platform as SVG: its clusters on a circle with the routes between them as lines, or a tree of zones as nested boxes.

use std::fmt::Write as _;

use super::super::svg::{escape_svg, open_svg, stroke_width};
use super::{RouteProperties, tree};
use migsim_base::quantities::{format_data_rate, format_duration, format_speed};
use migsim_base::units::{BytesPerSecond, ClusterId};
use migsim_base::words::format_count;
use migsim_platform::Platform;

/// Maximum number of clusters that are drawn on the circle. The constant `MOST_LABELS` is the maximum number of routes that have
/// labels.
const MAX_DRAWN_CLUSTERS: usize = 24;
const MOST_LABELS: usize = 15;

const BOX: (f64, f64) = (150.0, 58.0);

/// Returns a drawing of a platform as SVG. Of many clusters only the first are drawn and the others are counted; of several equal
/// zones, only the first are drawn.
pub fn platform_svg(platform: &Platform) -> String {
    tree::zone_tree_svg(platform).unwrap_or_else(|| clusters_on_circle(platform))
}

/// Draws the clusters on a circle, with the routes between them as lines, as SVG.
fn clusters_on_circle(platform: &Platform) -> String {
    let shown = platform.clusters.len().min(MAX_DRAWN_CLUSTERS);
    let left_out = platform.clusters.len() - shown;
    let radius = if shown > 1 {
        250.0 + 16.0 * shown as f64
    } else {
        0.0
    };
    let (width, height) = (2.0 * radius + BOX.0 + 40.0, 2.0 * radius + BOX.1 + 80.0);
    let centre = (width / 2.0, height / 2.0 + 20.0);
    let place = |index: usize| {
        let turn = std::f64::consts::TAU * (index as f64 / shown as f64 - 0.25);
        (
            centre.0 + radius * turn.cos(),
            centre.1 + radius * turn.sin(),
        )
    };
    let mut svg = open_svg(width, height, &platform.name);
    let mut title = format!(
        "{}: {} in {}",
        platform.name,
        format_count(platform.hosts.len(), "host"),
        format_count(platform.clusters.len(), "cluster")
    );
    if left_out > 0 {
        write!(title, ", the first {shown} of them").expect("a string can be written to");
    }
    writeln!(
        svg,
        "<text x=\"20\" y=\"28\" font-size=\"17\" font-weight=\"bold\">{}</text>",
        escape_svg(&title)
    )
    .expect("a string can be written to");
    let mut labels = String::new();
    let has_labels = shown * shown.saturating_sub(1) / 2 <= MOST_LABELS;
    for from in 0..shown {
        for to in from + 1..shown {
            draw_route(
                platform,
                (from, to),
                (place(from), place(to)),
                has_labels,
                &mut svg,
                &mut labels,
            );
        }
    }
    svg += &labels;
    for index in 0..shown {
        draw_cluster(platform, index, place(index), &mut svg);
    }
    svg += "</svg>\n";
    svg
}

/// Draws the route between two clusters as a line, which is wider for a higher bandwidth. If `has_label` is true, the route also
/// gets a label. `a` and `b` are the positions of the clusters.
fn draw_route(
    platform: &Platform,
    (from, to): (usize, usize),
    (a, b): ((f64, f64), (f64, f64)),
    has_label: bool,
    svg: &mut String,
    labels: &mut String,
) {
    let manager = |index: usize| platform.manager_host(ClusterId::from_index(index));
    let Some(way) = RouteProperties::between_hosts(platform, manager(from), manager(to)) else {
        return;
    };
    let bandwidth = way.bandwidth.map_or(0.0, BytesPerSecond::get);
    let stroke = stroke_width(bandwidth);
    let name = |index: usize| escape_svg(&platform.clusters[index].name);
    let numbers = match way.bandwidth {
        Some(bandwidth) => format!(
            "{}, {}",
            format_duration(way.latency.get()),
            format_data_rate(bandwidth.get())
        ),
        None => format_duration(way.latency.get()),
    };
    writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#0072b2\" stroke-opacity=\"0.6\" stroke-width=\"{stroke:.1}\"><title>{} - {}: {numbers}</title></line>",
        a.0, a.1, b.0, b.1, name(from), name(to)
    )
    .expect("a string can be written to");
    if has_label {
        // The label of a line through the inside is kept away from the points where lines cross.
        let is_outside = to - from == 1 || to - from + 1 == platform.clusters.len();
        let share = if is_outside { 0.5 } else { 0.27 };
        let at = (a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1));
        writeln!(
            labels,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" class=\"label\">{numbers}</text>",
            at.0,
            at.1 + 4.0
        )
        .expect("a string can be written to");
    }
}

/// Draws a cluster as a box that contains its name, the number of its hosts and their speeds.
fn draw_cluster(platform: &Platform, index: usize, (x, y): (f64, f64), svg: &mut String) {
    let cluster = &platform.clusters[index];
    let hosts = &platform.hosts[cluster.hosts.start as usize..cluster.hosts.end as usize];
    let speeds = hosts.iter().map(|host| host.speed.get());
    let (slowest, fastest) = speeds.fold((f64::INFINITY, 0.0_f64), |(low, high), speed| {
        (low.min(speed), high.max(speed))
    });
    let speeds = match hosts.len() {
        0 => String::new(),
        _ if slowest == fastest => format_speed(slowest),
        _ => format!("{} to {}", format_speed(slowest), format_speed(fastest)),
    };
    let cores: u64 = hosts.iter().map(|host| u64::from(host.cores)).sum();
    let (left, top) = (x - BOX.0 / 2.0, y - BOX.1 / 2.0);
    writeln!(
        svg,
        "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{}\" height=\"{}\" rx=\"8\" class=\"cluster\"/>",
        BOX.0, BOX.1
    )
    .expect("a string can be written to");
    let shortened: String = match cluster.name.char_indices().nth(18) {
        Some((end, _)) => format!("{}…", &cluster.name[..end]),
        None => cluster.name.clone(),
    };
    let size = format!(
        "{}, {}",
        format_count(hosts.len(), "host"),
        format_count(usize::try_from(cores).unwrap_or(usize::MAX), "core")
    );
    for (line, (text, weight)) in [(shortened, "bold"), (size, "normal"), (speeds, "normal")]
        .into_iter()
        .enumerate()
    {
        writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"12\" font-weight=\"{weight}\" text-anchor=\"middle\">{}</text>",
            top + 18.0 + 16.0 * line as f64,
            escape_svg(&text)
        )
        .expect("a string can be written to");
    }
}
