use std::sync::LazyLock;

use proptest::prelude::*;
use tutte_trees::TreeSet;

use super::*;
use crate::learn::train::tests::{at_most, treebank};
use crate::{Contradiction, KeepColumns, Labelling, ParserModel, TrainingOptions, train};

const SMALL: Limits = Limits { whole: 12, piece: 8 };
const WANTED: Thresholds = Thresholds { alternatives_above: 0.05, open_below: 0.0 };

/// A model for each tree set: of one pass, and of all steps.
static MODELS: LazyLock<Vec<ParserModel>> = LazyLock::new(|| {
    let all = [TrainingOptions::plain(), TrainingOptions::default()];
    let of = |options: &TrainingOptions| {
        TreeSet::ALL.map(|tree_set| {
            let options =
                TrainingOptions { bits: 14, label_bits: 8, passes: 2, tree_set, ..options.clone() };
            train(&at_most(tree_set), &options, |_, _| {}).unwrap()
        })
    };
    all.iter().flat_map(of).collect()
});

/// One whose trees have one root word.
fn single_root() -> &'static ParserModel {
    let found = MODELS.iter().find(|model| model.tree_set == TreeSet::NonProjectiveSingleRoot);
    found.unwrap()
}

fn parser(model: &ParserModel, limits: Limits) -> Parser<'_> {
    Parser::new(model).with_limits(limits)
}

/// Lines of these forms, all of them nouns but for punctuation.
fn sentence_of<'f>(forms: impl IntoIterator<Item = &'f str>) -> Sentence {
    let mut lines = "# sent_id = long\n".to_owned();
    for (number, form) in (1..).zip(forms) {
        let tag = if form.chars().all(char::is_alphanumeric) { "NOUN" } else { "PUNCT" };
        lines += &format!("{number}\t{form}\t{form}\t{tag}\t_\t_\t_\t_\t_\t_\n");
    }
    lines.parse().unwrap()
}

/// The words of the treebank, in any order, without heads.
fn sentence(picks: &[prop::sample::Index]) -> Sentence {
    let treebank = treebank();
    let words: Vec<_> = treebank.iter().flat_map(Sentence::words).collect();
    let mut lines = String::new();
    for (number, pick) in (1..).zip(picks) {
        let word = pick.get(&words);
        let (form, lemma, upos) = (word.form(), word.lemma(), word.upos());
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

            // With probabilities, it is the same tree; they are of the pieces as sentences.
            let known = Constraints::new();
            let pieces = parser.analyse_in_pieces(&sentence, &known, WANTED).unwrap();
            prop_assert_eq!(&pieces.parse.tree, &parse.tree);
            prop_assert_eq!(&pieces.parse.labels, &parse.labels);
            let (mut entropy, mut log_prob) = (0.0, 0.0);
            for words in cut(&sentence, &known, SMALL.piece) {
                let alone = piece(&sentence, &words).unwrap();
                let analysis = parser.analyse(&alone, &known).unwrap();
                for (inside, (head, word)) in analysis.parse.tree.arcs().enumerate() {
                    let outside = parse.tree.heads()[words.start + word - 1];
                    prop_assert!(head == 0 || outside == words.start + head);
                    let probs = [&parse.head_probs, &pieces.parse.head_probs];
                    let expected = analysis.parse.head_probs[inside];
                    prop_assert!(probs.iter().all(|p| (p[words.start + inside] - expected).abs() < 1e-9));
                }
                let mut annotated = alone.clone();
                parser.annotate(&mut annotated).unwrap();
                entropy += analysis.distribution.entropy();
                log_prob += analysis.distribution.log_prob_in(&annotated).unwrap();
            }
            prop_assert!((pieces.entropy - entropy).abs() < 1e-9);
            prop_assert!((pieces.log_prob - log_prob).abs() < 1e-9);
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

    /// Heads that are known in part, from trees of pieces: none is lost.
    #[test]
    fn what_is_given_is_kept(
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
            let known = arcs.iter().fold(Constraints::new(), |known, arc| known.require_arc(arc.0, arc.1));
            match parser.analyse_in_pieces(&sentence, &known, WANTED) {
                Ok(pieces) => {
                    prop_assert!(pieces.parse.tree.check_in(model.tree_set).is_ok());
                    for (head, word) in arcs {
                        prop_assert_eq!(pieces.parse.tree.heads()[word - 1], head);
                        prop_assert!((pieces.parse.head_probs[word - 1] - 1.0).abs() < 1e-9);
                    }
                }
                // Other cuts were better for some arcs than for others.
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
fn multiword_tokens_and_given_arcs_stay_whole() {
    let mut lines = String::new();
    for word in 1..=16 {
        lines += if word == 8 { "8-9\txx\t_\t_\t_\t_\t_\t_\t_\t_\n" } else { "" };
        lines += &format!("{word}\tx\tx\tX\t_\t_\t_\t_\t_\t_\n");
    }
    let sentence: Sentence = lines.parse().unwrap();
    assert_eq!(lengths(&sentence, 8), [7, 5, 4]);
    let known = Constraints::new().require_arc(6, 8).require_root(16);
    assert_eq!(cut(&sentence, &known, 8), [0..5, 5..12, 12..16]);
}

#[test]
fn the_limit_is_the_last_that_is_whole() {
    let model = &MODELS[0];
    for (words, pieces) in [(SMALL.whole - 1, 1), (SMALL.whole, 1), (SMALL.whole + 1, 2)] {
        let mut sentence = sentence_of(vec!["tea"; words]);
        let parse = parser(model, SMALL).annotate(&mut sentence).unwrap();
        assert_eq!(parse.pieces, pieces);
        let flag = (pieces > 1).then_some("2");
        assert_eq!(sentence.comment("tutte_pieces"), flag);
        // Parsed as a whole, it does not say so any more.
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
    let wanted = Thresholds { open_below: 0.3, ..WANTED };
    let pieces = parser.analyse_in_pieces(&sentence, &Constraints::new(), wanted).unwrap();
    pieces.write(&mut sentence).unwrap();
    pieces.annotate(&mut sentence, &[("calibration", "none".to_owned())]).unwrap();
    assert!(pieces.parse.tree.check_in(model.tree_set).is_ok());
    let count = pieces.parse.pieces;
    assert!((2500..5000).contains(&count), "{count}");
    assert_eq!(sentence.comment("tutte_pieces"), Some(count.to_string().as_str()));
    assert!(
        sentence.comment("tutte_logprob").is_some()
            && sentence.comment("tutte_calibration").is_some()
    );
    let open = pieces.heads.iter().filter(|head| head.is_none()).count();
    assert!(open > 0 && sentence.heads().is_none());
    for (word, sure) in sentence.words().zip(&pieces.certainties) {
        assert_eq!(word.head().is_some(), word.misc_entry("HeadProb").is_some());
        assert!(word.head().is_some() || word.deprel() == "_");
        let all: f64 = sure.alternatives.iter().map(|other| other.probability).sum();
        assert!(all + sure.head.unwrap_or(0.0) < 1.0 + 1e-9);
        assert!(sure.alternatives.iter().all(|other| other.head <= 20_000));
    }
}

#[test]
fn distributions_of_so_many_words_are_refused() {
    let model = &MODELS[0];
    let sentence = sentence_of(vec!["tea"; LONGEST_DISTRIBUTION + 1]);
    let error = Parser::new(model).distribution(&sentence).unwrap_err();
    assert_eq!(
        error.to_string(),
        "input:2: this sentence has 1001 words, but a distribution over all trees is limited to \
         1000 words (sent_id = long)"
    );
    assert!(error.hint().unwrap().contains("split it"));
    assert!(Parser::new(model).judge(&sentence).is_err());
    assert_eq!(Parser::new(model).parse(&sentence).unwrap().pieces, 5);
}

#[test]
fn the_root_word_may_be_given_in_any_piece() {
    let model = single_root();
    let sentence = sentence_of(vec!["tea"; 30]);
    let known = Constraints::new().require_root(20).forbid_arc(20, 1).forbid_arc(20, 3);
    let pieces = parser(model, SMALL).analyse_in_pieces(&sentence, &known, WANTED).unwrap();
    assert!(pieces.parse.tree.root_words().eq([20]));
    // All pieces are joined to it, but not by the arcs that are forbidden.
    let joined = pieces.parse.tree.arcs().filter(|&(head, word)| head == 20 && word <= 8);
    let joined: Vec<usize> = joined.map(|(_, word)| word).collect();
    assert!(joined.len() == 1 && ![1, 3].contains(&joined[0]), "{joined:?}");
}

#[test]
fn what_cannot_be_is_said_in_the_numbers_of_the_sentence() {
    let model = single_root();
    let sentence = sentence_of(vec!["tea"; 30]);
    let message = |known: Constraints| {
        parser(model, SMALL).analyse_in_pieces(&sentence, &known, WANTED).unwrap_err().to_string()
    };
    assert_eq!(
        message(Constraints::new().require_arc(2, 25)),
        "input:26:7: word 25 is given head 2, but this sentence of 30 words is parsed in 4 pieces, and \
         the two words are in different pieces (sent_id = long)"
    );
    let roots = message(Constraints::new().require_root(3).require_root(25));
    assert!(roots.contains("words 3 and 25 are given the root as head"), "{roots}");
    let all = (0..=30).filter(|&head| head != 25);
    let none = message(all.fold(Constraints::new(), |known, head| known.forbid_arc(head, 25)));
    assert!(none.starts_with("input:26:7: no tree") && none.contains("25"), "{none}");
}

#[test]
fn labels_that_join_are_parataxis_where_there_is_one() {
    let treebank = ["\
1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_
2\t,\t,\tPUNCT\t_\t_\t3\tpunct\t_\t_
3\ttea\ttea\tNOUN\t_\t_\t1\tparataxis\t_\t_
"
    .parse()
    .unwrap()];
    let options =
        TrainingOptions { bits: 12, label_bits: 8, passes: 2, ..TrainingOptions::plain() };
    let model = train(&treebank, &options, |_, _| {}).unwrap();
    let mut sentence = sentence_of(vec!["tea"; 30]);
    let mut parser = parser(&model, SMALL);
    let parse = parser.annotate(&mut sentence).unwrap();
    let root = parse.tree.root_words().next().unwrap();
    for words in &cut(&sentence, &Constraints::new(), SMALL.piece)[1..] {
        let joins = |word: &usize| sentence.word(word + 1).unwrap().head() == Some(root);
        let joining: Vec<usize> = words.clone().filter(joins).collect();
        assert_eq!(joining.len(), 1);
        assert_eq!(sentence.word(joining[0] + 1).unwrap().deprel(), "parataxis");
    }
    // A label that is given stays.
    let joining = parse.tree.arcs().find(|&(head, word)| head == root && word > 8).unwrap().1;
    let mut labelled = sentence_of(vec!["tea"; 30]);
    labelled.set_deprel(joining, "root").unwrap();
    let known =
        KeepColumns { heads: false, labels: true }.known(&labelled, model.labels.labels()).unwrap();
    let pieces = parser.analyse_in_pieces(&labelled, &known, WANTED).unwrap();
    pieces.write(&mut labelled).unwrap();
    assert_eq!(labelled.word(joining).unwrap().deprel(), "root");
    assert_eq!(labelled.word(joining).unwrap().head(), Some(root));
}

#[test]
fn models_without_labels_write_none() {
    let options = TrainingOptions { bits: 12, passes: 2, ..TrainingOptions::plain() };
    let options = TrainingOptions { labelling: Labelling::None, ..options };
    let model = train(&treebank(), &options, |_, _| {}).unwrap();
    let mut sentence = sentence_of(vec!["tea"; 30]);
    let mut parser = parser(&model, SMALL);
    parser.annotate(&mut sentence).unwrap();
    let pieces = parser.analyse_in_pieces(&sentence, &Constraints::new(), WANTED).unwrap();
    pieces.write(&mut sentence).unwrap();
    assert!(sentence.words().all(|word| word.deprel() == "_"));
}
