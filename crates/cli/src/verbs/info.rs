//! `tutte info`: what a model file says about itself.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use tutte::features::{BLOCK, FeatureSet};
use tutte::{Index, ModelFile, Weights};

use crate::failure::{Outcome, usage};
use crate::report::{Align, Table, columns, count, counted};
use crate::session::Session;
use crate::verbs::train::megabytes;

/// Show what a model is and where it comes from
///
/// Everything that the file says: versions, language, data and licence, how it was trained and how
/// well it did, its trees, labels, templates and sizes. The file is checked as for parsing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte info -m en.tutte
  tutte info -m en.tutte --json | jq .dev")]
pub(crate) struct Info {
    /// The model
    #[arg(short, long, value_name = "MODEL")]
    model: PathBuf,

    /// Show the weights of a model whose features are in a dictionary, the largest first
    #[arg(long)]
    weights: bool,
}

/// What is said about a model.
#[derive(Debug, Serialize)]
struct Report {
    model: String,
    bytes: u64,
    format: u64,
    tutte: String,
    checksum: String,
    language: Option<String>,
    data: Option<String>,
    licence: Option<String>,
    command: Option<String>,
    seed: u64,
    training: serde_json::Map<String, serde_json::Value>,
    dev: Option<Dev>,
    tree_set: String,
    labels: Vec<String>,
    arcs: Part,
    label_weights: Part,
}

#[derive(Debug, Serialize)]
struct Dev {
    pass: usize,
    words: usize,
    uas: f64,
    las: f64,
}

/// A table of weights and what it is about.
#[derive(Debug, Serialize)]
struct Part {
    index: &'static str,
    weights: usize,
    /// Those that are not zero.
    used: usize,
    bits_per_weight: u32,
    templates: Vec<String>,
}

pub(crate) fn run(arguments: &Info, session: &Session) -> Result<Outcome> {
    let file = ModelFile::open(&arguments.model)?;
    if arguments.weights {
        return show_weights(&file, session);
    }
    let report = Report::new(arguments, &file);
    if session.json() {
        session.print_json(&report)?;
    } else {
        session.stdout().write_all(report.text(session.width()).as_bytes())?;
    }
    Ok(Outcome::Good)
}

impl Report {
    fn new(arguments: &Info, file: &ModelFile) -> Self {
        let ModelFile { model, about, .. } = file;
        let part = |index, weights: &[i8], features: &FeatureSet| Part {
            index,
            weights: weights.len(),
            used: weights.iter().filter(|weight| **weight != 0).count(),
            bits_per_weight: i8::BITS,
            templates: features.templates().iter().map(ToString::to_string).collect(),
        };
        let index = match model.arcs.index {
            Index::Hashed { .. } => "hashed",
            Index::Dictionary(_) => "dictionary",
        };
        let training = about.training.iter();
        Self {
            model: arguments.model.display().to_string(),
            bytes: file.bytes,
            format: file.format,
            tutte: file.tutte.clone(),
            checksum: file.checksum.clone(),
            language: about.language.clone(),
            data: about.data.clone(),
            licence: about.licence.clone(),
            command: about.command.clone(),
            seed: about.seed,
            training: training.map(|(name, value)| (name.clone(), value.clone().into())).collect(),
            dev: about.dev.map(|dev| Dev {
                pass: dev.pass,
                words: dev.words,
                uas: dev.uas(),
                las: dev.las(),
            }),
            tree_set: model.tree_set.to_string(),
            labels: model.labels.labels().to_vec(),
            arcs: part(index, model.arcs.weights.cells(), &model.arcs.features),
            label_weights: part("hashed", model.labels.weights().cells(), &model.labels.features),
        }
    }

    fn text(&self, width: usize) -> String {
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("model", format!("{}, {}", self.model, megabytes(self.bytes)));
        row("written by", format!("tutte {}, format {}", self.tutte, self.format));
        row("checksum", self.checksum.clone());
        for (name, value) in [
            ("language", &self.language),
            ("data", &self.data),
            ("licence", &self.licence),
            ("command", &self.command),
        ] {
            row(name, value.clone().unwrap_or_else(|| "–".to_owned()));
        }
        let value = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let settings = self.training.iter().map(|(name, v)| format!("{name} {}", value(v)));
        let settings: Vec<String> = settings.chain([format!("seed {}", self.seed)]).collect();
        row("training", settings.join(", "));
        row(
            "dev",
            match &self.dev {
                None => "–".to_owned(),
                Some(Dev { pass, words, uas, las }) => {
                    let (uas, las, words) = (100.0 * uas, 100.0 * las, counted(*words, "word"));
                    format!("UAS {uas:.2}, LAS {las:.2} on {words}, after pass {pass}")
                }
            },
        );
        row("trees", self.tree_set.clone());
        for (name, part) in [("arcs", &self.arcs), ("labels", &self.label_weights)] {
            let Part { index, weights, used, bits_per_weight, .. } = part;
            let share = 100.0 * *used as f64 / (*weights).max(1) as f64;
            let weights = format!("{} {index} weights of {bits_per_weight} bits", count(*weights));
            row(name, format!("{weights}, {share:.0} % not zero"));
        }
        let mut text = table.text(0);
        let of =
            |part: &Part, what| format!("{} of {what}", counted(part.templates.len(), "template"));
        for (title, items) in [
            (counted(self.labels.len(), "label"), &self.labels),
            (of(&self.arcs, "arcs"), &self.arcs.templates),
            (of(&self.label_weights, "labels"), &self.label_weights.templates),
        ] {
            text.push_str(&format!("\n{title}\n{}", wrapped(items, width)));
        }
        text
    }
}

/// Items one after the other, in lines that fit.
fn wrapped(items: &[String], width: usize) -> String {
    const GAP: &str = " · ";
    let mut text = String::new();
    let mut column = 0;
    for item in items {
        if column > 0 && column + columns(GAP) + columns(item) > width {
            text.push('\n');
            column = 0;
        }
        let gap = if column == 0 { "  " } else { GAP };
        text.push_str(gap);
        text.push_str(item);
        column += columns(gap) + columns(item);
    }
    text.push('\n');
    text
}

/// The weights of each key: alone, and by direction and distance.
fn show_weights(file: &ModelFile, session: &Session) -> Result<Outcome> {
    let weights = &file.model.arcs.weights;
    let Index::Dictionary(blocks) = &file.model.arcs.index else {
        return Err(usage(
            "--weights needs a model that knows its features; this one finds weights by hashing, \
             so that several features may share one and none has a name",
        ));
    };
    let mut rows: Vec<(u64, &[i8])> = blocks
        .iter()
        .map(|(key, block)| (*key, &weights.cells()[*block as usize * BLOCK..][..BLOCK]))
        .collect();
    let largest = |cells: &[i8]| cells.iter().map(|cell| cell.unsigned_abs()).max();
    rows.sort_unstable_by_key(|(key, cells)| (std::cmp::Reverse(largest(cells)), *key));
    let weight = |cell: &i8| f32::from(*cell) * weights.scale();
    if session.json() {
        let rows: Vec<_> = rows
            .iter()
            .map(|(key, cells)| {
                let weights: Vec<f32> = cells.iter().map(weight).collect();
                serde_json::json!({"key": format!("{key:016x}"), "weights": weights})
            })
            .collect();
        session.print_json(&rows)?;
        return Ok(Outcome::Good);
    }
    let mut out = session.stdout();
    for (key, cells) in rows {
        write!(out, "{key:016x}")?;
        cells.iter().try_for_each(|cell| write!(out, " {:.3}", weight(cell)))?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(Outcome::Good)
}
