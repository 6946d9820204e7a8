//! Runs the subcommand: profiles both sides of each pair and prints the differences.

use deadheat::parts::answer::{line_to_stdout, to_stdout};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::write_text;
use deadheat::parts::report::{Glyphs, Terminal, shorten};
use deadheat::parts::terminal;
use deadheat::parts::{StatusLine, check_file};

use crate::command::ExplainArgs;
use crate::json::to_explanation_json;
use crate::page::{to_explanation_markdown, to_explanation_page, to_explanation_text};
use crate::run_count::explanation;
use crate::run_pairs::Pairs;

/// Profiles both sides of each pair, and prints the explanation.
pub fn explain(args: &ExplainArgs) -> Result<Status, Failure> {
    if let Some(page) = &args.html {
        check_file("--html", page, None)?;
    }
    let pairs = Pairs::selected_by(args)?;
    let mut line = StatusLine::new(args.quiet);
    let glyphs = Glyphs::new(terminal::speaks_unicode());
    let explanation = explanation(pairs, args.by, args.timeout, |benchmark, place, all| {
        let told = format!("counting {} of {all}: {benchmark}", place + 1);
        line.draw(|width| shorten(&told, width, glyphs));
    });
    line.finish();
    let explanation = explanation?;
    if let Some(page) = &args.html {
        write_text(page, &to_explanation_page(&explanation))
            .map_err(|error| Failure::writing("--html", error))?;
    }
    to_stdout(&if args.shape.json {
        to_explanation_json(&explanation)
    } else if args.markdown {
        to_explanation_markdown(&explanation, args.top)
    } else {
        let (width, unicode) = (terminal::width(), terminal::speaks_unicode());
        let terminal = Terminal::new(width, args.shape.in_color(), unicode);
        to_explanation_text(&explanation, args.top, terminal)
    })?;
    if let (Some(page), false) = (&args.html, args.shape.json || args.markdown) {
        line_to_stdout(&format!("  {}", page.display()))?;
    }
    Ok(Status::Done)
}
