//! Starting a process by bare system calls, without a tool around them.

use std::ffi::CString;
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

unsafe extern "C" {
    static environ: *const *mut libc::c_char;
}

/// Which calls start the process. All of them wait for its end with `wait4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `posix_spawn`.
    Spawn,
    /// `fork`, then `execve` in the child.
    Fork,
}

struct Bare {
    program: CString,
    null: libc::c_int,
    actions: libc::posix_spawn_file_actions_t,
}

impl Bare {
    fn new(program: CString) -> Self {
        // SAFETY: the actions are initialised before they are used, and the
        // descriptor stays open for the life of the process.
        let (null, actions) = unsafe {
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
            let mut actions = std::mem::zeroed();
            libc::posix_spawn_file_actions_init(&mut actions);
            for stream in 0..3 {
                libc::posix_spawn_file_actions_adddup2(&mut actions, null, stream);
            }
            (null, actions)
        };
        Self { program, null, actions }
    }

    fn launch(&self, way: Way) {
        let argv = [self.program.as_ptr().cast_mut(), ptr::null_mut()];
        let pid = match way {
            Way::Spawn => self.spawn(&argv),
            Way::Fork => self.fork(&argv),
        };
        let mut status = 0;
        // SAFETY: both pointers are valid for writes; rusage is plain data, for
        // which zeros are valid.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::wait4(pid, &mut status, 0, &mut usage);
        }
        assert_eq!(status, 0, "{:?} succeeds", self.program);
    }

    fn spawn(&self, argv: &[*mut libc::c_char; 2]) -> libc::pid_t {
        let mut pid = 0;
        // SAFETY: all pointers are valid for the call.
        let failed = unsafe {
            libc::posix_spawn(
                &mut pid,
                self.program.as_ptr(),
                &self.actions,
                ptr::null(),
                argv.as_ptr(),
                environ,
            )
        };
        assert_eq!(failed, 0, "posix_spawn");
        pid
    }

    fn fork(&self, argv: &[*mut libc::c_char; 2]) -> libc::pid_t {
        // SAFETY: between `fork` and `execve` or `_exit` the child makes only
        // calls that are allowed in a signal handler, on memory that was made
        // before.
        unsafe {
            let pid = libc::fork();
            assert!(pid >= 0, "fork");
            if pid == 0 {
                for stream in 0..3 {
                    libc::dup2(self.null, stream);
                }
                libc::execve(self.program.as_ptr(), argv.as_ptr().cast(), environ.cast());
                libc::_exit(127);
            }
            pid
        }
    }
}

/// The bare calls on a thread of their own, which shall have what any program
/// has, however a race settles the thread that runs it. The thread takes the
/// time itself, so that handing over to it costs nothing that is counted.
pub struct BareThread {
    requests: Sender<(Way, usize)>,
    replies: Receiver<f64>,
}

impl BareThread {
    pub fn start() -> Self {
        let program = ["/bin/true", "/usr/bin/true"]
            .into_iter()
            .find(|path| std::path::Path::new(path).exists())
            .expect("there is a `true`");
        let program = CString::new(program).expect("no NUL byte");
        let (requests, inbox) = channel();
        let (outbox, replies) = channel();
        std::thread::spawn(move || {
            let bare = Bare::new(program);
            for (way, launches) in inbox {
                let start = Instant::now();
                for _ in 0..launches {
                    bare.launch(way);
                }
                let each = start.elapsed().as_secs_f64() / launches as f64 * 1e6;
                if outbox.send(each).is_err() {
                    return;
                }
            }
        });
        Self { requests, replies }
    }

    /// Microseconds of each of so many launches, one after the other.
    pub fn launches(&self, way: Way, launches: usize) -> f64 {
        let asked = self.requests.send((way, launches));
        asked.expect("the thread lives");
        self.replies.recv().expect("the thread answers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_no_launch() {
        for way in [Way::Spawn, Way::Fork] {
            let launched = |program: &std::ffi::CStr| {
                let bare = Bare::new(program.to_owned());
                std::panic::catch_unwind(|| bare.launch(way)).is_ok()
            };
            assert!(launched(c"/bin/true"), "{way:?}");
            assert!(!launched(c"/bin/false"), "{way:?}");
        }
        assert!(BareThread::start().launches(Way::Spawn, 2) > 0.0);
    }
}
