// Scripts run: of the benchmarks one will be open, and the others need no room
// while the page is read.
"use strict";

document.documentElement.classList.add("js");
