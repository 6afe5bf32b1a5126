//! Plausible errors planted in a treebank.
//!
//! A random share of the words get another head, random among the plausible ones. A head is plausible if both
//! conditions hold:
//!
//! - the heads still form a tree with the same root words;
//! - the treebank has an arc with the same two tags in the same direction.
//!
//! The label stays.

use std::collections::BTreeSet;

use anyhow::Result;
use tutte_treebank::select::Choices;
use tutte_treebank::{Sentence, Token};

/// A treebank with planted errors.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) treebank: Vec<Sentence>,
    /// `(sentence, word)` of every planted error, both from 0.
    pub(crate) wrong: BTreeSet<(usize, usize)>,
}

/// Plants errors in a share of a treebank's arcs, or in fewer if not enough words have a plausible other head.
pub(crate) fn plant(clean: &[Sentence], share: f64, seed: u64) -> Result<Planted> {
    let tag = |sentence: &Sentence, word| sentence.word(word).map_or("", Token::upos).to_owned();
    let mut seen = BTreeSet::new();
    let mut words = Vec::new();
    for (at, sentence) in clean.iter().enumerate() {
        for (word, token) in (1..).zip(sentence.words()) {
            words.push((at, word));
            let head = token.head().unwrap_or(0);
            seen.insert((tag(sentence, head), head < word, tag(sentence, word)));
        }
    }
    let wanted = (share * words.len() as f64).round() as usize;
    let mut choices = Choices::new(seed);
    choices.shuffle(&mut words);
    let mut planted = Planted { treebank: clean.to_vec(), wrong: BTreeSet::new() };
    for (at, word) in words {
        if planted.wrong.len() == wanted {
            break;
        }
        let sentence = &mut planted.treebank[at];
        let tree = sentence.tree()?;
        let Some(head) = tree.head(word).filter(|&head| head > 0) else { continue };
        let plausible: Vec<usize> = (1..=sentence.len())
            .filter(|&other| other != head && !tree.descends(other, word))
            .filter(|&other| {
                seen.contains(&(tag(sentence, other), other < word, tag(sentence, word)))
            })
            .collect();
        if plausible.is_empty() {
            continue;
        }
        let other = plausible[choices.below(plausible.len() as u64) as usize];
        sentence.set_head(word, Some(other))?;
        planted.wrong.insert((at, word - 1));
    }
    Ok(planted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planting_changes_only_heads_and_keeps_trees() {
        let sentence: Sentence =
            "1\ta\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n\
             3\tc\t_\tVERB\t_\t_\t0\troot\t_\t_\n4\td\t_\tDET\t_\t_\t5\tdet\t_\t_\n\
             5\te\t_\tNOUN\t_\t_\t3\tobj\t_\t_\n"
                .parse()
                .unwrap();
        let clean = vec![sentence; 40];
        let Planted { treebank, wrong } = plant(&clean, 0.1, 1).unwrap();
        assert_eq!(wrong.len(), 20);
        assert_eq!(plant(&clean, 0.1, 1).unwrap().wrong, wrong, "the same seed");
        for (at, (before, after)) in clean.iter().zip(&treebank).enumerate() {
            assert_eq!(after.tree().unwrap().root_words().collect::<Vec<_>>(), [3]);
            for (word, (old, new)) in before.words().zip(after.words()).enumerate() {
                assert_eq!(old.head() != new.head(), wrong.contains(&(at, word)));
                assert_eq!(old.deprel(), new.deprel());
            }
        }
        // No determiner of the treebank follows its head.
        assert!(treebank.iter().all(|s| s.word(4).unwrap().head() == Some(5)));
    }
}
