//! One chart of a page, as one sees and touches it.

use serde_json::Value;

use super::tab::Tab;

/// A figure of the benchmark that is open.
pub struct Chart<'a> {
    tab: &'a Tab,
    pub kind: String,
}

impl<'a> Chart<'a> {
    /// All charts of the benchmark `index`, drawn.
    pub fn all(tab: &'a Tab, index: usize) -> Vec<Self> {
        let kinds = tab.eval(&format!(
            "[...document.querySelectorAll('section.benchmark[data-index=\"{index}\"] figure[data-chart]')]
                .map(figure => figure.dataset.chart)"
        ));
        let kinds = kinds.as_array().cloned().unwrap_or_default();
        let chart = |kind: Value| Self {
            tab,
            kind: kind.as_str().unwrap().to_owned(),
        };
        let charts: Vec<Self> = kinds.into_iter().map(chart).collect();
        charts.iter().for_each(Chart::reach);
        charts
    }

    /// An expression for the figure.
    pub fn figure(&self) -> String {
        format!(
            "document.querySelector('section.benchmark.open figure[data-chart=\"{}\"]')",
            self.kind
        )
    }

    /// Brings it into the window and waits until it is drawn.
    pub fn reach(&self) {
        let figure = self.figure();
        self.tab.eval(&format!(
            "{figure}.scrollIntoView({{ block: 'center', behavior: 'instant' }})"
        ));
        self.tab.wait(&format!("{figure}.dataset.drawn === 'true'"));
        self.tab.settle();
    }

    /// The number of colours that its canvas has.
    pub fn colours(&self) -> f64 {
        let figure = self.figure();
        self.tab.number(&format!(
            "(() => {{
                const canvas = {figure}.querySelector('canvas');
                if (!canvas.width || !canvas.height) return 0;
                const {{ data }} = canvas.getContext('2d')
                    .getImageData(0, 0, canvas.width, canvas.height);
                return new Set(new Uint32Array(data.buffer)).size;
            }})()"
        ))
    }

    /// The picture on its canvas as a data URL, to be compared.
    pub fn picture(&self) -> String {
        self.tab.settle();
        let figure = self.figure();
        self.tab
            .text(&format!("{figure}.querySelector('canvas').toDataURL()"))
    }

    /// The share of the pixels by which it now differs from a picture of it;
    /// those that are a shade apart are alike.
    pub fn differs_from(&self, picture: &str) -> f64 {
        let now = self.picture();
        self.tab.number(&format!(
            "Promise.all(['{picture}', '{now}'].map(async url => {{
                const image = new Image();
                image.src = url;
                await image.decode();
                const canvas = document.createElement('canvas');
                [canvas.width, canvas.height] = [image.width, image.height];
                const context = canvas.getContext('2d');
                context.drawImage(image, 0, 0);
                return context.getImageData(0, 0, image.width, image.height).data;
            }})).then(([one, other]) => {{
                if (one.length !== other.length) return 1;
                let apart = 0;
                for (let at = 0; at < one.length; at += 4)
                    apart += [0, 1, 2, 3].some(by => Math.abs(one[at + by] - other[at + by]) > 48);
                return 4 * apart / one.length;
            }})"
        ))
    }

    /// Where in the window something coloured is drawn, at most `most` places
    /// spread over the chart.
    pub fn coloured(&self, most: usize) -> Vec<(f64, f64)> {
        let figure = self.figure();
        let places = self.tab.eval(&format!(
            "(() => {{
                const canvas = {figure}.querySelector('canvas');
                const {{ width, height }} = canvas;
                const {{ data }} = canvas.getContext('2d').getImageData(0, 0, width, height);
                const box = canvas.getBoundingClientRect();
                const all = [];
                for (let y = 12; y < height - 40; y += 3) for (let x = 60; x < width - 20; x += 3) {{
                    const [r, g, b, a] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
                    if (a > 100 && Math.max(r, g, b) - Math.min(r, g, b) > 60)
                        all.push([box.left + x * box.width / width, box.top + y * box.height / height]);
                }}
                const step = Math.max(1, Math.floor(all.length / {most}));
                return all.filter((_, index) => index % step === 0);
            }})()"
        ));
        let pair = |pair: &Value| Some((pair[0].as_f64()?, pair[1].as_f64()?));
        let places = places.as_array().cloned().unwrap_or_default();
        places.iter().filter_map(pair).collect()
    }

    /// The text of the tooltip where the mouse points; empty where there is none.
    pub fn tooltip(&self) -> String {
        let figure = self.figure();
        self.tab.text(&format!(
            "[...{figure}.querySelectorAll('.plot > div')]
                .filter(box => !box.querySelector('canvas'))
                .filter(box => getComputedStyle(box).visibility === 'visible'
                    && getComputedStyle(box).display !== 'none'
                    && getComputedStyle(box).opacity !== '0')
                .map(box => box.innerText).join('').trim()"
        ))
    }

    /// Clicks the button of this figure whose words or whose name contain
    /// `words`.
    pub fn click(&self, words: &str) {
        let figure = self.figure();
        self.tab.eval(&format!(
            "[...{figure}.querySelectorAll('button')].find(button => !button.hidden
                && (button.textContent + ' ' + button.ariaLabel).includes('{words}')).click()"
        ));
    }
}
