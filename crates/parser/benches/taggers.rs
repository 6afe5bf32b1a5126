//! Two taggers: the linear chain of models, and a greedy one that is robust to its own mistakes. Share of
//! right UPOS on test sentences with gold words.
//!
//! `cargo bench -p tutte --bench taggers` takes two minutes and needs treebanks in `$TUTTE_DATA`; `cargo
//! test -p tutte --bench taggers` glances at sentences of `examples/`.
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
    // Cargo says --bench when it is a benchmark that is wanted, nothing when it is a test.
    let (seeds, treebanks): (u64, Vec<(&str, [PathBuf; 2])>) = match std::env::args()
        .any(|argument| argument == "--bench")
    {
        true => {
            let folder = |name: &&str| treebanks::root().join("ud").join(name);
            let files = |name: &&str| {
                ["train", "test"].map(|part| folder(name).join(part).with_extension("conllu"))
            };
            (SEEDS, TREEBANKS.iter().map(|name| (*name, files(name))).collect())
        }
        false => {
            let garden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/garden.conllu");
            (1, vec![("garden", [garden.clone(), garden])])
        }
    };
    println!("\n== tables\n");
    println!(
        "UPOS on test sentences, gold words, %: mean of {seeds} seeds, each learns from the same treebank.\n"
    );
    println!("treebank              chain   greedy   chain − greedy");
    for (name, [train, test]) in treebanks {
        eprintln!("{name}");
        let (train, test) = (read(&train)?, read(&test)?);
        let (mut chain, mut greedy) = (0.0, 0.0);
        for seed in 1..=seeds {
            let words = train.iter().map(Sentence::len).sum();
            let options = TaggerOptions { seed, ..TaggerOptions::for_words(words) };
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
    let missing =
        |_| format!("there is no {}; TUTTE_DATA can name a folder of treebanks", file.display());
    file.metadata().map_err(missing)?;
    Ok(open(file)?.collect::<Result<_, _>>()?)
}
