//! The official table of scores on development data: from raw text with everything predicted, and with gold words.

use std::iter;

use serde::Serialize;
use tutte::text::raw_text;
use tutte::{Compact, Error, Model, Pipeline, TagSource};
use tutte_treebank::eval::{Alignment, Metric, Metrics, Score};
use tutte_treebank::{Format, Sentence};

use crate::report::{Align, Table, hundredths};

/// The scores of a model, as `tutte parse` uses it by default.
#[derive(Debug, Serialize)]
pub(super) struct DevTable {
    /// Scores from raw text, if the model has a tokenizer.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_text: Option<Metrics>,
    /// Scores with gold words.
    gold_words: Metrics,
    /// `true` if tags are gold, too, because the model has no tagger.
    gold_tags: bool,
    /// `true` if the model has a parser.
    #[serde(skip)]
    has_trees: bool,
}

impl DevTable {
    /// Parses and scores development data. Returns `None` if it is empty or not CoNLL-U.
    ///
    /// # Errors
    /// If a sentence cannot be parsed.
    pub(super) fn new(
        model: &Model<Compact>,
        gold: &[Sentence],
        threads: usize,
    ) -> Result<Option<Self>, Error> {
        let is_conllu = gold.iter().all(|sentence| sentence.format() == Format::ConllU);
        if gold.is_empty() || !is_conllu {
            return Ok(None);
        }
        let gold_tags = !model.finds_tags();
        let tags = if gold_tags { TagSource::Given } else { TagSource::Model };
        let pipeline = Pipeline::new(model);
        let score = |system: Vec<Sentence>| -> Result<Metrics, Error> {
            Ok(Metrics::basic(&Alignment::new(gold, &system)?))
        };
        let gold_words = score(pipeline.with_tags(tags).parse_words(gold, threads)?)?;
        let raw_text = match model.tokenizer {
            Some(_) => Some(score(pipeline.parse_text(&raw_text(gold), threads)?)?),
            None => None,
        };
        Ok(Some(Self { raw_text, gold_words, gold_tags, has_trees: model.parser.is_some() }))
    }

    /// Returns the table of F1 scores.
    pub(super) fn text(&self) -> String {
        let raw = self.raw_text.as_ref().map(|metrics| ("raw text", metrics));
        let gold = if self.gold_tags { "gold words and tags" } else { "gold words" };
        let columns: Vec<(&str, &Metrics)> =
            raw.into_iter().chain([(gold, &self.gold_words)]).collect();
        let head = columns.iter().map(|(name, _)| (*name, Align::Right));
        let mut table = Table::new(iter::once(("F1 on dev", Align::Left)).chain(head));
        for metric in Metric::ALL.into_iter().filter(|metric| self.has_row(*metric)) {
            let f1 = |score: Option<Score>| score.map_or_else(String::new, |s| hundredths(s.f1()));
            let cells = columns.iter().map(|(_, metrics)| f1(metrics.get(metric)));
            table.row(iter::once(metric.name().to_owned()).chain(cells));
        }
        table.text(0)
    }

    /// Returns `true` if the model predicts what a metric measures.
    fn has_row(&self, metric: Metric) -> bool {
        use Metric::{AllTags, Lemmas, Sentences, Tokens, UFeats, Upos, Words, Xpos};
        match metric {
            Tokens | Sentences | Words => self.raw_text.is_some(),
            Upos | Xpos | UFeats | AllTags | Lemmas => !self.gold_tags,
            _ => self.has_trees && self.gold_words.get(metric).is_some(),
        }
    }
}
