//! Temperature scaling: one number that makes probabilities as high as they are right.
//!
//! A model that has seen its treebank many times is surer of other sentences than it should be.
//! Dividing all scores by T > 1 flattens the distribution over trees, which stays one (Guo, Pleiss,
//! Sun & Weinberger 2017). T is chosen on trees that were not learnt from, to minimise the log loss
//! of chosen heads,
//!
//! ```text
//! L(T) = −Σ_m log p_m  if the head chosen for word m is right,  −Σ_m log(1 − p_m)  if it is wrong
//! ```
//!
//! where p_m is its marginal under θ/T, of words whose head is known. Heads are chosen at T = 1, so only
//! their probabilities move. If tags are uncertain and their readings t count ([`Mixture`](crate::Mixture)),
//! p_m = Σ_t P(t) μ_m(θ_t/T): what makes a mixture fit is sharper than what makes each of its parts fit, for
//! a mean of distributions is flatter than they are. The search is a golden section over log T: each step
//! costs one inference a sentence and reading.
//!
//! Such trees are development data, or the folds that guides are made for (`train/cascade.rs`).

use tutte_linear::in_parts;
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arcs, marginals_with, mbr_with};

use crate::parse::mixture::possible;
use crate::{Error, ParserModel, Pipeline, Weights};

/// More words than this say no more about one number.
const ENOUGH_WORDS: usize = 25_000;

/// Between these, T is searched.
const LOWEST: f64 = 0.25;
pub(crate) const HIGHEST: f64 = 4.0;

/// A sentence that was not learnt from, whose arcs are scored.
#[derive(Debug)]
pub(crate) struct Judged {
    /// θ at T = 1 given each reading of the tags that counts, with its share; one at least.
    readings: Vec<(f64, ArcMatrix)>,
    /// For each word, the head that is chosen at T = 1.
    chosen: Vec<usize>,
    /// For each word, the right one, where it is known.
    gold: Vec<Option<usize>>,
}

impl Judged {
    /// Heads that were chosen by scores, and the right ones where they are known.
    pub(crate) fn new(
        scores: ArcMatrix,
        heads: &[usize],
        gold: impl Iterator<Item = Option<usize>>,
    ) -> Self {
        Self { chosen: heads.to_vec(), gold: gold.collect(), readings: vec![(1.0, scores)] }
    }

    /// The number of words.
    pub(crate) fn words(&self) -> usize {
        self.chosen.len()
    }
}

/// Of sentences with so many words, one in how many is looked at.
pub(crate) fn one_in(words: usize) -> usize {
    words.div_ceil(ENOUGH_WORDS).max(1)
}

/// The temperature at which the probabilities of chosen heads fit best, 1 if there are none. It is the
/// same for any number of threads.
pub(crate) fn best(judged: &[&Judged], tree_set: TreeSet, threads: usize) -> Result<f64, Error> {
    let loss = |log: f64| -> Result<f64, Error> {
        let losses = |part: &[&Judged]| losses(part, tree_set, log.exp());
        Ok(in_parts(judged, threads, losses)?.iter().sum())
    };
    if judged.is_empty() {
        return Ok(1.0);
    }
    Ok(minimum(loss, LOWEST.ln(), HIGHEST.ln())?.exp())
}

impl<W: Weights> ParserModel<W> {
    /// The temperature at which the model's probabilities fit these trees best. The model itself is
    /// left as it is. The answer is the same for any number of threads.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, train};
    /// # let text = "1\tTea\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tcools\t_\tVERB\t_\t_\t0\troot\t_\t_\n";
    /// # let treebank: Vec<tutte_treebank::Sentence> = vec![text.parse()?, text.parse()?];
    /// # let (dev, options) = (&treebank, TrainingOptions { bits: 12, ..TrainingOptions::default() });
    /// let mut model = train(&treebank, &options, |_, _| {})?;
    /// model.temperature = model.best_temperature(dev, 2)?;
    /// # assert!(model.temperature > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a sentence cannot be parsed.
    pub fn best_temperature(&self, gold: &[Sentence], threads: usize) -> Result<f64, Error> {
        let words: usize = gold.iter().map(Sentence::len).sum();
        let gold: Vec<&Sentence> = gold.iter().step_by(one_in(words)).collect();
        let given = Pipeline::of_parser(self);
        let judged = in_parts(&gold, threads, |part| judge(&given, part))?;
        best(&judged.iter().collect::<Vec<_>>(), self.tree_set, threads)
    }
}

/// Scores sentences under each reading of their tags that would count in a parse, and chooses heads.
pub(crate) fn judge<W: Weights>(
    pipeline: &Pipeline<'_, W>,
    gold: &[&Sentence],
) -> Result<Vec<Judged>, Error> {
    let (mut annotator, mut memory) = (pipeline.annotator(), Memory::default());
    let tree_set = annotator.parser()?.tree_set();
    let temperature = pipeline.parser()?.temperature;
    let judge = |gold: &&Sentence| {
        let mut sentence = (*gold).clone();
        let tagged = annotator.tag(&mut sentence)?;
        let parser = annotator.parser()?;
        let is_whole = !parser.needs_pieces(&sentence);
        let mut score = |sentence: &Sentence| -> Result<ArcMatrix, Error> {
            let mut scores = parser.scores(sentence)?.clone();
            arcs(sentence.len()).for_each(|arc| scores[arc] *= temperature);
            Ok(scores)
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
        let gold = gold.words().map(|word| word.head()).collect();
        let mut judged = Judged { readings, chosen: Vec::new(), gold };
        judged.infer(1.0, tree_set, &mut memory)?;
        judged.chosen = judged.best_heads(tree_set, &mut memory)?;
        Ok(judged)
    };
    gold.iter().map(judge).collect()
}

/// Memory of inference, used again.
#[derive(Default)]
struct Memory {
    workspace: Workspace,
    scores: ArcMatrix,
    /// Of one reading.
    own: ArcMatrix,
    /// Of all.
    marginals: ArcMatrix,
}

impl Judged {
    /// The marginals at a temperature: Σ_t P(t) μ(θ_t/T).
    fn infer(&self, temperature: f64, tree_set: TreeSet, memory: &mut Memory) -> Result<(), Error> {
        let Memory { workspace, scores, own, marginals } = memory;
        let words = self.gold.len();
        for (number, (share, at_one)) in self.readings.iter().enumerate() {
            scores.clone_from(at_one);
            arcs(words).for_each(|arc| scores[arc] /= temperature);
            if let [_] = self.readings[..] {
                return Ok(marginals_with(scores, tree_set, workspace, marginals).map(|_| ())?);
            }
            marginals_with(scores, tree_set, workspace, own)?;
            if number == 0 {
                marginals.reset(words, 0.0);
            }
            arcs(words).for_each(|arc| marginals[arc] += share * own[arc]);
        }
        Ok(())
    }

    /// The heads of the minimum-risk tree of the marginals that were inferred.
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

/// The probabilities of the heads of the minimum-risk tree at a temperature, and whether they are right,
/// of each sentence; of words whose head is known.
pub(crate) fn probabilities(
    judged: &[&Judged],
    tree_set: TreeSet,
    temperature: f64,
) -> Result<Vec<Vec<(f64, bool)>>, Error> {
    let mut memory = Memory::default();
    let of_sentence = |judged: &&Judged| {
        judged.infer(temperature, tree_set, &mut memory)?;
        let heads = judged.best_heads(tree_set, &mut memory)?;
        let words = (1..).zip(&heads).zip(&judged.gold);
        let said = words.filter_map(|((word, &head), gold)| {
            Some((memory.marginals[(head, word)].clamp(0.0, 1.0), head == (*gold)?))
        });
        Ok(said.collect())
    };
    judged.iter().map(of_sentence).collect()
}

/// The log loss of each sentence's heads.
fn losses(judged: &[&Judged], tree_set: TreeSet, temperature: f64) -> Result<Vec<f64>, Error> {
    /// No probability is taken to be surer than this.
    const SUREST: f64 = 1.0 - 1e-6;
    let mut memory = Memory::default();
    let loss = |judged: &&Judged| {
        judged.infer(temperature, tree_set, &mut memory)?;
        let words = (1..).zip(&judged.chosen).zip(&judged.gold);
        let losses = words.filter_map(|((modifier, &head), gold)| {
            let probability = memory.marginals[(head, modifier)].clamp(1.0 - SUREST, SUREST);
            Some(-(if head == (*gold)? { probability } else { 1.0 - probability }).ln())
        });
        Ok(losses.sum())
    };
    judged.iter().map(loss).collect()
}

/// Where a function with one valley is lowest, to a hundredth (Kiefer 1953).
fn minimum(
    mut f: impl FnMut(f64) -> Result<f64, Error>,
    mut from: f64,
    mut to: f64,
) -> Result<f64, Error> {
    const PRECISION: f64 = 0.01;
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (to - ratio * (to - from), from + ratio * (to - from));
    let (mut at_left, mut at_right) = (f(left)?, f(right)?);
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
    fn the_lowest_point_is_found() {
        for lowest in [-1.2, 0.0, 0.7] {
            let found = minimum(|x| Ok((x - lowest).powi(2)), -1.4, 1.4).unwrap();
            assert!((found - lowest).abs() < 0.01, "{found} is not {lowest}");
        }
    }

    /// The mean of two readings that are sure of different trees is as unsure as they are probable, at any
    /// temperature; one reading of it all is made so by its temperature.
    #[test]
    fn readings_are_mixed_after_their_temperature() {
        let sure = |arc| ArcMatrix::from_fn(2, |h, m| if (h, m) == arc { 4.0 } else { 0.0 });
        let gold = vec![Some(0), Some(1)];
        let readings = vec![(0.75, sure((0, 1))), (0.25, sure((0, 2)))];
        let judged = Judged { readings, chosen: vec![0, 1], gold };
        let set = TreeSet::NonProjectiveSingleRoot;
        for temperature in [0.5, 1.0, 3.0] {
            let right = 1.0 / (1.0 + (-4.0f64 / temperature).exp());
            let mean = 0.75 * right + 0.25 * (1.0 - right);
            let said = probabilities(&[&judged], set, temperature).unwrap();
            assert!((said[0][0].0 - mean).abs() < 1e-12 && said[0][0].1, "{said:?}");
            let loss = losses(&[&judged], set, temperature).unwrap()[0];
            assert!((loss + 2.0 * mean.ln()).abs() < 1e-9, "{loss}");
        }
    }

    /// Two words, either the root: p = σ(s / T). Right three times out of four, so T = s / ln 3.
    #[test]
    fn probabilities_become_shares() {
        let scores = ArcMatrix::from_fn(
            2,
            |head, modifier| if (head, modifier) == (0, 1) { 4.0 } else { 0.0 },
        );
        let (one, other) = ([Some(0), Some(1)], [Some(2), Some(0)]);
        let judged = [one, one, other, one]
            .map(|gold| Judged::new(scores.clone(), &[0, 1], gold.into_iter()));
        for threads in [1, 3] {
            let judged: Vec<&Judged> = judged.iter().collect();
            let found = best(&judged, TreeSet::NonProjectiveSingleRoot, threads).unwrap();
            assert!((found - 4.0 / 3f64.ln()).abs() < 0.05, "{found}");
        }
    }
}
