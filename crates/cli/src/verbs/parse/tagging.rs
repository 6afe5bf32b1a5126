//! Tags of sentences that have none, before they are parsed.

use clap::{Args, ValueEnum};
use serde::Serialize;
use tutte::text::{Tagger, TaggerMemory, Tagging};
use tutte::{Compact, Error};
use tutte_treebank::Sentence;

/// How tags are found; flattened into the arguments of verbs. Serialised, it is part of what decides the
/// output.
#[derive(Args, Clone, Copy, Debug, Serialize)]
pub(crate) struct TagOptions {
    /// Whose tags and lemmas the parser sees
    #[arg(long, value_name = "WHOSE", default_value = "auto")]
    tags: Whose,

    /// How many readings of the tags count, for sentences tagged here; 1 is the best alone
    ///
    /// The tree and its probabilities are then the mean over the most probable sequences of tags, as far as
    /// these have a chance worth the time. More trees (--kbest, --sample) and --decode map see the best
    /// tags only, and entropies are the mean of those given tags.
    #[arg(long, value_name = "K", default_value_t = 4, hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=100))]
    tag_uncertainty: u16,
}

/// Whose tags count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Whose {
    /// Those of the file; sentences without any are tagged
    Auto,
    /// Those of the file, even if there are none
    File,
    /// Those of the model's tagger
    Model,
}

/// Readings less probable than this are not worth a parse.
const LEAST: f64 = 0.1;

impl TagOptions {
    /// Whether the model's tagger is wanted in any case.
    pub(super) fn needs_tagger(&self) -> bool {
        self.tags == Whose::Model
    }

    fn wants(&self, sentence: &Sentence) -> bool {
        let is_bare = |sentence: &Sentence| {
            let mut words = sentence.words();
            words.all(|word| [word.upos(), word.xpos(), word.feats()] == ["_"; 3])
        };
        match self.tags {
            Whose::Auto => is_bare(sentence),
            Whose::File => false,
            Whose::Model => true,
        }
    }
}

/// Gives sentences tags.
pub(super) struct Tags<'a> {
    options: TagOptions,
    tagger: Option<&'a Tagger<Compact>>,
    memory: TaggerMemory,
}

impl<'a> Tags<'a> {
    pub(super) fn new(options: TagOptions, tagger: Option<&'a Tagger<Compact>>) -> Self {
        Self { options, tagger, memory: TaggerMemory::default() }
    }

    /// Tags a sentence if that is wanted; gives the readings of its tags, if they are uncertain.
    pub(super) fn tag(&mut self, sentence: &mut Sentence) -> Result<Readings<'a>, Error> {
        let wanted = self.options.wants(sentence);
        let Some(tagger) = self.tagger.filter(|_| wanted) else {
            let (best, others) = (Tagging::default(), Vec::new());
            return Ok(Readings { tagger: None, best, others, are_lacking: wanted });
        };
        let k = self.options.tag_uncertainty.into();
        let (best, others) = tagger.readings(sentence, k, LEAST, &mut self.memory);
        tagger.write(&best, sentence)?;
        Ok(Readings { tagger: Some(tagger), best, others, are_lacking: false })
    }
}

/// The tags of a sentence, and what else they may be.
pub(super) struct Readings<'a> {
    tagger: Option<&'a Tagger<Compact>>,
    best: Tagging,
    /// The most probable sequences, if more than one counts.
    others: Vec<Tagging>,
    /// Whether there are no tags, since nobody could give any.
    pub(super) are_lacking: bool,
}

impl Readings<'_> {
    /// Whether the sentence was tagged.
    pub(super) fn are_new(&self) -> bool {
        self.tagger.is_some()
    }

    /// Whether more than one counts.
    pub(super) fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// Does something with the sentence under each reading; leaves it with the best tags.
    pub(super) fn each<T>(
        &self,
        sentence: &mut Sentence,
        mut parse: impl FnMut(&Sentence) -> Result<T, Error>,
    ) -> Result<Vec<(f64, T)>, Error> {
        let Some(tagger) = self.tagger else { return Ok(Vec::new()) };
        let mut all = Vec::with_capacity(self.others.len());
        for reading in &self.others {
            tagger.write(reading, sentence)?;
            all.push((reading.prob, parse(sentence)?));
        }
        tagger.write(&self.best, sentence)?;
        Ok(all)
    }
}
