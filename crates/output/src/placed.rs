//! Number of processes that start in each cluster, formatted as a line of text, as a table and as JSON.

use serde_json::{Value, json};

use super::table_format::{Cell, Table, number_column, text_column};
use migsim_base::words::format_count;
use migsim_experiment::Experiment;

/// Maximum number of clusters that the line of text names.
const MAX_NAMED_CLUSTERS: usize = 8;

/// Clusters in which at least one process starts, in the order of the platform, each with the number of processes that start in
/// the cluster.
pub(super) struct StartsByCluster<'a>(Vec<(&'a str, usize)>);

impl<'a> StartsByCluster<'a> {
    pub(super) fn from_experiment(experiment: &'a Experiment) -> Self {
        let platform = &experiment.platform.platform;
        let mut counts = vec![0; platform.clusters.len()];
        for &host in &experiment.placement {
            counts[platform.cluster_of(host).index()] += 1;
        }
        let clusters = platform.clusters.iter().map(|cluster| &*cluster.name);
        Self(
            clusters
                .zip(counts)
                .filter(|(_, count)| *count > 0)
                .collect(),
        )
    }

    pub(super) fn to_line(&self) -> String {
        let mut parts: Vec<String> = self
            .0
            .iter()
            .take(MAX_NAMED_CLUSTERS)
            .map(|(cluster, count)| format!("{cluster} {count}"))
            .collect();
        if let Some(rest) = self
            .0
            .get(MAX_NAMED_CLUSTERS..)
            .filter(|rest| !rest.is_empty())
        {
            let processes: usize = rest.iter().map(|(_, count)| count).sum();
            let clusters = format_count(rest.len(), "more cluster");
            parts.push(format!("{processes} in {clusters}"));
        }
        format!("processes per cluster at the start: {}", parts.join(", "))
    }

    pub(super) fn to_json(&self) -> Value {
        self.0
            .iter()
            .map(|(cluster, processes)| json!({ "cluster": cluster, "processes": processes }))
            .collect()
    }

    pub(super) fn to_table(&self) -> Table {
        let columns = [
            text_column("cluster", "cluster"),
            number_column("processes", "processes"),
        ];
        let mut table = Table::new("placed", "", &columns);
        for (cluster, processes) in &self.0 {
            table.push_row([Cell::text(*cluster), Cell::count(*processes)]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_clusters_are_summed_up() {
        let names: Vec<String> = (0..10).map(|number| format!("c{number}")).collect();
        let placed = StartsByCluster(names.iter().map(|name| (&**name, 2)).collect());
        assert_eq!(
            placed.to_line(),
            "processes per cluster at the start: c0 2, c1 2, c2 2, c3 2, c4 2, c5 2, c6 2, c7 2, 4 in 2 more clusters"
        );
        assert_eq!(
            StartsByCluster(vec![("a", 3), ("b", 1)]).to_line(),
            "processes per cluster at the start: a 3, b 1"
        );
    }
}
