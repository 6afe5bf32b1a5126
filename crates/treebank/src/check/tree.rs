//! Checks of heads, roots, cycles and labels.

use tutte_trees::{Error, NotATree, Tree};

use super::kind::Kind;
use super::scheme::{self, Universal};
use super::tally::{Example, Found};
use crate::error::words_counted;
use crate::{Column, Format, Sentence};

pub(super) fn check(sentence: &Sentence, found: &mut Found) {
    let heads: Vec<Option<usize>> = sentence.partial_heads().collect();
    for word in sentence.words() {
        let head = word.head();
        let label = word.deprel();
        let is_labelled = !matches!(label, "_" | "");
        if head.is_none() {
            found.token(Kind::UnknownHead, sentence, word, Column::Head, || {
                format!("{} {}", word.id(), word.form())
            });
        } else if !is_labelled {
            found.token(Kind::MissingLabel, sentence, word, Column::Deprel, || {
                format!("{} {}", word.id(), word.form())
            });
        }
        if is_labelled {
            let column = Column::Deprel;
            let describe = || format!("{} {}: {label}", word.id(), word.form());
            let is_root = label.split_once(':').map_or(label, |(base, _)| base) == "root";
            match head {
                Some(0) if !is_root => {
                    found.token(Kind::RootLabel, sentence, word, column, describe)
                }
                Some(head) if is_root && head > 0 => {
                    found.token(Kind::RootElsewhere, sentence, word, column, describe);
                }
                _ => {}
            }
            if scheme::relation(label) == Universal::No {
                found.token(Kind::UnknownLabel, sentence, word, column, || label.to_owned());
            }
        }
        if !matches!(word.upos(), "_" | "") && scheme::tag(word.upos()) == Universal::No {
            let upos = || word.upos().to_owned();
            found.token(Kind::UnknownTag, sentence, word, Column::Upos, upos);
        }
        let phead = word.phead();
        if sentence.format() == Format::ConllX && phead != "_" {
            let in_range = crate::id::number(phead.as_bytes()).is_some_and(|h| h <= sentence.len());
            if !in_range {
                found.token(Kind::DepsHead, sentence, word, Column::Deps, || {
                    format!(
                        "PHEAD is {phead:?}, but this sentence has {}",
                        words_counted(sentence.len())
                    )
                });
            }
        }
    }

    let roots: Vec<usize> = (1..).zip(&heads).filter(|w| *w.1 == Some(0)).map(|w| w.0).collect();
    if roots.is_empty() && heads.iter().all(Option::is_some) {
        found.sentence(Kind::NoRoot, sentence, || words_counted(heads.len()));
    }
    if roots.len() > 1 {
        found.sentence(Kind::SeveralRoots, sentence, || {
            let shown: Vec<String> =
                roots.iter().take(4).map(|&word| name(sentence, word)).collect();
            let more = if roots.len() > 4 { ", …" } else { "" };
            format!("{} roots: {}{more}", roots.len(), shown.join(", "))
        });
    }
    // A word with an unknown head is not part of a cycle.
    let closed: Vec<usize> = heads.iter().map(|head| head.unwrap_or(0)).collect();
    if let Err(Error::NotATree(NotATree::Cycle { words })) = Tree::new(&closed) {
        found.add(Kind::Cycle, || cycle(sentence, &words));
    }
}

/// Describes a cycle as `3 saw → 5 him → 3 saw`, heads before modifiers.
fn cycle(sentence: &Sentence, words: &[usize]) -> Example {
    let mut names: Vec<String> = words.iter().map(|&word| name(sentence, word)).collect();
    names.extend(names.first().cloned());
    if names.len() > 12 {
        let hidden = names.len() - 11;
        names.splice(8..8 + hidden, [format!("({hidden} more)")]);
    }
    let found = names.join(" → ");
    match words.first().and_then(|&word| sentence.word(word)) {
        Some(word) => Example::of_token(sentence, word, Column::Head, found),
        None => Example::of_sentence(sentence, found),
    }
}

fn name(sentence: &Sentence, word: usize) -> String {
    sentence.word(word).map_or_else(|| word.to_string(), |w| format!("{word} {}", w.form()))
}
