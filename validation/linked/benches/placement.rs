//! The races of placement: a bench target like anybody's.

fn main() {
    deadheat::main(deadheat_validation_kernels::register);
}
