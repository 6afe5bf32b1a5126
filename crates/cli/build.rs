//! Repacks the English models that are built into the program. In the repository they are gzip files, which are small. In
//! the program they are packed by `tutte_linear::packing`, which is fast to unpack.
//!
//! The large model is a network. So it is a part of builds with the feature `neural`, if its file is there.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(english_large)");
    #[cfg(feature = "english")]
    repack("../../models/en.tutte.gz", "en.tutte.packed");
    #[cfg(all(feature = "english", feature = "neural"))]
    {
        let source = "../../models/en-large.tutte.gz";
        // A file that is not there would make every build start anew, so its folder is watched.
        println!("cargo::rerun-if-changed=../../models");
        if std::path::Path::new(source).exists() {
            repack(source, "en-large.tutte.packed");
            println!("cargo::rustc-cfg=english_large");
        }
    }
}

#[cfg(feature = "english")]
fn repack(source: &str, name: &str) {
    use std::io::Read;

    println!("cargo::rerun-if-changed={source}");
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let file = std::fs::File::open(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let mut model = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut model)
        .unwrap_or_else(|error| panic!("{source} cannot be unpacked: {error}"));
    let packed = tutte_linear::packing::pack(&model);
    std::fs::write(std::path::Path::new(&folder).join(name), packed).expect("OUT_DIR exists");
}
