//! How probable is the tree that a sentence has?
//!
//! Of a tree whose arcs were all looked at, the distribution says so. But a model that goes about it in
//! steps leaves arcs out, about one in a hundred gold ones, and a tree with such an arc would have
//! probability zero, however good the rest. What a step thought of the arcs A that it left out is known,
//! though (`Parser::with_left_out`), and so is what the parser makes of the rest when it is told of them
//! ([`Parser::analyse`]). So
//!
//! ```text
//! P(y) ≈ Π_{a ∈ A} P(a) · P(y | A)
//! ```
//!
//! which is exact if nothing was left out. It takes the arcs of A for independent, and steps for right
//! about what they left out: a number to compare trees by, not one of a distribution that sums to 1.

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, Constraints};

use crate::{Error, LabelledDistribution, Parser, Weights};

/// What a model thinks of the heads and labels that a sentence has.
#[derive(Clone, Debug)]
pub struct TreeScore<'a> {
    /// Of all trees that are made of arcs the model looks at.
    pub distribution: LabelledDistribution<'a>,
    /// Log-probability of the heads and labels that are given, in nats; −∞ if they are impossible: no
    /// tree of the set, or a label that the model does not have there.
    pub log_prob: f64,
    /// The probability of each head that is given, also of those that were left out.
    pub head_probs: Vec<Option<f64>>,
    /// The words whose heads the model does not look at by itself.
    pub left_out: Vec<usize>,
    /// The distribution given those heads, if there are any and a tree can have them.
    pub given: Option<LabelledDistribution<'a>>,
}

impl<'a, W: Weights> Parser<'a, W> {
    /// Judges the heads and labels of a sentence; those that are `_` may be anything.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 2] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?, "1\tStop\tstop\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
    /// # let options = TrainingOptions { bits: 14, label_bits: 8, passes: 2, ..TrainingOptions::default() };
    /// # let model = train(&treebank, &options, |_, _| {})?;
    /// let tree_score = Parser::new(&model).judge(&treebank[0])?; // "Dogs chase cats", with its tree
    /// println!("log P = {:.2}", tree_score.log_prob);
    /// println!("{:.2?} of {} heads were not expected at all", tree_score.head_probs, tree_score.left_out.len());
    /// assert!(tree_score.log_prob > -20.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If scores are no numbers.
    pub fn judge(&mut self, sentence: &Sentence) -> Result<TreeScore<'a>, Error> {
        let distribution = self.distribution(sentence)?;
        let marginals = distribution.arcs().marginals();
        // Of arcs that were left out, what the step that did so gave them; of others, what they have in
        // the distribution that all else is said of.
        let left_out = self.with_left_out(marginals);
        let scores = distribution.arcs().scores();
        let all = ArcMatrix::from_fn(sentence.len(), |head, word| {
            let seen = scores[(head, word)] > f64::NEG_INFINITY;
            if seen { marginals[(head, word)] } else { left_out[(head, word)] }
        });
        let head_probs: Vec<Option<f64>> = (1..)
            .zip(sentence.partial_heads())
            .map(|(word, head)| Some(all[(head?, word)]))
            .collect();
        let mut tree_score = TreeScore {
            log_prob: distribution.log_prob_in(sentence)?,
            left_out: unseen(&distribution, sentence, &[]),
            distribution,
            head_probs,
            given: None,
        };
        // Told of some, a parser may leave out others.
        let mut told: Vec<usize> = Vec::new();
        let mut next = tree_score.left_out.clone();
        while !next.is_empty() {
            told.append(&mut next);
            let arc = |word: &usize| Some((sentence.word(*word)?.head()?, *word));
            let arcs = told.iter().filter_map(arc);
            let known = arcs.fold(Constraints::new(), |known, (h, m)| known.require_arc(h, m));
            let given = match self.analyse(sentence, &known) {
                Ok(analysis) => analysis.distribution,
                Err(Error::Contradiction { .. }) => return Ok(tree_score),
                Err(error) => return Err(error),
            };
            next = unseen(&given, sentence, &told);
            let arcs: f64 =
                told.iter().filter_map(|word| Some(tree_score.head_probs[word - 1]?.ln())).sum();
            tree_score.log_prob = arcs + given.log_prob_in(sentence)?;
            tree_score.given = Some(given);
        }
        Ok(tree_score)
    }
}

/// The words whose given heads are not looked at, but for those that it was told of.
fn unseen(
    distribution: &LabelledDistribution<'_>,
    sentence: &Sentence,
    told: &[usize],
) -> Vec<usize> {
    let scores = distribution.arcs().scores();
    let is_unseen = |(word, head): &(usize, Option<usize>)| {
        let unseen = head.is_some_and(|head| scores[(head, *word)] == f64::NEG_INFINITY);
        unseen && !told.contains(word)
    };
    (1..).zip(sentence.partial_heads()).filter(is_unseen).map(|(word, _)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::train::tests::treebank;
    use crate::{ParserModel, TrainingOptions, train};
    use tutte_trees::{TreeSet, oracle};

    fn model(options: TrainingOptions) -> ParserModel {
        let options = TrainingOptions { bits: 14, label_bits: 8, passes: 6, ..options };
        train(&treebank(), &options, |_, _| {}).unwrap()
    }

    #[test]
    fn without_steps_it_is_the_distributions_own() {
        let model = model(TrainingOptions::plain());
        let mut parser = Parser::new(&model);
        for sentence in treebank() {
            let tree_score = parser.judge(&sentence).unwrap();
            let expected = tree_score.distribution.log_prob_in(&sentence).unwrap();
            assert_eq!(tree_score.log_prob, expected);
            assert!(tree_score.left_out.is_empty() && tree_score.given.is_none());
        }
    }

    /// Trees of all kinds of short sentences, most of which the steps left out.
    #[test]
    fn every_tree_of_the_set_has_a_probability_and_likelier_ones_a_higher() {
        for options in [TrainingOptions::default(), TrainingOptions::fast()] {
            let model = model(options);
            let mut parser = Parser::new(&model);
            let (mut left_out, mut seen) = (0, 0);
            for sentence in treebank().iter().filter(|sentence| sentence.len() < 5) {
                let gold = parser.judge(sentence).unwrap().log_prob;
                for tree in oracle::all_trees(sentence.len(), TreeSet::NonProjectiveSingleRoot) {
                    let mut other = sentence.clone();
                    other.set_tree(&tree).unwrap();
                    other.set_deprels(&vec!["_"; sentence.len()]).unwrap();
                    let tree_score = parser.judge(&other).unwrap();
                    assert!(tree_score.log_prob.is_finite() && tree_score.log_prob < 1e-9);
                    let probs = tree_score.head_probs.iter().flatten();
                    assert!(probs.clone().all(|p| (0.0..=1.0 + 1e-9).contains(p)));
                    match tree_score.left_out.is_empty() {
                        true => seen += 1,
                        false => {
                            left_out += 1;
                            assert!(tree_score.log_prob < gold, "{other}");
                        }
                    }
                }
            }
            assert!(left_out > 20 && seen > 5, "{left_out} {seen}");
        }
    }

    #[test]
    fn what_cannot_be_is_impossible_and_what_is_open_is_summed_over() {
        let model = model(TrainingOptions::default());
        let mut parser = Parser::new(&model);
        let sentence = &treebank()[0];
        let mut cycle = sentence.clone();
        cycle.set_heads(&[Some(2), Some(1), Some(0)]).unwrap();
        assert_eq!(parser.judge(&cycle).unwrap().log_prob, f64::NEG_INFINITY);
        let mut open = sentence.clone();
        open.set_heads(&[None; 3]).unwrap();
        let tree_score = parser.judge(&open).unwrap();
        assert!(tree_score.log_prob.abs() < 1e-9);
        assert_eq!(tree_score.head_probs, [None; 3]);
    }
}
