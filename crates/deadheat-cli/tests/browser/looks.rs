//! The looks of a window, in numbers. The browser itself decodes the picture of it, which it may as
//! long as the page lets it look at `data:`.

use serde_json::Value;

use super::tab::Tab;

/// Numbers about the picture of a window.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    pub width: f64,
    pub height: f64,
    /// Colours that differ.
    pub colours: f64,
    /// The share of the pixels that have the commonest of them.
    pub background: f64,
    /// Mean lightness, from 0 to 255.
    pub light: f64,
}

impl Looks {
    /// Of what is seen in a window.
    pub fn of(tab: &Tab) -> Self {
        let png = tab.screenshot();
        let looks = tab.eval(&format!(
            "(async () => {{
                const image = new Image();
                image.src = 'data:image/png;base64,{png}';
                await image.decode();
                const canvas = document.createElement('canvas');
                [canvas.width, canvas.height] = [image.width, image.height];
                const context = canvas.getContext('2d');
                context.drawImage(image, 0, 0);
                const {{ data }} = context.getImageData(0, 0, image.width, image.height);
                const pixels = new Uint32Array(data.buffer);
                const counts = new Map();
                let light = 0;
                for (let at = 0; at < pixels.length; at++) {{
                    counts.set(pixels[at], (counts.get(pixels[at]) ?? 0) + 1);
                    light += data[4 * at] * 0.2126 + data[4 * at + 1] * 0.7152
                        + data[4 * at + 2] * 0.0722;
                }}
                let commonest = 0;
                for (const count of counts.values()) commonest = Math.max(commonest, count);
                return [image.width, image.height, counts.size, commonest / pixels.length,
                    light / pixels.length];
            }})()"
        ));
        let numbers: Vec<f64> = looks
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect();
        let &[width, height, colours, background, light] = &numbers[..] else {
            panic!("the picture cannot be read: {looks}");
        };
        Self {
            width,
            height,
            colours,
            background,
            light,
        }
    }
}
