//! From text to trees: the parts of a model, one after the other.
//!
//! ```text
//! text       → sentences, words       the tokenizer, or Unicode       Pipeline::sentences
//! words      → readings t, P(t)       the tagger                      Annotator::tag
//! words, t   → P(tree | t)            the parser                      Annotator::analyse
//! Σ_t P(t) P(tree | t) → one tree     most arcs expected to be right  Annotator::annotate
//! ```
//!
//! Sentences with tags keep them, unless [`TagSource::Model`] is set, and these tags count as certain. For uncertain
//! tags, the most probable readings are parsed and averaged ([`Mixture`](crate::Mixture)). Long sentences that are
//! parsed in pieces, and [`Decoding::MaxZ`], use the best tags only.

mod readings;

use std::io::Read;
use std::sync::OnceLock;

use tutte_treebank::{Morphology, Sentence, Token};
use tutte_trees::{Constraints, TreeSet};

pub use self::readings::{ReadingDistributions, TagReadings};
use crate::model::network::WordTags;
use crate::text::{
    Segmenter, SegmenterOptions, SoftTag, Tagger, TaggerMemory, Tagging, Tokenizer, is_untagged,
};
use crate::{
    Analysis, Annotation, AnnotationOptions, BatchWorker, Clock, Compact, Decoding, Detail, Error,
    LabelLimits, Model, Parser, ParserModel, Stage, Weights, WordSource, map_batches,
};

/// Source of the tags and lemmas that the parser sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagSource {
    /// The sentence. Sentences without tags are tagged by the model.
    #[default]
    Auto,
    /// The sentence, even if it has no tags.
    Given,
    /// The tagger of the model.
    Model,
}

/// Settings for using all parts of a model, from text to trees.
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
/// let options = TrainingOptions::default().with_bits(14).with_label_bits(8).with_passes(2);
/// let mut model = Model::from(train(&treebank, &options, &mut ())?);
/// model.tokenizer = Some(Arc::new(Tokenizer::train(&treebank, &TokenizerOptions::default())?));
/// model.tagger = Some(Arc::new(Tagger::train(&treebank, &TaggerOptions::for_words(6))?));
/// let model = model.compact();
///
/// let sentences = Pipeline::new(&model).parse_text("Cats bark. Dogs purr.", 2)?;
/// assert_eq!(sentences.len(), 2);
/// let words: Vec<_> = sentences[1].words().map(|w| (w.form(), w.upos(), w.deprel())).collect();
/// assert_eq!(words[0], ("Dogs", "NOUN", "nsubj"));
///
/// // The same for one sentence, with its distribution over trees.
/// let mut annotator = Pipeline::new(&model).annotator();
/// let mut sentence = sentences[0].clone();
/// let readings = annotator.tag(&mut sentence)?;
/// let distributions = annotator.analyse(&mut sentence, &readings, &Default::default())?;
/// assert!(distributions.mixture().arc_prob(2, 1)? > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pipeline<'a, W = Compact> {
    parser: Option<&'a ParserModel<W>>,
    tagger: Option<&'a Tagger<W>>,
    tokenizer: Option<&'a Tokenizer<W>>,
    words: WordSource,
    tags: TagSource,
    readings: usize,
    decoding: Decoding,
    tree_set: Option<TreeSet>,
    label_limits: Option<&'a LabelLimits>,
}

impl<W> Clone for Pipeline<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Pipeline<'_, W> {}

impl<'a, W: Weights> Pipeline<'a, W> {
    /// Default number of readings of uncertain tags. More readings are rarely worth their time.
    pub const READINGS: usize = 4;

    /// Readings less probable than this are not parsed.
    const LEAST_PROB: f64 = 0.1;

    /// Makes a pipeline with the default settings: sentences without tags are tagged, up to
    /// [`READINGS`](Self::READINGS) readings of their tags count, and trees are those with the most arcs expected
    /// to be right.
    pub fn new(model: &'a Model<W>) -> Self {
        let Model { parser, tagger, tokenizer } = model;
        Self {
            parser: parser.as_ref(),
            tagger: tagger.as_deref(),
            tokenizer: tokenizer.as_deref(),
            words: WordSource::default(),
            tags: TagSource::default(),
            readings: Self::READINGS,
            decoding: Decoding::default(),
            tree_set: None,
            label_limits: None,
        }
    }

    /// Makes a pipeline of a parser only, which uses the tags of the sentences.
    pub fn of_parser(parser: &'a ParserModel<W>) -> Self {
        Self {
            parser: Some(parser),
            tagger: None,
            tokenizer: None,
            words: WordSource::default(),
            tags: TagSource::Given,
            readings: Self::READINGS,
            decoding: Decoding::default(),
            tree_set: None,
            label_limits: None,
        }
    }

    /// Sets the source of words and sentences. [`parse_text`](Pipeline::parse_text) sets it itself.
    pub fn with_words(self, words: WordSource) -> Self {
        Self { words, ..self }
    }

    /// Sets the source of tags.
    pub fn with_tags(self, tags: TagSource) -> Self {
        Self { tags, ..self }
    }

    /// Sets the number of readings of uncertain tags; 1 is the best reading only.
    pub fn with_readings(self, readings: usize) -> Self {
        Self { readings, ..self }
    }

    /// Sets the decoding.
    pub fn with_decoding(self, decoding: Decoding) -> Self {
        Self { decoding, ..self }
    }

    /// Sets the tree set, see [`Parser::with_tree_set`].
    pub fn with_tree_set(self, tree_set: TreeSet) -> Self {
        Self { tree_set: Some(tree_set), ..self }
    }

    /// Sets labels that at most one modifier of each head may have, see [`Parser::with_label_limits`]. By default they are
    /// those of the model, [`ParserModel::label_limits`].
    pub fn with_label_limits(self, label_limits: &'a LabelLimits) -> Self {
        Self { label_limits: Some(label_limits), ..self }
    }

    /// Returns the parser.
    ///
    /// # Errors
    /// [`Error::NoParser`] if the model has none.
    pub fn parser(&self) -> Result<&'a ParserModel<W>, Error> {
        self.parser.ok_or(Error::NoParser)
    }

    /// Returns the labels that at most one modifier of each head may have.
    fn label_limits(&self) -> LabelLimits {
        let of_model = || self.parser.map(ParserModel::label_limits).unwrap_or_default();
        self.label_limits.cloned().unwrap_or_else(of_model)
    }

    /// Returns the source of words and sentences.
    pub fn words(&self) -> WordSource {
        self.words
    }

    /// Makes an annotator. Each thread needs its own.
    pub fn annotator(&self) -> Annotator<'a, W> {
        let parser = self.parser.map(|model| {
            let tree_set = self.tree_set.unwrap_or(model.tree_set);
            let mut parser = Parser::new(model)
                .with_decoding(self.decoding)
                .with_tree_set(tree_set)
                .with_label_limits(self.label_limits());
            parser.set_words(self.words);
            parser
        });
        Annotator {
            pipeline: *self,
            parser,
            clock: Clock::default(),
            memory: TaggerMemory::default(),
        }
    }

    /// Annotates all sentences that `next` reads and passes them to `write` in their order. The result does not
    /// depend on the number of threads (see [`map_batches`]).
    ///
    /// # Errors
    /// Errors of `next`, of `write` and of [`Annotator::annotate`].
    pub fn stream<E: From<Error> + Send>(
        &self,
        threads: usize,
        next: impl FnMut(&mut Sentence) -> Result<bool, E> + Send,
        mut write: impl FnMut(&Sentence) -> Result<(), E>,
    ) -> Result<(), E> {
        let annotate = |annotator: &mut Annotator<'a, W>, _, sentence: &mut Sentence| {
            annotator.annotate(sentence).map(|_| ())
        };
        let annotator = || self.annotator();
        map_batches(threads, annotator, annotate, next, |sentence, done: Result<(), Error>, _| {
            done?;
            write(sentence)
        })
    }

    /// Returns annotated copies of sentences, see [`Annotator::annotate`].
    ///
    /// # Errors
    /// Errors of [`Annotator::annotate`].
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
    /// Splits raw text into sentences and words, by the tokenizer of the model or, without one, by Unicode rules.
    /// The sentences are not annotated.
    pub fn sentences<R: Read>(
        &self,
        text: R,
        options: SegmenterOptions,
    ) -> Segmenter<'a, R, Compact> {
        static FALLBACK: OnceLock<Tokenizer<Compact>> = OnceLock::new();
        let tokenizer = self.tokenizer.unwrap_or_else(|| FALLBACK.get_or_init(Tokenizer::fallback));
        Segmenter::with_options(tokenizer, text, options)
    }

    /// Returns the sentences of raw text with tags and trees.
    ///
    /// # Errors
    /// Errors of [`Annotator::annotate`].
    pub fn parse_text(&self, text: &str, threads: usize) -> Result<Vec<Sentence>, Error> {
        let mut segmenter = self.sentences(text.as_bytes(), SegmenterOptions::default());
        let mut all = Vec::new();
        self.with_words(WordSource::Model).stream(
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

/// Annotates sentences, one at a time, see [`Pipeline`].
#[derive(Debug)]
pub struct Annotator<'a, W = Compact> {
    pipeline: Pipeline<'a, W>,
    parser: Option<Parser<'a, W>>,
    /// Used without a parser, which has its own clock.
    clock: Clock,
    memory: TaggerMemory,
}

impl<W: Weights> BatchWorker for Annotator<'_, W> {
    fn is_batched(&self) -> bool {
        self.parser.as_ref().is_some_and(Parser::is_batched)
    }

    fn prepare(&mut self, sentences: &[Sentence]) {
        if let Some(parser) = &mut self.parser {
            parser.prepare(sentences);
        }
    }
}

impl<'a, W: Weights> Annotator<'a, W> {
    /// Starts the [clock](Self::clock).
    pub fn timed(self) -> Self {
        Self { parser: self.parser.map(Parser::timed), clock: Clock::start(), ..self }
    }

    /// Returns the clock, which measures the time of each stage.
    pub fn clock(&mut self) -> &mut Clock {
        self.parser.as_mut().map_or(&mut self.clock, Parser::clock)
    }

    /// Returns the parser, for queries about one reading.
    ///
    /// # Errors
    /// [`Error::NoParser`] if the model has none.
    pub fn parser(&mut self) -> Result<&mut Parser<'a, W>, Error> {
        self.parser.as_mut().ok_or(Error::NoParser)
    }

    /// Sets the source of the words of the next sentences.
    pub fn set_words(&mut self, words: WordSource) {
        if let Some(parser) = &mut self.parser {
            parser.set_words(words);
        }
    }

    /// Writes the most probable tags and lemmas into a sentence, if the [source of tags](TagSource) is the model.
    /// Returns the readings of the tags.
    ///
    /// # Errors
    /// If a tag or lemma cannot be written.
    pub fn tag(&mut self, sentence: &mut Sentence) -> Result<TagReadings<'a, W>, Error> {
        let Pipeline { tagger, tags, readings, .. } = self.pipeline;
        let needs_tags = match tags {
            TagSource::Auto => is_untagged(sentence),
            TagSource::Given => false,
            TagSource::Model => true,
        };
        let is_by_network = needs_tags && self.tag_by_network(sentence)?;
        let Some(tagger) = tagger.filter(|_| needs_tags && !is_by_network) else {
            return Ok(TagReadings {
                tagger: None,
                best: Tagging::default(),
                readings: Vec::new(),
                is_untagged: needs_tags && !is_by_network,
                is_by_network,
            });
        };
        let least = Pipeline::<W>::LEAST_PROB;
        let (best, readings) = tagger.readings(sentence, readings, least, &mut self.memory);
        tagger.write(&best, sentence)?;
        self.clock().lap(Stage::Tagging);
        Ok(TagReadings {
            tagger: Some(tagger),
            best,
            readings,
            is_untagged: false,
            is_by_network: false,
        })
    }

    /// Writes the tags of the parser's network into a sentence, and lemmas: those of the network or, if it finds none,
    /// those that the rules of the tagger make of the tags. Returns `false` if there is no network that finds tags.
    fn tag_by_network(&mut self, sentence: &mut Sentence) -> Result<bool, Error> {
        let Some(parser) = &mut self.parser else { return Ok(false) };
        let tagger = self.pipeline.tagger;
        let Some(tags) = parser.network_tags(sentence, 1.0, tagger)? else { return Ok(false) };
        let words = sentence.words().zip(&tags);
        let lemma = |(word, tag): (Token<'_>, &WordTags<'_>)| match &tag.lemma {
            Some((lemma, _)) => Some(lemma.clone()),
            None => tagger?.lemma(word.form(), tag.upos, tag.feats),
        };
        let lemmas: Vec<Option<String>> = words.map(lemma).collect();
        let words = tags.iter().zip(&lemmas);
        let tags: Vec<Morphology<'_>> = words
            .map(|(&WordTags { upos, xpos, feats, .. }, lemma)| Morphology {
                lemma: lemma.as_deref(),
                upos,
                xpos,
                feats,
            })
            .collect();
        sentence.set_morphology(&tags)?;
        self.clock().lap(Stage::Tagging);
        Ok(true)
    }

    /// Returns the distributions over the trees of a [tagged](Self::tag) sentence given constraints, one for each
    /// reading of its tags that counts. Leaves the sentence as it was.
    ///
    /// # Errors
    /// As [`Parser::analyse`].
    pub fn analyse(
        &mut self,
        sentence: &mut Sentence,
        readings: &TagReadings<'a, W>,
        constraints: &Constraints,
    ) -> Result<ReadingDistributions<'a>, Error> {
        let decoding = self.pipeline.decoding;
        let parser = self.parser()?;
        let distributions = match decoding {
            Decoding::Mbr | Decoding::Map => {
                readings.map_each(sentence, |read| parser.distribution_given(read, constraints))
            }
            // The best clusters are those of one reading.
            Decoding::MaxZ => Ok(Vec::new()),
        }?;
        if distributions.is_empty() {
            let Analysis { parse, distribution } = parser.analyse(sentence, constraints)?;
            let distributions = vec![(1.0, distribution)];
            return Ok(ReadingDistributions {
                distributions,
                parse: Some(parse),
                decoding,
                label_limits: LabelLimits::default(),
            });
        }
        let label_limits = self.pipeline.label_limits();
        Ok(ReadingDistributions { distributions, parse: None, decoding, label_limits })
    }

    /// Adds the probabilities of its tags to the annotation of a [tagged](Self::tag) sentence. Does nothing if the
    /// model did not choose the tags, or if the annotation has less than [`Detail::Words`]. Takes as long as tagging.
    ///
    /// ```
    /// # let treebank: [tutte_treebank::Sentence; 2] = [
    /// #     "1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?,
    /// #     "1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tpurr\tpurr\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?,
    /// # ];
    /// # let options = tutte::TrainingOptions::default().with_bits(14).with_label_bits(8).with_passes(2);
    /// # let mut model = tutte::Model::from(tutte::train(&treebank, &options, &mut ())?);
    /// # let tagger_options = tutte::text::TaggerOptions::for_words(4);
    /// # model.tagger = Some(tutte::text::Tagger::train(&treebank, &tagger_options)?.into());
    /// # let model = model.compact();
    /// use tutte::{AnnotationOptions, Constraints, Pipeline, Sentence};
    ///
    /// let mut annotator = Pipeline::new(&model).annotator();
    /// let mut sentence: Sentence =
    ///     "1\tDogs\t_\t_\t_\t_\t_\t_\t_\t_\n2\tpurr\t_\t_\t_\t_\t_\t_\t_\t_\n".parse()?;
    /// let readings = annotator.tag(&mut sentence)?;
    /// let constraints = Constraints::new();
    /// let options = AnnotationOptions::default();
    /// let distributions = annotator.analyse(&mut sentence, &readings, &constraints)?;
    /// let mut annotation =
    ///     distributions.annotation(&constraints, &options)?;
    /// annotator.add_tag_probabilities(&sentence, &readings, &options, &mut annotation);
    /// assert!(annotation.words[0].tag.as_ref().is_some_and(|tag| tag.upos > 0.5)); // NOUN
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_tag_probabilities(
        &mut self,
        sentence: &Sentence,
        readings: &TagReadings<'a, W>,
        options: &AnnotationOptions,
        annotation: &mut Annotation<'a>,
    ) {
        if annotation.detail != Detail::Words {
            return;
        }
        let above = options.alternatives_above;
        if readings.is_by_network {
            // The network has just run over this sentence, so this is only a look-up.
            let tagger = self.pipeline.tagger;
            let tags = self
                .parser
                .as_mut()
                .and_then(|parser| parser.network_tags(sentence, above, tagger).ok().flatten());
            for (word, tag) in annotation.words.iter_mut().zip(tags.into_iter().flatten()) {
                word.tag = Some(tag.into());
            }
            return;
        }
        let Some(tagger) = readings.tagger else { return };
        let tags = tagger.tag_probabilities(sentence, options.alternatives_above, &mut self.memory);
        for (word, tag) in annotation.words.iter_mut().zip(tags) {
            word.tag = Some(tag);
        }
        self.clock().lap(Stage::Tagging);
    }

    /// Returns the probable tags of each word of a [tagged](Self::tag) sentence with their probabilities; see
    /// [`SoftTag::list`] for those that are left out. Returns `None` if the model did not choose the tags. Takes as long
    /// as tagging.
    ///
    /// # Errors
    /// Errors of the network.
    pub fn soft_tags(
        &mut self,
        sentence: &Sentence,
        readings: &TagReadings<'a, W>,
        least: f64,
    ) -> Result<Option<Vec<Vec<SoftTag<'a>>>>, Error> {
        if readings.is_by_network {
            // The network has just run over this sentence, so this is only a look-up.
            let tagger = self.pipeline.tagger;
            return match &mut self.parser {
                Some(parser) => parser.network_soft_tags(sentence, least, tagger),
                None => Ok(None),
            };
        }
        let tags = readings.tagger.map(|it| it.soft_tags(sentence, least, &mut self.memory));
        self.clock().lap(Stage::Tagging);
        Ok(tags)
    }

    /// Tags a sentence, if the [source of tags](TagSource) is the model, and writes the best tree into it, if the
    /// model has a parser; see [`Parser::annotate`].
    ///
    /// # Errors
    /// If the tree set has no tree for the sentence; if a label cannot be written.
    pub fn annotate(&mut self, sentence: &mut Sentence) -> Result<Option<Annotation<'a>>, Error> {
        let readings = self.tag(sentence)?;
        if self.parser.is_none() {
            return Ok(None);
        }
        self.annotate_tagged(sentence, &readings).map(Some)
    }

    /// Writes the best tree into a [tagged](Self::tag) sentence.
    ///
    /// # Errors
    /// As [`annotate`](Self::annotate).
    pub fn annotate_tagged(
        &mut self,
        sentence: &mut Sentence,
        readings: &TagReadings<'a, W>,
    ) -> Result<Annotation<'a>, Error> {
        let is_mixture = readings.is_ambiguous() && self.pipeline.decoding != Decoding::MaxZ;
        let parser = self.parser()?;
        if !is_mixture || parser.needs_pieces(sentence) {
            return parser.annotate(sentence);
        }
        let constraints = Constraints::new();
        let distributions = self.analyse(sentence, readings, &constraints)?;
        let annotation = distributions.annotation(&constraints, &AnnotationOptions::tree())?;
        annotation.write(sentence)?;
        self.clock().lap(Stage::Writing);
        Ok(annotation)
    }
}

#[cfg(test)]
mod tests;
