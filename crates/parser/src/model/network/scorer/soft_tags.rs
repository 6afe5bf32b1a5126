//! Probabilities of the tags of words, by the tag heads of a network.
//!
//! The heads of UPOS, XPOS and FEATS are independent given the sentence. XPOS x and FEATS f of a UPOS t are a pair that
//! the tagger knows for it, so their probability is that of the product, given that the pair is known:
//!
//! ```text
//! P(t, x, f) = P(t) · P(x) P(f) / Σ_{(x′, f′) known for t} P(x′) P(f′)
//! ```

use std::collections::HashMap;

use tutte_treebank::Sentence;

use super::{FEATS, NetworkMemory, NetworkScorer, UPOS, XPOS};
use crate::text::{SoftTag, Tagger};
use crate::{Error, Weights};

/// A pair of XPOS and FEATS, as classes of their heads; `None` without such a head.
type Pair = (Option<usize>, Option<usize>);

impl NetworkScorer {
    /// Returns the probable tags of each word with their probabilities, the most probable first, or `None` if the network
    /// finds no tags. [`SoftTag::list`] leaves out those less probable than `least`.
    pub(crate) fn soft_tags<W: Weights>(
        &self,
        sentence: &Sentence,
        memory: &mut NetworkMemory,
        least: f64,
        tagger: Option<&Tagger<W>>,
    ) -> Result<Option<Vec<Vec<SoftTag<'_>>>>, Error> {
        if !self.has_tags() {
            return Ok(None);
        }
        self.run(sentence, memory)?;
        let (activations, at) = memory.current();
        let head = |name: &str| {
            let classes = self.tags.iter().find(|tags| tags.head == name)?;
            Some((classes.names.as_slice(), self.network.tag_head(name)?))
        };
        let heads = [UPOS, XPOS, FEATS].map(head);
        let names = |place: usize| heads[place].map_or(&[][..], |(names, _)| names);
        let log_probs = |place: usize, word: usize| -> &[f32] {
            let Some((names, head)) = heads[place] else { return &[] };
            &activations.tag_log_probs(at, head)[word * names.len()..][..names.len()]
        };
        let mut known: HashMap<&str, Vec<Pair>> = HashMap::new();
        let words = (0..sentence.len()).map(|word| {
            let [upos, xpos, feats] = [0, 1, 2].map(|place| log_probs(place, word));
            let probs = upos.iter().map(|log_prob| f64::from(*log_prob).exp());
            let upos: Vec<(&str, f64)> = names(0).iter().map(String::as_str).zip(probs).collect();
            SoftTag::list(&upos, least, |upos| {
                let known =
                    known.entry(upos).or_insert_with(|| pairs(upos, names(1), names(2), tagger));
                let best;
                let pairs = if known.is_empty() {
                    best = [(highest(xpos), highest(feats))];
                    &best[..]
                } else {
                    known
                };
                let score = |log_probs: &[f32], class: Option<usize>| {
                    class.map_or(0.0, |class| f64::from(log_probs[class]))
                };
                let joint = pairs.iter().map(|(x, f)| (score(xpos, *x) + score(feats, *f)).exp());
                let joint: Vec<f64> = joint.collect();
                let sum: f64 = joint.iter().sum();
                let name = |place: usize, class: Option<usize>| {
                    class.map_or("_", |class| names(place)[class].as_str())
                };
                let share =
                    |joint: f64| if sum > 0.0 { joint / sum } else { 1.0 / pairs.len() as f64 };
                let named = pairs.iter().map(|(x, f)| (name(1, *x), name(2, *f)));
                named.zip(joint.into_iter().map(share)).collect()
            })
        });
        Ok(Some(words.collect()))
    }
}

/// Returns the pairs of XPOS and FEATS that a tagger knows for a UPOS. With one head, all its classes; without heads, one
/// pair of none. Returns an empty list if both heads are there and no pair is known.
fn pairs<W: Weights>(
    upos: &str,
    xpos: &[String],
    feats: &[String],
    tagger: Option<&Tagger<W>>,
) -> Vec<Pair> {
    match (xpos, feats) {
        ([], []) => vec![(None, None)],
        (xpos, []) => (0..xpos.len()).map(|class| (Some(class), None)).collect(),
        ([], feats) => (0..feats.len()).map(|class| (None, Some(class))).collect(),
        (xpos, feats) => {
            let class = |names: &[String], name: &str| names.iter().position(|it| it == name);
            let known = tagger.into_iter().flat_map(|tagger| tagger.combinations(upos));
            known
                .filter_map(|(x, f)| Some((Some(class(xpos, x)?), Some(class(feats, f)?))))
                .collect()
        }
    }
}

/// Returns the class with the highest value, the first of several.
fn highest(log_probs: &[f32]) -> Option<usize> {
    let all = log_probs.iter().enumerate().rev();
    all.max_by(|a, b| a.1.total_cmp(b.1)).map(|(class, _)| class)
}
