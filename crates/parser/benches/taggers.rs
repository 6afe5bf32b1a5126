//! Benchmark of two taggers: the linear chain that models use, and a greedy tagger trained on its own mistakes. Prints
//! their UPOS accuracy on test sentences with gold words.
//!
//! `cargo bench -p tutte --bench taggers` needs treebanks in `$TUTTE_DATA`. `cargo test -p tutte --bench taggers` runs a
//! short version on `examples/`.
#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a benchmark reports")]

#[path = "../../treebank/tests/support/treebanks.rs"]
mod treebanks;

use std::error::Error;
use std::path::{Path, PathBuf};

use tutte::text::{Tagger, TaggerOptions, greedy_baseline};
use tutte_treebank::{Sentence, open};

const TREEBANKS: [&str; 6] = [
    "english-ewt",
    "portuguese-bosque",
    "turkish-imst",
    "gothic-proiel",
    "english-partut",
    "french-partut",
];
const SEEDS: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo passes --bench to benchmarks, and not to tests.
    let is_benchmark = std::env::args().any(|argument| argument == "--bench");
    let (seeds, treebanks): (u64, Vec<(&str, [PathBuf; 2])>) = if is_benchmark {
        let folder = |name: &&str| treebanks::root().join("ud").join(name);
        let files = |name: &&str| {
            ["train", "test"].map(|part| folder(name).join(part).with_extension("conllu"))
        };
        (SEEDS, TREEBANKS.iter().map(|name| (*name, files(name))).collect())
    } else {
        let garden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
        (1, vec![("garden", [garden.clone(), garden])])
    };
    println!("\n== tables\n");
    println!(
        "UPOS accuracy on test sentences with gold words, %: mean of {seeds} seeds on the same treebank.\n"
    );
    println!("treebank              chain   greedy   chain − greedy");
    for (name, [train, test]) in treebanks {
        eprintln!("{name}");
        let train = read(&train)?;
        let test = read(&test)?;
        let mut chain = 0.0;
        let mut greedy = 0.0;
        for seed in 1..=seeds {
            let words = train.iter().map(Sentence::len).sum();
            let options = TaggerOptions::for_words(words).with_seed(seed);
            let of_chain = Tagger::train(&train, &options)?.evaluate(&test)?;
            let of_greedy = greedy_baseline(&train, &test, &options)?;
            chain += 100.0 * of_chain.share(of_chain.upos) / seeds as f64;
            greedy += 100.0 * of_greedy.share(of_greedy.upos) / seeds as f64;
        }
        println!("{name:<20} {chain:>6.2}   {greedy:>6.2}   {:>+14.2}", chain - greedy);
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let missing = |_| {
        format!("there is no file {}; set TUTTE_DATA to your folder of treebanks", file.display())
    };
    file.metadata().map_err(missing)?;
    Ok(open(file)?.collect::<Result<_, _>>()?)
}
