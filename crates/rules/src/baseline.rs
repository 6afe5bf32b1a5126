//! The parser that adds up targets and learns nothing: what training must beat.
//!
//! θ(h, m) = Σ_{q: g_q(h,m)} t_q, where t_q is the middle of what rule q allows (Druck, Mann and McCallum
//! 2009). Two things are added so that the best tree is the one that people would expect:
//!
//! - `always` is +B and `never` −B, where B = (n+1)(R+1) for R rules is more than all other targets of a tree
//!   together: as few laws are broken as can be, and there always is a tree.
//! - Most arcs have equal sums, and what decides between them moves accuracy by many points. Here it is the
//!   nearest head: ε = 2⁻³⁰ is subtracted for each word from modifier to head, ε/2 more if the head is on the
//!   right. The root is further than any word, at n + 1.

use tutte_treebank::Sentence;
use tutte_trees::ArcMatrix;

use super::{Rules, Target};

/// What a word of distance costs: too little to outweigh a hundredth of a target, even in all arcs of a
/// sentence of a thousand words together.
const NEARNESS: f64 = 1.0 / (1u64 << 30) as f64;

impl Rules {
    /// Scores of arcs whose best tree is the parse of the rules alone.
    ///
    /// ```
    /// use tutte_rules::Rules;
    /// use tutte_treebank::Sentence;
    /// use tutte_trees::{TreeDistribution, TreeSet};
    ///
    /// let rules = Rules::parse("rules.tut", "\
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
        let law = ((n + 1) * (self.len() + 1)) as f64;
        let mut scores = ArcMatrix::from_fn(n, |head, modifier| match head {
            0 => -NEARNESS * (n + 1) as f64,
            _ => {
                let right = if head > modifier { 0.5 } else { 0.0 };
                -NEARNESS * (head.abs_diff(modifier) as f64 + right)
            }
        });
        for (head, modifier, rule) in self.matches(sentence).arcs {
            scores[(head as usize, modifier as usize)] += match self.rules()[rule as usize].target {
                Target::Always => law,
                Target::Never => -law,
                target => target.middle(),
            };
        }
        scores
    }
}
