//! Division of a treebank into folds for cross-validation.
//!
//! Documents (`# newdoc`) are not split, because their sentences share names, topics and the habits of an annotator. A
//! file without documents is cut into runs of neighbouring sentences. Documents are assigned from the largest to the
//! smallest, each to the fold with the fewest words so far (Graham 1969: the largest fold has at most 4/3 of the words
//! of the best possible one). The cost is O(d log d) for d documents.
//!
//! **Leakage.** A training sentence with the same forms as a held-out sentence is left out of training: the model would
//! only repeat its annotation. Putting such sentences into one fold would also tie their documents together. Common
//! sentences like "Thank you" would tie almost all of them.

use std::collections::{BTreeSet, HashMap};

use tutte_treebank::Sentence;
use tutte_treebank::select::Choices;

use crate::Error;

/// Number of sentences in a run, if there are no documents.
const RUN: usize = 10;

/// The fold of each sentence of a treebank.
///
/// ```
/// use tutte::audit::Folds;
/// use tutte_treebank::Sentence;
///
/// let words = ["Tea", "Ah", "Tea", "Oh"];
/// let sentence = |form| format!("1\t{form}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n").parse::<Sentence>();
/// let treebank = words.map(sentence).into_iter().collect::<Result<Vec<_>, _>>()?;
/// let folds = Folds::deal(&treebank, 2, 1)?;
/// assert_eq!(folds.count(), 2);
/// for fold in 0..2 {
///     let held_out: Vec<_> = folds.held_out(fold).collect();
///     let learnt: Vec<_> = folds.learnt_for(fold).collect();
///     assert!(held_out.iter().all(|at| learnt.iter().all(|other| words[*at] != words[*other])));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// Fold of each sentence.
    fold: Vec<usize>,
    /// Group of each sentence. Sentences with the same words are in the same group.
    group: Vec<usize>,
    /// Sentences of each group.
    members: Vec<Vec<usize>>,
    count: usize,
    documents: Option<usize>,
}

impl Folds {
    /// Divides a treebank into folds; fewer if there are not enough sentences. The seed decides the order of documents
    /// of the same length.
    ///
    /// # Errors
    /// [`Error::Setting`] for fewer than two folds or fewer than two sentences.
    pub fn deal(treebank: &[Sentence], folds: usize, seed: u64) -> Result<Self, Error> {
        if folds < 2 {
            let why = format!("the number of folds is {folds}, but an audit needs at least two");
            return Err(Error::Setting(why));
        }
        if treebank.len() < 2 {
            let why = match treebank.len() {
                0 => "there are no sentences to audit",
                _ => "an audit trains on the other sentences, but there is a single sentence",
            };
            return Err(Error::Setting(why.to_owned()));
        }
        let documents = documents(treebank);
        let named = treebank.iter().any(|s| s.newdoc().is_some());
        let (count, units, documents) = match documents.len() {
            // Uses fewer folds, so that no document is split between training and held-out data.
            found @ 2.. if named => (folds.min(found), documents, Some(found)),
            _ => {
                let count = folds.min(treebank.len());
                (count, runs(0..treebank.len(), RUN.min(treebank.len() / count)), None)
            }
        };
        let fold = deal(treebank, units, count, seed);
        let (group, members) = groups(treebank);
        Ok(Self { fold, group, members, count, documents })
    }

    /// Returns the number of folds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of documents; `None` if runs of neighbouring sentences were used.
    pub fn documents(&self) -> Option<usize> {
        self.documents
    }

    /// Returns the fold of a sentence.
    pub fn of(&self, sentence: usize) -> Option<usize> {
        self.fold.get(sentence).copied()
    }

    /// Returns the sentences of a fold, in their order.
    pub fn held_out(&self, fold: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.fold.len()).filter(move |&at| self.fold[at] == fold)
    }

    /// Returns the training sentences for a fold: those of other folds, except those with the same words as a sentence
    /// of this fold.
    pub fn learnt_for(&self, fold: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.fold.len()).filter(move |&at| self.fold[at] != fold && !self.leaks(at, fold))
    }

    /// Returns the number of sentences that were left out of training for some fold because of their words.
    pub fn kept_back(&self) -> usize {
        let leaks = |at: usize| {
            (0..self.count).any(|fold| self.of(at) != Some(fold) && self.leaks(at, fold))
        };
        (0..self.fold.len()).filter(|&at| leaks(at)).count()
    }

    /// Returns groups of two or more sentences with the same words, in their order.
    pub fn repeated(&self) -> impl Iterator<Item = &[usize]> {
        self.members.iter().map(Vec::as_slice).filter(|members| members.len() > 1)
    }

    /// Returns `true` if a sentence of the fold has the same words.
    fn leaks(&self, sentence: usize, fold: usize) -> bool {
        self.members[self.group[sentence]].iter().any(|&other| self.fold[other] == fold)
    }
}

/// Returns the documents as ranges of sentences. A file starts a document. Sentences before its first `newdoc` are cut
/// into runs.
fn documents(treebank: &[Sentence]) -> Vec<std::ops::Range<usize>> {
    let file = |at: usize| treebank[at].place().file;
    let starts =
        |at: &usize| treebank[*at].newdoc().is_some() || *at == 0 || file(*at) != file(at - 1);
    let starts: Vec<usize> = (0..treebank.len()).filter(starts).collect();
    let ends = starts.iter().skip(1).copied().chain([treebank.len()]);
    let ranges = starts.iter().zip(ends).map(|(&start, end)| start..end);
    ranges
        .flat_map(|range| match treebank[range.start].newdoc() {
            Some(_) => vec![range],
            None => runs(range, RUN),
        })
        .collect()
}

/// Cuts a range of sentences into runs.
fn runs(range: std::ops::Range<usize>, length: usize) -> Vec<std::ops::Range<usize>> {
    let end = range.end;
    range.step_by(length.max(1)).map(|start| start..(start + length.max(1)).min(end)).collect()
}

/// Assigns a fold to each sentence: the largest document first, always to the lightest fold.
fn deal(
    treebank: &[Sentence],
    units: Vec<std::ops::Range<usize>>,
    folds: usize,
    seed: u64,
) -> Vec<usize> {
    let words = |unit: &std::ops::Range<usize>| -> usize {
        treebank[unit.clone()].iter().map(Sentence::len).sum()
    };
    let mut units: Vec<_> = units.into_iter().map(|unit| (words(&unit), unit)).collect();
    Choices::new(seed).shuffle(&mut units);
    units.sort_by_key(|(words, _)| std::cmp::Reverse(*words));
    // Words and units of each fold. Ties go to the fold with fewer units, then to the first.
    let mut lightest: BTreeSet<(usize, usize, usize)> =
        (0..folds).map(|fold| (0, 0, fold)).collect();
    let mut fold_of = vec![0; treebank.len()];
    for (words, unit) in units {
        let Some((weight, dealt, fold)) = lightest.pop_first() else { break };
        fold_of[unit].fill(fold);
        lightest.insert((weight + words, dealt + 1, fold));
    }
    fold_of
}

/// Groups sentences by their words. Returns the group of each sentence, and the members of each group.
fn groups(treebank: &[Sentence]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut numbers: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let group = |(at, sentence)| {
        let words = Sentence::words(sentence).map(|word| word.form()).collect();
        let number = *numbers.entry(words).or_insert(members.len());
        if number == members.len() {
            members.push(Vec::new());
        }
        members[number].push(at);
        number
    };
    let group = treebank.iter().enumerate().map(group).collect();
    (group, members)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A sentence with these words, which may start a document.
    fn sentence(words: &[u8], newdoc: bool) -> Sentence {
        let mut text = if newdoc { "# newdoc\n".to_owned() } else { String::new() };
        for (at, word) in words.iter().enumerate() {
            text += &format!("{}\tw{word}\t_\tX\t_\t_\t{at}\tdep\t_\t_\n", at + 1);
        }
        text.parse().unwrap()
    }

    proptest! {
        #[test]
        fn folds_are_disjoint_complete_and_split_no_document(
            sentences in proptest::collection::vec(
                (proptest::collection::vec(0u8..4, 1..4), proptest::bool::weighted(0.4)),
                2..60,
            ),
            count in 2usize..7,
            seed in 0u64..3,
        ) {
            let treebank: Vec<Sentence> =
                sentences.iter().map(|(words, newdoc)| sentence(words, *newdoc)).collect();
            let folds = Folds::deal(&treebank, count, seed).unwrap();
            prop_assert_eq!(&folds, &Folds::deal(&treebank, count, seed).unwrap());
            let most = folds.documents().unwrap_or(treebank.len());
            prop_assert_eq!(folds.count(), count.min(most));
            let mut seen = vec![0; treebank.len()];
            for fold in 0..folds.count() {
                prop_assert!(folds.held_out(fold).count() > 0, "fold {} of {:?}", fold, &folds);
                folds.held_out(fold).for_each(|at| seen[at] += 1);
                // Neither held-out sentences nor sentences with the same words are learnt from.
                let held_out: BTreeSet<_> = folds.held_out(fold).map(|at| &sentences[at].0).collect();
                let learnt: BTreeSet<usize> = folds.learnt_for(fold).collect();
                for (at, (words, _)) in sentences.iter().enumerate() {
                    prop_assert_eq!(learnt.contains(&at), !held_out.contains(words));
                }
            }
            prop_assert!(seen.iter().all(|times| *times == 1));
            if folds.documents().is_some() {
                for at in 1..treebank.len() {
                    if treebank[at].newdoc().is_none() && treebank[..at].iter().any(|s| s.newdoc().is_some()) {
                        prop_assert_eq!(folds.of(at), folds.of(at - 1));
                    }
                }
            }
        }

        #[test]
        fn folds_have_nearly_as_many_words(lengths in proptest::collection::vec(1usize..9, 20..60)) {
            let treebank: Vec<Sentence> =
                lengths.iter().map(|&length| sentence(&vec![1; length], true)).collect();
            let folds = Folds::deal(&treebank, 4, 1).unwrap();
            let weights = [0, 1, 2, 3].map(|fold| folds.held_out(fold).map(|at| lengths[at]).sum::<usize>());
            let least = weights.iter().min().unwrap();
            let most = weights.iter().max().unwrap();
            prop_assert!(most - least <= 8, "{:?}", weights);
        }
    }

    #[test]
    fn neighbours_stay_together_without_documents_and_too_few_sentences_are_refused() {
        let treebank: Vec<Sentence> = (0..100).map(|at| sentence(&[at], false)).collect();
        let folds = Folds::deal(&treebank, 5, 1).unwrap();
        assert_eq!(folds.documents(), None);
        assert!((0..100).all(|at| folds.of(at) == folds.of(at - at % 10)));
        assert_eq!((folds.kept_back(), folds.repeated().count()), (0, 0));
        // A single document must be cut.
        let mut alone = treebank.clone();
        alone[0] = sentence(&[0], true);
        assert_eq!(Folds::deal(&alone, 5, 1).unwrap().documents(), None);
        assert!(Folds::deal(&treebank, 1, 1).unwrap_err().to_string().contains("at least two"));
        assert!(Folds::deal(&treebank[..1], 2, 1).unwrap_err().to_string().contains("single"));
        assert_eq!(Folds::deal(&treebank[..3], 5, 1).unwrap().count(), 3);
    }

    #[test]
    fn sentences_with_the_same_words_are_kept_back_and_listed() {
        let mut treebank: Vec<Sentence> = (0..20).map(|at| sentence(&[at], true)).collect();
        treebank.push(sentence(&[3], true));
        let folds = Folds::deal(&treebank, 10, 1).unwrap();
        assert_eq!(folds.repeated().collect::<Vec<_>>(), [[3, 20]]);
        let together = folds.of(3) == folds.of(20);
        assert_eq!(folds.kept_back(), if together { 0 } else { 2 });
        assert!(folds.learnt_for(folds.of(3).unwrap()).all(|at| at != 20));
    }
}
