//! Comments and enhanced dependencies: setting them changes no other byte.

mod support;

use proptest::prelude::*;
use proptest::sample::select;
use support::{assert_consistent, conll_u, content, file};
use tutte_treebank::{Column, Error, Id, Sentence};

/// The slow twin of `set_comment`, line by line.
fn set_comment_by_lines(text: &str, key: &str, value: Option<&str>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let mut new = value.map(|value| format!("# {key} = {value}"));
    let mut lines: Vec<String> = Vec::new();
    let mut after_comments = 0;
    let mut words = false;
    for line in text[mark.len()..].split_inclusive('\n') {
        let bare = line.trim_end_matches('\n').trim_end_matches('\r');
        let end = &line[bare.len()..];
        let rest = bare.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix(key));
        let is_key = rest.is_some_and(|rest| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with('=')
        });
        let old = rest.and_then(|rest| rest.trim().strip_prefix('=')).map(str::trim);
        if is_key && new.is_some() && old == value {
            new = None;
            lines.push(line.to_owned());
        } else if is_key {
            lines.extend(new.take().map(|new| format!("{new}{end}")));
        } else {
            lines.push(line.to_owned());
        }
        words |= !bare.trim().is_empty() && !bare.starts_with('#');
        if !words && (bare.starts_with('#') || bare.trim().is_empty()) {
            after_comments = lines.len();
        }
    }
    if let Some(new) = new {
        lines.insert(after_comments, format!("{new}{newline}"));
    }
    format!("{mark}{}", lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn setting_a_comment_changes_no_other_byte(
        file in file(),
        key in select(vec!["text", "x", "newdoc", "a b", "tutte_logprob"]),
        value in select(vec![None, Some(""), Some("-12.5"), Some("10 000 = Ä")]),
    ) {
        for sentence in conll_u(file.as_bytes()).map(Result::unwrap) {
            let mut changed = sentence.clone();
            changed.set_comment(key, value).unwrap();
            prop_assert_eq!(changed.as_str(), set_comment_by_lines(sentence.as_str(), key, value));
            prop_assert_eq!(changed.comment(key), value);
            prop_assert_eq!(content(&changed).0, content(&sentence).0);
            assert_consistent(&changed);
            // Line numbers are still those of the file.
            prop_assert!(changed.tokens().map(|t| t.line()).eq(sentence.tokens().map(|t| t.line())));
            // Setting it again adds nothing.
            let once = changed.clone();
            changed.set_comment(key, value).unwrap();
            prop_assert_eq!(&changed, &once);
            changed.set_comment(key, Some("other")).unwrap();
            changed.set_head(1, None).unwrap();
            changed.set_comment(key, None).unwrap();
            prop_assert_eq!(changed.comment(key), None);
            assert_consistent(&changed);
        }
    }

    #[test]
    fn dependencies_are_read_as_they_were_set(
        file in file(),
        at in any::<proptest::sample::Index>(),
        picks in proptest::collection::vec(
            (any::<proptest::sample::Index>(), select(vec!["nsubj", "obl:in", "a:b:c", "é"])),
            0..5,
        ),
    ) {
        for mut sentence in conll_u(file.as_bytes()).map(Result::unwrap) {
            let nodes: Vec<Id> = sentence.tokens().map(|token| token.id())
                .filter(|id| !matches!(id, Id::Multiword(..))).collect();
            let heads: Vec<Id> = std::iter::once(Id::Word(0)).chain(nodes.iter().copied()).collect();
            let id = nodes[at.index(nodes.len())];
            let wanted: Vec<_> =
                picks.iter().map(|(pick, label)| (heads[pick.index(heads.len())], *label)).collect();
            let (mut rows, comments) = content(&sentence);
            sentence.set_enhanced(id, &wanted).unwrap();
            assert_consistent(&sentence);
            let token = sentence.tokens().find(|token| token.id() == id).unwrap();
            let found: Vec<_> = token.enhanced().collect::<Result<_, _>>().unwrap();
            // In the order of the lines, without duplicates, and nothing else.
            let place = |head: Id| heads.iter().position(|&other| other == head).unwrap();
            let order: Vec<_> = found.iter().map(|&(head, label)| (place(head), label)).collect();
            let mut expected: Vec<_> =
                wanted.iter().map(|&(head, label)| (place(head), label)).collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(order, expected);
            let row = rows.iter_mut().find(|row| row.0 == id).unwrap();
            row.1[Column::Deps as usize] = token.deps().to_owned();
            prop_assert_eq!(content(&sentence), (rows, comments));
        }
    }
}

#[test]
fn comments_are_replaced_in_place_and_duplicates_removed() {
    let mut sentence: Sentence = "\n# sent_id dawn-1\r\n# text = Mist.\r\n#text=Old\r\n\
         1\tMist\t_\tX\t_\t_\t0\troot\t_\t_  \r\n# late\r\n\r\n"
        .parse()
        .unwrap();
    sentence.set_comment("text", Some("Fog.")).unwrap();
    sentence.set_comment("sent_id", Some("dawn-2")).unwrap();
    sentence.set_comment("tutte_logprob", Some("-1.5")).unwrap();
    assert_eq!(
        sentence.as_str(),
        "\n# sent_id = dawn-2\r\n# text = Fog.\r\n# tutte_logprob = -1.5\r\n\
         1\tMist\t_\tX\t_\t_\t0\troot\t_\t_  \r\n# late\r\n\r\n"
    );
    sentence.set_comment("late", None).unwrap();
    sentence.set_comment("text", None).unwrap();
    assert_eq!(sentence.comments().count(), 2);
    assert!(sentence.as_str().ends_with("_  \r\n\r\n"));
}

#[test]
fn invalid_comments_are_refused() {
    let mut sentence: Sentence = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n".parse().unwrap();
    let before = sentence.clone();
    for (key, value) in
        [("", "x"), ("a=b", "x"), (" a", "x"), ("a", "x\ny"), ("a", " x"), ("a\r", "")]
    {
        let error = sentence.set_comment(key, Some(value)).unwrap_err();
        assert!(matches!(error, Error::BadComment { .. }), "{error}");
    }
    assert_eq!(sentence, before);
    let mut old: Sentence = "1\ta\t_\tN\tN\t_\t0\tROOT\t_\t_\n".parse().unwrap();
    insta::assert_snapshot!(
        old.set_comment("text", Some("a")).unwrap_err(),
        @r#"comment "text" cannot be set to "a": CoNLL-X has no comments; convert to CoNLL-U first"#
    );
}

#[test]
fn errors_in_deps_say_where() {
    let sentence: Sentence = "\
# sent_id = rook-1
1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tADP\t_\t_\t2\tcase\t2:case|1-2:case|2.1:x|1.1:ok|nsubj|2:|:x|02:x\t_
1.1\te\t_\tX\t_\t_\t_\t_\t_\t_
2\tel\t_\tDET\t_\t_\t0\troot\t\t_
"
    .parse()
    .unwrap();
    let all: Vec<String> = sentence
        .tokens()
        .flat_map(|token| token.enhanced().collect::<Vec<_>>())
        .map(|entry| match entry {
            Ok((head, label)) => format!("{head} {label}"),
            Err(error) => error.to_string(),
        })
        .collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
    2 case
    input:3:9: DEPS names the head 1-2, but a multiword token cannot be a head; its words can (sent_id = rook-1)
    input:3:9: DEPS names the head 2.1, but this sentence has no such empty node (sent_id = rook-1)
    1.1 ok
    input:3:9: DEPS holds "nsubj", but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj (sent_id = rook-1)
    input:3:9: DEPS holds "2:", but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj (sent_id = rook-1)
    input:3:9: DEPS holds ":x", but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj (sent_id = rook-1)
    input:3:9: DEPS holds "02:x", but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj (sent_id = rook-1)
    input:5:9: DEPS holds "", but a dependency is HEAD:LABEL, as in 4:nsubj or 5.1:obj (sent_id = rook-1)
    "#);
    let mut sentence = sentence;
    for (id, head, label) in [
        (Id::Word(1), Id::Empty(2, 1), "x"),
        (Id::Word(1), Id::Multiword(1, 2), "x"),
        (Id::Word(1), Id::Word(3), "x"),
        (Id::Word(1), Id::Word(2), ""),
        (Id::Word(1), Id::Word(2), "a|b"),
        (Id::Word(1), Id::Word(2), "a\tb"),
        (Id::Multiword(1, 2), Id::Word(2), "x"),
        (Id::Word(3), Id::Word(2), "x"),
    ] {
        assert!(sentence.set_enhanced(id, &[(head, label)]).is_err(), "{id} {head} {label}");
    }
}
