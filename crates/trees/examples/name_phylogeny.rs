//! A name phylogeny after Andrews, Eisner & Dredze (2012): which spellings arose from which?
//!
//! Nodes are distinct spellings with counts. The root ◇ invents names. An arc x → y means that y is a
//! copy of x, with changes. The posterior over trees gives the exact probability of every copy; each
//! subtree below ◇ is one person.
//!
//! ```text
//! cargo run -p tutte-trees --example name_phylogeny
//! ```
#![allow(clippy::print_stdout)]

use rand_pcg::{Pcg64, rand_core::SeedableRng};
use tutte_trees::{Error, Graph, GraphDistribution, Tree, TreeSet, clusters};

/// Spellings and their counts.
const NAMES: [(&str, f64); 14] = [
    ("Katharina Vogelsang", 12.0),
    ("Katarina Vogelsang", 4.0),
    ("Kat Vogelsang", 3.0),
    ("K. Vogelsang", 2.0),
    ("Katharina Vogelsanger", 1.0),
    ("Tomasz Brzeski", 9.0),
    ("Tomas Brzeski", 3.0),
    ("Thomas Brzeski", 2.0),
    ("Tom Breski", 1.0),
    ("T. Brzeski", 1.0),
    ("Aoife Ní Mhurchú", 5.0),
    ("Aoife Murphy", 4.0),
    ("A. Murphy", 1.0),
    ("Eva Murphy", 2.0),
];

/// Weight of inventing a name against copying one; a larger weight gives more people.
const ALPHA: f64 = 1.0;
const MU: f64 = 0.5;

fn main() -> Result<(), Error> {
    let mut graph = Graph::new("◇", NAMES.map(|(name, _)| name))?;
    for (child, seen) in NAMES {
        // δ(y | ◇) = α·p(y | ◇)
        graph.add_arc(&"◇", &child, ALPHA.ln() + log_invented(child))?;
        for (parent, parent_seen) in NAMES {
            // δ(y | x) = μ·p(y | x)·n_x/(n_y + 1): x must precede the first y. The graph ignores
            // self-loops.
            if parent != child {
                let order = (parent_seen / (seen + 1.0)).ln();
                graph.add_arc(&parent, &child, MU.ln() + log_copied(parent, child) + order)?;
            }
        }
    }
    // Any number of people: several children of the root.
    let d = GraphDistribution::new(graph, TreeSet::NonProjectiveMultiRoot)?;

    println!("{} spellings, {} arcs", d.graph().nodes(), d.graph().arcs().len());
    println!("log Z    {:9.3}", d.log_partition());
    println!(
        "entropy  {:9.3} nats: as unsure as among {:.0} equal trees",
        d.entropy(),
        d.entropy().exp()
    );

    let best = d.argmax();
    let probability = d.log_prob(&best.tree)?.exp();
    println!("\nThe most probable tree (p = {probability:.3}), with each arc's own probability:\n");
    println!("  ◇");
    draw(&d, &best.tree, 0, "  ");

    println!("\nThe next best differ little:\n");
    for other in d.kbest(4).iter().skip(1) {
        let changed =
            other.tree.arcs().zip(best.tree.heads()).filter(|((parent, _), old)| parent != *old);
        let say = |((parent, child), _): ((usize, usize), _)| {
            format!("{} → {}", d.graph().names()[parent], d.graph().names()[child])
        };
        let changes: Vec<String> = changed.map(say).collect();
        println!("  p = {:.3}  {}", d.log_prob(&other.tree)?.exp(), changes.join(", "));
    }

    println!("\nClusters, and P(the two are one person) for members, then for rivals:\n");
    let mut rng = Pcg64::seed_from_u64(2012);
    let people = clusters(&best.tree);
    for person in &people {
        println!("  {}", d.graph().names()[person[0]]);
        let pairs: Vec<(usize, usize)> =
            person[1..].iter().map(|&node| (person[0], node)).collect();
        let estimates = d.coclustering(&mut rng, 4000, &pairs)?;
        for (&(_, node), estimate) in pairs.iter().zip(&estimates) {
            let name = d.graph().names()[node];
            println!("    {name:36} {:.2} ± {:.2}", estimate.mean, estimate.standard_error);
        }
    }
    let firsts: Vec<usize> = people.iter().map(|person| person[0]).collect();
    let rivals: Vec<(usize, usize)> = firsts
        .iter()
        .enumerate()
        .flat_map(|(i, &a)| firsts[i + 1..].iter().map(move |&b| (a, b)))
        .collect();
    println!();
    for (&(a, b), estimate) in rivals.iter().zip(d.coclustering(&mut rng, 4000, &rivals)?) {
        if estimate.mean >= 0.01 {
            let question = format!("{} = {}?", d.graph().names()[a], d.graph().names()[b]);
            println!("  {question:38} {:.2} ± {:.2}", estimate.mean, estimate.standard_error);
        }
    }

    // The number of people, exactly: the expected number of arcs from the root.
    let from_root: Vec<f64> =
        d.graph().arcs().map(|(parent, _, _)| f64::from(u8::from(parent == 0))).collect();
    println!("\nExpected number of people: {:.2}", d.expectation(&from_root)?);
    Ok(())
}

/// Prints the subtrees below a node, one line per node, children indented.
fn draw(d: &GraphDistribution<&str>, tree: &Tree, parent: usize, indent: &str) {
    let children: Vec<usize> =
        tree.arcs().filter(|&(head, _)| head == parent).map(|(_, child)| child).collect();
    for (i, &child) in children.iter().enumerate() {
        let last = i + 1 == children.len();
        let arc = d.graph().arc_between(parent, child);
        let p = arc.map_or(0.0, |arc| d.marginals()[arc]);
        let name = d.graph().names()[child];
        let branch = format!("{indent}{}{name}", if last { "└─ " } else { "├─ " });
        println!("{branch:36} {p:.2}  {}", "▒".repeat((p * 20.0).round() as usize));
        draw(d, tree, child, &format!("{indent}{}", if last { "   " } else { "│  " }));
    }
}

/// Returns ln p(name | ◇): a character carries about 1.8 nats, given those before it.
fn log_invented(name: &str) -> f64 {
    -1.8 * name.chars().count() as f64
}

/// Returns ln p(child | parent): the best alignment with copies, changes, insertions and deletions.
/// Continuing a deletion is cheaper than starting one (nicknames and initials cut names short).
fn log_copied(parent: &str, child: &str) -> f64 {
    const COPY: f64 = -0.05;
    const CHANGE: f64 = -6.0;
    const INSERT: f64 = -5.0;
    const DELETE: f64 = -3.0;
    const DELETE_ON: f64 = -0.7;
    let from: Vec<char> = parent.chars().collect();
    let to: Vec<char> = child.chars().collect();
    let width = to.len() + 1;
    let mut plain = vec![f64::NEG_INFINITY; (from.len() + 1) * width];
    let mut deleting = plain.clone(); // the last step was a deletion
    plain[0] = 0.0;
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            let at = i * width + j;
            let either = |at: usize, plain: &[f64], deleting: &[f64]| plain[at].max(deleting[at]);
            if i > 0 {
                let above = at - width;
                deleting[at] = (plain[above] + DELETE).max(deleting[above] + DELETE_ON);
            }
            if j > 0 {
                plain[at] = plain[at].max(either(at - 1, &plain, &deleting) + INSERT);
            }
            if i > 0 && j > 0 {
                let step = if from[i - 1] == to[j - 1] { COPY } else { CHANGE };
                plain[at] = plain[at].max(either(at - width - 1, &plain, &deleting) + step);
            }
        }
    }
    plain[plain.len() - 1].max(deleting[deleting.len() - 1])
}
