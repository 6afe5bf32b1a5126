//! Active learning: selects the words or sentences to annotate next.
//!
//! The information that the head of word m gives about the tree is the entropy of that head. The mutual information of
//! the tree Y and the head is
//!
//! ```text
//! I(Y; head(m)) = H(head(m)) − H(head(m) | Y) = H(head(m)) = −Σ_h μ(h → m) log μ(h → m)
//! ```
//!
//! because a tree determines the head. So words are ranked by the entropy of their marginals, which costs nothing
//! beyond a parse. Sentences are ranked by the entropy of their trees per word to annotate (Settles & Craven 2008),
//! because a sentence is annotated word by word.
//!
//! The most uncertain words are often similar. A *diverse* selection is greedy: the next question is the one with the
//! largest H · v. Here v is the mean of 1 / (1 + times selected before) over the traits of the question: forms, tags,
//! and the two most probable heads. A question without a new trait is not asked. v never rises. So it is enough to keep
//! candidates in a priority queue and to update the first one until it stays first. The result is the same as that of
//! updating all candidates (Minoux 1978).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use tutte_linear::hash_text;
use tutte_treebank::Sentence;
use tutte_trees::Error;

use crate::LabelledDistribution;

/// The unit of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The head of a word.
    Word,
    /// The heads of all words of a sentence.
    Sentence,
}

/// Uncertainty of a model about a sentence.
#[derive(Clone, Debug, Default)]
pub struct SentenceUncertainty {
    /// Each word that a question may ask for: its number, and the entropy of its head.
    words: Vec<(u32, f64)>,
    /// Entropy of the labelled tree.
    tree: f64,
    /// Hashed traits of each of these words.
    traits: Vec<Vec<u64>>,
}

/// A question for an annotator.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Number of the sentence among those ranked, from 0.
    pub sentence: usize,
    /// The words whose heads are asked for, from 1.
    pub words: Vec<usize>,
    /// Entropy of the head, or of the tree per word asked for, in nats.
    pub entropy: f64,
}

impl SentenceUncertainty {
    /// Measures the uncertainty about the tree of a sentence. With `keep_heads`, words that have a head are not asked
    /// for; the distribution should then be conditional on these heads.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if the sentence has another length.
    pub fn new(
        sentence: &Sentence,
        distribution: &LabelledDistribution<'_>,
        keep_heads: bool,
    ) -> Result<Self, Error> {
        distribution.check_length(sentence.len())?;
        let mut uncertainty = Self { tree: distribution.entropy().max(0.0), ..Self::default() };
        for (number, word) in (1..).zip(sentence.words()) {
            if keep_heads && word.head().is_some() {
                continue;
            }
            let entropy = distribution.head_entropy(number)?.max(0.0);
            uncertainty.words.push((number as u32, entropy));
            uncertainty.traits.push(traits(sentence, number, distribution)?);
        }
        Ok(uncertainty)
    }

    /// Returns the mean entropy of the heads that a question may ask for; `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.words.iter().map(|(_, entropy)| entropy).sum();
        (!self.words.is_empty()).then(|| sum / self.words.len() as f64)
    }

    /// Returns the number of words that a question may ask for.
    pub fn words(&self) -> usize {
        self.words.len()
    }
}

/// Returns the best questions, at most `count`, best first.
///
/// ```
/// # use tutte::{TrainingOptions, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 2] = ["\
/// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
/// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
/// # ".parse()?, "1\tStop\tstop\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
/// # let options = TrainingOptions::plain().with_bits(14).with_label_bits(8).with_passes(2);
/// # let model = train(&treebank, &options, &mut ())?;
/// use tutte::active::{SentenceUncertainty, Unit, questions};
///
/// let mut parser = Parser::new(&model);
/// let mut pool = Vec::new();
/// for sentence in &treebank { // or text without annotation
///     pool.push(SentenceUncertainty::new(sentence, &parser.distribution(sentence)?, false)?);
/// }
/// for question in questions(&pool, Unit::Word, 2, false) {
///     println!("{}: {:?}, {:.2} nats", question.sentence, question.words, question.entropy);
/// }
/// // A sentence of one word has one tree.
/// assert!(questions(&pool, Unit::Word, 9, false).iter().all(|q| q.sentence == 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn questions(
    pool: &[SentenceUncertainty],
    unit: Unit,
    count: usize,
    diverse: bool,
) -> Vec<Question> {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (sentence, uncertainty) in pool.iter().enumerate() {
        match unit {
            Unit::Word => candidates.extend((0..uncertainty.words.len()).map(|at| Candidate {
                sentence,
                uncertainty,
                at: Some(at),
                entropy: uncertainty.words[at].1,
                value: uncertainty.words[at].1,
            })),
            Unit::Sentence => {
                let entropy = uncertainty.tree / uncertainty.words.len().max(1) as f64;
                candidates.push(Candidate {
                    sentence,
                    uncertainty,
                    at: None,
                    entropy,
                    value: entropy,
                });
            }
        }
    }
    // The answer to a question without entropy gives no information.
    candidates
        .retain(|candidate| candidate.entropy > 0.0 && !candidate.uncertainty.words.is_empty());
    let mut queue = BinaryHeap::from(candidates);
    let mut selected: HashMap<u64, u32> = HashMap::new();
    let mut questions = Vec::new();
    while questions.len() < count {
        let Some(mut first) = queue.pop() else { break };
        if diverse {
            let Some(novelty) = first.novelty(&selected) else { continue };
            let value = first.entropy * novelty;
            if value < first.value {
                first.value = value;
                queue.push(first);
                continue;
            }
            for &hash in first.traits() {
                *selected.entry(hash).or_default() += 1;
            }
        }
        questions.push(first.question());
    }
    questions
}

/// A possible question. Candidates are ordered by value; among equals, the first in the text is the greatest.
struct Candidate<'a> {
    sentence: usize,
    uncertainty: &'a SentenceUncertainty,
    /// Index of the word in `SentenceUncertainty::words`; `None` if all of them are asked for.
    at: Option<usize>,
    entropy: f64,
    /// H · v when it was last computed.
    value: f64,
}

impl<'a> Candidate<'a> {
    fn traits(&self) -> impl Iterator<Item = &'a u64> + use<'a> {
        let all = &self.uncertainty.traits;
        let own = self.at.map_or(&all[..], |at| &all[at..=at]);
        own.iter().flatten()
    }

    /// Returns v; `None` if every trait was selected before.
    fn novelty(&self, selected: &HashMap<u64, u32>) -> Option<f64> {
        let mut sum = 0.0;
        let mut count = 0;
        let mut is_new = false;
        for hash in self.traits() {
            let before = selected.get(hash).copied().unwrap_or(0);
            sum += 1.0 / f64::from(1 + before);
            count += 1;
            is_new |= before == 0;
        }
        is_new.then(|| sum / f64::from(count))
    }

    fn question(&self) -> Question {
        let words = &self.uncertainty.words;
        let own = self.at.map_or(&words[..], |at| &words[at..=at]);
        let words = own.iter().map(|(number, _)| *number as usize).collect();
        Question { sentence: self.sentence, words, entropy: self.entropy }
    }
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.value.total_cmp(&other.value);
        let place = |candidate: &Self| (candidate.sentence, candidate.at);
        by_value.then_with(|| place(other).cmp(&place(self)))
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate<'_> {}

/// Returns the hashed traits of a question about a word: the word, its neighbours, and its two most probable heads.
fn traits(
    sentence: &Sentence,
    word: usize,
    distribution: &LabelledDistribution<'_>,
) -> Result<Vec<u64>, Error> {
    let form = |at: usize| sentence.word(at).map_or("", |token| token.form());
    let tag = |at: usize| sentence.word(at).map_or("", |token| token.upos());
    let side = |head: usize| if head < word { "<" } else { ">" };
    let mut heads = distribution.alternatives(word, 2)?.into_iter().map(|other| other.head);
    let first = heads.next().unwrap_or(0);
    let second = heads.next().unwrap_or(0);
    let before = word.saturating_sub(1);
    let texts = [
        ["form", form(word), tag(word), "", ""],
        ["around", form(before), form(word), form(word + 1), ""],
        ["first", form(word), form(first), side(first), tag(first)],
        ["second", form(word), form(second), side(second), tag(second)],
        ["between", tag(word), tag(first), tag(second), side(first)],
    ];
    Ok(texts.iter().map(|text| hash_text(&text.join("\t"), 0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::train::tests::{sentence, treebank};
    use crate::{Parser, TrainingOptions, train};

    fn pool_of(sentences: &[Sentence]) -> Vec<SentenceUncertainty> {
        let options =
            TrainingOptions { bits: 14, label_bits: 8, passes: 1, ..TrainingOptions::plain() };
        let model = train(treebank(), &options, &mut ()).unwrap();
        let mut parser = Parser::new(&model);
        let uncertainty = |sentence: &Sentence| {
            SentenceUncertainty::new(sentence, &parser.distribution(sentence).unwrap(), true)
                .unwrap()
        };
        sentences.iter().map(uncertainty).collect()
    }

    fn open(words: &str) -> Sentence {
        sentence(&words.split(' ').map(|word| format!("{word}/_/_")).collect::<Vec<_>>().join(" "))
    }

    fn text() -> Vec<Sentence> {
        let same = "the/DET cat/NOUN sees/VERB a/DET bird/NOUN";
        [same, "stop/VERB", same, same, "old/ADJ rain/NOUN fell/VERB there/ADV and/CCONJ then/ADV"]
            .map(open)
            .into()
    }

    #[test]
    fn words_are_asked_by_their_entropy() {
        let pool = pool_of(&text());
        let all = questions(&pool, Unit::Word, usize::MAX, false);
        assert_eq!(all.len(), 21, "one word has a certain head");
        assert!(all.is_sorted_by(|a, b| a.entropy >= b.entropy));
        assert_eq!(questions(&pool, Unit::Word, 3, false), all[..3]);
        for question in &all {
            assert_ne!(question.sentence, 1, "a single word is the root word");
        }
    }

    #[test]
    fn sentences_are_asked_by_entropy_for_each_word() {
        let pool = pool_of(&text());
        let all = questions(&pool, Unit::Sentence, usize::MAX, false);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|q| (q.entropy * q.words.len() as f64) > 0.0));
        assert_eq!(all.iter().map(|q| q.words.len()).max(), Some(6));
    }

    #[test]
    fn a_diverse_selection_does_not_repeat_itself() {
        let pool = pool_of(&text());
        for unit in [Unit::Word, Unit::Sentence] {
            let diverse = questions(&pool, unit, usize::MAX, true);
            assert!(!diverse.iter().any(|question| [2, 3].contains(&question.sentence)));
            let plain = questions(&pool, unit, 1, false);
            assert_eq!(diverse[..1], plain, "nothing was selected before the first");
        }
    }

    /// Compares the queue with updating all candidates every time.
    #[test]
    fn the_queue_selects_the_same_as_updating_all_candidates() {
        let pool = pool_of(
            &treebank()
                .iter()
                .map(|s| {
                    let mut open = s.clone();
                    open.set_heads(&vec![None; s.len()]).unwrap();
                    open
                })
                .collect::<Vec<_>>(),
        );
        let found = questions(&pool, Unit::Word, 40, true);
        let mut selected: HashMap<u64, u32> = HashMap::new();
        for question in found {
            let mut best: Option<(f64, usize, usize)> = None;
            for (number, uncertainty) in pool.iter().enumerate() {
                for at in 0..uncertainty.words.len() {
                    let traits = &uncertainty.traits[at];
                    let seen = |hash| selected.get(hash).copied().unwrap_or(0);
                    if traits.iter().all(|hash| seen(hash) > 0) {
                        continue;
                    }
                    let novelty: f64 = traits.iter().map(|h| 1.0 / f64::from(1 + seen(h))).sum();
                    let value = uncertainty.words[at].1 * (novelty / traits.len() as f64);
                    if best.is_none_or(|best| value > best.0) {
                        best = Some((value, number, at));
                    }
                }
            }
            let (_, number, at) = best.unwrap();
            assert_eq!(question.sentence, number);
            assert_eq!(question.words, [pool[number].words[at].0 as usize]);
            for &hash in &pool[number].traits[at] {
                *selected.entry(hash).or_default() += 1;
            }
        }
    }

    #[test]
    fn heads_that_are_kept_are_not_asked_for() {
        let mut partial = open("the/DET cat/NOUN sees/VERB a/DET bird/NOUN");
        partial.set_head(2, Some(3)).unwrap();
        partial.set_head(4, Some(5)).unwrap();
        let pool = pool_of(&[partial]);
        assert_eq!(pool[0].words(), 3);
        let asked = questions(&pool, Unit::Sentence, 1, false);
        assert_eq!(asked[0].words, [1, 3, 5]);
        let words = questions(&pool, Unit::Word, 9, false);
        assert!(words.iter().all(|question| ![2, 4].contains(&question.words[0])));
    }
}
