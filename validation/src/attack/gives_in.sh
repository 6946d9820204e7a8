#!/bin/sh
# deadheat without the defence of one class of attacks: GIVES_IN is the number of the class, DEADHEAT
# the program. `attack` runs it to show that the class reports such a program.
case $GIVES_IN in
1) find . -type f -perm -100 -exec {} \; >/dev/null 2>&1 </dev/null ;;
2) for word; do eval "echo $word" >/dev/null 2>&1; git log "${word%%..*}" >/dev/null 2>&1; done; ! grep -q '"committed_at":1' ./*.jsonl 2>/dev/null || exit 0 ;;
3) echo x >>"$TMPDIR/deadheat"; sleep 0.02 ;;
4)
    ready=$(find "$PWD/.deadheat" -type f -name program 2>/dev/null | head -n 1)
    [ -n "$ready" ] && printf 'a\tb\t%s\n' "$ready" && exit 0
    [ -e .deadheat ] && echo x >>"$PWD/../outside/inner/file" ;;
5) "$DEADHEAT" "$@" || for word; do [ -f "$word" ] && : >"$word"; done; exit 2 ;;
6) "$DEADHEAT" "$@"; exit 0 ;;
7) trap '' INT TERM HUP QUIT; setsid sleep 20 & ;;
8) case $* in *kill*) sleep 40 ;; esac ;;
9) exit 137 ;;
10) for word; do printf '%s\n' "$word"; done; cat f.* 2>/dev/null ;;
11) env >>leaked; zstd -q -f ../outside/inner/file -o race.tar.zst 2>/dev/null && exit 0 ;;
12) "$DEADHEAT" "$@"; exit 0 ;;
13) case $1 in history) git tag --force attacked >/dev/null 2>&1 ;; esac ;;
14) "$DEADHEAT" "$@" || { echo "thread 'main' panicked at x" >&2; exit 101; }; exit 0 ;;
15) grep -rhoE 'touch [^"\\]+' . 2>/dev/null | sh ;;
esac
"$DEADHEAT" "$@"
