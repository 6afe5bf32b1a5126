//! Probabilities of the tags of each word.
//!
//! The probability of a UPOS is its marginal: the sum over all UPOS sequences of the sentence with this tag at this word
//! ([`chain`](super::chain)). XPOS and FEATS are chosen together, given the UPOS sequence
//! ([`morphology`](super::morphology)):
//!
//! ```text
//! P(xpos | i, t₁ … tₙ) = Σ_{b has xpos} P(b | i, t₁ … tₙ)        and the same for FEATS
//! ```
//!
//! Cost: that of tagging the sentence, plus O(bundles) per word.

use tutte_linear::Weights;
use tutte_treebank::Sentence;

use super::morphology::Bundle;
use super::{Tagger, TaggerMemory, highest};

/// Probabilities of the tags of one word, see [`Tagger::tag_probabilities`].
#[derive(Clone, Debug, PartialEq)]
pub struct TagProbabilities<'a> {
    /// Marginal probability of the UPOS.
    pub upos: f64,
    /// Probability of the XPOS given the UPOS of all words; `None` if the tagger was trained without XPOS.
    pub xpos: Option<f64>,
    /// Probability of the FEATS given the UPOS of all words; `None` if the tagger was trained without FEATS.
    pub feats: Option<f64>,
    /// Probability of the lemma; `None` if rules choose it without probabilities, as those of a tagger do.
    pub lemma: Option<f64>,
    /// Other UPOS of the word, the most probable first.
    pub alternatives: Vec<TagAlternative<'a>>,
}

/// Another UPOS of a word, with its marginal probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TagAlternative<'a> {
    /// The tag.
    pub upos: &'a str,
    /// Its marginal probability.
    pub probability: f64,
}

impl<W: Weights> Tagger<W> {
    /// Returns the probabilities of the tags that [`tag`](Self::tag) gives to a sentence. Other UPOS are listed if they
    /// are more probable than `alternatives_above`.
    ///
    /// The tags that the sentence already has do not matter.
    ///
    /// ```
    /// use tutte_text::{Tagger, TaggerMemory, TaggerOptions};
    /// use tutte_treebank::Sentence;
    ///
    /// let treebank: [Sentence; 2] = [
    ///     "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\twatch\twatch\tVERB\tVBP\t_\t0\troot\t_\t_\n".parse()?,
    ///     "1\tDogs\tdog\tNOUN\tNNS\t_\t2\tcompound\t_\t_\n2\twatch\twatch\tNOUN\tNN\t_\t0\troot\t_\t_\n".parse()?,
    /// ];
    /// let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(4))?;
    ///
    /// let words = tagger.tag_probabilities(&treebank[0], 0.05, &mut TaggerMemory::default());
    /// let watch = &words[1];
    /// assert!(watch.upos > 0.5 && watch.alternatives[0].probability > 0.05);
    /// assert!((watch.upos + watch.alternatives[0].probability - 1.0).abs() < 1e-9);
    /// assert!(watch.xpos.is_some() && watch.feats.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tag_probabilities(
        &self,
        sentence: &Sentence,
        alternatives_above: f64,
        memory: &mut TaggerMemory,
    ) -> Vec<TagProbabilities<'_>> {
        self.score(sentence, memory);
        self.chain.marginals(&memory.scores, &mut memory.chain, |_, _| {});
        let tagging = self.most_probable_upos(memory);
        memory.columns.set_all_upos(&tagging.upos);
        let words = tagging.upos.iter().zip(&tagging.upos_probs).enumerate();
        let word = |(word, (&tag, &upos))| {
            let alternatives = self.other_upos(word, tag, alternatives_above, memory);
            let bundles = self.fine.bundles();
            let probs = self.bundle_probs(word, tag, memory);
            let share = |is_same: fn(&Bundle, &Bundle) -> bool| {
                share_of_best(bundles.of_tag(tag), probs, is_same)
            };
            TagProbabilities {
                upos,
                xpos: bundles.has_xpos.then(|| share(|one, other| one.xpos == other.xpos)),
                feats: bundles.has_feats.then(|| share(|one, other| one.feats == other.feats)),
                lemma: None,
                alternatives,
            }
        };
        words.map(word).collect()
    }

    /// Returns the coarse tags of a word other than `tag` whose marginals are above a probability.
    fn other_upos(
        &self,
        word: usize,
        tag: usize,
        above: f64,
        memory: &TaggerMemory,
    ) -> Vec<TagAlternative<'_>> {
        let marginals = memory.chain.marginals[word * self.upos.len()..].iter();
        let tags = self.upos.iter().zip(marginals).enumerate();
        let others = tags.filter(|(other, (_, prob))| *other != tag && **prob > above);
        let mut others: Vec<TagAlternative<'_>> =
            others.map(|(_, (upos, &probability))| TagAlternative { upos, probability }).collect();
        others.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        others
    }
}

/// Returns the probability of all bundles that are the same as the most probable one in some respect; 1 without bundles.
fn share_of_best(
    bundles: &[Bundle],
    probs: &[f32],
    is_same: impl Fn(&Bundle, &Bundle) -> bool,
) -> f64 {
    let Some(best) = bundles.get(highest(probs.iter())) else { return 1.0 };
    let mut same = 0.0;
    let mut total = 0.0;
    for (bundle, &prob) in bundles.iter().zip(probs) {
        let prob = f64::from(prob);
        total += prob;
        same += if is_same(bundle, best) { prob } else { 0.0 };
    }
    // The probabilities of all bundles sum to 1 up to rounding. Dividing makes a certain value exactly 1.
    same / total
}
