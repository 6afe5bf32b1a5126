//! What comes before the parser: which parts a model is to have, and learning those that make words and
//! tags of raw text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use tutte::text::{
    TagScores, Tagger, TaggerMemory, TaggerOptions, Tokenizer, TokenizerOptions, jackknife,
};
use tutte::{Compact, Model};
use tutte_treebank::{Format, Sentence};

use super::clock;
use super::material::Material;
use crate::failure::usage;
use crate::session::Session;

/// What a model is made of; flattened into the arguments of the verb.
#[derive(Args, Clone, Debug)]
pub(super) struct Parts {
    /// What to learn: tokenizer, tagger, parser, some of them with commas [default: all that TRAIN can
    /// teach; a parser alone from CoNLL-X]
    #[arg(
        long,
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    with: Vec<Part>,

    /// The tags that the parser learns from: jackknife (those of TRAIN, and beside them those that a tagger
    /// gives which has not seen the sentence, as the parser will see them) or gold (those of TRAIN alone)
    /// [default: jackknife if there is a tagger]
    #[arg(long, value_name = "TAGS", value_enum, hide_possible_values = true)]
    tags: Option<Tags>,
}

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    Tokenizer,
    Tagger,
    Parser,
}

/// What a parser learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tags {
    Jackknife,
    Gold,
}

/// How many taggers tag the treebank for the parser, each a part of it.
const FOLDS: usize = 5;

/// The binary logarithms of the greatest sizes of tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    tokenizer: Option<u32>,
    tagger: u32,
    fine: u32,
    /// Of the parser's labels.
    pub(super) label_bits: u32,
}

impl Default for Sizes {
    /// As the treebank needs.
    fn default() -> Self {
        Self { tokenizer: None, tagger: u32::MAX, fine: u32::MAX, label_bits: u32::MAX }
    }
}

impl Sizes {
    /// With those of a parser, about 8 MB.
    pub(super) fn compact() -> Self {
        Self { tokenizer: Some(17), tagger: 16, fine: 12, label_bits: 14 }
    }
}

/// The parts of a model that are not its parser.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub(super) tokenizer: Option<Arc<Tokenizer<Compact>>>,
    pub(super) tagger: Option<Arc<Tagger<Compact>>>,
    /// How good the tagger is on development data.
    pub(super) tag_scores: Option<TagScores>,
}

impl Text {
    /// Makes a model of a parser one that has these parts.
    pub(super) fn put_into(&self, model: &mut Model<Compact>) {
        model.tokenizer.clone_from(&self.tokenizer);
        model.tagger.clone_from(&self.tagger);
    }
}

impl Parts {
    /// Whether a part is to be learnt from this treebank.
    fn wants(&self, part: Part, train: &[Sentence]) -> bool {
        if !self.with.is_empty() {
            return self.with.contains(&part);
        }
        let is_conllu = train.iter().all(|sentence| sentence.format() == Format::ConllU);
        let has_tags = || train.iter().any(|s| s.words().any(|word| word.upos() != "_"));
        match part {
            Part::Parser => true,
            Part::Tagger | Part::Tokenizer => is_conllu && has_tags(),
        }
    }

    /// Whether there is to be a parser.
    pub(super) fn parser(&self) -> bool {
        self.with.is_empty() || self.with.contains(&Part::Parser)
    }

    /// What the model's description says of the tags a parser learnt from.
    pub(super) fn tags(&self, train: &[Sentence]) -> &'static str {
        match self.jackknifed(train) {
            true => "jackknife",
            false => "gold",
        }
    }

    fn jackknifed(&self, train: &[Sentence]) -> bool {
        self.wants(Part::Tagger, train) && self.tags != Some(Tags::Gold) && train.len() > 1
    }

    /// Refuses what cannot be meant.
    pub(super) fn check(&self) -> Result<()> {
        let without_tagger = !self.with.is_empty() && !self.with.contains(&Part::Tagger);
        if self.tags == Some(Tags::Jackknife) && without_tagger {
            return Err(usage("--tags jackknife needs a tagger: --with tagger,parser"));
        }
        Ok(())
    }

    /// Learns what is wanted, and gives the treebank and development data the tags that the parser is to
    /// learn from and to be judged by.
    pub(super) fn learn(
        &self,
        material: &mut Material,
        sizes: Sizes,
        seed: u64,
        threads: usize,
        session: &Session,
    ) -> Result<Text> {
        let mut text = Text::default();
        if self.wants(Part::Tokenizer, &material.train) {
            let status = session.status();
            let started = Instant::now();
            status.show(|| "learning words and sentences".to_owned());
            let options =
                TokenizerOptions { seed, bits: sizes.tokenizer, ..TokenizerOptions::default() };
            let tokenizer = Tokenizer::train(&material.train, &options)?.compact();
            status.aside(|| {
                session.note(format!("tokenizer learnt in {}", clock(started.elapsed())));
            });
            text.tokenizer = Some(Arc::new(tokenizer));
        }
        if self.wants(Part::Tagger, &material.train) {
            let status = session.status();
            let started = Instant::now();
            let usual = TaggerOptions::for_words(material.words);
            let options = TaggerOptions {
                seed,
                bits: usual.bits.min(sizes.tagger),
                fine_bits: usual.fine_bits.min(sizes.fine),
                ..usual
            };
            status.show(|| "learning tags".to_owned());
            let tagger = Tagger::train(&material.train, &options)?.compact();
            text.tag_scores = match material.dev.is_empty() {
                true => None,
                false => Some(tagger.evaluate(&material.dev)?),
            };
            let scores =
                text.tag_scores.map_or(String::new(), |scores| format!(": {}", shares(&scores)));
            status.aside(|| {
                session.note(format!("tagger learnt in {}{scores}", clock(started.elapsed())))
            });
            if self.parser() && self.jackknifed(&material.train) {
                status.show(|| "tagging the treebank for the parser".to_owned());
                let started = Instant::now();
                let tagged = jackknife(&material.train, &options, FOLDS, threads)?;
                material.train.splice(..0, tagged);
                material.versions = 2;
                let mut memory = TaggerMemory::default();
                for sentence in &mut material.dev {
                    tagger.annotate(sentence, &mut memory)?;
                }
                status.aside(|| {
                    session.note(format!(
                        "treebank tagged for the parser, by taggers that had not seen it, in {}",
                        clock(started.elapsed())
                    ));
                });
            }
            text.tagger = Some(Arc::new(tagger));
        }
        Ok(text)
    }
}

/// `UPOS 95.48, XPOS 94.75, FEATS 95.43, lemmas 97.03`.
pub(super) fn shares(scores: &TagScores) -> String {
    let TagScores { upos, xpos, feats, lemmas, .. } = *scores;
    let named = [("UPOS", upos), ("XPOS", xpos), ("FEATS", feats), ("lemmas", lemmas)];
    let shares = named.map(|(name, right)| format!("{name} {:.2}", 100.0 * scores.share(right)));
    shares.join(", ")
}

/// The development data that lies beside a treebank: `dev` for `train` in its name.
pub(super) fn sibling(files: &[PathBuf]) -> Option<PathBuf> {
    let [train] = files else { return None };
    let name = train.file_name()?.to_str()?;
    let at = name.rfind("train")?;
    let dev = format!("{}dev{}", &name[..at], &name[at + "train".len()..]);
    let dev = train.parent().unwrap_or(Path::new("")).join(dev);
    dev.is_file().then_some(dev)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn development_data_lies_beside_the_treebank() {
        let folder = std::env::temp_dir().join(format!("tutte-sibling-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let dev = folder.join("en_x-ud-dev.conllu");
        std::fs::write(&dev, "").unwrap();
        let found = |name: &str| sibling(&[folder.join(name)]);
        assert_eq!(found("en_x-ud-train.conllu"), Some(dev));
        assert_eq!(found("en_y-ud-train.conllu"), None);
        assert_eq!(found("other.conllu"), None);
        assert_eq!(sibling(&[]), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
