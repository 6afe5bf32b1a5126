//! Networks of `tutte_neural` as scorers.

use std::collections::HashMap;

use tutte_neural::{Activations, Mode, Network};
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, arcs};

use super::{NetworkDocument, TagClasses, WordTags};
use crate::model::labels::{ArcLabels, LabelModel};
use crate::text::Tagger;
use crate::{Error, Weights};

/// A network as a scorer of arcs, labels and tags.
#[derive(Clone, Debug)]
pub struct NetworkScorer {
    network: Network,
    tags: Vec<TagClasses>,
}

/// Memory of a network for one thread: the scores of the last sentence.
#[derive(Debug, Default)]
pub(crate) struct NetworkMemory {
    activations: Activations,
    /// Forms of the last sentence. Tags and trees of a sentence are asked for one after the other, and need one run of
    /// the encoder only.
    forms: Option<Vec<String>>,
    arcs: Vec<(usize, usize)>,
    label_scores: Vec<f32>,
}

impl NetworkScorer {
    /// Makes a scorer. Each list of classes belongs to the tag head of its name.
    ///
    /// # Errors
    /// [`Error::Setting`] if a head has another number of classes.
    pub fn new(network: Network, tags: Vec<TagClasses>) -> Result<Self, Error> {
        for TagClasses { head, names } in &tags {
            let found = network.tag_heads().iter().find(|one| one.name == *head);
            if found.is_none_or(|found| found.classes != names.len()) {
                let why =
                    format!("the network has no tag head {head:?} of {} classes", names.len());
                return Err(Error::Setting(why));
            }
        }
        Ok(Self { network, tags })
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Rounds the weights of the network to 8 bits: a quarter of the size, and more than twice as fast.
    pub fn quantize(&self) -> Self {
        Self { network: self.network.quantize(), tags: self.tags.clone() }
    }

    /// Returns the names of tags, by tag head.
    pub fn tag_classes(&self) -> &[TagClasses] {
        &self.tags
    }

    /// Returns `true` if the network finds tags.
    pub fn has_tags(&self) -> bool {
        self.tags.iter().any(|tags| tags.head == UPOS)
    }

    pub(crate) fn document(&self) -> NetworkDocument {
        NetworkDocument { description: self.network.description(), tags: self.tags.clone() }
    }

    /// Runs the network over a sentence, unless it was the last one.
    fn run(&self, sentence: &Sentence, memory: &mut NetworkMemory) -> Result<(), Error> {
        let is_last = memory.forms.as_ref().is_some_and(|forms| {
            forms.len() == sentence.len()
                && forms.iter().zip(sentence.words()).all(|(form, word)| form == word.form())
        });
        if is_last {
            return Ok(());
        }
        let forms: Vec<String> = sentence.words().map(|word| word.form().to_owned()).collect();
        memory.forms = None;
        let input = self.network.encode(&forms)?;
        self.network.forward([&input], Mode::Infer, &mut memory.activations);
        memory.forms = Some(forms);
        Ok(())
    }

    /// Adds the scores of the network to those of all arcs that are possible so far.
    pub(crate) fn add_scores(
        &self,
        sentence: &Sentence,
        memory: &mut NetworkMemory,
        scores: &mut ArcMatrix,
    ) -> Result<(), Error> {
        self.run(sentence, memory)?;
        let places = sentence.len() + 1;
        let found = memory.activations.arc_scores(0);
        for (head, modifier) in arcs(sentence.len()) {
            scores[(head, modifier)] += f64::from(found[head * places + modifier]);
        }
        Ok(())
    }

    /// Writes the label scores of all possible arcs of the sentence that was scored with this memory.
    pub(crate) fn score_labels<W>(
        &self,
        labels: &LabelModel<W>,
        memory: &mut NetworkMemory,
        scores: &ArcMatrix,
        found: &mut ArcLabels,
    ) {
        let NetworkMemory { activations, arcs: candidates, label_scores, .. } = memory;
        candidates.clear();
        candidates.extend(arcs(scores.words()).filter(|arc| scores[*arc] != f64::NEG_INFINITY));
        activations.label_scores(0, candidates, label_scores);
        found.set(scores.words(), labels, candidates, label_scores);
    }

    /// Returns the most probable tags of the words of a sentence, with other UPOS above a probability. If a tagger is
    /// given, XPOS and FEATS are a combination that it knows for the UPOS: the heads of the network find them apart
    /// from each other.
    pub(crate) fn tags<W: Weights>(
        &self,
        sentence: &Sentence,
        memory: &mut NetworkMemory,
        others_above: f64,
        tagger: Option<&Tagger<W>>,
    ) -> Result<Option<Vec<WordTags<'_>>>, Error> {
        if !self.has_tags() {
            return Ok(None);
        }
        self.run(sentence, memory)?;
        let head = |name: &str| {
            let classes = self.tags.iter().find(|tags| tags.head == name)?;
            Some((classes.names.as_slice(), self.network.tag_head(name)?))
        };
        let heads = [UPOS, XPOS, FEATS].map(head);
        let log_probs = |place: usize, word: usize| -> Option<&[f32]> {
            let (names, head) = heads[place]?;
            let of_words = memory.activations.tag_log_probs(0, head);
            Some(&of_words[word * names.len()..][..names.len()])
        };
        let best = |place: usize, word: usize| -> Option<(&str, f64)> {
            let row = log_probs(place, word)?.iter().copied().enumerate();
            let (class, log_prob) = row.rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some((&heads[place]?.0[class], f64::from(log_prob).exp()))
        };
        let classes = |place: usize| -> HashMap<&str, usize> {
            let names = heads[place].map_or(&[][..], |(names, _)| names);
            names.iter().map(String::as_str).zip(0..).collect()
        };
        let [xpos_classes, feats_classes] = [classes(1), classes(2)];
        let mut known: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        // The most probable combination of XPOS and FEATS that the tagger knows.
        let mut best_known = |upos: &'_ str, word: usize| -> Option<[(&str, f64); 2]> {
            let [xpos, feats] = [log_probs(1, word)?, log_probs(2, word)?];
            let combinations = || {
                let class = |(xpos, feats): (&str, &str)| {
                    Some((*xpos_classes.get(xpos)?, *feats_classes.get(feats)?))
                };
                tagger.into_iter().flat_map(|it| it.combinations(upos)).filter_map(class).collect()
            };
            let upos = heads[0]?.0.iter().find(|name| *name == upos)?;
            let known = known.entry(upos).or_insert_with(combinations);
            let score = |&(x, f): &(usize, usize)| xpos[x] + feats[f];
            let &(x, f) = known.iter().rev().max_by(|a, b| score(a).total_cmp(&score(b)))?;
            let found = |place: usize, class: usize, log_probs: &[f32]| {
                Some((heads[place]?.0[class].as_str(), f64::from(log_probs[class]).exp()))
            };
            Some([found(1, x, xpos)?, found(2, f, feats)?])
        };
        let tags = (0..sentence.len()).map(|word| {
            let upos = best(0, word);
            let [xpos, feats] = match best_known(name_of(upos), word) {
                Some(found) => found.map(Some),
                None => [1, 2].map(|place| best(place, word)),
            };
            WordTags {
                upos: name_of(upos),
                xpos: name_of(xpos),
                feats: name_of(feats),
                probs: [upos, xpos, feats].map(|found| found.map(|(_, prob)| prob)),
                other_upos: self.others(heads[0], memory, word, name_of(upos), others_above),
            }
        });
        Ok(Some(tags.collect()))
    }

    /// Returns the classes of a word other than the best one, the most probable first.
    fn others<'s>(
        &'s self,
        head: Option<(&'s [String], usize)>,
        memory: &NetworkMemory,
        word: usize,
        best: &str,
        above: f64,
    ) -> Vec<(&'s str, f64)> {
        let Some((names, head)) = head else { return Vec::new() };
        let log_probs = &memory.activations.tag_log_probs(0, head)[word * names.len()..];
        let all = names.iter().zip(log_probs);
        let mut others: Vec<(&str, f64)> = all
            .map(|(name, log_prob)| (name.as_str(), f64::from(*log_prob).exp()))
            .filter(|(name, prob)| *name != best && *prob > above)
            .collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        others
    }
}

/// Names of tag heads.
pub(crate) const UPOS: &str = "upos";
pub(crate) const XPOS: &str = "xpos";
pub(crate) const FEATS: &str = "feats";

/// Returns the name of a class; `_` without one.
fn name_of(found: Option<(&str, f64)>) -> &str {
    found.map_or("_", |(name, _)| name)
}
