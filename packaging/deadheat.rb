# .ci/packages replaces the words between @ signs and adds the formula to the release.
class Deadheat < Formula
  desc "Is B faster than A, by how much, and how certain is that?"
  homepage "https://github.com/deadheat/deadheat"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_intel do
    url "https://github.com/deadheat/deadheat/releases/download/v@VERSION@/deadheat-@VERSION@-x86_64-linux.tar.gz"
    sha256 "@SHA256_x86_64@"
  end

  on_arm do
    url "https://github.com/deadheat/deadheat/releases/download/v@VERSION@/deadheat-@VERSION@-aarch64-linux.tar.gz"
    sha256 "@SHA256_aarch64@"
  end

  def install
    bin.install "bin/deadheat"
    bin.install_symlink "deadheat" => "cargo-deadheat"
    include.install "include/deadheat.h"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/deadheat"
    fish_completion.install "completions/deadheat.fish"
    zsh_completion.install "completions/_deadheat"
  end

  test do
    assert_match "deadheat #{version} (", shell_output("#{bin}/deadheat --version")
    assert_match "dead heat", shell_output("#{bin}/deadheat --help")
  end
end
