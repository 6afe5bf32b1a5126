//! Measures of one tree.
//!
//! Each costs O(n), except crossings, which are near-linear on real trees (see
//! [`Tree::nonprojective_arcs`]).

use tutte_trees::Tree;

/// The measures of one tree of n words.
pub(super) struct Shape {
    /// Number of arcs from the root to the deepest word; a root word has depth 1.
    pub(super) depth: usize,
    /// Sum of the depths of all words.
    pub(super) depths: u64,
    /// Number of words attached to the root.
    pub(super) roots: usize,
    pub(super) nonprojective_arcs: usize,
    pub(super) gap_degree: usize,
    /// Number of children before and after every word, `[left, right]`; entry 0 is word 1.
    pub(super) children: Vec<[u32; 2]>,
    /// Σ |head − modifier| over the arcs between words.
    pub(super) length: u64,
    /// Three times the expectation of `length` for words in random order. Each arc has expected
    /// length (n + 1) / 3 (Ferrer-i-Cancho 2004).
    pub(super) random_length_3: u64,
    /// Six times the expectation of `length` over random orders that keep the tree projective. The
    /// expectation is (Σ n(v) (2 d(v) + 1) − roots) / 6, where the subtree of v has n(v) words and
    /// v has d(v) children. This is Theorem 1 of Alemany-Puig & Ferrer-i-Cancho (2022), summed over
    /// the root words.
    pub(super) random_projective_length_6: u64,
}

impl Shape {
    pub(super) fn new(tree: &Tree) -> Self {
        let n = tree.words();
        let mut children = vec![[0; 2]; n];
        let mut roots = 0;
        let mut length = 0;
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

/// Returns the words in an order where each comes after its head.
fn heads_first(tree: &Tree) -> Vec<usize> {
    let n = tree.words();
    // `modifiers[starts[h]..starts[h + 1]]` are the modifiers of head h.
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
