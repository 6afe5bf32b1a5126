//! Fine tags and morphological features, given the coarse tag.
//!
//! XPOS and FEATS of a word are chosen together, among the pairs that words of its coarse tag have in the treebank
//! (*bundles*). A bundle is a set of parts: its XPOS and each of its features (`Case=Dat`). Its score is the sum of the
//! scores of its parts:
//!
//! ```text
//! P(b | i, t₁ … tₙ) ∝ exp Σ_{v ∈ b} w_v · f(i, t₁ … tₙ)       over the bundles b of tag tᵢ
//! ```
//!
//! So weights of a case are shared by all words that have cases, and a combination that is not in the treebank is never
//! predicted. Cost: O(features · parts + bundles) per word.

use std::collections::HashMap;

use tutte_linear::Weights;

use super::columns::RowLayout;
use super::soft_tags::Target;

/// XPOS and FEATS of words with some coarse tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) xpos: String,
    pub(super) feats: String,
    /// Indices of its parts.
    parts: Vec<u16>,
}

/// Bundles of all coarse tags, and weights of their parts.
#[derive(Clone, Debug)]
pub(super) struct Morphology<W> {
    bundles: Bundles,
    pub(super) rows: RowLayout,
    pub(super) weights: W,
}

/// Bundles of each coarse tag, the most frequent first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundles {
    of_tag: Vec<Vec<Bundle>>,
    /// Number of different parts.
    parts: usize,
    /// Some bundle has an XPOS.
    pub(super) has_xpos: bool,
    /// Some bundle has FEATS.
    pub(super) has_feats: bool,
}

impl Bundles {
    /// With more different XPOS tags than this, XPOS is not a part: such tags repeat the features.
    const MAX_XPOS: usize = 400;

    /// Creates bundles from the XPOS and FEATS of each coarse tag.
    pub(super) fn new(of_tag: Vec<Vec<(String, String)>>) -> Self {
        let mut numbers: HashMap<String, u16> = HashMap::new();
        let mut xpos: Vec<&str> = of_tag.iter().flatten().map(|(xpos, _)| xpos.as_str()).collect();
        xpos.sort_unstable();
        xpos.dedup();
        let has_xpos_parts = xpos.len() <= Self::MAX_XPOS;
        let mut number = |part: String| {
            let next = u16::try_from(numbers.len()).unwrap_or(u16::MAX);
            *numbers.entry(part).or_insert(next)
        };
        let mut bundle = |(xpos, feats): (String, String)| {
            let own = (has_xpos_parts && xpos != "_").then(|| format!("\t{xpos}"));
            let features = feats.split('|').filter(|feat| *feat != "_").map(str::to_owned);
            let mut parts: Vec<u16> = own.into_iter().chain(features).map(&mut number).collect();
            parts.sort_unstable();
            parts.dedup();
            Bundle { xpos, feats, parts }
        };
        let of_tag = of_tag.into_iter().map(|list| list.into_iter().map(&mut bundle).collect());
        let of_tag: Vec<Vec<Bundle>> = of_tag.collect();
        let has_xpos = of_tag.iter().flatten().any(|bundle| bundle.xpos != "_");
        let has_feats = of_tag.iter().flatten().any(|bundle| bundle.feats != "_");
        Self { of_tag, parts: numbers.len(), has_xpos, has_feats }
    }

    /// Returns the bundles of a coarse tag.
    pub(super) fn of_tag(&self, tag: usize) -> &[Bundle] {
        self.of_tag.get(tag).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of different parts.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the number of cells of a row of weights: one per part, up to a multiple of 8.
    pub(super) fn width(&self) -> usize {
        self.parts.next_multiple_of(8).max(8)
    }
}

impl<W> Morphology<W> {
    /// Creates a model. `weights` must have 2^bits rows.
    pub(super) fn new(bundles: Bundles, bits: u32, weights: W) -> Self {
        let rows = RowLayout { bits, width: bundles.width() };
        Self { bundles, rows, weights }
    }

    pub(super) fn bundles(&self) -> &Bundles {
        &self.bundles
    }

    /// Writes the probabilities of the bundles of a tag, given the rows of a word, to `probs`. Scores are multiplied by
    /// `scale`.
    pub(super) fn probs(
        &self,
        tag: usize,
        rows: &[usize],
        scale: f32,
        parts: &mut Vec<f32>,
        probs: &mut Vec<f32>,
    ) where
        W: Weights,
    {
        probs.clear();
        let bundles = self.bundles.of_tag(tag);
        if bundles.len() <= 1 {
            probs.resize(bundles.len(), 1.0);
            return;
        }
        parts.clear();
        parts.resize(self.rows.width, 0.0);
        self.weights.add_rows(rows, parts);
        let scale = scale * self.weights.scale();
        let score = |bundle: &Bundle| {
            let sum: f32 = bundle.parts.iter().map(|part| parts[usize::from(*part)]).sum();
            sum * scale
        };
        probs.extend(bundles.iter().map(score));
        let best = probs.iter().copied().fold(f32::MIN, f32::max);
        // e⁻⁸⁰ is negligible in any case. `max` also replaces NaN, which weights without bounds could give.
        probs.iter_mut().for_each(|score| *score = (*score - best).max(-80.0).exp());
        let sum: f32 = probs.iter().sum();
        probs.iter_mut().for_each(|prob| *prob /= sum);
    }

    /// Writes the gradient of the cross-entropy −Σ_b q(b) log P(b) by the score of each part v:
    /// Σ_b (P(b) − q(b)) [v ∈ b], times `weight`. `targets` are the bundles with q(b) > 0, which sum to 1.
    pub(super) fn gradient(
        &self,
        tag: usize,
        targets: &[Target],
        weight: f32,
        probs: &[f32],
        gradient: &mut Vec<f32>,
    ) {
        gradient.clear();
        gradient.resize(self.rows.width, 0.0);
        for (number, (bundle, prob)) in self.bundles.of_tag(tag).iter().zip(probs).enumerate() {
            let target = targets.iter().find(|(bundle, _)| *bundle == number);
            let slope = weight * (prob - target.map_or(0.0, |(_, target)| *target as f32));
            bundle.parts.iter().for_each(|part| gradient[usize::from(*part)] += slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn morphology(weights: Vec<f32>) -> Morphology<Vec<f32>> {
        let noun = ["Case=Nom|Number=Sing", "Case=Dat|Number=Sing", "Case=Dat|Number=Plur"];
        let noun = noun.map(|feats| ("N".to_owned(), feats.to_owned())).to_vec();
        let bundles = Bundles::new(vec![noun, vec![(".".to_owned(), "_".to_owned())]]);
        assert_eq!(bundles.width(), 8);
        Morphology::new(bundles, 1, weights)
    }

    fn probs(morphology: &Morphology<Vec<f32>>, tag: usize) -> Vec<f32> {
        let mut parts = Vec::new();
        let mut probs = Vec::new();
        morphology.probs(tag, &[0, 8], 1.0, &mut parts, &mut probs);
        probs
    }

    /// Compares the gradient of the cross-entropy with finite differences, for a certain teacher and for one that is not.
    #[test]
    fn the_gradient_is_that_of_the_cross_entropy() {
        let weights: Vec<f32> = (0..16).map(|i| ((i * 5) % 7) as f32 / 5.0).collect();
        let model = morphology(weights.clone());
        let found = probs(&model, 0);
        assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let mut gradient = Vec::new();
        for (targets, weight) in [(&[(1, 1.0)][..], 1.0), (&[(1, 0.7), (2, 0.3)][..], 0.5)] {
            model.gradient(0, targets, weight, &found, &mut gradient);
            for cell in 0..8 {
                let at = |by: f32| {
                    let mut weights = weights.clone();
                    weights[cell] += by;
                    let probs = probs(&morphology(weights), 0);
                    let terms = targets.iter().map(|(at, q)| -q * f64::from(probs[*at]).ln());
                    f64::from(weight) * terms.sum::<f64>()
                };
                let slope = (at(0.05) - at(-0.05)) / 0.1;
                assert!((slope - f64::from(gradient[cell])).abs() < 1e-3, "{cell}");
            }
        }
    }

    #[test]
    fn the_gradient_is_zero_where_teacher_and_student_agree() {
        let model = morphology((0..16).map(|i| ((i * 5) % 7) as f32 / 5.0).collect());
        let found = probs(&model, 0);
        let targets: Vec<Target> = found.iter().map(|prob| f64::from(*prob)).enumerate().collect();
        let mut gradient = Vec::new();
        model.gradient(0, &targets, 1.0, &found, &mut gradient);
        assert!(gradient.iter().all(|slope| *slope == 0.0), "{gradient:?}");
    }

    #[test]
    fn a_single_bundle_is_certain() {
        let model = morphology(vec![0.0; 16]);
        assert_eq!(probs(&model, 1), [1.0]);
        assert_eq!(model.bundles().of_tag(1)[0].xpos, ".");
        assert!(model.bundles().of_tag(9).is_empty());
    }
}
