//! Text in, trees out: the parts of a model, one after the other.
//!
//! ```text
//! text       → sentences, words       the tokenizer, or Unicode       Pipeline::sentences
//! words      → readings t, P(t)       the tagger                      Annotator::tag
//! words, t   → P(tree | t)            the parser                      Annotator::analyse
//! Σ_t P(t) P(tree | t) → one tree     most arcs expected to be right  Annotator::annotate
//! ```
//!
//! Sentences that have tags keep them, unless the model's are asked for, and then count as they are; so
//! does whatever was tagged elsewhere. Of uncertain tags the readings count that are worth a parse
//! ([`Mixture`](crate::Mixture)). Sentences that are too long to be looked at as a whole, and other trees than those with
//! the most arcs expected to be right, are of the best tags alone.

mod readings;

use std::io::Read;
use std::sync::OnceLock;

use tutte_treebank::Sentence;
use tutte_trees::{Constraints, TreeSet};

pub use self::readings::{Readings, Trees};
use crate::text::{
    Segmenter, SegmenterOptions, Tagger, TaggerMemory, Tagging, Tokenizer, is_untagged,
};
use crate::{
    Analysis, Clock, Compact, Decoding, Error, Model, Notes, Parse, Parser, ParserModel, Stage,
    Weights, map_stream,
};

/// Whose tags and lemmas the parser sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tags {
    /// Those that sentences have; sentences without any are tagged.
    #[default]
    Auto,
    /// Those that sentences have, even if they are none.
    Given,
    /// Those of the model's tagger.
    Model,
}

/// How all parts of a model are used, from text to trees.
///
/// ```
/// # let treebank: Vec<tutte_treebank::Sentence> = tutte_treebank::Reader::new("\
/// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// # 2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
/// # 3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
/// #
/// # 1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// # 2\tpurr\tpurr\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
/// # 3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
/// #
/// # ".as_bytes()).collect::<Result<_, _>>()?;
/// use std::sync::Arc;
///
/// use tutte::text::{Tagger, TaggerOptions, Tokenizer, TokenizerOptions};
/// use tutte::{Model, Pipeline, TrainingOptions, train};
///
/// let options = TrainingOptions { bits: 14, label_bits: 8, passes: 2, ..TrainingOptions::default() };
/// let mut model = Model::from(train(&treebank, &options, |_, _| {})?);
/// model.tokenizer = Some(Arc::new(Tokenizer::train(&treebank, &TokenizerOptions::default())?));
/// model.tagger = Some(Arc::new(Tagger::train(&treebank, &TaggerOptions::for_words(6))?));
/// let model = model.compact();
///
/// let sentences = Pipeline::new(&model).parse_text("Cats bark. Dogs purr.", 2)?;
/// assert_eq!(sentences.len(), 2);
/// let words: Vec<_> = sentences[1].words().map(|w| (w.form(), w.upos(), w.deprel())).collect();
/// assert_eq!(words[0], ("Dogs", "NOUN", "nsubj"));
///
/// // The same, one at a time, with all that the model knows.
/// let mut annotator = Pipeline::new(&model).annotator();
/// let mut sentence = sentences[0].clone();
/// let readings = annotator.tag(&mut sentence)?;
/// let trees = annotator.analyse(&mut sentence, &readings, &Default::default())?;
/// assert!(trees.mixture().marginal(2, 1)? > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pipeline<'a, W = Compact> {
    parser: Option<&'a ParserModel<W>>,
    tagger: Option<&'a Tagger<W>>,
    tokenizer: Option<&'a Tokenizer<W>>,
    tags: Tags,
    readings: usize,
    decoding: Decoding,
    tree_set: Option<TreeSet>,
}

impl<W> Clone for Pipeline<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Pipeline<'_, W> {}

impl<'a, W: Weights> Pipeline<'a, W> {
    /// How many readings of uncertain tags count, if nothing else is said: more are hardly ever worth
    /// the time.
    pub const READINGS: usize = 4;

    /// Readings less probable than this are not worth a parse.
    const LEAST: f64 = 0.1;

    /// As a model is meant to be used: sentences without tags are tagged, up to
    /// [`READINGS`](Self::READINGS) readings of these count, and trees are those with the most arcs
    /// expected to be right.
    pub fn new(model: &'a Model<W>) -> Self {
        let Model { parser, tagger, tokenizer } = model;
        Self {
            parser: parser.as_ref(),
            tagger: tagger.as_deref(),
            tokenizer: tokenizer.as_deref(),
            tags: Tags::default(),
            readings: Self::READINGS,
            decoding: Decoding::default(),
            tree_set: None,
        }
    }

    /// Uses a parser alone, on the tags that sentences have.
    pub fn of_parser(parser: &'a ParserModel<W>) -> Self {
        Self {
            parser: Some(parser),
            tagger: None,
            tokenizer: None,
            tags: Tags::Given,
            readings: Self::READINGS,
            decoding: Decoding::default(),
            tree_set: None,
        }
    }

    /// The same with these tags.
    pub fn with_tags(self, tags: Tags) -> Self {
        Self { tags, ..self }
    }

    /// The same with so many readings of uncertain tags; 1 is the best alone.
    pub fn with_readings(self, readings: usize) -> Self {
        Self { readings, ..self }
    }

    /// The same, giving another tree.
    pub fn with_decoding(self, decoding: Decoding) -> Self {
        Self { decoding, ..self }
    }

    /// The same with other trees than the model's own, see [`Parser::with_tree_set`].
    pub fn with_tree_set(self, tree_set: TreeSet) -> Self {
        Self { tree_set: Some(tree_set), ..self }
    }

    /// Returns the parser.
    ///
    /// # Errors
    /// [`Error::NoParser`] if the model has none.
    pub fn parser(&self) -> Result<&'a ParserModel<W>, Error> {
        self.parser.ok_or(Error::NoParser)
    }

    /// Who does it, one for each thread.
    pub fn annotator(&self) -> Annotator<'a, W> {
        let parser = self.parser.map(|model| {
            let tree_set = self.tree_set.unwrap_or(model.tree_set);
            Parser::new(model).with_decoding(self.decoding).with_tree_set(tree_set)
        });
        Annotator {
            pipeline: *self,
            parser,
            clock: Clock::default(),
            memory: TaggerMemory::default(),
        }
    }

    /// Annotates all sentences that `next` reads and gives them to `write`, in their order and the same for
    /// any number of threads (see [`map_stream`]).
    ///
    /// # Errors
    /// Those of `next`, of `write` and of [`Annotator::annotate`].
    pub fn stream<E: From<Error>>(
        &self,
        threads: usize,
        next: impl FnMut(&mut Sentence) -> Result<bool, E>,
        mut write: impl FnMut(&Sentence) -> Result<(), E>,
    ) -> Result<(), E> {
        let worker = || {
            let mut annotator = self.annotator();
            move |_, sentence: &mut Sentence| annotator.annotate(sentence).map(|_| ())
        };
        map_stream(threads, worker, next, |sentence, done: Result<(), Error>| {
            done?;
            write(sentence)
        })
    }

    /// Sentences as the model annotates them: their words as they are, everything else as
    /// [`Annotator::annotate`] has it.
    ///
    /// # Errors
    /// Those of [`Annotator::annotate`].
    pub fn parse_words(
        &self,
        sentences: &[Sentence],
        threads: usize,
    ) -> Result<Vec<Sentence>, Error> {
        let mut given = sentences.iter();
        let next = |sentence: &mut Sentence| {
            let found = given.next();
            found.inspect(|found| sentence.clone_from(found));
            Ok(found.is_some())
        };
        let mut all = Vec::with_capacity(sentences.len());
        self.stream(threads, next, |sentence| -> Result<(), Error> {
            all.push(sentence.clone());
            Ok(())
        })?;
        Ok(all)
    }
}

impl<'a> Pipeline<'a, Compact> {
    /// The sentences of raw text, as the model's tokenizer finds them, or as Unicode does if it has none;
    /// not annotated yet.
    pub fn sentences<R: Read>(
        &self,
        text: R,
        options: SegmenterOptions,
    ) -> Segmenter<'a, R, Compact> {
        static FALLBACK: OnceLock<Tokenizer<Compact>> = OnceLock::new();
        let tokenizer = self.tokenizer.unwrap_or_else(|| FALLBACK.get_or_init(Tokenizer::fallback));
        Segmenter::with_options(tokenizer, text, options)
    }

    /// The sentences of raw text with tags and trees.
    ///
    /// # Errors
    /// Those of [`Annotator::annotate`].
    pub fn parse_text(&self, text: &str, threads: usize) -> Result<Vec<Sentence>, Error> {
        let mut segmenter = self.sentences(text.as_bytes(), SegmenterOptions::default());
        let mut all = Vec::new();
        self.stream(
            threads,
            |sentence| segmenter.read(sentence).map_err(Error::from),
            |sentence| {
                all.push(sentence.clone());
                Ok(())
            },
        )?;
        Ok(all)
    }
}

/// Annotates one sentence after the other, see [`Pipeline`].
#[derive(Debug)]
pub struct Annotator<'a, W = Compact> {
    pipeline: Pipeline<'a, W>,
    parser: Option<Parser<'a, W>>,
    /// Runs where there is no parser, which has its own.
    clock: Clock,
    memory: TaggerMemory,
}

impl<'a, W: Weights> Annotator<'a, W> {
    /// The same with a [clock](Self::clock) that runs, from now on.
    pub fn timed(self) -> Self {
        Self { parser: self.parser.map(Parser::timed), clock: Clock::start(), ..self }
    }

    /// Where the time goes.
    pub fn clock(&mut self) -> &mut Clock {
        self.parser.as_mut().map_or(&mut self.clock, Parser::clock)
    }

    /// Returns the parser, for what only trees of one reading can answer.
    ///
    /// # Errors
    /// [`Error::NoParser`] if the model has none.
    pub fn parser(&mut self) -> Result<&mut Parser<'a, W>, Error> {
        self.parser.as_mut().ok_or(Error::NoParser)
    }

    /// Gives a sentence its most probable tags and lemmas, if it is to have the model's; says what else they
    /// may be.
    ///
    /// # Errors
    /// If a column cannot hold what is to be written.
    pub fn tag(&mut self, sentence: &mut Sentence) -> Result<Readings<'a, W>, Error> {
        let Pipeline { tagger, tags, readings, .. } = self.pipeline;
        let wanted = match tags {
            Tags::Auto => is_untagged(sentence),
            Tags::Given => false,
            Tags::Model => true,
        };
        let Some(tagger) = tagger.filter(|_| wanted) else {
            let (best, others) = (Tagging::default(), Vec::new());
            return Ok(Readings { tagger: None, best, others, untagged: wanted });
        };
        let least = Pipeline::<W>::LEAST;
        let (best, others) = tagger.readings(sentence, readings, least, &mut self.memory);
        tagger.write(&best, sentence)?;
        self.clock().lap(Stage::Tagging);
        Ok(Readings { tagger: Some(tagger), best, others, untagged: false })
    }

    /// All trees of a sentence that was [tagged](Self::tag), given what is known of it, under each reading of
    /// its tags that counts. The sentence is left as it was.
    ///
    /// # Errors
    /// As [`Parser::analyse`].
    pub fn analyse(
        &mut self,
        sentence: &mut Sentence,
        readings: &Readings<'a, W>,
        known: &Constraints,
    ) -> Result<Trees<'a>, Error> {
        let decoding = self.pipeline.decoding;
        let parser = self.parser()?;
        let of_readings = match decoding {
            Decoding::Mbr => readings.each(sentence, |read| parser.distribution_given(read, known)),
            _ => Ok(Vec::new()),
        }?;
        if of_readings.is_empty() {
            let Analysis { parse, distribution } = parser.analyse(sentence, known)?;
            return Ok(Trees { of_readings: vec![(1.0, distribution)], parse: Some(parse) });
        }
        Ok(Trees { of_readings, parse: None })
    }

    /// Gives a sentence tags, if it is to have the model's, and a tree, if the model parses: the best one, as
    /// it was decided to be. Whatever was noted of other trees goes; see [`Parser::annotate`].
    ///
    /// # Errors
    /// If the tree set has no tree for the sentence; if a label cannot be written.
    pub fn annotate(&mut self, sentence: &mut Sentence) -> Result<Option<Parse>, Error> {
        let readings = self.tag(sentence)?;
        if self.parser.is_none() {
            return Ok(None);
        }
        self.annotate_tagged(sentence, &readings).map(Some)
    }

    /// The tree alone, of a sentence that was [tagged](Self::tag).
    ///
    /// # Errors
    /// As [`annotate`](Self::annotate).
    pub fn annotate_tagged(
        &mut self,
        sentence: &mut Sentence,
        readings: &Readings<'a, W>,
    ) -> Result<Parse, Error> {
        let model = self.pipeline.parser()?;
        let counts = readings.are_several() && self.pipeline.decoding == Decoding::Mbr;
        let parser = self.parser()?;
        if !counts || parser.needs_pieces(sentence) {
            return parser.annotate(sentence);
        }
        let known = Constraints::new();
        let trees = self.analyse(sentence, readings, &known)?;
        let mixture = trees.mixture();
        let parse = mixture.best(model, &known)?;
        sentence.set_tree(&parse.tree)?;
        let labels: Vec<&str> = parse.labels.iter().map(|label| mixture.name(*label)).collect();
        sentence.set_deprels(&labels)?;
        Notes::clear(sentence)?;
        self.clock().lap(Stage::Writing);
        Ok(parse)
    }
}

#[cfg(test)]
mod tests;
