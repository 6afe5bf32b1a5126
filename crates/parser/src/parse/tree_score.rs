//! Probability of the tree that a sentence has.
//!
//! If all arcs of the tree are candidates, the distribution gives its probability. But the steps of a model prune
//! arcs, sometimes gold ones. A tree with such an arc would have probability zero, however good the rest is. The
//! probability that a step gave to the arcs A that it left out is known ([`LabelledDistribution::arc_probs`]). So is the
//! distribution given these arcs ([`Parser::analyse`]). Hence the estimate
//!
//! ```text
//! P(y) ≈ Π_{a ∈ A} P(a) · P(y | A)
//! ```
//!
//! It is exact if no arc was left out. It assumes that the arcs of A are independent, and that the steps are right
//! about the arcs they left out. It serves to compare trees; these numbers do not sum to 1.

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, Constraints};

use crate::parse::annotation::has_tree;
use crate::{Annotation, AnnotationOptions, Error, LabelledDistribution, Mixture, Parser, Weights};

/// The probability of the heads and labels that a sentence has.
#[derive(Clone, Debug)]
pub struct TreeScore<'a> {
    /// Distribution over the trees of candidate arcs.
    pub distribution: LabelledDistribution<'a>,
    /// Log-probability of the heads and labels of the sentence, in nats. It is −∞ if they are impossible: not in the
    /// tree set, or with a label that the model does not allow there.
    pub log_prob: f64,
    /// Probability of each head of the sentence, including those that were left out.
    pub head_probs: Vec<Option<f64>>,
    /// Words whose heads are not candidates of the model.
    pub left_out: Vec<usize>,
    /// Distribution given the heads that were left out, if there are any and a tree has them.
    pub given: Option<LabelledDistribution<'a>>,
}

impl<'a> TreeScore<'a> {
    /// Annotates the heads and labels of the sentence that was scored.
    ///
    /// # Errors
    /// If the sentence has another length.
    pub fn annotation(
        &self,
        sentence: &Sentence,
        options: &AnnotationOptions,
    ) -> Result<Annotation<'a>, Error> {
        let mixture = Mixture::from(&self.distribution);
        let mut words = mixture.words_in(sentence, options.alternatives_above)?;
        for (word, head_prob) in words.iter_mut().zip(&self.head_probs) {
            word.head_prob = *head_prob;
        }
        if let Some(given) = &self.given {
            let given = Mixture::from(given);
            for &number in &self.left_out {
                // A label has a probability only where its arc is a candidate.
                let word = &mut words[number - 1];
                let label_prob = word.head.map(|head| given.label_prob(head, number, &word.label));
                word.label_prob = label_prob.transpose()?.flatten();
            }
        }
        Ok(Annotation {
            detail: options.detail,
            log_prob: Some(self.log_prob),
            entropy: Some(self.distribution.entropy()),
            is_tree: has_tree(sentence, self.distribution.tree_set()),
            ..Annotation::of_words(words)
        })
    }
}

impl<'a, W: Weights> Parser<'a, W> {
    /// Scores the heads and labels of a sentence, with those that are `_` summed out.
    ///
    /// ```
    /// # use tutte::{TrainingOptions, Parser, train};
    /// # let treebank: [tutte_treebank::Sentence; 2] = ["\
    /// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// # ".parse()?, "1\tStop\tstop\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
    /// # let options = TrainingOptions::default().with_bits(14).with_label_bits(8).with_passes(2);
    /// # let model = train(&treebank, &options, &mut ())?;
    /// let tree_score = Parser::new(&model).score_tree(&treebank[0])?; // "Dogs chase cats", with its tree
    /// println!("log P = {:.2}", tree_score.log_prob);
    /// println!("{:.2?}, {} heads were pruned", tree_score.head_probs, tree_score.left_out.len());
    /// assert!(tree_score.log_prob > -20.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If scores are not numbers; [`TooManyWords`](tutte_treebank::Error::TooManyWords).
    pub fn score_tree(&mut self, sentence: &Sentence) -> Result<TreeScore<'a>, Error> {
        let distribution = self.distribution(sentence)?;
        let with_left_out = distribution.arc_probs();
        let marginals = distribution.arcs().marginals();
        // Arcs that a step left out have the probability that it gave them. All others have their marginal, so that
        // they agree with the distribution.
        let scores = distribution.arcs().scores();
        let all = ArcMatrix::from_fn(sentence.len(), |head, word| {
            let is_candidate = scores[(head, word)] > f64::NEG_INFINITY;
            if is_candidate { marginals[(head, word)] } else { with_left_out[(head, word)] }
        });
        let head_probs: Vec<Option<f64>> = (1..)
            .zip(sentence.partial_heads())
            .map(|(word, head)| Some(all[(head?, word)]))
            .collect();
        let mut tree_score = TreeScore {
            log_prob: distribution.log_prob_in(sentence)?,
            left_out: heads_left_out(&distribution, sentence, &[]),
            distribution,
            head_probs,
            given: None,
        };
        // Given some of these arcs, the parser may leave out others.
        let mut required: Vec<usize> = Vec::new();
        let mut next = tree_score.left_out.clone();
        while !next.is_empty() {
            required.append(&mut next);
            let arc = |word: &usize| Some((sentence.word(*word)?.head()?, *word));
            let arcs = required.iter().filter_map(arc);
            let constraints =
                arcs.fold(Constraints::new(), |all, (head, word)| all.require_arc(head, word));
            let given = match self.analyse(sentence, &constraints) {
                Ok(analysis) => analysis.distribution,
                Err(Error::Contradiction { .. }) => return Ok(tree_score),
                Err(error) => return Err(error),
            };
            next = heads_left_out(&given, sentence, &required);
            let arcs: f64 = required
                .iter()
                .filter_map(|word| Some(tree_score.head_probs[word - 1]?.ln()))
                .sum();
            tree_score.log_prob = arcs + given.log_prob_in(sentence)?;
            tree_score.given = Some(given);
        }
        Ok(tree_score)
    }
}

/// Returns the words whose heads are not candidates, except those whose heads were required.
fn heads_left_out(
    distribution: &LabelledDistribution<'_>,
    sentence: &Sentence,
    required: &[usize],
) -> Vec<usize> {
    let scores = distribution.arcs().scores();
    let is_left_out = |(word, head): &(usize, Option<usize>)| {
        let is_pruned = head.is_some_and(|head| scores[(head, *word)] == f64::NEG_INFINITY);
        is_pruned && !required.contains(word)
    };
    (1..).zip(sentence.partial_heads()).filter(is_left_out).map(|(word, _)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::train::tests::treebank;
    use crate::{ParserModel, TrainingOptions, train};
    use tutte_trees::{TreeSet, oracle};

    fn model(options: TrainingOptions) -> ParserModel {
        let options = TrainingOptions { bits: 14, label_bits: 8, passes: 6, ..options };
        train(treebank(), &options, &mut ()).unwrap()
    }

    #[test]
    fn without_pruning_it_is_the_probability_of_the_distribution() {
        let model = model(TrainingOptions::plain());
        let mut parser = Parser::new(&model);
        for sentence in treebank() {
            let tree_score = parser.score_tree(&sentence).unwrap();
            let expected = tree_score.distribution.log_prob_in(&sentence).unwrap();
            assert_eq!(tree_score.log_prob, expected);
            assert!(tree_score.left_out.is_empty() && tree_score.given.is_none());
        }
    }

    /// All trees of short sentences. Most of them contain arcs that the steps left out.
    #[test]
    fn every_tree_of_the_set_has_a_probability_and_likelier_ones_a_higher() {
        for options in [TrainingOptions::default(), TrainingOptions::fast()] {
            let model = model(options);
            let mut parser = Parser::new(&model);
            let mut left_out = 0;
            let mut seen = 0;
            for sentence in treebank().iter().filter(|sentence| sentence.len() < 5) {
                let gold = parser.score_tree(sentence).unwrap().log_prob;
                for tree in oracle::all_trees(sentence.len(), TreeSet::NonProjectiveSingleRoot) {
                    let mut other = sentence.clone();
                    other.set_tree(&tree).unwrap();
                    other.set_deprels(&vec!["_"; sentence.len()]).unwrap();
                    let tree_score = parser.score_tree(&other).unwrap();
                    assert!(tree_score.log_prob.is_finite() && tree_score.log_prob < 1e-9);
                    let probs = tree_score.head_probs.iter().flatten();
                    assert!(probs.clone().all(|p| (0.0..=1.0 + 1e-9).contains(p)));
                    if tree_score.left_out.is_empty() {
                        seen += 1;
                    } else {
                        left_out += 1;
                        assert!(tree_score.log_prob < gold, "{other}");
                    }
                }
            }
            assert!(left_out > 20 && seen > 5, "{left_out} {seen}");
        }
    }

    #[test]
    fn cycles_are_impossible_and_open_heads_are_summed_out() {
        let model = model(TrainingOptions::default());
        let mut parser = Parser::new(&model);
        let sentence = &treebank()[0];
        let mut cycle = sentence.clone();
        cycle.set_heads(&[Some(2), Some(1), Some(0)]).unwrap();
        assert_eq!(parser.score_tree(&cycle).unwrap().log_prob, f64::NEG_INFINITY);
        let mut open = sentence.clone();
        open.set_heads(&[None; 3]).unwrap();
        let tree_score = parser.score_tree(&open).unwrap();
        assert!(tree_score.log_prob.abs() < 1e-9);
        assert_eq!(tree_score.head_probs, [None; 3]);
    }
}
