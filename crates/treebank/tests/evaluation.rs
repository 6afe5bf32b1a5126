//! Scores worked out by hand.

use tutte_treebank::eval::conllx::{self, Punctuation};
use tutte_treebank::eval::enhanced::collapse;
use tutte_treebank::eval::{
    Alignment, Attachment, CompleteMatch, Irregular, Metric, Metrics, Score, Subtypes, WordRef,
};
use tutte_treebank::{Error, Options, Reader, Sentence};

fn read(text: &str) -> Vec<Sentence> {
    let options = Options::default().with_format(tutte_treebank::Format::ConllU);
    Reader::with_options(text.as_bytes(), &options).collect::<Result<_, _>>().unwrap()
}

/// Expands lines with single spaces for tabs. Missing columns at the end become `_`.
fn sentence(lines: &str) -> String {
    let mut text = String::new();
    for line in lines.trim().lines() {
        let mut columns: Vec<&str> = line.split_whitespace().collect();
        columns.resize(10, "_");
        text += &(columns.join("\t") + "\n");
    }
    text + "\n"
}

fn metrics(gold: &str, system: &str) -> Metrics {
    let gold = read(gold);
    let system = read(system);
    Metrics::new(&Alignment::new(&gold, &system).unwrap()).unwrap()
}

/// Returns `[gold, system, correct, aligned]`, with 0 if `aligned` is not defined.
fn counts(metrics: &Metrics, metric: Metric) -> [usize; 4] {
    let Score { gold, system, correct, aligned } = metrics.get(metric).unwrap();
    [gold, system, correct, aligned.unwrap_or(0)]
}

const DOGS: &str = "
1 The    the    DET   DT  Definite=Def|PronType=Art           2 det
2 dogs   dog    NOUN  NNS Number=Plur                         4 nsubj
3 were   be     AUX   VBD Mood=Ind|Number=Plur|Tense=Past     4 aux
4 asleep asleep ADJ   JJ  Degree=Pos                          0 root
5 today  today  ADV   RB  _                                   4 advmod
6 .      .      PUNCT .   _                                   4 punct";

/// A wrong XPOS, a wrong UPOS, features in another order with one that is not universal, a wrong
/// universal feature, a wrong head, and a wrong label with a wrong lemma.
const DOGS_SYSTEM: &str = "
1 The    the    DET   XX  Definite=Def|PronType=Art           2 det
2 dogs   dog    PROPN NNS Number=Plur                         4 nsubj
3 were   be     AUX   VBD Own=Yes|Tense=Past|Mood=Ind|Number=Plur 4 aux
4 asleep asleep ADJ   JJ  Degree=Cmp                          0 root
5 today  today  ADV   RB  _                                   3 advmod
6 .      dot    PUNCT .   _                                   4 dep";

/// The gold lemma of `it` is unknown.
const STOP: &str = "
1 Of     of     ADP  IN  _            2 case
2 course course NOUN NN  Number=Sing  3 obl
3 stop   stop   VERB VB  VerbForm=Inf 0 root
4 it     _      PRON PRP Person=3     3 obj
5 now    now    ADV  RB  _            3 advmod";

/// A subtype, and a content word labelled as a functional one.
const STOP_SYSTEM: &str = "
1 Of     of     ADP  IN  _            2 case
2 course course NOUN NN  Number=Sing  3 obl
3 stop   stop   VERB VB  VerbForm=Inf 0 root
4 it     it     PRON PRP Person=3     3 obj:deep
5 now    now    ADV  RB  _            3 mark";

#[test]
fn every_metric_counts_what_it_says() {
    let gold = sentence(DOGS) + &sentence(STOP);
    let system = sentence(DOGS_SYSTEM) + &sentence(STOP_SYSTEM);
    let metrics = metrics(&gold, &system);
    assert_eq!(counts(&metrics, Metric::Tokens), [11, 11, 11, 0]);
    assert_eq!(counts(&metrics, Metric::Sentences), [2, 2, 2, 0]);
    assert_eq!(counts(&metrics, Metric::Words), [11, 11, 11, 0]);
    assert_eq!(counts(&metrics, Metric::Upos), [11, 11, 10, 11]); // dogs
    assert_eq!(counts(&metrics, Metric::Xpos), [11, 11, 10, 11]); // The
    assert_eq!(counts(&metrics, Metric::UFeats), [11, 11, 10, 11]); // asleep
    assert_eq!(counts(&metrics, Metric::AllTags), [11, 11, 8, 11]); // all three
    assert_eq!(counts(&metrics, Metric::Lemmas), [11, 11, 10, 11]); // the dot
    assert_eq!(counts(&metrics, Metric::Uas), [11, 11, 10, 11]); // today
    assert_eq!(counts(&metrics, Metric::Las), [11, 11, 8, 11]); // today, the dot, now
    // Content words of the gold standard: dogs, asleep, today; course, stop, it, now. The system
    // adds the dot (dep) and lacks now (mark). Wrong: today, now.
    assert_eq!(counts(&metrics, Metric::Clas), [7, 7, 5, 7]);
    // Of those five, dogs has a wrong UPOS, asleep a wrong feature, stop an extra functional child.
    assert_eq!(counts(&metrics, Metric::Mlas), [7, 7, 2, 7]);
    assert_eq!(counts(&metrics, Metric::Blex), [7, 7, 5, 7]);
    assert_eq!(metrics.get(Metric::Elas), None);
    let complete = CompleteMatch { sentences: 2, unlabelled: 1, labelled: 0 };
    assert_eq!(metrics.complete_match(), complete);
}

#[test]
fn the_table_is_laid_out_as_the_official_one() {
    let metrics = metrics(
        &(sentence(DOGS) + &sentence(STOP)),
        &(sentence(DOGS_SYSTEM) + &sentence(STOP_SYSTEM)),
    );
    insta::assert_snapshot!(metrics, @"
    Metric     | Precision |    Recall |  F1 Score | AligndAcc
    -----------+-----------+-----------+-----------+-----------
    Tokens     |    100.00 |    100.00 |    100.00 |
    Sentences  |    100.00 |    100.00 |    100.00 |
    Words      |    100.00 |    100.00 |    100.00 |
    UPOS       |     90.91 |     90.91 |     90.91 |     90.91
    XPOS       |     90.91 |     90.91 |     90.91 |     90.91
    UFeats     |     90.91 |     90.91 |     90.91 |     90.91
    AllTags    |     72.73 |     72.73 |     72.73 |     72.73
    Lemmas     |     90.91 |     90.91 |     90.91 |     90.91
    UAS        |     90.91 |     90.91 |     90.91 |     90.91
    LAS        |     72.73 |     72.73 |     72.73 |     72.73
    CLAS       |     71.43 |     71.43 |     71.43 |     71.43
    MLAS       |     28.57 |     28.57 |     28.57 |     28.57
    BLEX       |     71.43 |     71.43 |     71.43 |     71.43
    ");
    assert!(
        metrics
            .counts()
            .to_string()
            .contains("Words      |        11 |        11 |        11 |        11\nUPOS")
    );
}

#[test]
fn subtypes_can_be_kept() {
    let gold = read(&sentence(STOP));
    let system = read(&sentence(STOP_SYSTEM));
    let alignment = Alignment::new(&gold, &system).unwrap();
    let las = |alignment: &Alignment<'_>| counts(&Metrics::new(alignment).unwrap(), Metric::Las);
    assert_eq!(las(&alignment), [5, 5, 4, 5]);
    assert_eq!(las(&alignment.with_subtypes(Subtypes::Keep)), [5, 5, 3, 5]);
}

#[test]
fn tokens_words_and_sentences_may_differ() {
    let gold = sentence(
        "1-2 Gimme
         1   Give give VERB  _ _ 0 root
         2   me   I    PRON  _ _ 1 iobj
         3   tea  tea  NOUN  _ _ 4 compound
         4   pot  pot  NOUN  _ _ 1 obj
         5   !    !    PUNCT _ _ 1 punct",
    );
    // Another division into words, a merged token, and an extra sentence.
    let system = sentence(
        "1-2 Gimme
         1   Gim    gim    X     _ _ 0 root
         2   me     I      PRON  _ _ 1 iobj
         3   teapot teapot NOUN  _ _ 1 obj",
    ) + &sentence("1 ! ! PUNCT _ _ 0 root");
    let found = metrics(&gold, &system);
    assert_eq!(counts(&found, Metric::Tokens), [4, 3, 2, 0]); // Gimme and the mark
    assert_eq!(counts(&found, Metric::Sentences), [1, 2, 0, 0]);
    assert_eq!(counts(&found, Metric::Words), [5, 4, 2, 0]); // me and the mark
    assert_eq!(counts(&found, Metric::Upos), [5, 4, 2, 2]);
    // The head of `me` is `Gim`, which is not `Give`; the mark is a root.
    assert_eq!(counts(&found, Metric::Uas), [5, 4, 0, 2]);
    // Content: Give, me, tea, pot; Gim, me, teapot, the mark. Only `me` is in a pair.
    assert_eq!(counts(&found, Metric::Clas), [4, 4, 0, 1]);
    assert_eq!(found.complete_match(), CompleteMatch { sentences: 1, unlabelled: 0, labelled: 0 });

    // Without the multiword token, the words are the same, but its token is missing.
    let dissolved = sentence(
        "1 Gim give VERB  _ _ 0 root
         2 me  I    PRON  _ _ 1 iobj",
    );
    let gold = sentence(
        "1-2 Gimme
         1   Gim give VERB  _ _ 0 root
         2   me  I    PRON  _ _ 1 iobj",
    );
    let found = metrics(&gold, &dissolved);
    assert_eq!(counts(&found, Metric::Tokens), [1, 2, 0, 0]);
    assert_eq!(counts(&found, Metric::Las), [2, 2, 2, 2]);
    assert_eq!(found.complete_match().labelled, 1);
}

#[test]
fn tokens_may_have_no_characters() {
    let plain = sentence("1 tea _ X _ _ 0 root");
    let multiword = "1-2\t\u{a0}\t_\t_\t_\t_\t_\t_\t_\t_\n".to_owned()
        + &sentence("1 a _ X _ _ 3 x\n2 b _ X _ _ 3 x\n3 tea _ X _ _ 0 root");
    let without_form = multiword.replace('\u{a0}', "");
    let space = "1\t\u{a0}\t_\tX\t_\t_\t2\tx\t_\t_\n2\ttea\t_\tX\t_\t_\t0\troot\t_\t_\n\n";
    for (odd, words) in [(multiword.as_str(), 3), (&without_form, 3), (space, 2)] {
        let against_itself = metrics(odd, odd);
        assert!(against_itself.iter().all(|(_, score)| score.f1() == 1.0), "{odd}{against_itself}");
        for (metrics, sizes) in
            [(metrics(odd, &plain), [words, 1]), (metrics(&plain, odd), [1, words])]
        {
            assert_eq!(counts(&metrics, Metric::Words), [sizes[0], sizes[1], 1, 0]);
            assert_eq!(counts(&metrics, Metric::Tokens)[2], 1);
            assert_eq!(counts(&metrics, Metric::Las)[2], 1);
        }
    }
}

#[test]
fn heads_agree_across_sentence_boundaries_of_the_system() {
    // The system joins two sentences; the second root is not a root any more, the rest is the same.
    let gold = sentence("1 Go _ VERB _ _ 0 root")
        + &sentence("1 Tea _ NOUN _ _ 2 obj\n2 now _ ADV _ _ 0 root");
    let system = sentence("1 Go _ VERB _ _ 0 root\n2 Tea _ NOUN _ _ 3 obj\n3 now _ ADV _ _ 1 conj");
    let gold = read(&gold);
    let system = read(&system);
    let alignment = Alignment::new(&gold, &system).unwrap();
    let right: Vec<_> = alignment.pairs().iter().map(|pair| pair.head_correct).collect();
    assert_eq!(right, [true, true, false]);
    let at = |sentence, word| WordRef { sentence, word };
    assert_eq!(alignment.system_of(at(1, 1)), Some(at(0, 2)));
    assert_eq!(alignment.gold_of(at(0, 3)), Some(at(1, 2)));
    assert_eq!(alignment.gold_of(at(0, 4)), None);
    assert_eq!(alignment.system_of(at(2, 1)), None);
    assert_eq!(alignment.pairs_of_sentence(1).len(), 2);
    assert_eq!(alignment.system_words_in(0).collect::<Vec<_>>(), [at(0, 1)]);
    assert_eq!(alignment.system_words_in(1).collect::<Vec<_>>(), [at(0, 2), at(0, 3)]);
    assert_eq!(alignment.system_words_in(2).len(), 0);
    assert_eq!(alignment.same_sentence(0), None);
}

fn difference(gold: &str, system: &str) -> (String, String) {
    let gold = read(gold);
    let system = read(system);
    let error = Alignment::new(&gold, &system).unwrap_err();
    assert!(matches!(error, Error::DifferentText(_)));
    (error.to_string(), error.hint().unwrap())
}

#[test]
fn missing_and_changed_text_is_refused() {
    let one = |id: &str, word: &str| {
        format!("# sent_id = {id}\n") + &sentence(&format!("1 {word} _ X _ _ 0 root"))
    };
    let text = |words: &[&str]| {
        words.iter().enumerate().map(|(at, word)| one(&format!("s{at}"), word)).collect::<String>()
    };
    let gold = text(&["milk", "Tea", "sugar", "cup"]);

    let (message, hint) = difference(&gold, &text(&["milk", "Tea", "sugar"]));
    assert_eq!(
        message,
        "input ends before sentence 4 of the other file: input:11 (sent_id = s3) has \"cup\""
    );
    assert_eq!(hint, "is one of the files truncated, or a part of the text?");

    let (message, hint) = difference(&gold, &text(&["milk", "sugar", "cup"]));
    assert_eq!(
        message,
        "the texts of the files differ from sentence 2 on: input:5 (sent_id = s1) has \"Tea\", \
         but input:5 (sent_id = s1) has \"sugar\""
    );
    assert!(hint.starts_with("sentence 2 of the system is sentence 3 of the gold standard"));

    let (_, hint) = difference(&text(&["milk", "sugar", "cup"]), &gold);
    assert!(hint.starts_with("sentence 2 of the gold standard is sentence 3 of the system"));
    let (message, _) = difference(&gold, "");
    assert!(message.starts_with("the system's analysis ends before sentence 1"), "{message}");

    let (_, hint) = difference(&gold, &text(&["milk", "tea", "sugar", "cup"]));
    assert!(hint.starts_with("only the case differs"), "{hint}");
    let (_, hint) = difference(&gold, &text(&["milk", "T'ea", "sugar", "cup"]));
    assert!(hint.starts_with("the characters of the text"), "{hint}");
    let (_, hint) = difference(&gold, &text(&["salt", "pepper", "oil"]));
    assert!(hint.starts_with("only 0 of 3"), "{hint}");
}

#[test]
fn conll_x_requires_the_same_words() {
    let gold = sentence("1 a _ X _ _ 0 root\n2 b _ X _ _ 1 dep");
    let system = sentence("1 ab _ X _ _ 0 root");
    let gold = read(&gold);
    let system = read(&system);
    let error = Alignment::by_position(&gold, &system).unwrap_err();
    assert!(error.to_string().contains("input:1 has \"a\", but input:1 has \"ab\""), "{error}");
    assert!(error.hint().unwrap().starts_with("the text is the same"));
    let shorter = &[gold[0].clone(), gold[0].clone()][..];
    let error = Alignment::by_position(shorter, &gold).unwrap_err();
    assert!(error.to_string().contains("ends before sentence 2"), "{error}");
}

#[test]
fn conll_x_scores_with_and_without_punctuation() {
    let gold = sentence(
        "1 Stop _ V _ _ 0 ROOT
         2 ,    _ P _ _ 1 pnct
         3 now  _ A _ _ 1 mod
         4 !?   _ P _ _ 1 pnct",
    ) + &sentence("1 ... _ P _ _ 0 ROOT")
        + &sentence("1 $ _ S _ _ 0 ROOT");
    let system = sentence(
        "1 Stop _ V _ _ 0 ROOT
         2 ,    _ P _ _ 3 pnct
         3 now  _ A _ _ 1 mod:time
         4 !?   _ P _ _ 1 pnct",
    ) + &sentence("1 ... _ P _ _ 0 ROOT")
        + &sentence("1 $ _ S _ _ 0 ROOT");
    let gold = read(&gold);
    let system = read(&system);
    let alignment = Alignment::by_position(&gold, &system).unwrap();
    let dropped = Attachment {
        words: 3,
        heads: 3,
        labels: 2,
        both: 2,
        complete: CompleteMatch { sentences: 2, unlabelled: 2, labelled: 1 },
    };
    assert_eq!(conllx::attachment(&alignment, Punctuation::Drop), dropped);
    let kept = Attachment {
        words: 6,
        heads: 5,
        labels: 5,
        both: 4,
        complete: CompleteMatch { sentences: 3, unlabelled: 2, labelled: 2 },
    };
    assert_eq!(conllx::attachment(&alignment, Punctuation::Keep), kept);
}

const GAPPING: &str = "
1   Ann    Ann   PROPN _ _ 2 nsubj  2:nsubj
2   drinks drink VERB  _ _ 0 root   0:root
3   tea    tea   NOUN  _ _ 2 obj    2:obj
4   and    and   CCONJ _ _ 5 cc     5.1:cc
5   Bob    Bob   PROPN _ _ 2 conj   5.1:nsubj
5.1 drinks drink VERB  _ _ _ _      2:conj:and
6   milk   milk  NOUN  _ _ 5 orphan 5.1:obj";

#[test]
fn empty_nodes_are_collapsed_into_paths() {
    let system = "
1   Ann    Ann   PROPN _ _ 2 nsubj  2:nsubj:pass|4:dep
2   drinks drink VERB  _ _ 0 root   0:root
3   tea    tea   NOUN  _ _ 2 obj    2:obj
3.1 drinks drink VERB  _ _ _ _      2:conj
4   and    and   CCONJ _ _ 5 cc     5:cc
5   Bob    Bob   PROPN _ _ 2 conj   2:conj:and>nsubj
6   milk   milk  NOUN  _ _ 5 orphan 3.1:obj";
    let found = metrics(&sentence(GAPPING), &sentence(system));
    // drinks, tea, and Bob, whose path is explicit.
    assert_eq!(counts(&found, Metric::Elas), [6, 7, 3, 0]);
    // Also Ann and milk.
    assert_eq!(counts(&found, Metric::Eulas), [6, 7, 5, 0]);

    let itself = metrics(&sentence(GAPPING), &sentence(GAPPING));
    assert_eq!(counts(&itself, Metric::Elas), [6, 6, 6, 0]);
}

/// Returns the collapsed arcs as `child<head:path`.
fn collapsed(lines: &str) -> String {
    let sentence: Sentence = sentence(lines).parse().unwrap();
    let arcs = collapse(&sentence).unwrap();
    let arcs = std::iter::zip(1.., &arcs).flat_map(|(child, arcs)| {
        arcs.iter().map(move |arc| format!("{child}<{}:{}", arc.head, arc.path))
    });
    arcs.collect::<Vec<_>>().join(" ")
}

#[test]
fn paths_over_several_empty_nodes() {
    let chain = "1 a _ _ _ _ 0 root 0:root\n1.1 e _ _ _ _ _ _ 1:x|0:y\n1.2 e _ _ _ _ _ _ 1.1:z\n2 b _ _ _ _ 1 dep 1.2:w|1:v|1:v";
    assert_eq!(collapsed(chain), "1<0:root 2<1:v 2<1:x>z>w 2<0:y>z>w");
    // Two empty nodes with the same labels make one arc; one without heads makes none.
    let twins = "1 a _ _ _ _ 0 root 0:root\n1.1 e _ _ _ _ _ _ 1:x\n1.2 e _ _ _ _ _ _ 1:x\n1.3 e\n2 b _ _ _ _ 1 dep 1.1:w|1.2:w|1.3:v";
    assert_eq!(collapsed(twins), "1<0:root 2<1:x>w");
    // A cycle of empty nodes is followed once, as in the official program.
    let cycle = "1 a _ _ _ _ 0 root 0:root\n1.1 e _ _ _ _ _ _ 1:a|1.2:c\n1.2 e _ _ _ _ _ _ 1.1:b\n2 b _ _ _ _ 1 dep 1.1:d";
    assert_eq!(collapsed(cycle), "1<0:root 2<1:a>d 2<1:a>b>c>d");
    // A word may become its own head.
    let own = "1 a _ _ _ _ 0 root 0:root|1.1:y\n1.1 e _ _ _ _ _ _ 1:x";
    assert_eq!(collapsed(own), "1<0:root 1<1:x>y");
}

#[test]
fn too_many_paths_over_empty_nodes_are_an_error() {
    let mut lines = String::from("1 a _ _ _ _ 0 root 0:root|1.1:z\n");
    for node in 1..=12 {
        let others: Vec<_> = (1..=12).filter(|&o| o != node).map(|o| format!("1.{o}:x")).collect();
        lines += &format!("1.{node} e _ _ _ _ _ _ 1:y|{}\n", others.join("|"));
    }
    let sentence: Sentence = sentence(&lines).parse().unwrap();
    assert!(matches!(collapse(&sentence), Err(Error::TooManyPaths { .. })));
}

#[test]
fn arcs_that_differ_in_subtypes_are_counted_pair_by_pair() {
    let twice =
        sentence("1 Tea _ _ _ _ 2 nsubj 2:nsubj|2:nsubj:xsubj\n2 helps _ _ _ _ 0 root 0:root");
    let itself = metrics(&twice, &twice);
    assert_eq!(counts(&itself, Metric::Elas), [3, 3, 3, 0]);
    assert_eq!(counts(&itself, Metric::Eulas), [3, 3, 5, 0]);
}

#[test]
fn sentences_that_are_not_trees_are_scored_and_reported() {
    let gold = sentence(DOGS) + &sentence(STOP);
    let odd =
        sentence(&DOGS.replace("0 root", "_ root")) + &sentence(&STOP.replace("0 root", "4 root"));
    let found = metrics(&gold, &odd);
    assert_eq!(counts(&found, Metric::Uas), [11, 11, 9, 11]);
    // An unknown head is never correct, even if it is unknown in the gold standard.
    assert_eq!(counts(&metrics(&odd, &odd), Metric::Uas), [11, 11, 10, 11]);
    let irregular = Irregular::find(&read(&odd));
    let roots = Irregular::find(&read(&sentence(&STOP.replace("3 obj", "0 obj"))));
    assert_eq!((irregular.unknown_heads, irregular.cycles, irregular.several_roots), (1, 1, 0));
    assert_eq!((roots.unknown_heads, roots.cycles, roots.several_roots), (0, 0, 1));
    assert_eq!(irregular.first.unwrap().line, 1);
    assert!(Irregular::find(&read(&gold)).is_empty());
}
