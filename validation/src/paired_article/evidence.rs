//! The right answer for every row, by evidence that no tool under test gave: what the functions do,
//! how many instructions that takes, and what a plain clock says under several link orders.

use crate::observed::{Call, ran, rounded};
use crate::plan::{LESS, Pair, ROWS};
use deadheat_validation::prelude::*;

words! {
    /// The texts of a function: each met for the first time, or one met so often that the branch
    /// predictors know it by heart.
    pub enum Texts {
        New = "new",
        Known = "known",
    }
}

impl Texts {
    /// The number of texts that is enough for a steady median: of new ones each gives a single
    /// call, of known ones 200.
    fn count(self) -> u64 {
        match self {
            Self::New => 1_000,
            Self::Known => 40,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Nothing: both sides are one function.
    NoCall,
    Faster,
    Slower,
    /// Whichever it is in that binary.
    EitherWay,
}

impl Right {
    pub fn words(self) -> &'static str {
        match self {
            Self::NoCall => "neither",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::EitherWay => "faster or slower, by placement",
        }
    }

    pub fn holds(self, call: Call) -> bool {
        match self {
            Self::NoCall => call == Call::None,
            Self::Faster => call == Call::Faster,
            Self::Slower => call == Call::Slower,
            Self::EitherWay => call != Call::None,
        }
    }
}

/// Of a row, for a tool that measures on such texts. `None` where the clock
/// has not been measured yet.
pub fn right(kept: &Kept, pair: Pair, texts: Texts) -> Option<Right> {
    if pair.0 == pair.1 {
        return Some(Right::NoCall);
    }
    if pair == LESS {
        return Some(Right::Faster);
    }
    let clocks: Vec<Clock> = clocks(kept, pair, texts).collect();
    let faster = clocks.iter().filter(|clock| clock.ratio() < 1.0).count();
    match (faster, clocks.len()) {
        (_, 0) => None,
        (0, _) => Some(Right::Slower),
        (faster, all) if faster == all => Some(Right::Faster),
        _ => Some(Right::EitherWay),
    }
}

fn pairs() -> impl Iterator<Item = Pair> {
    ROWS.into_iter().filter(|pair| pair.0 != pair.1)
}

/// Calls of a function that the instruction counter watches: twice, so that
/// all that is not these calls drops out.
const CALLS: [u64; 2] = [8, 40];

pub fn gather(kept: &mut Kept, root: &Path, scratch: &Path, quick: bool) {
    let links = if quick { 2 } else { 8 };
    let orders = [None].into_iter().chain((1..=links).map(Some));
    for order in orders {
        let link = order.map_or("own".to_owned(), |order: u64| order.to_string());
        let asked: Vec<(Pair, Texts)> = pairs()
            .flat_map(|pair| Texts::ALL.map(|texts| (pair, texts)))
            .filter(|(pair, texts)| {
                let name = pair.name();
                let clock = [("evidence", "clock"), ("link", &link)];
                let what = [("row", name.as_str()), ("texts", texts.key())];
                kept.count(&[clock, what].concat()) == 0
            })
            .collect();
        if asked.is_empty() || !kept.goes_on() {
            continue;
        }
        let program = program(root, order);
        if order.is_none() {
            instructions(kept, &program, scratch);
        }
        for (pair, texts) in asked {
            let count = texts.count();
            let mut command = Command::new(&program);
            command.args([texts.key(), pair.0, pair.1, &count.to_string()]);
            let ran = ran(&mut command, &[0]).expect("plain calls come back");
            let words: Vec<f64> =
                ran.stdout.split_whitespace().map(|word| word.parse().expect("numbers")).collect();
            kept.add(json!({
                "evidence": "clock", "link": link, "row": pair.name(), "texts": texts.key(),
                "ns": [words[0], words[1]], "wins": words[2], "of": count,
            }));
        }
    }
}

fn program(root: &Path, order: Option<u64>) -> PathBuf {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--release", "--locked"])
        .args(["-p", "deadheat-validation-evidence"])
        .current_dir(root.join("validation/articles"));
    match order {
        Some(order) => cargo.env("DEADHEAT_LINK_ORDER", order.to_string()),
        None => cargo.env_remove("DEADHEAT_LINK_ORDER"),
    };
    built_by(&mut cargo)
}

fn instructions(kept: &mut Kept, program: &Path, scratch: &Path) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return;
    }
    let file = scratch.join("callgrind.out");
    for function in ["std", "std_count", "std_count_rev", "std_5000", "std_4925"] {
        if kept.count(&[("evidence", "instructions"), ("function", function)]) > 0 {
            continue;
        }
        let [few, many] = CALLS.map(|calls| {
            let mut command = Command::new("valgrind");
            command
                .args(["--tool=callgrind", "--branch-sim=yes"])
                .arg(format!("--callgrind-out-file={}", file.display()))
                .arg(program)
                .args(["calls", function, &calls.to_string()]);
            ran(&mut command, &[0]).expect("valgrind counts");
            let text = fs::read_to_string(&file).expect("what valgrind wrote");
            totals(&text).expect("totals")
        });
        let calls = (CALLS[1] - CALLS[0]) as f64;
        let [instructions, mispredicted] = [0, 1].map(|which| (many[which] - few[which]) / calls);
        kept.add(json!({
            "evidence": "instructions", "function": function,
            "instructions": rounded(instructions), "mispredicted": rounded(mispredicted),
        }));
    }
}

fn totals(text: &str) -> Option<[f64; 2]> {
    let words = |head: &str| -> Option<Vec<String>> {
        let line = text.lines().find_map(|line| line.strip_prefix(head))?;
        Some(line.split_whitespace().map(str::to_owned).collect())
    };
    let (events, totals) = (words("events:")?, words("totals:")?);
    let of = |event: &str| {
        let place = events.iter().position(|own| own == event)?;
        totals.get(place)?.parse().ok()
    };
    Some([of("Ir")?, of("Bcm")?])
}

struct Clock {
    ns: [f64; 2],
    own: bool,
    wins: f64,
    of: f64,
}

impl Clock {
    fn ratio(&self) -> f64 {
        self.ns[1] / self.ns[0]
    }
}

fn clocks(kept: &Kept, pair: Pair, texts: Texts) -> impl Iterator<Item = Clock> {
    let name = pair.name();
    let fits = move |row: &&Value| {
        row["evidence"] == "clock" && row["row"] == *name && row["texts"] == texts.key()
    };
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    kept.rows().iter().filter(fits).map(move |row| Clock {
        ns: [number(&row["ns"][0]), number(&row["ns"][1])],
        own: row["link"] == "own",
        wins: number(&row["wins"]),
        of: number(&row["of"]),
    })
}

pub fn section(kept: &Kept) -> Section {
    let mut text = "\
## The right answers, and how they are known\n\n\
No figure in this section comes from a tool in the tables above. The right answer for each row is \
known in one of three ways:\n\n\
- The first three rows race a function against itself, so the right answer is *neither*.\n\
- `std_4925` counts 4,925 characters and `std_5000` counts 5,000 characters with the same code. So \
`std_4925` is 1.5% faster.\n\
- For the two rows that race `std_count` against another function, a small program with a plain \
clock gives the answer. The right answer is the one that this program gives in all links.\n\n\
The program reads the system clock around each call. We measured the program first as linked, and \
then in links with its functions shuffled by `lld --shuffle-sections` and a seed. The program \
calls the functions on 1,000 *new* texts and on 40 *known* texts. On each new text, each function \
has one untimed call before its timed call. On each known text, each function by itself has 200 \
untimed calls before 200 timed calls, so that the branch predictors have learned the text.\n\n\
deadheat makes a new text for every block, as the article prescribes for every run. tango and \
criterion, as used here, measure one text from beginning to end. So for deadheat, the answer on \
new texts is right, and for the other tools, the answer on known texts is right.\n\n\
The first table has the times by the program's clock. The second table has the means per call over \
eight texts: instructions, counted by Valgrind, and mispredicted branches, simulated by Valgrind. \
The columns of the first table are:\n\n\
- *second against first by the clock, own link*: the change and both times, with the program as \
linked.\n\
- *over all links*: the range of the change, and the number of links.\n\
- *second faster, own link*: the number of texts on which the second function is faster.\n\n\
| pair | texts | second against first by the clock, own link | over all links | second faster, own link | right is |\n\
| --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for pair in pairs() {
        for texts in Texts::ALL {
            let all: Vec<Clock> = clocks(kept, pair, texts).collect();
            let Some(own) = all.iter().find(|clock| clock.own) else {
                continue;
            };
            let percent = |clock: &Clock| (clock.ratio() - 1.0) * 100.0;
            let least = all.iter().map(percent).fold(f64::INFINITY, f64::min);
            let most = all.iter().map(percent).fold(f64::NEG_INFINITY, f64::max);
            let right = right(kept, pair, texts).map_or("not known yet", Right::words);
            let signed = |percent: f64| format!("{percent:+.1}").replace('-', "−");
            let _ = writeln!(
                text,
                "| {} | {} | {}% ({:.0} ns, {:.0} ns) | {} to {}% in {} | {:.0} of {:.0} | {right} |",
                pair.name(),
                texts.key(),
                signed(percent(own)),
                own.ns[0],
                own.ns[1],
                signed(least),
                signed(most),
                all.len(),
                own.wins,
                own.of,
            );
        }
    }
    text += "\n| function | instructions | mispredicted branches |\n| --- | --- | --- |\n";
    let counted: Vec<&Value> = kept.matching(&[("evidence", "instructions")]).collect();
    for row in &counted {
        let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "| `{}` | {:.0} | {:.0} |",
            row["function"].as_str().unwrap_or(""),
            number("instructions"),
            number("mispredicted"),
        );
    }
    if counted.is_empty() {
        text += "| all | – | – (no Valgrind here) |\n";
    }
    let _ = write!(text, "\n{}\n\n", of_the_directions(kept));
    Section { text, bars: Vec::new() }
}

fn of_the_directions(kept: &Kept) -> String {
    let pair = ROWS[4];
    let mut text = "`std_count_rev` counts from the end of the text, and `std_count` from its \
    beginning."
        .to_owned();
    for texts in Texts::ALL {
        let links = clocks(kept, pair, texts).count();
        let what = match right(kept, pair, texts) {
            None => "has not been measured yet".to_owned(),
            Some(Right::EitherWay) => format!(
                "is faster in some of {links} links and slower in others, which is a property of \
                 the binary and not of the source"
            ),
            Some(right) => format!(
                "is {} in all {links} links, which is a property of the source on this \
                 processor and not of the link order",
                right.words()
            ),
        };
        let _ = write!(text, " For {} texts, counting from the end {what}.", texts.key());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::kept_with;

    #[test]
    fn totals_are_found_by_the_names_of_events() {
        let text =
            "version: 1\nevents: Ir Bc Bcm Bi Bim\nsummary: 1 2 3 4 5\n\ntotals: 10 20 30 40 50\n";
        assert_eq!(totals(text), Some([10.0, 30.0]));
        assert_eq!(totals("events: Ir\ntotals: 10\n"), None);
    }

    fn clock(link: &str, ns: [f64; 2]) -> Value {
        json!({
            "evidence": "clock", "link": link, "row": "std_count / std_count_rev",
            "texts": "new", "ns": ns, "wins": 3, "of": 10,
        })
    }

    #[test]
    fn a_direction_is_right_only_if_every_link_has_it() {
        let pair = ROWS[4];
        let slower = kept_with("slower", &[clock("own", [1.0, 1.2]), clock("1", [1.0, 1.1])]);
        assert_eq!(right(&slower, pair, Texts::New), Some(Right::Slower));
        assert_eq!(right(&slower, pair, Texts::Known), None);
        let text = section(&slower).text;
        assert!(text.contains("| +20.0% (1 ns, 1 ns) | +10.0 to +20.0% in 2 | 3 of 10 | slower |"));
        assert!(text.contains("For new texts, counting from the end is slower in all 2 links"));
        let mixed = kept_with("mixed", &[clock("own", [1.0, 1.2]), clock("1", [1.0, 0.9])]);
        assert_eq!(right(&mixed, pair, Texts::New), Some(Right::EitherWay));
        assert!(section(&mixed).text.contains("a property of the binary"));
    }

    #[test]
    fn rows_of_one_function_and_of_a_known_difference_need_no_clock() {
        let nothing = kept_with("nothing", &[]);
        assert_eq!(right(&nothing, ROWS[0], Texts::New), Some(Right::NoCall));
        assert_eq!(right(&nothing, LESS, Texts::Known), Some(Right::Faster));
        assert_eq!(right(&nothing, ROWS[5], Texts::New), None);
    }

    #[test]
    fn no_call_is_wrong_where_there_is_a_difference() {
        assert!(!Right::EitherWay.holds(Call::None) && Right::EitherWay.holds(Call::Faster));
        assert!(Right::NoCall.holds(Call::None) && !Right::NoCall.holds(Call::Slower));
        assert!(Right::Faster.holds(Call::Faster) && !Right::Faster.holds(Call::Slower));
    }
}
