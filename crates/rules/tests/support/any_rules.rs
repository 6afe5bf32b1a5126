//! Properties of the crate on any bytes as a rules file: reading gives rules or errors with places, and rules can be
//! written, counted, matched and checked.
//!
//! Fuzzing (`fuzz/`) and the tests (`tests/no_panic.rs`) share this file. Add new properties here, for both.

use tutte_rules::{Draft, Feasibility, Invalid, RuleSet, Survey, bin};
use tutte_treebank::{Reader, Sentence};
use tutte_trees::TreeSet;

/// Annotated, partly annotated and untagged sentences.
const TREEBANK: &str = "\
# sent_id = tea-1
1\tthe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t_\t_
2\ttea\ttea\tNOUN\tNN\tCase=Acc,Loc|Number=Sing\t3\tobj\t_\t_
3\tcools\tcool\tVERB\tVBZ\tNumber=Sing\t0\troot\t_\t_
4\t,\t,\tPUNCT\t,\t_\t3\tpunct\t_\t_
5\tslowly\tslowly\tADV\tRB\t_\t_\t_\t_\t_

1\tTea\t_\t_\t_\t_\t_\t_\t_\t_
2\t|\t_\tSYM\t_\t_\t1\tdep\t_\t_

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

";

/// Reads `data` and checks all properties. Returns `true` if it is a rules file.
///
/// # Panics
/// If a property does not hold.
pub(crate) fn ask_everything(data: &[u8]) -> bool {
    let treebank: Vec<Sentence> =
        Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().expect("a treebank");
    let lines = 1 + data.iter().filter(|&&byte| byte == b'\n').count();
    let draft = Draft::from_bytes("any.tut", data);
    match &draft {
        Ok(draft) => ask_draft(draft, &treebank),
        Err(invalid) => ask_errors(invalid, lines),
    }
    let rules = match RuleSet::from_bytes("any.tut", data) {
        Ok(rules) => rules,
        Err(invalid) => {
            ask_errors(&invalid, lines);
            assert!(draft.map_or(true, |draft| draft.open() > 0), "only open targets are refused");
            return false;
        }
    };
    let draft = draft.expect("a set of rules is a draft");
    assert_eq!((draft.open(), draft.len()), (0, rules.len()));
    ask_rules(&rules, &treebank);
    true
}

/// Errors have messages and places, in order.
fn ask_errors(invalid: &Invalid, lines: usize) {
    assert!(!invalid.problems.is_empty());
    assert_eq!(invalid.file, "any.tut");
    assert!(invalid.problems.is_sorted_by_key(|problem| (problem.line, problem.column)));
    for problem in &invalid.problems {
        assert!((1..=lines).contains(&problem.line) && problem.column > 0, "{problem:?}");
        assert!(!problem.message.is_empty());
    }
}

/// Open targets are counted.
fn ask_draft(draft: &Draft, treebank: &[Sentence]) {
    for binned in [false, true] {
        if let Ok(filled) = draft.filled(treebank, binned) {
            assert!(filled.len() <= draft.len());
        }
    }
}

/// Rules are written as they are read, and every question about them has an answer.
fn ask_rules(rules: &RuleSet, treebank: &[Sentence]) {
    let text = rules.to_string();
    let again = RuleSet::parse("again.tut", &text).expect("rules can be read again");
    assert_eq!(again.rules().len(), rules.len());
    for (again, rule) in again.rules().iter().zip(rules.rules()) {
        let mut rule = rule.clone();
        rule.line = again.line;
        assert_eq!(*again, rule, "{text}");
    }
    assert_eq!(again.to_string(), text);
    for rule in rules.rules() {
        assert_eq!(rules.named(&rule.name).map(|found| &found.name), Some(&rule.name));
        let misspelt: String = rule.name.chars().skip(1).collect();
        let _ = rules.most_like(&misspelt);
    }
    for sentence in treebank {
        let matches = rules.matches(sentence);
        assert_eq!(matches.units.len(), rules.len());
        for &(head, modifier, rule) in &matches.arcs {
            assert!(head as usize <= sentence.len() && head != modifier);
            assert!((1..=sentence.len()).contains(&(modifier as usize)));
            assert!((rule as usize) < rules.len());
        }
        let _ = rules.allowed_arcs(sentence.len(), &matches);
        let scores = rules.baseline_scores(sentence);
        assert!(scores.arcs().all(|(.., score)| !score.is_nan()));
    }
    for (rule, statistics) in rules.rules().iter().zip(rules.statistics(treebank)) {
        let share = statistics.target(rule.counting);
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{share:?}");
    }
    if let Ok(filled) = rules.filled(treebank, true) {
        assert_eq!(filled.len(), rules.len());
    }
    let mut survey = Survey::new(rules);
    treebank.iter().for_each(|sentence| survey.add(sentence));
    let _ = survey.finish();
    for tree_set in TreeSet::ALL {
        let mut feasibility = Feasibility::new(rules, tree_set);
        for sentence in treebank {
            // A sentence may be too long.
            let _ = feasibility.add(sentence);
        }
        let _ = feasibility.finish();
    }
    for share in [0.0, 0.5, 1.0] {
        assert!((0.0..=1.0).contains(&bin(share)));
    }
}
