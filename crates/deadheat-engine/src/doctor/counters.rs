//! Whether hardware counters may be read.

use deadheat_model::doctor::{Facts, Refused};

use super::root::Root;
use crate::counters::Counters;

/// The setting of the kernel, and what came of trying: settings do not know
/// of sandboxes, nor of machines without counters.
pub(super) fn counters(root: &Root) -> Facts {
    Facts::Counters {
        paranoid: root.number("proc/sys/kernel/perf_event_paranoid"),
        refused: Counters::open().err().map(|error| refused(&error)),
    }
}

fn refused(error: &std::io::Error) -> Refused {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => Refused::NotPermitted,
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => Refused::NotThere,
        Some(libc::ENOSYS) => Refused::NotBuilt,
        _ => Refused::Other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::fake::machine;
    use super::*;

    #[test]
    fn what_refuses_them_is_told_apart() {
        let of = |errno| refused(&std::io::Error::from_raw_os_error(errno));
        assert_eq!(of(libc::EACCES), Refused::NotPermitted);
        assert_eq!(of(libc::ENOENT), Refused::NotThere);
        assert_eq!(of(libc::ENOSYS), Refused::NotBuilt);
        assert!(matches!(of(libc::EMFILE), Refused::Other(_)));
    }

    #[test]
    fn the_setting_is_read_and_the_counters_are_tried() {
        let (_folder, root) = machine(&[("proc/sys/kernel/perf_event_paranoid", "-1\n")]);
        let Facts::Counters { paranoid, refused } = counters(&root) else {
            panic!("they are about counters");
        };
        assert_eq!(paranoid, Some(-1));
        assert_eq!(refused.is_none(), Counters::open().is_ok());
    }
}
