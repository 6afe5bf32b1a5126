//! One test case per kind.

mod any_input;

use std::collections::BTreeSet;

use super::{Checker, Kind, Report, Severity};
use crate::{Options, Reader};

/// Checks files given as `(name, lines)`.
fn check(files: &[(&str, &str)]) -> Report {
    let mut checker = Checker::new(3);
    for (name, text) in files {
        let options = Options { name: Some((*name).to_owned()), ..Options::default() };
        checker.read(&mut Reader::with_options(text.as_bytes(), &options)).unwrap();
    }
    checker.finish()
}

/// `kind severity count: first example` of every finding.
fn lines(report: &Report) -> Vec<String> {
    let line = |finding: &super::Finding| {
        let example = finding.examples.first().map(ToString::to_string).unwrap_or_default();
        format!("{} {} {}: {example}", finding.kind, finding.severity, finding.count)
    };
    report.findings.iter().map(line).collect()
}

/// The findings of one file.
fn findings(text: &str) -> Vec<String> {
    lines(&check(&[("f", text)]))
}

/// A clean sentence in CoNLL-U. Words are given as `form/UPOS/head/label`, separated by spaces.
fn sentence(id: &str, words: &str) -> String {
    let mut lines = String::new();
    let mut forms = Vec::new();
    for (number, word) in (1..).zip(words.split(' ')) {
        let [form, tag, head, label] =
            word.split('/').collect::<Vec<_>>().try_into().expect("four parts");
        forms.push(form);
        lines.push_str(&format!("{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n"));
    }
    format!("# sent_id = {id}\n# text = {}\n{lines}\n", forms.join(" "))
}

/// A sentence in which the first occurrence of `from` is replaced.
fn changed(from: &str, to: &str) -> String {
    let text = sentence("s1", "We/PRON/2/nsubj drink/VERB/0/root tea/NOUN/2/obj");
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn a_clean_file_has_no_findings() {
    let text = sentence("s1", "We/PRON/2/nsubj drink/VERB/0/root tea/NOUN/2/obj");
    let report = check(&[("f", &text)]);
    assert_eq!(lines(&report), [""; 0]);
    assert_eq!(report.worst(), None);
    assert_eq!(report.files[0].scheme.unwrap().to_string(), "UD v2");
    assert_eq!((report.files[0].sentences, report.files[0].words), (1, 3));
}

#[test]
fn unreadable_sentences_are_findings() {
    let good = sentence("good", "Yes/INTJ/0/root");
    let text = |line: &str| format!("{good}# sent_id = bad\n{line}\n\n");
    let cases = [
        ("1\ta\tb", "column-count", "f:6: 3 columns between tabs, but CoNLL-U has 10"),
        ("x\ta\t_\tX\t_\t_\t0\troot\t_\t_", "bad-id", "f:6:1: ID is \"x\""),
        ("2\ta\t_\tX\t_\t_\t0\troot\t_\t_", "id-order", "f:6:1: ID is 2, but 1 comes next"),
        (
            "2-1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_",
            "multiword-range",
            "f:6:1: multiword token 2-1 ends before it starts",
        ),
        ("1\t\t_\tX\t_\t_\t0\troot\t_\t_", "empty-form", "f:6:2: FORM is empty"),
        ("1\ta\t_\tX\t_\t_\tno\troot\t_\t_", "bad-head", "f:6:7: HEAD is \"no\""),
        ("1\ta\t_\tX\t_\t_\t9\troot\t_\t_", "head-out-of-range", "f:6:7: HEAD is 9"),
        ("1\ta\t_\tX\t_\t_\t1\troot\t_\t_", "own-head", "f:6:7: HEAD is 1, the word itself"),
        ("# only a comment", "sentence-bounds", "f:5: a sentence without words"),
        ("\u{feff}1\ta\t_\tX\t_\t_\t0\troot\t_\t_", "byte-order-mark", "f:6: a byte order mark"),
    ];
    for (line, code, place) in cases {
        let report = check(&[("f", &text(line))]);
        let lines = lines(&report);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with(&format!("{code} error 1: {place}")), "{lines:?}");
        assert!(lines[0].ends_with("(sent_id = bad)"), "{lines:?}");
        assert_eq!((report.files[0].sentences, report.files[0].unreadable), (1, 1));
    }
    let mut bytes = good.into_bytes();
    bytes.extend(b"1\tbl\xE5\t_\tX\t_\t_\t0\troot\t_\t_\n\n");
    let mut checker = Checker::new(1);
    checker.read(&mut Reader::new(bytes.as_slice())).unwrap();
    assert!(lines(&checker.finish())[0].starts_with("not-utf8 error 1: input:5:2: byte 0xE5"));
}

#[test]
fn cycles_are_printed_word_by_word() {
    let text = sentence("s1", "round/ADV/3/dep and/CCONJ/0/root round/ADV/1/dep");
    assert_eq!(
        findings(&text),
        ["cycle error 1: f:3:7: 1 round → 3 round → 1 round (sent_id = s1)"]
    );
    let text = sentence("s1", "round/ADV/2/dep round/ADV/1/dep");
    assert_eq!(
        findings(&text),
        [
            "cycle error 1: f:3:7: 1 round → 2 round → 1 round (sent_id = s1)",
            "no-root error 1: f:3: 2 words (sent_id = s1)"
        ]
    );
    // A word with an unknown head is not in a cycle, and it does not hide one.
    let text = sentence("s1", "a/X/2/dep b/X/1/dep c/X/_/_");
    assert!(findings(&text)[0].starts_with("cycle error 1: f:3:7: 1 a → 2 b → 1 a"));
}

#[test]
fn several_roots_depend_on_the_scheme() {
    let universal = sentence("s1", "Yes/INTJ/0/root please/INTJ/0/root");
    assert_eq!(
        findings(&universal),
        ["several-roots error 1: f:3: 2 roots: 1 Yes, 2 please (sent_id = s1)"]
    );
    let conll_x = "1\tJa\t_\tI\tI\t_\t0\tROOT\t_\t_\n2\ttak\t_\tI\tI\t_\t0\tROOT\t_\t_\n\n";
    assert_eq!(findings(conll_x), ["several-roots note 1: f:1: 2 roots: 1 Ja, 2 tak"]);
}

#[test]
fn files_without_heads_or_labels_are_reported_once() {
    assert_eq!(
        findings(&changed("2\tobj", "_\t_")),
        ["unknown-head warning 1: f:5:7: 3 tea (sent_id = s1)"]
    );
    assert_eq!(
        findings(&changed("2\tobj", "2\t_")),
        ["missing-label error 1: f:5:8: 3 tea (sent_id = s1)"]
    );
    let raw = sentence("s1", "We/PRON/_/_ drink/VERB/_/_");
    assert_eq!(findings(&raw), ["no-heads note 1: f:1: 2 words"]);
    let unlabelled = sentence("s1", "We/PRON/2/_ drink/VERB/0/_");
    assert_eq!(findings(&unlabelled), ["no-labels note 1: f:1: 2 words"]);
    // By design in some treebanks of the shared tasks.
    let conll_x = "1\tla\t_\td\tda\t_\t2\t_\t_\t_\n2\tcasa\t_\tn\tnc\t_\t0\tROOT\t_\t_\n\n";
    assert_eq!(findings(conll_x), ["missing-label note 1: f:1:8: 1 la"]);
    assert_eq!(findings(""), ["no-sentences warning 1: f:1: nothing to read"]);
}

#[test]
fn only_the_root_has_the_label_root() {
    assert_eq!(
        findings(&changed("0\troot", "0\tccomp")),
        ["root-label error 1: f:4:8: 2 drink: ccomp (sent_id = s1)"]
    );
    assert_eq!(
        findings(&changed("2\tobj", "2\troot")),
        ["root-elsewhere error 1: f:5:8: 3 tea: root (sent_id = s1)"]
    );
}

#[test]
fn values_outside_the_scheme_are_found() {
    let text = sentence(
        "s1",
        "We/PRON/2/nsubj drink/VERB/0/root hot/ADJ/4/amod tea/NN/2/obj ./PUNCT/2/pct",
    );
    assert_eq!(
        findings(&text),
        [
            "unknown-tag error 1: f:6:4: NN (sent_id = s1)",
            "unknown-label error 1: f:7:8: pct (sent_id = s1)"
        ]
    );
    // SUD: universal tags, its own labels.
    let sud = sentence("s1", "We/PRON/2/subj drink/VERB/0/root tea/NOUN/2/comp:obj");
    assert_eq!(findings(&sud), [""; 0]);
    let report = check(&[("f", &sud)]);
    assert_eq!(report.files[0].scheme.unwrap().to_string(), "universal tags, own labels");
}

#[test]
fn versions_of_universal_dependencies_do_not_mix() {
    let second = sentence("s1", "We/PRON/2/nsubj drink/VERB/0/root hot/ADJ/4/amod tea/NOUN/2/obj");
    let first = sentence("s2", "You/PRON/2/nsubj want/VERB/0/root some/DET/2/dobj");
    let both = format!("{second}{second}{first}").replacen("s1", "s0", 1);
    assert_eq!(
        findings(&both),
        ["mixed-versions warning 1: f:19:8: DEPREL dobj of version 1 (sent_id = s2)"]
    );
    assert_eq!(
        lines(&check(&[("a", &second), ("b", &first)])),
        ["mixed-versions warning 1: b:1: UD v1, but a is UD v2"]
    );
    assert_eq!(check(&[("b", &first)]).files[0].scheme.unwrap().version, 1);
}

#[test]
fn two_label_sets_in_a_file_are_noticed() {
    let mut text = String::new();
    for at in 0..6 {
        let words = format!("w{at}/NOUN/2/nsubj x/VERB/0/root y/NOUN/2/obj z/ADV/2/advmod");
        let others = format!("v{at}/NOUN/2/SBJ x/VERB/0/ROOT y/NOUN/2/OBJ z/ADV/2/ADV");
        text.push_str(&sentence(&format!("u{at}"), &words));
        if at < 3 {
            text.push_str(&sentence(&format!("o{at}"), &others));
        }
    }
    let report = check(&[("f", &text)]);
    let finding = report.findings.iter().find(|f| f.kind == Kind::TwoLabelSets).unwrap();
    assert_eq!((finding.count, finding.severity), (3, Severity::Warning));
    assert_eq!(finding.examples[0].to_string(), "f:10: labels SBJ ROOT OBJ ADV (sent_id = o0)");
}

#[test]
fn files_of_other_formats_and_labels_are_noticed() {
    let universal = sentence(
        "s1",
        "We/PRON/3/nsubj all/DET/1/det drink/VERB/0/root hot/ADJ/5/amod tea/NOUN/3/obj too/ADV/3/advmod",
    );
    let own = "1\tVi\t_\tP\tP\t_\t2\tsubj\t_\t_\n2\tvil\t_\tV\tV\t_\t0\tROOT\t_\t_\n\
               3\tha\t_\tV\tV\t_\t2\tvobj\t_\t_\n4\tte\t_\tN\tN\t_\t3\tdobj\t_\t_\n\
               5\tnu\t_\tR\tR\t_\t3\tmod\t_\t_\n\n";
    let lines = lines(&check(&[("a", &universal), ("b", own)]));
    assert_eq!(
        lines,
        [
            "other-values warning 10: b:1:8: DEPREL subj and 4 more that are not in a, on 5 of 5 \
             words",
            "mixed-formats warning 1: b:1: CoNLL-X, but a is CoNLL-U",
            "case-variants warning 1: a:5:8: DEPREL root (1×) beside ROOT (1×)",
        ]
    );
}

#[test]
fn columns_are_checked() {
    let cases = [
        ("3\ttea\t_\tNOUN\t_", "3\ttea\t_\tNOUN\t", "empty-column error 1: f:5:5: XPOS is empty"),
        ("\t_\tNOUN\t_\t", "\t_\tNOUN\tN N\t", "space warning 1: f:5:5: XPOS is \"N N\""),
        ("NOUN\t_\t_", "NOUN\t_\tPlur", "bad-features error 1: f:5:6: \"Plur\" in Plur"),
        ("NOUN\t_\t_", "NOUN\t_\tA=1|A=2", "bad-features error 1: f:5:6: A twice in A=1|A=2"),
        ("NOUN\t_\t_", "NOUN\t_\tB=1|a=2", "feature-order warning 1: f:5:6: B=1|a=2"),
        ("obj\t_", "obj\t2", "bad-deps error 1: f:5:9: \"2\" in 2"),
        ("obj\t_", "obj\t7:obj", "deps-head error 1: f:5:9: 7:obj, but this sentence has no 7"),
        (
            "obj\t_",
            "obj\t2.1:obj",
            "deps-head error 1: f:5:9: 2.1:obj, but this sentence has no 2.1",
        ),
        ("obj\t_", "obj\t3:obj", "deps-head error 1: f:5:9: 3 is its own head in 3:obj"),
        ("obj\t_", "obj\t2:obj|1:x", "deps-order warning 1: f:5:9: 2:obj|1:x"),
        ("obj\t_\t_", "obj\t_\tA=1|B=2|A=3", "repeated-misc warning 1: f:5:10: A in A=1|B=2|A=3"),
        ("obj\t_\t_", "obj\t_\tHeadProb=1.5", "head-prob error 1: f:5:10: HeadProb=1.5"),
        ("obj\t_\t_", "obj\t_\tHeadProb=NaN", "head-prob error 1: f:5:10: HeadProb=NaN"),
        (
            "3\ttea",
            "2.1\tx\t_\tX\t_\t_\t2\t_\t_\t_\n3\ttea",
            "non-word-columns warning 1: f:5:7: 2.1 x: HEAD is 2",
        ),
        ("3\ttea\t_", "3\t_\ttea", "blank-form warning 1: f:5:2: 3 _, though LEMMA is tea"),
    ];
    for (from, to, expected) in cases {
        let found = findings(&changed(from, to));
        assert!(found.contains(&format!("{expected} (sent_id = s1)")), "{found:?}");
    }
    // Sorted ignoring case, entries of MISC without value, layered features: all valid.
    let fine = changed("NOUN\t_\t_", "NOUN\t_\tabbr=No|Number=Sing|Number[psor]=Sing");
    assert_eq!(findings(&fine), [""; 0]);
    assert_eq!(findings(&changed("obj\t_\t_", "obj\t0:root|2:obj\tA|A|HeadProb=1")), [""; 0]);
}

#[test]
fn invisible_forms_and_impossible_pheads_are_found() {
    let text = changed("3\ttea", "3\t\u{ad}").replace("drink tea", "drink \u{ad}");
    assert!(findings(&text)[0].starts_with("blank-form warning 1: f:5:2: 3 \\u{ad}"));
    let conll_x = "1\tJa\t_\tI\tI\t_\t0\tROOT\t4\tROOT\n\n";
    assert_eq!(
        findings(conll_x),
        ["deps-head error 1: f:1:9: PHEAD is \"4\", but this sentence has 1 word"]
    );
}

#[test]
fn text_must_agree_with_the_words() {
    let contracted = "\
# sent_id = s1
# text = Wanna  sip\u{a0}tea?
1-2\tWanna\t_\t_\t_\t_\t_\t_\t_\t_
1\tWan\t_\tVERB\t_\t_\t0\troot\t_\t_
2\tna\t_\tPART\t_\t_\t3\tmark\t_\t_
3\tsip\t_\tVERB\t_\t_\t1\txcomp\t_\t_
3.1\tsome\t_\tDET\t_\t_\t_\t_\t_\t_
4\ttea\t_\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No
5\t?\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_

";
    assert_eq!(findings(contracted), [""; 0]);
    assert_eq!(
        findings(&contracted.replace("\tSpaceAfter=No", "\t_")),
        ["text-mismatch warning 1: f:4: text has “…anna sip tea?”, the words give \
          “…anna sip tea ?” (sent_id = s1)"]
    );
    let bare = "1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n";
    assert_eq!(findings(bare), ["no-sent-id note 1: f:1: Yes", "no-text note 1: f:1: Yes"]);
}

#[test]
fn sent_ids_are_unique() {
    let a = "Yes/INTJ/0/root";
    let b = "No/INTJ/0/root";
    let twice = sentence("s1", a) + &sentence("s1", b);
    assert_eq!(findings(&twice), ["repeated-sent-id error 1: f:7: also at line 3 (sent_id = s1)"]);
    assert_eq!(
        lines(&check(&[("a", &sentence("s1", a)), ("b", &sentence("s1", b))])),
        ["shared-sent-id warning 1: b:3: also at a:3 (sent_id = s1)"]
    );
}

const LONG: &str = "We/PRON/2/nsubj drink/VERB/0/root our/PRON/5/nmod hot/ADJ/5/amod tea/NOUN/2/obj now/ADV/2/advmod";

#[test]
fn sentences_of_several_files_are_counted_pair_by_pair() {
    let train = sentence("a1", LONG) + &sentence("a2", LONG) + &sentence("a3", "Yes/INTJ/0/root");
    let test = sentence("b1", "Yes/INTJ/0/root") + &sentence("b2", LONG);
    let report = check(&[("train", &train), ("test", &test)]);
    assert_eq!(
        lines(&report),
        [
            "overlap warning 1: test:7: “We drink our hot tea now” also at train:3 (sent_id = b2)",
            "repeated-sentence note 1: train:12: “We drink our hot tea now” also at line 3 \
             (sent_id = a2)",
        ]
    );
    let [pair] = report.overlaps.as_slice() else { panic!("{:?}", report.overlaps) };
    assert_eq!((pair.first.as_str(), pair.second.as_str()), ("train", "test"));
    assert_eq!((pair.of_first, pair.of_second), (2, 1));
    assert_eq!((pair.short_of_first, pair.short_of_second), (1, 1));
}

#[test]
fn one_sentence_with_two_trees_is_noticed() {
    let other = LONG.replace("now/ADV/2/advmod", "now/ADV/5/advmod");
    let text = sentence("s1", LONG) + &sentence("s2", &other);
    assert_eq!(
        findings(&text)[1],
        "other-tree note 1: f:12:7: “We drink our hot tea now” also at line 3 (sent_id = s2)"
    );
}

/// A file of this number of different sentences, each of four words.
fn large(sentences: usize, prefix: &str) -> String {
    (0..sentences)
        .map(|at| {
            let words =
                format!("{prefix}{at}/NOUN/2/nsubj x/VERB/0/root y/NOUN/2/obj z/ADV/2/advmod");
            sentence(&format!("{prefix}{at}"), &words)
        })
        .collect()
}

#[test]
fn rare_values_are_noticed_in_large_files_only() {
    let rare = changed("2\tobj", "2\tdep").replace("NOUN\t_\t_", "NOUN\tNN\tGender=Fem");
    assert_eq!(findings(&rare), [""; 0]);
    assert_eq!(
        findings(&(large(250, "a") + &rare)),
        [
            "label-once note 1: f:1755:8: dep",
            "tag-once note 1: f:1753:4: PRON",
            "fine-tag-once note 1: f:1755:5: NN",
            "feature-once note 1: f:1755:6: Gender=Fem",
        ]
    );
    assert_eq!(
        lines(&check(&[("train", &large(250, "a")), ("test", &rare)]))[4..],
        ["new-value note 2: test:5:8: DEPREL dep (1×)"]
    );
}

#[test]
fn misused_tag_columns_are_noticed() {
    for (column, guess) in [
        ("FORM", "; it looks like FORM"),
        ("LEMMA", "; it looks like LEMMA"),
        ("FEATS", "; it looks like FEATS"),
        ("other", ""),
    ] {
        let text: String = (0..120)
            .map(|at| {
                let xpos = match column {
                    "FORM" => format!("form{at}"),
                    "LEMMA" => format!("lemma{at}"),
                    "FEATS" => format!("A={at}"),
                    _ => format!("T{at}"),
                };
                format!(
                    "# sent_id = {at}\n# text = form{at}\n\
                     1\tform{at}\tlemma{at}\tNOUN\t{xpos}\t_\t0\troot\t_\t_\n\n"
                )
            })
            .collect();
        assert_eq!(
            findings(&text),
            [format!(
                "many-values warning 1: f:3:5: XPOS has 120 values; 120 of them occur once{guess}"
            )]
        );
    }
    let text: String =
        (0..120).map(|at| format!("1\tx{at}\t_\tT{at}\tt\t_\t0\tL{at}\t_\t_\n\n")).collect();
    let found = findings(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("many-values warning 2: f:1:8: DEPREL has 120 values"));
}

#[test]
fn codes_are_different_and_kebab_case() {
    let codes: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), Kind::ALL.len());
    let kebab =
        |code: &&str| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'8');
    assert!(codes.iter().all(kebab));
}
