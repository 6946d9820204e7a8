// What happens when one clicks: light and dark, sorting, filters, and the one
// benchmark that is open. Runs when the first benchmark is there, whose charts
// need not wait for the others.
"use strict";

(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Light, dark, or as the reader's system has it.
  const themes = ["automatic", "light", "dark"];
  const button = byId("theme");
  const stored = () => {
    try {
      return localStorage.getItem("deadheat-theme");
    } catch {
      return null; // A page opened from a file may have no storage.
    }
  };
  let theme = themes.includes(stored()) ? stored() : "automatic";
  const dress = () => {
    root.style.colorScheme = theme === "automatic" ? "" : theme;
    root.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    drawing.repaint();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem("deadheat-theme", theme);
    } catch {
      // It holds for as long as the page is open.
    }
    dress();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawing.repaint());

  // The overview: filters.
  const table = byId("overview");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const filter = byId("filter");
  const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
  const shows = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = document.querySelector("#verdicts input:checked").value;
    let count = 0;
    rows.forEach((row, index) => {
      const fits =
        (!verdict || row.dataset.verdict === verdict) && words.every((word) => names[index].includes(word));
      row.hidden = !fits;
      count += fits;
    });
    byId("shown").textContent =
      count === rows.length ? `${count} rows shown` : `${count} of ${rows.length} rows shown`;
    near();
  };
  if (filter) {
    document.querySelector(".filters").hidden = false;
    filter.addEventListener("input", shows);
    byId("verdicts").addEventListener("change", shows);
    filter.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && filter.value) {
        event.preventDefault();
        filter.value = "";
        shows();
      }
    });
  }

  // The overview: order. A third click brings back that of the run.
  const collator = new Intl.Collator("en", { numeric: true });
  const headings = all("thead th", table);
  const keyed = (row, column) => {
    const cell = row.cells[column];
    if (!cell || cell.colSpan > 1) return null;
    if (cell.dataset.sort === undefined) return column < 2 || cell.className === "who" ? cell.textContent : null;
    return Number(cell.dataset.sort);
  };
  const sort = (column) => {
    const heading = headings[column];
    const next = { none: "ascending", ascending: "descending", descending: "none" }[heading.ariaSort ?? "none"];
    headings.forEach((other) => other.setAttribute("aria-sort", other === heading ? next : "none"));
    const sign = next === "descending" ? -1 : 1;
    const order = (row) => Number(row.dataset.order);
    const keys = new Map(rows.map((row) => [row, keyed(row, column)]));
    const sorted = [...rows].sort((a, b) => {
      if (next === "none") return order(a) - order(b);
      const [x, y] = [keys.get(a), keys.get(b)];
      // What has no value stands last, either way.
      if (x === null || y === null) return (x === null) - (y === null) || order(a) - order(b);
      const way = typeof x === "number" ? x - y : collator.compare(x, y);
      return sign * way || order(a) - order(b);
    });
    body.append(...sorted);
    near();
  };
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => sort(column));
  });

  // Benchmarks: one is open.
  const several = new Set(rows.map((row) => row.dataset.index).filter(Boolean)).size > 1;
  let open = null;
  const rowOf = (index) => rows.find((row) => row.dataset.index === index);
  const fill = (section) => {
    const [text, place] = section.querySelectorAll(".body");
    if (place.childElementCount) return drawing.watch(section);
    place.innerHTML = text.textContent;
    if (several) {
      const bar = document.createElement("nav");
      bar.className = "near";
      bar.setAttribute("aria-label", "Other benchmarks");
      bar.innerHTML =
        '<button type="button" data-step="-1">← Previous</button><button type="button" data-step="1">Next →</button><a href="#overview">Overview</a>';
      bar.addEventListener("click", (event) => {
        const step = event.target.dataset.step;
        if (step) location.hash = neighbour(Number(step));
      });
      place.prepend(bar);
    }
    drawing.watch(section);
  };
  const show = (section) => {
    if (open === section) return;
    const before = open;
    open = section;
    if (before) {
      before.classList.remove("open");
      before.querySelector("details").open = false;
      drawing.leave(before);
      rows.forEach((row) => row.classList.remove("chosen"));
    }
    root.classList.toggle("open-any", Boolean(section));
    if (!section) return;
    fill(section);
    section.classList.add("open");
    section.querySelector("details").open = true;
    rows.filter((row) => row.dataset.index === section.dataset.index).forEach((row) => row.classList.add("chosen"));
    near();
  };
  const closes = (section) => {
    section.querySelector("details").addEventListener("toggle", (event) => {
      if (event.target.open) return;
      if (open === section && several) {
        show(null);
        history.replaceState(null, "", location.pathname + location.search);
        rowOf(section.dataset.index)?.querySelector("a")?.focus();
      }
    });
  };

  // The benchmarks before and after the open one, as the overview has them.
  const neighbour = (step) => {
    const shown = [...body.rows].filter((row) => !row.hidden && row.dataset.index);
    const indices = [...new Set(shown.map((row) => row.dataset.index))];
    const at = indices.indexOf(open?.dataset.index);
    const index = at < 0 ? indices[0] : indices[at + step];
    return index === undefined ? "" : `#b${index}`;
  };
  const near = () => {
    open?.querySelectorAll(".near button").forEach((button) => {
      button.disabled = !neighbour(Number(button.dataset.step));
    });
  };

  let placed = null;
  const named = () => /^#b\d+/.exec(location.hash)?.[0].slice(1);
  const follow = () => {
    if (!/^#b(\d+)(?:-\d+)?$/.test(location.hash)) return;
    const section = byId(named());
    if (!section) return;
    show(section);
    (document.querySelector(location.hash) ?? section).scrollIntoView();
    section.querySelector("summary").focus({ preventScroll: true });
    placed = scrollY;
  };
  addEventListener("hashchange", follow);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-index]");
    if (!row || event.target.closest("a, button") || String(getSelection())) return;
    const hash = row.querySelector("a").getAttribute("href");
    if (location.hash === hash) follow();
    else location.hash = hash;
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.closest("th.name a")) return;
    const shown = [...body.rows].filter((row) => !row.hidden && row.dataset.index);
    const next = shown[shown.indexOf(event.target.closest("tr")) + step];
    if (!next) return;
    event.preventDefault();
    next.querySelector("a").focus();
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !open) return;
    const row = rowOf(open.dataset.index);
    if (!open.contains(document.activeElement) || !row) return;
    row.querySelector("a").focus();
    row.scrollIntoView({ block: "center" });
  });

  // The command that runs the race again.
  const copies = (copy) => {
    if (!copy || !navigator.clipboard) return;
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(copy.dataset.copy);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(byId("command"));
        copy.textContent = "Selected";
      }
      setTimeout(() => (copy.textContent = "Copy"), 2000);
    });
  };

  dress();
  // A benchmark that the address names may be yet to come.
  const first = document.querySelector("section.benchmark");
  const waits = several && named() && !byId(named());
  if (first && !waits) show(first);
  follow();
  addEventListener("DOMContentLoaded", () => {
    all("section.benchmark").forEach(closes);
    copies(byId("copy"));
    if (waits && !open) show(first);
    // Below the benchmark there is more to scroll by now, if nobody has moved on.
    if (waits || scrollY === placed) follow();
  });
})();
