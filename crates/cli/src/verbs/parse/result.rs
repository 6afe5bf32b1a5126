//! What becomes of a sentence: its best tree, several trees, or a line of JSON.

use anyhow::Result;
use tutte::{
    Analysis, Annotator, Clock, Error, KeepColumns, LabelledDistribution, Method, Mixture, Notes,
    Parse, Readings, Trees,
};
use tutte_treebank::{Format, Sentence};
use tutte_trees::{Constraints, LabelledTree, Tree};

use super::json::Line;
use super::options::{Decode, ParseOptions, Task};
use crate::failure::usage;

/// Answers for one sentence after the other.
pub(crate) struct Worker<'a> {
    pub(super) annotator: Annotator<'a>,
    pub(super) keep: KeepColumns,
    pub(super) task: &'a Task<'a>,
}

/// What became of a sentence.
pub(crate) struct ParseResult {
    pub(crate) done: Done,
    /// Why it is as it was.
    pub(super) contradiction: Option<Error>,
    /// Whether its heads are no tree.
    pub(super) is_no_tree: bool,
    /// How many heads are not given.
    pub(super) open_heads: usize,
    /// Whether the parser saw no tags.
    pub(super) is_untagged: bool,
}

/// What is to be written.
pub(crate) enum Done {
    /// The sentence, which may have been changed.
    Sentence,
    /// Others in its place.
    Blocks(Vec<Sentence>),
    /// This text.
    Line(String),
}

impl ParseResult {
    pub(super) fn of(done: Done) -> Self {
        let (contradiction, is_no_tree, open_heads, is_untagged) = (None, false, 0, false);
        Self { done, contradiction, is_no_tree, open_heads, is_untagged }
    }
}

/// What was found for a sentence.
enum Found<'a> {
    /// Its best tree, which it has already.
    Written,
    /// Its trees, given its best tags.
    One(Box<Analysis<'a>>),
    /// Its trees, given the readings of its tags and what is known.
    Trees(Box<(Trees<'a>, Constraints)>),
}

/// A tree among several.
pub(super) struct Listed {
    /// From 1.
    pub(super) number: usize,
    pub(super) tree: LabelledTree,
    pub(super) log_prob: f64,
}

impl<'a> Worker<'a> {
    /// The same with a clock that runs.
    pub(crate) fn timed(self) -> Self {
        Self { annotator: self.annotator.timed(), ..self }
    }

    /// Where the time goes.
    pub(crate) fn clock(&mut self) -> &mut Clock {
        self.annotator.clock()
    }

    /// Tags and parses sentence `number` as asked.
    pub(crate) fn answer(&mut self, number: usize, sentence: &mut Sentence) -> Result<ParseResult> {
        let readings = self.annotator.tag(sentence)?;
        let answer = self.parse(number, sentence, &readings)?;
        Ok(ParseResult { is_untagged: readings.untagged(), ..answer })
    }

    fn parse(
        &mut self,
        number: usize,
        sentence: &mut Sentence,
        readings: &Readings<'a>,
    ) -> Result<ParseResult> {
        let ParseOptions { kbest, sample, decode, .. } = self.task.wanted;
        let Task { jsonl, probs, .. } = *self.task;
        let several = kbest.is_some() || sample.is_some();
        if sentence.format() == Format::ConllX && !jsonl && (probs || several) {
            let file = sentence.place().file;
            return Err(usage(format!(
                "{file} is CoNLL-X, which has no room for probabilities; use --to jsonl, or make it \
                 CoNLL-U with `tutte convert`"
            )));
        }
        let Some(model) = &self.task.model.parser else {
            return Ok(ParseResult::of(Done::Sentence));
        };
        let known = self.keep.known(sentence, model.labels.labels());
        if self.takes_pieces(sentence)? {
            return self.in_pieces(sentence, known);
        }
        let analysis = known.and_then(|known| {
            let annotator = &mut self.annotator;
            if several {
                return Ok(Found::One(Box::new(annotator.parser()?.analyse(sentence, &known)?)));
            }
            let is_plain = known.is_empty() && !probs && self.task.min_prob.is_none();
            match is_plain && !jsonl && *decode != Decode::Greedy {
                true => annotator.annotate_tagged(sentence, readings).map(|_| Found::Written),
                false => {
                    let trees = annotator.analyse(sentence, readings, &known)?;
                    Ok(Found::Trees(Box::new((trees, known))))
                }
            }
        });
        match analysis {
            Ok(Found::Written) => Ok(ParseResult::of(Done::Sentence)),
            Ok(Found::One(analysis)) => self.several(number, sentence, &analysis.distribution),
            Ok(Found::Trees(found)) => {
                let (trees, known) = *found;
                let parse = trees.best(model, &known)?;
                self.best(sentence, &parse, &trees.mixture(), &known)
            }
            Err(error) => self.refused(sentence, error),
        }
    }

    /// A sentence that stays as it was, for what is given cannot be; other errors end it all.
    pub(super) fn refused(&self, sentence: &Sentence, error: Error) -> Result<ParseResult> {
        let Error::Contradiction { .. } = error else { return Err(error.into()) };
        let done = match self.task.jsonl {
            true => Done::Line(Line::contradiction(sentence, &error).text()?),
            false => Done::Sentence,
        };
        Ok(ParseResult { contradiction: Some(error), ..ParseResult::of(done) })
    }

    /// The best tree, or the best heads.
    fn best(
        &self,
        sentence: &mut Sentence,
        parse: &Parse,
        distribution: &Mixture<'_, '_>,
        known: &Constraints,
    ) -> Result<ParseResult> {
        let ParseOptions { alt, decode, matrix, .. } = self.task.wanted;
        let probs = self.task.probs;
        let model = self.task.model.trees()?;
        let heads = match decode {
            Decode::Greedy => distribution.greedy_heads(),
            _ => parse.tree.heads().to_vec(),
        };
        let is_tree =
            Tree::new(&heads).is_ok_and(|tree| tree.check_in(distribution.tree_set()).is_ok());
        let marginals = distribution.marginals();
        let (mut open, mut names, mut reported) = (Vec::new(), Vec::new(), Vec::new());
        for (word, &head) in (1..).zip(&heads) {
            // What is known is certain, and in the tree.
            let prob = match parse.tree.heads()[word - 1] == head {
                true => parse.head_probs[word - 1],
                false => model.confidence(marginals[(head, word)]),
            };
            // What somebody gave stays, even where sums of rounded numbers end below 1.
            let is_given = known.required_arcs().contains(&(head, word));
            let is_open = !is_given && self.task.min_prob.is_some_and(|least| prob < least);
            reported.push(prob);
            open.push((!is_open).then_some(head));
            let label = match decode {
                Decode::Greedy => distribution.best_label(head, word)?.0,
                _ => parse.labels[word - 1],
            };
            names.push(if is_open { "_" } else { distribution.name(label) });
        }
        sentence.set_heads(&open)?;
        sentence.set_deprels(&names)?;
        Notes::clear(sentence)?;
        let done = if self.task.jsonl {
            let line = match probs {
                true => Line::sure(sentence, distribution, *alt, &reported)?,
                false => Line::new(sentence),
            };
            Done::Line(
                line.calibrated(self.isotonic())
                    .with_matrix(*matrix, distribution.marginals())
                    .text()?,
            )
        } else {
            if probs {
                let comments = self.isotonic().map(|name| ("calibration", name.to_owned()));
                let notes = Notes {
                    alternatives_above: *alt,
                    head_probs: Some(reported),
                    comments: comments.into_iter().collect(),
                    ..Notes::default()
                };
                distribution.annotate(sentence, &notes)?;
            }
            Done::Sentence
        };
        let open_heads = open.iter().filter(|head| head.is_none()).count();
        Ok(ParseResult { is_no_tree: !is_tree, open_heads, ..ParseResult::of(done) })
    }

    /// What confidences are called that are no probabilities of the distribution, if they are written.
    pub(super) fn isotonic(&self) -> Option<&'static str> {
        let calibration = self.task.model.parser.as_ref()?.calibration.as_ref();
        let method = calibration.map(|calibration| calibration.method());
        method.filter(|method| self.task.probs && *method == Method::Isotonic).map(Method::name)
    }

    /// The most probable trees, or random ones.
    fn several(
        &self,
        number: usize,
        sentence: &Sentence,
        distribution: &LabelledDistribution<'_>,
    ) -> Result<ParseResult> {
        let ParseOptions { kbest, sample, seed, matrix, alt, .. } = self.task.wanted;
        let mut list = Vec::new();
        if let Some(k) = kbest {
            let ranked = distribution.kbest(*k as usize).into_iter();
            list.extend(ranked.map(|ranked| (ranked.tree, ranked.log_prob)));
        }
        if let Some(count) = sample {
            // Every sentence has its own stream, whoever draws from it.
            let seed = seed.wrapping_add((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for tree in distribution.samples(*count as usize, seed) {
                let log_prob = distribution.log_prob(&tree)?;
                list.push((tree, log_prob));
            }
        }
        let listed = |(number, (tree, log_prob))| Listed { number, tree, log_prob };
        let list: Vec<Listed> = (1..).zip(list).map(listed).collect();
        if self.task.jsonl {
            let alt = self.task.wanted.probs.then_some(*alt);
            let line = Line::several(sentence, distribution, &list, kbest.is_some(), alt)?;
            return Ok(ParseResult::of(Done::Line(
                line.with_matrix(*matrix, distribution.arcs().marginals()).text()?,
            )));
        }
        let blocks = list.iter().map(|listed| self.block(sentence, distribution, listed));
        Ok(ParseResult::of(Done::Blocks(blocks.collect::<Result<_>>()?)))
    }

    /// The sentence with one of several trees.
    fn block(
        &self,
        sentence: &Sentence,
        distribution: &LabelledDistribution<'_>,
        listed: &Listed,
    ) -> Result<Sentence> {
        let ParseOptions { probs, alt, kbest, .. } = self.task.wanted;
        let Listed { number, tree, log_prob } = listed;
        let mut block = sentence.clone();
        block.set_tree(tree.tree())?;
        let names: Vec<&str> =
            tree.labels().iter().map(|label| distribution.name(*label)).collect();
        block.set_deprels(&names)?;
        Notes::clear(&mut block)?;
        let (letter, key) = if kbest.is_some() { ("k", "rank") } else { ("s", "sample") };
        if let Some(id) = sentence.sent_id() {
            block.set_comment("sent_id", Some(&format!("{id}.{letter}{number}")))?;
        }
        if *number > 1 {
            // A document does not begin again.
            for key in ["newdoc", "newdoc id", "newpar", "newpar id"] {
                block.set_comment(key, None)?;
            }
        }
        let probability = format!("{:.4}", log_prob.exp());
        let comments = vec![(key, number.to_string()), ("prob", probability)];
        let notes =
            Notes { in_misc: *probs, alternatives_above: *alt, comments, ..Notes::default() };
        distribution.annotate(&mut block, &notes)?;
        Ok(block)
    }
}
