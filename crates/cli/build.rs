//! Repacks the English model that is built into the program. In the repository it is a gzip file, which is small. In
//! the program it is packed by `tutte_linear::zeros`, which is fast to unpack.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "english")]
    repack("../../models/en.tutte.gz", "en.tutte.packed");
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
    let packed = tutte_linear::zeros::pack(&model);
    std::fs::write(std::path::Path::new(&folder).join(name), packed).expect("OUT_DIR exists");
}
