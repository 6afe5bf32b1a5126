//! A treebank as examples for a network: sub-words, heads, and classes of labels and tags.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use tutte_neural::{Network, NetworkOptions, SentenceInput};
use tutte_treebank::{Sentence, Token};
use tutte_trees::TreeSet;

use super::NetworkTraining;
use super::rules::Match;
use crate::features::FeatureSet;
use crate::learn::teacher::{SoftArc, read_answers};
use crate::text::LemmaRule;
use crate::{ArcModel, Candidates, Error, Index, LabelModel, Labelling, ParserModel, TagClasses};

/// Binary logarithm of the number of arc weights of a model without features.
const NO_FEATURES: u32 = 6;

/// A sentence to learn from.
pub(super) struct Example {
    pub(super) input: SentenceInput,
    pub(super) heads: Vec<Option<usize>>,
    pub(super) labels: Vec<Option<usize>>,
    /// Class of each word, for each tag head.
    pub(super) tags: Vec<Vec<Option<usize>>>,
    /// Arcs of a teacher's distribution; empty if the sentence has no teacher.
    pub(super) teacher: Vec<SoftArc>,
    /// Arcs that rules with a share match.
    pub(super) matches: Vec<Match>,
    /// Arcs that rules with `always` and `never` allow.
    pub(super) candidates: Candidates,
}

/// The labels and tags of a treebank.
pub(super) struct Classes {
    pub(super) labels: Vec<String>,
    pub(super) tags: Vec<TagClasses>,
}

/// Names of the tag heads.
const TAG_HEADS: [&str; 4] = ["upos", "xpos", "feats", LEMMA];
const LEMMA: &str = "lemma";

/// A rule of lemmas is a class if at least this many words of the treebank follow it.
const LEAST_WORDS_OF_RULE: usize = 2;

/// Returns the name of the class of a word.
fn class_name<'a>(head: &str, word: Token<'a>) -> Cow<'a, str> {
    match head {
        "upos" => word.upos().into(),
        "xpos" => word.xpos().into(),
        "feats" => word.feats().into(),
        _ if word.lemma() == NONE && word.form() != NONE => NONE.into(),
        _ => {
            let rule = LemmaRule::new(word.form(), word.lemma());
            serde_json::to_string(&rule).map_or(NONE.into(), Cow::Owned)
        }
    }
}

/// An empty column.
const NONE: &str = "_";

impl Classes {
    pub(super) fn of(treebank: &[Sentence]) -> Self {
        let words = || treebank.iter().flat_map(Sentence::words);
        let labels: BTreeSet<&str> =
            words().map(|word| word.deprel()).filter(|label| *label != "_").collect();
        let tags = TAG_HEADS.into_iter().filter_map(|head| {
            let mut names: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
            words().for_each(|word| *names.entry(class_name(head, word)).or_default() += 1);
            if head == LEMMA {
                names.retain(|name, count| *count >= LEAST_WORDS_OF_RULE && name != NONE);
            }
            // A column that is always empty needs no classifier.
            let is_used = names.keys().any(|name| name != NONE);
            let names = names.into_keys().map(Cow::into_owned).collect();
            is_used.then(|| TagClasses { head: head.to_owned(), names })
        });
        Self { labels: labels.into_iter().map(str::to_owned).collect(), tags: tags.collect() }
    }

    /// Returns the options of a network for these classes.
    pub(super) fn options(&self, training: &NetworkTraining) -> NetworkOptions {
        let options = NetworkOptions::new()
            .with_labels(self.labels.len())
            .with_dropout(training.dropout)
            .with_frozen_encoder(training.has_frozen_encoder)
            .with_seed(training.seed);
        let add = |options: NetworkOptions, tags: &TagClasses| {
            options.with_tag_head(&tags.head, tags.names.len())
        };
        self.tags.iter().fold(options, add)
    }

    pub(super) fn examples(
        &self,
        treebank: &[Sentence],
        network: &Network,
    ) -> Result<Vec<Example>, Error> {
        let class = |names: &[String], name: &str| {
            names.binary_search_by(|other| other.as_str().cmp(name)).ok()
        };
        let numbers: HashMap<&str, usize> =
            self.labels.iter().map(String::as_str).zip(0..).collect();
        let example = |sentence: &Sentence| {
            let forms: Vec<&str> = sentence.words().map(|word| word.form()).collect();
            let tags = self.tags.iter().map(|tags| {
                let words = sentence.words();
                words.map(|word| class(&tags.names, &class_name(&tags.head, word))).collect()
            });
            Ok(Example {
                input: network.encode(&forms)?,
                heads: sentence.words().map(|word| word.head()).collect(),
                labels: sentence.words().map(|word| class(&self.labels, word.deprel())).collect(),
                tags: tags.collect(),
                teacher: read_answers(sentence, &numbers)?,
                matches: Vec::new(),
                candidates: Candidates::all(),
            })
        };
        treebank.iter().filter(|sentence| !sentence.is_empty()).map(example).collect()
    }

    /// Returns the combinations of classes of UPOS, XPOS and FEATS of the examples; none unless there are all three.
    pub(super) fn combinations(&self, examples: &[Example]) -> Vec<[usize; 3]> {
        let place = |head: &str| self.tags.iter().position(|tags| tags.head == head);
        let [Some(upos), Some(xpos), Some(feats)] = ["upos", "xpos", "feats"].map(place) else {
            return Vec::new();
        };
        let mut all = BTreeSet::new();
        for Example { tags, .. } in examples {
            let words = tags[upos].iter().zip(&tags[xpos]).zip(&tags[feats]);
            all.extend(
                words.filter_map(|((upos, xpos), feats)| Some([(*upos)?, (*xpos)?, (*feats)?])),
            );
        }
        all.into_iter().collect()
    }

    /// Makes a model without features, whose network is still missing.
    pub(super) fn model(&self, treebank: &[Sentence], tree_set: TreeSet) -> ParserModel {
        let none = FeatureSet::new(Vec::new());
        let arcs = ArcModel::new(none.clone(), Index::Hashed { bits: NO_FEATURES });
        let labels = if self.labels.is_empty() {
            LabelModel::none()
        } else {
            let mut labels = LabelModel::new(none, self.labels.clone(), 2);
            let words = treebank.iter().flat_map(Sentence::words);
            labels.observe(words.filter_map(|word| {
                let label = self.labels.iter().position(|label| label == word.deprel())?;
                Some((word.head()?, label))
            }));
            labels.with_labelling(Labelling::Staged)
        };
        ParserModel::new(arcs, labels, tree_set)
    }
}
