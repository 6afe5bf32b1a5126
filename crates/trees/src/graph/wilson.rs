//! Wilson's algorithm (1996) on a sparse component.
//!
//! As for sentences: from each word not yet in the tree, walk to a head drawn in proportion to its
//! arc's weight until the walk meets the tree. The last head drawn for each word stays. A walk that
//! exceeds its budget is abandoned. That does not bias the draw that replaces it: the number of steps
//! is independent of the tree (Propp & Wilson 1998).

use rand_core::Rng;

use super::sparse::Local;
use crate::exp::exp;
use crate::uniform::uniform;

/// Steps that a walk may take per word.
const STEPS_PER_WORD: usize = 200;

/// Cumulative weights of the arcs into each word; the arc from outside comes first.
#[derive(Clone, Debug)]
pub(super) struct Walker {
    cumulative: Vec<f64>,
}

impl Walker {
    pub(super) fn new(local: &Local) -> Self {
        let mut cumulative = Vec::with_capacity(local.parent.len() + local.words());
        for word in 0..local.words() {
            let arcs = &local.log_weight[local.start[word]..local.start[word + 1]];
            let outside = local.log_outside[word];
            let high = arcs.iter().fold(outside, |high, &weight| high.max(weight));
            let mut sum = 0.0;
            for &weight in std::iter::once(&outside).chain(arcs) {
                sum += exp(weight - high);
                cumulative.push(sum);
            }
        }
        Self { cumulative }
    }

    /// Draws a tree: a head is 0 for outside and h + 1 for word h. Returns false if the walk was
    /// abandoned.
    pub(super) fn sample<R: Rng + ?Sized>(
        &self,
        local: &Local,
        rng: &mut R,
        heads: &mut Vec<usize>,
    ) -> bool {
        let k = local.words();
        // A word that is not yet in the tree has k+1 added to its head; the end of the walk subtracts it.
        let side = k + 1;
        heads.clear();
        heads.resize(k, side);
        let mut steps_left = STEPS_PER_WORD * k;
        for start in 0..k {
            let mut word = start + 1;
            while word > 0 && heads[word - 1] >= side {
                if steps_left == 0 {
                    return false;
                }
                steps_left -= 1;
                let first = local.start[word - 1];
                let last = local.start[word];
                let table = &self.cumulative[first + word - 1..last + word];
                let threshold = uniform(rng) * table[table.len() - 1];
                let drawn = table.partition_point(|&sum| sum <= threshold);
                let head = if drawn == 0 { 0 } else { local.parent[first + drawn - 1] + 1 };
                heads[word - 1] = head + side;
                word = head;
            }
            word = start + 1;
            while word > 0 && heads[word - 1] >= side {
                heads[word - 1] -= side;
                word = heads[word - 1];
            }
        }
        true
    }
}
