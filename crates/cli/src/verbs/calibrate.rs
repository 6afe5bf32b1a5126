//! `tutte calibrate`: calibrated probabilities of heads.
//!
//! The library fits and compares (`tutte::Calibrator`). `calibrate/warnings.rs` looks for reasons not to trust the
//! result, `calibrate/findings.rs` lays it out.

mod findings;
mod warnings;

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
use crate::input::{Threads, TreebankArgs, note_untagged};
use crate::output::output_file;
use crate::session::Session;

/// Calibrate a model's probabilities on held-out trees
///
/// Fits the probabilities of heads to the trees of DEV, which must not be training data. Stores the better of two
/// methods in the model. Each method is tested on parts of DEV that it was not fitted on.
///
/// temperature divides the scores of all arcs by one number. It changes every probability, and may change the tree of
/// --decode mbr. isotonic also maps the probabilities of the heads that are written (HeadProb, --min-prob,
/// --precision) by a rising function; it changes nothing else.
///
/// Also stores the table that `tutte parse --precision` uses. If the model will parse raw text, calibrate with
/// --tags model, as `tutte train` does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte calibrate -m en.tutte dev.conllu
  tutte calibrate -m en.tutte dev.conllu --dry-run --html calibration.html
  tutte calibrate -m en.tutte letters.conllu -o en-letters.tutte --method temperature")]
pub(crate) struct Calibrate {
    /// Model to calibrate; it is replaced unless -o is given
    #[arg(short, long, value_name = "MODEL")]
    model: PathBuf,

    /// Held-out trees; - is standard input
    #[arg(value_name = "DEV", required = true)]
    files: Vec<PathBuf>,

    /// Model to write instead of replacing MODEL
    #[arg(short, long, value_name = "NEW", value_parser = output_file())]
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

    /// Report the result without writing a model
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,

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
    let output = arguments.output.as_ref().unwrap_or(&arguments.model);
    if output.as_os_str() == "-" {
        return Err(usage("a model cannot be written to standard output; name a file with -o"));
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
        MethodArg::Auto => comparison.better(),
        MethodArg::Temperature => Method::Temperature,
        MethodArg::Isotonic => Method::Isotonic,
    };
    let (temperature, calibration) = calibrator.fit(method)?;
    let calibration = Calibration { data: Some(names(&arguments.files)), ..calibration };
    for warning in warnings::find(&arguments.files, &dev, &comparison, pipeline.parser()?, &about) {
        session.warn(&anyhow::Error::msg(warning));
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
        session.note(format!("{} is unchanged", arguments.model.display()));
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

/// Refuses outputs that are inputs, except for the model.
fn refuse_inputs(arguments: &Calibrate, output: &Path) -> Result<()> {
    let is_same = |a: &Path, b: &Path| match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    };
    let refuse = |path: &Path, what: &str| {
        Err(usage(format!("{} is {what}; name another file to write", path.display())))
    };
    let is_dev = |path: &Path| arguments.files.iter().any(|file| is_same(file, path));
    if is_dev(output) {
        return refuse(output, "an input (DEV)");
    }
    match &arguments.html {
        Some(page) if is_dev(page) => refuse(page, "an input (DEV)"),
        Some(page) if is_same(page, &arguments.model) || is_same(page, output) => {
            refuse(page, "the model")
        }
        _ => Ok(()),
    }
}

/// Joins the names of files.
pub(super) fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    names.join(", ")
}
