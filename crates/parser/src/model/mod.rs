//! What was learnt, in memory and as a file.

mod arcs;
mod calibration;
mod file;
pub(crate) mod labels;
pub mod latent;
pub(crate) mod pruner;
pub(crate) mod second_pass;
pub(crate) mod transition;

use std::sync::Arc;

use tutte_trees::TreeSet;

pub use self::arcs::ArcModel;
pub(crate) use self::calibration::rounded;
pub use self::calibration::{Calibration, Isotonic, Kept, Method, PrecisionTable};
pub use self::file::{About, DevScores, ModelFile};
pub use self::labels::{LabelModel, Labelling};
pub use self::pruner::{Pruner, PrunerMemory};
pub use self::second_pass::SecondPass;
pub use self::transition::TransitionParser;
use crate::features::{Attribute, BLOCK, FeatureSet};
use crate::text::{Tagger, Tokenizer};
use crate::{Compact, Index};

/// A model of labelled trees: of arcs, and of labels that come after them or with them (see
/// [`Labelling`](crate::Labelling)). Its weights are of 32 bits while it is learnt, `Model`, and of
/// 8 bits when it comes from a file, `Model<Compact>`.
///
/// Arcs are scored in up to three steps: hopeless ones are [pruned](Pruner), a first pass scores
/// what is left, and a [guided](SecondPass) second pass scores again what the first found possible.
#[derive(Clone, Debug)]
pub struct Model<W = Vec<f32>> {
    /// What leaves out hopeless arcs, if anything does.
    pub pruner: Option<Pruner<W>>,
    /// Scores of arcs.
    pub arcs: ArcModel<W>,
    /// Better scores, if a second pass is made.
    pub second_pass: Option<SecondPass<W>>,
    /// Scores of labels.
    pub labels: LabelModel<W>,
    /// The trees that are possible.
    pub tree_set: TreeSet,
    /// What the scores of the last pass are divided by, so that probabilities are as high as they
    /// are right.
    pub temperature: f64,
    /// How far its probabilities can be trusted, if that was measured at this temperature.
    pub calibration: Option<Calibration>,
    /// What tags words that have no tags, if anything does.
    pub tagger: Option<Arc<Tagger<W>>>,
    /// What finds sentences and words in raw text, if anything was learnt about them.
    pub tokenizer: Option<Arc<Tokenizer<W>>>,
}

impl Model {
    /// A model of one pass over all arcs.
    pub fn new(arcs: ArcModel, labels: LabelModel, tree_set: TreeSet) -> Self {
        Self {
            pruner: None,
            arcs,
            second_pass: None,
            labels,
            tree_set,
            temperature: 1.0,
            calibration: None,
            tagger: None,
            tokenizer: None,
        }
    }

    /// A model that does not parse, to hold a [tagger](Self::tagger) or a [tokenizer](Self::tokenizer).
    pub fn without_parser(tree_set: TreeSet) -> Self {
        let bits = BLOCK.ilog2() + 1;
        let arcs = ArcModel::new(FeatureSet::new(Vec::new()), Index::Hashed { bits });
        Self::new(arcs, LabelModel::none(), tree_set)
    }

    /// The same model with weights rounded to 8 bits, as a file holds it.
    pub fn compact(&self) -> Model<Compact> {
        let Model {
            pruner,
            arcs,
            second_pass,
            labels,
            tree_set,
            temperature,
            calibration,
            tagger,
            tokenizer,
        } = self;
        let compact =
            |pruner: &Pruner| Pruner { arcs: pruner.arcs.compact(), threshold: pruner.threshold };
        Model {
            pruner: pruner.as_ref().map(compact),
            arcs: arcs.compact(),
            second_pass: second_pass.as_ref().map(|SecondPass { arcs, threshold, transition }| {
                SecondPass {
                    arcs: arcs.compact(),
                    threshold: *threshold,
                    transition: transition.as_ref().map(TransitionParser::compact),
                }
            }),
            labels: labels.map(Compact::new),
            tree_set: *tree_set,
            temperature: *temperature,
            calibration: calibration.clone(),
            tagger: tagger.as_ref().map(|tagger| Arc::new(tagger.compact())),
            tokenizer: tokenizer.as_ref().map(|tokenizer| Arc::new(tokenizer.compact())),
        }
    }

    /// The model of arcs that has the last word.
    pub(crate) fn last_pass(&mut self) -> &mut ArcModel {
        self.second_pass.as_mut().map_or(&mut self.arcs, |second_pass| &mut second_pass.arcs)
    }
}

impl<W> Model<W> {
    /// Whether it parses: a model that looks at nothing of an arc knows nothing of trees, and is there for
    /// its [tagger](Self::tagger) or [tokenizer](Self::tokenizer).
    pub fn has_parser(&self) -> bool {
        !self.arcs.features.templates().is_empty()
    }

    /// Of how many latent clusters arcs are: 1 for ordinary models. A second pass decides, if there is
    /// one.
    pub fn clusters(&self) -> usize {
        self.second_pass.as_ref().map_or(&self.arcs, |second_pass| &second_pass.arcs).clusters
    }

    /// What the templates of all its parts look at, each once.
    pub(crate) fn columns(&self) -> Vec<Attribute> {
        let pruner = self.pruner.as_ref().map(|pruner| &pruner.arcs.features);
        let second_pass = self.second_pass.as_ref().map(|second_pass| &second_pass.arcs.features);
        let sets = [pruner, Some(&self.arcs.features), second_pass, Some(&self.labels.features)];
        let mut columns: Vec<_> =
            sets.into_iter().flatten().flat_map(|set| set.columns()).copied().collect();
        if self.second_pass.as_ref().is_some_and(|second_pass| second_pass.transition.is_some()) {
            columns.extend(TransitionParser::<Vec<f32>>::COLUMNS);
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}
