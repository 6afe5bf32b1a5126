//! Search for development data beside a treebank.

use std::path::{Path, PathBuf};

/// Returns the file beside a treebank that has `dev` for `train` in its name.
pub(super) fn sibling(files: &[PathBuf]) -> Option<PathBuf> {
    let [train] = files else { return None };
    let name = train.file_name()?.to_str()?;
    let at = name.rfind("train")?;
    let dev = format!("{}dev{}", &name[..at], &name[at + "train".len()..]);
    let dev = train.parent().unwrap_or(Path::new("")).join(dev);
    dev.is_file().then_some(dev)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn development_data_is_found_beside_the_treebank() {
        let folder = std::env::temp_dir().join(format!("tutte-sibling-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let dev = folder.join("en_x-ud-dev.conllu");
        std::fs::write(&dev, "").unwrap();
        let found = |name: &str| sibling(&[folder.join(name)]);
        assert_eq!(found("en_x-ud-train.conllu"), Some(dev));
        assert_eq!(found("en_y-ud-train.conllu"), None);
        assert_eq!(found("other.conllu"), None);
        assert_eq!(sibling(&[]), None);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
