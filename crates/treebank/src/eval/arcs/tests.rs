//! Shared helpers for error analyses: two small analyses worked out by hand, and random ones.

use proptest::prelude::*;

use super::*;
use crate::eval::tests::read;

/// Parses sentences, one per line, with words as `form/tag/head/label`.
pub(in crate::eval) fn sentences(text: &str) -> Vec<Sentence> {
    let mut conllu = String::new();
    for line in text.lines() {
        for (number, word) in (1..).zip(line.split_whitespace()) {
            let fields: Vec<&str> = word.split('/').collect();
            let [form, tag, head, label] = fields[..] else { panic!("{word}") };
            conllu += &format!("{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n");
        }
        conllu.push('\n');
    }
    read(&conllu)
}

/// 13 words, 3 of them with wrong heads (milk, softly, today) and 1 more with a wrong label (Rain).
pub(in crate::eval) const GOLD: &str = "\
She/PRON/2/nsubj drank/VERB/0/root tea/NOUN/2/obj with/ADP/5/case milk/NOUN/3/nmod ./PUNCT/2/punct
Rain/NOUN/2/nsubj fell/VERB/0/root softly/ADV/2/advmod
Tea/NOUN/3/obj today/ADV/4/advmod want/VERB/0/root drinkers/NOUN/3/nsubj";

pub(in crate::eval) const SYSTEM: &str = "\
She/PRON/2/nsubj drank/VERB/0/root tea/NOUN/2/obj with/ADP/5/case milk/NOUN/2/obl ./PUNCT/2/punct
Rain/NOUN/2/obj fell/VERB/0/root softly/ADJ/1/amod
Tea/NOUN/3/obj today/ADV/3/advmod want/VERB/0/root drinkers/NOUN/3/nsubj";

/// Calls a function with the arcs of two analyses.
pub(in crate::eval) fn with_arcs<T>(
    gold: &str,
    system: &str,
    then: impl FnOnce(&Arcs<'_>) -> T,
) -> T {
    let gold = sentences(gold);
    let system = sentences(system);
    then(&Arcs::new(&Alignment::new(&gold, &system).unwrap()))
}

/// Two analyses of the same letters with random tokens, sentences, heads (not always trees), labels
/// and tags.
pub(in crate::eval) fn analyses() -> impl Strategy<Value = (Vec<Sentence>, Vec<Sentence>)> {
    let breaks = prop::collection::vec((0u8..8, 0u32..1000, 0u8..4, 0u8..3), 24);
    (1usize..=24, breaks.clone(), breaks).prop_map(|(letters, gold, system)| {
        (analysis(&gold[..letters]), analysis(&system[..letters]))
    })
}

/// Divides letters: after each one, a token ends, or a token and a sentence, or neither.
fn analysis(letters: &[(u8, u32, u8, u8)]) -> Vec<Sentence> {
    let mut conllu = String::new();
    let mut words: Vec<(String, u32, u8, u8)> = Vec::new();
    let mut form = String::new();
    for (at, &(cut, head, label, tag)) in letters.iter().enumerate() {
        form.push(char::from(b'a' + at as u8));
        let last = at + 1 == letters.len();
        if cut < 6 || last {
            words.push((std::mem::take(&mut form), head, label, tag));
        }
        if form.is_empty() && (cut == 0 || last) {
            let n = words.len() as u32;
            for (number, (form, head, label, tag)) in (1..).zip(words.drain(..)) {
                let head = head % (n + 1);
                let head = if head == number { 0 } else { head };
                let label = ["a", "b", "b:x", "c"][usize::from(label)];
                conllu += &format!("{number}\t{form}\t_\tT{tag}\t_\t_\t{head}\t{label}\t_\t_\n");
            }
            conllu.push('\n');
        }
    }
    read(&conllu)
}

#[test]
fn arcs_by_hand() {
    with_arcs(GOLD, SYSTEM, |arcs| {
        let gold = arcs.of(Side::Gold);
        let depths: Vec<_> = gold.iter().filter_map(|arc| arc.depth).collect();
        assert_eq!(depths, [2, 1, 2, 4, 3, 2, 2, 1, 2, 2, 3, 1, 2]);
        let lengths: Vec<_> = gold.iter().map(|arc| arc.length().unwrap_or(0)).collect();
        assert_eq!(lengths, [1, 0, 1, 1, 2, 4, 1, 0, 1, 2, 2, 0, 1]);
        let crossing: Vec<_> = gold
            .iter()
            .filter(|arc| arc.projective == Some(false))
            .map(|a| a.token.form())
            .collect();
        assert_eq!(crossing, ["today"]);
        assert_eq!(gold[1].head_tag(), "ROOT");
        assert_eq!(gold[4].head_tag(), "NOUN");

        let count = |correct, gold, system| UnitCounts { correct, gold, system };
        assert_eq!(
            arcs.counts_by_sentence(Criterion::Uas),
            [count(5, 6, 6), count(2, 3, 3), count(3, 4, 4)]
        );
        assert_eq!(
            arcs.counts_by_sentence(Criterion::Las),
            [count(5, 6, 6), count(1, 3, 3), count(3, 4, 4)]
        );
    });
}

#[test]
fn cyclic_heads_have_no_depth() {
    with_arcs("a/X/2/d b/X/1/d c/X/0/d", "a/X/2/d b/X/0/d c/X/_/d", |arcs| {
        for side in [Side::Gold, Side::System] {
            assert!(
                arcs.of(side).iter().all(|arc| arc.depth.is_none() && arc.projective.is_none())
            );
        }
        let unknown = &arcs.of(Side::System)[2];
        assert_eq!((unknown.direction(), unknown.head_tag()), (Direction::NoHead, "_"));
        assert!(!unknown.head_correct);
    });
}

#[test]
fn words_can_be_left_out() {
    let gold = sentences(GOLD);
    let system = sentences(SYSTEM);
    let alignment = Alignment::new(&gold, &system).unwrap();
    let arcs = Arcs::of_words(&alignment, |token| token.upos() != "PUNCT");
    assert_eq!((arcs.of(Side::Gold).len(), arcs.pairs().len()), (12, 12));
    let first = arcs.counts_by_sentence(Criterion::Uas)[0];
    assert_eq!(first, UnitCounts { correct: 4, gold: 5, system: 5 });
}

#[test]
fn probabilities_are_read_from_misc() {
    let word = |misc: &str| format!("1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t{misc}\n\n");
    let gold = read(&(word("_") + &word("_")));
    let system = read(&(word("HeadProb=0.25|SpaceAfter=No") + &word("_")));
    let probabilities =
        Arcs::new(&Alignment::new(&gold, &system).unwrap()).head_probabilities().unwrap();
    assert_eq!((probabilities.missing, probabilities.gold), (1, 2));
    assert_eq!(probabilities.forecasts[0].probability.get(), 0.25);
    assert!(probabilities.forecasts[0].correct);

    for bad in ["1.5", "-0.1", "NaN", "high", ""] {
        let system = read(&(word("_") + "# sent_id = s2\n" + &word(&format!("HeadProb={bad}"))));
        let arcs = Arcs::new(&Alignment::new(&gold, &system).unwrap());
        assert_eq!(
            arcs.head_probabilities().unwrap_err().to_string(),
            format!(
                "input:4:10: HeadProb is {bad:?}, but a probability is a number from 0 to 1 \
                 (sent_id = s2)"
            )
        );
    }
}

proptest! {
    #[test]
    fn counts_of_sentences_sum_to_the_total((gold, system) in analyses()) {
        let arcs = Arcs::new(&Alignment::new(&gold, &system).unwrap());
        let sum = |of: fn(&UnitCounts) -> u32, criterion| {
            arcs.counts_by_sentence(criterion).iter().map(of).sum::<u32>() as usize
        };
        for (criterion, correct) in [
            (Criterion::Uas, arcs.of(Side::Gold).iter().filter(|a| a.head_correct).count()),
            (Criterion::Las, arcs.of(Side::Gold).iter().filter(|a| a.correct()).count()),
        ] {
            prop_assert_eq!(sum(|unit| unit.correct, criterion), correct);
            prop_assert_eq!(sum(|unit| unit.gold, criterion), arcs.of(Side::Gold).len());
            prop_assert_eq!(sum(|unit| unit.system, criterion), arcs.of(Side::System).len());
        }
    }

    /// The slow twin walks from each word to the root.
    #[test]
    fn depths_are_walks_to_the_root((gold, _) in analyses()) {
        let arcs = Arcs::new(&Alignment::new(&gold, &gold).unwrap());
        for arc in arcs.of(Side::Gold) {
            let mut depth = 0;
            let mut word = arc.at.word;
            while word != 0 && depth <= arc.sentence.len() {
                depth += 1;
                word = arc.sentence.word(word).unwrap().head().unwrap();
            }
            if let Some(found) = arc.depth {
                prop_assert_eq!(found, depth);
            } else {
                prop_assert!(arc.sentence.tree().is_err());
            }
        }
    }
}
