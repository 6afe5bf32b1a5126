//! The metrics of the CoNLL 2018 shared task, and of its successors for enhanced graphs.
//!
//! Let g be the number of words of the gold standard and s that of the system. Precision is
//! correct/s, recall is correct/g, F1 is their harmonic mean, and aligned accuracy is
//! correct/aligned. The table defines which aligned words are correct.
//!
//! | metric    | counts      | correct if equal                                                  |
//! |-----------|-------------|-------------------------------------------------------------------|
//! | Tokens    | tokens      | span of characters                                                |
//! | Sentences | sentences   | span of characters                                                |
//! | Words     | words       | (every aligned word is correct)                                   |
//! | UPOS      | words       | universal part of speech                                          |
//! | XPOS      | words       | language-specific tag                                             |
//! | UFeats    | words       | the [universal](UNIVERSAL_FEATURES) features                      |
//! | AllTags   | words       | UPOS, XPOS and UFeats                                             |
//! | Lemmas    | words       | lemma; a gold lemma `_` equals any                                |
//! | UAS       | words       | head                                                              |
//! | LAS       | words       | head and label                                                    |
//! | CLAS      | content     | head and label                                                    |
//! | MLAS      | content     | head, label, UPOS, UFeats; the same functional words depend on it, with the same label, UPOS and UFeats |
//! | BLEX      | content     | head, label and lemma                                             |
//! | ELAS      | enhanced arcs | head and path of labels (see [`enhanced`])                      |
//! | EULAS     | enhanced arcs | head and path of labels without subtypes                        |
//!
//! Content words have a label of [`CONTENT_RELATIONS`], functional words one of
//! [`FUNCTIONAL_RELATIONS`]; punctuation is neither. The gold standard decides which aligned words
//! are content words. Heads are equal if they are aligned with each other or both are the root.
//!
//! Cost: linear in the words.
//!
//! - D. Zeman, J. Hajič, M. Popel, M. Potthast, M. Straka, F. Ginter, J. Nivre, S. Petrov (2018).
//!   CoNLL 2018 shared task: multilingual parsing from raw text to universal dependencies.
//! - J. Nivre, C.-T. Fang (2017). Universal dependency evaluation (for CLAS).

use std::fmt;
use std::iter;

use super::enhanced;
use super::{Alignment, CompleteMatch, Pair, Score, Subtypes, WordRef};
use crate::{Error, Sentence, Token};

/// Labels of content words.
pub const CONTENT_RELATIONS: [&str; 29] = [
    "acl",
    "advcl",
    "advmod",
    "amod",
    "appos",
    "ccomp",
    "compound",
    "conj",
    "csubj",
    "dep",
    "discourse",
    "dislocated",
    "expl",
    "fixed",
    "flat",
    "goeswith",
    "iobj",
    "list",
    "nmod",
    "nsubj",
    "nummod",
    "obj",
    "obl",
    "orphan",
    "parataxis",
    "reparandum",
    "root",
    "vocative",
    "xcomp",
];

/// Labels of function words.
pub const FUNCTIONAL_RELATIONS: [&str; 7] = ["aux", "case", "cc", "clf", "cop", "det", "mark"];

/// The features that all languages share. UFeats compares only these.
pub const UNIVERSAL_FEATURES: [&str; 21] = [
    "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender",
    "Mood", "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex",
    "Tense", "VerbForm", "Voice",
];

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the table above says what they are")]
pub enum Metric {
    Tokens,
    Sentences,
    Words,
    Upos,
    Xpos,
    UFeats,
    AllTags,
    Lemmas,
    Uas,
    Las,
    Clas,
    Mlas,
    Blex,
    Elas,
    Eulas,
}

impl Metric {
    /// All metrics, in the order of the table.
    pub const ALL: [Metric; 15] = [
        Metric::Tokens,
        Metric::Sentences,
        Metric::Words,
        Metric::Upos,
        Metric::Xpos,
        Metric::UFeats,
        Metric::AllTags,
        Metric::Lemmas,
        Metric::Uas,
        Metric::Las,
        Metric::Clas,
        Metric::Mlas,
        Metric::Blex,
        Metric::Elas,
        Metric::Eulas,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Tokens => "Tokens",
            Metric::Sentences => "Sentences",
            Metric::Words => "Words",
            Metric::Upos => "UPOS",
            Metric::Xpos => "XPOS",
            Metric::UFeats => "UFeats",
            Metric::AllTags => "AllTags",
            Metric::Lemmas => "Lemmas",
            Metric::Uas => "UAS",
            Metric::Las => "LAS",
            Metric::Clas => "CLAS",
            Metric::Mlas => "MLAS",
            Metric::Blex => "BLEX",
            Metric::Elas => "ELAS",
            Metric::Eulas => "EULAS",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The scores of a system. `Display` writes the table that the evaluation of the shared task prints
/// in its verbose mode, to the last digit.
///
/// ```
/// use tutte_treebank::{Sentence, eval::{Alignment, Metric, Metrics}};
///
/// let gold = "\
/// 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// 2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_
///
/// ";
/// let gold: [Sentence; 1] = [gold.parse()?];
/// let system = [gold[0].as_str().replace("nsubj", "obj").parse()?];
/// let metrics = Metrics::new(&Alignment::new(&gold, &system)?)?;
/// assert_eq!(metrics.get(Metric::Uas).unwrap().f1(), 1.0);
/// assert_eq!(metrics.get(Metric::Las).unwrap().f1(), 0.5);
/// assert!(metrics.to_string().ends_with(
///     "BLEX       |     50.00 |     50.00 |     50.00 |     50.00\n"
/// ));
/// # Ok::<(), tutte_treebank::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    scores: Vec<(Metric, Score)>,
    complete: CompleteMatch,
}

impl Metrics {
    /// Computes all metrics. ELAS and EULAS are included if both sides have enhanced dependencies.
    ///
    /// # Errors
    /// The errors of [`enhanced::scores`].
    pub fn new(alignment: &Alignment<'_>) -> Result<Self, Error> {
        let mut metrics = Self::basic(alignment);
        if let Some((elas, eulas)) = enhanced::scores(alignment)? {
            metrics.scores.extend([(Metric::Elas, elas), (Metric::Eulas, eulas)]);
        }
        Ok(metrics)
    }

    /// Computes all metrics except ELAS and EULAS. Does not read DEPS, which may be malformed.
    pub fn basic(alignment: &Alignment<'_>) -> Self {
        let span_score = |overlap: super::Overlap| Score {
            gold: overlap.gold,
            system: overlap.system,
            correct: overlap.common,
            aligned: None,
        };
        let mut scores = vec![
            (Metric::Tokens, span_score(alignment.tokens())),
            (Metric::Sentences, span_score(alignment.sentences())),
            (Metric::Words, span_score(alignment.words())),
        ];
        scores.extend(word_scores(alignment));
        Metrics { scores, complete: complete_match(alignment) }
    }

    /// Returns a score, if it was computed.
    pub fn get(&self, metric: Metric) -> Option<Score> {
        self.iter().find(|(found, _)| *found == metric).map(|(_, score)| score)
    }

    /// Returns all scores, in the order of the table.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Metric, Score)> + '_ {
        self.scores.iter().copied()
    }

    /// Returns the table of counts.
    pub fn counts(&self) -> Counts<'_> {
        Counts(self)
    }

    /// Counts of sentences that are completely correct. The system must also have found the span
    /// and the words of the sentence.
    pub fn complete_match(&self) -> CompleteMatch {
        self.complete
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Metric     | Precision |    Recall |  F1 Score | AligndAcc")?;
        writeln!(f, "{RULE}")?;
        for (metric, score) in self.iter() {
            let [precision, recall, f1] =
                [score.precision(), score.recall(), score.f1()].map(|share| 100.0 * share);
            write!(f, "{metric:11}|{precision:10.2} |{recall:10.2} |{f1:10.2} |")?;
            match score.aligned_accuracy() {
                Some(accuracy) => writeln!(f, "{:10.2}", 100.0 * accuracy)?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

const RULE: &str = "-----------+-----------+-----------+-----------+-----------";

/// The table of counts instead of percentages, as the evaluation of the shared task prints it.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a>(&'a Metrics);

impl fmt::Display for Counts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Metric     | Correct   |      Gold | Predicted | Aligned")?;
        writeln!(f, "{RULE}")?;
        for (metric, Score { gold, system, correct, aligned }) in self.0.iter() {
            let all = (metric == Metric::Words).then_some(correct);
            let aligned = aligned.filter(|&aligned| aligned > 0).or(all);
            let aligned = aligned.map(|aligned| aligned.to_string()).unwrap_or_default();
            writeln!(f, "{metric:11}|{correct:10} |{gold:10} |{system:10} |{aligned:>10}")?;
        }
        Ok(())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Metrics {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(metric, score)| (metric.name(), score)))
    }
}

/// Counts the gold sentences that the system analysed correctly as a whole.
pub(super) fn complete_match(alignment: &Alignment<'_>) -> CompleteMatch {
    let sentences = 0..alignment.gold().len();
    CompleteMatch {
        sentences: sentences.len(),
        unlabelled: sentences.clone().filter(|&s| alignment.unlabelled_match(s)).count(),
        labelled: sentences.filter(|&s| alignment.labelled_match(s)).count(),
    }
}

/// Computes the scores from UPOS to BLEX, in the order of the table.
fn word_scores(alignment: &Alignment<'_>) -> Vec<(Metric, Score)> {
    let words = alignment.words();
    let content = |sentences: &[Sentence]| {
        sentences.iter().flat_map(Sentence::words).filter(|&word| is_content(word)).count()
    };
    let all =
        Score { gold: words.gold, system: words.system, correct: 0, aligned: Some(words.common) };
    let mut content = Score {
        gold: content(alignment.gold()),
        system: content(alignment.system()),
        correct: 0,
        aligned: None,
    };

    let of_words = [
        Metric::Upos,
        Metric::Xpos,
        Metric::UFeats,
        Metric::AllTags,
        Metric::Lemmas,
        Metric::Uas,
        Metric::Las,
    ];
    let of_content = [Metric::Clas, Metric::Mlas, Metric::Blex];
    let mut correct = [0; 7];
    let mut correct_content = [0; 3];
    let mut aligned_content = 0;
    let children = FunctionalChildren::new(alignment);
    for pair in alignment.pairs() {
        let (Some(gold), Some(system)) =
            (alignment.gold_token(pair.gold), alignment.system_token(pair.system))
        else {
            continue;
        };
        let upos = gold.upos() == system.upos();
        let xpos = gold.xpos() == system.xpos();
        let feats = same_universal_features(gold.feats(), system.feats());
        let lemma = gold.lemma() == "_" || gold.lemma() == system.lemma();
        let labelled = pair.head_correct && pair.label_correct;
        let right = [upos, xpos, feats, upos && xpos && feats, lemma, pair.head_correct, labelled];
        for (count, right) in iter::zip(&mut correct, right) {
            *count += usize::from(right);
        }
        if is_content(gold) {
            aligned_content += 1;
            let morphology = || upos && feats && children.agree(alignment, pair);
            let right = [labelled, labelled && morphology(), labelled && lemma];
            for (count, right) in iter::zip(&mut correct_content, right) {
                *count += usize::from(right);
            }
        }
    }
    content.aligned = Some(aligned_content);
    let scores = iter::zip(of_words, correct).map(|(m, correct)| (m, Score { correct, ..all }));
    let of_content = iter::zip(of_content, correct_content)
        .map(|(m, correct)| (m, Score { correct, ..content }));
    scores.chain(of_content).collect()
}

/// The functional words that depend on each word.
struct FunctionalChildren {
    /// Sorted `(head, child)` of both sides.
    gold: Vec<(WordRef, WordRef)>,
    system: Vec<(WordRef, WordRef)>,
}

impl FunctionalChildren {
    fn new(alignment: &Alignment<'_>) -> Self {
        FunctionalChildren {
            gold: functional_arcs(alignment.gold()),
            system: functional_arcs(alignment.system()),
        }
    }

    /// True if the functional children of a pair are aligned in order, with equal labels, parts of
    /// speech and universal features.
    fn agree(&self, alignment: &Alignment<'_>, pair: &Pair) -> bool {
        let gold = children_of(&self.gold, pair.gold);
        let system = children_of(&self.system, pair.system);
        gold.len() == system.len()
            && iter::zip(gold, system).all(|(&(_, gold), &(_, system))| {
                alignment.gold_of(system) == Some(gold)
                    && alignment
                        .gold_token(gold)
                        .zip(alignment.system_token(system))
                        .is_some_and(|(g, s)| same_word(g, s, alignment.subtypes()))
            })
    }
}

fn same_word(gold: Token<'_>, system: Token<'_>, subtypes: Subtypes) -> bool {
    subtypes.compared(gold.deprel()) == subtypes.compared(system.deprel())
        && gold.upos() == system.upos()
        && same_universal_features(gold.feats(), system.feats())
}

/// Returns the arcs to functional words, sorted by head, then by child.
fn functional_arcs(sentences: &[Sentence]) -> Vec<(WordRef, WordRef)> {
    let mut arcs: Vec<_> = iter::zip(0.., sentences)
        .flat_map(|(sentence, words)| {
            let functional = words.words().filter(|&word| is_functional(word));
            functional.filter_map(move |word| {
                let at = |word| WordRef { sentence, word };
                let head = word.head().filter(|&head| head > 0)?;
                Some((at(head), at(word.id().word()?)))
            })
        })
        .collect();
    arcs.sort_unstable();
    arcs
}

fn children_of(arcs: &[(WordRef, WordRef)], head: WordRef) -> &[(WordRef, WordRef)] {
    let start = arcs.partition_point(|&(other, _)| other < head);
    let end = start + arcs[start..].partition_point(|&(other, _)| other == head);
    &arcs[start..end]
}

fn is_content(word: Token<'_>) -> bool {
    CONTENT_RELATIONS.binary_search(&Subtypes::Ignore.compared(word.deprel())).is_ok()
}

fn is_functional(word: Token<'_>) -> bool {
    FUNCTIONAL_RELATIONS.binary_search(&Subtypes::Ignore.compared(word.deprel())).is_ok()
}

/// True if the universal features are the same, in any order.
fn same_universal_features(gold: &str, system: &str) -> bool {
    let universal = |feats| {
        let mut universal: Vec<&str> = str::split(feats, '|')
            .filter(|feature: &&str| {
                let name = feature.split_once('=').map_or(*feature, |(name, _)| name);
                UNIVERSAL_FEATURES.binary_search(&name).is_ok()
            })
            .collect();
        universal.sort_unstable();
        universal
    };
    gold == system || universal(gold) == universal(system)
}
