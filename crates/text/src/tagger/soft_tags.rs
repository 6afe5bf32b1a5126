//! Probabilities of tags that a teacher gives to words, in place of one tag.
//!
//! They are stored in MISC, as `TeacherTags=UPOS:XPOS:FEATS:PROBABILITY,…`, the most probable first:
//!
//! ```text
//! 2  watch  watch  NOUN  NN  Number=Sing  …  TeacherTags=NOUN:NN:Number=Sing:0.8671,VERB:VBP:_:0.1279
//! ```
//!
//! A word without the entry has the tags of its columns with certainty. So files are small, and a treebank is the case
//! of a certain teacher. The probability is that of the three tags together:
//!
//! ```text
//! P(t, b) = P(t) · P(b | t)        t: the UPOS, b: XPOS and FEATS
//! ```
//!
//! P(t) is a marginal; P(b | t) is given the best UPOS of the other words. Improbable tags are left out. When entries
//! are read, the probabilities of each word are scaled to a sum of 1. In names, `%`, `,`, `:`, `|` and spaces are
//! written as `%25`, `%2C`, `%3A`, `%7C` and `%20`.

use std::borrow::Cow;

use tutte_linear::Weights;
use tutte_treebank::Sentence;

use super::{Tagger, TaggerMemory, highest};
use crate::Error;

/// Key of probabilities of tags in MISC.
pub const TEACHER_TAGS: &str = "TeacherTags";

/// A word whose best tags are at least this probable has no entry.
const CERTAIN: f64 = 0.99;

/// A tag or a bundle, as an index, and the probability that a student learns for it.
pub(super) type Target = (usize, f64);

/// Tags of a word, and their probability.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftTag<'a> {
    /// The coarse tag.
    pub upos: Cow<'a, str>,
    /// The fine tag.
    pub xpos: Cow<'a, str>,
    /// The morphological features.
    pub feats: Cow<'a, str>,
    /// Probability of the three together.
    pub probability: f64,
}

impl<'a> SoftTag<'a> {
    /// Makes the tags of a word from the probabilities of its UPOS, and of XPOS and FEATS given each of them. Returns
    /// the most probable first.
    ///
    /// Keeps each UPOS that is at least as probable as `least`, and the most probable one. Each of these keeps its
    /// pairs of XPOS and FEATS that together with it are at least as probable as `least`, and the most probable pair.
    ///
    /// ```
    /// use tutte_text::SoftTag;
    ///
    /// let upos = [("NOUN", 0.7), ("VERB", 0.295), ("X", 0.005)];
    /// let tags = SoftTag::list(&upos, 0.01, |upos| match upos {
    ///     "NOUN" => vec![(("NN", "_"), 0.995), (("NNS", "_"), 0.005)],
    ///     _ => vec![(("VB", "_"), 1.0)],
    /// });
    /// let found: Vec<_> = tags.iter().map(|tag| (&*tag.xpos, tag.probability)).collect();
    /// assert_eq!(found, [("NN", 0.7 * 0.995), ("VB", 0.295)]);
    /// ```
    pub fn list(
        upos: &[(&'a str, f64)],
        least: f64,
        mut pairs: impl FnMut(&'a str) -> Vec<((&'a str, &'a str), f64)>,
    ) -> Vec<Self> {
        let best = highest(upos.iter().map(|(_, probability)| *probability));
        let is_kept = |number: usize| number == best || upos[number].1 >= least;
        let mut tags = Vec::new();
        for (_, &(upos, probability)) in upos.iter().enumerate().filter(|(it, _)| is_kept(*it)) {
            let pairs = pairs(upos);
            let best = highest(pairs.iter().map(|(_, share)| *share));
            for (number, ((xpos, feats), share)) in pairs.into_iter().enumerate() {
                let joint = probability * share;
                if joint >= least || number == best {
                    let [upos, xpos, feats] = [upos, xpos, feats].map(Cow::Borrowed);
                    tags.push(SoftTag { upos, xpos, feats, probability: joint });
                }
            }
        }
        // Of equals, the first.
        tags.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        tags
    }

    /// Reads one item of an entry.
    fn parse(item: &'a str) -> Option<Self> {
        let mut columns = item.split(':');
        let mut name = || columns.next().filter(|name| !name.is_empty()).map(unescaped);
        let (upos, xpos, feats) = (name()?, name()?, name()?);
        let probability = columns.next()?.parse().ok().filter(|it| (0.0..=1.0).contains(it))?;
        columns.next().is_none().then_some(Self { upos, xpos, feats, probability })
    }
}

/// Writes the tags of each word into MISC of a sentence, unless the first of them is certain. Earlier entries are
/// removed.
///
/// ```
/// use tutte_text::{SoftTag, read_soft_tags, write_soft_tags};
/// use tutte_treebank::Sentence;
///
/// let mut sentence: Sentence = "1\tWatch\twatch\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n".parse()?;
/// let pair = |upos| vec![(if upos == "VERB" { ("VB", "_") } else { ("NN", "Number=Sing") }, 1.0)];
/// let tags = SoftTag::list(&[("VERB", 0.75), ("NOUN", 0.25)], 0.01, pair);
/// write_soft_tags(&mut sentence, &[tags.clone()])?;
/// let misc = "SpaceAfter=No|TeacherTags=VERB:VB:_:0.7500,NOUN:NN:Number=Sing:0.2500";
/// assert_eq!(sentence.word(1).unwrap().misc(), misc);
/// assert_eq!(read_soft_tags(&sentence)?, [tags]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the sentence has another length, or is CoNLL-X, which has no MISC.
pub fn write_soft_tags(sentence: &mut Sentence, words: &[Vec<SoftTag<'_>>]) -> Result<(), Error> {
    let entry = |tags: &Vec<SoftTag<'_>>| {
        if tags.first().is_none_or(|best| best.probability >= CERTAIN) {
            return Vec::new();
        }
        let item = |tag: &SoftTag<'_>| {
            let [upos, xpos, feats] = [&tag.upos, &tag.xpos, &tag.feats].map(|name| escaped(name));
            format!("{upos}:{xpos}:{feats}:{:.4}", tag.probability)
        };
        let items: Vec<String> = tags.iter().map(item).collect();
        vec![(TEACHER_TAGS, items.join(","))]
    };
    let entries: Vec<_> = words.iter().map(entry).collect();
    Ok(sentence.replace_misc(&[TEACHER_TAGS], &entries)?)
}

/// Reads the tags of each word from MISC, scaled to a sum of 1. The list of a word without an entry is empty: its columns
/// are certain. So is the list of a word whose probabilities are all 0.
///
/// # Errors
/// [`Error::Setting`] for an entry that is not a list of `UPOS:XPOS:FEATS:PROBABILITY` with probabilities from 0 to 1.
pub fn read_soft_tags(sentence: &Sentence) -> Result<Vec<Vec<SoftTag<'_>>>, Error> {
    // Most sentences have none, so the text is searched first.
    if !sentence.as_str().contains(TEACHER_TAGS) {
        return Ok(vec![Vec::new(); sentence.len()]);
    }
    let mut words = Vec::with_capacity(sentence.len());
    for (number, word) in (1..).zip(sentence.words()) {
        let mut tags = Vec::new();
        for item in word.misc_entry(TEACHER_TAGS).into_iter().flat_map(|entry| entry.split(',')) {
            tags.push(SoftTag::parse(item).ok_or_else(|| {
                Error::Setting(format!(
                    "{}: word {number} has the tags {TEACHER_TAGS}={item}; write UPOS:XPOS:FEATS:PROBABILITY, with _ \
                     for a column without a tag, %3A for a colon in a tag, and a probability from 0 to 1",
                    sentence.place()
                ))
            })?);
        }
        let sum: f64 = tags.iter().map(|tag| tag.probability).sum();
        if sum <= 0.0 {
            tags.clear();
        }
        tags.iter_mut().for_each(|tag| tag.probability /= sum);
        words.push(tags);
    }
    Ok(words)
}

impl<W: Weights> Tagger<W> {
    /// Returns the probable tags of each word with their probabilities, the most probable first; see [`SoftTag::list`]
    /// for those that are left out.
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
    /// let words = tagger.soft_tags(&treebank[0], 0.0, &mut TaggerMemory::default());
    /// assert!(words[1].iter().any(|tag| tag.upos == "VERB" && tag.xpos == "VBP"));
    /// let sum: f64 = words[1].iter().map(|tag| tag.probability).sum();
    /// assert!((sum - 1.0).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn soft_tags(
        &self,
        sentence: &Sentence,
        least: f64,
        memory: &mut TaggerMemory,
    ) -> Vec<Vec<SoftTag<'_>>> {
        self.score(sentence, memory);
        self.chain.marginals(&memory.scores, &mut memory.chain, |_, _| {});
        let best = self.most_probable_upos(memory).upos;
        memory.columns.set_all_upos(&best);
        let tags = self.upos.len();
        let word = |(word, &best): (usize, &usize)| {
            let marginals = memory.chain.marginals[word * tags..][..tags].to_vec();
            let upos: Vec<(&str, f64)> =
                self.upos.iter().map(String::as_str).zip(marginals).collect();
            let list = SoftTag::list(&upos, least, |name| {
                let Some(tag) = self.upos.iter().position(|upos| upos == name) else {
                    return Vec::new();
                };
                // The columns have the best tags of the other words, and this one.
                memory.columns.set_upos(word, tag);
                let bundles = self.fine.bundles().of_tag(tag).iter();
                let pairs = bundles.map(|bundle| (bundle.xpos.as_str(), bundle.feats.as_str()));
                let probs = self.bundle_probs(word, tag, memory).iter();
                pairs.zip(probs.map(|prob| f64::from(*prob))).collect()
            });
            memory.columns.set_upos(word, best);
            list
        };
        best.iter().enumerate().map(word).collect()
    }
}

/// Characters with a meaning in entries, and what is written in their place. The first is that of all others.
const ESCAPES: [(char, &str); 5] =
    [('%', "%25"), (',', "%2C"), (':', "%3A"), ('|', "%7C"), (' ', "%20")];

fn escaped(name: &str) -> String {
    ESCAPES.iter().fold(name.to_owned(), |name, (from, to)| name.replace(*from, to))
}

fn unescaped(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return Cow::Borrowed(name);
    }
    let back =
        |name: String, (to, from): &(char, &str)| name.replace(from, to.encode_utf8(&mut [0; 4]));
    Cow::Owned(ESCAPES.iter().rev().fold(name.to_owned(), back))
}

#[cfg(all(test, feature = "train"))]
mod tests;
