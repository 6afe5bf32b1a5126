use proptest::prelude::*;

use super::*;
use crate::eval::Alignment;
use crate::eval::arcs::tests::{GOLD, SYSTEM, analyses, sentences, with_arcs};

fn text(kind: &ErrorKind) -> String {
    let side = |a: &Attached| format!("{} {} {}", a.head, a.direction.name(), a.label);
    let shift = kind.shift.map_or(String::new(), |shift| format!(" {shift:?}"));
    format!(
        "{}× {}{}: {} | {}{shift}",
        kind.count,
        kind.word.as_ref().map_or(String::new(), |word| format!("{word}/")),
        kind.tag,
        side(&kind.gold),
        side(&kind.system)
    )
}

#[test]
fn by_hand() {
    // Another attachment like that of milk, so that one kind occurs twice.
    let gold =
        GOLD.to_owned() + "\nWe/PRON/2/nsubj had/VERB/0/root cake/NOUN/2/obj today/NOUN/3/nmod";
    let system =
        SYSTEM.to_owned() + "\nWe/PRON/2/nsubj had/VERB/0/root cake/NOUN/2/obj today/NOUN/2/obl";
    let errors = with_arcs(&gold, &system, |arcs| FrequentErrors::new(arcs, 10));
    assert_eq!((errors.words, errors.errors, errors.missing), (17, 5, 0));
    assert_eq!(
        errors.by_tag.iter().map(text).collect::<Vec<_>>(),
        [
            "2× NOUN: NOUN head left nmod | VERB head left obl",
            "1× ADV: NOUN head right advmod | VERB head right advmod",
            "1× ADV: VERB head left advmod | NOUN head left amod",
            "1× NOUN: VERB head right nsubj | VERB head right obj",
        ]
    );
    assert_eq!(errors.by_word.len(), 5);
    assert_eq!(text(&errors.by_word[0]), "1× milk/NOUN: NOUN head left nmod | VERB head left obl");
    let example = &errors.by_tag[0].example;
    assert_eq!((example.form.as_str(), example.gold_line, example.system_line), ("milk", 5, 5));

    let rate = |rate: &ErrorRate| (rate.tag.clone(), rate.count, rate.errors, rate.wrong_heads);
    assert_eq!(
        errors.tags.iter().map(rate).collect::<Vec<_>>(),
        [("NOUN".to_owned(), 7, 3, 2), ("ADV".to_owned(), 2, 2, 2)]
    );
    assert_eq!(errors.words_with_errors.len(), 5);
    assert_eq!(with_arcs(&gold, &system, |arcs| FrequentErrors::new(arcs, 2)).by_word.len(), 2);
}

#[test]
fn similar_heads_are_distinguished() {
    let errors = with_arcs(
        "a/V/0/root b/V/1/x c/N/1/obl d/V/1/x e/N/4/obl",
        "a/V/0/root b/V/1/x c/N/2/obl d/V/1/x e/N/1/obl",
        |arcs| FrequentErrors::new(arcs, 10),
    );
    assert_eq!(
        errors.by_tag.iter().map(text).collect::<Vec<_>>(),
        [
            "1× N: V head left obl | V head left obl Nearer",
            "1× N: V head left obl | V head left obl Farther",
        ]
    );
}

#[test]
fn missing_words_are_counted() {
    let gold = sentences("cannot/AUX/2/aux go/VERB/0/root");
    let system = sentences("can/AUX/3/aux not/PART/3/advmod go/VERB/0/root");
    let alignment = Alignment::new(&gold, &system).unwrap();
    let errors = FrequentErrors::new(&Arcs::new(&alignment), 10);
    assert_eq!((errors.words, errors.errors, errors.missing), (1, 0, 1));
}

proptest! {
    #[test]
    fn kinds_sum_to_all_errors((gold, system) in analyses()) {
        let alignment = Alignment::new(&gold, &system).unwrap();
        let errors = FrequentErrors::new(&Arcs::new(&alignment), usize::MAX);
        let wrong = alignment.pairs().iter().filter(|p| !(p.head_correct && p.label_correct)).count();
        prop_assert_eq!(errors.errors, wrong);
        for kinds in [&errors.by_tag, &errors.by_word] {
            prop_assert_eq!(kinds.iter().map(|kind| kind.count).sum::<usize>(), wrong);
        }
        for rates in [&errors.tags, &errors.words_with_errors] {
            prop_assert_eq!(rates.iter().map(|rate| rate.errors).sum::<usize>(), wrong);
        }
    }

    #[test]
    fn an_analysis_has_no_errors_against_itself((gold, _) in analyses()) {
        let errors = FrequentErrors::new(&Arcs::new(&Alignment::new(&gold, &gold).unwrap()), 10);
        prop_assert_eq!((errors.errors, errors.missing), (0, 0));
        prop_assert!(errors.by_tag.is_empty() && errors.words_with_errors.is_empty());
    }
}
