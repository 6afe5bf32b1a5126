//! Input from files, standard input, gzip and Zstandard.
//!
//! Compression is recognised by the first bytes of the content, not by the name of the file.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::encoding::retry;
use crate::zstandard::Decoder;
use crate::{Error, Options, Reader};

/// A boxed input.
pub type Input = Box<dyn Read + Send>;

/// Opens a treebank: a path, or `-` for standard input, plain or compressed.
///
/// # Errors
/// If the file cannot be opened, or its compression is not supported.
pub fn open(path: impl AsRef<Path>) -> Result<Reader<Input>, Error> {
    open_with(path, &Options::default())
}

/// Opens a treebank with options.
///
/// # Errors
/// If the file cannot be opened, or its compression is not supported.
pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Reader<Input>, Error> {
    let path = path.as_ref();
    let failed = |source| Error::File { path: path.to_owned(), action: "open", source };
    let (input, name) = if path == Path::new("-") {
        (decompress(io::stdin()), "<stdin>".to_owned())
    } else {
        let file = File::open(path).map_err(failed)?;
        (decompress(file), path.display().to_string())
    };
    let name = options.name.clone().unwrap_or(name);
    let options = Options { name: Some(name), ..options.clone() };
    Ok(Reader::with_options(input.map_err(failed)?, &options))
}

/// Decompresses gzip and Zstandard, recognised by their first bytes. Plain text passes through.
/// Content that is not text is refused.
///
/// ```
/// use tutte_treebank::{Reader, decompress};
/// let plain: &[u8] = b"1\tHi\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n";
/// let mut reader = Reader::new(decompress(plain)?);
/// assert_eq!(reader.next().unwrap()?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the first bytes cannot be read, or the compression is not supported. Also if the content,
/// compressed or not, is not text but, for example, an image or a model.
pub fn decompress<'a>(input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut input = Uninterrupted(input);
    let mut first = Vec::new();
    let kind = recognise_start(&mut input, &mut first)?;
    let whole = io::Cursor::new(first).chain(input);
    if !kind.is_supported_compression() {
        kind.must_be_text()?;
        return Ok(Box::new(whole));
    }
    let mut inside = kind.decompress(whole);
    let mut first = Vec::new();
    match recognise_start(&mut inside, &mut first) {
        Ok(kind) => {
            kind.must_be_text()?;
            Ok(Box::new(io::Cursor::new(first).chain(inside)))
        }
        // Reported when the content is read, so that the error has a place.
        Err(error) => Ok(Box::new(io::Cursor::new(first).chain(Failing(Some(error))))),
    }
}

/// Decompresses gzip and Zstandard, recognised by their first bytes. Any other content passes
/// through.
///
/// # Errors
/// If the first bytes cannot be read.
pub fn unpack<'a>(input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut input = Uninterrupted(input);
    let mut first = Vec::new();
    let kind = recognise_start(&mut input, &mut first)?;
    Ok(kind.decompress(io::Cursor::new(first).chain(input)))
}

/// Reads only the bytes that recognition needs: the writer may be waiting for an answer.
fn recognise_start(input: &mut impl Read, first: &mut Vec<u8>) -> io::Result<Content> {
    loop {
        if let Some(kind) = recognise(first) {
            return Ok(kind);
        }
        if input.take(1).read_to_end(first)? == 0 {
            return Ok(Content::Plain);
        }
    }
}

/// An input whose calls are repeated if a signal interrupts them. Decoders do not repeat them.
struct Uninterrupted<R>(R);

impl<R: Read> Read for Uninterrupted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        retry(&mut self.0, out)
    }
}

/// An input that failed during recognition.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

fn buffered<R: Read>(input: R) -> BufReader<R> {
    BufReader::with_capacity(1 << 16, input)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Plain,
    Gzip,
    Zstandard,
    /// A compression that is not supported.
    UnsupportedCompression(&'static str),
    /// Safetensors.
    Model,
    /// Other content that is neither text nor trees.
    Other(&'static str),
}

impl Content {
    fn is_supported_compression(self) -> bool {
        matches!(self, Content::Gzip | Content::Zstandard)
    }

    /// Returns the decompressed content, or the content itself if it is not compressed.
    fn decompress<'a>(self, whole: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        match self {
            Content::Gzip => Box::new(MultiGzDecoder::new(buffered(whole))),
            Content::Zstandard => Box::new(Decoder::new(buffered(whole))),
            _ => Box::new(whole),
        }
    }

    /// Refuses content that is not text.
    fn must_be_text(self) -> io::Result<()> {
        let what = match self {
            Content::Plain => return Ok(()),
            Content::UnsupportedCompression(name) => {
                format!("{name}; only gzip and Zstandard are supported, decompress it first")
            }
            Content::Gzip | Content::Zstandard => "compressed twice; decompress it once".to_owned(),
            Content::Other(name) => format!("{name}, but text or trees were expected"),
            Content::Model => {
                "a model, but text or trees were expected; pass models with -m".to_owned()
            }
        };
        let message = format!("the content is {what}");
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}

/// First bytes of files that are not plain text.
const OPENINGS: [(&[u8], Content); 14] = [
    (b"\x1F\x8B", Content::Gzip),
    (b"\x28\xB5\x2F\xFD", Content::Zstandard),
    (b"\xFD7zXZ\0", Content::UnsupportedCompression("xz")),
    (b"PK\x03\x04", Content::UnsupportedCompression("a zip archive, or a document in one")),
    (b"7z\xBC\xAF", Content::UnsupportedCompression("a 7z archive")),
    (b"\x89PNG", Content::Other("a PNG image")),
    (b"\xFF\xD8\xFF", Content::Other("a JPEG image")),
    (b"GIF87a", Content::Other("a GIF image")),
    (b"GIF89a", Content::Other("a GIF image")),
    (b"%PDF-", Content::Other("a PDF document")),
    (b"{\\rtf", Content::Other("an RTF document")),
    (b"\xD0\xCF\x11\xE0", Content::Other("a document of an office program")),
    (b"\x7FELF", Content::Other("a program")),
    (b"SQLite format 3\0", Content::Other("a database")),
];

/// Recognises a content by its first bytes. Returns `None` if more bytes are needed.
fn recognise(first: &[u8]) -> Option<Content> {
    /// These bytes after one from 0x50 to 0x5F start a skippable frame of Zstandard.
    const SKIPPABLE: [u8; 3] = [0x2A, 0x4D, 0x18];
    if let Some((_, kind)) = OPENINGS.iter().find(|(opening, _)| first.starts_with(opening)) {
        return Some(*kind);
    }
    let may_change = match first {
        [0x50..=0x5F, rest @ ..] if rest.starts_with(&SKIPPABLE) => {
            return Some(Content::Zstandard);
        }
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => {
            return Some(Content::UnsupportedCompression("bzip2"));
        }
        // Safetensors: the length of the header in eight bytes, then the header, which is JSON.
        [_, _, _, 0, 0, 0, 0, 0, b'{', ..] => return Some(Content::Model),
        [_, _, _, zeros @ ..] => zeros.len() < 6 && zeros.iter().all(|byte| *byte == 0),
        _ => true,
    };
    let may_be = |(opening, _): &(&[u8], Content)| opening.starts_with(first);
    (!may_change && !OPENINGS.iter().any(may_be)).then_some(Content::Plain)
}
