//! An option that a mode ignores is refused there.

use crate::case::{Case, Found};

/// Headings of the help whose options hold in every mode.
const OF_THE_ANSWER: [&str; 4] = ["Answer", "Rules", "Files", "Reports"];

/// Options of a race, from the help itself, with a mode that takes the race from a file.
pub fn check(case: &mut Case) -> Found {
    case.race("r.jsonl", &["-r", "2"], &["true", "true "])?;
    let plan =
        ["plan", "run", "--max-replicates", "6", "--save", "plan.json", "--", "true", "true "];
    case.run(&plan, &[0])?;
    let (mode, file, heeds): (_, _, &[&str]) = match case.once_in(2) {
        true => ("--resume", "r.jsonl", &["--max-replicates", "--budget", "--placement"]),
        false => ("--plan", "plan.json", &["--shard", "--shard-by", "--timeout", "--placement"]),
    };
    let help = case.run(&["run", "--help"], &[0])?;
    let options: Vec<(String, String)> = options(&help.stdout)
        .into_iter()
        .filter(|(option, _)| !heeds.contains(&option.as_str()))
        .collect();
    let mut words = vec!["run".to_owned(), "-q".to_owned(), mode.to_owned(), file.to_owned()];
    for _ in 0..1 + case.random.index_below(2) {
        let (option, place) = options[case.random.index_below(options.len())].clone();
        let values = match option.as_str() {
            "--shard-by" => vec!["host".to_owned()],
            _ => values(case, &place),
        };
        words.push(option);
        words.extend(values);
    }
    let ended = case.run(&words, &[2])?;
    match ended.stderr.contains("cannot be used with") || ended.stderr.contains("more than once") {
        true => Ok(()),
        false => Err(format!("another reason: {}", ended.stderr)),
    }
}

/// Long options of the race, with the names of their values.
fn options(help: &str) -> Vec<(String, String)> {
    let mut of_the_answer = false;
    let mut found = Vec::new();
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            of_the_answer = OF_THE_ANSWER.contains(&heading);
        }
        let Some(at) = line.find("--").filter(|at| line[..*at].trim().len() <= 3) else {
            continue;
        };
        let (option, place) = line[at..].split_once([' ', '[']).unwrap_or((&line[at..], ""));
        let excluded = of_the_answer
            || ["--help", "--resume", "--plan", "--parameter-step-size"].contains(&option);
        if !excluded && option.len() > 3 && line.starts_with(' ') && !line.contains("deadheat ") {
            found.push((option.to_owned(), place.to_owned()));
        }
    }
    found
}

/// Valid values for an option, by the names of its values.
fn values(case: &mut Case, place: &str) -> Vec<String> {
    let number = (1 + case.random.index_below(30)).to_string();
    let values: &[&str] = match place.trim() {
        "<N>" | "<STEP>" => &[&number],
        "<CMD>" | "<NAME>" => &["true"],
        "<CHANGE>" => &["3%"],
        "<P>" => &["0.2"],
        "<METRIC>" => &["cpu"],
        "<SHARE>" => &["99%"],
        "<TIME>" => &["3s"],
        "<CORES>" => &["none"],
        "<WHERE>" => &["null"],
        "<HOW>" => &["turns"],
        "<WHICH>" => &["own"],
        "<I/N>" => &["1/2"],
        "<NAME=PATTERN>" => &["a=b"],
        "<FILE>" => &["new"],
        "<VAR> <MIN> <MAX>" => &["v", "1", "3"],
        "<VAR> <VALUES>" => &["v", "1,2"],
        "<WHAT>" => &["keep"],
        _ => &[],
    };
    values.iter().map(|value| (*value).to_owned()).collect()
}
