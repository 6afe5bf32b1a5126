use std::ops::RangeInclusive;

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::{Tree, TreeSet, oracle};

pub(in crate::nonprojective) fn tree_set(roots: Roots) -> TreeSet {
    match roots {
        Roots::Multi => TreeSet::NonProjectiveMultiRoot,
        Roots::Single => TreeSet::NonProjectiveSingleRoot,
    }
}

pub(in crate::nonprojective) const BOTH: [Roots; 2] = [Roots::Multi, Roots::Single];

pub(in crate::nonprojective) fn uniform(rng: &mut Pcg64Mcg) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

pub(in crate::nonprojective) fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v) = (1.0 - uniform(rng), uniform(rng));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

pub(in crate::nonprojective) fn gaussian_scores(n: usize, sigma: f64, seed: u64) -> ArcMatrix {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    ArcMatrix::from_fn(n, |_, _| sigma * normal(&mut rng))
}

/// Score matrices of every sort that has broken a decoder: any scale, ties, masks up to `mask`, and
/// garbage in the cells that are not arcs.
pub(in crate::nonprojective) fn masked_scores(
    words: RangeInclusive<usize>,
    mask: f64,
) -> impl Strategy<Value = ArcMatrix> {
    let sigma =
        prop_oneof![Just(0.0f64), Just(1.0), Just(30.0), Just(1000.0), Just(1e5), Just(1e300)];
    let mask = prop_oneof![Just(0.0), Just(0.3f64.min(mask)), Just(mask)];
    (words, sigma, mask, any::<bool>(), any::<u64>()).prop_map(|(n, sigma, mask, ties, seed)| {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut scores = ArcMatrix::from_fn(n, |_, _| {
            if uniform(&mut rng) < mask {
                NONE
            } else if ties {
                (3.0 * uniform(&mut rng)).floor() * sigma.clamp(1.0, 1e298)
            } else {
                (sigma * normal(&mut rng)).clamp(-1e300, 1e300)
            }
        });
        for cell in 0..=n {
            scores[(cell, 0)] = f64::NAN;
            scores[(cell, cell)] = if cell % 2 == 0 { f64::NAN } else { f64::INFINITY };
        }
        scores
    })
}

fn any_roots() -> impl Strategy<Value = Roots> {
    prop_oneof![Just(Roots::Multi), Just(Roots::Single)]
}

fn decode(scores: &ArcMatrix, roots: Roots) -> (f64, Vec<usize>) {
    let mut heads = Vec::new();
    let best = argmax(scores, roots, &mut DecodeWorkspace::default(), &mut heads);
    (best, heads)
}

/// The swap phase of Gabow & Tarjan 1984 as Zmigrod, Vieira & Cotterell 2020 give it, with plain
/// rescans: a second, independent single-root decoder.
///
/// Contract as for several roots. Then, as long as the root has several children, give up the root
/// arc whose best replacement loses least. If that closes a cycle, contract it.
mod swap_phase {
    use super::*;

    struct Forest<'a> {
        scores: &'a ArcMatrix,
        /// The amount by which the arcs into each word are lowered at its outermost node.
        price: Vec<f64>,
        /// The words of every node ever made; words first.
        words: Vec<Vec<usize>>,
        parent: Vec<Option<usize>>,
        entering: Vec<Option<(usize, usize)>>,
    }

    impl Forest<'_> {
        fn outermost(&self, word: usize) -> usize {
            let mut node = word;
            while let Some(parent) = self.parent[node] {
                node = parent;
            }
            node
        }

        fn weight(&self, (head, modifier): (usize, usize)) -> f64 {
            self.scores[(head, modifier)] - self.price[modifier]
        }

        fn best(&self, node: usize, first_head: usize) -> Option<(usize, usize)> {
            let mut best = None;
            for head in (first_head..=self.scores.words()).filter(|h| !self.words[node].contains(h))
            {
                for &m in &self.words[node] {
                    let weight = self.weight((head, m));
                    if weight > best.map_or(NONE, |arc| self.weight(arc)) {
                        best = Some((head, m));
                    }
                }
            }
            best
        }

        /// Contracts the cycle through `start`, if `start` is on one.
        fn contract_through(&mut self, start: usize) -> Option<usize> {
            let mut cycle = vec![start];
            loop {
                let (head, _) = self.entering[*cycle.last().unwrap()]?;
                if head == 0 {
                    return None;
                }
                let from = self.outermost(head);
                if from == start {
                    break;
                }
                if cycle.contains(&from) {
                    return None; // a cycle further up: found from one of its own nodes
                }
                cycle.push(from);
            }
            let new = self.words.len();
            let mut words = Vec::new();
            for &member in &cycle {
                let price = self.weight(self.entering[member].unwrap());
                for &word in &self.words[member] {
                    self.price[word] += price;
                    words.push(word);
                }
                self.parent[member] = Some(new);
            }
            self.words.push(words);
            self.parent.push(None);
            self.entering.push(None);
            Some(new)
        }

        fn outermost_nodes(&self) -> Vec<usize> {
            (1..self.words.len()).filter(|&node| self.parent[node].is_none()).collect()
        }

        /// Gives every outermost node without an arc its best one and contracts all cycles.
        fn settle(&mut self) -> Option<()> {
            while let Some(node) =
                self.outermost_nodes().into_iter().find(|&node| self.entering[node].is_none())
            {
                self.entering[node] = Some(self.best(node, 0)?);
                self.contract_through(node);
            }
            Some(())
        }
    }

    pub(super) fn argmax(scores: &ArcMatrix) -> Option<(f64, Vec<usize>)> {
        let n = scores.words();
        let mut forest = Forest {
            scores,
            price: vec![0.0; n + 1],
            words: (0..=n).map(|word| vec![word]).collect(),
            parent: vec![None; n + 1],
            entering: vec![None; n + 1],
        };
        forest.settle()?;
        loop {
            let hanging: Vec<usize> = forest
                .outermost_nodes()
                .into_iter()
                .filter(|&node| forest.entering[node].unwrap().0 == 0)
                .collect();
            if hanging.len() <= 1 {
                break;
            }
            let loss = |&(node, arc): &(usize, (usize, usize))| {
                forest.weight(forest.entering[node].unwrap()) - forest.weight(arc)
            };
            let (node, arc) = hanging
                .iter()
                .filter_map(|&node| Some((node, forest.best(node, 1)?)))
                .min_by(|a, b| loss(a).total_cmp(&loss(b)))?;
            forest.entering[node] = Some(arc);
            forest.contract_through(node);
            forest.settle()?;
        }
        for node in (n + 1..forest.words.len()).rev() {
            let arc = forest.entering[node].unwrap();
            let mut inner = arc.1;
            while forest.parent[inner] != Some(node) {
                inner = forest.parent[inner].unwrap();
            }
            forest.entering[inner] = Some(arc);
        }
        let heads: Vec<usize> = (1..=n).map(|m| forest.entering[m].unwrap().0).collect();
        Some((score(scores, &heads), heads))
    }
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * scale.max(1.0)
}

/// Returns the size of the numbers that were added and subtracted, to which rounding is relative.
fn magnitude(scores: &ArcMatrix) -> f64 {
    scores.arcs().map(|(_, _, x)| x).filter(|x| x.is_finite()).fold(0.0, |a, x| a.max(x.abs()))
}

#[test]
fn fixtures() {
    let mut f1 = ArcMatrix::zeros(3);
    for (head, modifier, score) in [
        (0, 1, 1.0),
        (0, 2, 0.5),
        (0, 3, -1.0),
        (1, 2, 2.0),
        (1, 3, 0.0),
        (2, 1, 1.5),
        (2, 3, 1.0),
        (3, 1, -0.5),
        (3, 2, 0.25),
    ] {
        f1[(head, modifier)] = score;
    }
    for roots in BOTH {
        assert_eq!(decode(&f1, roots), (4.0, vec![0, 1, 2]));
    }

    let mut f2 = ArcMatrix::zeros(2);
    f2[(0, 1)] = -1000.0;
    f2[(0, 2)] = -1001.0;
    for roots in BOTH {
        assert_eq!(decode(&f2, roots), (-1000.0, vec![0, 1]));
    }

    let mut f3 = ArcMatrix::forbidden(3);
    for (head, modifier, score) in
        [(0, 1, 0.0), (1, 2, 1.0), (0, 2, 2.0), (3, 2, 0.0), (1, 3, 0.0), (2, 3, -1.0)]
    {
        f3[(head, modifier)] = score;
    }
    assert_eq!(decode(&f3, Roots::Multi), (2.0, vec![0, 0, 1]));
    assert_eq!(decode(&f3, Roots::Single), (1.0, vec![0, 1, 1]));

    let mut f4 = f3;
    f4.forbid(1, 2);
    f4.forbid(3, 2);
    assert_eq!(decode(&f4, Roots::Multi), (2.0, vec![0, 0, 1]));
    assert_eq!(decode(&f4, Roots::Single), (NONE, vec![]));
}

#[test]
fn no_words_one_word_and_nothing_allowed() {
    for roots in BOTH {
        assert_eq!(decode(&ArcMatrix::zeros(0), roots), (0.0, vec![]));
        assert_eq!(decode(&ArcMatrix::filled(1, -3.0), roots), (-3.0, vec![0]));
        assert_eq!(decode(&ArcMatrix::forbidden(1), roots), (NONE, vec![]));
        assert_eq!(decode(&ArcMatrix::forbidden(4), roots), (NONE, vec![]));
    }
}

#[test]
fn largest_scores_do_not_overflow() {
    // Words prefer each other by the largest possible margin: n − 1 nested contractions.
    let n = 60;
    let scores = ArcMatrix::from_fn(n, |head, _| if head == 0 { -1e300 } else { 1e300 });
    for roots in BOTH {
        let (best, heads) = decode(&scores, roots);
        assert!(Tree::new(&heads).unwrap().check_in(tree_set(roots)).is_ok());
        assert!((best / 1e300 - (n as f64 - 2.0)).abs() < 1e-9);
    }
}

#[test]
fn a_workspace_serves_sentences_of_any_length_and_stops_allocating() {
    let sentences: Vec<ArcMatrix> = [30, 3, 0, 17, 30, 1]
        .into_iter()
        .zip(0..)
        .map(|(n, s)| gaussian_scores(n, 1.0, s))
        .collect();
    let mut ws = DecodeWorkspace::default();
    let mut heads = Vec::new();
    for roots in BOTH {
        for scores in &sentences {
            let best = argmax(scores, roots, &mut ws, &mut heads);
            assert_eq!((best, heads.clone()), decode(scores, roots));
        }
    }
    let allocated = allocation_counter::measure(|| {
        for roots in BOTH {
            for scores in &sentences {
                argmax(scores, roots, &mut ws, &mut heads);
            }
        }
    });
    assert_eq!(allocated.count_total, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn agrees_with_enumeration(scores in masked_scores(0..=5, 0.6), roots in any_roots()) {
        let (best, heads) = decode(&scores, roots);
        match oracle::ranked(&scores, tree_set(roots)).first() {
            None => prop_assert_eq!((best, heads), (NONE, vec![])),
            Some((expected, _)) => {
                prop_assert!(close(best, *expected, magnitude(&scores)), "{} {}", best, expected);
                let tree = Tree::new(&heads).unwrap();
                prop_assert!(tree.check_in(tree_set(roots)).is_ok());
                prop_assert_eq!(best, score(&scores, &heads));
            }
        }
    }

    #[test]
    fn both_single_root_algorithms_agree(scores in masked_scores(1..=16, 0.6)) {
        let (best, heads) = decode(&scores, Roots::Single);
        match swap_phase::argmax(&scores) {
            None => prop_assert_eq!((best, heads), (NONE, vec![])),
            Some((expected, other)) => {
                prop_assert!(close(best, expected, magnitude(&scores)), "{} {}", best, expected);
                prop_assert!(Tree::new(&other).unwrap().root_words().count() == 1);
            }
        }
    }

    #[test]
    fn short_cuts_change_nothing(scores in masked_scores(0..=30, 0.6), roots in any_roots()) {
        let (best, heads) = decode(&scores, roots);
        let mut levels = Vec::new();
        let found = DecodeWorkspace::default().contract(&scores, roots, &mut levels);
        prop_assert_eq!(found, best > NONE);
        if found {
            prop_assert!(close(best, score(&scores, &levels), magnitude(&scores)));
            prop_assert!(Tree::new(&heads).unwrap().check_in(tree_set(roots)).is_ok());
        }
    }

    #[test]
    fn first_max_is_the_first(values in prop::collection::vec(prop_oneof![
        Just(NONE), (0i32..4).prop_map(f64::from)], 0..40)) {
        let (at, max) = first_max(&values);
        let expected = values.iter().copied().fold(NONE, f64::max);
        prop_assert_eq!(max, expected);
        if expected > NONE {
            prop_assert_eq!(Some(at), values.iter().position(|&x| x == expected));
        }
    }
}
