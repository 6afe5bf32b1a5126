//! Where sentences come from: files, standard input, gzip and Zstandard.
//!
//! Compression is recognised by the first bytes of the content, whatever the file is called.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::zstandard::Decoder;
use crate::{Error, Options, Reader};

/// Bytes from wherever they come.
pub type Input = Box<dyn Read + Send>;

/// Opens a treebank: a path, or `-` for standard input, plain or compressed.
///
/// # Errors
/// If the file cannot be opened, or is compressed in a way that is not understood.
pub fn open(path: impl AsRef<Path>) -> Result<Reader<Input>, Error> {
    open_with(path, &Options::default())
}

/// Opens a treebank with options.
///
/// # Errors
/// If the file cannot be opened, or is compressed in a way that is not understood.
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

/// Undoes gzip and Zstandard compression, recognised by their first bytes; anything else is passed
/// on as it is.
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
/// If the first bytes cannot be read, or are those of a compression that is not understood.
pub fn decompress<'a>(mut input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut first = Vec::with_capacity(6);
    input.by_ref().take(6).read_to_end(&mut first)?;
    let kind = recognise(&first);
    let whole = io::Cursor::new(first).chain(input);
    match kind {
        Compression::None => Ok(Box::new(whole)),
        Compression::Gzip => Ok(Box::new(MultiGzDecoder::new(buffered(whole)))),
        Compression::Zstandard => Ok(Box::new(Decoder::new(buffered(whole)))),
        Compression::Other(name) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("the content is {name}; gzip and Zstandard are understood, decompress others"),
        )),
    }
}

fn buffered<R: Read>(input: R) -> BufReader<R> {
    BufReader::with_capacity(1 << 16, input)
}

enum Compression {
    None,
    Gzip,
    Zstandard,
    Other(&'static str),
}

fn recognise(first: &[u8]) -> Compression {
    match first {
        [0x1F, 0x8B, ..] => Compression::Gzip,
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
            Compression::Zstandard
        }
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Other("bzip2"),
        [0xFD, b'7', b'z', b'X', b'Z', 0] => Compression::Other("xz"),
        [b'P', b'K', 3, 4, ..] => Compression::Other("a zip archive"),
        _ => Compression::None,
    }
}
