//! The tags of a joined model: those of the tagger or those of the network, whichever are right more often.

use std::fmt;
use std::sync::Arc;

use tutte_treebank::Sentence;

use crate::{Annotator, Compact, Error, Model, Pipeline, TagSource, map_batches};

/// Number of words of held-out trees whose UPOS is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagAccuracy {
    /// Number of words that have a UPOS in the trees.
    pub words: usize,
    /// Number of these words that the tagger tags right.
    pub tagger: usize,
    /// Number of these words that the network tags right.
    pub network: usize,
}

impl TagAccuracy {
    /// Returns `true` if the tagger is right more often than the network.
    pub fn is_tagger_better(&self) -> bool {
        self.tagger > self.network
    }
}

impl fmt::Display for TagAccuracy {
    /// `UPOS 92.52 by the tagger, 85.30 by the network`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |right: usize| 100.0 * right as f64 / self.words.max(1) as f64;
        let [tagger, network] = [self.tagger, self.network].map(share);
        write!(f, "UPOS {tagger:.2} by the tagger, {network:.2} by the network")
    }
}

/// Leaves the tags of a joined model to its tagger if that is better on held-out trees. Returns `None` if there is no
/// choice.
pub(super) fn choose(
    model: &mut Model<Compact>,
    held_out: &[Sentence],
    threads: usize,
) -> Result<Option<TagAccuracy>, Error> {
    let network = model.parser.as_ref().and_then(|parser| parser.network.clone());
    let Some(network) = network.filter(|network| network.has_tags()) else { return Ok(None) };
    if model.tagger.is_none() {
        return Ok(None);
    }
    let tagger = Model { tagger: model.tagger.clone(), ..Model::default() };
    let words = held_out.iter().flat_map(Sentence::words).filter(|word| word.upos() != "_");
    let accuracy = TagAccuracy {
        words: words.count(),
        tagger: right(&tagger, held_out, threads)?,
        network: right(model, held_out, threads)?,
    };
    if accuracy.is_tagger_better()
        && let Some(parser) = &mut model.parser
    {
        let scorer = Arc::unwrap_or_clone(network).with_tags_of_tagger(true);
        parser.network = Some(Arc::new(scorer));
    }
    Ok(Some(accuracy))
}

/// Returns the number of words whose UPOS a model finds.
fn right(model: &Model<Compact>, held_out: &[Sentence], threads: usize) -> Result<usize, Error> {
    let pipeline = Pipeline::new(model).with_tags(TagSource::Model).with_readings(1);
    let mut given = held_out.iter();
    let mut gold = held_out.iter();
    let mut right = 0;
    map_batches::<_, _, Error>(
        threads,
        || pipeline.annotator(),
        |annotator: &mut Annotator<'_>, _, sentence| annotator.tag(sentence).map(drop),
        |sentence| Ok(given.next().inspect(|given| sentence.clone_from(given)).is_some()),
        |tagged, result: Result<(), Error>, _| {
            result?;
            let words = gold.next().into_iter().flat_map(Sentence::words).zip(tagged.words());
            let is_right =
                words.filter(|(gold, found)| gold.upos() != "_" && gold.upos() == found.upos());
            right += is_right.count();
            Ok(())
        },
    )?;
    Ok(right)
}
