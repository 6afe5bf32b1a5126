//! Compares the reader with its limit: splitting the same bytes into lines and columns, and nothing
//! else. The targets for the tables at the end are a ratio below 4 and a reader above 150 MB/s. The
//! writer follows, plain and compressed.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark reports")]

#[path = "../tests/support/treebanks.rs"]
mod treebanks;

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use memchr::memchr_iter;
use tutte_treebank::{Reader, Sentence};

/// Returns about 8 MB of synthetic CoNLL-U.
fn synthetic() -> Vec<u8> {
    let words = ["der", "Hafen", "liegt", "hinter", "den", "Dünen", "über", "Nacht", ",", "leer"];
    let tags = ["DET", "NOUN", "VERB", "ADP", "DET", "NOUN", "ADP", "NOUN", "PUNCT", "ADJ"];
    let feats = ["Case=Nom|Gender=Masc|Number=Sing", "_", "Mood=Ind|Tense=Pres", "_"];
    let mut file = String::new();
    for sentence in 0..6000usize {
        let n = 5 + (sentence * 7919) % 31;
        let _ = writeln!(file, "# sent_id = synthetic-{sentence}\n# text = {}", words.join(" "));
        for word in 1..=n {
            let k = (sentence + word * word) % 10;
            let form = words[k];
            let tag = tags[k];
            let feat = feats[k % 4];
            let head = if word == 1 { 0 } else { 1 + (word * 31) % (word - 1) };
            let _ = writeln!(file, "{word}\t{form}\t{form}\t{tag}\t_\t{feat}\t{head}\tdep\t_\t_");
        }
        file.push('\n');
    }
    file.into_bytes()
}

/// A lower bound of the time: only splits into lines and columns.
fn plain_split(bytes: &[u8]) -> usize {
    let mut sum = 0;
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes) {
        let line = &bytes[start..end];
        let mut column = 0;
        for tab in memchr_iter(b'\t', line) {
            sum += black_box(&line[column..tab]).len();
            column = tab + 1;
        }
        sum += black_box(&line[column..]).len();
        start = end + 1;
    }
    sum
}

fn read_into_one(bytes: &[u8]) -> usize {
    let mut reader = Reader::new(bytes);
    let mut sentence = Sentence::default();
    let mut words = 0;
    while reader.read(&mut sentence).expect("the file is well-formed") {
        words += black_box(&sentence).len();
    }
    words
}

fn iterate(bytes: &[u8]) -> usize {
    Reader::new(bytes).map(|s| black_box(s.expect("the file is well-formed")).len()).sum()
}

/// Returns the best time of several runs, since other programs can only slow a run down.
fn best(mut run: impl FnMut() -> usize) -> Duration {
    let time = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    (0..10).map(time).min().unwrap_or_default()
}

fn main() {
    let mut files = vec![("synthetic".to_owned(), synthetic())];
    let data = treebanks::root();
    for name in ["ud/english-ewt/dev.conllu", "ud/arabic-padt/dev.conllu"] {
        match std::fs::read(data.join(name)) {
            Ok(bytes) => files.push((name.to_owned(), bytes)),
            Err(_) => treebanks::skipped(&format!("no {name} in {}", data.display())),
        }
    }
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for (name, bytes) in &files {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("plain split", |b| b.iter(|| plain_split(bytes)));
        group.bench_function("reader", |b| b.iter(|| iterate(bytes)));
        group.bench_function("reader, one sentence reused", |b| b.iter(|| read_into_one(bytes)));
        group.finish();
    }
    criterion.final_summary();
    println!("\n== tables\n");
    print_reading(&files);
    println!();
    print_writing(&files);
}

/// Width of file names in the tables.
const NAME: usize = 28;

fn print_reading(files: &[(String, Vec<u8>)]) {
    println!("Reading, from memory: MB/s, and the time relative to a plain split (targets)");
    println!(
        "{:NAME$} {:>6} {:>12} {:>27} {:>27}",
        "", "MB", "plain split", "sentences new", "one sentence reused"
    );
    for (name, bytes) in files {
        let limit = best(|| plain_split(bytes)).as_secs_f64();
        let megabytes = bytes.len() as f64 / 1e6;
        let cell = |time: Duration| {
            let time = time.as_secs_f64();
            format!("{:.0} (≥ 150), {:.2} (≤ 4)", megabytes / time, time / limit)
        };
        let new = best(|| iterate(bytes));
        let reused = best(|| read_into_one(bytes));
        println!(
            "{name:NAME$} {megabytes:>6.1} {:>12.0} {:>27} {:>27}",
            megabytes / limit,
            cell(new),
            cell(reused)
        );
    }
}

fn print_writing(files: &[(String, Vec<u8>)]) {
    println!("Writing to a file: MB/s of text, and the size relative to the text");
    println!("{:NAME$} {:>14} {:>14} {:>14}", "", "plain", ".gz", ".zst");
    for (name, bytes) in files {
        let megabytes = bytes.len() as f64 / 1e6;
        let cells = ["", ".gz", ".zst"].map(|end| {
            let name = format!("tutte-bench-{}.conllu{end}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let time = best(|| write(bytes, &path).expect("the temporary folder can be written"));
            let size = std::fs::metadata(&path).map_or(0, |file| file.len());
            // A leftover temporary file does no harm.
            let _ = std::fs::remove_file(&path);
            let speed = megabytes / time.as_secs_f64();
            format!("{speed:.0}, {:.1} %", 100.0 * size as f64 / bytes.len() as f64)
        });
        println!("{name:NAME$} {:>14} {:>14} {:>14}", cells[0], cells[1], cells[2]);
    }
}

fn write(bytes: &[u8], path: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let mut writer = tutte_treebank::create(path)?;
    let mut reader = Reader::new(bytes);
    let mut sentence = Sentence::default();
    let mut words = 0;
    while reader.read(&mut sentence)? {
        words += sentence.len();
        writer.write(&sentence)?;
    }
    writer.finish()?.commit()?;
    Ok(words)
}
