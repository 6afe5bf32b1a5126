use std::sync::LazyLock;

use proptest::prelude::*;
use tutte_trees::TreeSet;

use super::*;
use crate::LONGEST_DISTRIBUTION;
use crate::learn::train::tests::{at_most, treebank};
use crate::{Contradiction, Detail, KeepColumns, Labelling, ParserModel, TrainingOptions, train};

const SMALL: Limits = Limits { whole: 12, piece: 8 };
const OPTIONS: AnnotationOptions = AnnotationOptions {
    detail: Detail::Words,
    alternatives_above: 0.05,
    open_below: 0.0,
    marginals: false,
};

/// A model for each tree set, with one pass and with all steps.
static MODELS: LazyLock<Vec<ParserModel>> = LazyLock::new(|| {
    let all = [TrainingOptions::plain(), TrainingOptions::default()];
    let of = |options: &TrainingOptions| {
        TreeSet::ALL.map(|tree_set| {
            let options =
                TrainingOptions { bits: 14, label_bits: 8, passes: 2, tree_set, ..options.clone() };
            train(at_most(tree_set), &options, &mut ()).unwrap()
        })
    };
    all.iter().flat_map(of).collect()
});

/// A model whose trees have one root word.
fn single_root() -> &'static ParserModel {
    let found = MODELS.iter().find(|model| model.tree_set == TreeSet::NonProjectiveSingleRoot);
    found.unwrap()
}

fn parser(model: &ParserModel, limits: Limits) -> Parser<'_> {
    Parser::new(model).with_limits(limits)
}

/// A sentence of these forms: nouns and punctuation.
fn sentence_of<'f>(forms: impl IntoIterator<Item = &'f str>) -> Sentence {
    let mut lines = "# sent_id = long\n".to_owned();
    for (number, form) in (1..).zip(forms) {
        let tag = if form.chars().all(char::is_alphanumeric) { "NOUN" } else { "PUNCT" };
        lines += &format!("{number}\t{form}\t{form}\t{tag}\t_\t_\t_\t_\t_\t_\n");
    }
    lines.parse().unwrap()
}

/// A sentence of words of the treebank, in any order, without heads.
fn sentence(picks: &[prop::sample::Index]) -> Sentence {
    let treebank = treebank();
    let words: Vec<_> = treebank.iter().flat_map(Sentence::words).collect();
    let mut lines = String::new();
    for (number, pick) in (1..).zip(picks) {
        let word = pick.get(&words);
        let form = word.form();
        let lemma = word.lemma();
        let upos = word.upos();
        lines += &format!("{number}\t{form}\t{lemma}\t{upos}\t_\t_\t_\t_\t_\t_\n");
    }
    lines.parse().unwrap()
}

fn lengths(sentence: &Sentence, longest: usize) -> Vec<usize> {
    let pieces = cut(sentence, &Constraints::new(), longest);
    pieces.into_iter().map(|piece| piece.len()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn joined_pieces_are_one_tree_of_the_set(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 13..60),
    ) {
        let sentence = sentence(&picks);
        for model in MODELS.iter() {
            let mut parser = parser(model, SMALL);
            let parse = parser.parse(&sentence).unwrap();
            prop_assert!(parse.tree.check_in(model.tree_set).is_ok());
            prop_assert_eq!(parse.pieces, lengths(&sentence, SMALL.piece).len());

            // With probabilities, the tree is the same. Probabilities are those of the pieces parsed as sentences.
            let constraints = Constraints::new();
            let found = parser.analyse_in_pieces(&sentence, &constraints, &OPTIONS).unwrap();
            prop_assert_eq!(&found.parse.tree, &parse.tree);
            prop_assert_eq!(&found.parse.labels, &parse.labels);
            let mut entropy = 0.0;
            let mut log_prob = 0.0;
            for words in cut(&sentence, &constraints, SMALL.piece) {
                let alone = piece(&sentence, &words).unwrap();
                let analysis = parser.analyse(&alone, &constraints).unwrap();
                for (inside, (head, word)) in analysis.parse.tree.arcs().enumerate() {
                    let outside = parse.tree.heads()[words.start + word - 1];
                    prop_assert!(head == 0 || outside == words.start + head);
                    let probs = [&parse.head_probs, &found.parse.head_probs];
                    let expected = analysis.parse.head_probs[inside];
                    prop_assert!(probs.iter().all(|p| (p[words.start + inside] - expected).abs() < 1e-9));
                }
                let mut annotated = alone.clone();
                parser.annotate(&mut annotated).unwrap();
                entropy += analysis.distribution.entropy();
                log_prob += analysis.distribution.log_prob_in(&annotated).unwrap();
            }
            prop_assert!((found.annotation.entropy.unwrap() - entropy).abs() < 1e-9);
            prop_assert!((found.annotation.log_prob.unwrap() - log_prob).abs() < 1e-9);
        }
    }

    #[test]
    fn pieces_are_neither_long_nor_short(
        forms in prop::collection::vec(prop::sample::select(vec!["a", ".", ",", ")"]), 1..80),
        longest in 2..20_usize,
    ) {
        let sentence = sentence_of(forms.iter().copied());
        let lengths = lengths(&sentence, longest);
        prop_assert_eq!(lengths.iter().sum::<usize>(), forms.len());
        prop_assert!(lengths.iter().all(|length| *length <= longest));
        prop_assert!(lengths.len() == 1 || lengths.iter().all(|length| *length >= longest / 2));
    }

    /// Heads from the joined tree that are required again are kept.
    #[test]
    fn required_heads_are_kept(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 13..40),
        given in prop::collection::vec(any::<bool>(), 40),
    ) {
        let sentence = sentence(&picks);
        for model in MODELS.iter() {
            let mut parser = parser(model, SMALL);
            let tree = parser.parse(&sentence).unwrap().tree;
            let pieces = cut(&sentence, &Constraints::new(), SMALL.piece);
            let inside = |&(head, word): &(usize, usize)| {
                head == 0 || piece_of(&pieces, head) == piece_of(&pieces, word)
            };
            let arcs: Vec<_> = tree.arcs().filter(|arc| given[arc.1 - 1] && inside(arc)).collect();
            let constraints = arcs.iter().fold(Constraints::new(), |all, arc| all.require_arc(arc.0, arc.1));
            match parser.analyse_in_pieces(&sentence, &constraints, &OPTIONS) {
                Ok(found) => {
                    prop_assert!(found.parse.tree.check_in(model.tree_set).is_ok());
                    for (head, word) in arcs {
                        prop_assert_eq!(found.parse.tree.heads()[word - 1], head);
                        prop_assert!((found.parse.head_probs[word - 1] - 1.0).abs() < 1e-9);
                    }
                }
                // No cut avoids all of these arcs.
                Err(Error::Contradiction { problem: Contradiction::AcrossPieces { .. }, .. }) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }
}

#[test]
fn cuts_are_after_the_strongest_punctuation() {
    let cut = |text: &str| {
        let sentence = sentence_of(text.split(' '));
        let pieces = cut(&sentence, &Constraints::new(), 8).into_iter();
        let forms: Vec<&str> = text.split(' ').collect();
        pieces.map(|piece| forms[piece].join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(cut("a b c d . e f g h"), ["a b c d .", "e f g h"]);
    assert_eq!(cut("a b c d , e ; f g , h i j"), ["a b c d , e ;", "f g , h i j"]);
    assert_eq!(cut("a b c d ?! ) f g , h i j"), ["a b c d ?! )", "f g , h i j"]);
    assert_eq!(cut("a b c d e Mr. f g h i j"), ["a b c d e Mr. f", "g h i j"]);
    assert_eq!(cut("a b c d e f g h"), ["a b c d e f g h"]);
}

#[test]
fn multiword_tokens_and_required_arcs_are_not_cut() {
    let mut lines = String::new();
    for word in 1..=16 {
        lines += if word == 8 { "8-9\txx\t_\t_\t_\t_\t_\t_\t_\t_\n" } else { "" };
        lines += &format!("{word}\tx\tx\tX\t_\t_\t_\t_\t_\t_\n");
    }
    let sentence: Sentence = lines.parse().unwrap();
    assert_eq!(lengths(&sentence, 8), [7, 5, 4]);
    let constraints = Constraints::new().require_arc(6, 8).require_root(16);
    assert_eq!(cut(&sentence, &constraints, 8), [0..5, 5..12, 12..16]);
}

#[test]
fn sentences_up_to_the_limit_are_parsed_as_a_whole() {
    let model = &MODELS[0];
    for (words, pieces) in [(SMALL.whole - 1, 1), (SMALL.whole, 1), (SMALL.whole + 1, 2)] {
        let mut sentence = sentence_of(vec!["tea"; words]);
        let annotation = parser(model, SMALL).annotate(&mut sentence).unwrap();
        assert_eq!(annotation.pieces, pieces);
        let comment = (pieces > 1).then_some("2");
        assert_eq!(sentence.comment("tutte_pieces"), comment);
        // Parsing it as a whole removes the comment.
        Parser::new(model).annotate(&mut sentence).unwrap();
        assert_eq!(sentence.comment("tutte_pieces"), None);
    }
}

#[test]
fn twenty_thousand_words_are_one_tree_with_probabilities() {
    let model = single_root();
    let forms = (1..=20_000).map(|number| if number % 11 == 0 { "." } else { "tea" });
    let mut sentence = sentence_of(forms);
    let mut parser = parser(model, SMALL);
    let options = AnnotationOptions { open_below: 0.3, ..OPTIONS };
    let found = parser.analyse_in_pieces(&sentence, &Constraints::new(), &options).unwrap();
    let LongSentenceParse { parse, mut annotation } = found;
    annotation.calibration = Some("none");
    annotation.write(&mut sentence).unwrap();
    assert!(parse.tree.check_in(model.tree_set).is_ok());
    let count = parse.pieces;
    assert_eq!(annotation.pieces, count);
    assert!((2500..5000).contains(&count), "{count}");
    assert_eq!(sentence.comment("tutte_pieces"), Some(count.to_string().as_str()));
    assert!(
        sentence.comment("tutte_logprob").is_some()
            && sentence.comment("tutte_calibration").is_some()
    );
    assert!(annotation.open_heads() > 0 && sentence.heads().is_none());
    for (word, annotated) in sentence.words().zip(&annotation.words) {
        assert_eq!(word.head(), annotated.head);
        assert_eq!(word.head().is_some(), word.misc_entry("HeadProb").is_some());
        assert!(word.head().is_some() || word.deprel() == "_");
        let all: f64 = annotated.alternatives.iter().map(|other| other.probability).sum();
        assert!(all + annotated.head_prob.unwrap_or(0.0) < 1.0 + 1e-9);
        assert!(annotated.alternatives.iter().all(|other| other.head <= 20_000));
    }
}

#[test]
fn distributions_of_too_many_words_are_refused() {
    let model = &MODELS[0];
    let sentence = sentence_of(vec!["tea"; LONGEST_DISTRIBUTION + 1]);
    let error = Parser::new(model).distribution(&sentence).unwrap_err();
    assert_eq!(
        error.to_string(),
        "input:2: the sentence has 1001 words, but a distribution over all trees is limited to 1000 \
         (sent_id = long)"
    );
    assert!(error.hint().unwrap().contains("--max-length 1000"));
    assert!(Parser::new(model).score_tree(&sentence).is_err());
    assert_eq!(Parser::new(model).parse(&sentence).unwrap().pieces, 5);
}

#[test]
fn the_root_word_may_be_required_in_any_piece() {
    let model = single_root();
    let sentence = sentence_of(vec!["tea"; 30]);
    let constraints = Constraints::new().require_root(20).forbid_arc(20, 1).forbid_arc(20, 3);
    let found = parser(model, SMALL).analyse_in_pieces(&sentence, &constraints, &OPTIONS).unwrap();
    assert!(found.parse.tree.root_words().eq([20]));
    // All pieces are joined to it, but not by forbidden arcs.
    let joined = found.parse.tree.arcs().filter(|&(head, word)| head == 20 && word <= 8);
    let joined: Vec<usize> = joined.map(|(_, word)| word).collect();
    assert!(joined.len() == 1 && ![1, 3].contains(&joined[0]), "{joined:?}");
}

#[test]
fn contradictions_are_named_in_the_numbers_of_the_sentence() {
    let model = single_root();
    let sentence = sentence_of(vec!["tea"; 30]);
    let message = |constraints: Constraints| {
        let mut parser = parser(model, SMALL);
        parser.analyse_in_pieces(&sentence, &constraints, &OPTIONS).unwrap_err().to_string()
    };
    assert_eq!(
        message(Constraints::new().require_arc(2, 25)),
        "input:26:7: word 25 is given head 2, but this sentence of 30 words is parsed in 4 pieces, and \
         the two words are in different pieces (sent_id = long)"
    );
    let roots = message(Constraints::new().require_root(3).require_root(25));
    assert!(roots.contains("words 3 and 25 are given the root as head"), "{roots}");
    let all = (0..=30).filter(|&head| head != 25);
    let none = message(all.fold(Constraints::new(), |all, head| all.forbid_arc(head, 25)));
    assert!(none.starts_with("input:26:7: no tree") && none.contains("25"), "{none}");
}

#[test]
fn pieces_are_joined_by_parataxis_if_the_model_has_it() {
    let treebank = ["\
1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_
2\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_
3\ttea\ttea\tNOUN\t_\t_\t1\tparataxis\t_\t_
"
    .parse()
    .unwrap()];
    let options =
        TrainingOptions { bits: 12, label_bits: 8, passes: 2, ..TrainingOptions::plain() };
    let model = train(&treebank, &options, &mut ()).unwrap();
    let mut sentence = sentence_of(vec!["tea"; 30]);
    let mut parser = parser(&model, SMALL);
    let parse = parser.parse(&sentence).unwrap();
    parser.annotate(&mut sentence).unwrap();
    let root = parse.tree.root_words().next().unwrap();
    for words in &cut(&sentence, &Constraints::new(), SMALL.piece)[1..] {
        let joins = |word: &usize| sentence.word(word + 1).unwrap().head() == Some(root);
        let joining: Vec<usize> = words.clone().filter(joins).collect();
        assert_eq!(joining.len(), 1);
        assert_eq!(sentence.word(joining[0] + 1).unwrap().deprel(), "parataxis");
    }
    // A required label stays.
    let joining = parse.tree.arcs().find(|&(head, word)| head == root && word > 8).unwrap().1;
    let mut labelled = sentence_of(vec!["tea"; 30]);
    labelled.set_deprel(joining, "root").unwrap();
    let keep = KeepColumns { heads: false, labels: true };
    let constraints = keep.constraints(&labelled, model.labels.labels()).unwrap();
    let found = parser.analyse_in_pieces(&labelled, &constraints, &OPTIONS).unwrap();
    found.annotation.write_tree(&mut labelled).unwrap();
    assert_eq!(labelled.word(joining).unwrap().deprel(), "root");
    assert_eq!(labelled.word(joining).unwrap().head(), Some(root));
}

#[test]
fn models_without_labels_write_none() {
    let options = TrainingOptions { bits: 12, passes: 2, ..TrainingOptions::plain() };
    let options = TrainingOptions { labelling: Labelling::None, ..options };
    let model = train(treebank(), &options, &mut ()).unwrap();
    let mut sentence = sentence_of(vec!["tea"; 30]);
    let mut parser = parser(&model, SMALL);
    parser.annotate(&mut sentence).unwrap();
    let found = parser.analyse_in_pieces(&sentence, &Constraints::new(), &OPTIONS).unwrap();
    found.annotation.write_tree(&mut sentence).unwrap();
    assert!(sentence.words().all(|word| word.deprel() == "_"));
}
