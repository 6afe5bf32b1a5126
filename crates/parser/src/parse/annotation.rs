//! The result for one sentence: heads, labels and tags, their probabilities, and how they are written.
//!
//! An [`Annotation`] is made from a [`Parse`], from a [`Mixture`](crate::Mixture) of distributions
//! (`annotation/build.rs`) or from the pieces of a long sentence (`long_sentences.rs`). CoNLL-U, JSON and
//! drawings are written from it.
//!
//! In CoNLL-U, MISC of each word has `HeadProb`, the probability of the head; `LabelProb`, the probability of the
//! label given the head; and `AltHead`, other heads as `head:label:probability`, separated by commas. The comment
//! `# tutte_logprob` is the log-probability of heads and labels together, and `# tutte_entropy` the entropy of the
//! distribution, both in nats. For a sentence parsed in pieces they are sums over the pieces, and `# tutte_pieces`
//! is the number of pieces. Earlier annotations are replaced. DEPS is cleared unless
//! [`keeps_deps`](Annotation::keeps_deps) is set: an enhanced graph belongs to the tree that was there before.

mod build;

use std::borrow::Cow;

use tutte_treebank::draw::ArcProbability;
use tutte_treebank::{AUDITED, Format, PROBABILITIES, Sentence, Token};
use tutte_trees::ArcMatrix;

pub(crate) use self::build::{has_tree, reported_head_probs};
use crate::text::TagProbabilities;
use crate::{Alternative, Error, Parse, Repair};

/// Prefix of all comments that are written here.
const PREFIX: &str = "tutte_";

/// The comment that says which part of a long input sentence this is. It is about the words, so it stays.
const SPLIT: &str = "tutte_split";

/// Level of detail of an [`Annotation`]. Each level includes the ones before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Heads and labels.
    Tree,
    /// Log-probability of the tree and entropy of the distribution, as comments.
    Sentence,
    /// Probabilities and alternatives of each word, in MISC.
    #[default]
    Words,
}

/// Content of an [`Annotation`].
///
/// ```
/// use tutte::{AnnotationOptions, Detail};
///
/// let options = AnnotationOptions::default().with_alternatives_above(0.01);
/// assert_eq!(options.detail, Detail::Words);
/// assert!(Detail::Tree < Detail::Sentence && Detail::Sentence < Detail::Words);
/// assert_eq!(AnnotationOptions::tree().detail, Detail::Tree);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnnotationOptions {
    /// Level of detail about the tree.
    pub detail: Detail,
    /// Other heads and other UPOS are listed if they are more probable than this; only with [`Detail::Words`].
    pub alternatives_above: f64,
    /// Heads less probable than this are left open, unless constraints require them.
    pub open_below: f64,
    /// Adds the marginals of all arcs.
    pub marginals: bool,
}

impl Default for AnnotationOptions {
    /// Probabilities of all words, alternatives above 0.05, no open heads.
    fn default() -> Self {
        Self {
            detail: Detail::default(),
            alternatives_above: 0.05,
            open_below: 0.0,
            marginals: false,
        }
    }
}

tutte_linear::setters! {
    AnnotationOptions {
        with_detail => detail: Detail,
        with_alternatives_above => alternatives_above: f64,
        with_open_below => open_below: f64,
        with_marginals => marginals: bool,
    }
}

impl AnnotationOptions {
    /// Heads and labels only.
    pub fn tree() -> Self {
        Self { detail: Detail::Tree, ..Self::default() }
    }
}

/// The result for one sentence: a tree, and as much about its probability as was asked for.
///
/// ```
/// # use tutte::{TrainingOptions, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 1] =
/// #     ["1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n".parse()?];
/// # let options = TrainingOptions::plain().with_passes(1).with_bits(12).with_label_bits(8);
/// # let model = train(&treebank, &options, &mut ())?;
/// use tutte::{AnnotationOptions, Mixture};
/// use tutte_trees::Constraints;
///
/// let mut sentence = treebank[0].clone(); // "Tea"
/// let constraints = Constraints::new();
/// let analysis = Parser::new(&model).analyse(&sentence, &constraints)?;
/// let mixture = Mixture::from(&analysis.distribution);
/// let annotation =
///     mixture.annotation(&analysis.parse, &constraints, &AnnotationOptions::default())?;
/// assert_eq!(annotation.words[0].head, Some(0));
///
/// annotation.write(&mut sentence)?;
/// let misc = "SpaceAfter=No|HeadProb=1.0000|LabelProb=1.0000";
/// assert_eq!(sentence.word(1).map(|word| word.misc()), Some(misc));
/// assert_eq!(sentence.comment("tutte_logprob"), Some("0.0000"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation<'a> {
    /// Head and label of each word, their probabilities, and those of its tags.
    pub words: Vec<AnnotatedWord<'a>>,
    /// Level of detail that [`write`](Self::write) writes.
    pub detail: Detail,
    /// Log-probability of heads and labels together, in nats, from [`Detail::Sentence`] on. Over the pieces of a
    /// long sentence, the sum.
    pub log_prob: Option<f64>,
    /// Entropy of the distribution, in nats, from [`Detail::Sentence`] on. Over the pieces of a long sentence,
    /// the sum.
    pub entropy: Option<f64>,
    /// Name of the calibration of the head probabilities, if they are not those of the distribution.
    pub calibration: Option<&'static str>,
    /// Number of pieces the sentence was parsed in: 1 unless it is long.
    pub pieces: usize,
    /// Effect of limits of labels on the tree.
    pub repair: Repair,
    /// Number of this tree among several trees of the sentence.
    pub listed: Option<Listed>,
    /// Probabilities of all arcs, if they were asked for.
    pub marginals: Option<ArcMatrix>,
    /// The heads form a tree of the tree set. Heads that were left open because they are improbable count, too.
    pub is_tree: bool,
    /// [`write_tree`](Self::write_tree) leaves enhanced dependencies, of an earlier tree, in DEPS.
    pub keeps_deps: bool,
}

/// A word of an [`Annotation`].
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotatedWord<'a> {
    /// The head, 0 for the root; `None` if it is left open.
    pub head: Option<usize>,
    /// The label; `_` if the head is open or the model has no labels.
    pub label: Cow<'a, str>,
    /// Probability of the head, as it is reported; `None` if the head is open.
    ///
    /// Some words join a piece of a long sentence to the first piece. For these it is the probability that the word is
    /// the root word of its piece.
    pub head_prob: Option<f64>,
    /// Probability of the label given the head; `None` without label.
    pub label_prob: Option<f64>,
    /// Other heads, the most probable first.
    pub alternatives: Vec<Alternative<'a>>,
    /// Rank of the head among all heads, 1 for the most probable. Only for trees that sentences already have.
    pub head_rank: Option<usize>,
    /// Probabilities of the word's tags, added by [`Annotator::add_tag_probabilities`]; `None` for tags that the
    /// model did not choose. MISC does not list them.
    ///
    /// [`Annotator::add_tag_probabilities`]: crate::Annotator::add_tag_probabilities
    pub tag: Option<TagProbabilities<'a>>,
}

/// Place of a tree in a list of trees of the same sentence, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// By decreasing probability.
    Rank(usize),
    /// In the order of sampling.
    Sample(usize),
}

impl<'a> Annotation<'a> {
    /// Makes the annotation of a parse, with labels from the names of a model.
    pub(crate) fn from_parse(parse: &Parse, names: &'a [String]) -> Self {
        let Parse { tree, labels, head_probs, label_probs, pieces, repair } = parse;
        let word = |at: usize| {
            let label = names.get(labels[at]).map_or("_", String::as_str);
            AnnotatedWord {
                head: Some(tree.heads()[at]),
                label: Cow::Borrowed(label),
                head_prob: Some(head_probs[at]),
                label_prob: (label != "_").then_some(label_probs[at]),
                ..AnnotatedWord::open()
            }
        };
        Self {
            pieces: *pieces,
            repair: *repair,
            ..Self::of_words((0..labels.len()).map(word).collect())
        }
    }

    /// Makes an annotation that consists of a tree.
    pub(crate) fn of_words(words: Vec<AnnotatedWord<'a>>) -> Self {
        Self {
            words,
            detail: Detail::Tree,
            log_prob: None,
            entropy: None,
            calibration: None,
            pieces: 1,
            repair: Repair::None,
            listed: None,
            marginals: None,
            is_tree: true,
            keeps_deps: false,
        }
    }

    /// Returns the number of heads that are left open.
    pub fn open_heads(&self) -> usize {
        self.words.iter().filter(|word| word.head.is_none()).count()
    }

    /// Writes everything into a sentence: heads, labels and, as far as [`detail`](Self::detail) says, comments and
    /// MISC. Removes what earlier annotations wrote.
    ///
    /// # Errors If the sentence has another length or a label cannot be written. Also if probabilities are to be
    /// written as CoNLL-X, which cannot store them.
    pub fn write(&self, sentence: &mut Sentence) -> Result<(), Error> {
        self.write_tree(sentence)?;
        if self.detail == Detail::Tree { Ok(()) } else { self.write_probabilities(sentence) }
    }

    /// Writes heads and labels into a sentence, and the number of pieces if there are several. Removes what earlier
    /// annotations wrote, and the enhanced dependencies of the earlier tree. Labels of a model without labels become
    /// `_`: the old label belonged to another arc.
    ///
    /// # Errors
    /// If the sentence has another length, or a label cannot be written.
    pub fn write_tree(&self, sentence: &mut Sentence) -> Result<(), Error> {
        let heads: Vec<Option<usize>> = self.words.iter().map(|word| word.head).collect();
        let labels: Vec<&str> = self.words.iter().map(|word| word.label.as_ref()).collect();
        sentence.set_arcs(&heads, &labels, self.keeps_deps)?;
        Self::clear(sentence)?;
        if self.pieces > 1 && sentence.format() == Format::ConllU {
            let (key, pieces) = self.pieces_comment();
            sentence.set_comment(&key, Some(&pieces))?;
        }
        Ok(())
    }

    /// Writes comments and MISC into a sentence that has these heads and labels.
    ///
    /// # Errors
    /// If the sentence has another length, or is CoNLL-X, which has neither comments nor MISC.
    pub fn write_probabilities(&self, sentence: &mut Sentence) -> Result<(), Error> {
        if self.detail == Detail::Words {
            let entries: Vec<_> = self.words.iter().map(AnnotatedWord::misc).collect();
            sentence.replace_misc(&PROBABILITIES, &entries)?;
        }
        replace_comments(sentence, self.comments())
    }

    /// Removes what an annotation or an audit wrote about the heads of a sentence.
    ///
    /// # Errors
    /// None for a sentence that was read.
    pub fn clear(sentence: &mut Sentence) -> Result<(), Error> {
        if sentence.format() != Format::ConllU {
            return Ok(());
        }
        let is_key = |key: &&str| PROBABILITIES.contains(key) || AUDITED.contains(key);
        // Most words have no other entries, and a look at each costs less than a search for every key.
        let is_plain = |misc: &str| misc == "_" || misc == "SpaceAfter=No";
        let is_annotated = |word: Token<'_>| {
            !is_plain(word.misc()) && word.misc_entries().any(|(key, _)| is_key(&key))
        };
        if sentence.words().any(is_annotated) {
            let keys: Vec<&str> = PROBABILITIES.into_iter().chain(AUDITED).collect();
            sentence.replace_misc(&keys, &vec![Vec::new(); sentence.len()])?;
        }
        let is_ours = |comment: &str| comment.trim_start_matches('#').trim().starts_with(PREFIX);
        if sentence.comments().any(is_ours) {
            replace_comments(sentence, Vec::new())?;
        }
        Ok(())
    }

    /// Returns the comments, in the order in which they are written.
    fn comments(&self) -> Vec<(String, String)> {
        let comment = |key: &str, value: String| (format!("{PREFIX}{key}"), value);
        let mut comments = Vec::new();
        comments.extend(self.log_prob.map(|log_prob| comment("logprob", nats(log_prob))));
        comments.extend(self.entropy.map(|entropy| comment("entropy", nats(entropy))));
        if let Some(listed) = self.listed {
            comments.push(comment(listed.key(), listed.number().to_string()));
            let prob = self.log_prob.map(f64::exp);
            comments.extend(prob.map(|prob| comment("prob", format!("{prob:.4}"))));
        }
        comments.extend(self.calibration.map(|name| comment("calibration", name.to_owned())));
        if self.pieces > 1 {
            comments.push(self.pieces_comment());
        }
        comments
    }

    fn pieces_comment(&self) -> (String, String) {
        (format!("{PREFIX}pieces"), self.pieces.to_string())
    }
}

impl AnnotatedWord<'_> {
    /// Makes a word without head.
    pub(crate) fn open() -> Self {
        Self {
            head: None,
            label: Cow::Borrowed("_"),
            head_prob: None,
            label_prob: None,
            alternatives: Vec::new(),
            head_rank: None,
            tag: None,
        }
    }

    /// Returns the label, if there is one.
    pub fn label_name(&self) -> Option<&str> {
        Some(self.label.as_ref()).filter(|label| *label != "_")
    }

    /// Returns the probability of the arc, for drawings, with four digits as in MISC.
    pub fn arc_probability(&self) -> Option<ArcProbability> {
        let four_digits = |probability| f64::from(ten_thousandths(probability)) / 1e4;
        let head = self.head_prob.map(four_digits)?;
        Some(ArcProbability { head, label: self.label_prob.map(four_digits) })
    }

    /// Returns the entries of MISC.
    fn misc(&self) -> Vec<(&'static str, String)> {
        let [head_prob, label_prob, alternatives, head_rank] = PROBABILITIES;
        let mut entries = Vec::new();
        entries.extend(self.head_prob.map(|prob| (head_prob, four_digits(prob))));
        entries.extend(self.label_prob.map(|prob| (label_prob, four_digits(prob))));
        entries.extend(Alternative::list(&self.alternatives).map(|list| (alternatives, list)));
        entries.extend(self.head_rank.map(|rank| (head_rank, rank.to_string())));
        entries
    }
}

impl Listed {
    /// Returns the place, from 1.
    pub fn number(self) -> usize {
        match self {
            Listed::Rank(number) | Listed::Sample(number) => number,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Listed::Rank(_) => "rank",
            Listed::Sample(_) => "sample",
        }
    }
}

impl Alternative<'_> {
    /// Lists alternatives as an entry of MISC does, `4:nmod:0.3801,1:obl:0.0610`; `None` if there are none.
    pub fn list(alternatives: &[Self]) -> Option<String> {
        let entry = |other: &Self| {
            // A bar would end the entry. UD escapes it this way.
            let label = other.label.replace('|', "\\p");
            format!("{}:{label}:{}", other.head, four_digits(other.probability))
        };
        let entries: Vec<String> = alternatives.iter().map(entry).collect();
        (!entries.is_empty()).then(|| entries.join(","))
    }
}

/// Writes comments in the place of those of an earlier annotation.
fn replace_comments(
    sentence: &mut Sentence,
    mut comments: Vec<(String, String)>,
) -> Result<(), Error> {
    if let Some(part) = sentence.comment(SPLIT) {
        comments.insert(0, (SPLIT.to_owned(), part.to_owned()));
    }
    let comments: Vec<_> = comments.iter().map(|(key, value)| (key.as_str(), value)).collect();
    Ok(sentence.replace_comments(PREFIX, &comments)?)
}

/// Returns the nearest number of ten-thousandths.
fn ten_thousandths(probability: f64) -> u32 {
    (probability.clamp(0.0, 1.0) * 1e4).round() as u32
}

/// Formats a probability with four digits after the point. Every word has several, and general formatting of
/// numbers is much slower.
fn four_digits(probability: f64) -> String {
    let parts = ten_thousandths(probability);
    let digit = |power: u32| char::from(b'0' + (parts / power % 10) as u8);
    [digit(10_000), '.', digit(1_000), digit(100), digit(10), digit(1)].iter().collect()
}

/// Formats nats with four digits after the point, and never as `-0.0000`.
fn nats(nats: f64) -> String {
    let text = format!("{nats:.4}");
    if text == "-0.0000" { "0.0000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_have_four_digits() {
        for parts in 0..=100_000 {
            // Never halfway between two results, where the direction of rounding does not matter.
            let p = (f64::from(parts) + 0.2) / 100_000.2;
            assert_eq!(four_digits(p), format!("{p:.4}"));
            let shown = f64::from(ten_thousandths(p)) / 1e4;
            assert_eq!(Ok(shown), four_digits(p).parse());
        }
        let out_of_range = [-1e-9, 1.0 + 1e-9, f64::NAN].map(four_digits);
        assert_eq!(out_of_range, ["0.0000", "1.0000", "0.0000"]);
    }
}
