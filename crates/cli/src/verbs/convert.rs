//! `tutte convert`: a treebank in another format, another order, or in parts.
//!
//! ```text
//! read → leave out → (sample) → (shuffle) → (split) → change → convert → write
//! ```
//! Without the steps in brackets one sentence is in memory at a time; a sample is in memory, and
//! for a shuffle or a split the text of the whole treebank. Files appear when all are complete.

mod summary;

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use clap::{Args, ValueEnum};
use tutte::text::raw_text;
use tutte_treebank::select::{Choices, Pool, Reservoir, split};
use tutte_treebank::{ConllxPos, Converter, Error, Format, Output, Sentence, Writer, create};

use self::summary::{Part, Summary};
use crate::failure::{Outcome, advise, usage};
use crate::leftovers;
use crate::report::counted;
use crate::session::{Reading, Session};

/// Change a treebank's format, trees or order; take a sample or split it
///
/// Formats are recognised: IN's from its content, OUT's from its name (.conllu, .conll, .conllx,
/// and .gz or .zst behind). What a format cannot hold is left out, counted and said. The same
/// format is written byte for byte as it was. IN and OUT may be the same file: files are replaced
/// when everything is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tutte convert bank.conllu bank.conll --conllx-pos-from xpos
  tutte convert bank.conllu.gz parts.conllu --shuffle --seed 1 --split 80/10/10
  tutte convert bank.conllu - --sample 100 --strip-heads | my-parser")]
pub(crate) struct Convert {
    /// The treebank to read; - is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write; - is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// The format to write, conllu or conllx [default: as OUT is called, or as IN is]
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,

    /// Write the raw text that the treebank stands for: words with the spaces of SpaceAfter, a blank line
    /// between paragraphs and documents
    #[arg(long, conflicts_with_all = ["to", "conllx_pos_from", "projectivise", "strip_heads", "max_length"])]
    #[arg(conflicts_with_all = ["sample", "shuffle", "split"])]
    raw_text: bool,

    /// What fills CPOSTAG and POSTAG of CoNLL-X [default: UPOS the one, XPOS the other]
    #[arg(long, value_name = "TAGS")]
    conllx_pos_from: Option<PosFrom>,

    /// Change as few heads as possible so that no arcs cross; labels stay
    #[arg(long, conflicts_with = "strip_heads")]
    projectivise: bool,

    /// Remove heads and labels: HEAD, DEPREL, DEPS, PHEAD, PDEPREL, and HeadProb in MISC
    #[arg(long)]
    strip_heads: bool,

    /// Leave out sentences of more than N words
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,

    /// Take N sentences at random, in their order
    #[arg(long, value_name = "N")]
    sample: Option<usize>,

    /// Put sentences, or with --split-by document documents, into random order
    #[arg(long)]
    shuffle: bool,

    /// The number that decides what is random; the same number, the same result
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Write parts of these shares: OUT-train, OUT-dev and OUT-test (two: OUT-train, OUT-test)
    #[arg(long, value_name = "80/10/10", value_parser = shares)]
    split: Option<Shares>,

    /// What a part is made of
    #[arg(long, value_name = "UNIT", requires = "split", default_value = "sentence")]
    split_by: Unit,

    #[command(flatten)]
    reading: Reading,
}

/// A column of tags.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PosFrom {
    /// POSTAG is XPOS, or where there is none UPOS; CPOSTAG the other way round
    Xpos,
    /// Both are UPOS, or where there is none XPOS
    Upos,
}

/// What goes into one part as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    Sentence,
    /// From one `# newdoc` to the next
    Document,
}

/// The shares of a split.
#[derive(Clone, Debug)]
struct Shares(Vec<u32>);

fn shares(typed: &str) -> Result<Shares, String> {
    let shares: Option<Vec<u32>> = typed
        .split('/')
        .map(|share| share.trim().parse().ok().filter(|&share| share > 0))
        .collect();
    match shares {
        Some(shares) if (2..=3).contains(&shares.len()) => Ok(Shares(shares)),
        _ => Err("shares are two or three whole numbers above 0, as in 80/10/10 or 9/1".into()),
    }
}

impl Shares {
    fn names(&self) -> &'static [&'static str] {
        if self.0.len() == 2 { &["-train", "-test"] } else { &["-train", "-dev", "-test"] }
    }
}

pub(crate) fn run(arguments: &Convert, session: &Session) -> Result<Outcome> {
    arguments.check(session)?;
    leftovers::remove_on_interrupt(arguments.outputs());
    if arguments.raw_text {
        return write_text(arguments, session);
    }
    let mut run = Run {
        arguments,
        session,
        converter: arguments.target().map(|to| match arguments.conllx_pos_from {
            None => Converter::new(to),
            Some(PosFrom::Xpos) => Converter::new(to).with_conllx_pos(ConllxPos::Xpos),
            Some(PosFrom::Upos) => Converter::new(to).with_conllx_pos(ConllxPos::Upos),
        }),
        summary: Summary::default(),
    };
    if arguments.sample.is_some() || arguments.shuffle || arguments.split.is_some() {
        run.select()?;
    } else {
        run.stream()?;
    }
    run.summary.report(arguments, session)?;
    Ok(session.end(Outcome::Good))
}

/// Writes the raw text of a treebank.
fn write_text(arguments: &Convert, session: &Session) -> Result<Outcome> {
    let sentences = session.read_all(&arguments.input, &arguments.reading)?;
    let mut writer = create(&arguments.output)?;
    let failed = || cannot_write(&arguments.output.display().to_string());
    writer.write_tail(&raw_text(&sentences)).with_context(failed)?;
    writer.finish().with_context(failed)?.commit()?;
    Ok(session.end(Outcome::Good))
}

impl Convert {
    /// What clap cannot see.
    fn check(&self, session: &Session) -> Result<()> {
        if self.output == Path::new("-") {
            if self.split.is_some() {
                return Err(usage("--split writes several files; name OUT, parts.conllu say"));
            }
            if session.json() {
                return Err(usage("--json goes to standard output, and so does OUT; name a file"));
            }
        }
        if self.conllx_pos_from.is_some() && self.target() != Some(Format::ConllX) {
            return Err(usage("--conllx-pos-from is for output in CoNLL-X: add --to conllx"));
        }
        Ok(())
    }

    /// The format to write; `None` for that of the input.
    fn target(&self) -> Option<Format> {
        let extension = split_name(&self.output).1.to_ascii_lowercase();
        self.to.or_else(|| match extension.to_str()?.split('.').nth(1)? {
            "conllu" => Some(Format::ConllU),
            "conll" | "conllx" | "conll06" | "conll07" => Some(Format::ConllX),
            _ => None,
        })
    }

    /// The files to write.
    fn outputs(&self) -> Vec<PathBuf> {
        let Some(shares) = &self.split else { return vec![self.output.clone()] };
        let (stem, extension) = split_name(&self.output);
        let named = |part: &&str| {
            let name = [&stem, OsStr::new(part), &extension].into_iter().collect::<OsString>();
            self.output.with_file_name(name)
        };
        shares.names().iter().map(named).collect()
    }
}

/// `bank.conllu.gz` as `bank` and `.conllu.gz`.
fn split_name(path: &Path) -> (OsString, OsString) {
    let (mut stem, mut extension) = (path.as_os_str(), OsString::new());
    // Names need not be UTF-8, so they are taken apart by the path's own methods.
    while let (Some(shorter), Some(end)) =
        (Path::new(stem).file_stem(), Path::new(stem).extension())
    {
        let compression = ["gz", "zst"].iter().any(|known| end.eq_ignore_ascii_case(known));
        let first = extension.is_empty();
        extension = [OsStr::new("."), end, &extension].into_iter().collect();
        stem = shorter;
        if !(compression && first) {
            break;
        }
    }
    (Path::new(stem).file_name().unwrap_or_default().to_owned(), extension)
}

struct Run<'a> {
    arguments: &'a Convert,
    session: &'a Session,
    converter: Option<Converter>,
    summary: Summary,
}

impl Run<'_> {
    /// From reader to writer, one sentence at a time.
    fn stream(&mut self) -> Result<()> {
        let mut output = PartWriter::create(&self.arguments.output)?;
        let mut same_format = true;
        let tail = self.read(|run, sentence| {
            let format = sentence.format();
            if run.change(sentence)? {
                same_format &= sentence.format() == format;
                output.write(sentence)?;
            }
            Ok(())
        })?;
        if same_format && self.summary.too_long == 0 {
            output.write_tail(&tail)?;
        }
        self.finish(vec![output])
    }

    /// Reads everything that is needed, puts it in order, and writes the parts.
    fn select(&mut self) -> Result<()> {
        let (pool, documents) = self.collect()?;
        let mut units = self.units(&documents)?;
        if self.arguments.shuffle {
            Choices::new(self.arguments.seed).shuffle(&mut units);
        }
        let sizes: Vec<usize> = units.iter().map(Range::len).collect();
        let cuts = match &self.arguments.split {
            None => vec![units.len()],
            Some(Shares(shares)) => split(&sizes, shares),
        };
        let mut outputs = Vec::new();
        let mut sentence = Sentence::default();
        let mut start = 0;
        for (path, end) in self.arguments.outputs().iter().zip(cuts) {
            let mut output = PartWriter::create(path)?;
            for number in units[start..end].iter().flat_map(Range::clone) {
                if pool.read(number, &mut sentence)? && self.change(&mut sentence)? {
                    output.write(&sentence)?;
                }
            }
            outputs.push(output);
            start = end;
        }
        self.finish(outputs)
    }

    /// All sentences, or a sample of them, and the number of the document that each is in.
    fn collect(&mut self) -> Result<(Pool, Vec<usize>)> {
        let (mut pool, mut documents) = (Pool::default(), Vec::new());
        let mut sample =
            self.arguments.sample.map(|size| Reservoir::new(size, self.arguments.seed));
        self.read(|run, sentence| {
            let document = run.summary.documents;
            match &mut sample {
                Some(sample) => sample.offer(|| (sentence.clone(), document)),
                None => {
                    pool.push(sentence);
                    documents.push(document);
                }
            }
            Ok(())
        })?;
        for (sentence, document) in sample.into_iter().flat_map(Reservoir::into_items) {
            pool.push(&sentence);
            documents.push(document);
        }
        Ok((pool, documents))
    }

    /// The runs of sentences that stay together.
    fn units(&self, documents: &[usize]) -> Result<Vec<Range<usize>>> {
        let by_document = self.arguments.split_by == Unit::Document;
        let found = self.summary.documents;
        if by_document && found < 2 {
            let error = anyhow!("{} is not divided into documents", self.summary.input);
            return Err(advise(error, "each starts with # newdoc; or leave out --split-by"));
        }
        if !by_document && self.arguments.split.is_some() && found > 1 {
            let found = counted(found, "document");
            self.session.note(format!("{found}: --split-by document keeps each in one part"));
        }
        let mut units: Vec<Range<usize>> = Vec::new();
        for (number, document) in documents.iter().enumerate() {
            match units.last_mut() {
                Some(unit) if by_document && documents[unit.start] == *document => {
                    unit.end = number + 1;
                }
                _ => units.push(number..number + 1),
            }
        }
        Ok(units)
    }

    /// Every sentence that is not too long; what follows the last one.
    fn read(
        &mut self,
        mut each: impl FnMut(&mut Self, &mut Sentence) -> Result<()>,
    ) -> Result<String> {
        let reading = &self.arguments.reading;
        let mut reader = self.session.open(&self.arguments.input, reading)?;
        self.summary.input = reader.name().to_owned();
        let mut progress = self.session.progress("sentences");
        let mut sentence = Sentence::default();
        loop {
            progress.step();
            let found = reader.read(&mut sentence);
            if let Ok(true) = found
                && (self.summary.documents == 0 || sentence.newdoc().is_some())
            {
                self.summary.documents += 1;
            }
            match found {
                Ok(true) if self.arguments.max_length.is_some_and(|max| sentence.len() > max) => {
                    self.summary.too_long += 1;
                }
                Ok(true) => {
                    self.summary.sentences += 1;
                    each(self, &mut sentence)?;
                }
                Ok(false) => return Ok(reader.tail().to_owned()),
                Err(error @ Error::Malformed { .. }) if reading.lenient => {
                    self.session.skip(&error.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What becomes of a sentence; `false` if it is passed over.
    fn change(&mut self, sentence: &mut Sentence) -> Result<bool> {
        if self.arguments.projectivise {
            match sentence.projectivise() {
                Ok(moved) => {
                    self.summary.moved_arcs += moved;
                    self.summary.moved_sentences += usize::from(moved > 0);
                }
                Err(error) if self.arguments.reading.lenient => {
                    self.session.skip(&error.into());
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
        if self.arguments.strip_heads {
            sentence.strip_heads()?;
        }
        if let Some(converter) = &mut self.converter {
            converter.convert(sentence);
        }
        Ok(true)
    }

    /// Lets the files appear.
    fn finish(&mut self, outputs: Vec<PartWriter>) -> Result<()> {
        let mut complete = Vec::new();
        for output in outputs {
            let finished = output.writer.finish();
            complete.push(finished.with_context(|| cannot_write(&output.part.path))?);
            self.summary.outputs.push(output.part);
        }
        Output::commit_all(complete)?;
        self.summary.lost = self.converter.as_ref().map(Converter::losses).unwrap_or_default();
        Ok(())
    }
}

fn cannot_write(path: &str) -> String {
    match path {
        "-" => "cannot write to standard output".to_owned(),
        path => format!("cannot write {path}"),
    }
}

/// A file on its way.
struct PartWriter {
    writer: Writer<Output>,
    part: Part,
}

impl PartWriter {
    fn create(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let part = Part { path: name, format: None, sentences: 0, words: 0 };
        Ok(Self { writer: create(path)?, part })
    }

    fn write(&mut self, sentence: &Sentence) -> Result<()> {
        self.part.sentences += 1;
        self.part.words += sentence.len();
        self.part.format.get_or_insert_with(|| sentence.format().to_string());
        self.writer.write(sentence).with_context(|| cannot_write(&self.part.path))
    }

    fn write_tail(&mut self, tail: &str) -> Result<()> {
        self.writer.write_tail(tail).with_context(|| cannot_write(&self.part.path))
    }
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
