//! Which words, or sentences, should somebody annotate next?
//!
//! To be told the head of word m says as much about the tree as there was doubt about that head: the
//! mutual information of the tree Y and the head is
//!
//! ```text
//! I(Y; head(m)) = H(head(m)) − H(head(m) | Y) = H(head(m)) = −Σ_h μ(h → m) log μ(h → m)
//! ```
//!
//! since a tree leaves no doubt about a head. So words are ranked by the entropy of their marginals,
//! which costs nothing beside a parse; sentences by the entropy of their trees for each word that is to
//! be annotated (Settles & Craven 2008), for a sentence is told word by word.
//!
//! The words of which a model is least sure often look alike. A *diverse* choice is made one by one, the
//! next always the one with the largest H · v, where v is the mean of 1 / (1 + times chosen before) over
//! the traits of the question (forms, tags, and the heads it is between). What brings no trait that was
//! not chosen before is not asked at all. v only falls, so a queue whose first is looked at again until
//! it stays first finds the same as looking at all (Minoux 1978).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use tutte_treebank::Sentence;
use tutte_trees::Error;
use xxhash_rust::xxh3::xxh3_64;

use crate::LabelledDistribution;

/// What is asked about at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The head of a word.
    Word,
    /// The heads of all words of a sentence.
    Sentence,
}

/// What a model does not know about a sentence.
#[derive(Clone, Debug, Default)]
pub struct Doubt {
    /// For each word that may be asked about: its number, and the entropy of its head.
    words: Vec<(u32, f64)>,
    /// Of the labelled tree.
    tree: f64,
    /// Of each of these words, what it has in common with others.
    traits: Vec<Vec<u64>>,
}

/// Something to ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The number of the sentence among those ranked, from 0.
    pub sentence: usize,
    /// The words whose heads are asked for, numbered from 1.
    pub words: Vec<usize>,
    /// The doubt about it, in nats: the entropy of the head, or of the tree for each word asked.
    pub entropy: f64,
}

impl Doubt {
    /// Of a sentence and its trees. Words whose heads the sentence's column gives are not asked about
    /// if these are `kept`; then the distribution should be one given them.
    ///
    /// # Errors
    /// [`Error::DifferentLengths`] if it is a sentence of another length.
    pub fn new(
        sentence: &Sentence,
        distribution: &LabelledDistribution<'_>,
        kept: bool,
    ) -> Result<Self, Error> {
        distribution.check_length(sentence)?;
        let mut doubt = Self { tree: distribution.entropy().max(0.0), ..Self::default() };
        for (number, word) in (1..).zip(sentence.words()) {
            if kept && word.head().is_some() {
                continue;
            }
            let entropy = distribution.head_entropy(number)?.max(0.0);
            doubt.words.push((number as u32, entropy));
            doubt.traits.push(traits(sentence, number, distribution)?);
        }
        Ok(doubt)
    }

    /// The mean entropy of the heads that may be asked for; nothing if there are none.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.words.iter().map(|(_, entropy)| entropy).sum();
        (!self.words.is_empty()).then(|| sum / self.words.len() as f64)
    }

    /// How many words may be asked about.
    pub fn words(&self) -> usize {
        self.words.len()
    }
}

/// The questions to ask first, best first: at most `count`.
///
/// ```
/// # use tutte::{TrainingOptions, Parser, train};
/// # let treebank: [tutte_treebank::Sentence; 2] = ["\
/// # 1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
/// # 2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
/// # 3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_
/// # ".parse()?, "1\tStop\tstop\tVERB\t_\t_\t0\troot\t_\t_\n".parse()?];
/// # let options = TrainingOptions { bits: 14, label_bits: 8, passes: 2, ..TrainingOptions::plain() };
/// # let model = train(&treebank, &options, |_, _| {})?;
/// use tutte::ask::{Doubt, Unit, questions};
///
/// let mut parser = Parser::new(&model);
/// let mut doubts = Vec::new();
/// for sentence in &treebank { // or text that nobody has annotated
///     doubts.push(Doubt::new(sentence, &parser.distribution(sentence)?, false)?);
/// }
/// for question in questions(&doubts, Unit::Word, 2, false) {
///     println!("{}: {:?}, {:.2} nats", question.sentence, question.words, question.entropy);
/// }
/// // A sentence of one word leaves no doubt.
/// assert!(questions(&doubts, Unit::Word, 9, false).iter().all(|q| q.sentence == 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn questions(doubts: &[Doubt], unit: Unit, count: usize, diverse: bool) -> Vec<Question> {
    let mut waiting: Vec<Waiting<'_>> = Vec::new();
    for (sentence, doubt) in doubts.iter().enumerate() {
        match unit {
            Unit::Word => waiting.extend((0..doubt.words.len()).map(|at| Waiting {
                sentence,
                doubt,
                at: Some(at),
                entropy: doubt.words[at].1,
                worth: doubt.words[at].1,
            })),
            Unit::Sentence => {
                let entropy = doubt.tree / doubt.words.len().max(1) as f64;
                waiting.push(Waiting { sentence, doubt, at: None, entropy, worth: entropy });
            }
        }
    }
    // What is certain is not worth asking.
    waiting.retain(|waiting| waiting.entropy > 0.0 && !waiting.doubt.words.is_empty());
    let mut waiting = BinaryHeap::from(waiting);
    let mut chosen: HashMap<u64, u32> = HashMap::new();
    let mut questions = Vec::new();
    while questions.len() < count {
        let Some(mut first) = waiting.pop() else { break };
        if diverse {
            let Some(novelty) = first.novelty(&chosen) else { continue };
            let worth = first.entropy * novelty;
            if worth < first.worth {
                first.worth = worth;
                waiting.push(first);
                continue;
            }
            for &hash in first.traits() {
                *chosen.entry(hash).or_default() += 1;
            }
        }
        questions.push(first.question());
    }
    questions
}

/// A question that may be asked, ordered by what it is worth; of equals, the first in the text.
struct Waiting<'a> {
    sentence: usize,
    doubt: &'a Doubt,
    /// The place of the word among those of the doubt; nothing if all of them are asked for.
    at: Option<usize>,
    entropy: f64,
    /// H · v, or what it was when that was last computed.
    worth: f64,
}

impl<'a> Waiting<'a> {
    fn traits(&self) -> impl Iterator<Item = &'a u64> + use<'a> {
        let all = &self.doubt.traits;
        let own = self.at.map_or(&all[..], |at| &all[at..=at]);
        own.iter().flatten()
    }

    /// v; nothing if every trait was chosen before.
    fn novelty(&self, chosen: &HashMap<u64, u32>) -> Option<f64> {
        let (mut sum, mut count, mut new) = (0.0, 0, false);
        for hash in self.traits() {
            let before = chosen.get(hash).copied().unwrap_or(0);
            sum += 1.0 / f64::from(1 + before);
            count += 1;
            new |= before == 0;
        }
        new.then(|| sum / f64::from(count))
    }

    fn question(&self) -> Question {
        let words = &self.doubt.words;
        let own = self.at.map_or(&words[..], |at| &words[at..=at]);
        let words = own.iter().map(|(number, _)| *number as usize).collect();
        Question { sentence: self.sentence, words, entropy: self.entropy }
    }
}

impl Ord for Waiting<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_worth = self.worth.total_cmp(&other.worth);
        let place = |waiting: &Self| (waiting.sentence, waiting.at);
        by_worth.then_with(|| place(other).cmp(&place(self)))
    }
}

impl PartialOrd for Waiting<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting<'_> {}

/// What a question about a word has in common with others: the word between its neighbours, and the two
/// heads that it is most of all between.
fn traits(
    sentence: &Sentence,
    word: usize,
    distribution: &LabelledDistribution<'_>,
) -> Result<Vec<u64>, Error> {
    let form = |at: usize| sentence.word(at).map_or("", |token| token.form());
    let tag = |at: usize| sentence.word(at).map_or("", |token| token.upos());
    let side = |head: usize| if head < word { "<" } else { ">" };
    let mut heads = distribution.alternatives(word, 2)?.into_iter().map(|other| other.head);
    let (first, second) = (heads.next().unwrap_or(0), heads.next().unwrap_or(0));
    let before = word.saturating_sub(1);
    let texts = [
        ["form", form(word), tag(word), "", ""],
        ["around", form(before), form(word), form(word + 1), ""],
        ["first", form(word), form(first), side(first), tag(first)],
        ["second", form(word), form(second), side(second), tag(second)],
        ["between", tag(word), tag(first), tag(second), side(first)],
    ];
    Ok(texts.iter().map(|text| xxh3_64(text.join("\t").as_bytes())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::train::tests::{sentence, treebank};
    use crate::{Parser, TrainingOptions, train};

    fn doubts(sentences: &[Sentence]) -> Vec<Doubt> {
        let options =
            TrainingOptions { bits: 14, label_bits: 8, passes: 1, ..TrainingOptions::plain() };
        let model = train(&treebank(), &options, |_, _| {}).unwrap();
        let mut parser = Parser::new(&model);
        let doubt = |sentence: &Sentence| {
            Doubt::new(sentence, &parser.distribution(sentence).unwrap(), true).unwrap()
        };
        sentences.iter().map(doubt).collect()
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
        let doubts = doubts(&text());
        let all = questions(&doubts, Unit::Word, usize::MAX, false);
        assert_eq!(all.len(), 21, "there is one word of which there is no doubt");
        assert!(all.is_sorted_by(|a, b| a.entropy >= b.entropy));
        assert_eq!(questions(&doubts, Unit::Word, 3, false), all[..3]);
        for question in &all {
            assert_ne!(question.sentence, 1, "a single word is the root");
        }
    }

    #[test]
    fn sentences_are_asked_by_entropy_for_each_word() {
        let doubts = doubts(&text());
        let all = questions(&doubts, Unit::Sentence, usize::MAX, false);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|q| (q.entropy * q.words.len() as f64) > 0.0));
        assert_eq!(all.iter().map(|q| q.words.len()).max(), Some(6));
    }

    #[test]
    fn nobody_is_asked_the_same_twice() {
        let doubts = doubts(&text());
        for unit in [Unit::Word, Unit::Sentence] {
            let diverse = questions(&doubts, unit, usize::MAX, true);
            assert!(!diverse.iter().any(|question| [2, 3].contains(&question.sentence)));
            let plain = questions(&doubts, unit, 1, false);
            assert_eq!(diverse[..1], plain, "nothing was chosen before the first");
        }
    }

    /// The queue against looking at all of them every time.
    #[test]
    fn the_queue_finds_what_looking_at_all_finds() {
        let doubts = doubts(
            &treebank()
                .iter()
                .map(|s| {
                    let mut open = s.clone();
                    open.set_heads(&vec![None; s.len()]).unwrap();
                    open
                })
                .collect::<Vec<_>>(),
        );
        let found = questions(&doubts, Unit::Word, 40, true);
        let mut chosen: HashMap<u64, u32> = HashMap::new();
        for question in found {
            let mut best: Option<(f64, usize, usize)> = None;
            for (number, doubt) in doubts.iter().enumerate() {
                for at in 0..doubt.words.len() {
                    let traits = &doubt.traits[at];
                    let seen = |hash| chosen.get(hash).copied().unwrap_or(0);
                    if traits.iter().all(|hash| seen(hash) > 0) {
                        continue;
                    }
                    let novelty: f64 = traits.iter().map(|h| 1.0 / f64::from(1 + seen(h))).sum();
                    let worth = doubt.words[at].1 * (novelty / traits.len() as f64);
                    if best.is_none_or(|best| worth > best.0) {
                        best = Some((worth, number, at));
                    }
                }
            }
            let (_, number, at) = best.unwrap();
            assert_eq!(question.sentence, number);
            assert_eq!(question.words, [doubts[number].words[at].0 as usize]);
            for &hash in &doubts[number].traits[at] {
                *chosen.entry(hash).or_default() += 1;
            }
        }
    }

    #[test]
    fn what_is_known_is_not_asked() {
        let mut known = open("the/DET cat/NOUN sees/VERB a/DET bird/NOUN");
        known.set_head(2, Some(3)).unwrap();
        known.set_head(4, Some(5)).unwrap();
        let doubts = doubts(&[known]);
        assert_eq!(doubts[0].words(), 3);
        let asked = questions(&doubts, Unit::Sentence, 1, false);
        assert_eq!(asked[0].words, [1, 3, 5]);
        let words = questions(&doubts, Unit::Word, 9, false);
        assert!(words.iter().all(|question| ![2, 4].contains(&question.words[0])));
    }
}
