//! Rules in the training of a network: expectations over all raw sentences of a treebank.
//!
//! ```text
//! L = 1/W Σ_x loss(x) + C Σ_q w_q S(t_q, E_q)        E_q = 1/c_q Σ_x Σ_{h→m} μ_x(h → m) g_q(x, h, m)
//!
//! ∂L/∂θ_x(e) = 1/W ∂loss(x)/∂θ_x(e) + C Cov_x([e ∈ y], ĝ(y))
//! ```
//!
//! with ĝ of [`expectation`](crate::learn::objective::expectation), W the number of words of the treebank and C the weight
//! of rules. So a network takes one coefficient per arc from rules, too.
//!
//! An expectation is a share of the whole treebank, and a batch has a few of its sentences. So the probabilities of
//! matched arcs are kept for every sentence. A batch replaces those of its own sentences before derivatives are taken.
//! A batch of B words estimates the gradient as W/B times the sum over its sentences. An epoch starts with exact
//! expectations, computed without dropout.

use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, TreeSet, Workspace, arc_covariances_with, marginals_with};

use super::examples::Example;
use crate::Error;
use crate::learn::objective::expectation::Criterion;
use crate::learn::weak::{ExpectationConstraint, WeakData};
use crate::parse::constraints;
use crate::rules::RuleSet;

/// An arc that a rule matches: head, dependent and number of the rule.
pub(super) type Match = (usize, usize, usize);

/// The expectations of rules, with what every sentence adds to them.
pub(super) struct Expectations {
    constraints: Vec<ExpectationConstraint>,
    /// C.
    weight: f64,
    /// W.
    words: f64,
    /// Probability of each matched arc, by example.
    probs: Vec<Vec<f64>>,
    /// Σ μ g_q.
    sums: Vec<f64>,
}

impl Expectations {
    /// Matches rules against the raw sentences of a treebank, and puts the matches into its examples.
    ///
    /// # Errors
    /// [`Error::Setting`] if there are rules with a share, and none of them matches an arc of a raw sentence.
    pub(super) fn new(
        rules: &RuleSet,
        weight: f64,
        treebank: &[Sentence],
        tree_set: TreeSet,
        examples: &mut [Example],
    ) -> Result<Self, Error> {
        let is_raw = |example: &Example| example.heads.iter().all(Option::is_none);
        let sentences = treebank.iter().filter(|sentence| !sentence.is_empty());
        let (raw, places): (Vec<Sentence>, Vec<usize>) = sentences
            .enumerate()
            .filter(|(at, _)| is_raw(&examples[*at]))
            .map(|(at, sentence)| (sentence.clone(), at))
            .unzip();
        let WeakData { constraints, arcs, candidates, .. } =
            WeakData::of_rules(rules, &raw, tree_set);
        for (at, (matches, candidates)) in places.into_iter().zip(arcs.into_iter().zip(candidates))
        {
            let example = &mut examples[at];
            let no_heads = vec![None; example.heads.len()];
            // Rules with `always` and `never` may leave no tree. They do not hold in such a sentence.
            if !constraints::has_tree(&candidates, &no_heads, tree_set) {
                continue;
            }
            example.candidates = candidates;
            let has_weight = |&(_, _, rule): &Match| constraints[rule].wanted.weight > 0.0;
            example.matches = matches.into_iter().filter(has_weight).collect();
        }
        let has_shares = rules.rules().iter().any(|rule| !rule.target.is_hard());
        if has_shares && examples.iter().all(|example| example.matches.is_empty()) {
            let why = "rules teach sentences without heads, and none of those has an arc that a rule matches; add raw \
                       sentences, or leave out the rules";
            return Err(Error::Setting(why.to_owned()));
        }
        let probs = examples.iter().map(|example| vec![0.0; example.matches.len()]).collect();
        let words: usize = examples.iter().map(|example| example.heads.len()).sum();
        let sums = vec![0.0; constraints.len()];
        Ok(Self { constraints, weight, words: words as f64, probs, sums })
    }

    /// Sets all expectations to 0, before they are computed anew.
    pub(super) fn clear(&mut self) {
        self.probs.iter_mut().for_each(|probs| probs.fill(0.0));
        self.sums.fill(0.0);
    }

    /// Replaces the probabilities of the matched arcs of an example.
    pub(super) fn replace(&mut self, at: usize, matches: &[Match], probs: &[f64]) {
        let pairs = self.probs[at].iter_mut().zip(probs);
        for (&(_, _, rule), (old, &new)) in matches.iter().zip(pairs) {
            self.sums[rule] += new - *old;
            *old = new;
        }
    }

    /// Returns the loss C Σ w_q S, and W C w_q κ_q / c_q of each rule.
    pub(super) fn slopes(&self) -> (f64, Vec<f64>) {
        let mut sum = 0.0;
        let slope = |(constraint, &sum_of_arcs): (&ExpectationConstraint, &f64)| {
            let (loss, slope) = constraint.loss(sum_of_arcs / constraint.of, Criterion::Squared);
            sum += self.weight * loss;
            self.words * self.weight * slope / constraint.of
        };
        let slopes = self.constraints.iter().zip(&self.sums).map(slope).collect();
        (sum, slopes)
    }
}

/// Memory for the rules of one sentence.
#[derive(Default)]
pub(super) struct RuleScratch {
    workspace: Workspace,
    marginals: ArcMatrix,
    function: ArcMatrix,
    covariances: ArcMatrix,
}

impl RuleScratch {
    /// Appends the probabilities of matched arcs.
    pub(super) fn probs(
        &mut self,
        matches: &[Match],
        scores: &ArcMatrix,
        tree_set: TreeSet,
        probs: &mut Vec<f64>,
    ) -> Result<(), tutte_trees::Error> {
        marginals_with(scores, tree_set, &mut self.workspace, &mut self.marginals)?;
        probs.extend(matches.iter().map(|&(head, word, _)| self.marginals[(head, word)]));
        Ok(())
    }

    /// Adds Cov([e ∈ y], ĝ(y)) to the derivatives by the scores of arcs.
    pub(super) fn add_gradient(
        &mut self,
        matches: &[Match],
        slopes: &[f64],
        scores: &ArcMatrix,
        tree_set: TreeSet,
        gradient: &mut ArcMatrix,
    ) -> Result<(), tutte_trees::Error> {
        let Self { workspace, function, covariances, .. } = self;
        function.reset(scores.words(), 0.0);
        for &(head, word, rule) in matches {
            function[(head, word)] += slopes[rule];
        }
        arc_covariances_with(scores, function, tree_set, workspace, covariances)?;
        gradient.zip_in_place(covariances, |derivative, covariance| derivative + covariance);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tutte_trees::{arcs, oracle};

    use super::super::{EncoderSource, NetworkTraining, untrained};
    use super::*;

    const TEXT: [&str; 3] = [
        "1\tthe\t_\tDET\t_\t_\t_\t_\t_\t_\n2\told\t_\tADJ\t_\t_\t_\t_\t_\t_\n\
         3\tcat\t_\tNOUN\t_\t_\t_\t_\t_\t_\n4\tsees\t_\tVERB\t_\t_\t_\t_\t_\t_\n",
        "1\tBo\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsees\t_\tVERB\t_\t_\t0\troot\t_\t_\n",
        "1\tthat\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\
         3\truns\t_\tVERB\t_\t_\t_\t_\t_\t_\n",
    ];

    const RULES: &str = "\
det: DET <- NOUN head right 70%
subject: NOUN <- nearest VERB 0.2..0.4
root: VERB <- ROOT 90% of words
no: * <- DET never
";

    fn examples(treebank: &[Sentence]) -> Vec<Example> {
        let options = NetworkTraining::scratch();
        let (classes, network) =
            untrained(treebank, &EncoderSource::Scratch, &options).expect("a network");
        classes.examples(treebank, &network).expect("examples")
    }

    fn treebank() -> Vec<Sentence> {
        TEXT.map(|text| text.parse().expect("a sentence")).into()
    }

    /// Scores of the arcs that an example allows, from a list of numbers.
    fn scores(example: &Example, values: &[f64]) -> ArcMatrix {
        let words = example.heads.len();
        let mut scores = ArcMatrix::from_vec(words, values[..(words + 1) * (words + 1)].to_vec())
            .expect("a square");
        for arc in arcs(words).filter(|&(head, word)| !example.candidates.allows(head, word)) {
            scores[arc] = f64::NEG_INFINITY;
        }
        scores
    }

    /// Expectations of some scores, by enumeration: Σ μ g_q of each rule.
    fn enumerated(examples: &[Example], all: &[ArcMatrix], tree_set: TreeSet) -> Vec<f64> {
        let mut sums = vec![0.0; 4];
        for (example, scores) in examples.iter().zip(all) {
            let marginals = oracle::marginals(scores, tree_set);
            for &(head, word, rule) in &example.matches {
                sums[rule] += marginals[(head, word)];
            }
        }
        sums
    }

    /// Takes the probabilities of all examples, in an order that is not that of the treebank.
    fn take(
        expectations: &mut Expectations,
        examples: &[Example],
        all: &[ArcMatrix],
        set: TreeSet,
    ) {
        let mut scratch = RuleScratch::default();
        for at in [2, 0, 1] {
            let mut probs = Vec::new();
            scratch.probs(&examples[at].matches, &all[at], set, &mut probs).expect("trees");
            expectations.replace(at, &examples[at].matches, &probs);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn coefficients_are_derivatives_and_expectations_those_of_all_trees(
            values in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 25), 3),
            before in prop::collection::vec(prop::collection::vec(-2.0..2.0f64, 25), 3),
            set in 0usize..4,
        ) {
            let tree_set = TreeSet::ALL[set];
            let treebank = treebank();
            let mut examples = examples(&treebank);
            let rules = RuleSet::parse("rules", RULES).expect("rules");
            let mut expectations =
                Expectations::new(&rules, 1.5, &treebank, tree_set, &mut examples).expect("matches");
            // Only sentences without heads have matches.
            let has_matches = |at: usize| !examples[at].matches.is_empty();
            prop_assert!(has_matches(0) && !has_matches(1) && has_matches(2));
            prop_assert!(!examples[0].candidates.allows(1, 2) && examples[1].candidates.is_all());
            let scored = |values: &[Vec<f64>]| -> Vec<ArcMatrix> {
                examples.iter().zip(values).map(|(example, values)| scores(example, values)).collect()
            };
            // Other probabilities come first, and are replaced.
            take(&mut expectations, &examples, &scored(&before), tree_set);
            let all = scored(&values);
            take(&mut expectations, &examples, &all, tree_set);
            let expected = enumerated(&examples, &all, tree_set);
            for (found, expected) in expectations.sums.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
            let (loss, slopes) = expectations.slopes();
            let mut by_hand = 0.0;
            for (constraint, sum) in expectations.constraints.iter().zip(&expected) {
                by_hand += 1.5 * constraint.wanted.loss(sum / constraint.of, Criterion::Squared).0;
            }
            prop_assert!((loss - by_hand).abs() < 1e-9);
            const H: f64 = 1e-4;
            for (at, example) in examples.iter().enumerate() {
                let words = example.heads.len();
                let mut gradient = ArcMatrix::zeros(words);
                let mut scratch = RuleScratch::default();
                scratch
                    .add_gradient(&example.matches, &slopes, &all[at], tree_set, &mut gradient)
                    .expect("trees");
                for arc in arcs(words).filter(|arc| all[at][*arc] != f64::NEG_INFINITY) {
                    let mut moved = |by: f64| {
                        let mut moved = all.clone();
                        moved[at][arc] += by;
                        take(&mut expectations, &examples, &moved, tree_set);
                        expectations.slopes().0
                    };
                    let slope = (moved(H) - moved(-H)) / (2.0 * H);
                    // The sum over W words counts, as for other terms; a batch divides it by its words.
                    let found = gradient[arc] / 9.0;
                    prop_assert!((found - slope).abs() < 1e-6, "{found} {slope}");
                }
            }
        }
    }

    #[test]
    fn rules_that_teach_nothing_are_refused() {
        let treebank = treebank();
        let set = TreeSet::NonProjectiveSingleRoot;
        let refused = |rules: &str, treebank: &[Sentence]| {
            let rules = RuleSet::parse("rules", rules).expect("rules");
            Expectations::new(&rules, 1.0, treebank, set, &mut examples(treebank)).is_err()
        };
        assert!(refused("det: DET <- NOUN 70%\n", &treebank[1..2]));
        assert!(!refused("no: * <- DET never\n", &treebank));
        assert!(!refused("det: DET <- NOUN 70%\n", &treebank));
    }
}
