//! Models: the parser, its scorers, and the file that holds it with a tagger and a tokenizer.

mod arcs;
mod calibration;
pub(crate) mod factors;
mod file;
pub(crate) mod labels;
pub mod latent;
pub(crate) mod network;
pub(crate) mod pruner;
pub(crate) mod second_pass;
pub(crate) mod transition;

use std::sync::Arc;

use tutte_linear::Rounding;
use tutte_rules::RuleSet;
use tutte_trees::TreeSet;

pub use self::arcs::ArcModel;
pub(crate) use self::calibration::rounded;
pub use self::calibration::{
    Calibration, Isotonic, KeptHeads, Method, PrecisionTable, TextCalibration, WordSource,
};
pub use self::factors::FactorModel;
pub use self::file::{About, DevScores, ModelFile};
pub use self::labels::{LabelModel, Labelling};
pub use self::network::{NetworkScorer, ScoreWeights, ScorerWeights, TagClasses};
pub use self::pruner::Pruner;
pub use self::second_pass::SecondPass;
pub use self::transition::TransitionParser;
use crate::features::Attribute;
use crate::text::{Tagger, Tokenizer};
use crate::{Compact, Error};

/// Greatest binary logarithm of the number of weights of a table.
pub(crate) const MOST_BITS: u32 = 30;

/// A tokenizer, a tagger and a parser, or some of them: the content of a model file.
///
/// Its weights have 32 bits while they are learnt, `Model`, and 8 bits in a file, `Model<Compact>`.
///
/// ```
/// use tutte::{Error, Model, Pipeline};
///
/// let model: Model = Model::default(); // without any part
/// assert!(model.parser.is_none());
/// assert!(matches!(model.require_parser(), Err(Error::NoParser)));
/// # let _ = Pipeline::new(&model);
/// ```
#[derive(Clone, Debug)]
pub struct Model<W = Vec<f32>> {
    /// Finds trees.
    pub parser: Option<ParserModel<W>>,
    /// Finds tags, features and lemmas of words.
    pub tagger: Option<Arc<Tagger<W>>>,
    /// Finds sentences and words in raw text.
    pub tokenizer: Option<Arc<Tokenizer<W>>>,
}

impl<W> Default for Model<W> {
    fn default() -> Self {
        Self { parser: None, tagger: None, tokenizer: None }
    }
}

impl<W> From<ParserModel<W>> for Model<W> {
    fn from(parser: ParserModel<W>) -> Self {
        Self { parser: Some(parser), ..Self::default() }
    }
}

impl<W> Model<W> {
    /// Returns the parser.
    ///
    /// # Errors
    /// [`Error::NoParser`] if the model has none.
    pub fn require_parser(&self) -> Result<&ParserModel<W>, Error> {
        self.parser.as_ref().ok_or(Error::NoParser)
    }

    /// Returns `true` if the model finds tags, by a tagger or by a network.
    pub fn finds_tags(&self) -> bool {
        let network = self.parser.as_ref().and_then(|parser| parser.network.as_deref());
        self.tagger.is_some() || network.is_some_and(NetworkScorer::has_tags)
    }
}

impl Model {
    /// Rounds all weights to 8 bits, as a file holds them.
    pub fn compact(&self) -> Model<Compact> {
        let Self { parser, tagger, tokenizer } = self;
        Model {
            parser: parser.as_ref().map(ParserModel::compact),
            tagger: tagger.as_ref().map(|tagger| Arc::new(tagger.compact())),
            tokenizer: tokenizer.as_ref().map(|tokenizer| Arc::new(tokenizer.compact())),
        }
    }
}

/// A model of labelled trees: scores of arcs, and of labels, which are chosen after the arcs or jointly
/// with them (see [`Labelling`]).
///
/// Arcs are scored in up to three steps. A [pruner](Pruner) leaves out improbable arcs. A first pass
/// scores the others. A [second pass](SecondPass) scores again those that are probable in the first
/// pass.
#[derive(Clone, Debug)]
pub struct ParserModel<W = Vec<f32>> {
    /// Leaves out improbable arcs.
    pub pruner: Option<Pruner<W>>,
    /// Scores of arcs.
    pub arcs: ArcModel<W>,
    /// Scores of arcs given the tree of the first pass.
    pub second_pass: Option<SecondPass<W>>,
    /// Scores of labels.
    pub labels: LabelModel<W>,
    /// Scores of arcs by a network, which add to the others; and its scores of labels and tags.
    pub network: Option<Arc<NetworkScorer>>,
    /// The set of possible trees.
    pub tree_set: TreeSet,
    /// Hard constraints (`always`, `never`), which every tree must satisfy.
    pub rules: Option<Arc<RuleSet>>,
    /// Labels that (almost) no head of the treebank has on several modifiers, such as subjects, see
    /// [`label_limits`](Self::label_limits).
    pub single_labels: Vec<String>,
    /// Divisor of the scores of the last pass, so that probabilities are calibrated.
    pub temperature: f64,
    /// Calibration measured at this temperature.
    pub calibration: Option<Calibration>,
    /// Temperature and calibration for raw text; `None` if they were not measured. Then raw text has those above.
    pub text_calibration: Option<TextCalibration>,
}

impl ParserModel {
    /// Makes a model of one pass over all arcs.
    pub fn new(arcs: ArcModel, labels: LabelModel, tree_set: TreeSet) -> Self {
        Self {
            pruner: None,
            arcs,
            second_pass: None,
            labels,
            network: None,
            tree_set,
            rules: None,
            single_labels: Vec::new(),
            temperature: 1.0,
            calibration: None,
            text_calibration: None,
        }
    }

    /// Rounds all weights to the nearest values of 8 bits, as a file holds them.
    pub fn compact(&self) -> ParserModel<Compact> {
        self.rounded(Rounding::Nearest)
    }

    /// Rounds all weights to 8 bits.
    pub fn rounded(&self, rounding: Rounding) -> ParserModel<Compact> {
        let Self { pruner, arcs, second_pass, labels, .. } = self;
        let rounded_pruner = |pruner: &Pruner| Pruner {
            arcs: pruner.arcs.rounded(rounding),
            threshold: pruner.threshold,
        };
        ParserModel {
            pruner: pruner.as_ref().map(rounded_pruner),
            arcs: arcs.rounded(rounding),
            second_pass: second_pass.as_ref().map(|second_pass| second_pass.rounded(rounding)),
            labels: labels.map(|weights| Compact::rounded(weights, rounding)),
            network: self.network.clone(),
            tree_set: self.tree_set,
            rules: self.rules.clone(),
            single_labels: self.single_labels.clone(),
            temperature: self.temperature,
            calibration: self.calibration.clone(),
            text_calibration: self.text_calibration.clone(),
        }
    }

    /// Returns the arc scorer of the last pass.
    pub(crate) fn last_pass(&mut self) -> &mut ArcModel {
        self.second_pass.as_mut().map_or(&mut self.arcs, |second_pass| &mut second_pass.arcs)
    }
}

impl<W> ParserModel<W> {
    /// Number of latent clusters of arcs in the last pass: 1 for ordinary models.
    pub fn clusters(&self) -> usize {
        self.second_pass.as_ref().map_or(&self.arcs, |second_pass| &second_pass.arcs).clusters
    }

    /// Returns the attributes of words that the templates of all parts use, each once.
    pub(crate) fn columns(&self) -> Vec<Attribute> {
        let pruner = self.pruner.as_ref().map(|pruner| &pruner.arcs.features);
        let second_pass = self.second_pass.as_ref().map(|second_pass| &second_pass.arcs.features);
        let sets = [pruner, Some(&self.arcs.features), second_pass, Some(&self.labels.features)];
        let mut columns: Vec<_> =
            sets.into_iter().flatten().flat_map(|set| set.columns()).copied().collect();
        if let Some(SecondPass { transition, factors, .. }) = &self.second_pass {
            if transition.is_some() {
                columns.extend(TransitionParser::<Vec<f32>>::COLUMNS);
            }
            columns.extend(factors.iter().flat_map(|factors| factors.features.columns()));
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}
