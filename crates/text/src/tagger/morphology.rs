//! Fine tags and morphological features, given the coarse tag.
//!
//! XPOS and FEATS of a word are chosen together, among the pairs that words of its coarse tag had in the
//! treebank ("bundles"). A bundle is a set of parts, its XPOS and each feature (`Case=Dat`), and scores what
//! its parts do:
//!
//! ```text
//! P(b | i, t₁ … tₙ) ∝ exp Σ_{v ∈ b} w_v · f(i, t₁ … tₙ)       over the bundles b of tag tᵢ
//! ```
//!
//! So what is learnt of a case is learnt for all words that have cases, and what no word has ever been is
//! never said. O(features · parts + bundles) a word.

use std::collections::HashMap;

use tutte_linear::Weights;

use super::columns::Rows;

/// XPOS and FEATS that words of a tag have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) xpos: String,
    pub(super) feats: String,
    /// The numbers of its parts.
    parts: Vec<u16>,
}

/// The bundles of all coarse tags, and weights of their parts.
#[derive(Clone, Debug)]
pub(super) struct Morphology<W> {
    bundles: Bundles,
    pub(super) rows: Rows,
    pub(super) weights: W,
}

/// The bundles of each coarse tag, the most frequent first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundles {
    of_tag: Vec<Vec<Bundle>>,
    parts: usize,
}

impl Bundles {
    /// More kinds of XPOS than this are no parts: such tags repeat what features say.
    const MOST_XPOS: usize = 400;

    /// From XPOS and FEATS by coarse tag.
    pub(super) fn new(of_tag: Vec<Vec<(String, String)>>) -> Self {
        let mut numbers: HashMap<String, u16> = HashMap::new();
        let mut xpos: Vec<&str> = of_tag.iter().flatten().map(|(xpos, _)| xpos.as_str()).collect();
        xpos.sort_unstable();
        xpos.dedup();
        let with_xpos = xpos.len() <= Self::MOST_XPOS;
        let mut number = |part: String| {
            let next = u16::try_from(numbers.len()).unwrap_or(u16::MAX);
            *numbers.entry(part).or_insert(next)
        };
        let mut bundle = |(xpos, feats): (String, String)| {
            let own = (with_xpos && xpos != "_").then(|| format!("\t{xpos}"));
            let features = feats.split('|').filter(|feat| *feat != "_").map(str::to_owned);
            let mut parts: Vec<u16> = own.into_iter().chain(features).map(&mut number).collect();
            parts.sort_unstable();
            parts.dedup();
            Bundle { xpos, feats, parts }
        };
        let of_tag = of_tag.into_iter().map(|list| list.into_iter().map(&mut bundle).collect());
        let of_tag: Vec<Vec<Bundle>> = of_tag.collect();
        Self { of_tag, parts: numbers.len() }
    }

    /// The bundles of a coarse tag.
    pub(super) fn of_tag(&self, tag: usize) -> &[Bundle] {
        self.of_tag.get(tag).map_or(&[], Vec::as_slice)
    }

    /// Cells of a row of weights.
    pub(super) fn width(&self) -> usize {
        self.parts.next_multiple_of(8).max(8)
    }
}

impl<W> Morphology<W> {
    /// With weights of so many rows, which must be as many as there are.
    pub(super) fn new(bundles: Bundles, bits: u32, weights: W) -> Self {
        let rows = Rows { bits, width: bundles.width() };
        Self { bundles, rows, weights }
    }

    pub(super) fn bundles(&self) -> &Bundles {
        &self.bundles
    }

    /// The probabilities of the bundles of a tag, given the rows of a word. Weights count `scale` times.
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
        // What is further below vanishes in any case; no number, as of weights without bounds, counts as that.
        probs.iter_mut().for_each(|score| *score = (*score - best).max(-80.0).exp());
        let sum: f32 = probs.iter().sum();
        probs.iter_mut().for_each(|prob| *prob /= sum);
    }

    /// From −log P(gold) to its slopes by the scores of parts: Σ_b (P(b) − [b = gold]) [v ∈ b].
    pub(super) fn slopes(&self, tag: usize, gold: usize, probs: &[f32], slopes: &mut Vec<f32>) {
        slopes.clear();
        slopes.resize(self.rows.width, 0.0);
        for (number, (bundle, prob)) in self.bundles.of_tag(tag).iter().zip(probs).enumerate() {
            let slope = if number == gold { prob - 1.0 } else { *prob };
            bundle.parts.iter().for_each(|part| slopes[usize::from(*part)] += slope);
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
        let (mut parts, mut probs) = (Vec::new(), Vec::new());
        morphology.probs(tag, &[0, 8], 1.0, &mut parts, &mut probs);
        probs
    }

    /// Slopes of −log P against differences.
    #[test]
    fn slopes_are_those_of_the_logarithm() {
        let weights: Vec<f32> = (0..16).map(|i| ((i * 5) % 7) as f32 / 5.0).collect();
        let model = morphology(weights.clone());
        let found = probs(&model, 0);
        assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let mut slopes = Vec::new();
        model.slopes(0, 1, &found, &mut slopes);
        for cell in 0..8 {
            let at = |by: f32| {
                let mut weights = weights.clone();
                weights[cell] += by;
                -f64::from(probs(&morphology(weights), 0)[1]).ln()
            };
            let slope = (at(0.05) - at(-0.05)) / 0.1;
            assert!((slope - f64::from(slopes[cell])).abs() < 1e-3, "{cell}");
        }
    }

    #[test]
    fn what_has_no_choice_is_certain() {
        let model = morphology(vec![0.0; 16]);
        assert_eq!(probs(&model, 1), [1.0]);
        assert_eq!(model.bundles().of_tag(1)[0].xpos, ".");
        assert!(model.bundles().of_tag(9).is_empty());
    }
}
