//! Messages and hints of all errors about input.

use insta::assert_snapshot;
use tutte_treebank::{Error, Format, Options, Reader};

/// Returns the message and the hint for the first bad sentence of a file called `farm.conllu`.
fn complaint(file: impl AsRef<[u8]>) -> String {
    complaint_with(file, Options::default())
}

fn complaint_with(file: impl AsRef<[u8]>, options: Options) -> String {
    let options = options.with_name("farm.conllu");
    let error = Reader::with_options(file.as_ref(), &options).find_map(Result::err).unwrap();
    say(&error)
}

fn say(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    }
}

/// Replaces spaces by tabs in lines of ten columns; `~` is an empty column.
fn tabs(lines: &str) -> String {
    lines.replace("  ", "\t").replace('~', "")
}

/// Returns a sentence with these IDs.
fn with_ids(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("{id}\tox\t_\tNOUN\t_\t_\t_\t_\t_\t_\n")).collect()
}

#[test]
fn columns() {
    assert_snapshot!(complaint(tabs("1  Hens  hen  NOUN\n")), @"
    farm.conllu:1: 4 columns between tabs, but CoNLL-U has 10
    unused columns hold _; sentences are separated by blank lines, comments start with #
    ");
    assert_snapshot!(complaint("# sent_id = hen-1\n1 Hens hen NOUN _ _ 0 root _ _\n"), @"
    farm.conllu:2: 1 column between tabs, but CoNLL-U has 10 (sent_id = hen-1)
    columns are separated by tabs, and this line has spaces: an editor may have replaced them
    ");
    assert_snapshot!(complaint(with_ids(&["1"]).replace('\n', "\t\n")), @"
    farm.conllu:1: 11 columns between tabs, but CoNLL-U has 10
    remove the tab at the end of the line
    ");
    assert_snapshot!(complaint(tabs("1  ~  _  X  _  _  0  root  _  _\n")), @"
    farm.conllu:1:2: FORM is empty
    write _ for an unknown form
    ");
}

#[test]
fn ids() {
    assert_snapshot!(complaint(with_ids(&["one"])), @r#"farm.conllu:1:1: ID is "one", but it must be a number, a range such as 3-4, or an empty node such as 5.1"#);
    assert_snapshot!(complaint(with_ids(&["01"])), @r#"farm.conllu:1:1: ID is "01", but it must be a number, a range such as 3-4, or an empty node such as 5.1"#);
    assert_snapshot!(complaint(with_ids(&["1", "3"])), @"farm.conllu:2:1: ID is 3, but 2 comes next");
    assert_snapshot!(complaint(with_ids(&["1", "2", "1"])), @"
    farm.conllu:3:1: ID is 1, but 3 comes next
    a new sentence? Separate sentences by a blank line
    ");
    assert_snapshot!(complaint(with_ids(&["1", "1.2"])), @"farm.conllu:2:1: ID is 1.2, but 1.1 comes next");
    assert_snapshot!(complaint(with_ids(&["1.1", "1"])), @"farm.conllu:1:1: ID is 1.1, but 0.1 comes next");
    let options = Options::default().with_format(Format::ConllX);
    assert_snapshot!(complaint_with(with_ids(&["1-2", "1", "2"]), options), @r#"
    farm.conllu:1:1: ID is "1-2", but it must be a number: CoNLL-X has one line per word
    if this is CoNLL-U, use --format conllu
    "#);
}

#[test]
fn ranges() {
    assert_snapshot!(complaint(with_ids(&["2-1", "1", "2"])), @"farm.conllu:1:1: multiword token 2-1 ends before it starts");
    assert_snapshot!(complaint(with_ids(&["1", "1-2", "2"])), @"farm.conllu:2:1: multiword token 1-2 must stand directly before word 1, but word 2 comes next");
    assert_snapshot!(complaint(with_ids(&["1-2", "1", "2-3", "2", "3"])), @"farm.conllu:3:1: multiword token 2-3 overlaps with 1-2");
    assert_snapshot!(complaint(with_ids(&["1-2", "1-2", "1", "2"])), @"farm.conllu:2:1: multiword token 1-2 overlaps with 1-2");
    assert_snapshot!(complaint(with_ids(&["1", "2-4", "2", "3"])), @"farm.conllu:2:1: multiword token 2-4 ends after the sentence, which has 3 words");
}

#[test]
fn heads() {
    let with_head = |head: &str| {
        let first = tabs("# sent_id = ox-9\n1  Oxen  ox  NOUN  _  _  2  nsubj  _  _\n");
        format!("{first}2\tplough\tplough\tVERB\t_\t_\t{head}\troot\t_\t_\n\n")
    };
    assert_snapshot!(complaint(with_head("14")), @"farm.conllu:3:7: HEAD is 14, but this sentence has 2 words (sent_id = ox-9)");
    let huge = "99999999999999999999999";
    assert_snapshot!(complaint(with_head(huge)), @"farm.conllu:3:7: HEAD is 99999999999999999999999, but this sentence has 2 words (sent_id = ox-9)");
    assert_snapshot!(complaint(with_head("2")), @"farm.conllu:3:7: HEAD is 2, the word itself (sent_id = ox-9)");
    assert_snapshot!(complaint(with_head("-1")), @r#"farm.conllu:3:7: HEAD is "-1", but it must be the number of a word, 0 for the root, or _ (sent_id = ox-9)"#);
    assert_snapshot!(complaint(with_head("root")), @r#"farm.conllu:3:7: HEAD is "root", but it must be the number of a word, 0 for the root, or _ (sent_id = ox-9)"#);
    assert_snapshot!(complaint(with_head("")), @r#"
    farm.conllu:3:7: HEAD is "", but it must be the number of a word, 0 for the root, or _ (sent_id = ox-9)
    write _ for an unknown head
    "#);
}

#[test]
fn sentences() {
    assert_snapshot!(complaint("\n\n# sent_id = barn\n# nothing here\n\n"), @"
    farm.conllu:3: a sentence without words (sent_id = barn)
    remove it, or join it to the next sentence; to parse plain text, run `tutte parse FILE -o OUT.conllu`
    ");
    assert_snapshot!(complaint(with_ids(&["0.1"])), @"
    farm.conllu:1: a sentence without words
    remove it, or join it to the next sentence; to parse plain text, run `tutte parse FILE -o OUT.conllu`
    ");
    let two = format!("{0}\n{0}", with_ids(&["1"]));
    let joined = format!("{}\n\u{feff}{}", with_ids(&["1"]), with_ids(&["1"]));
    assert_snapshot!(complaint(joined), @"
    farm.conllu:3: a byte order mark (U+FEFF) inside the input; it may only stand at its start
    remove it; files joined with cat may each start with one
    ");
    let error = two.parse::<tutte_treebank::Sentence>().unwrap_err();
    assert_snapshot!(say(&error), @"input:3: a second sentence starts here, but one was expected");
}

#[test]
fn encodings() {
    let latin = b"\n# sent_id = tyr-3\n1\ttyren\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tl\xf8b\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n";
    assert_snapshot!(complaint(latin), @"
    farm.conllu:4:2: byte 0xF8 is not UTF-8 (byte 3 of the line, byte 53 of the input, counted from 0) (sent_id = tyr-3)
    name the file's encoding, such as --encoding latin1 (Western Europe) or --encoding iso-8859-2 (Central Europe)
    ");
    assert_snapshot!(complaint(b"# h\xf8ne\n1\t"), @"
    farm.conllu:1: byte 0xF8 is not UTF-8 (byte 3 of the line, byte 3 of the input, counted from 0)
    name the file's encoding, such as --encoding latin1 (Western Europe) or --encoding iso-8859-2 (Central Europe)
    ");
    assert_snapshot!(complaint(b"\xff\xfe1\0\t\0"), @"
    farm.conllu:1:1: byte 0xFF is not UTF-8 (byte 0 of the line, byte 0 of the input, counted from 0)
    this looks like UTF-16: decode it with --encoding utf-16le
    ");
    let options = || Options::default().with_encoding("shift_jis".parse().unwrap());
    let broken = [with_ids(&["1"]).as_bytes(), b"\n# \x82\n1\t"].concat();
    assert_snapshot!(complaint_with(&broken, options()), @"
    farm.conllu:3: byte 27 of the input is not valid Shift_JIS
    choose another --encoding, or repair the file
    ");
    let before = Reader::with_options(&broken[..], &options()).filter_map(Result::ok).count();
    assert_eq!(before, 1, "what stands before the broken byte is read");
    assert_snapshot!(say(&"klingon".parse::<tutte_treebank::Encoding>().unwrap_err()), @r#"
    unknown encoding "klingon"
    use a name of the WHATWG standard: latin1, windows-1252, iso-8859-2, koi8-r, utf-16le, shift_jis, gb18030, …
    "#);
    assert_snapshot!(say(&"xml".parse::<Format>().unwrap_err()), @r#"unknown format "xml": expected conllu or conllx"#);
}

#[test]
fn trees() {
    let read = |lines: &str| Reader::new(tabs(lines).as_bytes()).next().unwrap().unwrap();
    let circle = read(
        "# sent_id = goat-2\n1  a  _  X  _  _  0  r  _  _\n2  b  _  X  _  _  3  d  _  _\n3  c  _  X  _  _  2  d  _  _\n",
    );
    assert_snapshot!(say(&circle.tree().unwrap_err()), @"
    input:3:7: the heads form a cycle: 2 → 3 → 2 (sent_id = goat-2)
    give one of these words another head
    ");
    let unknown = read("1  a  _  X  _  _  0  r  _  _\n2  b  _  X  _  _  _  _  _  _\n");
    assert_snapshot!(say(&unknown.tree().unwrap_err()), @"
    input:2:7: word 2 has no head
    parse the sentence first, or leave it out
    ");
}

#[test]
fn setters() {
    let lines = "1-2  du  _  _  _  _  _  _  _  _\n1  de  _  ADP  _  _  2  case  _  _\n2  le  _  DET  _  _  0  root  _  _\n";
    let mut sentence = Reader::new(tabs(lines).as_bytes()).next().unwrap().unwrap();
    let before = sentence.clone();
    use tutte_treebank::{Column, Id};
    let complain = |result: Result<(), Error>| say(&result.unwrap_err());
    assert_snapshot!(complain(sentence.set_head(1, Some(3))), @r#"HEAD of line 1 cannot be "3": a head is another word of the sentence, or 0 for the root"#);
    assert_snapshot!(complain(sentence.set_head(2, Some(2))), @r#"HEAD of line 2 cannot be "2": a head is another word of the sentence, or 0 for the root"#);
    assert_snapshot!(complain(sentence.set_head(3, Some(1))), @"the sentence has no line with ID 3; it has 2 words");
    assert_snapshot!(complain(sentence.set_heads(&[None])), @"expected one value per word: got 1 for a sentence of 2 words");
    assert_snapshot!(complain(sentence.set_heads(&[Some(2), Some(9)])), @r#"HEAD of line 2 cannot be "9": a head is another word of the sentence, or 0 for the root"#);
    assert_snapshot!(complain(sentence.set(Id::Multiword(1, 2), Column::Head, "1")), @r#"HEAD of line 1-2 cannot be "1": only words have heads"#);
    assert_snapshot!(complain(sentence.set(1, Column::Head, "x")), @r#"HEAD of line 1 cannot be "x": a head is the number of a word, 0 for the root, or _"#);
    assert_snapshot!(complain(sentence.set(1, Column::Id, "7")), @r#"ID of line 1 cannot be "7": an ID cannot be changed"#);
    assert_snapshot!(complain(sentence.set(1, Column::Form, "")), @r#"FORM of line 1 cannot be "": a form must not be empty"#);
    assert_snapshot!(complain(sentence.set_deprel(1, "a\tb")), @r#"DEPREL of line 1 cannot be "a\tb": a value must not contain tabs or line ends"#);
    assert_snapshot!(complain(sentence.set_deprels(&["a", "b\r"])), @r#"DEPREL of line 2 cannot be "b\r": a value must not contain tabs or line ends"#);
    assert_snapshot!(complain(sentence.set(1, Column::Misc, "A=1 ")), @r#"MISC of line 1 cannot be "A=1 ": MISC must not end with a space"#);
    assert_snapshot!(complain(sentence.set_misc(1, "A=", None)), @r#"MISC of line 1 cannot be "A=": a key must not be empty, be _, or contain = or |"#);
    assert_snapshot!(complain(sentence.set_misc(1, "A", Some("1|B=2"))), @r#"MISC of line 1 cannot be "1|B=2": a value must not contain |, which separates entries"#);
    assert_snapshot!(complain(sentence.set_misc(Id::Empty(1, 1), "A", None)), @"the sentence has no line with ID 1.1; it has 2 words");
    assert_eq!(sentence, before, "a refused change changes nothing");

    let lines = tabs("1  hest  _  N  NC  _  0  ROOT  _  _\n");
    let mut old = Reader::new(lines.as_bytes()).next().unwrap().unwrap();
    assert_snapshot!(complain(old.set_misc(1, "A", Some("1"))), @r#"MISC of line 1 cannot be "A": CoNLL-X has no column MISC; convert to CoNLL-U first"#);
}
