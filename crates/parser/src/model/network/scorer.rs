//! Networks of `tutte_neural` as scorers.

mod soft_tags;

use std::collections::HashMap;

use tutte_neural::{Activations, Mode, Network, SentenceInput};
use tutte_treebank::Sentence;
use tutte_trees::{ArcMatrix, arcs};

use super::{NetworkDocument, OutsideEncoder, ScoreWeights, TagClasses, WordTags};
use crate::model::labels::{ArcLabels, LabelModel};
use crate::text::{LemmaRule, Tagger};
use crate::{Error, Weights};

/// A network as a scorer of arcs, labels and tags.
#[derive(Clone, Debug)]
pub struct NetworkScorer {
    network: Network,
    tags: Vec<TagClasses>,
    /// Rules of the classes of the head of lemmas.
    lemma_rules: Vec<LemmaRule>,
    /// Combinations of classes of UPOS, XPOS and FEATS. All are possible if there are none.
    combinations: Vec<[usize; 3]>,
    /// Weights of features and of the network, if the model has both.
    weights: Option<ScoreWeights>,
    /// The encoder, if model files do not contain it.
    outside: Option<OutsideEncoder>,
    /// `true` if the tagger of the model finds tags, although the network could.
    has_tags_of_tagger: bool,
}

/// Memory of a network for one thread: the scores of the last batch, and of the last sentence outside of it.
#[derive(Debug, Default)]
pub(crate) struct NetworkMemory {
    batch: Run,
    alone: Run,
    /// `true` if the current sentence is in the batch.
    is_in_batch: bool,
    /// Number of the current sentence in its run.
    current: usize,
    arcs: Vec<(usize, usize)>,
    label_scores: Vec<f32>,
}

/// One run of the network.
#[derive(Debug, Default)]
struct Run {
    activations: Activations,
    /// Forms of the sentences. Tags and trees of a sentence are asked for one after the other, and need one run of
    /// the encoder only.
    forms: Vec<Vec<String>>,
}

impl Run {
    /// Returns the number of a sentence, if it is in this run. Sentences are asked for in their order, so those from
    /// `first` on are compared first.
    fn find(&self, sentence: &Sentence, first: usize) -> Option<usize> {
        let is_same = |at: &usize| {
            let forms = &self.forms[*at];
            forms.len() == sentence.len()
                && forms.iter().zip(sentence.words()).all(|(form, word)| form == word.form())
        };
        let first = first.min(self.forms.len());
        (first..self.forms.len()).chain(0..first).find(is_same)
    }

    /// Runs the network over sentences.
    fn fill(&mut self, network: &Network, inputs: &[SentenceInput], forms: Vec<Vec<String>>) {
        self.forms.clear();
        network.forward(inputs, Mode::Infer, &mut self.activations);
        self.forms = forms;
    }
}

impl NetworkMemory {
    /// Returns the scores, and the number of the current sentence in them.
    fn current(&self) -> (&Activations, usize) {
        let run = if self.is_in_batch { &self.batch } else { &self.alone };
        (&run.activations, self.current)
    }
}

/// Returns the forms of the words of a sentence.
fn forms(sentence: &Sentence) -> Vec<String> {
    sentence.words().map(|word| word.form().to_owned()).collect()
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
        let rules = tags.iter().filter(|tags| tags.head == LEMMA).flat_map(|tags| &tags.names);
        let rule = |name: &String| {
            serde_json::from_str(name).map_err(|error| {
                Error::Setting(format!("{name:?} is not a rule of lemmas: {error}"))
            })
        };
        let lemma_rules = rules.map(rule).collect::<Result<_, Error>>()?;
        Ok(Self {
            network,
            tags,
            lemma_rules,
            combinations: Vec::new(),
            weights: None,
            outside: None,
            has_tags_of_tagger: false,
        })
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Rounds the weights of the network to 8 bits: a quarter of the size, and more than twice as fast. Files contain the
    /// rounded encoder, even if the encoder was [outside](Self::with_encoder_outside).
    pub fn quantize(&self) -> Self {
        Self { network: self.network.quantize(), outside: None, ..self.clone() }
    }

    /// Leaves the encoder out of model files. They name its folder, which must be beside them, and have a hash of it. For
    /// pretrained encoders whose weights training did not change.
    pub fn with_encoder_outside(self, folder: impl Into<String>) -> Self {
        let checksum = self.network.encoder_checksum();
        Self { outside: Some(OutsideEncoder { folder: folder.into(), checksum }), ..self }
    }

    /// Returns the name of the folder of the encoder, if model files do not contain the encoder.
    pub fn encoder_outside(&self) -> Option<&str> {
        self.outside.as_ref().map(|outside| outside.folder.as_str())
    }

    /// Sets the combinations of classes of UPOS, XPOS and FEATS that words may have. Without any, all are possible.
    pub fn with_combinations(self, combinations: Vec<[usize; 3]>) -> Self {
        Self { combinations, ..self }
    }

    /// Sets the weights of features and of the network in a model that has both.
    pub fn with_score_weights(self, weights: ScoreWeights) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Returns the weights of features and of the network, if the model has both.
    pub fn score_weights(&self) -> Option<ScoreWeights> {
        self.weights
    }

    /// Leaves tags to the tagger of the model, although the network could find them.
    pub fn with_tags_of_tagger(self, has_tags_of_tagger: bool) -> Self {
        Self { has_tags_of_tagger, ..self }
    }

    /// Returns the names of tags, by tag head.
    pub fn tag_classes(&self) -> &[TagClasses] {
        &self.tags
    }

    /// Returns `true` if the network finds tags, and does not leave them to a [tagger](Self::with_tags_of_tagger).
    pub fn has_tags(&self) -> bool {
        !self.has_tags_of_tagger && self.tags.iter().any(|tags| tags.head == UPOS)
    }

    pub(crate) fn document(&self) -> NetworkDocument {
        NetworkDocument {
            description: self.network.description(),
            tags: self.tags.clone(),
            combinations: self.combinations.clone(),
            weights: self.weights,
            outside: self.outside.clone(),
            has_tags_of_tagger: self.has_tags_of_tagger,
        }
    }

    /// Runs the network over several sentences at once, which is faster than one by one. The scores are the same. Does
    /// not fail: a sentence that cannot be divided into sub-words is left for [`run`](Self::run).
    pub(crate) fn prepare<'s>(
        &self,
        sentences: impl IntoIterator<Item = &'s Sentence>,
        memory: &mut NetworkMemory,
    ) {
        let forms = sentences.into_iter().map(forms);
        let encoded = forms.filter_map(|forms| Some((self.network.encode(&forms).ok()?, forms)));
        let (inputs, forms): (Vec<_>, Vec<_>) = encoded.unzip();
        memory.is_in_batch = true;
        memory.current = 0;
        memory.batch.fill(&self.network, &inputs, forms);
    }

    /// Runs the network over a sentence, unless it is in the last batch or was the last one.
    fn run(&self, sentence: &Sentence, memory: &mut NetworkMemory) -> Result<(), Error> {
        let first = if memory.is_in_batch { memory.current } else { 0 };
        if let Some(found) = memory.batch.find(sentence, first) {
            (memory.is_in_batch, memory.current) = (true, found);
            return Ok(());
        }
        if memory.alone.find(sentence, 0).is_none() {
            let forms = forms(sentence);
            let input = self.network.encode(&forms)?;
            memory.alone.fill(&self.network, &[input], vec![forms]);
        }
        (memory.is_in_batch, memory.current) = (false, 0);
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
        let (activations, at) = memory.current();
        let found = activations.arc_scores(at);
        for (head, modifier) in arcs(sentence.len()) {
            scores[(head, modifier)] += f64::from(found[head * places + modifier]);
        }
        Ok(())
    }

    /// Writes the label scores of one arc of the sentence that was scored with this memory. Labels that the arc may not
    /// have are −∞. Returns `false` if the network does not score labels.
    pub(crate) fn score_labels_of<W>(
        &self,
        labels: &LabelModel<W>,
        memory: &NetworkMemory,
        arc: (usize, usize),
        scores: &mut Vec<f32>,
    ) -> bool {
        if self.network.options().labels == 0 {
            return false;
        }
        let (activations, at) = memory.current();
        activations.label_scores(at, &[arc], scores);
        let by_label = scores.iter_mut().enumerate();
        by_label
            .filter(|(label, _)| !labels.allows(arc.0, *label))
            .for_each(|(_, score)| *score = f32::NEG_INFINITY);
        true
    }

    /// Writes the label scores of all possible arcs of the sentence that was scored with this memory.
    pub(crate) fn score_labels<W>(
        &self,
        labels: &LabelModel<W>,
        memory: &mut NetworkMemory,
        scores: &ArcMatrix,
        found: &mut ArcLabels,
    ) {
        let mut candidates = std::mem::take(&mut memory.arcs);
        let mut label_scores = std::mem::take(&mut memory.label_scores);
        candidates.clear();
        candidates.extend(arcs(scores.words()).filter(|arc| scores[*arc] != f64::NEG_INFINITY));
        let (activations, at) = memory.current();
        activations.label_scores(at, &candidates, &mut label_scores);
        found.set(scores.words(), labels, &candidates, &label_scores);
        (memory.arcs, memory.label_scores) = (candidates, label_scores);
    }

    /// Returns the most probable tags of the words of a sentence, with other UPOS above a probability. XPOS and FEATS are
    /// a combination that the treebank has for the UPOS, or that a given tagger knows: the heads of the network find
    /// them apart from each other.
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
        let (activations, at) = memory.current();
        let head = |name: &str| {
            let classes = self.tags.iter().find(|tags| tags.head == name)?;
            Some((classes.names.as_slice(), self.network.tag_head(name)?))
        };
        let heads = [UPOS, XPOS, FEATS].map(head);
        let log_probs = |place: usize, word: usize| -> Option<&[f32]> {
            let (names, head) = heads[place]?;
            let of_words = activations.tag_log_probs(at, head);
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
        let mut known: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        // The most probable combination of XPOS and FEATS that the tagger knows.
        let mut best_known = |upos: &'_ str, word: usize| -> Option<[(&str, f64); 2]> {
            let [xpos, feats] = [log_probs(1, word)?, log_probs(2, word)?];
            let upos_class = heads[0]?.0.iter().position(|name| name == upos)?;
            let combinations = || {
                if !self.combinations.is_empty() {
                    let own = self.combinations.iter().filter(|all| all[0] == upos_class);
                    return own.map(|&[_, xpos, feats]| (xpos, feats)).collect();
                }
                let class = |(xpos, feats): (&str, &str)| {
                    Some((*xpos_classes.get(xpos)?, *feats_classes.get(feats)?))
                };
                tagger.into_iter().flat_map(|it| it.combinations(upos)).filter_map(class).collect()
            };
            let known = known.entry(upos_class).or_insert_with(combinations);
            let score = |&(x, f): &(usize, usize)| xpos[x] + feats[f];
            let &(x, f) = known.iter().rev().max_by(|a, b| score(a).total_cmp(&score(b)))?;
            let found = |place: usize, class: usize, log_probs: &[f32]| {
                Some((heads[place]?.0[class].as_str(), f64::from(log_probs[class]).exp()))
            };
            Some([found(1, x, xpos)?, found(2, f, feats)?])
        };
        let lemmas = self.lemmas(sentence, memory);
        let tags = (0..sentence.len()).zip(lemmas).map(|(word, lemma)| {
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
                lemma,
                other_upos: self.others(heads[0], memory, word, name_of(upos), others_above),
            }
        });
        Ok(Some(tags.collect()))
    }

    /// Returns the most probable lemma of each word, with its probability. Rules that cannot be applied to the form do
    /// not count, and rules with the same result count together.
    fn lemmas(&self, sentence: &Sentence, memory: &NetworkMemory) -> Vec<Option<(String, f64)>> {
        let Some(head) = self.network.tag_head(LEMMA).filter(|_| !self.lemma_rules.is_empty())
        else {
            return vec![None; sentence.len()];
        };
        let (activations, at) = memory.current();
        let rows = activations.tag_log_probs(at, head).chunks_exact(self.lemma_rules.len());
        rows.zip(sentence.words()).map(|(row, word)| Some(self.lemma(word.form(), row))).collect()
    }

    /// Returns the most probable lemma of a form.
    fn lemma(&self, form: &str, log_probs: &[f32]) -> (String, f64) {
        let all = || log_probs.iter().copied().zip(&self.lemma_rules);
        let mut found: Vec<(String, f64)> = Vec::new();
        for (log_prob, rule) in all().filter(|(log_prob, _)| *log_prob > IMPROBABLE_RULE) {
            let Some(lemma) = rule.apply(form) else { continue };
            let prob = f64::from(log_prob).exp();
            match found.iter_mut().find(|(other, _)| *other == lemma) {
                Some((_, sum)) => *sum += prob,
                None => found.push((lemma, prob)),
            }
        }
        if found.is_empty() {
            // No probable rule can be applied to this form, so the most probable one that can is taken.
            let mut rules: Vec<(f32, &LemmaRule)> = all().collect();
            rules.sort_by(|a, b| b.0.total_cmp(&a.0));
            let first = rules
                .iter()
                .find_map(|(log_prob, rule)| Some((rule.apply(form)?, f64::from(*log_prob).exp())));
            return first.unwrap_or_else(|| (form.to_owned(), 0.0));
        }
        let total: f64 = found.iter().map(|(_, prob)| prob).sum();
        let best = found.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map_or((form.to_owned(), 0.0), |(lemma, prob)| (lemma, prob / total))
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
        let (activations, at) = memory.current();
        let log_probs = &activations.tag_log_probs(at, head)[word * names.len()..];
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
pub(crate) const LEMMA: &str = "lemma";

/// Log-probability of rules that do not count, if a more probable one can be applied: about 1/1000.
const IMPROBABLE_RULE: f32 = -7.0;

/// Returns the name of a class; `_` without one.
fn name_of(found: Option<(&str, f64)>) -> &str {
    found.map_or("_", |(name, _)| name)
}
