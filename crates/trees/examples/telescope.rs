//! The whole distribution over the dependency trees of one ambiguous sentence.
//!
//! `cargo run --release -p tutte-trees --example telescope`
//!
//! The scores, in nats, are written by hand for "I saw the man with a telescope"; a parser would
//! compute them from features. Everything printed is exact.
#![allow(clippy::print_stdout)]

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use tutte_trees::{ArcMatrix, Constraints, Error, Tree, TreeDistribution, TreeSet};

const WORDS: [&str; 8] = ["ROOT", "I", "saw", "the", "man", "with", "a", "telescope"];

fn main() -> Result<(), Error> {
    let d = TreeDistribution::new(scores(), TreeSet::NonProjectiveSingleRoot)?;

    println!("\"{}\"\n", WORDS[1..].join(" "));
    println!("Best tree, probability {:.3}:", d.log_prob(&d.argmax().tree)?.exp());
    draw(&d.argmax().tree, &d);

    println!("\nWho heads whom? P(head → modifier), one column for each word:\n");
    print!("{:>10}", "");
    WORDS[1..].iter().for_each(|word| print!("{word:>11}"));
    println!();
    for head in 0..=d.words() {
        print!("{:>10}", WORDS[head]);
        for modifier in 1..=d.words() {
            match d.marginals().get(head, modifier) {
                Some(p) if p >= 0.0005 => print!("{p:>11.3}"),
                _ => print!("{:>11}", "·"),
            }
        }
        println!();
    }

    let trees = TreeSet::NonProjectiveSingleRoot.tree_count(d.words()).unwrap_or(0);
    println!(
        "\nEntropy: {:.3} nats over {trees} trees; the hardest word to attach is",
        d.entropy()
    );
    let hardest = (1..=d.words())
        .max_by(|&a, &b| entropy_of(&d, a).total_cmp(&entropy_of(&d, b)))
        .unwrap_or(1);
    println!("\"{}\" ({:.3} nats of its own).", WORDS[hardest], entropy_of(&d, hardest));

    println!("\nThe three most probable trees:");
    for scored in d.kbest(3) {
        println!("  {:.3}  {}", d.log_prob(&scored.tree)?.exp(), arcs(&scored.tree));
    }

    let with = (4, 7); // the man has the telescope
    let told = d.condition(&Constraints::new().require_arc(with.0, with.1))?;
    println!(
        "\nTold that \"man\" heads \"telescope\", the entropy falls to {:.3} nats;",
        told.entropy()
    );
    println!("P(saw → man) goes from {:.3} to {:.3}.", d.marginal(2, 4)?, told.marginal(2, 4)?);

    let mut rng = Pcg64::seed_from_u64(2026);
    let hits = (0..1000).filter(|_| d.sample(&mut rng).head(7) == Some(4)).count();
    println!(
        "\nOf 1,000 sampled trees, {hits} attach \"telescope\" to \"man\" (exact: {:.3}).",
        d.marginal(4, 7)?
    );
    Ok(())
}

fn scores() -> ArcMatrix {
    // No arc is impossible, but long arcs are unlikely.
    let mut scores = ArcMatrix::from_fn(7, |head, modifier| {
        if head == 0 { -4.0 } else { -2.0 - 0.4 * head.abs_diff(modifier) as f64 }
    });
    for (head, modifier, score) in [
        (0, 2, 3.0), // the verb is the root
        (2, 1, 4.0), // and has a subject
        (4, 3, 5.0), // articles go to their nouns
        (7, 6, 5.0),
        (2, 4, 4.5), // saw the man
        (7, 5, 4.0), // with marks telescope
        (2, 7, 2.3), // saw with a telescope ...
        (4, 7, 1.7), // ... or a man with a telescope?
    ] {
        scores[(head, modifier)] = score;
    }
    scores
}

fn entropy_of(d: &TreeDistribution, word: usize) -> f64 {
    d.head_entropy(word).unwrap_or(0.0)
}

fn arcs(tree: &Tree) -> String {
    let arcs = tree.arcs().map(|(head, modifier)| format!("{}→{}", WORDS[head], WORDS[modifier]));
    arcs.collect::<Vec<_>>().join("  ")
}

/// Prints the tree below the root, with the probability of each arc.
fn draw(tree: &Tree, d: &TreeDistribution) {
    fn below(tree: &Tree, d: &TreeDistribution, head: usize, indent: &str) {
        let children: Vec<usize> =
            tree.arcs().filter(|&(h, _)| h == head).map(|(_, modifier)| modifier).collect();
        for (index, &child) in children.iter().enumerate() {
            let last = index + 1 == children.len();
            let (branch, gap) =
                if last { ("└── ", "    ") } else { ("├── ", "│   ") };
            println!("{indent}{branch}{} ({:.3})", WORDS[child], d.marginals()[(head, child)]);
            below(tree, d, child, &format!("{indent}{gap}"));
        }
    }
    println!("  {}", WORDS[0]);
    below(tree, d, 0, "  ");
}
