//! `tutte calibrate`: probabilities that are as high as they are right.
//!
//! The library fits and compares (`tutte::Calibrator`); `calibrate/doubts.rs` looks for reasons not to
//! trust what comes of it, `calibrate/findings.rs` lays it out.

mod doubts;
mod findings;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use tutte::text::is_untagged;
use tutte::{Calibration, Calibrator, Method, ModelFile};
use tutte_treebank::Sentence;

use self::findings::Findings;
pub(super) use self::findings::precision_row;
use super::eval::analyses::bins;
use super::parse::TagOptions;
use crate::failure::{Outcome, usage};
use crate::input::TreebankArgs;
use crate::input::{Threads, note_untagged};
use crate::session::Session;

/// Make a model's probabilities as high as they are right
///
/// Compares the probabilities of heads with the trees of DEV, which the model must not have learnt
/// from, chooses what makes them fit best, and stores it in the model, where every probability is
/// computed by it from then on. Two ways are judged, each on parts of DEV that it was not fitted on:
///
/// temperature divides the scores of arcs by one number. All probabilities are of one distribution over
/// trees as before, bare trees keep their order, and labels of an arc their shares.
///
/// isotonic adds a rising function of the probability. It concerns what is reported of the heads of
/// the tree that is written (HeadProb, --min-prob, --precision) and nothing else: other heads,
/// log-probabilities, entropies, --kbest, `tutte forest` and `tutte score` stay with the distribution.
///
/// Neither changes the tree of parse --decode map, which is the most probable one before any temperature; a temperature may change the one with the
/// most arcs expected to be right (mbr, the default), isotonic does not.
///
/// Sentences without tags get those of the model's tagger, as in `tutte parse`: probabilities are then the mean
/// over readings of the tags. If the model will parse raw text, calibrate with --tags model, as `tutte train`
/// does.
///
/// The table of precision that is stored, too, is what `tutte parse --precision` chooses by. It promises
/// what the lower end of a 95 % interval reaches, of heads; labels are not looked at.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte calibrate -m en.tutte dev.conllu
  tutte calibrate -m en.tutte dev.conllu --dry-run --html calibration.html
  tutte calibrate -m en.tutte letters.conllu -o en-letters.tutte --method temperature")]
pub(crate) struct Calibrate {
    /// The model, which is replaced if there is no -o
    #[arg(short, long, value_name = "MODEL")]
    model: PathBuf,

    /// Trees that the model has not learnt from; - is standard input
    #[arg(value_name = "DEV", required = true)]
    files: Vec<PathBuf>,

    /// The model to write instead of replacing MODEL
    #[arg(short, long, value_name = "NEW")]
    output: Option<PathBuf>,

    /// How: auto (isotonic if it has both a lower calibration error and a higher likelihood on parts of
    /// DEV that it was not fitted on), temperature or isotonic
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    method: Wanted,

    /// Write no model, only say what would be done
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,

    /// Write a page with tables and diagrams
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write reliability diagrams and risk–coverage curves as SVG into a folder
    #[arg(long, value_name = "DIR")]
    svg_dir: Option<PathBuf>,

    /// The number of bins of probabilities in tables and diagrams
    #[arg(long, value_name = "N", default_value = "10", value_parser = bins)]
    bins: NonZeroUsize,

    #[command(flatten)]
    tagging: TagOptions,

    #[command(flatten)]
    threads: Threads,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// How to calibrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Wanted {
    Auto,
    Temperature,
    Isotonic,
}

pub(crate) fn run(arguments: &Calibrate, session: &Session) -> Result<Outcome> {
    let output = arguments.output.as_ref().unwrap_or(&arguments.model);
    if output.as_os_str() == "-" {
        return Err(usage("a model is no text; name the file to write with -o"));
    }
    refuse_inputs(arguments, output)?;
    let ModelFile { mut model, about, .. } = ModelFile::open(&arguments.model)?;
    let mut dev: Vec<Sentence> = Vec::new();
    for path in &arguments.files {
        dev.extend(arguments.reading.read_all(path, session)?);
    }
    arguments.tagging.check(&model, &arguments.model.display().to_string())?;
    if model.tagger.is_none() {
        let untagged = dev.iter().filter(|sentence| is_untagged(sentence)).count();
        note_untagged(untagged, dev.len(), session);
    }
    let pipeline = arguments.tagging.of(&model);
    let calibrator = Calibrator::of(&pipeline, &dev, arguments.threads.count())?;
    let comparison = calibrator.compare()?;
    let method = match arguments.method {
        Wanted::Auto => comparison.better(),
        Wanted::Temperature => Method::Temperature,
        Wanted::Isotonic => Method::Isotonic,
    };
    let (temperature, calibration) = calibrator.fit(method)?;
    let calibration = Calibration { data: Some(names(&arguments.files)), ..calibration };
    for doubt in doubts::find(&arguments.files, &dev, &comparison, pipeline.parser()?, &about) {
        session.warn(&anyhow::Error::msg(doubt));
    }
    let findings = Findings {
        arguments,
        comparison: &comparison,
        before: pipeline.parser()?.temperature,
        temperature,
        calibration: &calibration,
    };
    findings.publish(session)?;
    if arguments.dry_run {
        session.note(format!("{} is as it was", arguments.model.display()));
    } else {
        if let Some(parser) = &mut model.parser {
            parser.temperature = temperature;
            parser.calibration = Some(calibration);
        }
        model.save(output, &about)?;
        session.note(format!("{} written", output.display()));
    }
    Ok(session.end(Outcome::Good))
}

/// What is read must not be what is written, but for the model.
fn refuse_inputs(arguments: &Calibrate, output: &Path) -> Result<()> {
    let same = |a: &Path, b: &Path| match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    };
    let refuse = |path: &Path, what: &str| {
        Err(usage(format!("{} is {what}; name another file to write", path.display())))
    };
    let is_dev = |path: &Path| arguments.files.iter().any(|file| same(file, path));
    if is_dev(output) {
        return refuse(output, "what is calibrated on");
    }
    match &arguments.html {
        Some(page) if is_dev(page) => refuse(page, "what is calibrated on"),
        Some(page) if same(page, &arguments.model) || same(page, output) => {
            refuse(page, "the model")
        }
        _ => Ok(()),
    }
}

/// Files, as they were named.
pub(super) fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(", ")
}
