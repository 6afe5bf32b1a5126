//! Baseline parser that adds up targets and needs no training.
//!
//! θ(h, m) = Σ_{q: g_q(h,m)} t_q, where t_q is the middle of the range that rule q allows (Druck, Mann and
//! McCallum 2009). Two terms are added:
//!
//! - `always` adds +B and `never` −B, where B = (n+1)(R+1) for R rules exceeds the sum of all other targets of
//!   a tree. So the best tree violates as few hard constraints as possible, and there is always a tree.
//! - Most arcs have equal sums, and accuracy depends strongly on the tie-break. Ties go to the nearest head:
//!   ε = 2⁻³⁰ is subtracted for each word from modifier to head, and ε/2 more if the head is on the right. The
//!   root is at distance n + 1, farther than any word.

use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use crate::rule::Target;
use crate::rule_set::RuleSet;

/// Penalty per word of distance. Summed over all arcs of a sentence of a thousand words, it stays below a
/// hundredth of a target.
const DISTANCE_PENALTY: f64 = 1.0 / (1u64 << 30) as f64;

impl RuleSet {
    /// Returns arc scores whose best tree is the parse of the baseline.
    ///
    /// ```
    /// use tutte_rules::RuleSet;
    /// use tutte_treebank::Sentence;
    /// use tutte_trees::{TreeDistribution, TreeSet};
    ///
    /// let rules = RuleSet::parse("rules.tut", "\
    /// root: VERB <- ROOT          80%
    /// arg:  NOUN <- nearest VERB  70%
    /// ")?;
    /// let sentence: Sentence = "\
    /// 1\tDogs\tdog\tNOUN\t_\t_\t_\t_\t_\t_
    /// 2\tchase\tchase\tVERB\t_\t_\t_\t_\t_\t_
    /// 3\tcats\tcat\tNOUN\t_\t_\t_\t_\t_\t_
    /// ".parse()?;
    /// let scores = rules.baseline_scores(&sentence);
    /// let d = TreeDistribution::new(scores, TreeSet::NonProjectiveMultiRoot)?;
    /// assert_eq!(d.argmax().tree.heads(), [2, 0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn baseline_scores(&self, sentence: &Sentence) -> ArcMatrix {
        let n = sentence.len();
        let hard = ((n + 1) * (self.len() + 1)) as f64;
        let mut scores = ArcMatrix::from_fn(n, |head, modifier| match head {
            0 => -DISTANCE_PENALTY * (n + 1) as f64,
            _ => {
                let right = if head > modifier { 0.5 } else { 0.0 };
                -DISTANCE_PENALTY * (head.abs_diff(modifier) as f64 + right)
            }
        });
        for (head, modifier, rule) in self.matches(sentence).arcs {
            scores[(head as usize, modifier as usize)] += match self.rules()[rule as usize].target {
                Target::Always => hard,
                Target::Never => -hard,
                target => target.middle(),
            };
        }
        scores
    }
}
