//! Words of a sentence as rows of the encoder's input.
//!
//! Each word is divided by itself, so that a sub-word never belongs to two words. A sentence that is longer
//! than the encoder's longest sequence is seen through windows that overlap by half; each word is taken from
//! the window where it is farthest from an edge.

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::error::Error;
use crate::ops::embedding::Bags;

/// Sentence in the form that an encoder takes. It can be made once and used in every pass.
#[derive(Clone, Debug)]
pub struct SentenceInput {
    /// Rows of all windows.
    pub(crate) bags: Bags,
    /// Number of rows of each window.
    pub(crate) windows: Vec<usize>,
    /// First and last row of each word.
    pub(crate) words: Vec<(usize, usize)>,
}

impl SentenceInput {
    /// Number of words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Number of rows in the encoder: sub-words of all windows, with their marks of start and end. The cost of
    /// a sentence grows with it.
    pub fn rows(&self) -> usize {
        self.bags.len()
    }
}

/// Rows of a sentence: one list of entries per row, the rows of each word, and the marks around a window.
pub(crate) struct Rows<'a> {
    pub(crate) rows: &'a Bags,
    /// End of each word in `rows`.
    pub(crate) word_ends: &'a [usize],
    pub(crate) start: &'a [(u32, f32)],
    pub(crate) end: Option<&'a [(u32, f32)]>,
}

impl Rows<'_> {
    fn word(&self, word: usize) -> (usize, usize) {
        let start = if word == 0 { 0 } else { self.word_ends[word - 1] };
        (start, self.word_ends[word])
    }

    /// Lays rows out in windows of at most `longest` rows, marks included.
    pub(crate) fn layout(&self, longest: usize) -> SentenceInput {
        let count = self.word_ends.len();
        let capacity = longest - 1 - usize::from(self.end.is_some());
        let mut bags = Bags::default();
        let mut windows = Vec::new();
        // For each word: its rows, and their distance from the nearer edge of their window.
        let mut words = vec![((0, 0), None::<usize>); count];
        let mut first = 0;
        loop {
            let base = bags.len();
            bags.push(self.start.iter().copied());
            let mut next = first;
            let mut filled = 0;
            // A word that is longer than a window is cut.
            let size = |word: usize| {
                let (start, end) = self.word(word);
                (end - start).min(capacity)
            };
            while next < count && filled + size(next) <= capacity {
                let (start, _) = self.word(next);
                for row in start..start + size(next) {
                    bags.push(self.rows.row(row).iter().copied());
                }
                filled += size(next);
                next += 1;
            }
            let mut at = 0;
            for word in first..next {
                let distance = at.min(filled - at - size(word));
                if words[word].1.is_none_or(|best| distance > best) {
                    words[word] = ((base + 1 + at, base + at + size(word)), Some(distance));
                }
                at += size(word);
            }
            if let Some(end) = self.end {
                bags.push(end.iter().copied());
            }
            windows.push(bags.len() - base);
            if next >= count {
                break;
            }
            // The next window starts in the middle of this one.
            let mut left = size(first);
            first += 1;
            while first < next && left < filled / 2 {
                left += size(first);
                first += 1;
            }
        }
        SentenceInput { bags, windows, words: words.into_iter().map(|(rows, _)| rows).collect() }
    }
}

/// Sub-word tokenizer of a pretrained encoder, with the marks that it puts around a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Subwords {
    tokenizer: Tokenizer,
    /// The file as it was read; it travels with the model.
    json: Vec<u8>,
    start: u32,
    end: u32,
    unknown: u32,
    /// Words are given with a space before them, as byte-level tokenizers expect inside a text.
    has_leading_space: bool,
}

impl Subwords {
    /// Reads the text of a `tokenizer.json` for an encoder with a table of `vocabulary` rows.
    pub(crate) fn new(origin: &str, json: &[u8], vocabulary: usize) -> Result<Self, Error> {
        let error = |problem: String| Error::Tokenizer { origin: origin.into(), problem };
        let not_understood = |e: &dyn std::fmt::Display| {
            error(format!("not a tokenizer of the `tokenizers` library: {e}"))
        };
        let mut settings: Value = serde_json::from_slice(json).map_err(|e| not_understood(&e))?;
        let post_processor = settings.get_mut("post_processor").map(Value::take);
        let marks = post_processor.as_ref().map(marks).unwrap_or_default();
        // Sentences are neither cut, nor padded, nor turned into text. The library panics on some damaged decoders and
        // post-processors, so it does not see them.
        for unused in ["truncation", "padding", "decoder"] {
            if let Some(value) = settings.get_mut(unused) {
                *value = Value::Null;
            }
        }
        let tokenizer =
            Tokenizer::from_bytes(settings.to_string()).map_err(|e| not_understood(&e))?;
        let highest = tokenizer.get_vocab(true).into_values().max();
        let highest = highest.ok_or_else(|| error("the vocabulary is empty".into()))?;
        if highest as usize >= vocabulary {
            return Err(error(format!(
                "the tokenizer has a sub-word numbered {highest}, but the encoder's table has {vocabulary} rows. \
                 Fetch tokenizer.json and model.safetensors from one place"
            )));
        }
        let known = |names: &[&str]| names.iter().find_map(|name| tokenizer.token_to_id(name));
        let start = marks.first().copied().or_else(|| known(&["[CLS]", "<s>"]));
        let end = marks.get(1).copied().or_else(|| known(&["[SEP]", "</s>"]));
        let (Some(start), Some(end)) = (start, end) else {
            return Err(error(
                "it neither has a post-processor that marks the start and the end of a text, nor the sub-words \
                 [CLS] and [SEP], or <s> and </s>"
                    .into(),
            ));
        };
        let unknown = known(&["[UNK]", "<unk>"]).unwrap_or(end);
        let has_leading_space = settings.get("pre_tokenizer").is_some_and(is_byte_level);
        for mark in [start, end, unknown] {
            if mark as usize >= vocabulary {
                return Err(error(format!(
                    "the mark {mark} is beyond the {vocabulary} rows of the encoder's table"
                )));
            }
        }
        Ok(Self { tokenizer, json: json.to_vec(), start, end, unknown, has_leading_space })
    }

    pub(crate) fn json(&self) -> &[u8] {
        &self.json
    }

    /// Divides words. `longest` is the length of the encoder's longest sequence.
    pub(crate) fn encode(
        &self,
        words: &[impl AsRef<str>],
        longest: usize,
    ) -> Result<SentenceInput, Error> {
        let mut rows = Bags::default();
        let mut word_ends = Vec::with_capacity(words.len());
        let mut spaced = String::new();
        for word in words {
            let mut text = word.as_ref();
            if self.has_leading_space && !text.starts_with(' ') {
                spaced.clear();
                spaced.push(' ');
                spaced.push_str(text);
                text = &spaced;
            }
            let encoding = self.tokenizer.encode_fast(text, false);
            let encoding = encoding.map_err(|e| Error::Tokenizer {
                origin: "tokenizer.json".into(),
                problem: format!("the word \"{}\" cannot be divided: {e}", word.as_ref()),
            })?;
            for &id in encoding.get_ids() {
                rows.push([(id, 1.0)]);
            }
            if encoding.get_ids().is_empty() {
                rows.push([(self.unknown, 1.0)]);
            }
            word_ends.push(rows.len());
        }
        let (start, end) = ([(self.start, 1.0)], [(self.end, 1.0)]);
        Ok(Rows { rows: &rows, word_ends: &word_ends, start: &start, end: Some(&end) }
            .layout(longest))
    }
}

/// Returns the sub-words that a post-processor puts around a text, in their order.
fn marks(post_processor: &Value) -> Vec<u32> {
    let number = |id: &Value| id.as_u64().and_then(|id| u32::try_from(id).ok());
    let list =
        |name: &str| post_processor.get(name).and_then(Value::as_array).into_iter().flatten();
    match post_processor.get("type").and_then(Value::as_str) {
        Some("TemplateProcessing") => {
            let names =
                list("single").filter_map(|piece| piece.get("SpecialToken")?.get("id")?.as_str());
            let tokens = names.filter_map(|name| post_processor.get("special_tokens")?.get(name));
            let ids = tokens.filter_map(|token| token.get("ids")?.as_array());
            ids.flatten().filter_map(number).collect()
        }
        Some("BertProcessing" | "RobertaProcessing") => ["cls", "sep"]
            .into_iter()
            .filter_map(|name| number(post_processor.get(name)?.get(1)?))
            .collect(),
        Some("Sequence") => list("processors").flat_map(marks).collect(),
        _ => Vec::new(),
    }
}

/// Returns `true` if a pre-tokenizer, or one within it, works on bytes, where words start with a space.
fn is_byte_level(pre_tokenizer: &Value) -> bool {
    let is_one = pre_tokenizer.get("type").and_then(|t| t.as_str()) == Some("ByteLevel");
    let inner = pre_tokenizer.get("pretokenizers").and_then(|list| list.as_array());
    is_one || inner.is_some_and(|list| list.iter().any(is_byte_level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_cover_every_word(sizes in prop::collection::vec(1usize..6, 0..40), longest in 4usize..20) {
            let mut rows = Bags::default();
            let mut word_ends = Vec::new();
            for (word, &size) in sizes.iter().enumerate() {
                for part in 0..size {
                    rows.push([((word * 10 + part) as u32, 1.0)]);
                }
                word_ends.push(rows.len());
            }
            let (start, end) = ([(1000, 1.0)], [(1001, 1.0)]);
            let input = Rows { rows: &rows, word_ends: &word_ends, start: &start, end: Some(&end) }.layout(longest);
            prop_assert_eq!(input.windows.iter().sum::<usize>(), input.rows());
            prop_assert!(input.windows.iter().all(|&rows| rows <= longest));
            for (word, &(first, last)) in input.words.iter().enumerate() {
                prop_assert_eq!(last - first + 1, sizes[word].min(longest - 2));
                for row in first..=last {
                    prop_assert_eq!(input.bags.row(row)[0].0 as usize, word * 10 + row - first);
                }
            }
            if sizes.iter().sum::<usize>() <= longest - 2 {
                prop_assert_eq!(input.windows.len(), 1);
            }
        }
    }

    #[test]
    fn marks_of_post_processors() {
        let template = serde_json::json!({
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "missing", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}},
            ],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [5], "tokens": ["<s>"]}, "</s>": {"ids": [6]}},
        });
        assert_eq!(marks(&template), [5, 6]);
        let byte_level = serde_json::json!({"type": "ByteLevel"});
        assert_eq!(marks(&byte_level), [0; 0]);
        let sequence =
            serde_json::json!({"type": "Sequence", "processors": [byte_level, template]});
        assert_eq!(marks(&sequence), [5, 6]);
        let roberta =
            serde_json::json!({"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]});
        assert_eq!(marks(&roberta), [0, 2]);
        for damaged in
            [serde_json::json!(null), serde_json::json!({"type": "BertProcessing", "cls": 3})]
        {
            assert_eq!(marks(&damaged), [0; 0]);
        }
    }
}
