//! Expectations of the first day: limits before memory runs out, models that say what they
//! cannot do, files in the format of their names.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::output::said;

/// Makes an empty folder with the example treebank in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("expectations-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tea.conllu"), TEA.as_str()).unwrap();
    folder
}

static TEA: LazyLock<String> = LazyLock::new(|| {
    let tea = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tea.conllu");
    fs::read_to_string(tea).unwrap()
});

fn tutte(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs the program with at most this much address space, as `ulimit -v` sets it.
fn tutte_within(megabytes: usize, folder: &Path, arguments: &[&str]) -> Output {
    let mut shell = Command::new("sh");
    let limit = format!("ulimit -v {}; exec \"$@\"", megabytes * 1024);
    shell.args(["-c", &limit, "sh", env!("CARGO_BIN_EXE_tutte")]).args(arguments);
    shell.current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn refused(output: &Output, code: i32, parts: &[&str]) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

/// A treebank whose words all have another value in one column.
fn different(column: usize) -> String {
    let mut text = String::new();
    for number in 0..20_000 {
        let word = number % 5 + 1;
        let mut columns = [
            word.to_string(),
            "tea".into(),
            "tea".into(),
            "NOUN".into(),
            "_".into(),
            "_".into(),
            (word - 1).to_string(),
            "dep".into(),
            "_".into(),
            "_".into(),
        ];
        columns[column - 1] = format!("K={number}");
        let _ = writeln!(text, "{}{}", columns.join("\t"), if word == 5 { "\n" } else { "" });
    }
    text
}

/// The example treebank, and a sentence of 20,000 words.
fn endless() -> String {
    let mut text = TEA.clone() + "# sent_id = endless\n";
    for word in 1..=20_000 {
        let _ = writeln!(text, "{word}\ttea\ttea\tNOUN\t_\t_\t{}\tdep\t_\t_", word - 1);
    }
    text + "\n"
}

#[test]
fn a_treebank_with_20000_labels_is_refused_before_memory_runs_out() {
    let folder = folder("labels");
    fs::write(folder.join("labels.conllu"), different(8)).unwrap();
    let output = tutte_within(2000, &folder, &["train", "labels.conllu", "-o", "m.tutte"]);
    refused(
        &output,
        3,
        &["training would need about", "GB of memory", "20000 different labels", "--labels none"],
    );
    assert!(!said(&output).contains("tagger"), "the tagger is not trained first");

    fs::write(folder.join("feats.conllu"), different(6)).unwrap();
    let tagger = ["train", "feats.conllu", "-o", "m.tutte", "--with", "tagger"];
    let output = tutte_within(2000, &folder, &tagger);
    refused(&output, 3, &["20000 different morphological features (FEATS)", "at most 5000"]);
}

#[cfg(feature = "neural")]
#[test]
fn a_network_that_cannot_be_trained_is_refused_before_anything_is_learnt() {
    let folder = folder("networks");
    fs::write(folder.join("labels.conllu"), different(8)).unwrap();
    let train = ["train", "-o", "m.tutte", "--encoder"];
    let scratch = [&train[..], &["scratch", "labels.conllu"]].concat();
    refused(
        &tutte_within(2000, &folder, &scratch),
        3,
        &["training would need about", "GB of memory", "20000 different labels"],
    );
    for (more, parts) in [
        (&["missing"][..], &["cannot read missing/config.json"][..]),
        (&["scratch", "--rate", "nan"], &["the rate is NaN"]),
        (&["scratch", "--dropout", "1"], &["dropout is 1"]),
        (&["missing", "--with-features"], &["cannot read missing/config.json"]),
    ] {
        let output = tutte(&folder, &[&train[..], more, &["tea.conllu"]].concat());
        refused(&output, 3, parts);
        assert!(!said(&output).contains("learnt"), "{}", said(&output));
        assert!(!folder.join("m.tutte.resume-text").exists(), "{more:?}");
    }
}

#[test]
fn one_sentence_of_20000_words_is_refused_or_left_out_by_every_verb() {
    let folder = folder("endless");
    fs::write(folder.join("endless.conllu"), endless()).unwrap();
    fs::write(folder.join("rules.tut"), "det: DET <- nearest NOUN 90%\nno: * <- PUNCT never\n")
        .unwrap();
    let quick = ["--with", "parser", "--preset", "fast", "--passes", "1"];
    let model = [&["train", "tea.conllu", "-o", "tea.tutte"][..], &quick].concat();
    assert!(tutte(&folder, &model).status.success());
    let train = [&["train", "endless.conllu", "-o", "m.tutte"][..], &quick].concat();
    let verbs: [&[&str]; 8] = [
        &train,
        &["learn", "tea.conllu", "--trees", "endless.conllu", "--least", "1", "-o", "m.tutte"],
        &["rules", "check", "rules.tut", "endless.conllu"],
        &["rules", "show", "rules.tut", "endless.conllu", "--rule", "no", "-n", "all"],
        &["rules", "suggest", "endless.conllu"],
        &["score", "-m", "tea.tutte", "endless.conllu"],
        &["forest", "-m", "tea.tutte", "endless.conllu"],
        &["ask", "-m", "tea.tutte", "endless.conllu"],
    ];
    for verb in verbs {
        let output = tutte_within(2000, &folder, verb);
        let place = "error: endless.conllu:103: the sentence has 20000 words, but ";
        refused(&output, 3, &[place, " is limited to 1000 (sent_id = endless)", "--lenient"]);
        let output = tutte_within(2000, &folder, &[verb, &["--lenient"]].concat());
        refused(&output, 3, &["warning: endless.conllu:103: ", "1 sentence could not be read"]);
    }
    // The best tree of any sentence is found, in pieces.
    let parse = ["parse", "-m", "tea.tutte", "endless.conllu", "-o", "parsed.conllu"];
    assert!(tutte_within(2000, &folder, &parse).status.success());
    // Raw sentences of any length may be left out by their length.
    let learn = ["learn", "endless.conllu", "--rules", "rules.tut", "-o", "m.tutte"];
    let output = tutte_within(2000, &folder, &learn);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn absurd_numbers_are_refused() {
    let folder = folder("absurd");
    let train = ["train", "tea.conllu", "-o", "m.tutte"];
    for (more, parts) in [
        (["--learner", "mira:k=1000000"], ["k is 1000000", "choose 1 to 1000"]),
        (["--learner", "lbfgs:memory=1000000"], ["memory is 1000000", "at most 1000"]),
        (["--learner", "sgd:batch=1000000000"], ["batch size is 1000000000", "1000000 sentences"]),
    ] {
        refused(&tutte_within(2000, &folder, &[&train[..], &more].concat()), 2, &parts);
    }
    let clusters = ["--preset", "plain", "--with", "parser", "--bits", "28", "--clusters", "16"];
    let output = tutte_within(2000, &folder, &[&train[..], &clusters].concat());
    refused(&output, 3, &["GB of memory", "2^28 weights in each of 16 clusters", "fewer --bits"]);
    // Less than the limit of the program, but more than the system grants.
    let large = ["--preset", "plain", "--with", "parser", "--bits", "26"];
    let output = tutte_within(600, &folder, &[&train[..], &large].concat());
    refused(&output, 3, &["1.1 GB of memory", "arcs have 2^26 weights"]);
    let learn = ["learn", "tea.conllu", "--trees", "tea.conllu", "-o", "m.tutte"];
    let restarts = [&learn[..], &["--restarts", "1000000000"]].concat();
    refused(&tutte(&folder, &restarts), 2, &["1000000000 is not in 0..=10000"]);
    let length = [&learn[..], &["--max-length", "20000"]].concat();
    refused(&tutte(&folder, &length), 2, &["20000 is not in 1..=1000"]);
    // A thousand threads are not needed for eight sentences.
    let parse = ["parse", "-j", "1000", "tea.conllu", "-o", "parsed.conllu"];
    let output = tutte_within(2000, &folder, &parse);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn raw_text_for_a_model_without_tokenizer_and_tagger_is_a_warning() {
    let folder = folder("parser-only");
    let train = ["train", "tea.conllu", "-o", "m.tutte", "--with", "parser", "--preset", "fast"];
    assert!(tutte(&folder, &train).status.success());
    let output = tutte(&folder, &["parse", "-m", "m.tutte", "-t", "Tea cools. It rains."]);
    assert!(output.status.success());
    let said = said(&output);
    assert_eq!(said.matches("warning: this model has no tokenizer").count(), 1, "{said}");
    assert!(said.contains("2 of 2 sentences had no tags"), "{said}");
}

#[test]
fn a_model_without_a_parser_says_so() {
    let folder = folder("no-parser");
    let train = ["train", "tea.conllu", "-o", "m.tutte", "--with", "tokenizer,tagger"];
    assert!(tutte(&folder, &train).status.success());
    let output = tutte(&folder, &["parse", "-m", "m.tutte", "-t", "Tea cools."]);
    assert!(output.status.success());
    assert!(said(&output).contains("warning: this model has no parser"), "{}", said(&output));
}

#[test]
fn text_in_another_script_or_language_is_a_warning() {
    let folder = folder("foreign");
    let parse = |text: &str| {
        let output = tutte(&folder, &["parse", "-t", text]);
        assert!(output.status.success());
        said(&output)
    };
    let said = parse("Мама мыла раму. Чай остыл.");
    assert!(
        said.contains(
            "warning: 2 of 2 sentences are in Cyrillic script, but the English model inside tutte \
             (language: English) was trained on Latin script"
        ),
        "{said}"
    );
    let said = parse(
        "Gestern haben wir im Garten gearbeitet, aber heute regnet es den ganzen Tag, und deshalb bleiben \
         die Kinder zu Hause und spielen mit ihren neuen Büchern.",
    );
    assert!(said.contains("% of the words are not in the training data of the English"), "{said}");
    for text in ["The café sold 3 крендели.", "It rained, and the children stayed at home all day."]
    {
        assert!(!parse(text).contains("warning"), "{text}");
    }
}

#[test]
fn a_treebank_without_heads_is_refused_at_once() {
    let folder = folder("headless");
    let headless = TEA.lines().map(|line| {
        let mut columns: Vec<&str> = line.split('\t').collect();
        if columns.len() == 10 {
            columns[6] = "_";
            columns[7] = "_";
        }
        columns.join("\t") + "\n"
    });
    fs::write(folder.join("headless.conllu"), headless.collect::<String>()).unwrap();
    let output = tutte(&folder, &["train", "headless.conllu", "-o", "m.tutte"]);
    refused(&output, 3, &["no word of the treebank has a head", "--with tokenizer,tagger"]);
    assert!(!said(&output).contains("learnt"), "{}", said(&output));
}

#[test]
fn a_folder_that_does_not_exist_is_named_at_once_by_every_verb() {
    let folder = folder("nowhere");
    fs::write(folder.join("rules.tut"), "det: DET <- nearest NOUN 90%\n").unwrap();
    let verbs: [&[&str]; 14] = [
        &["train", "tea.conllu", "-o", "no/such/out"],
        &["learn", "tea.conllu", "--rules", "rules.tut", "-o", "no/such/out"],
        &["parse", "tea.conllu", "-o", "no/such/out"],
        &["parse", "tea.conllu", "--outfile", "no/such/out"],
        &["forest", "tea.conllu", "-o", "no/such/out"],
        &["score", "tea.conllu", "-o", "no/such/out"],
        &["ask", "tea.conllu", "-o", "no/such/out"],
        &["stats", "tea.conllu", "--html", "no/such/out"],
        &["eval", "tea.conllu", "tea.conllu", "--html", "no/such/out"],
        &["audit", "tea.conllu", "-o", "no/such/out"],
        &["draw", "tea.conllu", "-o", "no/such/out.svg"],
        &["diff", "tea.conllu", "tea.conllu", "--html", "no/such/out"],
        &["convert", "tea.conllu", "no/such/out.conllu"],
        &["rules", "suggest", "tea.conllu", "-o", "no/such/out"],
    ];
    for verb in verbs {
        let started = Instant::now();
        let output = tutte(&folder, verb);
        refused(&output, 2, &["there is no folder no/such; create it with `mkdir -p no/such`"]);
        assert!(started.elapsed() < Duration::from_secs(2), "{verb:?}");
    }
}

#[test]
fn convert_writes_the_format_that_the_name_promises_or_refuses() {
    let folder = folder("convert");
    let output = tutte(&folder, &["convert", "tea.conllu", "tea.json"]);
    refused(&output, 2, &["tea.json: .json is not", ".conllu, .conll, .conllx", "--to jsonl"]);
    refused(&tutte(&folder, &["convert", "tea.conllu", "tea.txt"]), 2, &["--raw-text"]);
    assert!(!folder.join("tea.json").exists() && !folder.join("tea.txt").exists());
    for name in ["tea.json --to conllu", "tea.CONLLU.gz", "tea", "tea.zst", "-"] {
        let arguments: Vec<&str> =
            ["convert", "tea.conllu"].into_iter().chain(name.split(' ')).collect();
        let output = tutte(&folder, &arguments);
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
    // The same for `parse`.
    refused(&tutte(&folder, &["parse", "tea.conllu", "-o", "x.json"]), 2, &["--to jsonl"]);
    refused(&tutte(&folder, &["parse", "tea.conllu", "-o", "x.html"]), 2, &["tutte draw"]);
}

#[test]
fn convert_joins_several_files() {
    let folder = folder("join");
    // Without a line end, and with the format of the other file.
    fs::write(folder.join("end.conllu"), "1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_").unwrap();
    fs::write(folder.join("old.conll"), "1\tTea\t_\tN\tN\t_\t0\troot\t_\t_\n\n").unwrap();
    let join = ["convert", "end.conllu", "tea.conllu", "-o", "all.conllu"];
    assert!(tutte(&folder, &join).status.success());
    let all = fs::read_to_string(folder.join("all.conllu")).unwrap();
    assert_eq!(all, format!("1\tTea\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n{}", *TEA));
    let output = tutte(&folder, &["convert", "tea.conllu", "end.conllu", "all.conllu"]);
    refused(&output, 2, &["3 files, but it is not clear which to write", "-o OUT"]);
    let output = tutte(&folder, &["convert", "end.conllu", "old.conll", "-o", "-"]);
    refused(&output, 2, &["end.conllu is CoNLL-U, but old.conll is CoNLL-X", "--to"]);
    let output =
        tutte(&folder, &["convert", "end.conllu", "old.conll", "-o", "-", "--to", "conllx"]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn rules_and_treebank_in_the_wrong_order_are_one_error() {
    let folder = folder("swapped");
    fs::write(folder.join("rules.tut"), "det: DET <- nearest NOUN 90%\n").unwrap();
    let output = tutte(&folder, &["rules", "check", "tea.conllu", "rules.tut"]);
    refused(&output, 1, &["tea.conllu:4:1: this is a line of a treebank", "wrong order"]);
    assert!(said(&output).lines().count() <= 3, "{}", said(&output));

    fs::write(folder.join("many.tut"), "no rule at all\n".repeat(300)).unwrap();
    let output = tutte(&folder, &["rules", "check", "many.tut"]);
    assert_eq!(said(&output).matches("error: many.tut:").count(), 20, "{}", said(&output));
    assert!(said(&output).contains("… 280 more\n300 errors in many.tut"), "{}", said(&output));
    let rules: String =
        (0..300).map(|number| format!("r{number}: X{number} <- NOUN 90%\n")).collect();
    fs::write(folder.join("many.tut"), rules).unwrap();
    let output = tutte(&folder, &["rules", "check", "many.tut", "tea.conllu"]);
    let warnings = said(&output).matches("warning: many.tut:").count();
    assert!((20..=60).contains(&warnings), "{warnings}: {}", said(&output));
    assert!(said(&output).contains("300 rules without a match in total"), "{}", said(&output));
}

#[test]
fn what_people_type_first_works() {
    let folder = folder("typed");
    let shown = |arguments: &[&str]| {
        let output = tutte(&folder, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let conllu = shown(&["parse", "-t", "Tea cools.", "--to", "conllu"]);
    assert!(conllu.contains("\n1\tTea\t"), "{conllu}");
    let line: serde_json::Value =
        serde_json::from_str(&shown(&["parse", "--json", "-t", "Tea cools."])).unwrap();
    assert_eq!(line["words"].as_array().map(Vec::len), Some(3));
    let output = tutte(&folder, &["parse", "--json", "--to", "conll", "-t", "Tea cools."]);
    refused(&output, 2, &["--json and --to conll"]);
    for verb in ["train", "parse", "convert", "draw", "rules"] {
        let help = shown(&["help", verb]);
        assert_eq!(help, shown(&[verb, "--help"]), "{verb}");
    }
    assert_eq!(shown(&["help"]), shown(&["--help"]));
}

#[test]
fn development_data_that_was_trained_on_is_a_warning() {
    let folder = folder("leak");
    let train =
        ["train", "tea.conllu", "--dev", "./tea.conllu", "-o", "m.tutte", "--with", "parser"];
    let output = tutte(&folder, &[&train[..], &["--preset", "fast", "--passes", "1"]].concat());
    assert!(output.status.success());
    let warning = "warning: ./tea.conllu is both training and development data";
    assert!(said(&output).contains(warning), "{}", said(&output));
}

#[test]
fn info_takes_a_model_and_fits_one_screen() {
    let folder = folder("info");
    let train = ["train", "tea.conllu", "-o", "m.tutte", "--preset", "fast", "--passes", "1"];
    assert!(tutte(&folder, &train).status.success());
    let info = |more: &[&str]| {
        let output = tutte(&folder, &[&["info"], more].concat());
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let short = info(&["m.tutte"]);
    assert_eq!(short, info(&["-m", "m.tutte"]));
    assert!(short.lines().count() <= 24, "{short}");
    assert!(!short.contains("templates of") && short.contains("labels"), "{short}");
    let long = info(&["m.tutte", "--templates"]);
    assert!(long.starts_with(&short) && long.contains("templates of second pass"), "{long}");
    assert!(info(&[]).lines().count() <= 30, "{}", info(&[]));
}

#[test]
fn pictures_are_written_to_the_file_that_o_names() {
    let folder = folder("pictures");
    let start = |name: &str| {
        let output = tutte(&folder, &["draw", "tea.conllu", "-n", "2", "-o", name]);
        assert!(output.status.success(), "{}", said(&output));
        assert!(output.stdout.is_empty() && said(&output).contains(&format!("{name} written")));
        fs::read_to_string(folder.join(name)).unwrap().chars().take(15).collect::<String>()
    };
    assert!(start("trees.svg").starts_with("<svg "));
    assert!(start("trees.html").to_lowercase().starts_with("<!doctype html>"));
    assert!(start("trees.tex").starts_with('%') || start("trees.tex").starts_with('\\'));
    assert!(start("trees.txt").starts_with("tea-1"));
    // A pipe gets what a terminal gets.
    let piped = tutte(&folder, &["draw", "tea.conllu", "-n", "2"]);
    assert_eq!(piped.stdout, fs::read(folder.join("trees.txt")).unwrap());
    // JSON goes to standard output, whatever else is written.
    for verb in [&["draw", "tea.conllu"][..], &["diff", "tea.conllu", "tea.conllu"]] {
        let output = tutte(&folder, &[verb, &["--json", "-o", "too.svg"]].concat());
        assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
        assert!(fs::remove_file(folder.join("too.svg")).is_ok(), "{verb:?}");
    }
    let output = tutte(&folder, &["draw", "tea.conllu", "-o", "svg"]);
    refused(&output, 2, &["-o names a file; choose the format with --to svg"]);
    let output = tutte(&folder, &["draw", "tea.conllu", "-o", "trees.pdf"]);
    refused(&output, 2, &["trees.pdf does not tell the format", "--to"]);
    let parse = ["parse", "-q", "tea.conllu", "-o", "trees.pdf"];
    refused(&tutte(&folder, &parse), 2, &["trees.pdf would be CoNLL", ".png", "--to conll"]);
    assert!(!folder.join("trees.pdf").exists());
    assert!(tutte(&folder, &[&parse[..], &["--to", "conll"]].concat()).status.success());
    let output = tutte(&folder, &["diff", "tea.conllu", "tea.conllu", "-o", "same.svg"]);
    assert!(output.status.success() && folder.join("same.svg").exists(), "{}", said(&output));
}

#[test]
fn a_sentence_in_place_of_a_file_is_told_about_t() {
    let folder = folder("sentence-as-file");
    let output = tutte(&folder, &["parse", "I saw her duck."]);
    refused(&output, 3, &["cannot open", "tutte parse -t \"I saw her duck.\""]);
}

#[test]
fn minus_one_is_a_wrong_value_and_not_an_option() {
    let folder = folder("minus-one");
    for arguments in [&["parse", "tea.conllu", "--sample", "-1"][..], &["draw", "--only", "-1"]] {
        let output = tutte(&folder, arguments);
        refused(&output, 2, &["invalid value '-1'", arguments[arguments.len() - 2]]);
    }
}

#[test]
fn wrong_arguments_get_the_advice_that_only_a_parser_can_give() {
    let folder = folder("advice");
    let encoding = tutte(&folder, &["parse", "--encoding", "klingon", "tea.conllu"]);
    refused(
        &encoding,
        2,
        &["unknown encoding \"klingon\"", "hint: use a name of the WHATWG standard: latin1"],
    );
    let picture = tutte(&folder, &["parse", "-t", "Tea cools.", "--to", "svg"]);
    refused(
        &picture,
        2,
        &["possible values", "hint: `tutte draw FILE -o picture.svg` draws trees"],
    );
    let other = tutte(&folder, &["parse", "-t", "Tea cools.", "--to", "xml"]);
    assert!(!said(&other).contains("hint:"), "{}", said(&other));
    let verbless = tutte(&folder, &["-t", "Tea cools."]);
    refused(&verbless, 2, &["hint: a verb comes first, as in `tutte parse -t 'Time flies.'`"]);
    let unknown = tutte(&folder, &["parse", "--flies", "tea.conllu"]);
    assert!(!said(&unknown).contains("a verb comes first"), "{}", said(&unknown));
}

#[test]
fn eight_bits_are_for_networks() {
    let folder = folder("eight");
    let train =
        ["train", "-q", "tea.conllu", "-o", "tea.tutte", "--preset", "plain", "--passes", "1"];
    assert!(tutte(&folder, &train).status.success());
    let calibrate =
        ["calibrate", "-m", "tea.tutte", "tea.conllu", "--eight-bit", "-o", "new.tutte"];
    let output = tutte(&folder, &calibrate);
    refused(&output, 2, &["the weights of this model have 8 bits already"]);
    assert!(!folder.join("new.tutte").exists());
}

#[test]
fn an_empty_treebank_is_one_error_without_a_choice_of_trees() {
    let folder = folder("empty");
    fs::write(folder.join("empty.conllu"), "").unwrap();
    for verb in [&["train", "empty.conllu", "-o", "x.tutte"][..], &["audit", "empty.conllu"]] {
        let output = tutte(&folder, verb);
        refused(&output, 3, &["there are no sentences to"]);
        assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    }
}

#[test]
fn a_folder_is_not_a_file_to_write_nor_a_model() {
    let folder = folder("folder-as-file");
    fs::create_dir(folder.join("there")).unwrap();
    for command in
        ["parse tea.conllu -o there", "train tea.conllu -o there", "audit tea.conllu -o there"]
    {
        let output = tutte(&folder, &command.split(' ').collect::<Vec<_>>());
        refused(&output, 2, &["there is a folder; name a file"]);
    }
    refused(&tutte(&folder, &["info", "there"]), 3, &["not a model of tutte but a folder"]);
    fs::write(folder.join("file"), "").unwrap();
    let output = tutte(&folder, &["run", "tea.conllu", "-o", "file"]);
    refused(&output, 2, &["file is a file; name a folder with -o"]);
}

#[test]
fn lenient_skips_paragraphs_in_another_encoding() {
    let folder = folder("lenient-text");
    fs::write(folder.join("mixed.txt"), b"Tea cools.\n\nCaf\xe9 au lait.\n\nWe wait.\n").unwrap();
    let output = tutte(&folder, &["parse", "mixed.txt", "--lenient", "-q"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(stdout.contains("# text = Tea cools.") && stdout.contains("# text = We wait."));
    assert!(!stdout.contains("lait"), "{stdout}");
    let output = tutte(&folder, &["parse", "mixed.txt"]);
    refused(&output, 3, &["mixed.txt:3: byte 0xE9 is not UTF-8", "--encoding latin1"]);
}

#[cfg(not(feature = "png"))]
#[test]
fn png_says_how_to_get_it() {
    let folder = folder("no-png");
    let output = tutte(&folder, &["draw", "tea.conllu", "-o", "tree.png"]);
    refused(&output, 2, &["this build of tutte cannot write PNG", "-o tree.svg", "--features png"]);
    assert!(!folder.join("tree.png").exists());
}

#[cfg(feature = "png")]
#[test]
fn png_is_an_image_of_the_drawing() {
    let folder = folder("png");
    let output = tutte(&folder, &["draw", "tea.conllu", "-n", "2", "-o", "tree.png"]);
    assert!(output.status.success(), "{}", said(&output));
    let image = fs::read(folder.join("tree.png")).unwrap();
    let (width, height) = size_of_png(&image);
    assert!((500..=2000).contains(&width), "{width}");
    assert!((200..=2000).contains(&height), "{height}");
    // A blank image of this size has less than 5 kB.
    assert!(image.len() > 10_000, "words and arcs are drawn: {}", image.len());
    let output = tutte(&folder, &["draw", "tea.conllu", "--to", "png", "--only", "1"]);
    size_of_png(&output.stdout);
}

#[cfg(feature = "png")]
#[test]
fn parse_writes_pictures_of_its_trees() {
    let folder = folder("parse-png");
    for name in ["tree.png", "tree.svg", "tree.tex"] {
        let output = tutte(&folder, &["parse", "-t", "We read the book.", "-o", name]);
        assert!(output.status.success(), "{name}: {}", said(&output));
    }
    let (width, height) = size_of_png(&fs::read(folder.join("tree.png")).unwrap());
    assert!((200..=2000).contains(&width) && (100..=2000).contains(&height), "{width} {height}");
    let svg = fs::read_to_string(folder.join("tree.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains(">book<") && svg.contains("obj"), "{svg}");
    assert!(fs::read_to_string(folder.join("tree.tex")).unwrap().contains("book"));
    // Several trees are one picture, each with its probability.
    let several = ["parse", "-t", "We saw her duck.", "--kbest", "2", "-o", "trees.svg"];
    assert!(tutte(&folder, &several).status.success());
    let svg = fs::read_to_string(folder.join("trees.svg")).unwrap();
    assert_eq!(svg.matches(">duck<").count(), 2, "{svg}");
    assert_eq!(svg.matches("probability 0.").count(), 2, "{svg}");
}

/// A picture without its words would be worse than none.
#[cfg(all(feature = "png", target_os = "linux"))]
#[test]
fn png_without_fonts_is_an_error() {
    let folder = folder("no-fonts");
    let config = folder.join("fonts.conf");
    fs::write(&config, "<fontconfig><dir>/no/such/folder</dir></fontconfig>").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tutte"))
        .current_dir(&folder)
        .env("FONTCONFIG_FILE", &config)
        .args(["draw", "tea.conllu", "-o", "tree.png"])
        .output()
        .unwrap();
    refused(&output, 3, &["PNG needs a font, and this computer has none", "-o tree.svg"]);
    assert!(!folder.join("tree.png").exists());
}

/// Returns width and height of a PNG.
#[cfg(feature = "png")]
fn size_of_png(image: &[u8]) -> (u32, u32) {
    assert!(image.starts_with(b"\x89PNG\r\n\x1a\n"), "this is not PNG");
    let number = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}
