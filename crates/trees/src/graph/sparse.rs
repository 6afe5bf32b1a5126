//! Large sparse components: elimination in minimum-degree order, and the inverse at the arcs.
//!
//! As in the dense solver, L = diag(column sums of A, plus r) − A is eliminated without subtraction
//! (Grassmann, Taksar & Heyman 1985): removing k adds A\[i\]\[k\]·A\[k\]\[j\]/d to A\[i\]\[j\] for its
//! neighbours i ≠ j. Always removing a node with the fewest neighbours left (minimum degree; Rose
//! 1972) keeps the neighbourhoods S(k) small. With positions in that order, L = (I − P) D (I − Q),
//! P\[i\]\[k\] = A\[i\]\[k\]/d and Q\[k\]\[j\] = A\[k\]\[j\]/d for i, j ∈ S(k), all later than k.
//!
//! B = L⁻¹ obeys B = D⁻¹(I − P)⁻¹ + QB and B = (I − Q)⁻¹D⁻¹ + BP (Takahashi, Fagan & Chin 1973).
//! The first terms are triangular. From the last node back to the first,
//!
//! ```text
//! B[k][j] = Σ_{t∈S(k)} Q[k][t]·B[t][j]       j ∈ S(k)
//! B[j][k] = Σ_{t∈S(k)} B[j][t]·P[t][k]
//! B[k][k] = 1/d + Σ_{t∈S(k)} Q[k][t]·B[t][k]
//! ```
//!
//! needs entries of B only where t, j ∈ S(k), which are neighbours of each other after k's removal. So
//! B is computed on the filled pattern, which contains every arc, and all terms are non-negative.
//!
//! Cost: O(Σ |S(k)|²) time, O(Σ |S(k)|) memory. P(h → m) = A\[h\]\[m\]·(B\[m\]\[m\] − B\[m\]\[h\]) cancels as in
//! the dense sweep and carries the same certificate n·ε·max A\[h\]\[m\]·B\[m\]\[m\].

use std::collections::BTreeSet;

use crate::exp::exp;

/// A component as a sparse sentence: words 0..k, arcs grouped by child, log-weights.
#[derive(Clone, Debug)]
pub(super) struct Local {
    /// Arcs into word m are `start[m]..start[m + 1]`, parents increasing.
    pub(super) start: Vec<usize>,
    pub(super) parent: Vec<usize>,
    pub(super) log_weight: Vec<f64>,
    /// The pooled arc from outside, by word.
    pub(super) log_outside: Vec<f64>,
}

impl Local {
    pub(super) fn words(&self) -> usize {
        self.log_outside.len()
    }
}

/// An elimination order, and the neighbours that each word has when it is eliminated.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// The word at each position, and the position of each word.
    order: Vec<usize>,
    position: Vec<usize>,
    /// S(k) is `later[start[k]..start[k + 1]]`, increasing positions.
    start: Vec<usize>,
    later: Vec<usize>,
}

impl Fill {
    /// Finds the minimum-degree order; `None` if Σ |S(k)| exceeds `limit`.
    pub(super) fn new(local: &Local, limit: usize) -> Option<Self> {
        let k = local.words();
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); k];
        for child in 0..k {
            for &parent in &local.parent[local.start[child]..local.start[child + 1]] {
                neighbours[child].push(parent);
                neighbours[parent].push(child);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let mut queue: BTreeSet<(usize, usize)> =
            neighbours.iter().enumerate().map(|(word, list)| (list.len(), word)).collect();
        let mut order = Vec::with_capacity(k);
        let mut sets = Vec::with_capacity(k);
        let mut size = 0;
        let mut union = Vec::new();
        while let Some((degree, word)) = queue.pop_first() {
            order.push(word);
            size += degree;
            if size > limit {
                return None;
            }
            let removed = std::mem::take(&mut neighbours[word]);
            let all_joined = degree == queue.len();
            for &other in &removed {
                let list = &mut neighbours[other];
                queue.remove(&(list.len(), other));
                if all_joined {
                    // The remaining graph is complete: no edge can be added.
                    list.clear();
                    list.extend(removed.iter().filter(|&&x| x != other));
                } else {
                    merge(list, &removed, &mut union);
                    list.clear();
                    list.extend(union.iter().filter(|&&x| x != other && x != word));
                }
                queue.insert((list.len(), other));
            }
            sets.push(removed);
        }
        let mut position = vec![0; k];
        for (at, &word) in order.iter().enumerate() {
            position[word] = at;
        }
        let mut start = vec![0];
        let mut later = Vec::with_capacity(size);
        for set in sets {
            let from = later.len();
            later.extend(set.iter().map(|&word| position[word]));
            later[from..].sort_unstable();
            start.push(later.len());
        }
        Some(Self { order, position, start, later })
    }

    /// The index at which the pair of positions `low < high` is stored.
    fn entry(&self, low: usize, high: usize) -> Option<usize> {
        let range = self.start[low]..self.start[low + 1];
        let found = self.later[range.clone()].binary_search(&high).ok()?;
        Some(range.start + found)
    }
}

/// Writes the sorted union of two sorted lists.
fn merge(left: &[usize], right: &[usize], union: &mut Vec<usize>) {
    union.clear();
    let mut a = 0;
    let mut b = 0;
    while a < left.len() || b < right.len() {
        let x = left.get(a).copied().unwrap_or(usize::MAX);
        let y = right.get(b).copied().unwrap_or(usize::MAX);
        union.push(x.min(y));
        a += usize::from(x <= y);
        b += usize::from(y <= x);
    }
}

/// The log-partition function and the marginals of a sparse component.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    pub(super) log_partition: f64,
    /// `None` if the certificate does not guarantee ten digits.
    pub(super) marginals: Option<Marginals>,
}

/// Probabilities, in the layout of [`Local`].
#[derive(Clone, Debug)]
pub(super) struct Marginals {
    pub(super) arcs: Vec<f64>,
    pub(super) outside: Vec<f64>,
}

/// Smallest pivot with a guaranteed relative accuracy, as in the dense sweep.
const SMALLEST_PIVOT: f64 = 1e-60;
/// The largest error of a marginal that is accepted.
const LARGEST_ERROR: f64 = 1e-10;

/// Solves a component; `None` if a pivot is too small for `f64`.
pub(super) fn solve(local: &Local, fill: &Fill) -> Option<Solution> {
    let mut factors = Factors::load(local, fill);
    let log_det = factors.eliminate(fill)?;
    let log_partition = log_det + factors.log_scale.iter().sum::<f64>();
    let inverse = factors.invert(fill);
    Some(Solution { log_partition, marginals: inverse.marginals(local, fill, &factors.log_scale) })
}

/// A on the filled pattern, one value per pair of neighbours and direction.
struct Factors {
    /// A\[i\]\[k\], later P\[i\]\[k\], at k's entry for i.
    into: Vec<f64>,
    /// A\[k\]\[i\], later Q\[k\]\[i\], at k's entry for i.
    out: Vec<f64>,
    /// r by position.
    outside: Vec<f64>,
    /// The pivots d, by position.
    pivot: Vec<f64>,
    /// The amount subtracted from the log-weights into each word, so that the largest weight is 1.
    log_scale: Vec<f64>,
}

impl Factors {
    fn load(local: &Local, fill: &Fill) -> Self {
        let k = local.words();
        let mut factors = Factors {
            into: vec![0.0; fill.later.len()],
            out: vec![0.0; fill.later.len()],
            outside: vec![0.0; k],
            pivot: vec![0.0; k],
            log_scale: Vec::with_capacity(k),
        };
        for child in 0..k {
            let arcs = local.start[child]..local.start[child + 1];
            let scale = local.log_weight[arcs.clone()]
                .iter()
                .fold(local.log_outside[child], |high, &weight| high.max(weight));
            factors.log_scale.push(scale);
            let at = fill.position[child];
            factors.outside[at] = exp(local.log_outside[child] - scale);
            for arc in arcs {
                let weight = exp(local.log_weight[arc] - scale);
                let from = fill.position[local.parent[arc]];
                if let Some(entry) = fill.entry(at.min(from), at.max(from)) {
                    let side = if at < from { &mut factors.into } else { &mut factors.out };
                    side[entry] = weight;
                }
            }
        }
        factors
    }

    /// Returns ln of the product of pivots; leaves P in `into` and Q in `out`.
    fn eliminate(&mut self, fill: &Fill) -> Option<f64> {
        let Factors { into, out, outside, pivot, .. } = self;
        let later = &fill.later;
        let mut log_det = 0.0;
        for k in 0..fill.order.len() {
            let set = fill.start[k]..fill.start[k + 1];
            let d = outside[k] + into[set.clone()].iter().sum::<f64>();
            if d < SMALLEST_PIVOT {
                return None;
            }
            log_det += d.ln();
            pivot[k] = d;
            into[set.clone()].iter_mut().for_each(|weight| *weight /= d);
            let from_outside = outside[k] / d;
            for b in set.clone() {
                let j = later[b];
                outside[j] += from_outside * out[b];
                // The later members of S(k) are in S(j), in the same order.
                let mut entry = fill.start[j];
                for t in b + 1..set.end {
                    while later[entry] != later[t] {
                        entry += 1;
                    }
                    into[entry] += into[t] * out[b];
                    out[entry] += into[b] * out[t];
                }
            }
            out[set].iter_mut().for_each(|weight| *weight /= d);
        }
        Some(log_det)
    }

    fn invert(&self, fill: &Fill) -> Inverse {
        let p = &self.into;
        let q = &self.out;
        let later = &fill.later;
        let k = fill.order.len();
        let mut inverse = Inverse {
            below: vec![0.0; later.len()],
            right: vec![0.0; later.len()],
            diagonal: vec![0.0; k],
        };
        let Inverse { below, right, diagonal } = &mut inverse;
        for k in (0..k).rev() {
            let set = fill.start[k]..fill.start[k + 1];
            for a in set.clone() {
                let t = later[a];
                right[a] += q[a] * diagonal[t];
                below[a] += diagonal[t] * p[a];
                let mut entry = fill.start[t];
                for b in a + 1..set.end {
                    while later[entry] != later[b] {
                        entry += 1;
                    }
                    let (b_tj, b_jt) = (right[entry], below[entry]);
                    right[b] += q[a] * b_tj;
                    right[a] += q[b] * b_jt;
                    below[b] += b_jt * p[a];
                    below[a] += b_tj * p[b];
                }
            }
            let returns: f64 = set.map(|t| q[t] * below[t]).sum();
            diagonal[k] = 1.0 / self.pivot[k] + returns;
        }
        inverse
    }
}

/// B on the filled pattern.
struct Inverse {
    /// B\[j\]\[k\] at k's entry for j.
    below: Vec<f64>,
    /// B\[k\]\[j\] at k's entry for j.
    right: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Inverse {
    fn marginals(&self, local: &Local, fill: &Fill, log_scale: &[f64]) -> Option<Marginals> {
        let k = local.words();
        let mut marginals =
            Marginals { arcs: vec![0.0; local.parent.len()], outside: Vec::with_capacity(k) };
        let mut largest = 1.0f64;
        for child in 0..k {
            let at = fill.position[child];
            let own = self.diagonal[at];
            let outside = exp(local.log_outside[child] - log_scale[child]) * own;
            marginals.outside.push(outside.min(1.0));
            for arc in local.start[child]..local.start[child + 1] {
                let weight = exp(local.log_weight[arc] - log_scale[child]);
                let from = fill.position[local.parent[arc]];
                let entry = fill.entry(at.min(from), at.max(from))?;
                let other = if at < from { self.right[entry] } else { self.below[entry] };
                largest = largest.max(weight * own);
                marginals.arcs[arc] = (weight * (own - other)).clamp(0.0, 1.0);
            }
        }
        let certificate = k as f64 * f64::EPSILON * largest;
        (certificate <= LARGEST_ERROR).then_some(marginals)
    }
}
