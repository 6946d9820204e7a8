// When a chart is drawn, and what one can do with it: point at it, zoom, hide
// parts, read its numbers.
"use strict";

// What every chart shows.
const figures = { ...series, ...shapes };

const drawing = (() => {
  const root = document.documentElement;
  const COLOURS = "paper raised ink quiet line margin baseline candidate first second drift slower inconclusive".split(" ");
  const ROWS = 1000;
  const drawn = new Map();
  const parsed = new Map();

  // The colours of the page as they are now.
  const look = () => {
    const probe = document.createElement("span");
    document.body.append(probe);
    const colours = {};
    for (const name of COLOURS) {
      probe.style.color = `var(--${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    return colours;
  };

  const dataOf = (figure) => {
    const id = `d${figure.dataset.of}`;
    if (!parsed.has(id)) parsed.set(id, JSON.parse(document.getElementById(id).textContent));
    return parsed.get(id);
  };

  const narrow = () => matchMedia("(max-width: 640px)").matches;

  const axis = (shape, colours, vertical) => {
    const text = { color: colours.quiet, fontSize: 11.5 };
    const common = {
      axisLine: { show: !vertical, lineStyle: { color: colours.quiet } },
      axisTick: { show: !vertical, lineStyle: { color: colours.quiet } },
      axisLabel: text,
      splitLine: { show: vertical, lineStyle: { color: colours.line } },
    };
    if (shape.categories) {
      return { ...common, type: "category", inverse: true, data: shape.categories, axisTick: { show: false }, splitLine: { show: false } };
    }
    const label = vertical ? shape.format : (value) => shape.format(value).replace(/ [^ ]*$/, "");
    return {
      ...common,
      type: "value",
      min: shape.whole[0],
      max: shape.whole[1],
      minInterval: shape.whole_numbers ? 1 : 0,
      name: vertical ? undefined : shape.name,
      nameLocation: "middle",
      nameGap: 26,
      nameTextStyle: text,
      splitNumber: narrow() ? 4 : 6,
      axisLabel: { ...text, hideOverlap: true, showMinLabel: Boolean(shape.ends), showMaxLabel: shape.whole[1] === 100 && Boolean(shape.ends), formatter: label },
    };
  };

  const option = (chart, state, colours) => {
    const coarse = matchMedia("(pointer: coarse)").matches;
    const inside = (target, window) => ({
      type: "inside",
      ...target,
      filterMode: "none",
      startValue: window[0],
      endValue: window[1],
      minSpan: 0.05,
      zoomOnMouseWheel: "ctrl",
      moveOnMouseMove: !coarse,
      preventDefaultMouseMove: !coarse,
    });
    const zooms = [inside({ xAxisIndex: 0 }, state.x)];
    if (!chart.y.categories) zooms.push(inside({ yAxisIndex: 0 }, state.y));
    if (chart.slider) {
      zooms.push({
        type: "slider",
        xAxisIndex: 0,
        filterMode: "none",
        startValue: state.x[0],
        endValue: state.x[1],
        height: 16,
        bottom: 4,
        showDetail: false,
        showDataShadow: false,
        brushSelect: false,
        borderColor: colours.line,
        backgroundColor: "transparent",
        fillerColor: colours.margin,
        handleStyle: { color: colours.raised, borderColor: colours.quiet },
        moveHandleStyle: { color: colours.line },
      });
    }
    return {
      animation: false,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colours.ink },
      grid: { left: 8, right: 14, top: 10, bottom: chart.slider ? 52 : 28, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
      tooltip: {
        trigger: chart.along ? "axis" : "item",
        confine: true,
        transitionDuration: 0,
        backgroundColor: colours.raised,
        borderColor: colours.line,
        textStyle: { color: colours.ink, fontSize: 12.5 },
        axisPointer: { type: "line", lineStyle: { color: colours.quiet } },
        formatter: chart.along
          ? (points) => chart.along(points[0].axisValue, points.map((point) => ({ name: point.seriesName, y: point.data[1] })))
          : undefined,
      },
      xAxis: axis(chart.x, colours, false),
      yAxis: axis(chart.y, colours, true),
      dataZoom: zooms,
      series: chart.series
        .filter((series) => !state.hidden.has(series.key))
        .map(({ key, ...series }) => ({ emphasis: { disabled: true }, name: key, ...series })),
    };
  };

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // A small picture of how a part is drawn.
  const keyOf = ({ color, shape, dash }) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const make = (name, attributes) => {
      const part = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [attribute, value] of Object.entries(attributes)) part.setAttribute(attribute, value);
      svg.append(part);
    };
    svg.setAttribute("viewBox", "0 0 10 10");
    svg.setAttribute("class", "key");
    svg.setAttribute("aria-hidden", "true");
    const stroke = { fill: "none", stroke: color, "stroke-width": 2 };
    if (shape === "line") make("path", { d: "M0 5h10", ...stroke, "stroke-dasharray": (dash ?? []).map((part) => part / 2).join(" ") });
    else if (shape === "step") make("path", { d: "M0 8h3V3h4v5h3", ...stroke, "stroke-width": 1.5 });
    else if (shape === "cross") make("path", { d: "M1 1l8 8M9 1l-8 8", ...stroke });
    else if (shape === "square") make("rect", { width: 10, height: 10, fill: color, opacity: 0.5 });
    else if (shape === "triangle") make("path", { d: "M5 0l5 10H0z", fill: color });
    else if (shape === "diamond") make("path", { d: "M5 0l5 5-5 5-5-5z", fill: color });
    else make("circle", { cx: 5, cy: 5, r: 4, fill: color });
    return svg;
  };

  // How many points the window leaves out, and how many of them were dropped
  // from the estimate: what was set aside should not be out of sight as well.
  const clipped = ({ chart, state }) => {
    const [ys, xs] = chart.points;
    let [count, dropped] = [0, 0];
    (xs ?? ys).forEach((_, index) => {
      const outside = (values, window) => values && (values[index] < window[0] || values[index] > window[1]);
      if (!outside(ys, state.y) && !outside(xs, state.x)) return;
      count += 1;
      if (chart.dropped?.has(index)) dropped += 1;
    });
    return { count, dropped };
  };

  const tools = (entry) => {
    const { figure, chart, state } = entry;
    const bar = element("div", { className: "tools" });
    const toggles = chart.keys.length > 1;
    for (const key of chart.keys) {
      const part = toggles
        ? element("button", { type: "button", ariaPressed: String(!state.hidden.has(key.name)) }, keyOf(key), key.name)
        : element("span", { className: "plain-key" }, keyOf(key), key.name);
      part.dataset.key = key.name;
      if (toggles) {
        part.addEventListener("click", () => {
          if (!state.hidden.delete(key.name)) state.hidden.add(key.name);
          part.ariaPressed = String(!state.hidden.has(key.name));
          paint(entry);
        });
      }
      bar.append(part);
    }
    bar.append(element("span", { className: "spring" }));
    const outside = element("span", { className: "clipped" });
    bar.append(outside);
    const say = () => {
      const { count, dropped } = clipped(entry);
      const among = dropped ? `, ${dropped} of them dropped` : "";
      outside.textContent = count ? `${count} outside the view${among}` : "";
      everything.hidden = !count && !state.zoomed;
      everything.textContent = state.zoomed && !count ? "Reset" : "Show all";
    };
    const zoom = (factor) => () => {
      for (const side of ["x", "y"]) {
        if (side === "y" && (chart.y.categories || chart.slider)) continue;
        const [low, high] = state[side];
        const [least, most] = chart[side].whole;
        const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor];
        state[side] = [Math.max(least, middle - half), Math.min(most, middle + half)];
      }
      state.zoomed = true;
      paint(entry);
    };
    const button = (text, label, act) => {
      const made = element("button", { type: "button", ariaLabel: label, title: label }, text);
      made.addEventListener("click", act);
      bar.append(made);
      return made;
    };
    const title = figure.querySelector("h5").textContent;
    const into = button("+", `Zoom into ${title}`, zoom(0.5));
    const out = button("−", `Zoom out of ${title}`, zoom(2));
    for (const made of [into, out]) {
      made.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -0.25, ArrowRight: 0.25 }[event.key];
        if (!step) return;
        event.preventDefault();
        const [low, high] = state.x;
        const [least, most] = chart.x.whole;
        const move = Math.min(Math.max(step * (high - low), least - low), most - high);
        state.x = [low + move, high + move];
        state.zoomed = true;
        paint(entry);
      });
    }
    const everything = button("Show all", `Show all of ${title}`, () => {
      const all = clipped(entry).count > 0;
      for (const side of ["x", "y"]) state[side] = chart[side][all ? "whole" : "window"];
      state.zoomed = all;
      paint(entry);
    });
    entry.say = say;
    return bar;
  };

  // The numbers of a chart, for those who cannot see it or want to have them.
  const numbers = (chart, title) => {
    const fold = element("details", {}, element("summary", {}, "As numbers"));
    fold.addEventListener("toggle", () => {
      if (fold.childElementCount > 1) return;
      const { header, rows } = chart.rows;
      const table = element("table", { className: "plain" });
      const head = element("tr");
      for (const cell of header) head.append(element("th", { scope: "col" }, cell));
      table.append(element("thead", {}, head));
      const body = element("tbody");
      for (const row of rows.slice(0, ROWS)) {
        const line = element("tr");
        row.forEach((cell) => line.append(element("td", {}, String(cell))));
        body.append(line);
      }
      table.append(body);
      const scroll = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `Numbers of ${title}` }, table);
      fold.append(scroll);
      if (rows.length > ROWS) fold.append(element("p", { className: "quiet" }, `The first ${ROWS} of ${rows.length}.`));
    });
    return fold;
  };

  const paint = (entry) => {
    entry.echart.setOption(option(entry.chart, entry.state, entry.colours), true);
    entry.say();
  };

  const draw = (figure, colours) => {
    if (drawn.has(figure)) return;
    const kind = figure.dataset.chart;
    const chart = figures[kind](dataOf(figure), colours);
    const place = figure.querySelector(".plot");
    const hidden = new Set(chart.keys.map((key) => key.name).filter((name) => /^(normal|Gumbel) fit$/.test(name)));
    const state = { hidden, x: chart.x.window, y: chart.y.window, zoomed: false };
    const entry = { figure, chart, state, colours, place };
    entry.echart = charts.init(place, null, { renderer: "canvas" });
    drawn.set(figure, entry);
    const title = figure.querySelector("h5").textContent;
    place.before(tools(entry));
    figure.append(numbers(chart, title));
    paint(entry);
    // Where mouse and fingers have zoomed to.
    entry.echart.on("datazoom", () => {
      const zooms = entry.echart.getOption().dataZoom;
      state.x = [zooms[0].startValue, zooms[0].endValue];
      if (!chart.y.categories) state.y = [zooms[1].startValue, zooms[1].endValue];
      state.zoomed = true;
      entry.say();
    });
    sizes.observe(place);
    figure.dataset.drawn = "true";
  };

  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (contentRect.width) drawn.get(target.closest("figure"))?.echart.resize();
    }
  });

  const views = new IntersectionObserver(
    (entries) => {
      const seen = entries.filter((entry) => entry.isIntersecting);
      if (!seen.length) return;
      const colours = look();
      for (const { target } of seen) {
        views.unobserve(target);
        draw(target, colours);
      }
    },
    { rootMargin: "300px" },
  );

  const watch = (section) => section.querySelectorAll("figure[data-chart]").forEach((figure) => views.observe(figure));

  // Everything drawn again, in the colours of now.
  const repaint = () => {
    const colours = look();
    for (const entry of drawn.values()) {
      entry.colours = colours;
      entry.chart = figures[entry.figure.dataset.chart](dataOf(entry.figure), colours);
      paint(entry);
    }
  };

  // What is no longer open gives back its canvases.
  const leave = (section) => {
    for (const figure of section.querySelectorAll("figure[data-chart]")) {
      views.unobserve(figure);
      const entry = drawn.get(figure);
      if (!entry) continue;
      sizes.unobserve(entry.place);
      entry.echart.dispose();
      figure.querySelector(".tools").remove();
      figure.querySelector("details").remove();
      delete figure.dataset.drawn;
      drawn.delete(figure);
    }
  };

  // On paper lines are drawn as lines, and in colours for white.
  const papers = [];
  addEventListener("beforeprint", () => {
    const before = root.style.colorScheme;
    root.style.colorScheme = "light";
    const colours = look();
    root.style.colorScheme = before;
    document.querySelectorAll("section.benchmark.open figure[data-chart]").forEach((figure) => draw(figure, colours));
    for (const entry of drawn.values()) {
      const { place } = entry;
      // About as wide as it will be, so that letters come out as large as others.
      const most = entry.chart.slider ? 720 : 400;
      const width = Math.min(place.clientWidth, most);
      const height = entry.chart.slider ? 240 : 230;
      const paper = element("div", { className: "paper" });
      paper.style.cssText = `width:${width}px;height:${height}px`;
      document.body.append(paper);
      const echart = charts.init(paper, null, { renderer: "svg", width, height });
      const chart = figures[entry.figure.dataset.chart](dataOf(entry.figure), colours);
      echart.setOption(option({ ...chart, slider: false }, entry.state, colours));
      const svg = paper.querySelector("svg").cloneNode(true);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.removeAttribute("width");
      svg.removeAttribute("height");
      svg.setAttribute("class", "on-paper");
      echart.dispose();
      paper.remove();
      place.append(svg);
      papers.push(svg);
    }
  });
  addEventListener("afterprint", () => papers.splice(0).forEach((svg) => svg.remove()));

  return { watch, leave, repaint };
})();
