//! What comes before the parser: which parts a model is to have, and learning those that make words and
//! tags of raw text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use tutte::text::{
    TagScores, Tagger, TaggerMemory, TaggerOptions, Tokenizer, TokenizerOptions, jackknife_observed,
};
use tutte::{Compact, Model};
use tutte_treebank::{Format, Sentence};

use super::clock;
use super::material::Material;
use super::shelf::{Kept, Shelf};
use super::watching::watched;
use crate::failure::usage;
use crate::interrupt::Interrupt;
use crate::session::Session;

/// What a model is made of; flattened into the arguments of the verb.
#[derive(Args, Clone, Debug)]
pub(super) struct Parts {
    /// Parts to train: tokenizer, tagger, parser, separated by commas [default: all that TRAIN has data for; for
    /// CoNLL-X only the parser]
    #[arg(
        long,
        value_name = "PARTS",
        value_enum,
        value_delimiter = ',',
        hide_possible_values = true
    )]
    with: Vec<Part>,

    /// Tags that the parser is trained on: jackknife (gold tags and predicted ones of held-out folds) or gold
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
pub(super) const FOLDS: usize = 5;

/// The binary logarithms of the greatest sizes of a tagger's tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    tagger: u32,
    fine: u32,
}

impl Default for Sizes {
    /// As the treebank needs.
    fn default() -> Self {
        Self { tagger: u32::MAX, fine: u32::MAX }
    }
}

impl Sizes {
    /// Of UD English EWT, 19 MB instead of 34, for 0.2 LAS on its development file.
    pub(super) fn compact() -> Self {
        Self { tagger: 17, fine: 14 }
    }
}

/// The parts of a model that are not its parser.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub(super) tokenizer: Option<Arc<Tokenizer<Compact>>>,
    pub(super) tagger: Option<Arc<Tagger<Compact>>>,
}

impl Text {
    /// What a model of these parts alone can do; nothing, if there are none.
    pub(super) fn finds(&self) -> Option<&'static str> {
        match (&self.tokenizer, &self.tagger) {
            (Some(_), Some(_)) => Some("finds words and tags, and no trees"),
            (Some(_), None) => Some("finds words and sentences, and neither tags nor trees"),
            (None, Some(_)) => Some("finds tags, and no trees"),
            (None, None) => None,
        }
    }

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
    /// learn from and to be judged by. Says whether it came to its end; if not, what was ready is given.
    pub(super) fn learn(
        &self,
        material: &mut Material,
        study: &Study<'_>,
        resume: bool,
    ) -> Result<(Text, bool)> {
        let mut text = Text::default();
        let train = &material.train;
        if ![Part::Tokenizer, Part::Tagger].iter().any(|part| self.wants(*part, train)) {
            return Ok((text, true));
        }
        let shelf = study.shelf(self, material);
        let kept = if resume { shelf.open()? } else { Kept::default() };
        match self.steps(material, study, &shelf, kept, &mut text) {
            Ok(()) => Ok((text, true)),
            Err(error) if is_stop(&error) => Ok((text, false)),
            Err(error) => Err(error),
        }
    }

    fn steps(
        &self,
        material: &mut Material,
        study: &Study<'_>,
        shelf: &Shelf,
        kept: Kept,
        text: &mut Text,
    ) -> Result<()> {
        let &Study { session, interrupt, threads, .. } = study;
        let (status, words) = (session.status(), material.words);
        let tell = |what: String, started: Instant| {
            status.aside(|| session.note(format!("{what} in {}", clock(started.elapsed()))));
        };
        let goes_on =
            |what: &str| status.aside(|| session.note(format!("{what} was learnt before")));
        let Kept { text: before, tagged } = kept;
        if self.wants(Part::Tokenizer, &material.train) {
            text.tokenizer = before.tokenizer;
            if text.tokenizer.is_some() {
                goes_on("tokenizer");
            } else {
                let (started, options) = (Instant::now(), study.tokenizer());
                let tokenizer =
                    watched("learning words and sentences", words, &status, interrupt, |watch| {
                        Tokenizer::train_observed(&material.train, &options, watch)
                    })?;
                text.tokenizer = Some(Arc::new(tokenizer.compact()));
                tell("tokenizer learnt".to_owned(), started);
                shelf.keep(text, None)?;
            }
        }
        if !self.wants(Part::Tagger, &material.train) {
            return Ok(());
        }
        let (started, options) = (Instant::now(), study.tagger(words));
        text.tagger = before.tagger;
        let is_new = text.tagger.is_none();
        let tagger = match &text.tagger {
            Some(tagger) => Arc::clone(tagger),
            None => {
                let tagger = watched("learning tags", words, &status, interrupt, |watch| {
                    Tagger::train_observed(&material.train, &options, watch)
                })?;
                Arc::new(tagger.compact())
            }
        };
        let scores = match material.dev.is_empty() {
            true => String::new(),
            false => format!(": {}", shares(&tagger.evaluate(&material.dev)?)),
        };
        text.tagger = Some(Arc::clone(&tagger));
        if is_new {
            let took = clock(started.elapsed());
            status.aside(|| session.note(format!("tagger learnt in {took}{scores}")));
            shelf.keep(text, None)?;
        } else {
            goes_on("tagger");
        }
        if !self.parser() || !self.jackknifed(&material.train) {
            return Ok(());
        }
        let tagged = match tagged.filter(|tagged| tagged.len() == material.train.len()) {
            Some(tagged) => tagged,
            None => {
                let started = Instant::now();
                let (what, seen) =
                    ("tagging the treebank for the parser", words - words / FOLDS.max(1));
                let tagged = watched(what, seen, &status, interrupt, |watch| {
                    jackknife_observed(&material.train, &options, FOLDS, threads, watch)
                })?;
                let what = "treebank tagged for the parser, by taggers that had not seen it,";
                tell(what.to_owned(), started);
                shelf.keep(text, Some(&tagged))?;
                tagged
            }
        };
        material.train.splice(..0, tagged);
        material.versions = 2;
        let mut memory = TaggerMemory::default();
        for sentence in &mut material.dev {
            tagger.annotate(sentence, &mut memory)?;
        }
        Ok(())
    }
}

/// What learning is done with.
pub(super) struct Study<'a> {
    pub(super) session: &'a Session,
    pub(super) interrupt: &'a Interrupt,
    /// The model to be written.
    pub(super) output: &'a Path,
    pub(super) sizes: Sizes,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Study<'_> {
    fn tokenizer(&self) -> TokenizerOptions {
        let &Self { seed, threads, .. } = self;
        TokenizerOptions { seed, threads, ..TokenizerOptions::default() }
    }

    fn tagger(&self, words: usize) -> TaggerOptions {
        let usual = TaggerOptions::for_words(words);
        TaggerOptions {
            seed: self.seed,
            bits: usual.bits.min(self.sizes.tagger),
            fine_bits: usual.fine_bits.min(self.sizes.fine),
            ..usual
        }
    }

    /// Where what is ready is kept until all is.
    fn shelf(&self, parts: &Parts, material: &Material) -> Shelf {
        // The seed is said once; the number of threads does not matter.
        let tokenizer = TokenizerOptions { threads: 1, seed: 0, ..self.tokenizer() };
        let tagger = TaggerOptions { seed: 0, ..self.tagger(material.words) };
        let settings = [
            ("seed", self.seed.to_string()),
            ("parts", format!("{:?}", parts.with)),
            ("tags", parts.tags(&material.train).to_owned()),
            ("tokenizer", format!("{tokenizer:?}")),
            ("tagger", format!("{tagger:?}")),
        ];
        Shelf::new(self.output, &material.train, &settings)
    }
}

fn is_stop(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(tutte::Error::Stopped))
}

/// `UPOS 95.48, XPOS 94.75, FEATS 95.43, lemmas 97.03`.
fn shares(scores: &TagScores) -> String {
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
