//! Properties of all scores.

#[path = "support/treebanks.rs"]
mod treebanks;

use std::collections::BTreeSet;

use proptest::prelude::*;
use tutte_treebank::eval::conllx::{self, Punctuation};
use tutte_treebank::eval::{Alignment, Metric, Metrics, Score};
use tutte_treebank::{Format, Id, Options, Reader, Sentence, open};

use treebanks::treebanks;

fn read(text: &str) -> Vec<Sentence> {
    let options = Options::default().with_format(Format::ConllU);
    Reader::with_options(text.as_bytes(), &options).collect::<Result<_, _>>().unwrap()
}

fn metrics(gold: &str, system: &str) -> Metrics {
    let gold = read(gold);
    let system = read(system);
    Metrics::new(&Alignment::new(&gold, &system).unwrap()).unwrap()
}

/// A token of a random analysis.
#[derive(Clone, Debug)]
struct Cut {
    length: usize,
    /// Forms of the words of a multiword token; empty for a plain word.
    words: Vec<usize>,
    ends_sentence: bool,
    choice: usize,
}

fn cuts() -> impl Strategy<Value = Vec<Cut>> {
    let words = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(0..4usize, 1..4)];
    let cut = (1..4usize, words, prop::bool::weighted(0.2), any::<u16>()).prop_map(
        |(length, words, ends_sentence, choice)| Cut {
            length,
            words,
            ends_sentence,
            choice: choice.into(),
        },
    );
    prop::collection::vec(cut, 1..12)
}

/// Divides a text by the cuts, cyclically. Every word but the first has an earlier head.
fn analysis(text: &str, cuts: &[Cut]) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut words = 0;
    for cut in cuts.iter().cycle() {
        let (form, behind) = rest.split_at(cut.length.min(rest.len()));
        rest = behind;
        if !cut.words.is_empty() {
            let range = format!("{}-{}", words + 1, words + cut.words.len());
            out += &format!("{range}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n");
        }
        let plain = cut.words.is_empty().then_some(form);
        let parts = cut.words.iter().map(|&word| ["a", "b", "B", "ab"][word]);
        for (part, form) in std::iter::zip(0.., plain.into_iter().chain(parts)) {
            let choice = cut.choice + 7 * part;
            let id = words + 1;
            let head = if words == 0 { 0 } else { 1 + choice % words };
            let [label, other] = [choice / 5, choice / 11]
                .map(|c| ["nsubj", "nsubj:pass", "det", "aux", "punct", "conj:and"][c % 6]);
            let feats = ["_", "Case=Nom", "Own=Yes", "Case=Nom|Own=Yes"][choice / 3 % 4];
            let lemma = ["_", "a", "b"][choice / 2 % 3];
            let tag = ["X", "NOUN"][choice / 13 % 2];
            out += &format!(
                "{id}\t{form}\t{lemma}\t{tag}\t{tag}\t{feats}\t{head}\t{label}\t{head}:{label}|{}:{other}\t_\n",
                choice / 17 % (words + 1),
            );
            words += 1;
        }
        if rest.is_empty() {
            break;
        }
        if cut.ends_sentence {
            out += "\n";
            words = 0;
        }
    }
    out + "\n"
}

fn two_analyses() -> impl Strategy<Value = (String, String)> {
    ("[abAB]{1,30}", cuts(), cuts())
        .prop_map(|(text, one, other)| (analysis(&text, &one), analysis(&text, &other)))
}

fn without_multiword(cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.into_iter().map(|cut| Cut { words: Vec::new(), ..cut }).collect()
}

/// Spans of plain words and of multiword tokens, the latter with the lower-cased forms of their
/// words.
type Spans = Vec<(usize, usize, Option<Vec<String>>)>;

fn spans(sentences: &[Sentence]) -> Spans {
    let mut spans = Spans::new();
    let mut at = 0;
    for sentence in sentences {
        let mut last = 0;
        for token in sentence.tokens() {
            let end = at + token.form().len();
            match token.id() {
                Id::Multiword(_, end_of_range) => {
                    last = end_of_range;
                    spans.push((at, end, Some(Vec::new())));
                    at = end;
                }
                id if id.first() <= last => {
                    let (_, _, words) = spans.last_mut().unwrap();
                    words.as_mut().unwrap().push(token.form().to_lowercase());
                }
                _ => {
                    spans.push((at, end, None));
                    at = end;
                }
            }
        }
    }
    spans
}

fn longest_common(a: &[String], b: &[String]) -> usize {
    match (a, b) {
        ([x, a @ ..], [y, b @ ..]) if x == y => 1 + longest_common(a, b),
        ([_, shorter_a @ ..], [_, shorter_b @ ..]) => {
            longest_common(shorter_a, b).max(longest_common(a, shorter_b))
        }
        _ => 0,
    }
}

/// Returns the number of aligned words by definition. Plain words must not cross the borders of
/// stretches.
fn aligned_words(gold: &Spans, system: &Spans, text: &str) -> usize {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    let mut multiword: Vec<_> = gold.iter().chain(system).filter(|s| s.2.is_some()).collect();
    multiword.sort();
    for &(start, end, _) in multiword {
        match stretches.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => stretches.push((start, end)),
        }
    }
    let mut aligned = 0;
    for &(start, end) in &stretches {
        let words = |spans: &Spans| -> Vec<String> {
            let inside = spans.iter().filter(|(s, e, _)| *s >= start && *e <= end);
            let plain = |s: usize, e: usize| vec![text[s..e].to_lowercase()];
            inside
                .flat_map(|(s, e, parts)| parts.clone().unwrap_or_else(|| plain(*s, *e)))
                .collect()
        };
        aligned += longest_common(&words(gold), &words(system));
    }
    let outside = |spans: &Spans| -> BTreeSet<(usize, usize)> {
        let inside =
            |s: usize, e: usize| stretches.iter().any(|&(start, end)| s < end && e > start);
        spans.iter().filter(|(s, e, _)| !inside(*s, *e)).map(|&(s, e, _)| (s, e)).collect()
    };
    aligned + outside(gold).intersection(&outside(system)).count()
}

proptest! {
    #[test]
    fn a_file_is_correct_against_itself((one, _) in two_analyses()) {
        let metrics = metrics(&one, &one);
        for (metric, score) in metrics.iter() {
            // EULAS counts pairs: see its test.
            if metric != Metric::Eulas && score.gold > 0 {
                prop_assert_eq!((score.precision(), score.recall(), score.f1()), (1.0, 1.0, 1.0));
                prop_assert!(score.aligned_accuracy().is_none_or(|accuracy| accuracy == 1.0));
            }
        }
        let complete = metrics.complete_match();
        prop_assert_eq!(complete.labelled, complete.sentences);
    }

    #[test]
    fn stricter_metrics_have_lower_counts((one, other) in two_analyses()) {
        let metrics = metrics(&one, &other);
        let correct = |metric| metrics.get(metric).map_or(0, |score| score.correct);
        let chain = |metrics: &[Metric]| metrics.is_sorted_by(|a, b| correct(*a) >= correct(*b));
        prop_assert!(chain(&[Metric::Words, Metric::Uas, Metric::Las, Metric::Clas, Metric::Mlas]));
        prop_assert!(chain(&[Metric::Clas, Metric::Blex]));
        prop_assert!(chain(&[Metric::Words, Metric::Upos, Metric::AllTags]));
        prop_assert!(chain(&[Metric::Xpos, Metric::AllTags]));
        prop_assert!(chain(&[Metric::UFeats, Metric::AllTags]));
        prop_assert!(chain(&[Metric::Words, Metric::Lemmas]));
        prop_assert!(chain(&[Metric::Eulas, Metric::Elas]));
        let complete = metrics.complete_match();
        prop_assert!(complete.sentences >= complete.unlabelled);
        prop_assert!(complete.unlabelled >= complete.labelled);
        for (metric, score) in metrics.iter() {
            let share = 0.0..=1.0;
            prop_assert!(metric == Metric::Eulas || share.contains(&score.precision()));
            prop_assert!(metric == Metric::Eulas || share.contains(&score.recall()));
            prop_assert!(score.f1() <= score.precision().max(score.recall()) + 1e-12);
            prop_assert!(score.f1() >= score.precision().min(score.recall()) - 1e-12);
        }
    }

    #[test]
    fn swapping_the_files_swaps_precision_and_recall(
        text in "[abAB]{1,30}", one in cuts(), other in cuts(),
    ) {
        let swapped = |score: Score| Score { gold: score.system, system: score.gold, ..score };
        let (a, b) = (analysis(&text, &one), analysis(&text, &other));
        let (there, back) = (metrics(&a, &b), metrics(&b, &a));
        for metric in [Metric::Tokens, Metric::Sentences] {
            prop_assert_eq!(there.get(metric), back.get(metric).map(swapped), "{}", metric);
        }
        // Multiword tokens are left out, since their alignment is not symmetric. Swapping the files
        // changes which of several equal words is aligned, and the alignment of a plain word that
        // crosses the border of a stretch. A lemma `_` matches any lemma only in the gold standard,
        // and content words are those of the gold standard.
        let (a, b) = (without_multiword(one), without_multiword(other));
        let (a, b) = (analysis(&text, &a), analysis(&text, &b));
        let (there, back) = (metrics(&a, &b), metrics(&b, &a));
        for (metric, score) in there.iter() {
            let mut back = back.get(metric).map(swapped).unwrap_or_default();
            if matches!(metric, Metric::Clas | Metric::Mlas) {
                back.aligned = score.aligned;
            }
            if !matches!(metric, Metric::Lemmas | Metric::Blex) {
                prop_assert_eq!(score, back, "{}", metric);
            }
        }
    }

    #[test]
    fn words_are_aligned_by_the_definition(
        text in "[abAB]{1,30}", one in cuts(), other in cuts(),
    ) {
        let aligned = |one: &[Cut], other: &[Cut]| {
            let gold = read(&analysis(&text, one));
            let system = read(&analysis(&text, other));
            let found = Alignment::new(&gold, &system).unwrap().words().common;
            (found, aligned_words(&spans(&gold), &spans(&system), &text))
        };
        let (found, expected) =
            aligned(&without_multiword(one.clone()), &without_multiword(other.clone()));
        prop_assert_eq!(found, expected);
        // Plain words of one letter cannot cross a border.
        let short = |cuts: Vec<Cut>| -> Vec<Cut> {
            let plain = |cut: &Cut| cut.words.is_empty();
            cuts.into_iter().map(|c| Cut { length: if plain(&c) { 1 } else { c.length }, ..c }).collect()
        };
        let (found, expected) = aligned(&short(one), &short(other));
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn looking_up_agrees_with_the_pairs((one, other) in two_analyses()) {
        let gold = read(&one);
        let system = read(&other);
        let alignment = Alignment::new(&gold, &system).unwrap();
        prop_assert!(alignment.pairs().is_sorted_by(|a, b| a.gold < b.gold && a.system < b.system));
        for pair in alignment.pairs() {
            prop_assert_eq!(alignment.system_of(pair.gold), Some(pair.system));
            prop_assert_eq!(alignment.gold_of(pair.system), Some(pair.gold));
        }
        let per_sentence = 0..gold.len();
        let pairs: usize = per_sentence.clone().map(|s| alignment.pairs_of_sentence(s).len()).sum();
        let words: usize = per_sentence.map(|s| alignment.system_words_in(s).len()).sum();
        prop_assert_eq!(pairs, alignment.words().common);
        prop_assert_eq!(words, alignment.words().system);
    }
}

#[test]
fn every_treebank_is_correct_against_itself() {
    for path in treebanks() {
        let sentences: Vec<_> = open(&path).unwrap().collect::<Result<_, _>>().unwrap();
        let metrics = Metrics::new(&Alignment::new(&sentences, &sentences).unwrap()).unwrap();
        for (metric, score) in metrics.iter() {
            let same = score.correct == score.gold && score.gold == score.system;
            // Words with two arcs that differ only in their subtypes count more than twice in
            // EULAS.
            let more = metric == Metric::Eulas && score.correct > score.gold;
            assert!(same || more, "{}: {metric} {score:?}", path.display());
        }
        let alignment = Alignment::by_position(&sentences, &sentences).unwrap();
        let scores = conllx::attachment(&alignment, Punctuation::Keep);
        assert_eq!((scores.uas(), scores.las()), (1.0, 1.0), "{}", path.display());
        assert_eq!(scores.complete.labelled, sentences.len());
    }
}
