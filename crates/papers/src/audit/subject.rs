//! A paper in the audit: its reproduction, which is computed once, and the counts that follow from the reproduction.

use rayon::prelude::*;

use super::contradictions::{Contradictions, contradictions};
use super::freedom::{Freedom, freedom};
use super::rounding::{Rounding, rounding};
use super::score::{Achieved, Score};
use super::settings::{Setting, papers_with_settings, settings};
use crate::cells::CellResult;
use crate::changes::Changes;
use crate::facts::{Facts, Searched};
use crate::reproduce::{Compared, facts_of, reproduce_changed};
use crate::{Paper, named};
use migsim_base::error::Error;
use migsim_experiment::Progress;

/// A paper in the audit, with its facts, its settings and its reproduction.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) paper: &'static Paper,
    pub(super) facts: Facts,
    pub(super) settings: Vec<Setting>,
    pub(super) compared: Compared,
    pub(super) achieved: Achieved,
}

/// Results of the audit of a paper that are computed from its reproduction without further simulations.
#[derive(Debug)]
pub(super) struct AuditCounts {
    pub(super) paper: &'static Paper,
    pub(super) cells: Vec<CellResult>,
    pub(super) score: Score,
    pub(super) freedom: Freedom,
    pub(super) rounding: Option<Rounding>,
    pub(super) contradictions: Contradictions,
    pub(super) searched: Vec<Searched>,
}

impl Subject {
    pub(super) fn read_all(progress: &Progress) -> Result<Vec<Self>, Error> {
        let papers: Vec<&'static Paper> = papers_with_settings().collect();
        papers
            .into_par_iter()
            .map(|paper| Self::from_paper(paper, progress))
            .collect()
    }

    fn from_paper(paper: &'static Paper, progress: &Progress) -> Result<Self, Error> {
        let compared = reproduce_changed(paper, Changes::default(), progress)?;
        let facts = facts_of(paper)?;
        Ok(Self {
            paper,
            settings: settings(paper, &facts)?,
            facts,
            achieved: Achieved::from_comparison(&compared),
            compared,
        })
    }

    /// Lists the published times in the tables of the paper, each with its simulated time. Times quoted from figures are left
    /// out.
    pub(super) fn cells(&self) -> Vec<&CellResult> {
        let all = self.compared.cells.iter();
        all.filter(|cell| !cell.in_figure).collect()
    }

    pub(super) fn counts(&self) -> Result<AuditCounts, Error> {
        let words = |cell: &CellResult| named::describe_cell(self.paper, &cell.config);
        let cells = &self.compared.cells;
        Ok(AuditCounts {
            paper: self.paper,
            cells: cells.clone(),
            score: self.achieved.score(),
            freedom: freedom(self.paper, &self.facts, &self.settings),
            rounding: rounding(self.paper.name, &self.cells(), words),
            contradictions: contradictions(self.paper.name, &self.facts, cells, words)?,
            searched: self.facts.audit.searched.clone(),
        })
    }
}
