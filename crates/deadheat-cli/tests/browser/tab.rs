//! A window of its own: its own storage, its own size, its own taste.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::chromium::chromium;
use super::messages::{Event, Messages, PATIENCE};

/// A window with one page in it, closed when dropped.
pub struct Tab {
    chromium: &'static Messages,
    session: String,
    context: String,
}

impl Tab {
    /// An empty window.
    pub fn new() -> Self {
        let chromium = chromium();
        let context = text(
            &chromium.call(None, "Target.createBrowserContext", json!({})),
            "browserContextId",
        );
        let target = chromium.call(
            None,
            "Target.createTarget",
            json!({"url": "about:blank", "browserContextId": context, "newWindow": true}),
        );
        let attached = chromium.call(
            None,
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        let tab = Self {
            chromium,
            session: text(&attached, "sessionId"),
            context,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.call(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": "window.__violations = [];
                addEventListener('securitypolicyviolation',
                    event => __violations.push(event.violatedDirective + ' ' + event.blockedURI));"}),
        );
        tab.resize(1280, 900);
        tab.media("screen", "light");
        tab
    }

    /// The same with a page in it.
    pub fn open(page: &Path) -> Self {
        let tab = Self::new();
        tab.go(page, "");
        tab
    }

    /// Opens `page` at the place `hash`, `#…` or nothing, and waits until it
    /// is loaded.
    pub fn go(&self, page: &Path, hash: &str) {
        let page = page.canonicalize().unwrap();
        let url = format!("file://{}{hash}", page.display());
        let gone = self.call("Page.navigate", json!({"url": url}));
        assert!(gone.get("errorText").is_none(), "{url}: {gone}");
        self.wait("document.readyState === 'complete'");
    }

    pub fn call(&self, method: &str, params: Value) -> Value {
        self.chromium.call(Some(&self.session), method, params)
    }

    /// The value of a JavaScript expression; a promise is awaited.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        let mut answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true,
                "userGesture": true}),
        );
        if let Some(exception) = answer.get("exceptionDetails") {
            panic!("{expression}: {exception:#}");
        }
        answer["result"]["value"].take()
    }

    /// A text.
    #[track_caller]
    pub fn text(&self, expression: &str) -> String {
        let value = self.eval(expression);
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| panic!("{expression} is no text: {value}"))
    }

    /// A number.
    #[track_caller]
    pub fn number(&self, expression: &str) -> f64 {
        let value = self.eval(expression);
        let number = value.as_f64();
        number.unwrap_or_else(|| panic!("{expression} is no number: {value}"))
    }

    /// Returns true if a JavaScript expression is truthy in the page.
    #[track_caller]
    pub fn holds(&self, expression: &str) -> bool {
        self.eval(&format!("Boolean({expression})")) == true
    }

    /// Waits until it is so.
    #[track_caller]
    pub fn wait(&self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.holds(condition) {
            assert!(Instant::now() < deadline, "never: {condition}");
            thread::sleep(Duration::from_millis(15));
        }
    }

    /// The size of the window in CSS pixels.
    pub fn resize(&self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1,
                "mobile": width < 600}),
        );
    }

    /// The medium, `screen` or `print`, and the colours its owner likes,
    /// `light` or `dark`.
    pub fn media(&self, medium: &str, scheme: &str) {
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"media": medium, "features": [
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]}),
        );
        self.settle();
    }

    /// Waits until what just happened is drawn: for the second picture after
    /// it, because whoever listens draws in the first.
    pub fn settle(&self) {
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// Moves the mouse, in pixels of the window.
    pub fn point(&self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, json!({}));
    }

    /// Presses and releases the left button.
    pub fn click(&self, x: f64, y: f64) {
        self.point(x, y);
        for kind in ["mousePressed", "mouseReleased"] {
            self.mouse(kind, x, y, json!({"button": "left", "clickCount": 1}));
        }
    }

    /// Turns the wheel by so many pixels with the control key held.
    pub fn zoom(&self, x: f64, y: f64, by: f64) {
        let more = json!({"deltaX": 0, "deltaY": by, "modifiers": 2});
        self.mouse("mouseWheel", x, y, more);
    }

    /// Pulls with the left button held.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        self.point(from.0, from.1);
        let held = json!({"button": "left", "buttons": 1, "clickCount": 1});
        self.mouse("mousePressed", from.0, from.1, held.clone());
        for step in 1..=4 {
            let share = f64::from(step) / 4.0;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            self.mouse("mouseMoved", x, y, held.clone());
        }
        self.mouse("mouseReleased", to.0, to.1, held);
    }

    fn mouse(&self, kind: &str, x: f64, y: f64, more: Value) {
        let mut params = json!({"type": kind, "x": x, "y": y});
        if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
            params.extend(more);
        }
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Presses a key: `Tab`, `Enter`, `ArrowDown` …
    pub fn press(&self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, None),
            "Enter" => (13, Some("\r")),
            "Escape" => (27, None),
            " " => (32, Some(" ")),
            "ArrowUp" => (38, None),
            "ArrowDown" => (40, None),
            other => panic!("nobody taught this keyboard {other}"),
        };
        let name = if key == " " { "Space" } else { key };
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({"type": kind, "key": key, "code": name,
                "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code});
            if let (Some(text), "keyDown") = (text, kind) {
                params["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Types a text where the focus is.
    pub fn write(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// A picture of the window, as base64 of a PNG.
    pub fn screenshot(&self) -> String {
        let taken = self.call("Page.captureScreenshot", json!({"format": "png"}));
        text(&taken, "data")
    }

    /// A picture of the window, as the bytes of a PNG.
    pub fn png(&self) -> Vec<u8> {
        let picture = self.screenshot();
        let digit = |sign: u8| match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        let digits = picture.trim_end_matches('=').bytes().map(digit);
        let digits: Vec<u8> = digits.collect();
        let mut bytes = Vec::new();
        for four in digits.chunks(4) {
            let bits = four
                .iter()
                .fold(0, |bits, digit| bits << 6 | u32::from(*digit));
            let bits = bits << (6 * (4 - four.len()));
            bytes.extend(&bits.to_be_bytes()[1..four.len()]);
        }
        bytes
    }

    /// Messages written to the console and to the log, and exceptions thrown.
    pub fn complaints(&self) -> Vec<String> {
        let complaint = |event: Event| {
            let params = event.params;
            match event.method.as_str() {
                "Runtime.exceptionThrown" => {
                    Some(format!("thrown: {}", params["exceptionDetails"]))
                }
                "Runtime.consoleAPICalled" => Some(format!("console: {}", params["args"])),
                "Log.entryAdded" => Some(format!("log: {}", params["entry"])),
                _ => None,
            }
        };
        let told = self.chromium.events(&self.session).into_iter();
        let violations = self.eval("window.__violations ?? []");
        let violations = violations.as_array().cloned().unwrap_or_default();
        told.filter_map(complaint)
            .chain(violations.into_iter().map(|one| format!("policy: {one}")))
            .collect()
    }

    /// The addresses fetched, other than out of the page itself.
    pub fn requests(&self) -> Vec<String> {
        let url = |event: Event| {
            (event.method == "Network.requestWillBeSent")
                .then(|| text(&event.params["request"], "url"))
        };
        let told = self.chromium.events(&self.session).into_iter();
        let inside = |url: &String| url.starts_with("data:") || url.starts_with("blob:");
        told.filter_map(url).filter(|url| !inside(url)).collect()
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // A panic here would hide the one that closes the window.
        if !thread::panicking() {
            let context = json!({"browserContextId": self.context});
            self.chromium
                .call(None, "Target.disposeBrowserContext", context);
        }
        self.chromium.forget(&self.session);
    }
}

fn text(value: &Value, field: &str) -> String {
    let text = value[field].as_str();
    text.unwrap_or_else(|| panic!("no {field}: {value}"))
        .to_owned()
}
