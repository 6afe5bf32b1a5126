//! Temperature scaling: one number T that calibrates the probabilities of heads (Guo, Pleiss, Sun & Weinberger 2017).
//!
//! A trained model is overconfident on held-out sentences. Dividing all scores by T > 1 flattens its distribution over
//! trees. T minimises the log loss of predicted heads on held-out trees,
//!
//! ```text
//! L(T) = −Σ_m log p_m  if the predicted head of word m is right,  −Σ_m log(1 − p_m)  if it is wrong
//! ```
//!
//! where p_m is the reported probability of the predicted head under θ/T, for words with a gold head: its marginal,
//! scaled down by what the pruner and the first pass left out ([`LabelledDistribution::arc_probs`]). Heads are predicted
//! at T = 1, so only their probabilities depend on T. With several readings t of uncertain tags ([`Mixture`](crate::Mixture)),
//! p_m = Σ_t P(t) μ_m(θ_t/T). A mean of distributions is flatter than each of them, so a mixture needs a lower T than
//! its readings. The search is a golden section over log T. Each step costs one inference per sentence and reading.
//!
//! The held-out trees are development data, or part of the treebank (`train/probe.rs`).
//!
//! [`LabelledDistribution::arc_probs`]: crate::LabelledDistribution::arc_probs

use tutte_linear::in_parts;
use tutte_treebank::Sentence;
use tutte_treebank::eval::{Alignment, WordRef};
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arcs, marginals_with, mbr_with};

use crate::parse::mixture::possible;
use crate::text::{SegmenterOptions, raw_text};
use crate::{Annotator, BATCH_WORDS, Compact, Error, ParserModel, Pipeline, Weights};

/// Number of words that is enough to estimate T; the search uses about this many.
const ENOUGH_WORDS: usize = 25_000;

/// Lower bound of the search for T.
const LOWEST: f64 = 0.25;
/// Upper bound of the search for T.
pub(crate) const HIGHEST: f64 = 4.0;

/// Arc scores, predicted heads and gold heads of a held-out sentence.
#[derive(Debug)]
pub(crate) struct ScoredSentence {
    /// Probability and scores of each reading of the tags; at least one.
    readings: Vec<(f64, ScoredReading)>,
    /// Head of each word, predicted at T = 1.
    predicted: Vec<usize>,
    /// Gold head of each word, `None` if unannotated; [`NOT_A_HEAD`] if no head is right.
    gold: Vec<Option<usize>>,
}

/// Gold head of a word that the gold standard does not have, or whose gold head is in another sentence.
const NOT_A_HEAD: usize = usize::MAX;

/// Arc scores of a sentence under one reading of its tags.
#[derive(Debug)]
pub(crate) struct ScoredReading {
    /// θ at T = 1.
    pub(crate) scores: ArcMatrix,
    /// Probabilities of the arcs that were left out, which do not depend on T; 0 for all others. `None` if the model
    /// leaves out none.
    pub(crate) left_out: Option<ArcMatrix>,
}

impl ScoredSentence {
    /// Predicts the heads of a sentence with one reading of its tags.
    pub(crate) fn new(
        reading: ScoredReading,
        gold: Vec<Option<usize>>,
        tree_set: TreeSet,
    ) -> Result<Self, Error> {
        Self::of_readings(vec![(1.0, reading)], gold, tree_set, &mut Memory::default())
    }

    fn of_readings(
        readings: Vec<(f64, ScoredReading)>,
        gold: Vec<Option<usize>>,
        tree_set: TreeSet,
        memory: &mut Memory,
    ) -> Result<Self, Error> {
        let mut scored = Self { readings, predicted: Vec::new(), gold };
        scored.infer(1.0, tree_set, memory)?;
        scored.predicted = scored.best_heads(tree_set, memory)?;
        Ok(scored)
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> usize {
        self.predicted.len()
    }
}

/// Returns the stride at which sentences are sampled, if together they have this many words.
pub(crate) fn sampling_stride(words: usize) -> usize {
    words.div_ceil(ENOUGH_WORDS).max(1)
}

/// Returns the temperature with the lowest log loss of predicted heads, or 1 if there are no sentences. The result is
/// the same for any number of threads.
pub(crate) fn best(
    sentences: &[&ScoredSentence],
    tree_set: TreeSet,
    threads: usize,
) -> Result<f64, Error> {
    let loss = |log: f64| -> Result<f64, Error> {
        let losses = |part: &[&ScoredSentence]| losses(part, tree_set, log.exp());
        Ok(in_parts(sentences, threads, losses)?.iter().sum())
    };
    if sentences.is_empty() {
        return Ok(1.0);
    }
    Ok(minimum(loss, LOWEST.ln(), HIGHEST.ln())?.exp())
}

impl<W: Weights> ParserModel<W> {
    /// Returns the temperature that calibrates the model best on held-out trees. Does not change the model. The
    /// result is the same for any number of threads.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, train};
    /// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
    /// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
    /// # let dev = &treebank;
    /// # let options = TrainingOptions::default().with_bits(12);
    /// let mut model = train(&treebank, &options, &mut ())?;
    /// model.temperature = model.best_temperature(dev, 2)?;
    /// # assert!(model.temperature > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a sentence cannot be parsed.
    pub fn best_temperature(&self, gold: &[Sentence], threads: usize) -> Result<f64, Error> {
        let words: usize = gold.iter().map(Sentence::len).sum();
        let gold: Vec<&Sentence> = gold.iter().step_by(sampling_stride(words)).collect();
        let pipeline = Pipeline::of_parser(self);
        let gold: Vec<HeldOut<'_>> = gold.into_iter().map(HeldOut::new).collect();
        let scored = in_parts(&gold, threads, |part| score_sentences(&pipeline, part))?;
        best(&scored.iter().collect::<Vec<_>>(), self.tree_set, threads)
    }
}

/// A held-out sentence and its gold heads, see [`ScoredSentence`].
pub(crate) struct HeldOut<'a> {
    sentence: &'a Sentence,
    gold: Vec<Option<usize>>,
}

impl<'a> HeldOut<'a> {
    /// Takes the heads of the sentence itself.
    pub(crate) fn new(sentence: &'a Sentence) -> Self {
        Self { sentence, gold: sentence.words().map(|word| word.head()).collect() }
    }
}

/// Returns the sentences that a pipeline finds in the raw text of gold trees. They are not annotated.
pub(crate) fn sentences_of_text(
    pipeline: &Pipeline<'_, Compact>,
    gold: &[Sentence],
) -> Result<Vec<Sentence>, Error> {
    let text = raw_text(gold);
    let mut segmenter = pipeline.sentences(text.as_bytes(), SegmenterOptions::default());
    let mut found = Vec::new();
    let mut sentence = Sentence::default();
    while segmenter.read(&mut sentence)? {
        found.push(sentence.clone());
    }
    Ok(found)
}

/// Returns sentences of the same text as gold trees, with the gold heads of their words. The heads of words that the
/// gold standard does not have are never right, and neither are those whose gold head is in another sentence.
pub(crate) fn aligned<'a>(
    gold: &'a [Sentence],
    found: &'a [Sentence],
) -> Result<Vec<HeldOut<'a>>, Error> {
    let alignment = Alignment::new(gold, found)?;
    let head_of = |word: WordRef| -> Option<usize> {
        let Some(gold_word) = alignment.gold_of(word) else { return Some(NOT_A_HEAD) };
        let head = match alignment.gold_token(gold_word)?.head()? {
            0 => return Some(0),
            head => alignment.system_of(WordRef { word: head, ..gold_word }),
        };
        let head = head.filter(|head| head.sentence == word.sentence);
        Some(head.map_or(NOT_A_HEAD, |head| head.word))
    };
    let held_out = found.iter().enumerate().map(|(at, sentence)| {
        let words = (1..=sentence.len()).map(|word| WordRef { sentence: at, word });
        HeldOut { sentence, gold: words.map(head_of).collect() }
    });
    Ok(held_out.collect())
}

/// Scores sentences under each reading of the tags that the pipeline would use, and predicts heads.
pub(crate) fn score_sentences<W: Weights>(
    pipeline: &Pipeline<'_, W>,
    held_out: &[HeldOut<'_>],
) -> Result<Vec<ScoredSentence>, Error> {
    let mut annotator = pipeline.annotator();
    let mut memory = Memory::default();
    let tree_set = annotator.parser()?.tree_set();
    let temperature = pipeline.words().temperature(pipeline.parser()?);
    let mut score_sentence = |annotator: &mut Annotator<'_, W>, held_out: &HeldOut<'_>| {
        let mut sentence = held_out.sentence.clone();
        let tagged = annotator.tag(&mut sentence)?;
        let parser = annotator.parser()?;
        let is_whole = !parser.needs_pieces(&sentence);
        let mut score = |sentence: &Sentence| -> Result<ScoredReading, Error> {
            let (scores, left_out) = parser.scores_and_left_out(sentence)?;
            let mut scores = scores.clone();
            arcs(sentence.len()).for_each(|arc| scores[arc] *= temperature);
            Ok(ScoredReading { scores, left_out })
        };
        let mut readings = Vec::new();
        if is_whole {
            readings = tagged.map_each(&mut sentence, &mut score)?;
        }
        if readings.is_empty() {
            readings.push((1.0, score(&sentence)?));
        }
        let total: f64 = readings.iter().map(|(share, _)| share).sum();
        readings.iter_mut().for_each(|(share, _)| *share /= total);
        ScoredSentence::of_readings(readings, held_out.gold.clone(), tree_set, &mut memory)
    };
    let mut scored = Vec::with_capacity(held_out.len());
    // A batch ends before the first sentence with which it would have too many words.
    let mut words = 0;
    let is_same_batch = |_: &HeldOut<'_>, next: &HeldOut<'_>| {
        words += next.sentence.len();
        let is_same = words <= BATCH_WORDS;
        words = if is_same { words } else { 0 };
        is_same
    };
    for batch in held_out.chunk_by(is_same_batch) {
        annotator.parser()?.prepare(batch.iter().map(|held_out| held_out.sentence));
        for held_out in batch {
            scored.push(score_sentence(&mut annotator, held_out)?);
        }
    }
    Ok(scored)
}

/// Memory that inference reuses.
#[derive(Default)]
struct Memory {
    workspace: Workspace,
    /// θ_t/T of the last reading.
    scores: ArcMatrix,
    /// Marginals of one reading.
    own: ArcMatrix,
    /// Marginals of the mixture of all readings.
    marginals: ArcMatrix,
    /// Probabilities of all arcs in the mixture, with those that were left out.
    arc_probs: ArcMatrix,
}

impl ScoredSentence {
    /// Writes the marginals at a temperature, Σ_t P(t) μ(θ_t/T), and the probabilities of all arcs into `memory`.
    fn infer(&self, temperature: f64, tree_set: TreeSet, memory: &mut Memory) -> Result<(), Error> {
        let Memory { workspace, scores, own, marginals, arc_probs } = memory;
        let words = self.gold.len();
        marginals.reset(words, 0.0);
        arc_probs.reset(words, 0.0);
        for (share, reading) in &self.readings {
            scores.clone_from(&reading.scores);
            arcs(words).for_each(|arc| scores[arc] /= temperature);
            marginals_with(scores, tree_set, workspace, own)?;
            arcs(words).for_each(|arc| marginals[arc] += share * own[arc]);
            match &reading.left_out {
                None => arcs(words).for_each(|arc| arc_probs[arc] += share * own[arc]),
                Some(left_out) => {
                    for word in 1..=words {
                        let heads = || (0..=words).filter(move |&head| head != word);
                        let kept: f64 =
                            1.0 - heads().map(|head| left_out[(head, word)]).sum::<f64>();
                        for arc in heads().map(|head| (head, word)) {
                            arc_probs[arc] += share * (kept * own[arc] + left_out[arc]);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the heads of the minimum-risk tree under the marginals that [`infer`](Self::infer) left in `memory`.
    fn best_heads(&self, tree_set: TreeSet, memory: &mut Memory) -> Result<Vec<usize>, Error> {
        let Memory { workspace, scores, marginals, .. } = memory;
        if self.readings.len() > 1 {
            possible(marginals, scores);
        }
        let mut heads = Vec::with_capacity(self.gold.len());
        mbr_with(scores, marginals, tree_set, workspace, &mut heads)?;
        Ok(heads)
    }
}

/// Returns one list per sentence, with an entry for each word that has a gold head. An entry is the probability of the
/// head in the minimum-risk tree at a temperature, and `true` if that head is right.
pub(crate) fn probabilities(
    sentences: &[&ScoredSentence],
    tree_set: TreeSet,
    temperature: f64,
) -> Result<Vec<Vec<(f64, bool)>>, Error> {
    let mut memory = Memory::default();
    let of_sentence = |sentence: &&ScoredSentence| {
        sentence.infer(temperature, tree_set, &mut memory)?;
        let heads = sentence.best_heads(tree_set, &mut memory)?;
        let words = (1..).zip(&heads).zip(&sentence.gold);
        let forecasts = words.filter_map(|((word, &head), gold)| {
            Some((memory.arc_probs[(head, word)].clamp(0.0, 1.0), head == (*gold)?))
        });
        Ok(forecasts.collect())
    };
    sentences.iter().map(of_sentence).collect()
}

/// Returns the log loss of the predicted heads of each sentence.
fn losses(
    sentences: &[&ScoredSentence],
    tree_set: TreeSet,
    temperature: f64,
) -> Result<Vec<f64>, Error> {
    /// Probabilities are clamped to this, so that the loss stays finite.
    const HIGHEST_PROBABILITY: f64 = 1.0 - 1e-6;
    let mut memory = Memory::default();
    let loss = |sentence: &&ScoredSentence| {
        sentence.infer(temperature, tree_set, &mut memory)?;
        let words = (1..).zip(&sentence.predicted).zip(&sentence.gold);
        let losses = words.filter_map(|((modifier, &head), gold)| {
            let probability = memory.arc_probs[(head, modifier)]
                .clamp(1.0 - HIGHEST_PROBABILITY, HIGHEST_PROBABILITY);
            Some(-(if head == (*gold)? { probability } else { 1.0 - probability }).ln())
        });
        Ok(losses.sum())
    };
    sentences.iter().map(loss).collect()
}

/// Returns the minimum of a unimodal function to a precision of 0.01, by golden-section search (Kiefer 1953).
fn minimum(
    mut f: impl FnMut(f64) -> Result<f64, Error>,
    mut from: f64,
    mut to: f64,
) -> Result<f64, Error> {
    const PRECISION: f64 = 0.01;
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let mut left = to - ratio * (to - from);
    let mut right = from + ratio * (to - from);
    let mut at_left = f(left)?;
    let mut at_right = f(right)?;
    while to - from > PRECISION {
        if at_left <= at_right {
            (to, right, at_right) = (right, left, at_left);
            left = to - ratio * (to - from);
            at_left = f(left)?;
        } else {
            (from, left, at_left) = (left, right, at_right);
            right = from + ratio * (to - from);
            at_right = f(right)?;
        }
    }
    Ok((from + to) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_section_finds_the_minimum() {
        for lowest in [-1.2, 0.0, 0.7] {
            let found = minimum(|x| Ok((x - lowest).powi(2)), -1.4, 1.4).unwrap();
            assert!((found - lowest).abs() < 0.01, "{found} is not {lowest}");
        }
    }

    fn sentence(rows: &[(&str, usize)]) -> Sentence {
        let lines = (1..).zip(rows).map(|(number, (form, head))| {
            format!("{number}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_\n")
        });
        lines.collect::<String>().parse().unwrap()
    }

    /// The model joins two sentences, and divides a word.
    #[test]
    fn heads_of_words_that_the_gold_standard_does_not_have_are_never_right() {
        let gold = [
            sentence(&[("Tea", 2), ("cools", 0), ("overnight", 2)]),
            sentence(&[("We", 2), ("wait", 0)]),
        ];
        let found = [
            sentence(&[("Tea", 0), ("cools", 0), ("over", 0), ("night", 0), ("We", 0)]),
            sentence(&[("wait", 0)]),
        ];
        let aligned = aligned(&gold, &found).unwrap();
        let heads: Vec<_> = aligned.iter().map(|held_out| held_out.gold.clone()).collect();
        let wrong = Some(NOT_A_HEAD);
        assert_eq!(heads, [vec![Some(2), Some(0), wrong, wrong, wrong], vec![Some(0)]]);
    }

    /// Two readings prefer different trees. The probabilities of the mixture are their weighted mean at every
    /// temperature.
    #[test]
    fn the_temperature_applies_before_readings_are_mixed() {
        let certain = |arc| ArcMatrix::from_fn(2, |h, m| if (h, m) == arc { 4.0 } else { 0.0 });
        let gold = vec![Some(0), Some(1)];
        let reading = |arc| ScoredReading { scores: certain(arc), left_out: None };
        let readings = vec![(0.75, reading((0, 1))), (0.25, reading((0, 2)))];
        let sentence = ScoredSentence { readings, predicted: vec![0, 1], gold };
        let set = TreeSet::NonProjectiveSingleRoot;
        for temperature in [0.5, 1.0, 3.0] {
            let right = 1.0 / (1.0 + (-4.0f64 / temperature).exp());
            let mean = 0.75 * right + 0.25 * (1.0 - right);
            let found = probabilities(&[&sentence], set, temperature).unwrap();
            assert!((found[0][0].0 - mean).abs() < 1e-12 && found[0][0].1, "{found:?}");
            let loss = losses(&[&sentence], set, temperature).unwrap()[0];
            assert!((loss + 2.0 * mean.ln()).abs() < 1e-9, "{loss}");
        }
    }

    /// Two words, either of which may be the root: p = σ(s / T). The prediction is right in three of four sentences,
    /// so T = s / ln 3.
    #[test]
    fn probabilities_match_frequencies() {
        let scores = ArcMatrix::from_fn(
            2,
            |head, modifier| if (head, modifier) == (0, 1) { 4.0 } else { 0.0 },
        );
        let right = [Some(0), Some(1)];
        let wrong = [Some(2), Some(0)];
        let set = TreeSet::NonProjectiveSingleRoot;
        let sentences = [right, right, wrong, right].map(|gold| {
            let reading = ScoredReading { scores: scores.clone(), left_out: None };
            ScoredSentence::new(reading, gold.to_vec(), set).unwrap()
        });
        for threads in [1, 3] {
            let sentences: Vec<&ScoredSentence> = sentences.iter().collect();
            let found = best(&sentences, set, threads).unwrap();
            assert!((found - 4.0 / 3f64.ln()).abs() < 0.05, "{found}");
        }
    }
}
