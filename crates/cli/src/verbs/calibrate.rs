//! `tutte calibrate`: calibrated probabilities of heads.
//!
//! The library fits and compares (`tutte::Calibrator`). `calibrate/warnings.rs` looks for reasons not to trust the
//! result, `calibrate/findings.rs` lays it out.

mod findings;
mod warnings;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};
#[cfg(feature = "neural")]
use tutte::ScoreWeights;
#[cfg(feature = "neural")]
use tutte::learn::FactorWeight;
use tutte::text::is_untagged;
use tutte::{
    Calibration, Calibrator, Compact, Method, Model, ModelFile, TextCalibration, WordSource,
};
use tutte_treebank::{FileId, Sentence};

use self::findings::Findings;
pub(super) use self::findings::precision_row;
use super::eval::analyses::bins;
use super::parse::TagOptions;
use super::train::command_line::base_names;
#[cfg(not(feature = "neural"))]
use crate::failure::advise;
use crate::failure::{Outcome, usage};
use crate::files::Files;
use crate::input::{Threads, TreebankArgs, note_untagged};
#[cfg(feature = "neural")]
use crate::numbers::counted;
use crate::output::output_file;
use crate::session::Session;

/// Calibrate a model's probabilities on held-out trees
///
/// Measures the probabilities of heads on the trees of DEV, which must not be training data, and fits two methods to
/// them. Each method is tested on parts of DEV that it was not fitted on. With --write or -o, the better method is
/// stored in a model; without, nothing is written.
///
/// temperature divides the scores of all arcs by one number. It changes every probability, and may change the tree of
/// --decode mbr. isotonic also maps the probabilities of the heads that are written (HeadProb, --min-prob,
/// --precision) by a rising function; it changes nothing else.
///
/// Also stores the table that `tutte parse --precision` uses. If the tags of the text will come from the model, add
/// --tags model, as `tutte train` does. Raw text has a calibration of its own: add --raw-text.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte calibrate -m en.tutte dev.conllu --html calibration.html
  tutte calibrate -m en.tutte dev.conllu --write
  tutte calibrate -m en.tutte dev.conllu --write --raw-text
  tutte calibrate -m large.tutte dev.conllu -o large8.tutte --eight-bit
  tutte calibrate -m large.tutte dev.conllu -o both.tutte --with-features en.tutte --tags model
  tutte calibrate -m en.tutte letters.conllu -o en-letters.tutte --method temperature")]
pub(crate) struct Calibrate {
    /// Model to calibrate
    #[arg(short, long, value_name = "MODEL")]
    model: PathBuf,

    /// Held-out trees; - is standard input
    #[arg(value_name = "DEV", required = true)]
    files: Vec<PathBuf>,

    /// Replace MODEL by the calibrated model
    #[arg(long)]
    write: bool,

    /// Write the calibrated model to another file
    #[arg(short, long, value_name = "NEW", conflicts_with = "write", value_parser = output_file())]
    output: Option<PathBuf>,

    /// Method: temperature, isotonic, or auto (isotonic if it has both a lower calibration error and a higher
    /// likelihood on held-out parts of DEV)
    #[arg(
        long,
        value_name = "METHOD",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    method: MethodArg,

    /// Calibrate for raw text: the model finds words, sentences and tags in the text of DEV
    ///
    /// Words and sentences that the model finds are wrong at times, so probabilities from raw text are lower. This
    /// fits the calibration that `tutte parse` uses for raw text, and changes nothing else.
    #[arg(long)]
    raw_text: bool,

    /// Round the weights of a network to 8 bits first: a quarter of the size, and twice as fast
    ///
    /// Other weights have 8 bits anyway. Probabilities change a little, so the new model is calibrated.
    #[arg(long, requires = "output")]
    eight_bit: bool,

    /// Join MODEL, a network, with the features of another model; DEV decides the weights of both
    ///
    /// FEATURES is a model of the same treebank that was trained without --encoder. The scores of both are added, with
    /// weights that give the trees of DEV the highest probability. Factors of FEATURES stay, with a weight of their own.
    /// Tags come from the model whose UPOS are right more often on DEV. Needs a program built with --features neural.
    #[arg(long, value_name = "FEATURES", requires = "output")]
    with_features: Option<PathBuf>,

    /// Write an HTML page with tables and diagrams
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    html: Option<PathBuf>,

    /// Write reliability diagrams and risk–coverage curves as SVG into a folder
    #[arg(long, value_name = "DIR")]
    svg_dir: Option<PathBuf>,

    /// Number of bins of probabilities in tables and diagrams
    #[arg(long, value_name = "N", default_value = "10", value_parser = bins)]
    bins: NonZeroUsize,

    #[command(flatten)]
    tagging: TagOptions,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// Method of calibration, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    Auto,
    Temperature,
    Isotonic,
}

pub(crate) fn run(arguments: &Calibrate, session: &Session) -> Result<Outcome> {
    let ModelFile { mut model, about, .. } = ModelFile::open(&arguments.model)?;
    if arguments.eight_bit {
        let parser = model.parser.as_mut().filter(|parser| parser.network.is_some());
        let Some(parser) = parser else {
            return Err(usage(
                "--eight-bit is for networks; the weights of this model have 8 bits already",
            ));
        };
        parser.network = parser.network.as_ref().map(|network| network.quantize()).map(Arc::new);
    }
    let mut dev: Vec<Sentence> = Vec::new();
    for path in &arguments.files {
        dev.extend(arguments.reading.read_all(path, session)?);
    }
    if let Some(path) = &arguments.with_features {
        model = joined(&ModelFile::open(path)?.model, &model, &dev, arguments, session)?;
    }
    arguments.tagging.check(&model, &arguments.model.display().to_string())?;
    if !model.finds_tags() {
        let untagged = dev.iter().filter(|sentence| is_untagged(sentence)).count();
        note_untagged(untagged, dev.len(), session);
    }
    let pipeline = arguments.tagging.of(&model);
    let threads = arguments.threads.count();
    let calibrator = if arguments.raw_text {
        Calibrator::of_text(&pipeline, &dev, threads)?
    } else {
        Calibrator::of(&pipeline, &dev, threads)?
    };
    let comparison = calibrator.compare()?;
    let method = match arguments.method {
        MethodArg::Auto => comparison.better(),
        MethodArg::Temperature => Method::Temperature,
        MethodArg::Isotonic => Method::Isotonic,
    };
    let (temperature, calibration) = calibrator.fit(method)?;
    let calibration = Calibration { data: Some(base_names(&arguments.files)), ..calibration };
    for warning in warnings::find(&arguments.files, &dev, &comparison, pipeline.parser()?, &about) {
        session.warn(&anyhow::Error::msg(warning));
    }
    let words = if arguments.raw_text { WordSource::Model } else { WordSource::Given };
    let before = words.temperature(pipeline.parser()?);
    // The model is safe before anything is printed: the reader of the output may be gone.
    let written = arguments.written();
    if let Some(path) = written {
        if let Some(parser) = &mut model.parser {
            let calibration = calibration.clone();
            if arguments.raw_text {
                parser.text_calibration = Some(TextCalibration { temperature, calibration });
            } else {
                parser.temperature = temperature;
                parser.calibration = Some(calibration);
            }
        }
        model.save(path, &about)?;
        session.note(format!("{} written", path.display()));
    }
    let findings = Findings {
        arguments,
        comparison: &comparison,
        before,
        temperature,
        calibration: &calibration,
    };
    findings.publish(session)?;
    if written.is_none() {
        let model = arguments.model.display();
        session.note(format!("{model} is unchanged; --write or -o NEW stores this calibration"));
    }
    Ok(session.end(Outcome::Good))
}

/// Joins a model of features with a network, and notes the weights.
#[cfg(feature = "neural")]
fn joined(
    features: &Model<Compact>,
    network: &Model<Compact>,
    dev: &[Sentence],
    arguments: &Calibrate,
    session: &Session,
) -> Result<Model<Compact>> {
    let mixed = tutte::learn::mix(features, network, dev, arguments.threads.count())?;
    let ScoreWeights { arcs, labels } = mixed.weights;
    let [both, features, network] = mixed.log_likelihoods;
    session.note(format!(
        "weights of arcs: features {:.2}, network {:.2}; of labels: features {:.2}, network {:.2}",
        arcs.features, arcs.network, labels.features, labels.network
    ));
    session.note(format!(
        "log-likelihood per word of {}: {both:.4}; of features alone {features:.4}, of the network alone {network:.4}",
        counted(mixed.words, "word")
    ));
    if let Some(factors) = mixed.factors {
        session.note(if factors.weight > 0.0 {
            let FactorWeight { weight, log_likelihood, .. } = factors;
            format!("weight of factors: {weight:.2}; log-likelihood per word with them: {log_likelihood:.4}")
        } else {
            "factors of the features are left out: they make the trees less probable".to_owned()
        });
    }
    if let Some(tags) = mixed.tags {
        let source = if tags.is_tagger_better() { "tagger" } else { "network" };
        session.note(format!("tags are those of the {source}: {tags}"));
    }
    Ok(mixed.model)
}

/// Refuses to join models, because this program has no networks.
#[cfg(not(feature = "neural"))]
fn joined(
    _: &Model<Compact>,
    _: &Model<Compact>,
    _: &[Sentence],
    _: &Calibrate,
    _: &Session,
) -> Result<Model<Compact>> {
    Err(advise(
        anyhow::anyhow!("--with-features needs networks, and this tutte was built without them"),
        "`cargo install --path crates/cli --features neural` builds it with them",
    ))
}

impl Calibrate {
    /// Returns the model to write, if one is to be written.
    fn written(&self) -> Option<&PathBuf> {
        if self.write { Some(&self.model) } else { self.output.as_ref() }
    }

    /// Returns the files of the run.
    ///
    /// # Errors
    /// If `-o` is not another file.
    pub(super) fn files(&self) -> Result<Files> {
        if let Some(output) = &self.output {
            if output.as_os_str() == "-" {
                return Err(usage(
                    "a model cannot be written to standard output; name a file with -o",
                ));
            }
            let id = FileId::of(output);
            if id.is_some() && id == FileId::of(&self.model) {
                let path = output.display();
                return Err(usage(format!(
                    "{path} is the model itself; replace it with --write, or name another file with -o"
                )));
            }
        }
        let files = Files::default().reads([&self.model]).reads(&self.with_features);
        let files = files.reads(&self.files);
        let files = files.writes("-o", &self.output).writes("--html", &self.html);
        let rewritten = self.write.then(|| self.model.parent()).flatten();
        Ok(files.fills(&self.svg_dir).fills(rewritten))
    }
}
