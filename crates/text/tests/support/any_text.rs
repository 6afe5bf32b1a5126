//! Properties of the crate on any bytes as text: nothing panics, nothing is lost, and sentences depend on the text
//! alone.
//!
//! The first four bytes choose the options; the rest is the text. Texts of several blocks are tested in `src/tests.rs`,
//! since they would slow down the search. Fuzzing (`fuzz/`) and the tests
//! (`tests/no_panic.rs`) share this file. Add new properties here, for both.

#[path = "../../../../fuzz/dribble.rs"]
mod dribble;

use std::sync::OnceLock;

use dribble::Dribble;
use tutte_linear::Compact;
use tutte_text::{
    Segmenter, SegmenterOptions, Tagger, TaggerMemory, TaggerOptions, Tokenizer, TokenizerOptions,
    raw_text,
};
use tutte_treebank::{Reader, Sentence};

/// Multiword tokens of two languages, an abbreviation, and a token with a space.
const TREEBANK: &str = "\
# newpar
1\tMr.\tMr.\tPROPN\tNNP\tAbbr=Yes\t_\t_\t_\t_
2\tTea\tTea\tPROPN\tNNP\t_\t_\t_\t_\t_
3\tcools\tcool\tVERB\tVBZ\tNumber=Sing\t_\t_\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_

1\tI\tI\tPRON\tPRP\tNumber=Sing\t_\t_\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\tRB\t_\t_\t_\t_\t_
4\twait\twait\tVERB\tVB\t_\t_\t_\t_\tSpaceAfter=No
5\t!\t!\tPUNCT\t.\t_\t_\t_\t_\t_

# newpar
1\tLe\tle\tDET\tD\tGender=Masc\t_\t_\t_\t_
2\tbord\tbord\tNOUN\tN\tGender=Masc\t_\t_\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\tP\t_\t_\t_\t_\t_
4\tle\tle\tDET\tD\tGender=Masc\t_\t_\t_\t_
5\tlac\tlac\tNOUN\tN\tGender=Masc\t_\t_\t_\tSpaceAfter=No
6\t?\t?\tPUNCT\t.\t_\t_\t_\t_\t_

1\tIt\tit\tPRON\tPRP\tNumber=Sing\t_\t_\t_\t_
2\tcost\tcost\tVERB\tVBD\t_\t_\t_\t_\t_
3\t1 000\t1000\tNUM\tCD\t_\t_\t_\t_\t_
4\teuros\teuro\tNOUN\tNNS\tNumber=Plur\t_\t_\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_

";

/// Tokenizers and a tagger, trained once.
struct Models {
    trained: Tokenizer<Compact>,
    fallback: Tokenizer<Compact>,
    tagger: Tagger<Compact>,
}

fn models() -> &'static Models {
    static MODELS: OnceLock<Models> = OnceLock::new();
    MODELS.get_or_init(|| {
        let sentences: Vec<Sentence> =
            Reader::new(TREEBANK.as_bytes()).collect::<Result<_, _>>().expect("a treebank");
        let treebank = [&sentences[..]; 4].concat();
        let options = TokenizerOptions::default().with_bits(Some(10));
        let tokenizer = Tokenizer::train(&treebank, &options).expect("a tokenizer");
        let tagger = Tagger::train(&treebank, &TaggerOptions::for_words(80)).expect("a tagger");
        Models {
            trained: tokenizer.compact(),
            fallback: Tokenizer::fallback(),
            tagger: tagger.compact(),
        }
    })
}

/// Segments and tags `data`, and checks all properties.
///
/// # Panics
/// If a property does not hold.
pub(crate) fn ask_everything(data: &[u8]) {
    let (choices, text) = data.split_at(data.len().min(4));
    let choice = |at: usize| choices.get(at).map_or(0, |&byte| usize::from(byte));
    let Models { trained, fallback, tagger } = models();
    let tokenizer = if choice(0).is_multiple_of(2) { trained } else { fallback };
    let longest = if choice(2) == 0 { 1000 } else { choice(2) % 12 };
    let options = SegmenterOptions::default()
        .with_presegmented(choice(1) % 2 == 1)
        .with_ranges(true)
        .with_longest(longest);
    let mut memory = TaggerMemory::default();
    for sentence in ask_text(text, tokenizer, &options, 1 + choice(3) % 16) {
        ask_tagger(sentence, tagger, &mut memory);
    }
}

/// Segments a text. The sentences do not depend on the sizes of the reads, and their text is the input.
fn ask_text(
    bytes: &[u8],
    tokenizer: &Tokenizer<Compact>,
    options: &SegmenterOptions,
    piece: usize,
) -> Vec<Sentence> {
    let mut segmenter = Segmenter::with_options(tokenizer, bytes, options.clone());
    let results: Vec<_> = segmenter.by_ref().collect();
    assert!(segmenter.next().is_none(), "after the end comes nothing");
    let dribbled: Vec<_> =
        Segmenter::with_options(tokenizer, Dribble { bytes, at_once: piece }, options.clone())
            .collect();
    let has_failed = results.iter().any(Result::is_err);
    assert_eq!(results.len(), dribbled.len());
    let mut sentences = Vec::new();
    for (result, dribbled) in results.into_iter().zip(dribbled) {
        match (result, dribbled) {
            (Ok(sentence), Ok(dribbled)) => {
                assert_eq!(sentence, dribbled);
                sentences.push(sentence);
            }
            (Err(error), Err(dribbled)) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(error.to_string(), dribbled.to_string());
            }
            (one, other) => panic!("{one:?} and {other:?}"),
        }
    }
    sentences.iter().for_each(ask_sentence);
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(has_failed, "bytes that are not UTF-8 are an error");
        return sentences;
    };
    // A NUL byte may be refused or replaced.
    if has_failed || text.contains('\0') {
        assert!(text.contains('\0'), "UTF-8 is not an error");
        return sentences;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.chars().all(char::is_whitespace) {
        assert!(sentences.is_empty());
        return sentences;
    }
    // White space that stands alone at the end is not part of a sentence.
    let again = raw_text(&sentences);
    let lost = text.strip_prefix(&again);
    assert!(lost.is_some_and(|lost| lost.trim().is_empty()), "{again:?}, not {text:?}");
    ask_ranges(text, &sentences);
    sentences
}

/// `TokenRange` is the place of a token in the text.
fn ask_ranges(text: &str, sentences: &[Sentence]) {
    let mut offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
    offsets.push(text.len());
    for token in sentences.iter().flat_map(|sentence| sentence.tokens()) {
        let Some(range) = token.misc_entry("TokenRange") else { continue };
        let (start, end) = range.split_once(':').expect("a range");
        let [start, end] = [start, end].map(|number| number.parse::<usize>().expect("a number"));
        assert_eq!(&text[offsets[start]..offsets[end]], token.form());
    }
}

/// A sentence is CoNLL-U that can be read again.
fn ask_sentence(sentence: &Sentence) {
    let again: Sentence = sentence.as_str().parse().expect("a sentence can be read again");
    assert_eq!(&again, sentence);
    assert!(!sentence.is_empty() && sentence.text().is_some());
}

/// Tags are written, and have probabilities.
fn ask_tagger(mut sentence: Sentence, tagger: &Tagger<Compact>, memory: &mut TaggerMemory) {
    let readings = tagger.kbest(&sentence, 3, memory);
    assert!(!readings.is_empty());
    let tagging = tagger.annotate(&mut sentence, memory).expect("the tags can be written");
    assert_eq!(tagging.upos_probs.len(), sentence.len());
    assert!(tagging.upos_probs.iter().all(|p| (0.0..=1.0).contains(p)));
    ask_sentence(&sentence);
}
