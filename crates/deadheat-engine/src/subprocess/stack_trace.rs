//! Removes stack traces from a standard error: a program prints its message before the trace, so
//! the last lines would be frames.

/// Returns the lines of a text without stack traces and empty lines. If only stack traces are left,
/// returns all lines that are not empty.
pub(crate) fn without_stack_traces(text: &str) -> Vec<&str> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    // A Go program that panics prints its goroutines last.
    let of_go = |line: &str| line.starts_with("goroutine ") && line.ends_with("]:");
    let kept: Vec<&str> = lines()
        .take_while(|line| !of_go(line))
        .filter(|line| !is_of_trace(line))
        .collect();
    match kept.is_empty() {
        true => lines().collect(),
        false => kept,
    }
}

/// Returns true for a line that a runtime prints in or around a stack trace: of Rust, Java,
/// JavaScript, .NET or a sanitizer.
fn is_of_trace(line: &str) -> bool {
    let text = line.trim_start();
    let is_indented = text.len() < line.len();
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = |text: &str, behind: &str| {
        let digits = number(text);
        digits > 0 && text[digits..].starts_with(behind)
    };
    text == "stack backtrace:"
        || text.starts_with("note: run with `RUST_BACKTRACE")
        || text.starts_with("note: Some details are omitted, run with `RUST_BACKTRACE")
        || is_indented && text.starts_with("at ")
        || is_indented && text.starts_with("... ") && text.ends_with(" more")
        || is_indented && is_numbered(text, ": ")
        || is_indented
            && text
                .strip_prefix('#')
                .is_some_and(|frame| is_numbered(frame, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_message_in_front_of_a_stack_trace() {
        for (text, kept) in [
            (
                "thread 'main' (7) panicked at src/main.rs:2:5:\nout of luck\nstack backtrace:\n   0: \
                 __rustc::rust_begin_unwind\n             at /rustc/1/library/std/src/panicking.rs:698:5\n  \
                 12: main\nnote: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose \
                 backtrace.\n",
                "thread 'main' (7) panicked at src/main.rs:2:5:|out of luck",
            ),
            (
                "out of luck\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                "out of luck",
            ),
            (
                "panic: out of luck\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:3 +0x25\nexit status 2\n",
                "panic: out of luck",
            ),
            (
                "Exception in thread \"main\" java.lang.Error: out of luck\n\tat X.main(X.java:3)\n\t... 7 more\n",
                "Exception in thread \"main\" java.lang.Error: out of luck",
            ),
            (
                "Error: out of luck\n    at main (x.js:1:7)\n    at node:internal/main:23:47\n",
                "Error: out of luck",
            ),
            (
                "==7==ERROR: AddressSanitizer: heap-use-after-free\n    #0 0x4f in main x.c:3\nSUMMARY: x.c:3\n",
                "==7==ERROR: AddressSanitizer: heap-use-after-free|SUMMARY: x.c:3",
            ),
        ] {
            assert_eq!(without_stack_traces(text).join("|"), kept);
        }
    }

    #[test]
    fn keeps_lines_that_only_resemble_a_stack_trace() {
        for text in [
            "3: no such file",
            "at line 7",
            "#4 failed",
            "goroutine 7 hangs",
        ] {
            assert_eq!(without_stack_traces(text), [text]);
        }
        // If the text that was kept has only a trace, that is better than nothing.
        assert_eq!(without_stack_traces("   7: main\n\n   8: start\n").len(), 2);
    }
}
