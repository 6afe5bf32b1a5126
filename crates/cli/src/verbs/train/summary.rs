//! Summary of a finished training.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use tutte::learn::{Ending, TemperatureSource};
use tutte::text::raw_text;
use tutte_treebank::Sentence;

use super::scores::Scores;
use super::table::DevTable;
use crate::numbers::{counted, megabytes};
use crate::report::{Align, Table};
use crate::session::Session;

/// Summary of a training with a parser.
#[derive(Debug, Serialize)]
pub(super) struct TrainSummary {
    pub(super) model: String,
    pub(super) bytes: u64,
    pub(super) sentences: usize,
    pub(super) words: usize,
    pub(super) labels: usize,
    pub(super) tree_set: String,
    pub(super) passes: usize,
    pub(super) best_pass: usize,
    pub(super) temperature: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text_temperature: Option<f64>,
    pub(super) temperature_chosen_on: Option<TemperatureSource>,
    pub(super) dev: Option<Scores>,
    /// The official table of scores on development data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scores: Option<DevTable>,
    pub(super) ended: Ending,
    pub(super) seconds: f64,
}

/// Summary of a training without a parser.
#[derive(Debug, Serialize)]
pub(super) struct TextSummary {
    pub(super) model: String,
    pub(super) bytes: u64,
    pub(super) sentences: usize,
    pub(super) words: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scores: Option<DevTable>,
    pub(super) ended: Ending,
}

impl TrainSummary {
    pub(super) fn print(&self, session: &Session) -> Result<()> {
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        table.row(["model".to_owned(), format!("{}, {}", self.model, megabytes(self.bytes))]);
        let sentences = counted(self.sentences, "sentence");
        let words = counted(self.words, "word");
        let labels = counted(self.labels, "label");
        table.row(["trained on".to_owned(), format!("{sentences}, {words}, {labels}")]);
        table.row(["trees", &self.tree_set]);
        let best = match (self.best_pass == self.passes, &self.dev) {
            (false, _) => format!(", the best was pass {}", self.best_pass),
            (true, Some(_)) => ", the last was the best".to_owned(),
            (true, None) => String::new(),
        };
        table.row(["passes".to_owned(), format!("{}{best}", self.passes)]);
        if let Some(scores) = &self.dev {
            let words = counted(scores.words(), "word");
            table.row(["dev".to_owned(), format!("{scores} on {words}")]);
        }
        let how = match self.temperature_chosen_on {
            Some(TemperatureSource::Dev) => "chosen on dev",
            Some(TemperatureSource::Treebank) => "chosen on part of the training data",
            _ => "as learnt; --dev would choose one",
        };
        let for_text =
            self.text_temperature.map_or(String::new(), |t| format!(" ({t:.2} for raw text)"));
        table.row(["temperature".to_owned(), format!("{:.2}{for_text}, {how}", self.temperature)]);
        let mut out = session.stdout();
        out.write_all(table.text(0).as_bytes())?;
        if let Some(scores) = &self.scores {
            write!(out, "\n{}", scores.text())?;
        }
        Ok(out.flush()?)
    }
}

impl TextSummary {
    pub(super) fn print(&self, session: &Session) -> Result<()> {
        let mut out = session.stdout();
        if let Some(scores) = &self.scores {
            out.write_all(scores.text().as_bytes())?;
        }
        Ok(out.flush()?)
    }
}

/// Returns a command to try the model on: a sentence of development data if it has a tokenizer, or the whole
/// development file.
pub(super) fn next_step(
    model: &Path,
    has_tokenizer: bool,
    gold: &[Sentence],
    dev: Option<&PathBuf>,
) -> String {
    let model = model.display();
    match (gold.iter().find_map(example).filter(|_| has_tokenizer), dev) {
        (Some(text), _) => format!("next: tutte parse -m {model} -t '{text}'"),
        (None, Some(dev)) if !has_tokenizer => {
            let dev = dev.display();
            format!("next: tutte parse -m {model} {dev} | tutte eval {dev} -")
        }
        _ => format!("next: tutte parse -m {model} FILE"),
    }
}

/// Returns the text of a sentence, if it is short and needs no escapes in a shell.
fn example(sentence: &Sentence) -> Option<String> {
    const FEW_WORDS: std::ops::RangeInclusive<usize> = 3..=10;
    let text = raw_text(std::slice::from_ref(sentence));
    let is_plain = |c: char| !c.is_control() && !"'\"\\`$!*".contains(c);
    let text = text.trim();
    let is_suitable = FEW_WORDS.contains(&sentence.len()) && text.chars().all(is_plain);
    is_suitable.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_command_can_be_typed() {
        let sentence = |words: &[&str]| -> Sentence {
            let lines = (1..)
                .zip(words)
                .map(|(id, form)| format!("{id}\t{form}\t_\t_\t_\t_\t{}\tdep\t_\t_\n", id - 1));
            lines.collect::<String>().parse().unwrap()
        };
        let odd = sentence(&["It", "'s", "hot"]);
        let known = [sentence(&["Ah"]), odd.clone(), sentence(&["Tea", "cools", "slowly"])];
        let next = |has_tokenizer, gold: &[Sentence]| {
            let dev = PathBuf::from("dev.conllu");
            next_step(Path::new("en.tutte"), has_tokenizer, gold, Some(&dev))
        };
        assert_eq!(next(true, &known), "next: tutte parse -m en.tutte -t 'Tea cools slowly'");
        assert_eq!(next(true, &[odd]), "next: tutte parse -m en.tutte FILE");
        let evaluation = "next: tutte parse -m en.tutte dev.conllu | tutte eval dev.conllu -";
        assert_eq!(next(false, &known), evaluation);
    }
}
