//! A paper in the audit: its reproduction, which is computed once, and the counts that follow from the reproduction.

use rayon::prelude::*;

use super::contradictions::{Contradictions, contradictions};
use super::freedom::{DegreesOfFreedom, count_degrees_of_freedom};
use super::rounding::{RoundingEffect, rounding_effect};
use super::score::{ResultAccuracy, Score};
use super::settings::{Setting, list_settings, papers_with_settings};
use crate::cells::CellResult;
use crate::changes::Changes;
use crate::facts::{Facts, SettingsSearch};
use crate::reproduce::{PaperComparison, read_facts, reproduce_with_changes};
use crate::{Paper, named};
use migsim_base::error::Error;
use migsim_experiment::Progress;

/// A paper in the audit, with its facts, its settings and its reproduction.
#[derive(Debug)]
pub(super) struct AuditedPaper {
    pub(super) paper: &'static Paper,
    pub(super) facts: Facts,
    pub(super) settings: Vec<Setting>,
    pub(super) comparison: PaperComparison,
    pub(super) accuracy: ResultAccuracy,
}

/// Results of the audit of a paper that are computed from its reproduction without further simulations.
#[derive(Debug)]
pub(super) struct AuditCounts {
    pub(super) paper: &'static Paper,
    pub(super) cells: Vec<CellResult>,
    pub(super) score: Score,
    pub(super) freedom: DegreesOfFreedom,
    pub(super) rounding: Option<RoundingEffect>,
    pub(super) contradictions: Contradictions,
    pub(super) searches: Vec<SettingsSearch>,
}

impl AuditedPaper {
    pub(super) fn reproduce_all_papers(progress: &Progress) -> Result<Vec<Self>, Error> {
        let papers: Vec<&'static Paper> = papers_with_settings().collect();
        papers
            .into_par_iter()
            .map(|paper| Self::from_paper(paper, progress))
            .collect()
    }

    fn from_paper(paper: &'static Paper, progress: &Progress) -> Result<Self, Error> {
        let compared = reproduce_with_changes(paper, Changes::default(), progress)?;
        let facts = read_facts(paper)?;
        Ok(Self {
            paper,
            settings: list_settings(paper, &facts)?,
            facts,
            accuracy: ResultAccuracy::from_comparison(&compared),
            comparison: compared,
        })
    }

    /// Lists the published times in the tables of the paper, each with its simulated time. Times quoted from figures are left
    /// out.
    pub(super) fn table_cells(&self) -> Vec<&CellResult> {
        let all = self.comparison.cells.iter();
        all.filter(|cell| !cell.in_figure).collect()
    }

    pub(super) fn audit_counts(&self) -> Result<AuditCounts, Error> {
        let words = |cell: &CellResult| named::describe_cell(self.paper, &cell.config);
        let cells = &self.comparison.cells;
        Ok(AuditCounts {
            paper: self.paper,
            cells: cells.clone(),
            score: self.accuracy.score(),
            freedom: count_degrees_of_freedom(self.paper, &self.facts, &self.settings),
            rounding: rounding_effect(self.paper.name, &self.table_cells(), words),
            contradictions: contradictions(self.paper.name, &self.facts, cells, words)?,
            searches: self.facts.audit.searched.clone(),
        })
    }
}
