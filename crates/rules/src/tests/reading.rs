//! Tests of each construct of the language and of each error.

use super::*;

const EXAMPLE: &str = "\
# rules.tut        dependent  <- head                    where              target
det:               DET        <- nearest NOUN|PROPN      head right         90%
subj:              NOUN|PRON  <- nearest VERB            head right         60%..80%
adp:               ADP        <- NOUN                    distance 1..3      0.75 of pairs
obl:               NOUN[Case=Loc] <- VERB as obl                            >= 50% of words
verb-root:         VERB       <- ROOT                                       80% of words
between:           NOUN       <- nearest VERB            no PUNCT between   >= 40%
never:             *          <- PUNCT                                      never
";

fn either(tags: &[&str]) -> Test {
    let tests = tags.iter().flat_map(|tag| Test::upos(tag).alternatives);
    Test { alternatives: tests.collect() }
}

/// Returns `NOUN <- VERB 50%`, as a base for other rules.
fn plain() -> Rule {
    Rule {
        name: "r".to_owned(),
        line: 1,
        dependent: Test::upos("NOUN"),
        head: Head::Word(Test::upos("VERB")),
        nearest: false,
        as_label: None,
        place: Place::default(),
        counting: Counting::Words,
        target: Target::Exactly(0.5),
        weight: 1.0,
        group: None,
    }
}

#[test]
fn example_is_read() {
    let rules = read(EXAMPLE);
    assert_eq!(rules.len(), 7);
    let [det, subj, adp, obl, root, between, never] = rules.rules() else { panic!() };
    let right = Place { direction: Direction::Right, ..Place::default() };
    assert_eq!(
        *det,
        Rule {
            name: "det".to_owned(),
            line: 2,
            dependent: Test::upos("DET"),
            head: Head::Word(either(&["NOUN", "PROPN"])),
            nearest: true,
            place: right,
            counting: Counting::Nearest,
            target: Target::Exactly(0.9),
            ..plain()
        }
    );
    assert_eq!(subj.dependent, either(&["NOUN", "PRON"]));
    assert_eq!(subj.target, Target::Range(0.6, 0.8));
    assert_eq!(adp.place.distance, Some(Distance { least: 1, most: Some(3) }));
    assert_eq!((adp.counting, adp.target), (Counting::Pairs, Target::Exactly(0.75)));
    assert_eq!(obl.as_label.as_deref(), Some("obl"));
    assert_eq!((obl.counting, obl.target), (Counting::Words, Target::AtLeast(0.5)));
    assert_eq!((&root.head, root.counting), (&Head::Root, Counting::Words));
    assert_eq!(between.place.between, [Between { some: false, test: Test::upos("PUNCT") }]);
    assert_eq!((&never.dependent, never.target), (&Test::any(), Target::Never));
}

#[test]
fn example_is_written_in_columns() {
    assert_eq!(
        read(EXAMPLE).to_string(),
        "\
det:        DET             <- nearest NOUN|PROPN  head right        90%
subj:       NOUN|PRON       <- nearest VERB        head right        60%..80%
adp:        ADP             <- NOUN                distance 1..3     75% of pairs
obl:        NOUN[Case=Loc]  <- VERB as obl                           >= 50% of words
verb-root:  VERB            <- ROOT                                  80% of words
between:    NOUN            <- nearest VERB        no PUNCT between  >= 40%
never:      *               <- PUNCT                                 never
"
    );
}

#[test]
fn every_clause_is_read() {
    let place =
        |clause: &str| read(&format!("r: NOUN <- VERB {clause} 50%")).rules()[0].place.clone();
    assert_eq!(place("head left").direction, Direction::Left);
    assert_eq!(place("adjacent").distance, Some(Distance { least: 1, most: Some(1) }));
    assert_eq!(place("distance 4..").distance, Some(Distance { least: 4, most: None }));
    assert_eq!(place("distance 2").distance, Some(Distance { least: 2, most: Some(2) }));
    assert_eq!(
        place("some ADP | DET between no PUNCT between").between,
        [
            Between { some: true, test: either(&["ADP", "DET"]) },
            Between { some: false, test: Test::upos("PUNCT") }
        ]
    );
    assert_eq!(
        place(
            "head just after A head just before B dependent just after C dependent just before D"
        )
        .beside,
        [
            (Neighbour::BeforeHead, Test::upos("A")),
            (Neighbour::AfterHead, Test::upos("B")),
            (Neighbour::BeforeDependent, Test::upos("C")),
            (Neighbour::AfterDependent, Test::upos("D")),
        ]
    );
    let rule = read("r: NOUN<-VERB <=.5 of pairs weight 2.5 group \"my group\" # why not").rules()
        [0]
    .clone();
    assert_eq!(rule.target, Target::AtMost(0.5));
    assert_eq!((rule.counting, rule.weight), (Counting::Pairs, 2.5));
    assert_eq!(rule.group.as_deref(), Some("my group"));
    assert_eq!(read("r: NOUN <- VERB always").rules()[0].target, Target::Always);
}

#[test]
fn tests_check_columns_and_features() {
    let holds = |test: &str, word: &str| {
        let rules = read(&format!("r: {test} <- ROOT 50%"));
        rules.rules()[0].dependent.holds(sentence(word).word(1).unwrap()).unwrap()
    };
    let house = "houses/NOUN/NNS/Case=Acc,Loc|Number=Plur|Number[psor]=Sing";
    for test in [
        "NOUN",
        "*",
        "PROPN|NOUN",
        "xpos=NNS",
        "form=houses",
        "lemma=houses",
        "upos~/^N/",
        "form~/s$/",
        "NOUN[Case=Loc]",
        "NOUN[Case=\"Acc,Loc\"]",
        "*[Number=Plur,Case=Acc]",
        "NOUN[Number[psor]=Sing]",
        "xpos=NNS[form~/^h/,Number~/^Pl/]",
        "VERB | xpos=NNS",
        "\"NOUN\"",
    ] {
        assert!(holds(test, house), "{test}");
    }
    for test in [
        "VERB",
        "NN",
        "xpos=NN",
        "form=house",
        "NOUN[Case=Gen]",
        "NOUN[Gender=Masc]",
        "VERB[Case=Loc]",
        "upos~/^V/",
        "NOUN[Case=Loc,Number=Sing]",
    ] {
        assert!(!holds(test, house), "{test}");
    }
    assert!(holds("xpos=\",\"", ",/PUNCT/,"));
    assert!(holds(r"form~/^\d+$/", "1984/NUM"));
    assert!(!holds(r"form~/^\d+\/\d+$/", "1984/NUM"));
}

#[test]
fn formats_of_the_paper_are_read() {
    let rules = read(
        "#tags=pos\n\
         NNS <- VBD 0.75\n\
         ROOT -> VBD 1.0   # comment\n\
         type\tparent\tchild\tdir\tdist\tcontext\ttarget\n\
         edge\tVBZ\tNNS\tL\t*\t*\t0.75\n\
         #tags=cpos\n\
         edge\tROOT\tverb\tR\t*\t*\t1.0\tg\t2\n\
         edge noun prep R 1 * 0.5\n\
         between\tverb\tnoun\tR\t6-10\tpunc\tbin:0.83\n\
         surround\tnoun\tadj\tL\t>10\tp-1=det,c+1=,,p+1=verb\t0.75\n",
    );
    let expected = "\
line-2:   xpos=NNS  <- xpos=VBD  head right                                  75% of pairs
line-3:   xpos=VBD  <- ROOT                                                  100% of pairs
line-5:   xpos=NNS  <- xpos=VBZ  head right                                  75% of pairs
line-7:   verb      <- ROOT                                                  100% of pairs  weight 2  group g
line-8:   prep      <- noun      head left  distance 1                       50% of pairs
line-9:   noun      <- verb      head left  distance 6..10  some punc between  75% of pairs
line-10:  adj       <- noun      head right  distance 11..  head just after det  dependent just before \",\"  head just before verb  75% of pairs
";
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeeze(&rules.to_string()), squeeze(expected));
}

#[test]
fn the_table_of_the_paper_is_read() {
    let rules = read(
        "#tags=pos\nMD -> VB 1.00\nPOS <- NN .75\nJJ <- NNS .75\nNNP <- POS .75\nROOT -> MD .75\n\
         ROOT -> VBD 1.00\nROOT -> VBP .75\nROOT -> VBZ .75\nTO -> VB 1.00\nVBN -> IN .75\n\
         NNS <- VBD .75\nPRP <- VBD .75\nVBD -> TO 1.00\nVBD -> VBN .75\nNNS <- VBP .75\n\
         PRP <- VBP .75\nVBP -> VBN .75\nPRP <- VBZ .75\nNN <- VBZ .75\nVBZ -> VBN .75\n",
    );
    assert_eq!(rules.len(), 20);
    assert!(rules.rules().iter().all(|rule| rule.counting == Counting::Pairs));
    assert_eq!(rules.rules().iter().filter(|rule| rule.head == Head::Root).count(), 4);
}

#[test]
fn all_errors_are_reported_with_line_and_column() {
    assert_eq!(
        errors(
            "\
det DET <- NOUN 90%
det: DET NOUN 90%
det: DET <- NOUN
det: DET <- nearest NOUN head rihgt 90%
det: DET <- NOUN 120%
det: DET <- NOUN 0.8..0.6
ok: DET <- NOUN 80%
det: ROOT <- NOUN 80%
"
        ),
        [
            "1:1: found \"det\", expected a name and a colon, as in `det: DET <- nearest NOUN  head \
             right  90%` (only `TAG <- TAG NUMBER` needs no name)",
            "2:10: found \"NOUN\", expected `<-` between dependent and head",
            "3:17: found the end of the line, expected a target, such as 90%, 60%..80%, >= 50%, always \
             or never",
            "4:31: found \"rihgt\", expected `left`, `right` or `just` after `head`",
            "5:18: found the target 120%, expected 0 to 1, or 0% to 100%",
            "6:1: the name \"det\" is already used on line 5: rename one of the two rules",
            "6:18: the range ends before it begins: write the smaller share first",
            "8:6: found ROOT, expected a test of words: ROOT can only be the whole head, as in \
             `VERB <- ROOT` (for a tag of this name, write \"ROOT\" in quotes)",
        ]
    );
}

#[test]
fn invalid_rules_are_refused() {
    for (rule, expected) in [
        (
            "r: NOUN <- ROOT head right 50%",
            "1:17: this never matches: the root is left of all words",
        ),
        ("r: NOUN <- ROOT distance 2 50%", "1:17: this never matches: the root has no distance"),
        ("r: NOUN <- ROOT head just after X 50%", "1:17: this never matches: no word is beside"),
        ("r: NOUN <- nearest ROOT 50%", "1:12: found `nearest ROOT`: there is only one root"),
        ("r: NOUN <- ROOT|VERB 50%", "1:12: found ROOT, expected a test of words"),
        ("r: NOUN <- VERB 50% of nearest", "1:21: `of nearest` needs a nearest head"),
        ("r: NOUN <- VERB 50% 60%", "1:21: found a second target: a rule has at most one"),
        ("r: NOUN <- VERB head left head right 50%", "1:27: found a second direction"),
        ("r: NOUN <- VERB distance 0 50%", "1:17: found the distance 0"),
        ("r: NOUN <- VERB distance 3..2 50%", "1:17: the range ends"),
        ("r: NOUN <- VERB distance x 50%", "1:26: found \"x\", expected a distance"),
        ("r: NOUN <- VERB 50% weight 0", "1:28: found the weight 0"),
        ("r: NOUN <- VERB 50% weight -1", "1:28: found \"-1\", expected a number"),
        ("r: NOUN <- VERB -5%", "1:17: found \"-5%\", expected a target"),
        ("r: NOUN <- VERB nan", "1:17: found \"nan\", expected a target"),
        ("r: NOUN <- VERB 50% of people", "1:24: found \"people\", expected `pairs`"),
        ("r: NOUN <- VERB no PUNCT 50%", "1:26: found \"50%\", expected `between`"),
        ("r: NOUN[Case] <- VERB 50%", "1:13: found \"]\", expected `=` and a value"),
        ("r: NOUN[Case=Acc <- VERB 50%", "1:18: found \"<-\", expected `,` or `]`"),
        ("r: Case=Acc <- VERB 50%", "1:4: found \"Case\", expected upos, xpos, lemma or form"),
        ("r: form~/(/ <- VERB 50%", "1:10: invalid regular expression: unclosed group"),
        ("r: form~/a <- VERB 50%", "1:10: found a regular expression without an end"),
        ("r: form=\"a <- VERB 50%", "1:9: found an opening `\"`, expected a closing one"),
        ("r: NOUN| <- VERB 50%", "1:10: found \"<-\", expected another tag"),
        ("NOUN <- ROOT 0.5", "1:6: this never matches: the root is left of all words"),
        ("NOUN -> ROOT 0.5", "1:9: found ROOT as the dependent"),
        ("NOUN <- VERB 1.5", "1:14: found the target 150%"),
        ("edge\tROOT\tverb\tL\t*\t*\t1", "1:16: this never matches: the root is left"),
        ("edge\tnoun\tROOT\tL\t*\t*\t1", "1:11: found ROOT as the dependent"),
        ("edge\tnoun\tverb\tX\t*\t*\t1", "1:16: dir: found \"X\", expected L, R or *"),
        (
            "edge\tnoun\tverb\tL\t*\t*\t?",
            "1:22: the target is open (?): count it in a treebank with `tutte rules suggest",
        ),
        ("edge\tnoun\tverb\tL\t*\t*\tx", "1:22: target: found \"x\", expected 0.75"),
        ("NOUN <- VERB ?", "1:14: the target is open"),
        ("r: NOUN <- VERB ? of pairs", "1:17: the target is open"),
        ("edge\tnoun\tverb\tL\t*\tdet\t1", "1:20: context: found \"det\", expected *"),
        ("surround\tnoun\tverb\tL\t*\tdet\t1", "1:24: context: found \"det\", expected p-1="),
        ("between\tnoun\tverb\tL\t*\t*\t1", "1:23: context: found \"*\", expected the tag"),
        ("edge\tnoun\tverb\tL", "1:1: found 4 columns, expected 7 to 9"),
        ("#tags=word", "1:1: found \"#tags=word\", expected #tags=pos or #tags=cpos"),
    ] {
        let found = errors(rule);
        assert_eq!(found.len(), 1, "{rule}: {found:?}");
        assert!(found[0].starts_with(expected), "{rule}: {}", found[0]);
    }
}

#[test]
fn duplicate_rules_are_left_out_or_refused() {
    let again = read(
        "a: NOUN|PRON <- VERB 50%\nb: PRON|NOUN <- VERB 50%\nc: NOUN|PRON <- VERB 50% of pairs",
    );
    assert_eq!(again.len(), 2);
    assert_eq!(again.warnings().len(), 1);
    assert_eq!(again.warnings()[0].line, 2);
    assert_eq!(
        errors("a: NOUN|PRON <- VERB 50%\nb: PRON|NOUN <- VERB 60%"),
        [
            "2:22: the target is 60% here and 50% on line 1, but both rules match the same arcs: remove \
          one of them"
        ]
    );
}

#[test]
fn open_targets_of_a_draft_are_counted_in_a_treebank() {
    let text = "#tags=cpos\nedge\tNOUN\tDET\tL\t*\t*\t?\nNOUN <- VERB ?\n\
                near: DET <- nearest NOUN head right ?\nmine: NOUN <- VERB 10% of words\n\
                none: INTJ <- VERB ?\nno: * <- PUNCT never\nodd: PUNCT <- VERB 30%\n";
    let draft = Draft::parse("draft", text).unwrap();
    assert_eq!((draft.len(), draft.open()), (7, 4));
    let exact = draft.filled(&treebank(), false).unwrap();
    let targets = |rules: &RuleSet| -> Vec<(String, String)> {
        rules.rules().iter().map(|rule| (rule.name.clone(), rule.target.to_string())).collect()
    };
    let named = |rules: &[(&str, &str)]| -> Vec<(String, String)> {
        rules.iter().map(|&(name, target)| (name.to_owned(), target.to_owned())).collect()
    };
    let rest = [("near", "75%"), ("mine", "10%"), ("no", "never"), ("odd", "30%")];
    let pairs = [("line-2", "60%"), ("line-3", "100%")];
    assert_eq!(targets(&exact), named(&[&pairs[..], &rest].concat()));
    let lines: Vec<usize> = exact.warnings().iter().map(|warning| warning.line).collect();
    assert_eq!(lines, [6]);
    let binned = draft.filled(&treebank(), true).unwrap();
    assert_eq!(binned.rules()[0].target, Target::Exactly(0.5));
    // All but hard constraints and rules that match nothing.
    let all = binned.filled(&treebank(), false).unwrap();
    let rest = [("near", "75%"), ("mine", "100%"), ("no", "never"), ("odd", "30%")];
    assert_eq!(targets(&all), named(&[&pairs[..], &rest].concat()));
    let error = Draft::parse("draft", "a: NOUN <- VERB ?\nb: NOUN <- VERB 50%").unwrap_err();
    assert!(error.to_string().contains("the target is 50% here and ? on line 1, but"));
}

#[test]
fn rules_built_by_a_program_are_checked() {
    assert!(RuleSet::new("made", vec![Rule { target: Target::Open, ..plain() }]).is_err());
    assert!(RuleSet::new("made", vec![plain()]).is_ok());
    let refused = |rule: Rule| RuleSet::new("made", vec![rule]).unwrap_err().to_string();
    assert!(refused(Rule { name: "a b".to_owned(), ..plain() }).contains("cannot be written"));
    assert!(refused(Rule { target: Target::AtMost(f64::NAN), ..plain() }).contains("NaN"));
    assert!(refused(Rule { weight: f64::INFINITY, ..plain() }).contains("inf"));
    assert!(refused(Rule { as_label: Some("a\nb".to_owned()), ..plain() }).contains("cannot be"));
    assert!(
        refused(Rule { dependent: Test { alternatives: vec![] }, ..plain() }).contains("found")
    );
}

#[test]
fn files_may_be_empty_or_have_a_byte_order_mark_or_windows_line_ends() {
    assert!(read("").is_empty());
    assert!(read("# nothing\n\n").is_empty());
    assert_eq!(read("\u{feff}a: NOUN <- VERB 50%\r\n").len(), 1);
    let error = RuleSet::from_bytes("x", b"a: NOUN <- VERB 50%\nb: \xff").unwrap_err();
    assert_eq!(
        error.to_string(),
        "x:2:4: found the byte 0xff, expected UTF-8: save the file as UTF-8"
    );
}

#[test]
fn groups_above_100_percent_give_a_warning() {
    let group =
        |share: &str| format!("a: DET <- NOUN 60% group det\nb: DET <- VERB {share} group det\n");
    assert!(read(&group("40%")).warnings().is_empty());
    let rules = read(&group(">= 50%"));
    assert!(rules.warnings()[0].message.contains("group det add up to 110 %"), "{rules}");
}

#[test]
fn a_treebank_is_one_problem() {
    let treebank = "# sent_id = 1\n1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t_\n\n".repeat(1000);
    let invalid = RuleSet::parse("tea.conllu", &treebank).unwrap_err();
    assert_eq!(invalid.problems.len(), 1);
    assert_eq!(invalid.problems[0].line, 2);
    assert!(invalid.problems[0].message.contains("treebank"), "{}", invalid.problems[0].message);
}
