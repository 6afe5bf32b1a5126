//! Sentences of thousands of words.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use crate::output::{said, sentences};
use tutte_treebank::Sentence;
use tutte_trees::TreeSet;

const WORDS: usize = 5000;

/// A folder with a model and a sentence.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("long");
    fs::create_dir_all(&folder).unwrap();
    let tea = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tea.conllu");
    let mut train = Command::new(env!("CARGO_BIN_EXE_tutte"));
    train.args([
        "train",
        "-q",
        "--with",
        "parser",
        "--passes",
        "2",
        "--tree-set",
        "nonprojective-single-root",
        "-o",
    ]);
    let trained = train.args([&folder.join("tea.tutte"), &tea]).output().unwrap();
    assert!(trained.status.success(), "{}", said(&trained));

    let text = fs::read_to_string(&tea).unwrap();
    let sentences = text.split_inclusive("\n\n").map(|lines| lines.parse::<Sentence>().unwrap());
    let sentences: Vec<Sentence> = sentences.collect();
    let words = sentences.iter().flat_map(Sentence::words).cycle().take(WORDS);
    let mut long = "# sent_id = long\n# text = …\n".to_owned();
    for (number, word) in (1..).zip(words) {
        let (form, lemma, upos) = (word.form(), word.lemma(), word.upos());
        long += &format!("{number}\t{form}\t{lemma}\t{upos}\t_\t_\t_\t_\t_\tSpaceAfter=No\n");
    }
    let short = "# sent_id = short\n1\tTea\ttea\tNOUN\t_\t_\t_\t_\t_\t_\n\n";
    fs::write(folder.join("long.conllu"), format!("{short}{long}\n{short}")).unwrap();
    let far = long.replacen("\t_\t_\t_\tSpace", "\t4000\t_\t_\tSpace", 1);
    fs::write(folder.join("far.conllu"), format!("{short}{far}\n{short}")).unwrap();
    folder
});

fn parse(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.current_dir(&*FOLDER).args(["parse", "-m", "tea.tutte"]).args(arguments);
    command.output().unwrap()
}

#[test]
fn it_is_parsed_in_pieces_and_says_so() {
    let plain = sentences(&parse(&["long.conllu"]));
    let sure = sentences(&parse(&["long.conllu", "--probs"]));
    assert_eq!([plain.len(), sure.len()], [3, 3]);
    let pieces: usize = plain[1].comment("tutte_pieces").unwrap().parse().unwrap();
    assert!((20..=40).contains(&pieces), "{pieces}");
    assert_eq!(plain[0].comment("tutte_pieces"), None);
    let tree = plain[1].tree().unwrap();
    assert!(tree.check_in(TreeSet::NonProjectiveSingleRoot).is_ok());
    assert_eq!(sure[1].heads(), plain[1].heads());
    assert_eq!(sure[1].comment("tutte_pieces"), plain[1].comment("tutte_pieces"));
    assert!(sure[1].comment("tutte_logprob").is_some_and(|nats| nats.starts_with('-')));
    for word in sure[1].words() {
        let prob: f64 = word.misc_entry("HeadProb").unwrap().parse().unwrap();
        assert!((0.0..=1.0).contains(&prob) && word.misc_entry("LabelProb").is_some());
        assert_eq!(word.misc_entry("SpaceAfter"), Some("No"));
    }

    let output = parse(&["long.conllu", "--probs", "--to", "jsonl", "--min-prob", "0.5"]);
    let lines: Vec<serde_json::Value> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[1]["pieces"], pieces);
    assert_eq!(lines[1]["words"].as_array().unwrap().len(), WORDS);
    let heads =
        lines[1]["words"].as_array().unwrap().iter().filter_map(|word| word.get("head_prob"));
    assert!(heads.clone().all(|prob| prob.as_f64().unwrap() >= 0.5) && heads.count() < WORDS);
    assert!(lines[0].get("pieces").is_none());
}

#[test]
fn options_that_need_all_trees_are_left_out_with_a_warning() {
    let best = sentences(&parse(&["long.conllu"]));
    let short_ids = |options: &[&str]| -> Vec<String> {
        let output = parse(&[&["long.conllu"][..], options].concat());
        let said = said(&output);
        assert!(said.contains("warning: long.conllu:6: this sentence has 5,000 words"), "{said}");
        assert!(
            said.contains(&format!("instead of {}, it has its best tree", options[0])),
            "{said}"
        );
        assert!(said.contains("found in pieces (sent_id = long)\nhint: split it"), "{said}");
        assert_eq!(said.matches("warning").count(), 1, "{said}");
        let found = sentences(&output);
        let long = found.iter().find(|sentence| sentence.len() == WORDS).unwrap();
        assert_eq!((long.sent_id(), long.heads()), (Some("long"), best[1].heads()));
        assert_eq!(long.comment("tutte_pieces"), best[1].comment("tutte_pieces"));
        let short = found.iter().filter(|sentence| sentence.len() == 1);
        short.map(|sentence| sentence.sent_id().unwrap().to_owned()).collect()
    };
    assert_eq!(short_ids(&["--kbest", "2"])[0], "short.k1");
    assert_eq!(short_ids(&["--sample", "2"])[..2], ["short.s1", "short.s2"]);
    let greedy = parse(&["long.conllu", "--decode", "greedy"]);
    assert!(said(&greedy).contains("instead of --decode greedy, it has"), "{}", said(&greedy));
    assert_eq!(sentences(&greedy)[1].heads(), best[1].heads());

    let output = parse(&["long.conllu", "--kbest", "2", "--matrix", "--to", "jsonl"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("instead of --kbest and --matrix, it has"), "{}", said(&output));
    let lines: Vec<serde_json::Value> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for key in ["kbest", "marginals"] {
        let has_it: Vec<bool> = lines.iter().map(|line| line.get(key).is_some()).collect();
        assert_eq!(has_it, [true, false, true], "{key}");
    }
    assert!(lines[1]["pieces"].as_u64() > Some(1));
    assert_eq!(lines[1]["words"][0]["head"].as_u64(), best[1].heads().map(|heads| heads[0] as u64));

    let quiet = parse(&["long.conllu", "-q", "--kbest", "2"]);
    assert!(quiet.status.success() && said(&quiet).is_empty(), "{}", said(&quiet));
}

#[test]
fn a_given_head_in_another_piece_is_refused() {
    // The sentence is written unchanged, and parsing continues.
    let output = parse(&["far.conllu", "--keep-heads"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let message =
        "far.conllu:6:7: word 1 is given head 4000, but this sentence of 5000 words is parsed in";
    assert!(said(&output).contains(message), "{}", said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\t4000\t_\t_\tSpace") && text.ends_with("\t0\troot\t_\t_\n\n"));
}
