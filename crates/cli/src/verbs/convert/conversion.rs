//! Sentences from the reader to the writers, one at a time or all in memory.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use tutte_treebank::select::{Choices, Pool, Reservoir, split};
use tutte_treebank::{ConllxPos, Converter, Output, Sentence, Writer, create};

use super::summary::{ConvertSummary, OutputPart};
use super::{ConversionFiles, Convert, PosFrom, Shares, Unit};
use crate::failure::{advise, usage};
use crate::report::counted;
use crate::session::Session;

/// A conversion in progress.
pub(super) struct Conversion<'a> {
    arguments: &'a Convert,
    files: &'a ConversionFiles,
    session: &'a Session,
    converter: Option<Converter>,
    pub(super) summary: ConvertSummary,
}

impl<'a> Conversion<'a> {
    /// Starts a conversion.
    pub(super) fn new(
        arguments: &'a Convert,
        files: &'a ConversionFiles,
        session: &'a Session,
    ) -> Self {
        let converter = arguments.target(files).map(|to| match arguments.conllx_pos_from {
            None => Converter::new(to),
            Some(PosFrom::Xpos) => Converter::new(to).with_conllx_pos(ConllxPos::Xpos),
            Some(PosFrom::Upos) => Converter::new(to).with_conllx_pos(ConllxPos::Upos),
        });
        Self { arguments, files, session, converter, summary: ConvertSummary::default() }
    }

    /// Converts one sentence at a time.
    pub(super) fn stream(&mut self) -> Result<()> {
        let mut output = PartWriter::create(&self.files.output)?;
        let mut is_same_format = true;
        let tail = self.read(|this, sentence| {
            let format = sentence.format();
            if this.change(sentence)? {
                is_same_format &= sentence.format() == format;
                output.write(sentence)?;
            }
            Ok(())
        })?;
        if is_same_format && self.summary.too_long == 0 {
            output.write_tail(&tail)?;
        }
        self.finish(vec![output])
    }

    /// Reads the sentences, samples, shuffles and splits them, and writes the parts.
    pub(super) fn select(&mut self) -> Result<()> {
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
        for (path, end) in self.arguments.outputs(self.files).iter().zip(cuts) {
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

    /// Returns all sentences, or a sample of them, with the number of the document of each.
    fn collect(&mut self) -> Result<(Pool, Vec<usize>)> {
        let mut pool = Pool::default();
        let mut documents = Vec::new();
        let mut sample =
            self.arguments.sample.map(|size| Reservoir::new(size, self.arguments.seed));
        self.read(|this, sentence| {
            let document = this.summary.documents;
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

    /// Returns the runs of sentences that stay together.
    fn units(&self, documents: &[usize]) -> Result<Vec<Range<usize>>> {
        let by_document = self.arguments.split_by == Unit::Document;
        let found = self.summary.documents;
        if by_document && found < 2 {
            let error = anyhow!("{} is not divided into documents", self.summary.input);
            return Err(advise(
                error,
                "start each document with # newdoc, or leave out --split-by",
            ));
        }
        if !by_document && self.arguments.split.is_some() && found > 1 {
            let found = counted(found, "document");
            self.session.note(format!(
                "the treebank has {found}; --split-by document keeps each in one part"
            ));
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

    /// Passes on every sentence that is not too long. Returns the text after the last one.
    fn read(
        &mut self,
        mut each: impl FnMut(&mut Self, &mut Sentence) -> Result<()>,
    ) -> Result<String> {
        let reading = &self.arguments.reading;
        let mut names: Vec<String> = Vec::new();
        let mut format = None;
        let mut tail = String::new();
        for input in &self.files.inputs {
            let reader = reading.open(input, self.session)?;
            names.push(reader.name().to_owned());
            self.summary.input = names.join(", ");
            let mut sentences = reading.sentences_of(reader, self.session).with_progress();
            let mut sentence = Sentence::default();
            let mut is_first = true;
            while sentences.read(&mut sentence)? {
                let found = *format.get_or_insert(sentence.format());
                if found != sentence.format() && self.converter.is_none() {
                    return Err(usage(format!(
                        "{} is {found}, but {} is {}; choose one for all with --to conllu or --to conllx",
                        names[0],
                        names[names.len() - 1],
                        sentence.format()
                    )));
                }
                // A file is a document of its own.
                if is_first || sentence.newdoc().is_some() {
                    self.summary.documents += 1;
                }
                is_first = false;
                if self.arguments.max_length.is_some_and(|max| sentence.len() > max) {
                    self.summary.too_long += 1;
                } else {
                    self.summary.sentences += 1;
                    each(self, &mut sentence)?;
                }
            }
            tail = sentences.tail().to_owned();
        }
        Ok(tail)
    }

    /// Changes a sentence as requested; returns `false` if it is skipped.
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

    /// Completes the files.
    fn finish(&mut self, outputs: Vec<PartWriter>) -> Result<()> {
        let mut complete = Vec::new();
        for output in outputs {
            let finished = output.writer.finish();
            complete.push(finished.with_context(|| output.part.cannot_write())?);
            self.summary.outputs.push(output.part);
        }
        Output::commit_all(complete)?;
        self.summary.lost = self.converter.as_ref().map(Converter::losses).unwrap_or_default();
        Ok(())
    }
}

/// A file that is being written.
struct PartWriter {
    writer: Writer<Output>,
    part: OutputPart,
}

impl PartWriter {
    fn create(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let part = OutputPart { path: name, format: None, sentences: 0, words: 0 };
        Ok(Self { writer: create(path)?, part })
    }

    fn write(&mut self, sentence: &Sentence) -> Result<()> {
        self.part.sentences += 1;
        self.part.words += sentence.len();
        self.part.format.get_or_insert_with(|| sentence.format().to_string());
        self.writer.write(sentence).with_context(|| self.part.cannot_write())
    }

    fn write_tail(&mut self, tail: &str) -> Result<()> {
        self.writer.write_tail(tail).with_context(|| self.part.cannot_write())
    }
}
