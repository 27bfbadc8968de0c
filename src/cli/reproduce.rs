//! `migsim reproduce`: the papers' numbers beside ours.

use std::io::Write;

use super::args::ReproduceArguments;
use super::bar::{Bar, with_bar};
use super::print;
use crate::error::{Error, Problem};
use crate::experiment::Progress;
use crate::output::write_file;
use crate::paper;

pub(super) fn reproduce(
    arguments: &ReproduceArguments,
    out: &mut dyn Write,
) -> Result<bool, Error> {
    if arguments.paper != "all" {
        paper::find(&arguments.paper)?;
    }
    let progress = Progress::default();
    let bar = Bar {
        total: None,
        is_quiet: arguments.quiet,
    };
    let reproduction = with_bar(&bar, &progress, || {
        paper::reproduce(&arguments.paper, &progress)
    })?;
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::Output(Problem::new(format!(
                "cannot create `{}`: {error}",
                folder.display()
            )))
        })?;
        for page in paper::pages(&reproduction)? {
            write_file(&folder.join(&page.name), page.text.as_bytes())?;
        }
    }
    if arguments.json {
        let all: Vec<_> = reproduction
            .papers
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>()
            .map_err(|error| {
                Error::Output(Problem::new(format!(
                    "cannot write the results as JSON: {error}"
                )))
            })?;
        let joined = |key: &str| -> Vec<serde_json::Value> {
            all.iter()
                .flat_map(|paper| paper[key].as_array().cloned().unwrap_or_default())
                .collect()
        };
        let value = serde_json::json!({
            "cells": joined("cells"),
            "decisions": joined("decisions"),
            "call_schedules": joined("call_schedules"),
            "claims": joined("claims"),
            "constants": joined("constants"),
        });
        print(out, &format!("{value:#}\n"))?;
    } else if !arguments.quiet {
        print(out, &paper::text(&reproduction))?;
    }
    Ok(reproduction.is_within_bands())
}
