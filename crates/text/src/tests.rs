//! Tests of whole tokenizers: they learn their treebank, and lose nothing of a text, in whatever pieces it arrives.

use std::io::Read;

use proptest::prelude::*;
use tutte_linear::{Compact, Weights};
use tutte_treebank::{Reader, Sentence};

use super::*;
use crate::Error;

/// Returns sentences of a few languages as one treebank: multiword tokens, abbreviations, a number with a space.
fn treebank() -> Vec<Sentence> {
    let text = "Mr.|Tea|cools_.\nI|do+n't=don't|mind_,|said|Ms.|Cup_.\nWe|ca+n't=can't|wait_!\n\
                \"_Is|it|hot_?_\"\nShe|does+n't=doesn't|know_.\nIt|cost|1 000|euros_.\nWhy_?\n\
                Le|bord|de+le=du|lac_.\nDe+le=Du|thé_?\nO|bordo|de+o=do|lago_.\nSee|http://a.example/b|now_.\n";
    read_treebank(text)
}

/// Reads a treebank with one sentence per line. `|` stands for a space, `_` for none.
fn read_treebank(text: &str) -> Vec<Sentence> {
    let mut lines = String::new();
    for (number, sentence) in text.lines().enumerate() {
        if number % 4 == 0 {
            lines.push_str("# newpar\n");
        }
        let mut word = 0;
        for (spaces, token) in sentence.split('|').flat_map(|part| {
            part.split('_').rev().enumerate().collect::<Vec<_>>().into_iter().rev()
        }) {
            let (words, form) = token.split_once('=').unwrap_or((token, token));
            let words: Vec<&str> =
                if words == form { vec![form] } else { words.split('+').collect() };
            let misc = if spaces == 0 { "_" } else { "SpaceAfter=No" };
            let empty = "\t_\t_\t_\t_\t_\t_\t_\t";
            if words.len() > 1 {
                lines.push_str(&format!(
                    "{}-{}\t{form}{empty}{misc}\n",
                    word + 1,
                    word + words.len()
                ));
            }
            for form in &words {
                word += 1;
                let misc = if words.len() > 1 { "_" } else { misc };
                lines.push_str(&format!("{word}\t{form}{empty}{misc}\n"));
            }
        }
        lines.push('\n');
    }
    Reader::new(lines.as_bytes()).collect::<Result<_, _>>().unwrap()
}

fn trained() -> Tokenizer<Compact> {
    let treebank: Vec<Sentence> = std::iter::repeat_n(treebank(), 4).flatten().collect();
    let options = TokenizerOptions { bits: Some(14), ..TokenizerOptions::default() };
    Tokenizer::train(&treebank, &options).unwrap().compact()
}

fn segment<W: Weights>(tokenizer: &Tokenizer<W>, text: &str) -> Vec<Sentence> {
    Segmenter::new(tokenizer, text.as_bytes()).collect::<Result<_, _>>().unwrap()
}

/// Returns the words of sentences, as `a b | c`.
fn words(sentences: &[Sentence]) -> String {
    let words = |sentence: &Sentence| {
        sentence.words().map(|word| word.form().to_owned()).collect::<Vec<_>>().join(" ")
    };
    sentences.iter().map(words).collect::<Vec<_>>().join(" | ")
}

/// A reader that gives its text in pieces of the given sizes.
struct Chopped<'a>(&'a [u8], std::iter::Cycle<std::vec::IntoIter<usize>>);

impl Read for Chopped<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let size = self.1.next().unwrap_or(1).min(self.0.len()).min(out.len());
        out[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

#[test]
fn a_treebank_is_learnt() {
    let treebank = treebank();
    let text = raw_text(&treebank);
    let found = segment(&trained(), &text);
    assert_eq!(words(&found), words(&treebank));
    assert_eq!(raw_text(&found), text);
}

#[test]
fn other_texts_follow_the_treebank() {
    let tokenizer = trained();
    let found = |text: &str| words(&segment(&tokenizer, text));
    assert_eq!(found("We don't wait."), "We do n't wait .");
    assert_eq!(
        found("Did Mr. Cup know?\nShe doesn't wait!"),
        "Did Mr. Cup know ? | She does n't wait !"
    );
    assert_eq!(found("Le thé DU lac."), "Le thé DE LE lac .");
    assert_eq!(found("Why\n\nWait"), "Why | Wait");
}

/// The treebank has no emoji.
#[test]
fn emoji_are_tokens_of_their_own() {
    let tokenizer = trained();
    let found = |text: &str| words(&segment(&tokenizer, text));
    assert_eq!(found("Tea🎉🎂 wait👨‍👩‍👧"), "Tea 🎉 🎂 wait 👨‍👩‍👧");
    assert_eq!(found("I❤️tea 👍🏽👍🏽"), "I ❤️ tea 👍🏽 👍🏽");
}

/// Returns the words of texts with a tokenizer that is trained on a part of English EWT, or `None` without treebanks.
#[expect(clippy::print_stderr, reason = "a skipped test should say that it was skipped")]
fn english() -> Option<impl Fn(&str) -> String> {
    let named = std::env::var_os("TUTTE_DATA").map(std::path::PathBuf::from);
    let folder = named.unwrap_or_else(|| {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data")
    });
    let path = folder.join("ud/english-ewt/train.conllu");
    if !path.exists() {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    }
    let treebank: Vec<Sentence> =
        tutte_treebank::open(&path).unwrap().collect::<Result<_, _>>().unwrap();
    let options = TokenizerOptions { passes: 4, threads: 2, ..TokenizerOptions::default() };
    let tokenizer = Tokenizer::train(&treebank, &options).unwrap().compact();
    Some(move |text: &str| words(&segment(&tokenizer, text)))
}

/// Tokens that English EWT rarely or never has.
#[test]
fn abbreviations_ranges_emoji_and_hearts_are_divided_as_people_expect() {
    let Some(found) = english() else { return };
    for expected in [
        "She has a Ph.D. in physics .",
        "Ph.D. students work hard .",
        "It takes 10 - 20 minutes .",
        "We need 10 - 20 .",
        "I left 'cause I was tired .",
        "We stayed home , 'cause it rained .",
        "It is on pp. 3 and 4 .",
        "See vol. 3 of the series .",
        "MR. SMITH WENT TO WASHINGTON .",
        "I MET MR. SMITH TODAY .",
        "She counted to 99 … then she stopped .",
        "Happy birthday 🎉 🎂 !",
        "Our family 👨‍👩‍👧 is here .",
        "It costs 20 € .",
        "Prices rose from € 10 to € 15 .",
        "I <3 you .",
        "I love you so much <3 !",
        "It started to rain .",
        "Then it started to rain . | We ran .",
    ] {
        let text = expected
            .replace(" | ", " ")
            .replace("20 €", "20€")
            .replace("€ 1", "€1")
            .replace("10 - 20", "10-20")
            .replace("birthday 🎉 🎂 !", "birthday🎉🎂!")
            .replace(" …", "…");
        let text =
            [" .", " ,", " !"].iter().fold(text, |text, mark| text.replace(mark, &mark[1..]));
        assert_eq!(found(&text), expected);
    }
    // English EWT divides some of these and not others. Both decisions about one number agree.
    for text in ["The shop is open 24/7.", "We work 24/7 and never sleep."] {
        let words = found(text);
        assert!(words.contains(" 24/7 ") || words.contains(" 24 / 7 "), "{words}");
    }
}

#[test]
fn gimme_is_two_words_and_w_slash_is_one_token() {
    let Some(found) = english() else { return };
    for (text, expected) in [
        ("Gimme a break.", "Gim me a break ."),
        ("Lemme see, I dunno.", "Lem me see , I du n no ."),
        ("We gotta get outta here.", "We got ta get out ta here ."),
        ("I'd like a coffee w/ milk.", "I 'd like a coffee w/ milk ."),
        ("Lunch w/ Anna, w/o Ben?", "Lunch w/ Anna , w/o Ben ?"),
        ("'Cause I said so.", "'Cause I said so ."),
        ("’Cause it rained, we stayed.", "’Cause it rained , we stayed ."),
        ("'Cause and effect' is a game.", "' Cause and effect ' is a game ."),
        ("MRS. JONES IS HERE.", "MRS. JONES IS HERE ."),
        ("MR. AND MRS. SMITH ARE HERE.", "MR. AND MRS. SMITH ARE HERE ."),
        ("See pp. 44–48 for details.", "See pp. 44 – 48 for details ."),
        ("It is on pp. 44-48.", "It is on pp. 44 - 48 ."),
        ("It takes 10–20 minutes.", "It takes 10 – 20 minutes ."),
        ("We met in May. 20 people came.", "We met in May . | 20 people came ."),
        ("Emma had a dilemma.", "Emma had a dilemma ."),
    ] {
        assert_eq!(found(text), expected);
    }
}

/// A treebank that divides `cannot` and `gonna` as the English list does adopts the list.
#[test]
fn lists_make_up_for_small_treebanks() {
    let english = "I|can+not=cannot|wait_.\nIt|is|gon+na=gonna|rain_.\nTea_,|so|hot_!\n'_Tea_,_'|she|said_.\n\
                   '_Hot_,_'|I|said_.\n'_Rain_,_'|he|said_.\n";
    let french = "Le|bord|de+le=du|lac_.\nDe+le=Du|thé_?\n";
    let [english, french] = [english, french].map(|text| {
        let treebank: Vec<Sentence> =
            std::iter::repeat_n(read_treebank(text), 8).flatten().collect();
        let options = TokenizerOptions { bits: Some(14), ..TokenizerOptions::default() };
        Tokenizer::train(&treebank, &options).unwrap().compact()
    });
    let text = "Gimme tea w/ rain 'cause so pp. rain";
    assert_eq!(words(&segment(&english, text)), "Gim me tea w/ rain 'cause so pp. rain");
    assert!(words(&segment(&french, text)).starts_with("Gimme tea"));
    assert_eq!(raw_text(&segment(&english, text)), text);
}

/// A model trained on Latin letters decides about Latin letters alone.
#[test]
fn unicode_decides_about_scripts_that_the_treebank_does_not_have() {
    let found = |text: &str| words(&segment(&trained(), text));
    assert_eq!(found("茶を飲む。コーヒーも！"), "茶 を 飲 む 。 | コーヒー も ！");
    assert_eq!(
        found("Чай готов. Пора!\n\nLe thé du lac."),
        "Чай готов . | Пора ! | Le thé de le lac ."
    );
    let text = "Le thé du lac (茶を飲む。) مرحبا don't mind!";
    let mixed = segment(&trained(), text);
    assert_eq!(words(&mixed), "Le thé de le lac ( 茶 を 飲 む 。 ) مرحبا do n't mind !");
    assert_eq!(raw_text(&mixed), text);
}

#[test]
fn unicode_decides_without_a_treebank() {
    let tokenizer = Tokenizer::fallback();
    let found = |text: &str| words(&segment(&tokenizer, text));
    assert_eq!(found("It's 3.14, isn't it?  Yes."), "It's 3.14 , isn't it ? | Yes .");
    assert_eq!(found("a wrapped\nline. Next"), "a wrapped line . | Next");
    assert_eq!(found("茶を飲む。コーヒーも！"), "茶 を 飲 む 。 | コーヒー も ！");
    assert_eq!(
        found("(see http://a.example/b_(c)?d=1&e), or www.tea.example."),
        "( see http://a.example/b_(c)?d=1&e ) , or www.tea.example ."
    );
    assert_eq!(found("Write to ann.tea+x@mail.example!"), "Write to ann.tea+x@mail.example !");
    assert_eq!(found("@ann x@y"), "@ ann x @ y");
    assert_eq!(found("👩‍🚀👍🏽 🇫🇷🇵🇹"), "👩‍🚀 👍🏽 🇫🇷 🇵🇹");
    assert_eq!(found("שלום עולם. مرحبا"), "שלום עולם . | مرحبا");
}

#[test]
fn lines_of_presegmented_text_are_sentences() {
    let tokenizer = trained();
    let options = SegmenterOptions {
        presegmented: true,
        ranges: true,
        first_id: 7,
        ..SegmenterOptions::default()
    };
    let text = "Why? Yes\r\nnow, é\n\n wait.";
    let found: Vec<Sentence> = Segmenter::with_options(&tokenizer, text.as_bytes(), options)
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(raw_text(&found), text);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].sent_id(), Some("7"));
    assert_eq!(found.iter().map(|s| s.newpar().is_some()).collect::<Vec<_>>(), [true, false, true]);
    let last = found[2].words().next_back().unwrap();
    assert_eq!(last.misc(), "SpaceAfter=No|TokenRange=23:24");
    assert_eq!(found[1].words().next_back().unwrap().misc_entry("TokenRange"), Some("15:16"));
}

#[test]
fn long_sentences_are_split_and_flagged() {
    let tokenizer = Tokenizer::fallback();
    let options = SegmenterOptions { longest: 10, ..SegmenterOptions::default() };
    let text = format!("{}end. Next.", "word ".repeat(24));
    let found: Vec<Sentence> = Segmenter::with_options(&tokenizer, text.as_bytes(), options)
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(raw_text(&found), text);
    assert_eq!(found.iter().map(Sentence::len).collect::<Vec<_>>(), [10, 10, 6, 2]);
    let parts: Vec<_> = found.iter().map(|sentence| sentence.comment("tutte_split")).collect();
    assert_eq!(parts, [Some("1"), Some("2"), Some("3"), None]);
}

#[test]
fn text_without_end_is_cut() {
    let marks = format!("e{}", "\u{301}".repeat(30));
    for text in
        ["x".repeat(500_000), "é".repeat(300_000), marks.repeat(9_000), "a.b ".repeat(200_000)]
    {
        for text in
            [text.clone(), format!("{text} \n"), format!("{}{text}\n\n", " \n".repeat(200_000))]
        {
            for tokenizer in [trained(), Tokenizer::fallback()] {
                let found = segment(&tokenizer, &text);
                assert!(raw_text(&found) == text);
                assert!(found.iter().all(|s| s.len() <= 1000));
                let mark = |c: char| c == '\u{301}';
                assert!(!found.iter().flat_map(|s| s.words()).any(|w| w.form().starts_with(mark)));
            }
        }
    }
}

#[test]
fn invalid_utf8_is_reported_after_the_paragraphs_before_it() {
    let tokenizer = Tokenizer::fallback();
    let text = b"One.\n\nTwo.\nThree \xe9t\xe9\n";
    let mut segmenter = Segmenter::new(&tokenizer, &text[..]);
    let mut sentence = Sentence::default();
    assert!(segmenter.read(&mut sentence).unwrap());
    assert_eq!(sentence.text(), Some("One."));
    let error = segmenter.read(&mut sentence).unwrap_err();
    assert_eq!(
        error.to_string(),
        "input:4: byte 0xE9 is not UTF-8 (byte 6 of the line, byte 17 of the input, counted from 0)"
    );
    // In presegmented text, the lines before it.
    let options = SegmenterOptions { presegmented: true, ..SegmenterOptions::default() };
    let lines = Segmenter::with_options(&tokenizer, &text[..], options);
    let given: Vec<_> = lines.map_while(Result::ok).collect();
    assert_eq!(given.iter().filter_map(Sentence::text).collect::<Vec<_>>(), ["One.", "Two."]);
    assert!(error.hint().unwrap().contains("--encoding"));
    assert!(!segmenter.read(&mut sentence).unwrap());
    // Reading continues with the next paragraph, or line.
    let text = b"One.\n\nTwo \xe9t\xe9 \xff\nThree.\n\nFour.\nFive \xe9.\nSix.\n";
    for (presegmented, expected, errors) in
        [(false, &["One."][..], 2), (true, &["One.", "Three.", "Four.", "Six."], 2)]
    {
        let options =
            SegmenterOptions { presegmented, ranges: true, ..SegmenterOptions::default() };
        let all: Vec<_> = Segmenter::with_options(&tokenizer, &text[..], options).collect();
        let found: Vec<&Sentence> = all.iter().filter_map(|found| found.as_ref().ok()).collect();
        let texts: Vec<&str> = found.iter().filter_map(|sentence| sentence.text()).collect();
        assert_eq!((&texts[..], all.len() - found.len()), (expected, errors));
        if presegmented {
            // Each invalid byte counts as one character.
            assert_eq!(found[1].words().next().unwrap().misc_entry("TokenRange"), Some("16:21"));
        }
    }
    // Half a character at the end.
    let error = Segmenter::new(&tokenizer, &b"\xf0\x9f"[..]).next().unwrap().unwrap_err();
    assert!(error.to_string().contains("byte 0xF0"), "{error}");
}

/// A reader that fails if it is asked for more than it has.
struct Paused<'a>(&'a [u8]);

impl Read for Paused<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        assert!(!self.0.is_empty(), "asked for more than the answer needs");
        self.0.read(out)
    }
}

#[test]
fn sentences_are_given_before_the_next_line_is_read() {
    let tokenizer = Tokenizer::fallback();
    for (presegmented, text) in [
        (true, "Tea?\nYes, tea.\n"),
        (false, "Tea? Yes,\ntea.\r\n\r\n"),
        (true, "\n\nTea?\n\nYes.\n"),
    ] {
        let options = SegmenterOptions { presegmented, ..SegmenterOptions::default() };
        let mut segmenter = Segmenter::with_options(&tokenizer, Paused(text.as_bytes()), options);
        let mut sentence = Sentence::default();
        assert!(segmenter.read(&mut sentence).unwrap());
        assert_eq!(sentence.text(), Some("Tea?"));
        assert!(segmenter.read(&mut sentence).unwrap());
        assert!(sentence.text().unwrap().starts_with("Yes"));
    }
}

#[test]
fn nul_bytes_are_replaced() {
    let sentences = segment(&Tokenizer::fallback(), "\0Tea\0 is\0\0 hot.\n");
    assert_eq!(raw_text(&sentences), "\u{fffd}Tea\u{fffd} is\u{fffd}\u{fffd} hot.\n");
}

#[test]
fn text_without_words_gives_no_sentences() {
    for text in ["", "\u{feff}", " \n\n\t"] {
        assert!(segment(&Tokenizer::fallback(), text).is_empty());
        assert!(segment(&trained(), text).is_empty());
    }
    assert_eq!(raw_text(&segment(&trained(), "\u{feff}Why?")), "Why?");
    assert!(matches!(Tokenizer::train(&[], &TokenizerOptions::default()), Err(Error::NoWords)));
    let none = TokenizerOptions { bits: Some(40), ..TokenizerOptions::default() };
    assert!(matches!(Tokenizer::train(&treebank(), &none), Err(Error::Setting(_))));
}

#[test]
fn the_same_seed_gives_the_same_weights_with_any_number_of_threads() {
    let one = trained();
    let treebank: Vec<Sentence> = std::iter::repeat_n(treebank(), 4).flatten().collect();
    let options = TokenizerOptions { bits: Some(14), threads: 4, ..TokenizerOptions::default() };
    let other = Tokenizer::train(&treebank, &options).unwrap().compact();
    assert_eq!(one.document(), other.document());
    for ((name, a), (_, b)) in one.tables().into_iter().zip(other.tables()) {
        assert!(a.cells() == b.cells() && a.scale() == b.scale(), "{name}");
    }
}

#[test]
fn documents_and_tables_are_all_there_is() {
    let tokenizer = trained();
    let json = serde_json::to_string(&tokenizer.document()).unwrap();
    let tables = tokenizer.tables();
    let load = |json: &str| {
        let document: TokenizerDocument = serde_json::from_str(json).ok()?;
        let table = |name: &str, cells: usize| {
            let (_, table) = tables.iter().find(|(known, _)| *known == name).unwrap();
            assert!(cells <= 1 << 28);
            Ok::<_, crate::DocumentProblem>((*table).clone())
        };
        document.tokenizer(table).ok()
    };
    let text = raw_text(&treebank());
    let again = load(&json).unwrap();
    assert_eq!(segment(&again, &text), segment(&tokenizer, &text));
    // A damaged document is refused, or gives another tokenizer that still loses nothing.
    for at in 0..json.len() {
        for byte in [b'0', b'9', b'"', b'-', b'}'] {
            let mut damaged = json.clone().into_bytes();
            damaged[at] = byte;
            if let Some(tokenizer) = String::from_utf8(damaged).ok().and_then(|json| load(&json)) {
                assert_eq!(raw_text(&segment(&tokenizer, &text)), text);
            }
        }
    }
}

/// Returns text with many difficult characters.
fn any_text() -> impl Strategy<Value = String> {
    let one_of = |pieces: &'static [&str]| prop::sample::select(pieces).prop_map(str::to_owned);
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,8}".prop_map(|letters| letters),
        3 => one_of(&[" ", " ", "\n", "\n\n", "\r\n", "\r", "\t", "  ", "\u{a0}", "\u{2028}", "\u{85}"]),
        3 => one_of(&[".", "?", "!", ",", "'", "\"", "don't", "du", "Du", "can't", "1 000", "Mr."]),
        1 => one_of(&["\u{301}", "\u{200d}", "👩", "👩‍🚀", "🏽", "🇫", "🇵🇹", "\u{fe0f}", "\u{feff}"]),
        1 => one_of(&["\0", "\u{1f}", "\u{7f}", "שלום", "مَرْحَبًا", "茶", "コーヒー", "ไทย", "İ", "ﬁ", "नमस्ते"]),
        1 => one_of(&["http://a.b/c?d", "x@y.z", "www.", "://", "@", "# text = x", "_", "|", "\\s", "="]),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

thread_local! {
    static TRAINED: Tokenizer<Compact> = trained();
}

proptest! {
    #[test]
    fn nothing_is_lost(
        text in any_text(),
        sizes in prop::collection::vec(1usize..9, 1..5),
        presegmented in any::<bool>(),
        longest in 1usize..12,
    ) {
        let expected = &text.strip_prefix('\u{feff}').unwrap_or(&text).replace('\0', "\u{fffd}");
        for tokenizer in [TRAINED.with(Clone::clone), Tokenizer::fallback()] {
            let options = SegmenterOptions { presegmented, longest, ranges: true, ..SegmenterOptions::default() };
            let whole: Vec<Sentence> =
                Segmenter::with_options(&tokenizer, text.as_bytes(), options.clone())
                    .collect::<Result<_, _>>()?;
            let chopped = Chopped(text.as_bytes(), sizes.clone().into_iter().cycle());
            let chopped: Vec<Sentence> =
                Segmenter::with_options(&tokenizer, chopped, options).collect::<Result<_, _>>()?;
            prop_assert_eq!(&whole, &chopped);
            if expected.chars().all(char::is_whitespace) {
                prop_assert!(whole.is_empty());
                continue;
            }
            // White space that stands alone at the end is not part of a sentence.
            let again = raw_text(&whole);
            let lost = expected.strip_prefix(&again);
            prop_assert!(lost.is_some_and(|lost| lost.trim().is_empty()), "{again:?}, not {expected:?}");
            prop_assert!(lost == Some("") || again.ends_with('\n'), "{again:?}, not {expected:?}");
            for sentence in &whole {
                for token in sentence.tokens().filter(|token| token.misc_entry("TokenRange").is_some()) {
                    let range = token.misc_entry("TokenRange").unwrap().split_once(':').unwrap();
                    let start: usize = range.0.parse()?;
                    let end: usize = range.1.parse()?;
                    let form: String = expected.chars().skip(start).take(end - start).collect();
                    prop_assert_eq!(form, token.form());
                }
            }
        }
    }
}

/// For every treebank in TUTTE_DATA, the sentences of its raw text have the same raw text again.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test should say that it was skipped")]
fn texts_of_treebanks_come_back() {
    let Some(folder) = std::env::var_os("TUTTE_DATA") else {
        eprintln!("skipped: TUTTE_DATA does not name a folder with treebanks");
        return;
    };
    let tokenizer = trained();
    let mut treebanks: Vec<_> = std::fs::read_dir(std::path::Path::new(&folder).join("ud"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("test.conllu"))
        .filter(|path| path.exists())
        .collect();
    treebanks.sort();
    for path in treebanks {
        let sentences: Vec<Sentence> =
            tutte_treebank::open(&path).unwrap().take(500).collect::<Result<_, _>>().unwrap();
        let text = raw_text(&sentences);
        assert!(raw_text(&segment(&tokenizer, &text)) == text, "{}", path.display());
        assert!(raw_text(&segment(&Tokenizer::fallback(), &text)) == text, "{}", path.display());
    }
}
