//! What one tree looks like, in numbers. O(n) each, but for crossings: those are near-linear on
//! real trees (see [`Tree::nonprojective_arcs`]).

use tutte_trees::Tree;

/// The measures of one tree of n words.
pub(super) struct Shape {
    /// Arcs from the root to the deepest word; the root word itself has depth 1.
    pub(super) depth: usize,
    /// The sum of the depths of all words.
    pub(super) depths: u64,
    /// Words attached to the root.
    pub(super) roots: usize,
    pub(super) nonprojective_arcs: usize,
    pub(super) gap_degree: usize,
    /// Children of every word before and after it, `[left, right]`; entry 0 is word 1.
    pub(super) children: Vec<[u32; 2]>,
    /// Σ |head − modifier| over the arcs between words.
    pub(super) length: u64,
    /// What that sum is for the same tree with its words in random order, on average, times 3:
    /// each of the arcs has expected length (n + 1) / 3 (Ferrer-i-Cancho 2004).
    pub(super) random_length_3: u64,
    /// And in a random order that leaves the tree projective, times 6:
    /// (Σ n(v) (2 d(v) + 1) − roots) / 6 with the n(v) words and d(v) children of the subtree of v
    /// (Alemany-Puig & Ferrer-i-Cancho 2022, Theorem 1, summed over the root words).
    pub(super) random_projective_length_6: u64,
}

impl Shape {
    pub(super) fn new(tree: &Tree) -> Self {
        let n = tree.words();
        let mut children = vec![[0; 2]; n];
        let (mut roots, mut length) = (0, 0);
        for (head, modifier) in tree.arcs() {
            if head == 0 {
                roots += 1;
            } else {
                children[head - 1][usize::from(modifier > head)] += 1;
                length += head.abs_diff(modifier) as u64;
            }
        }
        let order = heads_first(tree);
        let mut depth = vec![0usize; n + 1];
        for &word in &order {
            depth[word] = depth[tree.heads()[word - 1]] + 1;
        }
        let mut size = vec![1u64; n + 1];
        for &word in order.iter().rev() {
            let head = tree.heads()[word - 1];
            size[head] += size[word];
        }
        let weighted: u64 = (1..=n)
            .map(|word| {
                let [left, right] = children[word - 1];
                size[word] * (2 * u64::from(left + right) + 1)
            })
            .sum();
        let nonprojective = !tree.is_projective();
        Self {
            depth: depth.iter().copied().max().unwrap_or(0),
            depths: depth.iter().map(|&depth| depth as u64).sum(),
            roots,
            nonprojective_arcs: if nonprojective { tree.nonprojective_arcs().len() } else { 0 },
            gap_degree: if nonprojective { tree.gap_degree() } else { 0 },
            children,
            length,
            random_length_3: (n - roots) as u64 * (n + 1) as u64,
            random_projective_length_6: weighted - roots as u64,
        }
    }
}

/// The words, each after its head.
fn heads_first(tree: &Tree) -> Vec<usize> {
    let n = tree.words();
    // The modifiers of head h are `modifiers[starts[h]..starts[h + 1]]`.
    let mut starts = vec![0; n + 2];
    tree.heads().iter().for_each(|&head| starts[head + 1] += 1);
    (0..=n).for_each(|head| starts[head + 1] += starts[head]);
    let mut next = starts.clone();
    let mut modifiers = vec![0; n];
    for (head, modifier) in tree.arcs() {
        modifiers[next[head]] = modifier;
        next[head] += 1;
    }
    let mut order = modifiers[..starts[1]].to_vec();
    let mut at = 0;
    while at < order.len() {
        let head = order[at];
        order.extend_from_slice(&modifiers[starts[head]..starts[head + 1]]);
        at += 1;
    }
    order
}
