//! The result for a sentence: its best tree or several trees, written into it, as JSON or as drawings.

use anyhow::Result;
use tutte::{
    Annotation, AnnotationOptions, Annotator, BatchWorker, Clock, Detail, Error, Familiarity,
    KeepColumns, Listed, RankedTree, ReadingDistributions, Repair, TagReadings, WordSource,
};
use tutte_linear::seed_of_stream;
use tutte_treebank::draw::Drawing;
use tutte_treebank::{Format, Sentence};
use tutte_trees::Constraints;

use super::json::Line;
use super::options::{Decode, ParseOptions, Task};
use crate::failure::usage;
use crate::verbs::draw::title;

/// Title of a sentence without `sent_id`.
const UNNAMED: &str = "";

/// Parses sentences, one at a time. Each thread has its own.
pub(crate) struct Worker<'a> {
    pub(super) annotator: Annotator<'a>,
    pub(super) keep: KeepColumns,
    /// Source of the words of the current sentence.
    pub(super) words: WordSource,
    pub(super) task: &'a Task<'a>,
}

/// The result for a sentence.
pub(crate) struct ParseResult {
    pub(crate) done: Done,
    /// Why the sentence was not parsed.
    pub(super) contradiction: Option<Error>,
    /// The heads do not form a tree.
    pub(super) not_a_tree: bool,
    /// Number of heads that are left open.
    pub(super) open_heads: usize,
    /// Effect of --at-most-one.
    pub(super) repair: Repair,
    /// The parser saw no tags.
    pub(super) is_untagged: bool,
    /// Counts of what the model does not know.
    pub(super) familiarity: Familiarity,
}

/// Output for a sentence.
pub(crate) enum Done {
    /// The sentence, which may have been changed.
    Sentence,
    /// Other sentences in its place.
    Blocks(Vec<Sentence>),
    /// A line of JSON.
    Line(String),
    /// Drawings as text.
    Drawings(Vec<String>),
    /// Drawings with their titles, for a picture of all sentences.
    Pictures(Vec<(String, Drawing)>),
}

impl ParseResult {
    pub(super) fn of(done: Done) -> Self {
        Self {
            done,
            contradiction: None,
            not_a_tree: false,
            open_heads: 0,
            repair: Repair::None,
            is_untagged: false,
            familiarity: Familiarity::default(),
        }
    }
}

/// Outcome of parsing a sentence.
enum Found<'a> {
    /// The best tree, which has been written into the sentence, and the effect of limits of labels on it.
    Written(Repair),
    /// The best tree, or the best heads.
    Best(Box<Annotation<'a>>),
    /// The distributions from which several trees are taken, one for each reading of the tags.
    Distributions(ReadingDistributions<'a>),
}

impl BatchWorker for Worker<'_> {
    fn is_batched(&self) -> bool {
        self.annotator.is_batched()
    }

    fn prepare(&mut self, sentences: &[Sentence]) {
        self.annotator.prepare(sentences);
    }
}

impl<'a> Worker<'a> {
    /// Starts the clock.
    pub(crate) fn timed(self) -> Self {
        Self { annotator: self.annotator.timed(), ..self }
    }

    /// Returns the clock, which measures the time of each stage.
    pub(crate) fn clock(&mut self) -> &mut Clock {
        self.annotator.clock()
    }

    /// Tags and parses sentence `number`, whose words come from this source.
    pub(crate) fn answer(
        &mut self,
        number: usize,
        words: WordSource,
        sentence: &mut Sentence,
    ) -> Result<ParseResult> {
        self.task.check_precision(words)?;
        self.annotator.set_words(words);
        self.words = words;
        let readings = self.annotator.tag(sentence)?;
        let familiarity = Familiarity::of(self.task.model, sentence);
        let answer = self.parse(number, sentence, &readings)?;
        Ok(ParseResult { is_untagged: readings.is_untagged(), familiarity, ..answer })
    }

    fn parse(
        &mut self,
        number: usize,
        sentence: &mut Sentence,
        readings: &TagReadings<'a>,
    ) -> Result<ParseResult> {
        let Task { jsonl, probs, .. } = *self.task;
        let is_list = self.task.wanted.is_list();
        if sentence.format() == Format::ConllX && !jsonl && (probs || is_list) {
            let file = sentence.place().file;
            return Err(usage(format!(
                "{file} is CoNLL-X, which has no room for probabilities; use --to jsonl, or make it \
                 CoNLL-U with `tutte convert`"
            )));
        }
        let Some(model) = &self.task.model.parser else {
            let done = if jsonl {
                Done::Line(Line::unparsed(sentence, &self.task.model_name).text()?)
            } else {
                self.unchanged(sentence)
            };
            return Ok(ParseResult::of(done));
        };
        let constraints = self.keep.constraints(sentence, model.labels.labels());
        if self.takes_pieces(sentence)? {
            return self.in_pieces(sentence, readings, constraints);
        }
        let found = constraints.and_then(|constraints| self.find(sentence, readings, &constraints));
        match found {
            Ok(Found::Written(repair)) => {
                Ok(ParseResult { repair, ..ParseResult::of(Done::Sentence) })
            }
            Ok(Found::Best(annotation)) => self.annotated(sentence, readings, *annotation),
            Ok(Found::Distributions(distributions)) => {
                self.list(number, sentence, readings, &distributions)
            }
            Err(error) => self.refused(sentence, error),
        }
    }

    /// Parses a sentence as a whole.
    fn find(
        &mut self,
        sentence: &mut Sentence,
        readings: &TagReadings<'a>,
        constraints: &Constraints,
    ) -> Result<Found<'a>, Error> {
        let Task { wanted, jsonl, probs, min_prob, .. } = *self.task;
        let annotator = &mut self.annotator;
        if wanted.is_list() {
            let distributions = annotator.analyse(sentence, readings, constraints)?;
            return Ok(Found::Distributions(distributions));
        }
        let is_greedy = wanted.decode == Decode::Greedy;
        let is_plain = constraints.is_empty() && !probs && min_prob.is_none() && !wanted.keep_deps;
        if is_plain && !jsonl && !is_greedy {
            let annotation = annotator.annotate_tagged(sentence, readings)?;
            return Ok(Found::Written(annotation.repair));
        }
        let distributions = annotator.analyse(sentence, readings, constraints)?;
        let options = self.task.annotation_options(self.words);
        let annotation = if is_greedy {
            distributions.mixture().greedy_annotation(constraints, &options)
        } else {
            distributions.annotation(constraints, &options)
        };
        Ok(Found::Best(Box::new(annotation?)))
    }

    /// Leaves a sentence as it was, because its constraints contradict each other. Other errors end the job.
    pub(super) fn refused(&self, sentence: &Sentence, error: Error) -> Result<ParseResult> {
        let Error::Contradiction { .. } = error else { return Err(error.into()) };
        let done = if self.task.jsonl {
            Done::Line(Line::contradiction(sentence, &error, &self.task.model_name).text()?)
        } else {
            self.unchanged(sentence)
        };
        Ok(ParseResult { contradiction: Some(error), ..ParseResult::of(done) })
    }

    /// Returns a sentence, or its drawing, as it is.
    fn unchanged(&self, sentence: &Sentence) -> Done {
        match &self.task.style {
            Some(style) => {
                let drawing = Drawing::new(sentence, style);
                self.drawn(vec![(title(UNNAMED, sentence, style), drawing)])
            }
            None => Done::Sentence,
        }
    }

    /// Returns drawings as text, or as they are if they become a picture.
    fn drawn(&self, drawings: Vec<(String, Drawing)>) -> Done {
        if self.task.picture.is_some() {
            Done::Pictures(drawings)
        } else {
            Done::Drawings(drawings.iter().map(|(_, drawing)| drawing.text()).collect())
        }
    }

    /// Writes an annotation, in the format that is wanted.
    pub(super) fn annotated(
        &mut self,
        sentence: &mut Sentence,
        readings: &TagReadings<'a>,
        mut annotation: Annotation<'a>,
    ) -> Result<ParseResult> {
        annotation.keeps_deps = self.task.wanted.keep_deps;
        let done = if self.task.jsonl {
            let options = self.task.annotation_options(self.words);
            self.annotator.add_tag_probabilities(sentence, readings, &options, &mut annotation);
            Done::Line(Line::new(sentence, &annotation, &self.task.model_name).text()?)
        } else if self.task.style.is_some() {
            annotation.write_tree(sentence)?;
            self.drawn(self.drawing(sentence, &annotation).into_iter().collect())
        } else {
            annotation.write(sentence)?;
            Done::Sentence
        };
        Ok(ParseResult {
            not_a_tree: !annotation.is_tree,
            open_heads: annotation.open_heads(),
            repair: annotation.repair,
            ..ParseResult::of(done)
        })
    }

    /// Draws a sentence that has the heads of an annotation. Returns its title, too.
    fn drawing(
        &self,
        sentence: &Sentence,
        annotation: &Annotation<'_>,
    ) -> Option<(String, Drawing)> {
        let style = self.task.style.as_ref()?;
        let mut probabilities = Vec::new();
        if annotation.detail == Detail::Words {
            probabilities.extend(annotation.words.iter().map(|word| word.arc_probability()));
        }
        let drawing = Drawing::with_probabilities(sentence, &probabilities, style);
        Some(match annotation.listed {
            Some(listed) => {
                let title = title(&format!("tree {}", listed.number()), sentence, style);
                let drawing = drawing.with_caption(&title);
                (title, drawing)
            }
            None => (title(UNNAMED, sentence, style), drawing),
        })
    }

    /// Lists the most probable trees, or samples.
    fn list(
        &mut self,
        number: usize,
        sentence: &Sentence,
        readings: &TagReadings<'a>,
        distributions: &ReadingDistributions<'a>,
    ) -> Result<ParseResult> {
        let mixture = distributions.mixture();
        let ParseOptions { kbest, sample, seed, probs, matrix, alt, keep_deps, .. } =
            self.task.wanted;
        let is_ranked = kbest.is_some();
        let mut trees = Vec::new();
        if let Some(k) = kbest {
            trees = mixture.kbest(*k as usize)?;
        }
        if let Some(count) = sample {
            // Every sentence has its own random numbers, whichever thread parses it.
            let seed = seed_of_stream(*seed, number as u64);
            for tree in mixture.samples(*count as usize, seed) {
                let log_prob = mixture.log_prob(&tree)?;
                trees.push(RankedTree { tree, log_prob });
            }
        }
        let listed = if is_ranked { Listed::Rank } else { Listed::Sample };
        let options = AnnotationOptions::default()
            .with_detail(if *probs { Detail::Words } else { Detail::Sentence })
            .with_alternatives_above(*alt)
            .with_marginals(*matrix);
        if self.task.jsonl {
            // Alternatives are listed once for all trees.
            let mut open = mixture.open_annotation(&options)?;
            self.annotator.add_tag_probabilities(sentence, readings, &options, &mut open);
            open.keeps_deps = *keep_deps;
            let tree_options = options.clone().with_alternatives_above(1.0);
            let annotations = mixture.annotations_of_trees(trees, listed, &tree_options);
            let has_labels = !mixture.labels().is_empty();
            let line = Line::new(sentence, &open, &self.task.model_name);
            let line = line.with_trees(annotations, has_labels, is_ranked)?;
            return Ok(ParseResult::of(Done::Line(line.text()?)));
        }
        let mut blocks = Vec::new();
        let mut drawings = Vec::new();
        for annotation in mixture.annotations_of_trees(trees, listed, &options) {
            let annotation = Annotation { keeps_deps: *keep_deps, ..annotation? };
            let block = block(sentence, &annotation)?;
            match self.drawing(&block, &annotation) {
                Some(drawing) => drawings.push(drawing),
                None => blocks.push(block),
            }
        }
        let draws = self.task.style.is_some();
        Ok(ParseResult::of(if draws { self.drawn(drawings) } else { Done::Blocks(blocks) }))
    }
}

/// Returns a copy of a sentence with one of several trees.
fn block(sentence: &Sentence, annotation: &Annotation<'_>) -> Result<Sentence> {
    let mut block = sentence.clone();
    annotation.write(&mut block)?;
    let (letter, number) = match annotation.listed {
        Some(Listed::Sample(number)) => ("s", number),
        Some(Listed::Rank(number)) => ("k", number),
        None => return Ok(block),
    };
    if let Some(id) = sentence.sent_id() {
        block.set_comment("sent_id", Some(&format!("{id}.{letter}{number}")))?;
    }
    if number > 1 {
        // A document starts once.
        for key in ["newdoc", "newdoc id", "newpar", "newpar id"] {
            block.set_comment(key, None)?;
        }
    }
    Ok(block)
}
