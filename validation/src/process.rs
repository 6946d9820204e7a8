//! A whole process, measured from outside by the system's own account.

use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Seconds from launch to end.
    pub wall: f64,
    /// Seconds of CPU time, of the process and all it waited for.
    pub cpu: f64,
    /// Largest resident set of the process or one of its children, MiB.
    pub peak_mib: f64,
}

pub fn cost(program: &str, args: &[&str]) -> Cost {
    let start = Instant::now();
    #[allow(clippy::zombie_processes, reason = "waited for by wait4 below")]
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut status = 0;
    // SAFETY: rusage is plain data for which zeros are valid; both pointers
    // are valid for writes and the child is ours.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage);
        usage
    };
    let wall = start.elapsed().as_secs_f64();
    assert_eq!(status, 0, "{program} {args:?} failed");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Cost {
        wall,
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak_mib: usage.ru_maxrss as f64 / 1024.0,
    }
}

pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

pub fn ratio(left: &[f64], right: &[f64]) -> String {
    let ratios: Vec<f64> = left.iter().zip(right).map(|(l, r)| l / r).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    format!("{:.3} ({least:.2} to {most:.2})", median(ratios))
}
