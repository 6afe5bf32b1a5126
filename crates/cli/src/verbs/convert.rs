//! `tutte convert`: another format, another order, a sample or a split of a treebank.
//!
//! ```text
//! read → leave out → (sample) → (shuffle) → (split) → change → convert → write
//! ```
//! Without the steps in brackets, one sentence is in memory at a time. A sample is kept in memory; a shuffle or a split
//! keeps the text of the whole treebank. Files appear when all of them are complete.

mod conversion;
mod summary;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use tutte::text::raw_text;
use tutte_treebank::{Format, create};

use self::conversion::Conversion;
use crate::failure::{Outcome, cannot_write, usage};
use crate::files::Files;
use crate::input::TreebankArgs;
use crate::output::{check_folder_of, output_file};
use crate::session::Session;

/// Change the format, trees or order of a treebank; sample or split it
///
/// The format of IN is recognised from its content, that of OUT from its name (.conllu, .conll, .conllx, optionally
/// .gz or .zst). Values that the new format has no column for are left out and counted. IN and OUT may be the same
/// file: outputs are replaced when all are complete. A file that keeps its format and trees is copied byte for byte.
/// With -o, several files are joined.
#[derive(Debug, Args)]
#[command(
    override_usage = "tutte convert [OPTIONS] IN OUT\n       tutte convert [OPTIONS] IN... -o OUT"
)]
#[command(after_help = "\
Examples:
  tutte convert bank.conllu bank.conll --conllx-pos-from xpos
  tutte convert part-*.conllu -o bank.conllu
  tutte convert bank.conllu.gz parts.conllu --shuffle --seed 1 --split 80/10/10
  tutte convert bank.conllu - --sample 100 --strip-heads | my-parser")]
pub(crate) struct Convert {
    /// Treebank to read, and file to write; - is standard input or output. With -o, all are read
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// File to write; - is standard output
    #[arg(short, long, value_name = "OUT", value_parser = output_file())]
    output: Option<PathBuf>,

    /// Format to write, conllu or conllx [default: by the name of OUT, else that of IN]
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,

    /// Write the raw text of the treebank, with a blank line between paragraphs and documents
    #[arg(long, conflicts_with_all = ["to", "conllx_pos_from", "projectivise", "strip_heads", "max_length"])]
    #[arg(conflicts_with_all = ["sample", "shuffle", "split"])]
    raw_text: bool,

    /// Source of CPOSTAG and POSTAG in CoNLL-X [default: UPOS for CPOSTAG, XPOS for POSTAG]
    #[arg(long, value_name = "TAGS")]
    conllx_pos_from: Option<PosFrom>,

    /// Make all trees projective with as few changed heads as possible; labels stay
    #[arg(long, conflicts_with = "strip_heads")]
    projectivise: bool,

    /// Remove heads and labels: HEAD, DEPREL, DEPS, PHEAD, PDEPREL, and HeadProb in MISC
    #[arg(long)]
    strip_heads: bool,

    /// Leave out sentences longer than N words
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,

    /// Take N random sentences, in their order
    #[arg(long, value_name = "N")]
    sample: Option<usize>,

    /// Shuffle sentences, or documents with --split-by document
    #[arg(long)]
    shuffle: bool,

    /// Seed of random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Write parts with these shares: OUT-train, OUT-dev and OUT-test (two shares: OUT-train, OUT-test)
    #[arg(long, value_name = "80/10/10", value_parser = shares)]
    split: Option<Shares>,

    /// Unit that is not divided between parts
    #[arg(long, value_name = "UNIT", requires = "split", default_value = "sentence")]
    split_by: Unit,

    #[command(flatten)]
    reading: TreebankArgs,
}

/// Column of tags.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PosFrom {
    /// POSTAG is XPOS or else UPOS; CPOSTAG is UPOS or else XPOS
    Xpos,
    /// Both are UPOS, or else XPOS
    Upos,
}

/// Unit that is not divided between parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    Sentence,
    /// From one `# newdoc` to the next
    Document,
}

/// Shares of a split.
#[derive(Clone, Debug)]
struct Shares(Vec<u32>);

fn shares(typed: &str) -> Result<Shares, String> {
    let shares: Option<Vec<u32>> = typed
        .split('/')
        .map(|share| share.trim().parse().ok().filter(|&share| share > 0))
        .collect();
    match shares {
        Some(shares) if (2..=3).contains(&shares.len()) => Ok(Shares(shares)),
        _ => Err("expected two or three whole numbers above 0, such as 80/10/10 or 9/1".into()),
    }
}

impl Shares {
    fn names(&self) -> &'static [&'static str] {
        if self.0.len() == 2 { &["-train", "-test"] } else { &["-train", "-dev", "-test"] }
    }
}

/// The files of a conversion.
#[derive(Debug)]
struct ConversionFiles {
    inputs: Vec<PathBuf>,
    output: PathBuf,
}

pub(crate) fn run(arguments: &Convert, session: &Session) -> Result<Outcome> {
    let files = arguments.conversion_files()?;
    arguments.check(&files, session)?;
    if arguments.raw_text {
        return write_text(arguments, &files, session);
    }
    let mut conversion = Conversion::new(arguments, &files, session);
    if arguments.sample.is_some() || arguments.shuffle || arguments.split.is_some() {
        conversion.select()?;
    } else {
        conversion.stream()?;
    }
    conversion.summary.report(arguments, &files, session)?;
    Ok(session.end(Outcome::Good))
}

/// Writes the raw text of treebanks.
fn write_text(arguments: &Convert, files: &ConversionFiles, session: &Session) -> Result<Outcome> {
    let mut sentences = Vec::new();
    for input in &files.inputs {
        sentences.extend(arguments.reading.read_all(input, session)?);
    }
    let mut writer = create(&files.output)?;
    let failed = || cannot_write(&files.output);
    writer.write_tail(&raw_text(&sentences)).with_context(failed)?;
    writer.finish().with_context(failed)?.commit()?;
    Ok(session.end(Outcome::Good))
}

impl Convert {
    /// Returns the files of the run.
    pub(super) fn files(&self) -> Files {
        // Names that are not clear are reported later.
        self.conversion_files().map_or_else(
            |_| Files::default(),
            |files| Files::default().reads(&files.inputs).writes("OUT", self.outputs(&files)),
        )
    }

    /// Returns the files to read and to write.
    fn conversion_files(&self) -> Result<ConversionFiles> {
        let (inputs, output) = match (&self.output, &self.files[..]) {
            (Some(output), inputs) => (inputs.to_vec(), output.clone()),
            (None, [input, output]) => (vec![input.clone()], output.clone()),
            (None, [_]) => {
                return Err(usage("no file to write; add OUT, or - for standard output"));
            }
            (None, files) => {
                let inputs = files.len();
                let last = inputs - 1;
                return Err(usage(format!(
                    "{inputs} files, but it is not clear which to write: join {last} files with `tutte convert IN... \
                     -o OUT`"
                )));
            }
        };
        check_folder_of(&output)?;
        Ok(ConversionFiles { inputs, output })
    }

    /// Checks combinations of arguments that clap cannot check.
    fn check(&self, files: &ConversionFiles, session: &Session) -> Result<()> {
        if files.output == Path::new("-") {
            if self.split.is_some() {
                return Err(usage(
                    "--split writes several files; name OUT, for example parts.conllu",
                ));
            }
            if session.json() {
                return Err(usage("--json and OUT both go to standard output; name a file as OUT"));
            }
        }
        if self.to.is_none() && !self.raw_text {
            check_extension(&files.output)?;
        }
        if self.conllx_pos_from.is_some() && self.target(files) != Some(Format::ConllX) {
            return Err(usage("--conllx-pos-from needs output in CoNLL-X: add --to conllx"));
        }
        Ok(())
    }

    /// Returns the format to write; `None` for that of the input.
    fn target(&self, files: &ConversionFiles) -> Option<Format> {
        self.to.or_else(|| match format_name(&files.output)?.as_str() {
            "conllu" => Some(Format::ConllU),
            "conll" | "conllx" | "conll06" | "conll07" => Some(Format::ConllX),
            _ => None,
        })
    }

    /// Returns the files to write.
    fn outputs(&self, files: &ConversionFiles) -> Vec<PathBuf> {
        let output = &files.output;
        let Some(shares) = &self.split else { return vec![output.clone()] };
        let (stem, extension) = split_name(output);
        let named = |part: &&str| {
            let name = [&stem, OsStr::new(part), &extension].into_iter().collect::<OsString>();
            output.with_file_name(name)
        };
        shares.names().iter().map(named).collect()
    }
}

/// Refuses a name whose extension promises another format than that of a treebank.
fn check_extension(output: &Path) -> Result<()> {
    /// Extensions that name a format.
    const KNOWN: [&str; 5] = ["conllu", "conll", "conllx", "conll06", "conll07"];
    let Some(name) = format_name(output) else { return Ok(()) };
    if KNOWN.contains(&name.as_str()) || ["gz", "zst"].contains(&name.as_str()) {
        return Ok(());
    }
    let instead = match name.as_str() {
        "txt" => "; add --raw-text for the text alone",
        "json" | "jsonl" => "; for JSON, `tutte parse --keep-heads --to jsonl`",
        "svg" | "png" | "html" | "tex" => "; for pictures, `tutte draw`",
        _ => "",
    };
    Err(usage(format!(
        "{}: .{name} is not an extension of treebanks; known are .{}, also with .gz or .zst; --to conllu or --to \
         conllx writes any name{instead}",
        output.display(),
        KNOWN.join(", .")
    )))
}

/// Returns the extension that names the format, in lower case: `conllu` for `bank.CoNLLU.gz`.
fn format_name(path: &Path) -> Option<String> {
    let extension = split_name(path).1.to_ascii_lowercase();
    Some(extension.to_str()?.split('.').nth(1)?.to_owned())
}

/// Splits `bank.conllu.gz` into `bank` and `.conllu.gz`.
fn split_name(path: &Path) -> (OsString, OsString) {
    let mut stem = path.as_os_str();
    let mut extension = OsString::new();
    // Names may not be UTF-8, so the methods of `Path` split them.
    while let (Some(shorter), Some(end)) =
        (Path::new(stem).file_stem(), Path::new(stem).extension())
    {
        let is_compression = ["gz", "zst"].iter().any(|known| end.eq_ignore_ascii_case(known));
        let is_first = extension.is_empty();
        extension = [OsStr::new("."), end, &extension].into_iter().collect();
        stem = shorter;
        if !(is_compression && is_first) {
            break;
        }
    }
    (Path::new(stem).file_name().unwrap_or_default().to_owned(), extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_before_the_format() {
        let split = |name: &str| {
            let (stem, extension) = split_name(Path::new(name));
            (stem.into_string().unwrap(), extension.into_string().unwrap())
        };
        for (name, stem, extension) in [
            ("a/bank.conllu", "bank", ".conllu"),
            ("bank.conllu.gz", "bank", ".conllu.gz"),
            ("en.ewt.conll.ZST", "en.ewt", ".conll.ZST"),
            ("bank.gz", "bank", ".gz"),
            ("bank.gz.gz", "bank", ".gz.gz"),
            ("bank", "bank", ""),
            (".conllu", ".conllu", ""),
            (".bank.conllu", ".bank", ".conllu"),
            ("..", "", ""),
        ] {
            assert_eq!(split(name), (stem.to_owned(), extension.to_owned()), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn parts_keep_names_that_are_not_utf8() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = OsStr::from_bytes(b"caf\xe9.conllu.gz");
        let (stem, extension) = split_name(Path::new(name));
        assert_eq!(stem.as_bytes(), b"caf\xe9");
        assert_eq!(extension, ".conllu.gz");
    }
}
