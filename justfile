# The steps of .ci/run and some more, by name. `just` lists them.

default:
    @just --list --unsorted

# README's first command: a tree, with the probability of each arc
demo:
    cargo run -p tutte-cli -- parse -t "I saw the man with a telescope."

# a parser learnt in seconds from the example treebank, and its trees
garden:
    cargo run -p tutte-cli -- train examples/garden.conllu -o target/garden.tutte
    cargo run -p tutte-cli -- parse -m target/garden.tutte examples/tea.conllu | cargo run -p tutte-cli -- draw -

# the distribution over the trees of one sentence
telescope:
    cargo run -p tutte-trees --example telescope

# README's second command: unit, property, integration and documentation tests
test:
    cargo test --workspace

# format, lints and documentation, as CI checks them
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# everything that CI does
ci:
    .ci/run

# benchmarks with their ratios, in the terminal
bench *ARGS:
    cargo bench -p tutte-trees --features benchmarks {{ARGS}}

# the tables of all benchmarks, or of inference, treebank, scaling, weak-speed or parser, written to docs/results
record-benchmarks *WHICH:
    scripts/record-benchmarks {{WHICH}}

# the tables and verdicts of an experiment on treebanks, written to docs/results
record-experiments *WHICH="supervised":
    scripts/record-experiments {{WHICH}}

# tutte-trees beside torch-struct, supar, NumPy and SciPy (downloads 3 GB; see benches/peers)
peers PYTHON="python3":
    {{PYTHON}} crates/trees/benches/peers/compare.py --output docs/results/inference-peers.md

# tutte-treebank beside conllu and pyconll, which PYTHON must have
reader-peers PYTHON="python3":
    {{PYTHON}} crates/treebank/benches/peers/reader.py --output docs/results/treebank-peers.md

# the parser beside UDPipe, whose ufal.udpipe PYTHON must have
parser-peers PYTHON="python3":
    {{PYTHON}} crates/parser/benches/peers/parsers.py --output docs/results/parser-peers.md

# licences, bans, sources and advisories of all dependencies (see deny.toml)
dependencies:
    scripts/check-dependencies --install

# fuzz a target, or all, for some seconds each
fuzz TARGET="trees" SECONDS="600":
    fuzz/run {{TARGET}} {{SECONDS}}

# the documentation, in a browser
doc:
    cargo doc --workspace --no-deps --open
