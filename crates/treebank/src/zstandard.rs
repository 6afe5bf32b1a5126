//! Zstandard streams: a sequence of frames, each with its checksum.
//!
//! The encoder writes frames of [`FRAME`] bytes of text, so that memory stays constant for any
//! length. The library ruzstd has only the fast level of compression, which finds matches within
//! 128 KiB. It is faster than gzip, but its files are larger. For smaller files, write `.gz`, or
//! pipe into `zstd`.

use std::io::{self, BufRead, Read, Write};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress};

/// Decodes all frames of a Zstandard stream and verifies their checksums. The decoder of ruzstd
/// reads one frame only, but parallel compressors write many, and files may be joined with `cat`.
pub(crate) struct Decoder<R> {
    input: R,
    decoder: FrameDecoder,
    inside_frame: bool,
}

impl<R: BufRead> Decoder<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), inside_frame: false }
    }

    /// Moves to the next frame. Returns `false` at the end.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !out.is_empty() {
            if !self.inside_frame {
                if !self.next_frame()? {
                    break;
                }
                self.inside_frame = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(invalid)?;
            }
            let read = self.decoder.read(out)?;
            if read > 0 {
                return Ok(read);
            }
            self.inside_frame = false;
            let expected = self.decoder.get_checksum_from_data();
            if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
                return Err(invalid("the checksum of a Zstandard frame does not match"));
            }
        }
        Ok(0)
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Bytes of text per frame. Larger frames do not compress better, since the encoder looks back 128
/// KiB.
const FRAME: usize = 1 << 20;

/// Compresses text. Bytes may stay in memory until [`finish`](Encoder::finish) or `flush`.
#[derive(Debug)]
pub(crate) struct Encoder<W> {
    output: W,
    /// Text of the incomplete frame.
    text: Vec<u8>,
    frame: Vec<u8>,
    started: bool,
}

impl<W: Write> Encoder<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, text: Vec::with_capacity(FRAME), frame: Vec::new(), started: false }
    }

    pub(crate) fn get_ref(&self) -> &W {
        &self.output
    }

    /// Writes the last frame, or an empty one if nothing was written.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        if !self.text.is_empty() || !self.started {
            self.write_frame()?;
        }
        Ok(self.output)
    }

    fn write_frame(&mut self) -> io::Result<()> {
        // To memory first: `compress` panics if its output fails.
        self.frame.clear();
        compress(&self.text[..], &mut self.frame, CompressionLevel::Fastest);
        self.output.write_all(&self.frame)?;
        self.text.clear();
        self.started = true;
        Ok(())
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() == FRAME {
            self.write_frame()?;
        }
        let taken = bytes.len().min(FRAME - self.text.len());
        self.text.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Ends the frame, so that all bytes so far can be read.
    fn flush(&mut self) -> io::Result<()> {
        if !self.text.is_empty() {
            self.write_frame()?;
        }
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_back(compressed: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        Decoder::new(compressed).read_to_end(&mut text).unwrap();
        text
    }

    fn compress_all(pieces: &[Vec<u8>], flush_after: usize) -> Vec<u8> {
        let mut encoder = Encoder::new(Vec::new());
        for (at, piece) in pieces.iter().enumerate() {
            encoder.write_all(piece).unwrap();
            if at + 1 == flush_after {
                encoder.flush().unwrap();
                assert_eq!(read_back(encoder.get_ref()), pieces[..=at].concat());
            }
        }
        encoder.finish().unwrap()
    }

    #[test]
    fn empty_text_is_one_frame() {
        assert_eq!(read_back(&compress_all(&[], 9)), b"");
        assert!(!compress_all(&[], 9).is_empty());
    }

    #[test]
    fn long_texts_are_several_frames() {
        let line = |n: usize| format!("{n}\tword{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n", n * n % 1013);
        let text: Vec<u8> = (0..100_000).flat_map(|n| line(n).into_bytes()).collect();
        let compressed = compress_all(std::slice::from_ref(&text), 9);
        assert!(compressed.len() < text.len() / 4, "{}", compressed.len());
        assert_eq!(read_back(&compressed), text);
    }

    /// Runs, noise, near and far repetitions, one value or all 256: each makes the encoder choose
    /// another type of block or table.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let noise = proptest::collection::vec(any::<u8>(), 0..300);
        prop_oneof![
            noise.clone(),
            (noise.clone(), 1..2000usize).prop_map(|(bytes, times)| bytes.repeat(times)),
            (any::<u8>(), 0..400_000usize).prop_map(|(byte, times)| vec![byte; times]),
            (1..=255u8, 1..70_000u32).prop_map(|(values, count)| {
                (0..count).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 % values).collect()
            }),
            "[a-z]{1,8}(\t[A-Z_|=]{1,6}){2,40}\n".prop_map(String::into_bytes),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_bytes_come_back(
            pieces in proptest::collection::vec(piece(), 0..6),
            flush_after in 0..6usize,
        ) {
            prop_assert_eq!(read_back(&compress_all(&pieces, flush_after)), pieces.concat());
        }
    }
}
