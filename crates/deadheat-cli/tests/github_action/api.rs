//! A server that does what GitHub does with the comments of a pull request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The longest comment that GitHub takes, in characters.
pub const LONGEST: usize = 65_536;

/// The user that comments with the token of a workflow.
const BOT: &str = "github-actions[bot]";

/// The state of the repository that is played, and the requests made to it.
#[derive(Debug, Default)]
pub struct State {
    /// Of the pull request, oldest first.
    pub comments: Vec<Value>,
    /// Open pull requests.
    pub pulls: Vec<Value>,
    /// Method and address of every request.
    pub requests: Vec<String>,
    /// True if the token only reads, as those of forks do.
    pub read_only: bool,
    /// Put before the comment that is made next, as if another run had made it
    /// in the same moment.
    pub rival: Option<Value>,
    /// Files that anybody may fetch, by their addresses.
    pub files: Vec<(String, Vec<u8>)>,
    last: u64,
}

impl State {
    /// A comment of somebody.
    pub fn comment(&mut self, login: &str, body: &str) -> Value {
        self.last += 1;
        json!({
            "id": self.last,
            "body": body,
            "user": { "login": login },
            "html_url": format!("https://github.test/comment/{}", self.last),
        })
    }

    fn answer(&mut self, method: &str, url: &str, body: &str) -> (u16, Value) {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let number = |name: &str| {
            let mut given = query.split('&').filter_map(|pair| pair.split_once('='));
            let value = given.find(|(key, _)| *key == name).map(|(_, value)| value);
            value.map_or(0, |value| value.parse::<usize>().unwrap())
        };
        let denied = json!({ "message": "Resource not accessible by integration" });
        let missing = json!({ "message": "Not Found" });
        let request: Value = serde_json::from_str(body).unwrap_or_default();
        let text = request["body"].as_str().unwrap_or_default();
        let is_too_long = text.chars().count() > LONGEST;
        let id: Option<u64> = path.rsplit('/').next().and_then(|id| id.parse().ok());
        let place = self
            .comments
            .iter()
            .position(|one| one["id"].as_u64() == id);
        match (method, path) {
            ("GET", "/repos/me/project/pulls") => (200, self.pulls.clone().into()),
            ("GET", "/repos/me/project/issues/7/comments") => {
                let (size, page) = (number("per_page"), number("page"));
                assert!((1..=100).contains(&size) && page > 0, "{url}");
                let shown = self.comments.chunks(size).nth(page - 1);
                (200, shown.unwrap_or_default().into())
            }
            ("POST" | "PATCH" | "DELETE", _) if self.read_only => (403, denied),
            ("POST" | "PATCH", _) if is_too_long => (422, json!({ "message": "body is too long" })),
            ("POST", "/repos/me/project/issues/7/comments") => {
                if let Some(rival) = self.rival.take() {
                    self.comments.push(rival);
                }
                let made = self.comment(BOT, text);
                self.comments.push(made.clone());
                (201, made)
            }
            ("PATCH", _) if place.is_some() => {
                let place = place.unwrap_or_default();
                self.comments[place]["body"] = text.into();
                (200, self.comments[place].clone())
            }
            ("DELETE", _) if place.is_some() => {
                self.comments.remove(place.unwrap_or_default());
                (204, Value::Null)
            }
            _ => (404, missing),
        }
    }
}

/// The server, listening on a port of its own.
pub struct Api {
    /// Where it is.
    pub url: String,
    state: Arc<Mutex<State>>,
}

impl Api {
    /// Starts it.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &served);
            }
        });
        Self { url, state }
    }

    /// Looks at what it holds, or changes it.
    pub fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    /// The texts of all comments.
    pub fn bodies(&self) -> Vec<String> {
        self.with(|state| {
            let bodies = state.comments.iter().map(|one| one["body"].as_str());
            bodies.map(|body| body.unwrap().to_owned()).collect()
        })
    }

    /// The requests since the last call, by method.
    pub fn methods(&self) -> Vec<String> {
        self.with(|state| {
            let requests = std::mem::take(&mut state.requests).into_iter();
            let methods = requests.map(|line| line.split(' ').next().unwrap().to_owned());
            methods.collect()
        })
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut words = line.split_whitespace();
    let (Some(method), Some(url)) = (words.next(), words.next()) else {
        return;
    };
    let (mut length, mut is_known) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => is_known = value == "Bearer secret-token",
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let mut state = state.lock().unwrap();
    state.requests.push(format!("{method} {url}"));
    let file = state.files.iter().find(|(address, _)| address == url);
    let (code, answer) = match file {
        Some((_, bytes)) => (200, bytes.clone()),
        None => {
            let (code, answer) = match is_known {
                true => state.answer(method, url, &body),
                false => (401, json!({ "message": "Bad credentials" })),
            };
            let answer = match code {
                204 => String::new(),
                _ => answer.to_string(),
            };
            (code, answer.into_bytes())
        }
    };
    let mut stream = stream;
    let head = format!(
        "HTTP/1.1 {code} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        answer.len()
    );
    // Whoever asked may be gone.
    let _ = stream.write_all(&[head.as_bytes(), &answer].concat());
}
