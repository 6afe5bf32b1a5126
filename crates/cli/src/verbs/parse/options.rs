//! Options of parsing: which trees, how much about them, which constraints.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::{
    AnnotationOptions, Calibration, Compact, Decoding, Detail, KeepColumns, LabelLimits, Labelling,
    Model, WordSource,
};
use tutte_treebank::draw::Style;

use super::result::Worker;
use super::tagging::TagOptions;
use crate::failure::{advise, usage};
use crate::input::ModelArgs;
use crate::report::{counted, hundredths, png};
use crate::session::Session;
use crate::verbs::draw::Kind;

/// Name of the labels that a model limits itself.
const AUTO: &str = "auto";
/// Value of `--at-most-one` for no limits.
const NONE: &str = "none";

/// Extensions of files that never hold CoNLL.
const OTHER_FORMATS: [&str; 11] =
    ["pdf", "jpg", "jpeg", "gif", "webp", "bmp", "xml", "csv", "doc", "docx", "xlsx"];

/// Options of parsing, flattened into the arguments of verbs. Serialised, they identify everything that decides the
/// output.
#[derive(Args, Clone, Debug, Serialize)]
pub(crate) struct ParseOptions {
    /// Format to write [default: conll]
    ///
    /// The default is jsonl if the name of OUT ends in .jsonl.
    #[arg(long, value_name = "FORMAT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<To>,

    /// Tree to choose
    #[arg(long, value_name = "TREE", default_value = "mbr")]
    pub(super) decode: Decode,

    /// Write the K most probable trees; sent_id ends in .k1, .k2, …
    #[arg(long, value_name = "K", help_heading = "More trees")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    #[arg(conflicts_with_all = ["decode", "sample", "min_prob"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kbest: Option<u32>,

    /// Write N random trees; sent_id ends in .s1, .s2, …
    ///
    /// Trees are drawn from the model's distribution.
    #[arg(long, value_name = "N", help_heading = "More trees")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    #[arg(conflicts_with_all = ["decode", "min_prob"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sample: Option<u32>,

    /// Seed of random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "sample")]
    #[arg(help_heading = "More trees", hide_short_help = true)]
    pub(super) seed: u64,

    /// Write probabilities: HeadProb, LabelProb and AltHead in MISC
    ///
    /// Comments have the log-probability of the tree and the entropy of all trees, in nats. Drawings and jsonl have
    /// probabilities without this option.
    #[arg(long, help_heading = "Probabilities")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) probs: bool,

    /// List other heads more probable than this, as AltHead=HEAD:LABEL:PROBABILITY
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability)]
    #[arg(requires = "probs", help_heading = "Probabilities", hide_short_help = true)]
    pub(super) alt: f64,

    /// Write the probabilities of all arcs, by head (0 is the root) and word; jsonl only
    #[arg(long, help_heading = "Probabilities", hide_short_help = true)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) matrix: bool,

    /// Write _ for heads less probable than this
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Probabilities")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_prob: Option<f64>,

    /// Write _ for improbable heads, so that this share of the others is right
    ///
    /// Chooses --min-prob from the model's calibration (`tutte train --dev` or `tutte calibrate`). It holds for heads,
    /// not labels, and for texts similar to the calibration data.
    #[arg(long, value_name = "SHARE", value_parser = probability, help_heading = "Probabilities")]
    #[arg(conflicts_with_all = ["min_prob", "kbest", "sample"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) precision: Option<f64>,

    #[command(flatten)]
    #[serde(flatten)]
    pub(super) tagging: TagOptions,

    /// Keep the heads of the input, and find the others given them
    #[arg(long, help_heading = "Constraints")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) keep_heads: bool,

    /// Keep the labels of the input, and find heads and other labels given them
    #[arg(long, help_heading = "Constraints")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) keep_labels: bool,

    /// Give each head at most one modifier of each of these labels: a list such as nsubj,obj, auto or none
    ///
    /// Applies to the best tree, not to probabilities. auto, the default, takes the labels that the treebank of the model
    /// (almost) never repeats under one head; `tutte info` lists them. If you name it, a note counts the trees it changed.
    #[arg(long, value_name = "LABELS", help_heading = "Constraints")]
    #[arg(conflicts_with_all = ["kbest", "sample"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at_most_one: Option<String>,

    /// Keep DEPS of the input, which is otherwise cleared
    ///
    /// Enhanced dependencies belong to the trees that are replaced. They would show up as ELAS of the parser.
    #[arg(long, help_heading = "Constraints")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) keep_deps: bool,
}

/// A tree of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Decode {
    /// The tree with the highest expected number of right arcs (minimum Bayes risk)
    Mbr,
    /// The most probable tree, at temperature 1
    Map,
    /// The most probable head of each word, even if the result is not a tree
    Greedy,
    /// The most probable tree with its latent clusters, for models trained with --clusters
    MaxZ,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum To {
    /// CoNLL-U or CoNLL-X, like the input
    #[value(aliases = ["conllu", "conll-u"])]
    Conll,
    /// One JSON object per line and sentence, with probabilities; docs/parse.schema.json describes it
    Jsonl,
    /// Trees drawn as text, with probabilities; the default in a terminal
    Draw,
}

pub(crate) fn probability(typed: &str) -> Result<f64, String> {
    let probability = typed.parse().ok().filter(|p: &f64| (0.0..=1.0).contains(p));
    probability.ok_or_else(|| "a probability is a number from 0 to 1".to_owned())
}

impl Task<'_> {
    /// Draws all trees as one picture, with probabilities.
    pub(super) fn with_picture(self, kind: Kind) -> Self {
        let style = Style { fixed: kind.is_fixed(), ..Style::default() };
        Self { style: Some(style), picture: Some(kind), probs: true, ..self }
    }
}

/// Options that were checked against a model, ready for any number of sentences.
pub(crate) struct Task<'a> {
    pub(super) wanted: &'a ParseOptions,
    pub(super) model: &'a Model<Compact>,
    /// Writes lines of JSON.
    pub(super) jsonl: bool,
    /// Style of drawings, if trees are drawn.
    pub(super) style: Option<Style>,
    /// Format of a picture of all trees, if one is drawn.
    pub(super) picture: Option<Kind>,
    /// Adds probabilities.
    pub(super) probs: bool,
    /// Heads less probable than this are left open.
    pub(super) min_prob: Option<f64>,
    /// Heads of raw text less probable than this are left open. `None` if the calibration for raw text does not reach
    /// the precision that was asked for.
    pub(super) text_min_prob: Option<f64>,
    /// Labels that a head has on one modifier at most; `None` if the model decides.
    pub(super) label_limits: Option<LabelLimits>,
    /// Name of the model in JSON.
    pub(super) model_name: String,
    pub(super) model_args: &'a ModelArgs,
}

impl ParseOptions {
    /// Checks the options against a model. `jsonl` is the format if [`Self::to`] is not given.
    pub(crate) fn of<'a>(
        &'a self,
        model: &'a Model<Compact>,
        model_args: &'a ModelArgs,
        jsonl: bool,
        session: &Session,
    ) -> Result<Task<'a>> {
        let jsonl = self.to.map_or(jsonl, |to| to == To::Jsonl);
        let labelling =
            model.parser.as_ref().map_or(Labelling::None, |trees| trees.labels.labelling());
        if self.keep_labels && labelling == Labelling::None {
            return Err(usage("--keep-labels keeps labels, but this model has none"));
        }
        self.tagging.check(model, &model_args.model_source.name())?;
        if model.parser.is_none() {
            session.warn_once(
                "this model has no parser: it finds words and tags, but no trees",
                "`tutte train TRAIN -o MODEL` trains a model with a parser",
            );
        }
        let min_prob = self.least_probability(model, model_args, session)?;
        let text_min_prob = self.least_probability_of_text(min_prob, model, session);
        let draws = self.to == Some(To::Draw);
        let probs = self.probs || draws || jsonl;
        let label_limits = self.label_limits(model, &model_args.model_source.name())?;
        let style = draws.then(|| Style { width_columns: session.width(), ..Style::default() });
        let model_name = model_args.model_source.short_name();
        let task = Task {
            wanted: self,
            model,
            jsonl,
            style,
            picture: None,
            probs,
            min_prob,
            text_min_prob,
            label_limits,
            model_name,
            model_args,
        };
        if let Some(trees) = &model.parser {
            task.decoding().check(trees)?;
        }
        Ok(task)
    }

    /// Returns the labels that a head may have on one modifier at most; `None` if that is left to the model.
    fn label_limits(&self, model: &Model<Compact>, name: &str) -> Result<Option<LabelLimits>> {
        let Some(typed) = &self.at_most_one else { return Ok(None) };
        if typed == NONE {
            return Ok(Some(LabelLimits::default()));
        }
        if self.decode == Decode::Greedy {
            return Err(usage(
                "--at-most-one chooses another tree, but --decode greedy chooses heads word by word",
            ));
        }
        let Some(parser) = &model.parser else { return Ok(None) };
        if typed != AUTO {
            let names = typed.split(',').map(str::trim);
            return LabelLimits::of(names, parser.labels.labels())
                .map(Some)
                .with_context(|| format!("--at-most-one {typed}"));
        }
        if parser.single_labels.is_empty() {
            let error = anyhow!("{name} does not know labels that a head has on one modifier only");
            return Err(advise(
                error,
                "name labels, such as --at-most-one nsubj,obj; models know them if they were trained on enough trees",
            ));
        }
        Ok(Some(parser.label_limits()))
    }

    /// Draws trees if they go to a terminal and no format was given.
    pub(super) fn for_people(&self, output: &Path) -> Self {
        let draws = self.to.is_none() && output == Path::new("-") && io::stdout().is_terminal();
        Self { to: if draws { Some(To::Draw) } else { self.to }, ..self.clone() }
    }

    /// Writes lines of JSON, as `--json` asks for if there is no other output.
    pub(super) fn into_json(self) -> Result<Self> {
        match self.to {
            Some(To::Conll) => Err(usage(
                "--json and --to conll both go to standard output; leave out one, or name a file with -o",
            )),
            _ => Ok(Self { to: Some(To::Jsonl), ..self }),
        }
    }

    /// Returns `true` if several trees of a sentence are wanted.
    pub(super) fn is_list(&self) -> bool {
        self.kbest.is_some() || self.sample.is_some()
    }

    /// Returns `true` if lines of JSON were asked for.
    pub(crate) fn is_jsonl(&self) -> bool {
        self.to == Some(To::Jsonl)
    }

    /// Returns `true` if lines of JSON are written to a file of this name. Refuses --matrix in other formats, and
    /// names that promise another format.
    pub(crate) fn check_output(&self, output: &Path) -> Result<bool> {
        let extension = output.extension().and_then(|end| end.to_str()).map(str::to_lowercase);
        let name = output.display();
        match extension.as_deref() {
            Some("json") if self.to.is_none() => {
                return Err(usage(format!(
                    "{name} would be CoNLL; for one JSON object per line, add --to jsonl or call it .jsonl"
                )));
            }
            Some("html") if self.to.is_none() => {
                return Err(usage(format!(
                    "{name} would be CoNLL; for a page, pipe it into `tutte draw - -o {name}`"
                )));
            }
            Some(other) if self.to.is_none() && OTHER_FORMATS.contains(&other) => {
                return Err(usage(format!(
                    "{name} would be CoNLL; names that choose a format end in .conllu, .jsonl, .svg or .png, and --to \
                     conll writes any name"
                )));
            }
            _ => {}
        }
        let jsonl = self.to.map_or_else(|| crate::input::is_jsonl(output), |to| to == To::Jsonl);
        if self.matrix && !jsonl {
            return Err(usage("--matrix is for jsonl; add --to jsonl, or call OUT .jsonl"));
        }
        Ok(jsonl)
    }

    /// Returns the format of the picture that a file of this name promises, if it is one and no other format was asked
    /// for.
    ///
    /// # Errors
    /// If it cannot be drawn here, or the options ask for what pictures do not show.
    pub(super) fn picture(&self, output: &Path) -> Result<Option<Kind>> {
        let extension = output.extension().and_then(|end| end.to_str());
        let kind = extension.and_then(Kind::of_extension).filter(|kind| *kind != Kind::Text);
        let Some(kind) = kind.filter(|_| self.to.is_none()) else { return Ok(None) };
        if kind == Kind::Png {
            png::check()?;
        }
        Ok(Some(kind))
    }

    /// Returns the probability below which heads are left open, as given by --min-prob or --precision.
    fn least_probability(
        &self,
        model: &Model<Compact>,
        model_args: &ModelArgs,
        session: &Session,
    ) -> Result<Option<f64>> {
        let Some(precision) = self.precision else { return Ok(self.min_prob) };
        let file = model_args.model_source.name();
        let calibrated =
            model.parser.as_ref().and_then(|trees| Some((trees, trees.calibration.as_ref()?)));
        let Some((trees, calibration)) = calibrated else {
            let error = anyhow!("{file} does not know how precise its probabilities are");
            let hint =
                format!("`tutte calibrate -m {file} DEV --write` measures it on held-out trees");
            return Err(advise(error, hint));
        };
        let table = &calibration.precision;
        let on = calibration.data.as_deref().unwrap_or("its dev");
        let tree_set = model_args.tree_set(trees);
        let knows = self.keep_heads || self.keep_labels;
        if self.decode != Decode::Mbr || tree_set != trees.tree_set || knows {
            session.note(format!(
                "note: precision was measured of mbr trees in the set {}, with nothing known, and may be \
                 another here",
                trees.tree_set
            ));
        }
        if let Some(kept) = table.keeping(precision) {
            session.note(format!(
"heads below {:.4} are left open; on {on} that keeps {} % of all heads, and {} % of those are right",
                kept.threshold,
                hundredths(table.share(kept)),
                hundredths(kept.precision())
            ));
            return Ok(Some(kept.threshold));
        }
        Err(cannot_promise(precision, &file, calibration, ""))
    }

    /// Returns the probability below which heads are left open in raw text, which has a calibration of its own.
    fn least_probability_of_text(
        &self,
        given: Option<f64>,
        model: &Model<Compact>,
        session: &Session,
    ) -> Option<f64> {
        let text = model.parser.as_ref().and_then(|parser| parser.text_calibration.as_ref());
        let (Some(precision), Some(text)) = (self.precision, text) else { return given };
        let kept = text.calibration.precision.keeping(precision)?;
        session.note(format!("in raw text, heads below {:.4} are left open", kept.threshold));
        Some(kept.threshold)
    }
}

/// Makes the error that a calibration does not reach a precision. `of_what` is empty or names the input.
fn cannot_promise(
    precision: f64,
    model: &str,
    calibration: &Calibration,
    of_what: &str,
) -> anyhow::Error {
    let on = calibration.data.as_deref().unwrap_or("its dev");
    let words = counted(calibration.words, "word");
    let error = anyhow!(
        "{model} cannot promise a precision of {precision}{of_what}, by the {words} of {on}"
    );
    let table = &calibration.precision;
    match table.highest() {
        Some((most, kept)) => {
            let share = hundredths(table.share(kept));
            advise(error, format!("--precision {most} is the most; it keeps {share} % of heads"))
        }
        None => advise(error, "`tutte calibrate` with more trees may help"),
    }
}

impl<'a> Task<'a> {
    /// Makes a worker. Each thread needs its own.
    pub(crate) fn worker(&self) -> Worker<'_> {
        let ParseOptions { keep_heads, keep_labels, .. } = *self.wanted;
        let pipeline = self.wanted.tagging.of(self.model);
        let pipeline = pipeline.with_decoding(self.decoding());
        let pipeline = match &self.label_limits {
            Some(limits) => pipeline.with_label_limits(limits),
            None => pipeline,
        };
        let annotator = match self.model_args.tree_set {
            Some(tree_set) => pipeline.with_tree_set(tree_set).annotator(),
            None => pipeline.annotator(),
        };
        let keep = KeepColumns { heads: keep_heads, labels: keep_labels };
        Worker { annotator, keep, words: WordSource::default(), task: self }
    }

    /// Refuses a precision that the model does not reach for words of this source.
    pub(super) fn check_precision(&self, words: WordSource) -> Result<()> {
        let text = self.model.parser.as_ref().and_then(|parser| parser.text_calibration.as_ref());
        match (self.wanted.precision, text) {
            (Some(precision), Some(text))
                if words == WordSource::Model && self.text_min_prob.is_none() =>
            {
                let name = self.model_args.model_source.name();
                Err(cannot_promise(precision, &name, &text.calibration, " in raw text"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the content of the annotation of a sentence whose words come from this source.
    pub(super) fn annotation_options(&self, words: WordSource) -> AnnotationOptions {
        let open_below = match words {
            WordSource::Model => self.text_min_prob,
            _ => self.min_prob,
        };
        AnnotationOptions::default()
            .with_detail(if self.probs { Detail::Words } else { Detail::Tree })
            .with_alternatives_above(self.wanted.alt)
            .with_open_below(open_below.unwrap_or(0.0))
            .with_marginals(self.wanted.matrix)
    }

    fn decoding(&self) -> Decoding {
        match self.wanted.decode {
            Decode::Mbr | Decode::Greedy => Decoding::Mbr,
            Decode::Map => Decoding::Map,
            Decode::MaxZ => Decoding::MaxZ,
        }
    }
}
