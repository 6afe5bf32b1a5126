//! What parsing in pieces costs: sentences that can be parsed whole, parsed whole and in pieces.
//!
//! ```text
//! cargo run --release -p tutte --example pieces -- MODEL NAME LONGEST[,LONGEST…] FILES…
//! ```
//!
//! Prints a row of Markdown for each LONGEST: of the sentences with more words than that, how many heads (and
//! labels) are right if they are parsed whole, and in pieces of at most that many words. All words count, tags are
//! those of the files.

use std::error::Error;

use tutte::{Limits, Model, Parse, Parser};
use tutte_treebank::{Sentence, open};

/// Words that are right.
#[derive(Default)]
struct Right {
    heads: usize,
    both: usize,
}

impl Right {
    fn add(&mut self, gold: &Sentence, parse: &Parse, names: &[String]) {
        for (word, (head, label)) in gold.words().zip(parse.tree.heads().iter().zip(&parse.labels))
        {
            let right = word.head() == Some(*head);
            self.heads += usize::from(right);
            self.both += usize::from(right && word.deprel() == names[*label]);
        }
    }
}

#[expect(clippy::print_stdout, reason = "its rows are what an example is run for")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, name, longest, files @ ..] = &arguments[..] else {
        return Err("usage: pieces MODEL NAME LONGEST[,LONGEST…] FILES…".into());
    };
    let model = Model::load(model)?;
    let model = model.trees()?;
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
        let (mut words, mut pieces) = (0, 0);
        let (mut before, mut after) = (Right::default(), Right::default());
        for sentence in long() {
            words += sentence.len();
            before.add(sentence, &whole.parse(sentence)?, model.labels.labels());
            let parse = cut.parse(sentence)?;
            pieces += parse.pieces;
            after.add(sentence, &parse, model.labels.labels());
        }
        let sentences = long().count();
        let percent = |right: usize| format!("{:.2}", 100.0 * right as f64 / words.max(1) as f64);
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
