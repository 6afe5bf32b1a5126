//! Measures the accuracy lost by parsing long sentences in pieces.
//!
//! ```text
//! cargo run --release -p tutte --example pieces -- MODEL NAME LONGEST[,LONGEST…] FILES…
//! ```
//!
//! For each LONGEST it takes the sentences with more words than that, and parses them whole and in pieces of at most
//! LONGEST words. It prints one Markdown row per LONGEST with UAS and LAS of both. All words count, and tags are those
//! of the files.

use std::error::Error;

use tutte::{Limits, Model, Parse, Parser};
use tutte_treebank::{Sentence, open};

/// Number of correct words.
#[derive(Default)]
struct Correct {
    heads: usize,
    /// Head and label.
    both: usize,
}

impl Correct {
    fn add(&mut self, gold: &Sentence, parse: &Parse, names: &[String]) {
        for (word, (head, label)) in gold.words().zip(parse.tree.heads().iter().zip(&parse.labels))
        {
            let is_head_correct = word.head() == Some(*head);
            self.heads += usize::from(is_head_correct);
            self.both += usize::from(is_head_correct && word.deprel() == names[*label]);
        }
    }
}

#[expect(clippy::print_stdout, reason = "the example prints its results")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, name, longest, files @ ..] = &arguments[..] else {
        return Err(
            "arguments are missing; usage: pieces MODEL NAME LONGEST[,LONGEST…] FILES…".into()
        );
    };
    let model = Model::load(model)?;
    let model = model.require_parser()?;
    let mut sentences = Vec::new();
    for file in files {
        for sentence in open(file)? {
            sentences.push(sentence?);
        }
    }
    for longest in longest.split(',') {
        let longest: usize = longest.parse()?;
        let mut whole =
            Parser::new(model).with_limits(Limits { whole: usize::MAX, piece: longest });
        let mut cut = Parser::new(model).with_limits(Limits { whole: longest, piece: longest });
        let long = || sentences.iter().filter(|sentence| sentence.len() > longest);
        let mut words = 0;
        let mut pieces = 0;
        let mut before = Correct::default();
        let mut after = Correct::default();
        for sentence in long() {
            words += sentence.len();
            before.add(sentence, &whole.parse(sentence)?, model.labels.labels());
            let parse = cut.parse(sentence)?;
            pieces += parse.pieces;
            after.add(sentence, &parse, model.labels.labels());
        }
        let sentences = long().count();
        let percent =
            |correct: usize| format!("{:.2}", 100.0 * correct as f64 / words.max(1) as f64);
        let lost = before.heads as f64 - after.heads as f64;
        let cuts = pieces.saturating_sub(sentences).max(1);
        let cells = [
            name.clone(),
            longest.to_string(),
            sentences.to_string(),
            words.to_string(),
            pieces.to_string(),
            percent(before.heads),
            percent(after.heads),
            percent(before.both),
            percent(after.both),
            format!("{:.2}", lost / cuts as f64),
        ];
        println!("| {} |", cells.join(" | "));
    }
    Ok(())
}
