//! Memory that a training needs, estimated before anything large is allocated.
//!
//! ```text
//! arcs       clusters · 2^bits cells          weights, squared gradients, means and copies;
//! labels     labels · 2^label_bits cells      more for each fold that is trained at the same time
//! factors    at most a quarter of the cells of arcs, which is part of the margin
//! sentence   n² · labels                      label scores of all arcs, if labels are joint and nothing prunes arcs
//! ```

use tutte_treebank::Sentence;

use super::TrainingOptions;
use super::labels;
use crate::{Error, Labelling, MemoryCause};

/// Most memory that a training may need, in bytes.
const LIMIT: u64 = 16_000_000_000;

/// Number of tables of the size of the weights: weights, squared gradients, means, and a copy of the best.
const TABLES: u64 = 4;

const BYTES_PER_CELL: u64 = size_of::<f32>() as u64;

/// Refuses a training that needs more memory than there is, and names the cause.
///
/// # Errors
/// [`Error::Memory`].
pub(crate) fn check(treebank: &[Sentence], options: &TrainingOptions) -> Result<(), Error> {
    let names = match options.labelling {
        Labelling::None => Vec::new(),
        _ => labels::names(treebank),
    };
    let folds = options.second_pass.as_ref().map_or(0, |second| second.folds);
    let folds = folds.min(options.threads) as u64;
    let tables = BYTES_PER_CELL.saturating_mul(TABLES * (1 + folds));
    let table = |width: usize, bits: u32| (width as u64).saturating_mul(tables << bits);
    let is_hashed = options.dictionary.is_none();
    let arcs = if is_hashed { table(options.clusters, options.bits) } else { 0 };
    let label_tables = table(names.len(), options.label_bits);
    let is_pruned = options.pruning.is_some() || options.second_pass.is_some();
    let longest = treebank.iter().max_by_key(|sentence| sentence.len());
    let words = longest.map_or(0, Sentence::len);
    let sentence = if options.labelling == Labelling::Joint && !is_pruned {
        BYTES_PER_CELL.saturating_mul((words * words) as u64).saturating_mul(names.len() as u64)
    } else {
        0
    };
    let bytes = arcs.saturating_add(label_tables).saturating_add(sentence);
    if bytes <= LIMIT && can_allocate(bytes) {
        return Ok(());
    }
    let cause = match longest {
        Some(longest) if sentence > arcs.max(label_tables) => {
            MemoryCause::Sentence { place: Box::new(longest.place()), words, labels: names.len() }
        }
        _ if label_tables > arcs => MemoryCause::Labels {
            labels: names.len(),
            examples: names.iter().take(3).cloned().collect(),
        },
        _ => MemoryCause::Arcs { bits: options.bits, clusters: options.clusters },
    };
    Err(Error::Memory { bytes, cause })
}

/// Number of tables of the size of a network: weights, the model of the last epoch and the best one, gradients of four
/// parts of a batch, two moments, and a mean.
#[cfg(feature = "neural")]
const TABLES_OF_NETWORK: u64 = 10;

/// Refuses a network whose label scorer needs more memory than there is, for weights or for a batch of this many words.
///
/// # Errors
/// [`Error::Memory`] if there are too many labels; [`Error::Setting`] if the batch is too large.
#[cfg(feature = "neural")]
pub(crate) fn check_network(
    labels: &[String],
    options: &tutte_neural::NetworkOptions,
    batch: usize,
) -> Result<(), Error> {
    /// With a batch of this size, only the labels can be too many.
    const SMALL_BATCH: usize = 1000;
    let weights = options.label_weights().saturating_mul(TABLES_OF_NETWORK);
    let bytes = |batch: usize| {
        weights.saturating_add(options.label_activations(batch)).saturating_mul(BYTES_PER_CELL)
    };
    let fits = |bytes: u64| bytes <= LIMIT && can_allocate(bytes);
    let needed = bytes(batch);
    if fits(needed) {
        return Ok(());
    }
    if batch > SMALL_BATCH && fits(bytes(SMALL_BATCH)) {
        return Err(Error::Setting(format!(
            "batches of {batch} words would need about {:.1} GB of memory, which is too much; choose smaller ones",
            needed as f64 / 1e9
        )));
    }
    let examples = labels.iter().take(3).cloned().collect();
    Err(Error::Memory {
        bytes: needed,
        cause: MemoryCause::Labels { labels: labels.len(), examples },
    })
}

/// Returns `true` if the system grants this much memory. Nothing is written to it, so this takes no time.
fn can_allocate(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}
