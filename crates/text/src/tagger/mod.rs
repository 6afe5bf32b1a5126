//! A tagger: finds UPOS, XPOS, FEATS and lemmas of words, with exact probabilities.
//!
//! ```text
//! P(tags | words) = P(t₁ … tₙ | words) · Πᵢ P(bᵢ | i, t₁ … tₙ, words)
//! ```
//!
//! Coarse tags t (UPOS) are a linear-chain conditional random field ([`chain`]). Its features are the forms of words
//! and their neighbours ([`templates`]), and the tags that they have in the treebank ([`lexicon`]). Given the coarse
//! tags, a log-linear model ([`morphology`]) chooses the bundle b of each word: its fine tag (XPOS) and morphological
//! features (FEATS). Lemmas follow from rules ([`lemma`](crate::lemma)). Each word gets the coarse tag with the highest
//! marginal probability.

mod chain;
mod columns;
mod document;
#[cfg(feature = "train")]
mod greedy;
mod lexicon;
mod morphology;
mod probabilities;
mod soft_tags;
mod templates;
#[cfg(feature = "train")]
mod train;
#[cfg(feature = "train")]
mod training_data;

use std::sync::Arc;

use tutte_linear::{Compact, Rounding, Weights};
use tutte_treebank::{Morphology as WordTags, Sentence, Token};

use self::chain::{Chain, ChainMemory};
use self::columns::{Columns, MARGIN, RowLayout};
pub use self::document::{TaggerDocument, TaggerShapes, TaggerTables};
#[cfg(feature = "train")]
pub use self::greedy::greedy_baseline;
use self::lexicon::Lexicon;
use self::morphology::Morphology;
pub use self::probabilities::{TagAlternative, TagProbabilities};
pub use self::soft_tags::{SoftTag, TEACHER_TAGS, read_soft_tags, write_soft_tags};
use self::templates::{COARSE, FINE};
#[cfg(feature = "train")]
pub use self::train::{TaggerOptions, jackknife, jackknife_observed};
use crate::Error;
use crate::lemma::Lemmatizer;

/// Finds tags, morphological features and lemmas of words.
///
/// Weights have 32 bits when they are trained ([`train`](Self::train)), and 8 bits in model files
/// ([`compact`](Self::compact)).
///
/// ```
/// use tutte_text::{Tagger, TaggerMemory, TaggerOptions};
/// use tutte_treebank::Sentence;
///
/// let treebank: [Sentence; 2] = [
///     "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n".parse()?,
///     "1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n2\tpurr\tpurr\tVERB\tVBP\t_\t0\troot\t_\t_\n".parse()?,
/// ];
/// let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(4))?;
///
/// let mut sentence: Sentence = "1\tCats\t_\t_\t_\t_\t_\t_\t_\t_\n2\tbark\t_\t_\t_\t_\t_\t_\t_\t_\n".parse()?;
/// let tagging = tagger.annotate(&mut sentence, &mut TaggerMemory::default())?;
/// assert!(sentence.as_str().starts_with("1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t"));
/// assert!(tagging.upos_probs[0] > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tagger<W = Vec<f32>> {
    /// Coarse tags.
    upos: Vec<String>,
    lexicon: Arc<Lexicon>,
    /// Layout of `weights`.
    rows: RowLayout,
    /// Weights of coarse tags.
    weights: W,
    chain: Chain,
    fine: Morphology<W>,
    lemmas: Option<Arc<Lemmatizer>>,
}

/// Memory of tagging, which the next sentence reuses.
#[derive(Clone, Debug, Default)]
pub struct TaggerMemory {
    columns: Columns,
    rows: Vec<usize>,
    scores: Vec<f32>,
    chain: ChainMemory,
    parts: Vec<f32>,
    probs: Vec<f32>,
}

/// The tags of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagging {
    /// Coarse tag of each word, as an index of [`Tagger::upos`].
    pub upos: Vec<usize>,
    /// Bundle of each word, as an index of the bundles of its coarse tag.
    fine: Vec<usize>,
    /// Marginal probability of the coarse tag of each word.
    pub upos_probs: Vec<f64>,
    /// Probability of the fine tag and features of each word, given the coarse tags.
    pub fine_probs: Vec<f64>,
    /// Probability of the whole sequence of coarse tags, if it is one of the k best; otherwise 1.
    pub prob: f64,
}

/// Returns `true` if no word of a sentence has UPOS, XPOS or FEATS.
///
/// ```
/// let sentence = "1\tTea\t_\t_\t_\t_\t_\t_\t_\t_\n".parse()?;
/// assert!(tutte_text::is_untagged(&sentence));
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
pub fn is_untagged(sentence: &Sentence) -> bool {
    sentence.words().all(|word| [word.upos(), word.xpos(), word.feats()] == ["_"; 3])
}

/// Numbers of words with the right tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagScores {
    /// Number of words.
    pub words: usize,
    /// Words with the right coarse tag (UPOS).
    pub upos: usize,
    /// Words with the right fine tag (XPOS).
    pub xpos: usize,
    /// Words with the right features (FEATS).
    pub feats: usize,
    /// Words with the right lemma.
    pub lemmas: usize,
}

impl TagScores {
    /// Returns a number of words as a share of all words.
    pub fn share(&self, right: usize) -> f64 {
        right as f64 / self.words.max(1) as f64
    }
}

impl Tagger {
    /// Rounds all weights to the nearest values of 8 bits, as a model file holds them.
    pub fn compact(&self) -> Tagger<Compact> {
        self.rounded(Rounding::Nearest)
    }

    /// Rounds all weights to 8 bits.
    pub fn rounded(&self, rounding: Rounding) -> Tagger<Compact> {
        let Tagger { upos, lexicon, rows, weights, chain, fine, lemmas } = self;
        let morphology = fine.bundles().clone();
        Tagger {
            upos: upos.clone(),
            lexicon: Arc::clone(lexicon),
            rows: *rows,
            weights: Compact::rounded(weights, rounding),
            chain: chain.clone(),
            fine: Morphology::new(
                morphology,
                fine.rows.bits,
                Compact::rounded(&fine.weights, rounding),
            ),
            lemmas: lemmas.clone(),
        }
    }
}

impl<W: Weights> Tagger<W> {
    /// Returns the coarse tags.
    pub fn upos(&self) -> &[String] {
        &self.upos
    }

    /// Returns the number of different combinations of UPOS, XPOS and FEATS.
    pub fn fine_tags(&self) -> usize {
        (0..self.upos.len()).map(|tag| self.fine.bundles().of_tag(tag).len()).sum()
    }

    /// Returns the combinations of XPOS and FEATS that the treebank has for a coarse tag, the most frequent first.
    pub fn combinations(&self, upos: &str) -> impl Iterator<Item = (&str, &str)> {
        let tag = self.upos.iter().position(|name| name == upos);
        let bundles = tag.map_or(&[][..], |tag| self.fine.bundles().of_tag(tag));
        bundles.iter().map(|bundle| (bundle.xpos.as_str(), bundle.feats.as_str()))
    }

    /// Returns the number of forms and lemmas of the treebank.
    pub fn lexicon_size(&self) -> usize {
        self.lexicon.len()
    }

    /// Returns `true` if the treebank has this form, in upper or lower case.
    pub fn has_seen(&self, form: &str) -> bool {
        self.lexicon.get(lexicon::form_key(&form.to_lowercase())).tag != 0
    }

    /// Returns the lemma of a form with these tags, if the tagger finds lemmas.
    pub fn lemma(&self, form: &str, upos: &str, feats: &str) -> Option<String> {
        Some(self.lemmas.as_ref()?.lemma(form, upos, feats))
    }

    /// Returns `true` if the tagger finds lemmas.
    pub fn has_lemmas(&self) -> bool {
        self.lemmas.is_some()
    }

    /// Returns the tags of a sentence. Each word has the coarse tag with the highest marginal.
    pub fn tag(&self, sentence: &Sentence, memory: &mut TaggerMemory) -> Tagging {
        self.score(sentence, memory);
        let TaggerMemory { scores, chain, .. } = memory;
        self.chain.marginals(scores, chain, |_, _| {});
        self.most_probable(memory)
    }

    /// Returns the tags with the highest marginals.
    fn most_probable(&self, memory: &mut TaggerMemory) -> Tagging {
        self.refine(self.most_probable_upos(memory), &Tagging::default(), memory)
    }

    /// Returns the coarse tags with the highest marginals.
    fn most_probable_upos(&self, memory: &TaggerMemory) -> Tagging {
        let chain = &memory.chain;
        let upos = chain.marginals.chunks_exact(self.upos.len()).map(|probs| highest(probs.iter()));
        let upos: Vec<usize> = upos.collect();
        let words = upos.iter().enumerate();
        let upos_probs =
            words.map(|(word, tag)| chain.marginals[word * self.upos.len() + tag]).collect();
        Tagging { upos, upos_probs, prob: 1.0, ..Tagging::default() }
    }

    /// Returns the k most probable sequences of coarse tags, the best first. Each has its most probable fine tags and
    /// features.
    pub fn kbest(&self, sentence: &Sentence, k: usize, memory: &mut TaggerMemory) -> Vec<Tagging> {
        self.score(sentence, memory);
        let TaggerMemory { scores, chain, .. } = memory;
        let log_sum = self.chain.marginals(scores, chain, |_, _| {});
        self.ranked(k, 0.0, log_sum, &Tagging::default(), memory)
    }

    /// Returns the k most probable sequences with a probability of at least `least`. `known` is another tagging of the
    /// sentence.
    fn ranked(
        &self,
        k: usize,
        least: f64,
        log_sum: f64,
        known: &Tagging,
        memory: &mut TaggerMemory,
    ) -> Vec<Tagging> {
        let TaggerMemory { scores, chain, .. } = &*memory;
        let ranked = self.chain.kbest(scores, &chain.marginals, k, least, log_sum);
        let tagging = |ranked: chain::RankedTags| {
            let words = ranked.tags.iter().enumerate();
            let marginals = &memory.chain.marginals;
            let upos_probs =
                words.map(|(word, tag)| marginals[word * self.upos.len() + tag]).collect();
            let prob = ranked.log_prob.exp();
            let tagging = Tagging { upos: ranked.tags, upos_probs, prob, ..Tagging::default() };
            self.refine(tagging, known, memory)
        };
        ranked.into_iter().map(tagging).collect()
    }

    /// Returns the tags of a sentence, and its readings.
    ///
    /// The tags have the highest marginals, as those of [`tag`](Self::tag). Readings are the `k` most probable
    /// sequences with a probability of at least `least`. There are none if only one sequence is that probable.
    pub fn readings(
        &self,
        sentence: &Sentence,
        k: usize,
        least: f64,
        memory: &mut TaggerMemory,
    ) -> (Tagging, Vec<Tagging>) {
        self.score(sentence, memory);
        let TaggerMemory { scores, chain, .. } = memory;
        let log_sum = self.chain.marginals(scores, chain, |_, _| {});
        let tagging = self.most_probable(memory);
        // A sequence with another tag for some word has at most 1 − the marginal of the word's best tag.
        let lowest = tagging.upos_probs.iter().copied().fold(1.0, f64::min);
        if k < 2 || lowest > 1.0 - least {
            return (tagging, Vec::new());
        }
        let mut readings = self.ranked(k, least, log_sum, &tagging, memory);
        if readings.len() < 2 {
            readings.clear();
        }
        (tagging, readings)
    }

    /// Computes the attributes of a sentence and the scores of the coarse tags of its words.
    fn score(&self, sentence: &Sentence, memory: &mut TaggerMemory) {
        let TaggerMemory { columns, rows, scores, .. } = memory;
        let forms = sentence.words().map(Token::form);
        columns.fill(forms, &self.lexicon, &*self.lexicon);
        let tags = self.upos.len();
        scores.clear();
        let mut sums = [0.0; MAX_TAGS];
        let sums = &mut sums[..self.rows.width];
        for word in 0..columns.words() {
            rows.clear();
            columns.keys(COARSE, word, |_, key| rows.push(self.rows.start(key)));
            sums.fill(0.0);
            self.weights.add_rows(rows, sums);
            scores.extend(sums[..tags].iter().map(|sum| sum * self.weights.scale()));
        }
    }

    /// Adds fine tags and features to coarse tags. `known` is another tagging of the sentence: a word whose
    /// neighbourhood has the same coarse tags there has the same fine tag.
    fn refine(&self, mut tagging: Tagging, known: &Tagging, memory: &mut TaggerMemory) -> Tagging {
        memory.columns.set_all_upos(&tagging.upos);
        for (word, &tag) in tagging.upos.iter().enumerate() {
            let near = word.saturating_sub(MARGIN)..(word + MARGIN + 1).min(tagging.upos.len());
            if known.upos.get(near.clone()) == Some(&tagging.upos[near]) {
                tagging.fine.push(known.fine[word]);
                tagging.fine_probs.push(known.fine_probs[word]);
                continue;
            }
            let probs = self.bundle_probs(word, tag, memory);
            let best = highest(probs.iter());
            tagging.fine.push(best);
            tagging.fine_probs.push(probs.get(best).copied().unwrap_or(1.0).into());
        }
        tagging
    }

    /// Returns the probabilities of the bundles of a word. The columns must have the coarse tags of the sentence.
    fn bundle_probs<'m>(&self, word: usize, tag: usize, memory: &'m mut TaggerMemory) -> &'m [f32] {
        let TaggerMemory { columns, rows, parts, probs, .. } = memory;
        rows.clear();
        if self.fine.bundles().of_tag(tag).len() > 1 {
            columns.keys(FINE, word, |_, key| rows.push(self.fine.rows.start(key)));
        }
        self.fine.probs(tag, rows, 1.0, parts, probs);
        probs
    }

    /// Writes tags into a sentence, and lemmas if the tagger finds any. Other columns do not change.
    ///
    /// # Errors
    /// If the sentence has another number of words than the tagging.
    pub fn write(&self, tagging: &Tagging, sentence: &mut Sentence) -> Result<(), Error> {
        self.write_over(&Tagging::default(), tagging, sentence)
    }

    /// Writes tags into a sentence that already has the tags `before` and their lemmas. Lemmas of words whose tags are
    /// the same are kept.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_over(
        &self,
        before: &Tagging,
        tagging: &Tagging,
        sentence: &mut Sentence,
    ) -> Result<(), Error> {
        let fine = |tag: usize, fine: usize| self.fine.bundles().of_tag(tag).get(fine);
        let words = sentence.words().zip(tagging.upos.iter().zip(&tagging.fine)).enumerate();
        let lemmas: Vec<Option<String>> = words
            .map(|(at, (word, (&tag, &number)))| {
                let lemmas = self.lemmas.as_ref()?;
                if (before.upos.get(at), before.fine.get(at)) == (Some(&tag), Some(&number)) {
                    return Some(word.lemma().to_owned());
                }
                let feats = fine(tag, number).map_or("_", |bundle| &bundle.feats);
                Some(lemmas.lemma(word.form(), &self.upos[tag], feats))
            })
            .collect();
        let words = tagging.upos.iter().zip(&tagging.fine).zip(&lemmas);
        let tags: Vec<WordTags<'_>> = words
            .map(|((&tag, &number), lemma)| {
                let bundle = fine(tag, number);
                WordTags {
                    lemma: lemma.as_deref(),
                    upos: &self.upos[tag],
                    xpos: bundle.map_or("_", |bundle| &bundle.xpos),
                    feats: bundle.map_or("_", |bundle| &bundle.feats),
                }
            })
            .collect();
        Ok(sentence.set_morphology(&tags)?)
    }

    /// Finds the tags of a sentence and writes them into it.
    ///
    /// # Errors
    /// If a column cannot hold a tag or a lemma.
    pub fn annotate(
        &self,
        sentence: &mut Sentence,
        memory: &mut TaggerMemory,
    ) -> Result<Tagging, Error> {
        let tagging = self.tag(sentence, memory);
        self.write(&tagging, sentence)?;
        Ok(tagging)
    }

    /// Tags copies of gold sentences, and counts the words with the right tags.
    ///
    /// # Errors
    /// As [`annotate`](Self::annotate).
    pub fn evaluate(&self, gold: &[Sentence]) -> Result<TagScores, Error> {
        let mut memory = TaggerMemory::default();
        let mut scores = TagScores::default();
        for gold in gold {
            let mut found = gold.clone();
            self.annotate(&mut found, &mut memory)?;
            for (gold, found) in gold.words().zip(found.words()) {
                scores.words += 1;
                scores.upos += usize::from(gold.upos() == found.upos());
                scores.xpos += usize::from(gold.xpos() == found.xpos());
                scores.feats += usize::from(gold.feats() == found.feats());
                scores.lemmas += usize::from(gold.lemma() == found.lemma());
            }
        }
        Ok(scores)
    }
}

/// Maximal number of coarse tags.
const MAX_TAGS: usize = 248;

/// Largest number of different morphological features.
const MAX_PARTS: usize = 5000;

/// Returns the index of the highest value, the first of several.
fn highest<T: Copy + PartialOrd>(values: impl Iterator<Item = T>) -> usize {
    let mut best: Option<(usize, T)> = None;
    for (at, value) in values.enumerate() {
        if best.is_none_or(|(_, highest)| value > highest) {
            best = Some((at, value));
        }
    }
    best.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests;
