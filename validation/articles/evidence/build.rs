//! Links the program as somebody's linker happened to: its functions in the
//! order of a seed, aligned as their compilers left them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DEADHEAT_LINK_ORDER");
    if let Ok(order) = std::env::var("DEADHEAT_LINK_ORDER") {
        println!("cargo::rustc-link-arg-bins=-fuse-ld=lld");
        println!("cargo::rustc-link-arg-bins=-Wl,--shuffle-sections=.text*={order}");
    }
}
