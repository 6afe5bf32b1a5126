//! `tutte info`: metadata of a model file.

mod weights;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use tutte::features::{Conjoin, FeatureSet};
use tutte::{
    ArcModel, Calibration, Compact, Index, ModelFile, ParserModel, TextCalibration,
    TransitionParser, Weights,
};

use crate::failure::Outcome;
use crate::input::ModelSource;
use crate::numbers::megabytes;
use crate::report::{Align, Table, columns, count, counted};
use crate::session::Session;
use crate::verbs::calibrate::precision_row;
use crate::verbs::train::Scores;

/// Show what a model contains and how it was trained
///
/// Prints the metadata of the file: versions, language, data, licence, training command, dev scores, tree set, labels
/// and sizes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte info en.tutte
  tutte info english-large
  tutte info en.tutte --templates
  tutte info en.tutte --weights --top 100
  tutte info en.tutte --json | jq .dev")]
pub(crate) struct Info {
    /// Model written by `tutte train`, or english-large [default: english, inside tutte]
    #[arg(value_name = "MODEL", conflicts_with = "model")]
    file: Option<PathBuf>,

    #[command(flatten)]
    model_source: ModelSource,

    /// List the feature templates
    #[arg(long, conflicts_with = "weights")]
    templates: bool,

    /// Show the features with the largest weights; needs a model trained with --features dictionary
    #[arg(long)]
    weights: bool,

    /// Number of features to show
    #[arg(long, value_name = "N", default_value_t = 20, requires = "weights")]
    top: usize,
}

/// Metadata of a model.
#[derive(Debug, Serialize)]
struct InfoReport {
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
    /// `true` if the model has a tokenizer.
    tokenizer: bool,
    tagger: Option<TagInventory>,
    #[serde(flatten)]
    parser: Option<ParserReport>,
}

/// The part of a report about the parser.
#[derive(Debug, Serialize)]
struct ParserReport {
    tree_set: String,
    /// Number of latent clusters of arcs.
    clusters: usize,
    /// Divisor of all scores.
    temperature: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_calibration: Option<TextCalibration>,
    calibration: Option<Calibration>,
    /// Hard constraints that hold in every tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<String>,
    /// Labels that a head has on one modifier only, for --at-most-one auto.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    single_labels: Vec<String>,
    labels: Vec<String>,
    pruner: Option<WeightTable>,
    arcs: WeightTable,
    /// Transition parser, whose tree the second pass uses. Its weights score steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    transition: Option<WeightTable>,
    second_pass: Option<WeightTable>,
    label_weights: WeightTable,
    /// Factors of two arcs.
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<WeightTable>,
    /// Iterations of belief propagation over factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    factor_iterations: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Dev {
    pass: usize,
    #[serde(flatten)]
    scores: Scores,
}

/// Tags that a tagger assigns.
#[derive(Debug, Serialize)]
struct TagInventory {
    upos: Vec<String>,
    /// Number of different combinations of UPOS, XPOS and FEATS.
    fine: usize,
    lemmas: bool,
}

/// A table of weights and its features.
#[derive(Debug, Serialize)]
struct WeightTable {
    index: &'static str,
    /// Number of features in the dictionary, not counting those with direction and distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<usize>,
    weights: usize,
    /// Number of weights that are not zero.
    used: usize,
    bits_per_weight: u32,
    /// Copies of each feature: alone, with direction and distance, or both.
    conjoin: String,
    /// Limit on pairs of morphological features.
    pairs: Option<usize>,
    templates: Vec<String>,
}

pub(crate) fn run(arguments: &Info, session: &Session) -> Result<Outcome> {
    let source = arguments.model_source.or(arguments.file.as_ref());
    let file = source.open()?;
    if arguments.weights {
        return weights::show(&file, arguments.top, session);
    }
    let report = InfoReport::new(&source, &file);
    if session.json() {
        session.print_json(&report)?;
    } else {
        session.print(&report.text(session.width(), arguments.templates))?;
        if !arguments.templates && report.parser.is_some() {
            session.note("--templates lists the feature templates");
        }
    }
    Ok(Outcome::Good)
}

impl InfoReport {
    fn new(source: &ModelSource, file: &ModelFile) -> Self {
        let ModelFile { model, about, .. } = file;
        let training = about.training.iter();
        let dev = about.dev.zip(model.parser.as_ref());
        Self {
            model: source.name(),
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
            dev: dev.map(|(dev, parser)| Dev { pass: dev.pass, scores: Scores::of(parser, &dev) }),
            tokenizer: model.tokenizer.is_some(),
            tagger: model.tagger.as_ref().map(|tagger| TagInventory {
                upos: tagger.upos().to_vec(),
                fine: tagger.fine_tags(),
                lemmas: tagger.has_lemmas(),
            }),
            parser: model.parser.as_ref().map(ParserReport::new),
        }
    }

    fn text(&self, width: usize, has_templates: bool) -> String {
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
                Some(Dev { pass, scores }) => {
                    let words = counted(scores.words(), "word");
                    format!("{scores} on {words}, after pass {pass}")
                }
            },
        );
        row("tokenizer", if self.tokenizer { "learnt" } else { "–" }.to_owned());
        row(
            "tagger",
            match &self.tagger {
                None => "–".to_owned(),
                Some(TagInventory { upos, fine, lemmas }) => {
                    let lemmas = if *lemmas { ", lemmas" } else { "" };
                    let fine = counted(*fine, "combination");
                    format!("{} UPOS, {fine} with XPOS and FEATS{lemmas}", count(upos.len()))
                }
            },
        );
        let Some(parser) = &self.parser else {
            row("parser", "–".to_owned());
            return table.text(0);
        };
        row("trees", parser.tree_set.clone());
        if parser.clusters > 1 {
            row("clusters", format!("{} latent clusters of arcs", parser.clusters));
        }
        for rule in &parser.rules {
            row("rule", rule.clone());
        }
        if !parser.single_labels.is_empty() {
            row("at most one", parser.single_labels.join(", "));
        }
        row("temperature", format!("{:.2}", parser.temperature));
        row("calibration", parser.calibration.as_ref().map_or("–".to_owned(), calibration_text));
        if let Some(TextCalibration { temperature, calibration }) = &parser.text_calibration {
            let calibration = calibration_text(calibration);
            row("for raw text", format!("temperature {temperature:.2}; {calibration}"));
        }
        let parts = parser.parts();
        for (name, part) in &parts {
            let WeightTable { index, features, weights, used, bits_per_weight, .. } = part;
            let share = 100.0 * *used as f64 / (*weights).max(1) as f64;
            let features = match features {
                Some(features) => format!("{index} of {}, ", counted(*features, "feature")),
                None => format!("{index}, "),
            };
            let weights = format!("{} weights of {bits_per_weight} bits", count(*weights));
            row(name, format!("{features}{weights}, {share:.0} % not zero"));
        }
        let mut text = table.text(0);
        let labels = (counted(parser.labels.len(), "label"), &parser.labels);
        let of = |part: &WeightTable, what| {
            let mut title = format!("{} of {what}", counted(part.templates.len(), "template"));
            if part.conjoin != Conjoin::default().to_string() {
                title += &format!(", conjoin {}", part.conjoin);
            }
            part.pairs.iter().for_each(|pairs| title += &format!(", pairs {pairs}"));
            title
        };
        let templates = parts.iter().filter(|_| has_templates);
        let templates = templates.map(|(name, part)| (of(part, *name), &part.templates));
        for (title, items) in std::iter::once(labels).chain(templates) {
            text.push_str(&format!("\n{title}\n{}", wrapped(items, width)));
        }
        text
    }
}

impl ParserReport {
    fn new(parser: &ParserModel<Compact>) -> Self {
        let part = |index, known, weights: &[i8], features: &FeatureSet| WeightTable {
            index,
            features: known,
            weights: weights.len(),
            used: weights.iter().filter(|weight| **weight != 0).count(),
            bits_per_weight: i8::BITS,
            conjoin: features.conjoin().to_string(),
            pairs: features.pairs(),
            templates: features.templates().iter().map(ToString::to_string).collect(),
        };
        let arcs = |arcs: &ArcModel<Compact>| {
            let (index, known) = match &arcs.index {
                Index::Hashed { .. } => ("hashed", None),
                Index::Dictionary(dictionary) => ("dictionary", Some(dictionary.len())),
            };
            part(index, known, arcs.weights.cells(), &arcs.features)
        };
        let second_pass = parser.second_pass.as_ref();
        let transition = second_pass.and_then(|second_pass| second_pass.transition.as_ref());
        let factors = second_pass.and_then(|second_pass| second_pass.factors.as_ref());
        let labels = &parser.labels;
        // Tables that are not those of arcs.
        let table = |cells: &[i8], templates: Vec<String>| WeightTable {
            index: "hashed",
            features: None,
            weights: cells.len(),
            used: cells.iter().filter(|weight| **weight != 0).count(),
            bits_per_weight: i8::BITS,
            conjoin: Conjoin::None.to_string(),
            pairs: None,
            templates,
        };
        Self {
            tree_set: parser.tree_set.to_string(),
            rules: parser
                .rules
                .iter()
                .flat_map(|rules| rules.rules())
                .map(ToString::to_string)
                .collect(),
            clusters: parser.clusters(),
            labels: labels.labels().to_vec(),
            single_labels: parser.single_labels.clone(),
            temperature: parser.temperature,
            text_calibration: parser.text_calibration.clone(),
            calibration: parser.calibration.clone(),
            pruner: parser.pruner.as_ref().map(|pruner| arcs(&pruner.arcs)),
            arcs: arcs(&parser.arcs),
            transition: transition.map(|transition| {
                let templates = TransitionParser::<Compact>::templates().map(str::to_owned);
                table(transition.cells(), templates.collect())
            }),
            factors: factors.map(|factors| {
                let templates = factors.features.to_string();
                table(factors.weights().cells(), templates.lines().map(str::to_owned).collect())
            }),
            factor_iterations: factors.map(|factors| factors.iterations),
            second_pass: second_pass.map(|second_pass| arcs(&second_pass.arcs)),
            label_weights: part("hashed", None, labels.weights().cells(), &labels.features),
        }
    }

    /// Returns the tables of weights, in the order of parsing.
    fn parts(&self) -> Vec<(&'static str, &WeightTable)> {
        let parts = [
            ("pruner", self.pruner.as_ref()),
            ("arcs", Some(&self.arcs)),
            ("transition parser", self.transition.as_ref()),
            ("second pass", self.second_pass.as_ref()),
            ("labels", Some(&self.label_weights)),
            ("factors", self.factors.as_ref()),
        ];
        parts.into_iter().filter_map(|(name, part)| Some((name, part?))).collect()
    }
}

/// Describes the calibration: method, data and precision.
fn calibration_text(calibration: &Calibration) -> String {
    let Calibration { data, sentences, words, precision, .. } = calibration;
    let method = calibration.method().name();
    let data = data.as_deref().unwrap_or("–");
    let sentences = counted(*sentences, "sentence");
    let words = counted(*words, "word");
    let [wanted, threshold, kept, _] = precision_row(precision, 0.98);
    let promise = match precision.keeping(0.98) {
        None => format!("precision {wanted} cannot be reached"),
        Some(_) => format!("precision {wanted} above probability {threshold}, {kept} % of heads"),
    };
    format!("{method}, on {data} ({sentences}, {words}); {promise}")
}

/// Joins items, in lines of at most `width` columns.
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
