//! Assembles the HTML page of a report from a template and the data of the run.

use serde_json::{Value, json};

use super::{
    compress::ArrayPack,
    decisions,
    drawing::{self, HostIndices, hosts_in_index_order},
    gantt, head, natural_sort_key, notes,
    page_data::Report,
    path, reasons, scores, series, usage,
};
use crate::{
    frame::{Page, fill_template, script_element, sentence_html, settings_table},
    records::describe_scenario,
};

const BODY: &str = include_str!("report.html");

/// CSS styles of the report page: the first is inserted before the styles that all pages share, the second after these styles.
const STYLES: [&str; 2] = [
    include_str!("vendor/uPlot.min.css"),
    include_str!("report.css"),
];

/// Source text of the chart library uPlot. The constant `LICENCE` is its licence, `SCRIPTS` the scripts of the page in the order
/// of their dependencies.
const UPLOT_LIBRARY: &str = include_str!("vendor/uPlot.iife.min.js");
const LICENCE: &str = include_str!("vendor/LICENSE");
const SCRIPTS: [&str; 10] = [
    include_str!("base.js"),
    include_str!("export.js"),
    include_str!("gantt_paint.js"),
    include_str!("gantt_path.js"),
    include_str!("gantt.js"),
    include_str!("lines.js"),
    include_str!("usage.js"),
    include_str!("platform.js"),
    include_str!("decisions.js"),
    include_str!("report.js"),
];

impl Report {
    /// Returns the report as the text of one HTML file.
    pub fn to_html(&self) -> String {
        let hosts = index_used_hosts(self);
        let mut pack = ArrayPack::default();
        let mut facts = page_json_data(self, &hosts, &mut pack);
        let (directory, block) = pack.into_directory_and_base64();
        let library = library_with_licence();
        let code: Vec<&str> = std::iter::once(&*library).chain(SCRIPTS).collect();
        facts["arrays"] = directory;
        let lead = format!(
            "<p class=\"verdict\">{}</p>\n{}<noscript><p role=\"alert\">The charts and the table of decisions need scripts; this browser runs none.</p></noscript>\n",
            sentence_html(&self.verdict()),
            head::built_in_experiment_paragraph(self)
        );
        let lead = lead + &notes::notes_html(self);
        let mark = format!(
            "<meta name=\"migsim-settings\" content=\"{}\">\n",
            self.run.page_mark
        );
        Page {
            title: &head::report_title(self),
            settings_checksum_mark: &mark,
            introduction: &lead,
            body: &self.body_html(&hosts),
            styles: &STYLES,
            script_elements: Some(&data_and_script_elements(&facts, &block, &library)),
            allowed_script_texts: &code,
            footer: "Charts of lines: uPlot (MIT licence, &copy; Leon Sorokin).",
        }
        .to_html()
    }

    fn body_html(&self, hosts: &HostIndices<'_>) -> String {
        let drawing = drawing::platform_svg_with_hosts(&self.platform_summary, hosts)
            .unwrap_or_else(|| "<p>The platform has too many clusters to be drawn.</p>".to_owned());
        fill_template(
            BODY,
            &[
                ("scenarios", &head::scenarios_table(self)),
                ("remarks", &head::remarks_below_scenarios(self)),
                ("ledger", &head::makespan_differences_table(self)),
                ("path", &path::critical_path_section(self)),
                ("drawing", &drawing),
                (
                    "settings",
                    &settings_table(
                        "All settings of the experiment; `migsim run run.json` runs it again",
                        &self.run.experiment_settings,
                    ),
                ),
            ],
        )
    }
}

fn library_with_licence() -> String {
    format!("/*\n{}\n*/\n{UPLOT_LIBRARY}", LICENCE.trim())
}

fn data_and_script_elements(facts: &Value, block: &str, library: &str) -> String {
    let data = format!(
        "<div id=\"tooltip\" role=\"tooltip\" hidden></div>\n<script type=\"application/json\" id=\"facts\">{}</script>\n<script type=\"application/octet-stream\" id=\"arrays\">{block}</script>",
        json_for_script(facts)
    );
    let library = script_element(library);
    let own = SCRIPTS.map(script_element);
    [vec![data, library], own.to_vec()].concat().join("\n")
}

/// Encodes a value as JSON that can be inserted into an HTML script element: no text in it can end this element.
fn json_for_script(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn index_used_hosts(report: &Report) -> HostIndices<'_> {
    let cluster = |name: &str| report.platform_summary.cluster_index(name).unwrap_or(0);
    let mut hosts = HostIndices::new();
    for place in &report.platform_summary.placement {
        hosts.insert((cluster(&place.cluster), place.host.as_str()), 0);
    }
    for moved in report.run.scenarios.iter().flat_map(|run| &run.migrations) {
        hosts.insert((cluster(&moved.to_cluster), moved.to_host.as_str()), 0);
    }
    let mut order: Vec<(usize, &str)> = hosts.keys().copied().collect();
    order.sort_by_key(|(cluster, name)| (*cluster, natural_sort_key(name)));
    for (place, at) in order.into_iter().zip(0..) {
        hosts.insert(place, at);
    }
    hosts
}

fn page_json_data(report: &Report, hosts: &HostIndices<'_>, pack: &mut ArrayPack) -> Value {
    let unit = gantt::supersteps_per_unit(report);
    let bars = gantt::pack_activity_bars(report, unit, pack);
    series::pack_superstep_series(report, unit, pack);
    let cluster = |name: &str| report.platform_summary.cluster_index(name).unwrap_or(0);
    let homes: Vec<Option<&usize>> = report
        .platform_summary
        .placement
        .iter()
        .map(|place| hosts.get(&(cluster(&place.cluster), &*place.host)))
        .collect();
    let scenarios = report.run.scenarios.iter().map(|run| {
        json!({
            "name": run.scenario.name(),
            "words": describe_scenario(run.scenario),
            "makespan_s": run.makespan_s,
            "moves": decisions::encode_moves(run, hosts, report),
        })
    });
    let scenarios: Vec<Value> = scenarios.collect();
    let clusters: Vec<&str> = report
        .platform_summary
        .clusters
        .iter()
        .map(|one| &*one.name)
        .collect();
    json!({
        "policy": report.run.policy_label,
        "supersteps": report.superstep_count(),
        "processes": report.process_count(),
        "unit": unit,
        "clusters": clusters,
        "hosts": hosts_in_index_order(hosts).map(|(cluster, name)| json!([name, cluster])).collect::<Vec<_>>(),
        "homes": homes,
        "scenarios": scenarios,
        "bars": bars,
        "path": path::pack_critical_paths(report, pack),
        "intervals": series::rescheduling_intervals(report),
        "host_usage": usage::pack_host_use(report, hosts, pack),
        "link_usage": usage::pack_link_use(report, pack),
        "scores": scores::pack_scores(report, pack),
        "decisions": decisions::decisions_data(report),
        "has_all_words": reasons::pack_decision_sentences(report, pack),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_built_in_ends_its_element() {
        for text in SCRIPTS.into_iter().chain([UPLOT_LIBRARY, LICENCE]) {
            assert!(!text.to_lowercase().contains("</script") && !text.contains("<!--"));
        }
        for text in STYLES {
            assert!(!text.to_lowercase().contains("</style"));
        }
        assert!(!LICENCE.contains("*/"));
    }
}
