//! SVG as PNG, rendered with the fonts of this computer (feature `png`).

use anyhow::Result;

#[cfg(feature = "png")]
use self::with_resvg as implementation;
#[cfg(not(feature = "png"))]
use self::without as implementation;

/// Refuses PNG if it cannot be rendered here.
pub(crate) fn check() -> Result<()> {
    implementation::check()
}

/// Renders an SVG image.
pub(crate) fn render(svg: &str) -> Result<Vec<u8>> {
    implementation::render(svg)
}

#[cfg(feature = "png")]
mod with_resvg {
    use std::sync::{Arc, LazyLock};

    use anyhow::{Context as _, Result, anyhow};
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::fontdb::{Database, Family, Query};
    use resvg::usvg::{Options, Tree};

    use crate::failure::advise;

    /// Pixels of the image for each pixel of the drawing.
    const SCALE: f32 = 2.0;

    /// Most pixels of an image.
    const MOST_PIXELS: f32 = 2e8;

    /// The fonts of this computer.
    static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        // The generic family may be called differently here, or not be installed.
        let is_installed = |name: &&&str| {
            fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some()
        };
        let usual = ["Noto Sans", "DejaVu Sans", "Liberation Sans", "Arial", "Helvetica"];
        let found = usual.iter().find(is_installed);
        let any = || fonts.faces().next().and_then(|face| Some(face.families.first()?.0.clone()));
        if let Some(name) = found.map(|name| (*name).to_owned()).or_else(any) {
            fonts.set_sans_serif_family(name);
        }
        Arc::new(fonts)
    });

    pub(super) fn check() -> Result<()> {
        if FONTS.is_empty() {
            let error = anyhow!("PNG needs a font, and this computer has none");
            let hint = "install one, such as the package fonts-dejavu; or write SVG: -o tree.svg";
            return Err(advise(error, hint));
        }
        Ok(())
    }

    pub(super) fn render(svg: &str) -> Result<Vec<u8>> {
        check()?;
        let options = Options {
            fontdb: Arc::clone(&FONTS),
            font_family: "sans-serif".to_owned(),
            ..Options::default()
        };
        let tree = Tree::from_str(svg, &options).context("the drawing cannot be rendered")?;
        let (width, height) = (tree.size().width() * SCALE, tree.size().height() * SCALE);
        let too_large = || {
            let error = anyhow!("the image would have {width:.0} by {height:.0} pixels");
            advise(error, "draw fewer sentences with -n, or one file per sentence with --out-dir")
        };
        if width * height > MOST_PIXELS {
            return Err(too_large());
        }
        let mut image =
            Pixmap::new(width.ceil() as u32, height.ceil() as u32).ok_or_else(too_large)?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut image.as_mut());
        image.encode_png().context("the image cannot be written as PNG")
    }
}

#[cfg(not(feature = "png"))]
mod without {
    use anyhow::Result;

    use crate::failure::usage;

    pub(super) fn check() -> Result<()> {
        Err(usage(
            "this build of tutte cannot write PNG; write SVG and convert it (`-o tree.svg --to png-svg`, then \
             rsvg-convert), or build with `cargo install tutte-cli --features png`",
        ))
    }

    pub(super) fn render(_: &str) -> Result<Vec<u8>> {
        check().map(|()| Vec::new())
    }
}
