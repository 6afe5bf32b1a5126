//! A greedy tagger: a baseline for measurements, which is not part of any model.
//!
//! It chooses tags from left to right. Each is chosen by a log-linear model of the word, its neighbours (the
//! templates of the chain) and the tags that were chosen before it:
//!
//! ```text
//! P(tᵢ | t₁ … tᵢ₋₁, words) ∝ exp w_t · f(i, tᵢ₋₂, tᵢ₋₁)
//! ```
//!
//! It sees one more tag to the left than the chain, and none to the right. From the second pass on, training uses the
//! tags that the model itself chose as history, not those of the treebank. So the model learns to cope with its
//! mistakes. Cost: linear.

use tutte_linear::{AdaGrad, Average, Weights};
use tutte_treebank::Sentence;

use super::columns::{Columns, RowLayout};
use super::templates::Column::{Class, Ending, Lower, Upos, UsualTag};
use super::templates::{COARSE, Template};
use super::train::{Dropout, MAX_PROB};
use super::training_data::TrainingData;
use super::{TagScores, TaggerOptions, highest};
use crate::Error;

/// Templates of the tags before the word.
const HISTORY: &[Template] = &[
    &[(Upos, -1)],
    &[(Upos, -2), (Upos, -1)],
    &[(Upos, -1), (Lower, 0)],
    &[(Upos, -1), (Class, 0)],
    &[(Upos, -1), (Ending, 0)],
    &[(Upos, -1), (Class, 0), (UsualTag, 1)],
    &[(Upos, -2), (Upos, -1), (Class, 0)],
];

/// Trains a greedy tagger on a treebank, and counts the coarse tags of the sentences `gold` that it gets right. Fine
/// tags, features and lemmas are not counted.
///
/// # Errors
/// As [`Tagger::train`](super::Tagger::train).
pub fn greedy_baseline(
    treebank: &[Sentence],
    gold: &[Sentence],
    options: &TaggerOptions,
) -> Result<TagScores, Error> {
    let data = TrainingData::new(treebank.iter().collect())?;
    let templates: Vec<Template> = COARSE.iter().chain(HISTORY).copied().collect();
    let table = RowLayout { bits: options.bits, width: data.upos.len() };
    let mut weights = vec![0.0; table.cells()];
    let mut step = AdaGrad::new(weights.len(), options.rate, options.damping);
    let mut average = Average::of_second_half(options.passes);
    let mut dropout = Dropout::new(options, 2);
    let mut columns = Columns::default();
    let mut rows = Vec::new();
    let mut probs = vec![0.0; table.width];
    for pass in 0..options.passes {
        for at in dropout.order.shuffled(data.sentences.len()) {
            data.fill_columns(at, &mut columns);
            dropout.draw_templates(&templates);
            for (word, &right) in data.tags[at].iter().enumerate() {
                let right = usize::from(right);
                rows.clear();
                dropout.rows(&columns, &templates, word, table, &mut rows);
                softmax(&weights, &rows, dropout.scale, &mut probs);
                columns.set_upos(word, if pass == 0 { right } else { highest(probs.iter()) });
                if probs[right] <= MAX_PROB {
                    probs[right] -= 1.0;
                    for &row in &rows {
                        step.descend_row(&mut weights, row, &probs);
                    }
                }
            }
        }
        average.add(weights.iter());
    }
    let weights = average.mean().unwrap_or(weights);

    let mut scores = TagScores::default();
    for sentence in gold {
        let forms = sentence.words().map(|word| word.form());
        columns.fill(forms, &data.lexicon, &*data.lexicon);
        for (word, token) in sentence.words().enumerate() {
            rows.clear();
            columns.keys(&templates, word, |_, key| rows.push(table.start(key)));
            softmax(&weights, &rows, 1.0, &mut probs);
            let tag = highest(probs.iter());
            columns.set_upos(word, tag);
            scores.words += 1;
            scores.upos += usize::from(data.upos[tag] == token.upos());
        }
    }
    Ok(scores)
}

/// Writes the probabilities of tags, given the rows of a word. Scores are multiplied by `scale`.
fn softmax(weights: &Vec<f32>, rows: &[usize], scale: f32, probs: &mut [f32]) {
    probs.fill(0.0);
    weights.add_rows(rows, probs);
    let best = probs.iter().copied().fold(f32::MIN, f32::max);
    probs.iter_mut().for_each(|score| *score = ((*score - best) * scale).exp());
    let sum: f32 = probs.iter().sum();
    probs.iter_mut().for_each(|prob| *prob /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In `tea tea …`, nouns and verbs alternate, and only the tag before tells them apart.
    #[test]
    fn tags_before_tell_apart_what_looks_the_same() -> Result<(), Box<dyn std::error::Error>> {
        let sentence = |n: usize| -> Result<Sentence, tutte_treebank::Error> {
            let tag = |word: usize| ["NOUN", "VERB"][word % 2];
            let line = |word: usize| {
                format!("{}\ttea\t_\t{}\t_\t_\t{word}\tdep\t_\t_\n", word + 1, tag(word))
            };
            (0..n).map(line).collect::<String>().parse()
        };
        let treebank: Vec<Sentence> = (2..10).map(sentence).collect::<Result<_, _>>()?;
        let options = TaggerOptions { passes: 40, ..TaggerOptions::for_words(100) };
        let scores = greedy_baseline(&treebank, &[sentence(12)?], &options)?;
        assert_eq!((scores.words, scores.upos), (12, 12));
        Ok(())
    }
}
