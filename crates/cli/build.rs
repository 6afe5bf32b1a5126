//! Unpacks the English model that is built into the program. It is packed in the repository to save space, and unpacked
//! here so that the program starts without delay.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "english")]
    unpack("../../models/en.tutte.gz", "en.tutte");
}

#[cfg(feature = "english")]
fn unpack(packed: &str, name: &str) {
    use std::fs::File;
    use std::path::Path;

    println!("cargo::rerun-if-changed={packed}");
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let source = File::open(packed).unwrap_or_else(|error| panic!("{packed}: {error}"));
    let mut model = File::create(Path::new(&folder).join(name)).expect("OUT_DIR exists");
    std::io::copy(&mut flate2::read::GzDecoder::new(source), &mut model)
        .unwrap_or_else(|error| panic!("{packed} cannot be unpacked: {error}"));
}
