//! What a treebank says of rules: the targets that people would have given had they counted.

use tutte_treebank::Sentence;

use super::{Counting, Rule, Rules};

/// What a treebank says of one rule. Words without a head count nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleStatistics {
    /// Candidate arcs that match: c̃(g).
    pub pairs: u64,
    /// Those that are arcs of the treebank's trees, with the label of the rule if it has one: c̃_edge(g).
    pub arcs: u64,
    /// Words that match the left side.
    pub words: u64,
    /// Those of them with at least one candidate.
    pub candidates: u64,
    /// Those of them that are attached to the nearest word of the head's kind on its side.
    pub nearest: u64,
}

impl RuleStatistics {
    /// The target that the treebank gives a rule that counts so, or `None` if there is nothing to count.
    pub fn target(&self, counting: Counting) -> Option<f64> {
        let unit = match counting {
            Counting::Pairs => self.pairs,
            Counting::Words => self.words,
            Counting::Nearest => self.candidates,
        };
        (unit > 0).then(|| self.arcs as f64 / unit as f64)
    }
}

impl Rules {
    /// What a treebank says of each rule.
    ///
    /// ```
    /// use tutte_rules::Rules;
    /// use tutte_treebank::Sentence;
    ///
    /// let sentence: Sentence = "\
    /// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
    /// 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
    /// 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
    /// ".parse()?;
    /// let rules = Rules::parse("rules.tut", "subj: NOUN <- VERB as nsubj 50% of words")?;
    /// let statistics = rules.statistics([&sentence]);
    /// assert_eq!((statistics[0].arcs, statistics[0].pairs), (1, 2));
    /// assert_eq!(statistics[0].target(rules.rules()[0].counting), Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statistics<'a>(
        &self,
        treebank: impl IntoIterator<Item = &'a Sentence>,
    ) -> Vec<RuleStatistics> {
        let mut statistics = vec![RuleStatistics::default(); self.len()];
        for sentence in treebank {
            let answers = self.answers(sentence);
            for ((rule, predicate), statistics) in self.predicates().zip(&mut statistics) {
                for &modifier in answers.dependents(predicate) {
                    let Some((gold, label)) = gold(sentence, modifier) else { continue };
                    let labelled = is_label(rule, label);
                    let (mut pairs, mut hit) = (0, false);
                    answers.heads(predicate, modifier, predicate.nearest, |head| {
                        pairs += 1;
                        hit |= head == gold && labelled;
                    });
                    let mut nearest = false;
                    answers.heads(predicate, modifier, true, |head| {
                        nearest |= head == gold && labelled;
                    });
                    statistics.words += 1;
                    statistics.pairs += pairs;
                    statistics.candidates += u64::from(pairs > 0);
                    statistics.arcs += u64::from(hit);
                    statistics.nearest += u64::from(nearest);
                }
            }
        }
        statistics
    }
}

fn gold(sentence: &Sentence, word: usize) -> Option<(usize, &str)> {
    let token = sentence.word(word)?;
    Some((token.head()?, token.deprel()))
}

fn is_label(rule: &Rule, label: &str) -> bool {
    rule.as_label.as_ref().is_none_or(|wanted| wanted == label)
}

/// The nearest of 0, 0.1, 0.25, 0.5, 0.75 and 1, the smaller of two that are equally near.
///
/// Coarse targets are what people can be asked for (Druck, Mann and McCallum 2009).
///
/// ```
/// assert_eq!(tutte_rules::bin(0.83), 0.75);
/// assert_eq!(tutte_rules::bin(0.375), 0.25);
/// ```
pub fn bin(p: f64) -> f64 {
    // Where one ends and the next begins: half-way between them.
    const BINS: [(f64, f64); 5] =
        [(0.05, 0.0), (0.175, 0.1), (0.375, 0.25), (0.625, 0.5), (0.875, 0.75)];
    BINS.iter().find(|&&(end, _)| p <= end).map_or(1.0, |&(_, bin)| bin)
}
