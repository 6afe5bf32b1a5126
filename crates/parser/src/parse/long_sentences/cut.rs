//! Cutting a sentence into pieces.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::ops::Range;

use tutte_treebank::{Id, Sentence};
use tutte_trees::Constraints;

use crate::Error;

/// Cuts a sentence into pieces of ½L to L words. Returns the indices of their words, from 0.
pub(super) fn cut(
    sentence: &Sentence,
    constraints: &Constraints,
    longest: usize,
) -> Vec<Range<usize>> {
    let count = sentence.len();
    let longest = longest.max(2);
    let bonds = bonds(sentence, constraints);
    let grades = grades(sentence);
    let mut pieces = Vec::with_capacity(count / longest * 2 + 1);
    let mut start = 0;
    while count - start > longest {
        let ends = start + longest / 2..=(start + longest).min(count - longest / 2);
        let best = |end: &usize| (Reverse(bonds[end - 1]), grades[end - 1], *end);
        let end = ends.max_by_key(best).unwrap_or(start + longest);
        pieces.push(start..end);
        start = end;
    }
    pieces.push(start..count);
    pieces
}

/// Returns the number of the piece that contains a word.
pub(super) fn piece_of(pieces: &[Range<usize>], word: usize) -> usize {
    pieces.partition_point(|piece| piece.end < word).min(pieces.len() - 1)
}

/// Makes a sentence from some words, with all columns that features read.
pub(super) fn piece(sentence: &Sentence, words: &Range<usize>) -> Result<Sentence, Error> {
    let mut lines = String::new();
    let words = words.clone().filter_map(|before| sentence.word(before + 1));
    for (number, word) in (1..).zip(words) {
        let form = word.form();
        let lemma = word.lemma();
        let upos = word.upos();
        let xpos = word.xpos();
        let feats = word.feats();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\t_");
    }
    Ok(lines.parse()?)
}

/// Returns the damage of a cut after each word: the number of required arcs that it would break, and `true` if it would
/// break a multiword token.
fn bonds(sentence: &Sentence, constraints: &Constraints) -> Vec<(usize, bool)> {
    let words = sentence.len();
    let mut begins = vec![0; words + 2];
    let mut ends = vec![0; words + 2];
    let between_words =
        |arc: &&(usize, usize)| [arc.0, arc.1].iter().all(|end| (1..=words).contains(end));
    for &(head, word) in constraints.required_arcs().iter().filter(between_words) {
        begins[head.min(word)] += 1;
        ends[head.max(word)] += 1;
    }
    let mut open = 0;
    let mut bonds: Vec<(usize, bool)> = (1..=words)
        .map(|word| {
            open = open + begins[word] - ends[word];
            (open, false)
        })
        .collect();
    for token in sentence.multiword_tokens() {
        if let Id::Multiword(first, last) = token.id() {
            let inside = first.saturating_sub(1)..last.saturating_sub(1).min(words);
            bonds[inside].iter_mut().for_each(|bond| bond.1 = true);
        }
    }
    bonds
}

/// Grades the place after each word as a cut: 3 after the end of a sentence, down to 0. A closing bracket or
/// quotation mark takes the grade of the word before it.
fn grades(sentence: &Sentence) -> Vec<u8> {
    let mut grades: Vec<u8> = Vec::with_capacity(sentence.len());
    for word in sentence.words() {
        let grade = if is_closing(word.form()) {
            grades.last_mut().map(std::mem::take)
        } else {
            let characters = word.form().chars().map(grade);
            characters.reduce(|a, b| if a.min(b) == 0 { 0 } else { a.max(b) })
        };
        grades.push(grade.unwrap_or(0));
    }
    grades
}

fn grade(character: char) -> u8 {
    match character {
        '.' | '!' | '?' | '…' | '。' | '！' | '？' | '｡' | '؟' | '۔' | '।' | '॥' | '\u{37e}' => {
            3
        }
        ';' | ':' | '；' | '：' | '؛' | '·' => 2,
        ',' | '，' | '、' | '،' => 1,
        _ => 0,
    }
}

fn is_closing(form: &str) -> bool {
    matches!(form, ")" | "]" | "}" | "”" | "’" | "''" | "»" | "）" | "」" | "』")
}
