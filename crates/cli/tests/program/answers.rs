//! Answers of `tutte parse`: complete JSON as `docs/parse.schema.json` describes it, no gold, drawn probabilities.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tutte_treebank::{Id, Sentence};

use crate::output::{said, sentences};

/// A sentence with a multiword token, an empty node, enhanced dependencies and what an earlier parse wrote.
const TREEBANK: &str = "\
# newdoc id = tea
# sent_id = tea-1
# text = Don't cool it,  Été!
# tutte_logprob = -1.0
# source = a letter
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tTyped=Yes
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\tHeadProb=0.1000
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\tLabelProb=0.2000
3\tcool\tcool\tVERB\tVB\t_\t0\troot\t0:root\tGloss=x|HeadProb=0.3000
4\tit\tit\tPRON\tPRP\tCase=Acc\t3\tobj\t3:obj|4.1:nsubj\tSpaceAfter=No
4.1\tgo\tgo\tVERB\t_\t_\t_\t_\t3:conj\t_
5\t,\t,\tPUNCT\t,\t_\t6\tpunct\t6:punct\tSpacesAfter=\\s\\s
6\tÉté\tété\tPROPN\tNNP\t_\t3\tvocative\t3:vocative\tSpaceAfter=No
7\t!\t!\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("json-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn parse(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_tutte"))
        .args(["parse", "-q"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    output
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns where a value breaks a schema, and how. Knows the keywords that `docs/parse.schema.json` uses.
fn complaints(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    const KNOWN: [&str; 15] = [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "required",
        "properties",
        "items",
        "minItems",
        "additionalProperties",
        "enum",
        "minimum",
        "maximum",
        "default",
    ];
    let object = schema.as_object().unwrap();
    let mut found = Vec::new();
    for keyword in object.keys() {
        assert!(KNOWN.contains(&keyword.as_str()), "this test does not know the keyword {keyword}");
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        found.extend(complaints(value, target, root, at));
    }
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind.as_str().unwrap())),
        kind => is_of(kind.as_str().unwrap()),
    };
    if !fits {
        found.push(format!("{at} is {value}, not {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        found.push(format!("{at} is {value}, not one of {}", schema["enum"]));
    }
    if let Some(number) = value.as_f64() {
        let least = schema["minimum"].as_f64().unwrap_or(f64::MIN);
        let most = schema["maximum"].as_f64().unwrap_or(f64::MAX);
        if !(least..=most).contains(&number) {
            found.push(format!("{at} is {number}, not from {least} to {most}"));
        }
    }
    for key in schema["required"].as_array().into_iter().flatten() {
        if value.get(key.as_str().unwrap()).is_none() {
            found.push(format!("{at} has no {key}"));
        }
    }
    for (key, inside) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(key) {
            Some(schema) => found.extend(complaints(inside, schema, root, &format!("{at}.{key}"))),
            None if schema["additionalProperties"] == Value::Bool(false) => {
                found.push(format!("{at} has the unknown key {key}"));
            }
            None => {}
        }
    }
    if let (Some(items), true) = (value.as_array(), object.contains_key("items")) {
        for (number, item) in items.iter().enumerate() {
            found.extend(complaints(item, &schema["items"], root, &format!("{at}[{number}]")));
        }
        if items.len() < schema["minItems"].as_u64().unwrap_or(0) as usize {
            found.push(format!("{at} is too short"));
        }
    }
    found
}

#[test]
fn the_schema_describes_every_line() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/parse.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let folder = folder("schema");
    let tree = folder.join("tea.conllu");
    fs::write(&tree, TREEBANK).unwrap();
    let conllx = folder.join("tea.conll");
    fs::write(&conllx, "1\tLys\t_\tN\tNC\tx|y\t0\tROOT\t_\t_\n\n").unwrap();
    let forbidden = folder.join("forbidden.conllu");
    fs::write(&forbidden, "1\tTea\ttea\tNOUN\t_\t_\t_\t_\t_\tForbid=0\n\n").unwrap();
    let (tree, conllx) = (tree.to_str().unwrap(), conllx.to_str().unwrap());
    let text = "I don't know. Fruit flies like a banana; it wouldn't matter, would it?";
    for options in [
        &["-t", text][..],
        &["-t", text, "--probs", "--alt", "0"],
        &["-t", text, "--kbest", "3"],
        &["-t", text, "--kbest", "3", "--probs"],
        &["-t", text, "--sample", "2"],
        &["-t", text, "--matrix"],
        &["-t", text, "--min-prob", "0.99"],
        &["-t", text, "--decode", "greedy"],
        &[tree],
        &[tree, "--keep-deps", "--keep-heads"],
        &[conllx],
    ] {
        let found = lines(&parse(&[options, &["--to", "jsonl"]].concat()));
        assert!(!found.is_empty());
        for line in found {
            assert_eq!(complaints(&line, &schema, &schema, "line"), [""; 0], "{options:?}: {line}");
        }
    }
    // A sentence that was not parsed says why.
    let mut refused = Command::new(env!("CARGO_BIN_EXE_tutte"));
    refused.args(["parse", "-q", "--to", "jsonl"]).arg(&forbidden);
    let line = &lines(&refused.output().unwrap())[0];
    assert!(line["error"].is_string(), "{line}");
    assert_eq!(complaints(line, &schema, &schema, "line"), [""; 0], "{line}");
}

#[test]
fn json_has_everything_that_conllu_has() {
    let file = folder("complete").join("tea.conllu");
    fs::write(&file, TREEBANK).unwrap();
    let line = &lines(&parse(&[file.to_str().unwrap(), "--to", "jsonl"]))[0];
    assert_eq!(line["sent_id"], "tea-1");
    assert_eq!(line["text"], "Don't cool it,  Été!");
    assert_eq!(line["comments"], serde_json::json!(["newdoc id = tea", "source = a letter"]));
    assert_eq!(line["model"], "english");
    assert!(line["logprob"].is_number() && line["entropy"].is_number());
    let tokens = line["tokens"].as_array().unwrap();
    let text: Vec<char> = line["text"].as_str().unwrap().chars().collect();
    for token in tokens {
        let [start, end] = ["start", "end"].map(|key| token[key].as_u64().unwrap() as usize);
        assert_eq!(text[start..end].iter().collect::<String>(), token["form"].as_str().unwrap());
    }
    let first = serde_json::json!(
        {"form": "Don't", "start": 0, "end": 5, "words": [1, 2], "misc": "Typed=Yes"}
    );
    assert_eq!(tokens[0], first);
    assert_eq!(tokens.len(), 6);
    let words = line["words"].as_array().unwrap();
    let sentence: Sentence = TREEBANK.parse().unwrap();
    for (word, token) in words.iter().zip(sentence.words()) {
        for (key, column) in [
            ("form", token.form()),
            ("lemma", token.lemma()),
            ("upos", token.upos()),
            ("xpos", token.xpos()),
            ("feats", token.feats()),
        ] {
            assert_eq!(word[key].as_str().unwrap_or("_"), column, "{word}");
        }
        for key in ["head", "head_prob", "label_prob"] {
            assert!(word[key].is_number(), "{key}: {word}");
        }
        assert!(word["deprel"].is_string() && word["alternatives"].is_array());
        assert!(word["deps"].is_null(), "the graph of the old tree: {word}");
        assert!(!word.to_string().contains("HeadProb"), "of an earlier parse: {word}");
    }
    assert_eq!(words[2]["misc"], "Gloss=x");
    let empty = serde_json::json!([{"id": "4.1", "form": "go", "lemma": "go", "upos": "VERB"}]);
    assert_eq!(line["empty_nodes"], empty);
}

#[test]
fn what_to_jsonl_writes_is_read_again_and_parsed_the_same() {
    let folder = folder("again");
    let treebank = folder.join("tea.conllu");
    fs::write(&treebank, TREEBANK).unwrap();
    let text = folder.join("text.txt");
    fs::write(&text, "I don't know  her.\n\nShe  wouldn't mind — 👍🏽 isn't she\nAda's?\n").unwrap();
    for input in [&treebank, &text] {
        let input = input.to_str().unwrap();
        let once = folder.join("once.jsonl");
        let once = once.to_str().unwrap();
        parse(&[input, "-o", once]);
        let first = fs::read_to_string(once).unwrap();
        // Recognised in a pipe, and by its name.
        let again = parse(&["-i", "jsonl", once, "--to", "jsonl", "--tags", "file"]);
        let again = String::from_utf8(again.stdout).unwrap();
        let facts = |lines: &str| -> Vec<Value> {
            let mut lines: Vec<Value> =
                lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            // Probabilities are averaged over the readings of tags, unless tags are given.
            for line in &mut lines {
                let line = line.as_object_mut().unwrap();
                line.remove("logprob");
                line.remove("entropy");
                // Raw text has a calibration of its own.
                line.remove("calibration");
                for word in line["words"].as_array_mut().unwrap() {
                    let word = word.as_object_mut().unwrap();
                    for key in ["head", "deprel", "alternatives", "upos_alternatives"] {
                        word.remove(key);
                    }
                    word.retain(|key, _| !key.ends_with("_prob"));
                }
            }
            lines
        };
        assert_eq!(facts(&first), facts(&again));
        // And what is in CoNLL-U is the same, too.
        let columns = |output: &Output| {
            let mut columns: Vec<Vec<String>> = Vec::new();
            for sentence in sentences(output) {
                for token in sentence.tokens() {
                    let row =
                        [token.form(), token.lemma(), token.upos(), token.xpos(), token.feats()];
                    let id = token.id().to_string();
                    let misc = token.misc().to_owned();
                    columns.push(row.map(str::to_owned).into_iter().chain([id, misc]).collect());
                }
            }
            columns
        };
        let direct = parse(&[input, "--to", "conll"]);
        let through_json = parse(&[once, "--to", "conll"]);
        assert_eq!(columns(&direct), columns(&through_json));
        assert!(sentences(&through_json).iter().any(|sentence| {
            sentence.tokens().any(|token| matches!(token.id(), Id::Multiword(..)))
        }));
    }
}

#[test]
fn lines_of_json_with_mistakes_say_where() {
    let folder = folder("mistakes");
    let file = folder.join("bad.jsonl");
    for (line, problem) in [
        (r#"{"words": [{"form": "a", "head": 7}]}"#, "HEAD is 7, but this sentence has 1 word"),
        (r#"{"words": [{"form": "a", "id": 3}]}"#, r#"item 1 of "words" has the id 3"#),
        (
            r#"{"words": [{"form": "a", "lemma": 3}]}"#,
            r#""lemma" of item 1 of "words" is a number"#,
        ),
        (r#"{"tokens": [""]}"#, r#"item 1 of "tokens" has no form"#),
        (r#"{"words": [{"lemma": "a"}]}"#, r#"item 1 of "words" has no form"#),
        (
            r#"{"words": ["a", "b"], "tokens": [{"form": "ab", "words": [1, 5]}]}"#,
            "the words [1, 5]",
        ),
        (r#"{"words": ["a"], "empty_nodes": [{"id": "7.1"}]}"#, "needs an \"id\" such as \"1.1\""),
        (r#"{"words": ["a\nb"]}"#, "must not contain tabs or line ends"),
    ] {
        fs::write(&file, format!("{{\"text\": \"Tea.\"}}\n{line}\n")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tutte"));
        let output = command.args(["parse", "-q"]).arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}");
        let said = said(&output);
        assert!(said.contains("bad.jsonl:2: ") && said.contains(problem), "{line}: {said}");
    }
}

/// Keys of other programs are not mistakes.
#[test]
fn other_keys_of_my_json_are_ignored() {
    let file = folder("others").join("posts.jsonl");
    fs::write(&file, "{\"text\": \"Tea.\", \"comments\": 12, \"likes\": [1], \"model\": null}\n")
        .unwrap();
    assert_eq!(sentences(&parse(&[file.to_str().unwrap()])).len(), 1);
}

#[test]
fn gold_graphs_do_not_leak_into_what_is_parsed() {
    let folder = folder("leak");
    let gold = folder.join("gold.conllu");
    fs::write(&gold, TREEBANK).unwrap();
    let gold = gold.to_str().unwrap();
    for options in
        [&[][..], &["--probs"], &["--kbest", "2"], &["--decode", "greedy"], &["--min-prob", "0.9"]]
    {
        for sentence in sentences(&parse(&[&[gold], options].concat())) {
            assert!(sentence.tokens().all(|token| token.deps() == "_"), "{options:?}");
            let is_leak = |token: tutte_treebank::Token<'_>| {
                ["0.1000", "0.2000", "0.3000"].iter().any(|old| token.misc().contains(old))
            };
            assert!(!sentence.tokens().any(is_leak), "{options:?}");
            let kept = parse(&[&[gold, "--keep-deps"], options].concat());
            assert!(
                sentences(&kept)[0].word(4).unwrap().deps() == "3:obj|4.1:nsubj",
                "{options:?}"
            );
        }
    }
    // Other trees with the graphs of the gold standard: ELAS is 100, and `eval` says why.
    let system = folder.join("system.conllu");
    fs::write(&system, TREEBANK.replace("\t6\tpunct\t6:", "\t3\tpunct\t6:")).unwrap();
    let eval = |system: &str| {
        let mut eval = Command::new(env!("CARGO_BIN_EXE_tutte"));
        let output = eval.args(["eval", gold, system]).output().unwrap();
        assert!(output.status.success());
        said(&output)
    };
    let warning = eval(system.to_str().unwrap());
    assert!(warning.contains("has the enhanced graphs of"), "{warning}");
    assert!(warning.contains("but other heads for 1 word"), "{warning}");
    fs::write(&system, TREEBANK.replace("\t3:obj|4.1:nsubj", "\t2:obj")).unwrap();
    let warning = eval(system.to_str().unwrap());
    assert!(warning.contains("DEPS contradicts HEAD: the heads of 1 of 7 words"), "{warning}");
    assert!(!eval(gold).contains("warning"));
    let parsed = folder.join("parsed.conllu");
    let parsed = parsed.to_str().unwrap();
    parse(&[gold, "-o", parsed]);
    assert!(!eval(parsed).contains("warning"));
}

#[test]
fn drawn_probabilities_are_those_of_head_and_label() {
    let folder = folder("drawn");
    let file = folder.join("tea.conllu");
    let probs = |head: &str, label: &str| {
        let misc = format!("HeadProb={head}|LabelProb={label}");
        fs::write(&file, format!("1\tTea\ttea\tNOUN\t_\t_\t0\troot\t_\t{misc}\n\n")).unwrap();
        let mut draw = Command::new(env!("CARGO_BIN_EXE_tutte"));
        let output = draw.args(["draw", "--to", "text"]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(probs("1.0000", "0.8600").contains("root 1.00×.86"));
    assert!(probs("0.9300", "0.9950").contains("root .93\n"));
    // Each of several trees has its probability.
    let output = parse(&["-t", "Time flies like an arrow.", "--kbest", "3", "--to", "draw"]);
    let drawn = String::from_utf8(output.stdout).unwrap();
    for tree in ["1.k1, probability 0.", "1.k2, probability 0.", "1.k3, probability 0."] {
        assert!(drawn.contains(tree), "{drawn}");
    }
}
