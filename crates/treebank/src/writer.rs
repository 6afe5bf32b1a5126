//! Output of sentences: to any writer, and to files, plain or compressed.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::atomic_file::AtomicFile;
use crate::zstandard;
use crate::{Error, Sentence};

/// Writes sentences as they were read.
///
/// Sentences of several files can be mixed. A blank line between sentences is added where a file
/// ended without one, and a byte order mark is written only at the start.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: BufWriter<W>,
    started: bool,
    /// Line ends to write before the next sentence.
    owed: &'static str,
}

impl<W: Write> Writer<W> {
    /// Creates a writer for any output. The output needs no buffer of its own.
    pub fn new(output: W) -> Self {
        Self { output: BufWriter::with_capacity(1 << 16, output), started: false, owed: "" }
    }

    /// Writes a sentence.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn write(&mut self, sentence: &Sentence) -> io::Result<()> {
        self.output.write_all(self.owed.as_bytes())?;
        self.owed = missing_end(sentence.as_str());
        self.write_text(sentence.as_str())
    }

    /// Writes the text after the last sentence of an input, [`Reader::tail`](crate::Reader::tail).
    ///
    /// # Errors
    /// The errors of the output.
    pub fn write_tail(&mut self, tail: &str) -> io::Result<()> {
        self.write_text(tail)
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        let text = if self.started { text.trim_start_matches('\u{feff}') } else { text };
        self.started |= !text.is_empty();
        self.output.write_all(text.as_bytes())
    }

    /// Flushes all buffers.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Flushes all buffers and returns the output.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn finish(self) -> io::Result<W> {
        self.output.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Returns the line ends that a sentence lacks before another one may follow. Nearly all sentences lack none, which their
/// last line tells.
fn missing_end(text: &str) -> &'static str {
    let has_crlf = || text.contains("\r\n");
    let Some(body) = text.strip_suffix('\n') else {
        return match text {
            "" => "",
            _ if has_crlf() => "\r\n\r\n",
            _ => "\n\n",
        };
    };
    let last = body.rfind('\n').map_or(body, |at| &body[at + 1..]);
    if crate::parse::is_blank(last.as_bytes()) {
        ""
    } else if has_crlf() {
        "\r\n"
    } else {
        "\n"
    }
}

/// Creates a treebank: a path, or `-` for standard output. A path that ends in `.gz` or `.zst` is
/// compressed; gzip is smaller, Zstandard is faster. The file appears under its name when
/// [`Output::commit`] is called.
///
/// ```no_run
/// let mut writer = tutte_treebank::create("out.conllu.gz")?;
/// for sentence in tutte_treebank::open("in.conllu")? {
///     writer.write(&sentence?)?;
/// }
/// writer.finish()?.commit()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be created.
pub fn create(path: impl AsRef<Path>) -> Result<Writer<Output>, Error> {
    let path = path.as_ref();
    if path == Path::new("-") {
        return Ok(Writer::new(Output(Kind::Stdout(io::stdout()))));
    }
    Ok(Writer::new(Output::create(path)?))
}

/// The output of [`create`]: standard output or a file, plain or compressed.
#[derive(Debug)]
pub struct Output(Kind);

#[derive(Debug)]
enum Kind {
    Stdout(io::Stdout),
    File(AtomicFile),
    Gzip(GzEncoder<AtomicFile>),
    Zstandard(zstandard::Encoder<AtomicFile>),
}

impl Output {
    /// Creates a file, compressed if its path ends in `.gz` or `.zst`.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let extension = path.extension().unwrap_or_default();
        let file = AtomicFile::create(path)?;
        Ok(Self(if extension.eq_ignore_ascii_case("gz") {
            Kind::Gzip(GzEncoder::new(file, Compression::default()))
        } else if extension.eq_ignore_ascii_case("zst") {
            Kind::Zstandard(zstandard::Encoder::new(file))
        } else {
            Kind::File(file)
        }))
    }

    /// Completes the output; a file then appears under its name. Without this call, no file
    /// appears.
    ///
    /// # Errors
    /// If the last bytes cannot be written or the file cannot be renamed.
    pub fn commit(self) -> Result<(), Error> {
        Self::commit_all([self])
    }

    /// Completes several outputs that belong together. No file appears under its name before all
    /// are complete on disk.
    ///
    /// # Errors
    /// If the last bytes cannot be written; then no file appears. If a file cannot be renamed; then
    /// the files before it have appeared.
    pub fn commit_all(outputs: impl IntoIterator<Item = Output>) -> Result<(), Error> {
        let complete: Vec<_> =
            outputs.into_iter().map(Output::complete).collect::<Result<_, _>>()?;
        complete.into_iter().flatten().try_for_each(AtomicFile::appear)
    }

    /// Completes the output on disk, under a temporary name.
    fn complete(self) -> Result<Option<AtomicFile>, Error> {
        let failed = |path: PathBuf| move |source| Error::File { path, action: "write", source };
        let file = match self.0 {
            Kind::Stdout(mut stdout) => {
                return stdout.flush().map_err(failed("<stdout>".into())).map(|()| None);
            }
            Kind::File(file) => file,
            Kind::Gzip(encoder) => {
                let path = encoder.get_ref().path().to_owned();
                encoder.finish().map_err(failed(path))?
            }
            Kind::Zstandard(encoder) => {
                let path = encoder.get_ref().path().to_owned();
                encoder.finish().map_err(failed(path))?
            }
        };
        file.sync()?;
        Ok(Some(file))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Stdout(stdout) => stdout.write(bytes),
            Kind::File(file) => file.write(bytes),
            Kind::Gzip(encoder) => encoder.write(bytes),
            Kind::Zstandard(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Stdout(stdout) => stdout.flush(),
            Kind::File(file) => file.flush(),
            Kind::Gzip(encoder) => encoder.flush(),
            Kind::Zstandard(encoder) => encoder.flush(),
        }
    }
}
