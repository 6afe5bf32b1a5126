//! The document in the header of a model file: all parts of a model that are not tables of numbers.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tutte_rules::RuleSet;
use tutte_trees::TreeSet;

use super::factors::FactorDocument;
use super::tables::{ARCS, ArcTables, NO_CHECKSUM, PRUNER, SECOND_PASS, Tables, shape_of};
use super::transition::TransitionDocument;
use super::{About, Model, ParserModel};
use crate::features::{BLOCK, FeatureSet};
use crate::model::MOST_BITS;
use crate::model::labels::{AllowedLabels, Labelling, width_of};
use crate::model::network::{NetworkDocument, NetworkScorer};
use crate::text::{TaggerDocument, TokenizerDocument};
use crate::{
    ArcModel, Calibration, Compact, Index, LabelModel, ModelProblem, Pruner, SecondPass,
    TextCalibration,
};

/// Version of the format. It changes whenever an older tutte would misread a newer file: other tables,
/// another meaning of templates, other hashes. A file has the oldest version that has all its parts.
pub(super) const FORMAT: u64 = 7;
/// The oldest version that is read. It has neither factors nor rules nor networks that leave tags to a tagger.
pub(super) const OLDEST_FORMAT: u64 = 6;

/// The part of a file that is not a table.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) format: u64,
    pub(super) checksum: String,
    pub(super) tutte: String,
    tree_set: String,
    /// Hard constraints, one rule per line, of a model that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<String>>,
    /// Labels that (almost) no head has on several modifiers. Older versions ignore the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    single_labels: Vec<String>,
    temperature: f64,
    /// `None` for models that were not calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text_calibration: Option<TextCalibration>,
    pruner: Option<PrunerDocument>,
    arcs: ArcDocument,
    #[serde(rename = "guided")]
    second_pass: Option<SecondPassDocument>,
    labels: LabelDocument,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<NetworkDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tagger: Option<TaggerDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokenizer: Option<TokenizerDocument>,
    pub(super) about: About,
}

#[derive(Serialize, Deserialize)]
struct ArcDocument {
    index: IndexDocument,
    templates: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct PrunerDocument {
    threshold: f64,
    #[serde(flatten)]
    arcs: ArcDocument,
}

#[derive(Serialize, Deserialize)]
struct SecondPassDocument {
    threshold: f64,
    #[serde(rename = "shifter", default, skip_serializing_if = "Option::is_none")]
    transition: Option<TransitionDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    factors: Option<FactorDocument>,
    #[serde(flatten)]
    arcs: ArcDocument,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IndexDocument {
    Hashed { bits: u32 },
    Dictionary,
}

#[derive(Serialize, Deserialize)]
struct LabelDocument {
    labelling: Labelling,
    names: Vec<String>,
    /// Labels that arcs from the root have, and labels that arcs from words have.
    places: [Vec<usize>; 2],
    bits: u32,
    templates: Vec<String>,
}

/// The fields of a document that every format version has.
#[derive(Deserialize)]
pub(super) struct AnyDocument {
    pub(super) format: u64,
    pub(super) tutte: Option<String>,
}

impl Document {
    /// Valid binary logarithms of table sizes.
    pub(super) const BITS: std::ops::RangeInclusive<u32> = 1..=MOST_BITS;

    /// Makes the document of a model; `parser` is its [stored parser](stored_parser).
    pub(super) fn new(
        model: &Model<Compact>,
        parser: &ParserModel<Compact>,
        about: &About,
    ) -> Self {
        let ParserModel { pruner, arcs, second_pass, labels, .. } = parser;
        let has_factors = second_pass.as_ref().is_some_and(|second| second.factors.is_some());
        let network = parser.network.as_ref().map(|network| network.document());
        let has_tags_of_tagger = network.as_ref().is_some_and(|it| it.has_tags_of_tagger);
        let is_newest = has_factors || has_tags_of_tagger || parser.rules.is_some();
        Self {
            format: if is_newest { FORMAT } else { OLDEST_FORMAT },
            checksum: NO_CHECKSUM.to_owned(),
            tutte: env!("CARGO_PKG_VERSION").to_owned(),
            tree_set: parser.tree_set.to_string(),
            rules: parser.rules.as_ref().map(|rules| rule_lines(rules)),
            single_labels: parser.single_labels.clone(),
            temperature: parser.temperature,
            calibration: parser.calibration.clone(),
            text_calibration: parser.text_calibration.clone(),
            pruner: pruner.as_ref().map(|pruner| PrunerDocument {
                threshold: pruner.threshold,
                arcs: ArcDocument::new(&pruner.arcs),
            }),
            arcs: ArcDocument::new(arcs),
            second_pass: second_pass.as_ref().map(|second_pass| SecondPassDocument {
                threshold: second_pass.threshold,
                transition: second_pass.transition.as_ref().map(TransitionDocument::new),
                factors: second_pass.factors.as_ref().map(FactorDocument::new),
                arcs: ArcDocument::new(&second_pass.arcs),
            }),
            labels: LabelDocument {
                labelling: labels.labelling(),
                names: labels.labels().to_vec(),
                places: labels.allowed_labels().lists(),
                bits: labels.bits(),
                templates: lines(&labels.features),
            },
            network,
            tagger: model.tagger.as_ref().map(|tagger| tagger.document()),
            tokenizer: model.tokenizer.as_ref().map(|tokenizer| tokenizer.document()),
            about: about.clone(),
        }
    }

    /// Makes the model of a document and the tables of its file.
    pub(super) fn model(self, tables: &Tables<'_>) -> Result<Model<Compact>, ModelProblem> {
        let tree_set: TreeSet =
            self.tree_set.parse().map_err(|_| ModelProblem::UnknownTreeSet(self.tree_set))?;
        let arcs = self.arcs.model(&ARCS, tables)?;
        let number = |name, value: f64, least: f64| {
            if value.is_finite() && value > least {
                Ok(value)
            } else {
                Err(ModelProblem::Altered { what: format!("its {name} is {value}") })
            }
        };
        let second_pass = self.second_pass.map(|second_pass| -> Result<_, ModelProblem> {
            let arcs = second_pass.arcs.model(&SECOND_PASS, tables)?;
            let labels = self.labels.names.len();
            let transition =
                second_pass.transition.map(|transition| transition.parser(labels, tables));
            let threshold = number("threshold", second_pass.threshold, -1.0)?;
            let factors = second_pass.factors.map(|factors| factors.model(tables)).transpose()?;
            Ok(SecondPass { arcs, threshold, transition: transition.transpose()?, factors })
        });
        let pruner = self.pruner.map(|pruner| -> Result<_, ModelProblem> {
            let arcs = pruner.arcs.model(&PRUNER, tables)?;
            Ok(Pruner { arcs, threshold: number("threshold", pruner.threshold, -1.0)? })
        });
        let LabelDocument { labelling, names, places, bits, templates } = self.labels;
        // A feature has three rows, so only a model without labels may have fewer than 2² rows.
        let fewest = if names.is_empty() { *Self::BITS.start() } else { 2 };
        let bits = within(bits, fewest..=*Self::BITS.end())?;
        let width = width_of(names.len());
        if let Some(info) = tables.info("labels")
            && let [_, columns] = info.shape[..]
            && (columns != width || names.is_empty() != (labelling == Labelling::None))
        {
            return Err(ModelProblem::LabelCount { labels: names.len(), columns });
        }
        let weights = tables.weights("labels", &[1 << bits, width], "labels.scale")?;
        let allowed = AllowedLabels::from_lists(names.len(), [&places[0], &places[1]]);
        let allowed = allowed.ok_or_else(|| {
            let what = format!("it allows a label that is not one of its {}", names.len());
            ModelProblem::Altered { what }
        })?;
        if let Some(label) = self.single_labels.iter().find(|label| !names.contains(label)) {
            let what = format!("it limits the label {label:?}, which is not one of its labels");
            return Err(ModelProblem::Altered { what });
        }
        let labels = LabelModel::with_weights(features(&templates)?, names, bits, weights)
            .with_labelling(labelling)
            .with_allowed_labels(allowed);
        let parser = ParserModel {
            pruner: pruner.transpose()?,
            arcs,
            second_pass: second_pass.transpose()?,
            labels,
            network: network_of(self.network, tables)?.map(Arc::new),
            tree_set,
            rules: self.rules.map(|lines| rules(&lines)).transpose()?.map(Arc::new),
            single_labels: self.single_labels,
            temperature: number("temperature", self.temperature, 0.0)?,
            calibration: self.calibration,
            text_calibration: self
                .text_calibration
                .map(|text| number("temperature for raw text", text.temperature, 0.0).map(|_| text))
                .transpose()?,
        };
        Ok(Model {
            parser: Some(parser).filter(is_real),
            tagger: self.tagger.map(|tagger| tables.tagger(tagger)).transpose()?.map(Arc::new),
            tokenizer: self
                .tokenizer
                .map(|tokenizer| tables.tokenizer(tokenizer))
                .transpose()?
                .map(Arc::new),
        })
    }
}

/// Returns the parser that a file holds. A model without a parser is stored with a placeholder: a parser
/// without templates.
pub(super) fn stored_parser(
    parser: Option<&ParserModel<Compact>>,
) -> Cow<'_, ParserModel<Compact>> {
    match parser {
        Some(parser) => Cow::Borrowed(parser),
        None => {
            let bits = BLOCK.ilog2() + 1;
            let arcs = ArcModel::new(FeatureSet::new(Vec::new()), Index::Hashed { bits });
            let tree_set = TreeSet::NonProjectiveMultiRoot;
            Cow::Owned(ParserModel::new(arcs, LabelModel::none(), tree_set).compact())
        }
    }
}

/// Returns `true` for a parser, `false` for the placeholder of a model without one.
fn is_real(parser: &ParserModel<Compact>) -> bool {
    parser.network.is_some() || !parser.arcs.features.templates().is_empty()
}

/// Makes the network of a document, if it has one and this build has networks.
#[cfg_attr(not(feature = "neural"), expect(unused_variables, reason = "needs networks"))]
fn network_of(
    document: Option<NetworkDocument>,
    tables: &Tables<'_>,
) -> Result<Option<NetworkScorer>, ModelProblem> {
    match document {
        None => Ok(None),
        #[cfg(feature = "neural")]
        Some(document) => tables.network(document).map(Some),
        #[cfg(not(feature = "neural"))]
        Some(_) => Err(ModelProblem::NeedsNetworks),
    }
}

impl ArcDocument {
    fn new<W>(arcs: &ArcModel<W>) -> Self {
        let index = match &arcs.index {
            &Index::Hashed { bits } => IndexDocument::Hashed { bits },
            Index::Dictionary(_) => IndexDocument::Dictionary,
        };
        Self { index, templates: lines(&arcs.features) }
    }

    fn model(
        &self,
        names: &ArcTables,
        tables: &Tables<'_>,
    ) -> Result<ArcModel<Compact>, ModelProblem> {
        let features = features(&self.templates)?;
        let index = match self.index {
            IndexDocument::Hashed { bits } => {
                Index::Hashed { bits: within(bits, BLOCK.ilog2() + 1..=*Document::BITS.end())? }
            }
            IndexDocument::Dictionary => {
                Index::Dictionary(tables.dictionary(names, &features)?.into())
            }
        };
        let clusters = tables.clusters(names.weights);
        let shape = shape_of(clusters, index.cells());
        let weights = tables.weights(names.weights, &shape, names.scale)?;
        Ok(ArcModel { features, index, clusters, weights })
    }
}

/// Reads the templates of a document.
fn features(templates: &[String]) -> Result<FeatureSet, ModelProblem> {
    let parsed = FeatureSet::from_lines(templates.iter().map(String::as_str));
    parsed.map_err(|error| ModelProblem::UnknownTemplate(Box::new(error)))
}

/// Writes templates for a document.
fn lines(features: &FeatureSet) -> Vec<String> {
    features.to_string().lines().map(str::to_owned).collect()
}

/// Writes rules for a document.
fn rule_lines(rules: &RuleSet) -> Vec<String> {
    rules.rules().iter().map(ToString::to_string).collect()
}

/// Reads the rules of a document.
fn rules(lines: &[String]) -> Result<RuleSet, ModelProblem> {
    let altered = |what: String| ModelProblem::Altered { what };
    let rules = RuleSet::parse("rules of the model", &lines.join("\n"))
        .map_err(|invalid| altered(format!("its rules cannot be read ({invalid})")))?;
    match rules.rules().iter().find(|rule| !rule.target.is_hard()) {
        Some(rule) => Err(altered(format!("its rule {} is not a hard constraint", rule.name))),
        None => Ok(rules),
    }
}

/// Checks the binary logarithm of a table's size.
pub(super) fn within(bits: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32, ModelProblem> {
    if range.contains(&bits) {
        return Ok(bits);
    }
    let (least, most) = (range.start(), range.end());
    let what = format!("it has a table of 2^{bits} cells, expected 2^{least} to 2^{most}");
    Err(ModelProblem::Altered { what })
}
