// What each chart shows, from the data beside its benchmark. Nothing is worked
// out here but where things stand.
"use strict";

const figures = (() => {
  // Columns, as the page packs them.
  const numbers = (column) => (column ? column.split(" ").map(Number) : []);
  const unpacked = (column) => {
    const [middle, step, ...steps] = numbers(column);
    return steps.map((count) => middle + count * step);
  };
  const risen = (column) => {
    let last = 0;
    return numbers(column).map((step) => (last += step));
  };
  const percent = (theta) => Math.expm1(theta) * 100;

  const digits = (value) => {
    const text = Number(value.toPrecision(5)).toString();
    return text.replace("-", "−");
  };
  const signed = (value) => (value > 0 ? "+" : "") + digits(value);
  const change = (value) => `${signed(Number(value.toPrecision(4)))} %`;

  // Where most values are, so that a few far ones do not press the others flat.
  const bulk = (values, also = []) => {
    if (!values.length) return [0, 1];
    const sorted = Float64Array.from(values).sort();
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    const reach = 4 * (at(0.75) - at(0.25)) || at(0.98) - at(0.02);
    let low = Math.max(sorted[0], at(0.25) - reach);
    let high = Math.min(sorted[sorted.length - 1], at(0.75) + reach);
    low = Math.min(low, ...also);
    high = Math.max(high, ...also);
    const room = 0.06 * (high - low) || Math.abs(high) * 0.01 || 1;
    return [low - room, high + room];
  };
  const whole = (values, window) => {
    let [low, high] = window;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const room = 0.03 * (high - low);
    return [low < window[0] ? low - room : low, high > window[1] ? high + room : high];
  };
  const axis = (name, values, format, also) => {
    const window = bulk(values, also);
    return { name, format, window, whole: whole(values, window) };
  };

  const evidence = (bits) =>
    [bits & 1 && "preempted", bits & 2 && "migrated"].filter(Boolean).join(" and ");

  // The margin and the interval as bands, zero and the estimate as lines.
  const bands = (data, look, withInterval = true) => {
    const [low, high] = [percent(Math.log1p(-data.margin)), percent(Math.log1p(data.margin))];
    const estimate = (data.estimate ?? []).map(percent);
    const areas = [[{ yAxis: low, itemStyle: { color: look.margin, opacity: 0.75 } }, { yAxis: high }]];
    const lines = [{ yAxis: 0, lineStyle: { color: look.quiet, type: "solid", width: 1 } }];
    if (withInterval && estimate.length) {
      if (estimate.length > 1) {
        areas.push([{ yAxis: estimate[1], itemStyle: { color: look.candidate, opacity: 0.2 } }, { yAxis: estimate[2] }]);
      }
      lines.push({ yAxis: estimate[0], lineStyle: { color: look.candidate, type: "dashed", width: 1.4 } });
    }
    return {
      type: "line",
      data: [],
      silent: true,
      markArea: { silent: true, data: areas },
      markLine: { silent: true, symbol: "none", animation: false, label: { show: false }, data: lines },
    };
  };
  // What a window of changes must hold: zero and the interval, and the margin
  // where it is not many times as wide as all the rest.
  const must = (data, values) => {
    const also = [0, ...(data.estimate ?? []).map(percent)];
    const [low, high] = bulk(values, also);
    const margin = data.margin * 100;
    return margin < 1.2 * (high - low) ? [...also, -margin, margin] : also;
  };

  const differences = (data, look) => {
    const series = data.differences;
    const position = risen(series.position);
    const replicate = risen(series.replicate);
    const block = risen(series.block);
    const effect = unpacked(series.effect).map(percent);
    const marked = new Map(series.marked.map(([index, ...rest]) => [index, rest]));
    const groups = { plain: [], kept: [], dropped: [] };
    effect.forEach((value, index) => {
      const mark = marked.get(index);
      const group = !mark ? "plain" : mark[2] ? "dropped" : "kept";
      groups[group].push([position[index] + 1, value, index]);
    });
    const describe = (index) => {
      const mark = marked.get(index);
      const lines = [`<b>${change(effect[index])}</b>`];
      lines.push(`replicate ${replicate[index] + 1}, block ${block[index] + 1}`);
      lines.push(series.order[index] === "1" ? "the baseline ran first" : "the candidate ran first");
      if (mark) {
        if (mark[0]) lines.push(`the baseline was ${evidence(mark[0])}`);
        if (mark[1]) lines.push(`the candidate was ${evidence(mark[1])}`);
        lines.push(mark[2] ? "<b>dropped</b>, not in the estimate" : "kept in the estimate");
      }
      return lines.join("<br>");
    };
    const tooltip = { formatter: (point) => describe(point.data[2]) };
    const cross = "path://M0,0L1,1L9,9L10,10M10,0L0,10";
    const drift = risen(series.drift[0]);
    const all = [
      bands(data, look),
      {
        key: "blocks",
        type: "scatter",
        symbolSize: effect.length > 600 ? 4 : 6,
        itemStyle: { color: look.baseline, opacity: effect.length > 600 ? 0.5 : 0.7 },
        data: groups.plain,
        tooltip,
      },
    ];
    const keys = [{ name: "blocks", color: look.baseline }];
    if (groups.kept.length) {
      keys.push({ name: "disturbed, kept", color: look.inconclusive, shape: "diamond" });
      all.push({
        key: "disturbed, kept",
        type: "scatter",
        symbol: "diamond",
        symbolSize: 9,
        itemStyle: { color: look.inconclusive },
        data: groups.kept,
        tooltip,
      });
    }
    if (groups.dropped.length) {
      keys.push({ name: "dropped", color: look.slower, shape: "cross" });
      all.push({
        key: "dropped",
        type: "scatter",
        symbol: cross,
        symbolSize: 8,
        itemStyle: { color: "transparent", borderColor: look.slower, borderWidth: 1.8 },
        data: groups.dropped,
        tooltip,
      });
    }
    if (drift.length) {
      keys.push({ name: "running median", color: look.drift, shape: "line" });
      const medians = unpacked(series.drift[1]).map(percent);
      all.push({
        key: "running median",
        type: "line",
        symbol: "none",
        lineStyle: { color: look.drift, width: 2 },
        itemStyle: { color: look.drift },
        data: drift.map((at, index) => [at + 1, medians[index]]),
        z: 4,
        silent: true,
      });
    }
    const starts = risen(series.starts).slice(1);
    if (starts.length && starts.length <= 300) {
      keys.push({ name: "new replicate", color: look.quiet, shape: "line" });
      all.push({
        key: "new replicate",
        type: "line",
        data: [],
        silent: true,
        markLine: {
          silent: true,
          symbol: "none",
          animation: false,
          label: { show: false },
          lineStyle: { color: look.quiet, type: "solid", width: 1, opacity: starts.length > 60 ? 0.25 : 0.45 },
          data: starts.map((at) => ({ xAxis: at + 0.5 })),
        },
      });
    }
    return {
      x: { name: "block, in the order run", window: [0, series.blocks + 1], whole: [0, series.blocks + 1], format: String, whole_numbers: true },
      y: axis("change", effect, change, must(data, effect)),
      series: all,
      keys,
      points: [effect, position.map((at) => at + 1)],
      slider: true,
      rows: {
        header: ["replicate", "block", "first", "change", "evidence"],
        rows: effect.map((value, index) => {
          const mark = marked.get(index);
          const told = mark
            ? [mark[0] && `baseline ${evidence(mark[0])}`, mark[1] && `candidate ${evidence(mark[1])}`, mark[2] ? "dropped" : "kept"]
            : [];
          return [
            replicate[index] + 1,
            block[index] + 1,
            series.order[index] === "1" ? "baseline" : "candidate",
            change(value),
            told.filter(Boolean).join(", "),
          ];
        }),
      },
    };
  };

  const quantity = (data) => (value) => `${digits(value)}${data.unit && ` ${data.unit}`}`;
  const measured = (data) => (data.unit ? `${data.metric}, ${data.unit}` : data.metric);
  const scaled = (data, column) => unpacked(column).map((value) => value / data.factor);

  const scatter = (data, look) => {
    const baseline = scaled(data, data.pairs.baseline);
    const candidate = scaled(data, data.pairs.candidate);
    const show = quantity(data);
    // One range for both, unless they lie so far apart that each would be a line.
    const apart = [baseline, candidate].map((side) => axis("", side, show));
    const overlap =
      apart[0].window[0] < apart[1].window[1] && apart[1].window[0] < apart[0].window[1];
    const both = axis("", baseline.concat(candidate), show);
    const [across, up] = overlap ? [both, both] : apart;
    const order = data.pairs.order;
    const side = (sign) => baseline.flatMap((x, index) => (order[index] === sign ? [[x, candidate[index]]] : []));
    const tooltip = {
      formatter: ({ data: [x, y], seriesName }) =>
        `<b>${change((y / x - 1) * 100)}</b><br>baseline ${show(x)}<br>candidate ${show(y)}<br>${seriesName}`,
    };
    const size = baseline.length > 600 ? 5 : 7;
    const opacity = baseline.length > 600 ? 0.45 : 0.65;
    return {
      x: { ...across, name: `baseline, ${data.unit || data.metric}` },
      y: { ...up, name: `candidate, ${data.unit || data.metric}` },
      series: [
        {
          key: "equal",
          type: "line",
          symbol: "none",
          silent: true,
          lineStyle: { color: look.quiet, width: 1.2, type: "dashed" },
          itemStyle: { color: look.quiet },
          data: both.whole.map((end) => [end, end]),
        },
        { key: "baseline first", name: "baseline first (AB)", type: "scatter", symbol: "circle", symbolSize: size, itemStyle: { color: look.first, opacity }, data: side("1"), tooltip },
        { key: "candidate first", name: "candidate first (BA)", type: "scatter", symbol: "triangle", symbolSize: size + 1, itemStyle: { color: look.second, opacity }, data: side("0"), tooltip },
      ],
      keys: [
        { name: "baseline first", color: look.first },
        { name: "candidate first", color: look.second, shape: "triangle" },
        { name: "equal", color: look.quiet, shape: "line" },
      ],
      points: [candidate, baseline],
      rows: {
        header: ["first", "baseline", "candidate"],
        rows: baseline.map((x, index) => [order[index] === "1" ? "baseline" : "candidate", show(x), show(candidate[index])]),
      },
    };
  };

  // A vertical bar from low to high, with caps where it tells an interval.
  const bar = (color, width, cap) => (_, api) => {
    const top = api.coord([api.value(0), api.value(3)]);
    const bottom = api.coord([api.value(0), api.value(2)]);
    const style = { stroke: color, lineWidth: width, fill: "none" };
    const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
    const children = [line(top[0], top[1], bottom[0], bottom[1])];
    if (cap) {
      children.push(line(top[0] - cap, top[1], top[0] + cap, top[1]));
      children.push(line(top[0] - cap, bottom[1], top[0] + cap, bottom[1]));
    }
    return { type: "group", children };
  };

  const replicates = (data, look) => {
    const series = data.replicates;
    const replicate = risen(series.replicate).map((number) => number + 1);
    const blocks = risen(series.blocks);
    const [effect, low, high] = [series.effect, series.low, series.high].map((column) => unpacked(column).map(percent));
    const points = effect.map((value, index) => [replicate[index], value, low[index], high[index], blocks[index]]);
    const formatter = ({ data: [number, value, from, to, count] }) =>
      `<b>${change(value)}</b><br>replicate ${number}, ${count} block${count === 1 ? "" : "s"}` +
      (count > 1 ? `<br>middle half ${change(from)} to ${change(to)}` : "");
    const single = blocks.every((count) => count <= 1);
    const many = points.length > 150;
    return {
      x: { name: "replicate", window: [0.2, Math.max(...replicate) + 0.8], whole: [0.2, Math.max(...replicate) + 0.8], format: String, whole_numbers: true },
      y: axis("change", single ? effect : low.concat(high), change, must(data, effect)),
      series: [
        bands(data, look),
        ...(single
          ? []
          : [{ key: "middle half", type: "custom", clip: true, encode: { x: 0, y: [2, 3] }, itemStyle: { color: look.baseline }, renderItem: bar(look.baseline, many ? 1 : 1.6, 0), data: points, tooltip: { formatter } }]),
        { key: "median", type: "scatter", symbolSize: many ? 4 : 8, itemStyle: { color: look.baseline }, data: points, tooltip: { formatter }, z: 3 },
      ],
      keys: [{ name: "median", color: look.baseline }, ...(single ? [] : [{ name: "middle half", color: look.baseline, shape: "line" }])],
      points: [effect, replicate],
      rows: {
        header: ["replicate", "blocks", "median", "lower quartile", "upper quartile"],
        rows: points.map(([number, value, from, to, count]) => [number, count, change(value), change(from), change(to)]),
      },
    };
  };

  const looks = (data, look) => {
    const points = data.looks.map(([count, ends]) => {
      const [value, low, high] = ends.map(percent);
      return [count, value, low ?? value, high ?? value];
    });
    const formatter = ({ data: [count, value, low, high] }) =>
      `<b>${change(value)}</b><br>after ${count} replicates<br>${change(low)} to ${change(high)}`;
    const ends = points.flatMap((point) => point.slice(2));
    const margin = data.margin * 100;
    const last = Math.max(...points.map((point) => point[0]));
    return {
      x: { name: "replicates looked at", window: [0, last * 1.06 + 0.5], whole: [0, last * 1.06 + 0.5], format: String, whole_numbers: true },
      y: axis("change", ends, change, [0, -margin, margin]),
      series: [
        bands(data, look, false),
        { key: "interval", type: "custom", clip: true, encode: { x: 0, y: [2, 3] }, itemStyle: { color: look.candidate }, renderItem: bar(look.candidate, 2, points.length > 60 ? 0 : 4), data: points, tooltip: { formatter } },
        { key: "estimate", type: "line", symbol: "circle", symbolSize: 6, lineStyle: { color: look.candidate, width: 1, opacity: 0.5 }, itemStyle: { color: look.candidate }, data: points, encode: { x: 0, y: 1 }, tooltip: { formatter }, z: 3 },
      ],
      keys: [{ name: "estimate", color: look.candidate }, { name: "interval", color: look.candidate, shape: "line" }],
      points: [ends, points.flatMap((point) => [point[0], point[0]])],
      rows: {
        header: ["replicates", "estimate", "from", "to"],
        rows: points.map(([count, value, low, high]) => [count, change(value), change(low), change(high)]),
      },
    };
  };

  const sides = ["baseline", "candidate"];
  const colours = (look) => [look.baseline, look.candidate];

  const histogram = (data, look) => {
    const edges = scaled(data, data.edges);
    const show = quantity(data);
    const series = [];
    const keys = [];
    const heights = [];
    const rows = edges.slice(1).map((edge, index) => [show(edges[index]), show(edge)]);
    const dashes = { normal: [2, 3], "log-normal": [7, 4], gumbel: [7, 3, 2, 3] };
    const known = (name, key) => keys.some((other) => other.name === name) || keys.push({ name, ...key });
    const tall = (values) => {
      for (const value of values) heights.push(value);
    };
    data.distributions.forEach((side, index) => {
      const color = colours(look)[index];
      const counts = risen(side.counts);
      known(sides[index], { color, shape: "square" });
      counts.forEach((count, bin) => rows[bin]?.push(count));
      tall(counts);
      series.push({
        key: sides[index],
        type: "custom",
        clip: true,
        encode: { x: [0, 1], y: 2 },
        itemStyle: { color },
        data: counts.map((count, bin) => [edges[bin], edges[bin + 1], count]).filter((row) => row[2]),
        renderItem: (_, api) => {
          const [left, top] = api.coord([api.value(0), api.value(2)]);
          const [right, bottom] = api.coord([api.value(1), 0]);
          return { type: "rect", shape: { x: left, y: top, width: Math.max(right - left, 1), height: bottom - top }, style: { fill: color, opacity: 0.38 } };
        },
        tooltip: { formatter: ({ data: [from, to, count] }) => `<b>${count} samples</b> of the ${sides[index]}<br>${show(from)} to ${show(to)}` },
      });
    });
    data.distributions.forEach((side, index) => {
      const color = colours(look)[index];
      const first = unpacked(side.first);
      if (first.length) {
        known("first half, scaled", { color: look.quiet, shape: "step" });
        tall(first);
        series.push({
          key: "first half, scaled",
          type: "line",
          step: "end",
          symbol: "none",
          silent: true,
          lineStyle: { color, width: 1.6 },
          itemStyle: { color },
          data: [[edges[0], 0], ...first.map((count, bin) => [edges[bin], count]), [edges[edges.length - 1], 0]],
        });
      }
    });
    data.distributions.forEach((side, index) => {
      const color = colours(look)[index];
      for (const [family, x, y] of side.curves) {
        const name = family === "gumbel" ? "Gumbel fit" : `${family} fit`;
        known(name, { color: look.quiet, shape: "line", dash: dashes[family] });
        const expected = unpacked(y);
        tall(expected);
        series.push({
          key: name,
          type: "line",
          symbol: "none",
          silent: true,
          lineStyle: { color, width: 1.6, type: dashes[family] ?? "dashed" },
          itemStyle: { color },
          data: scaled(data, x).map((value, at) => [value, expected[at]]),
        });
      }
    });
    const ends = [edges[0], edges[edges.length - 1]];
    const top = Math.max(1, ...heights) * 1.04;
    return {
      x: { name: measured(data), format: show, window: ends, whole: ends },
      y: { name: "samples", format: digits, window: [0, top], whole: [0, top], ends: true },
      series,
      keys,
      points: [[], []],
      rows: { header: ["from", "to", ...sides.slice(0, data.distributions.length)], rows },
    };
  };

  const violin = (data, look) => {
    const show = quantity(data);
    const series = [];
    const rows = [];
    const values = [];
    data.distributions.forEach((side, index) => {
      const color = colours(look)[index];
      const [xs, ys] = [scaled(data, side.violin[0]), unpacked(side.violin[1])];
      values.push(...xs);
      if (xs.length) {
        series.push({
          key: "body",
          type: "custom",
          clip: true,
          silent: true,
          encode: { x: 0, y: 1 },
          itemStyle: { color },
          data: [[xs[0], index]],
          renderItem: (_, api) => {
            const half = api.size([0, 1])[1] * 0.44;
            const at = (x, y) => {
              const [left, middle] = api.coord([x, index]);
              return [left, middle - y * half];
            };
            const upper = xs.map((x, i) => at(x, Math.max(0, ys[i])));
            const lower = xs.map((x, i) => at(x, -Math.max(0, ys[i]))).reverse();
            return { type: "polygon", shape: { points: upper.concat(lower) }, style: { fill: color, opacity: 0.28, stroke: color } };
          },
        });
      }
      if (!side.box) return;
      const five = scaled(data, side.box.five);
      const outliers = scaled(data, side.box.outliers);
      values.push(...five, ...outliers);
      rows.push([sides[index], ...five.map(show), String(side.box.beyond)]);
      series.push({
        key: "box",
        type: "custom",
        clip: true,
        encode: { x: [0, 1, 2, 3, 4], y: 5 },
        itemStyle: { color },
        data: [[...five, index]],
        renderItem: (_, api) => {
          const half = Math.min(api.size([0, 1])[1] * 0.12, 14);
          const x = [0, 1, 2, 3, 4].map((at) => api.coord([api.value(at), index])[0]);
          const y = api.coord([api.value(2), index])[1];
          const line = (x1, y1, x2, y2, lineWidth = 1.5) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: color, lineWidth } });
          return {
            type: "group",
            children: [
              line(x[0], y, x[1], y),
              line(x[3], y, x[4], y),
              line(x[0], y - half / 2, x[0], y + half / 2),
              line(x[4], y - half / 2, x[4], y + half / 2),
              { type: "rect", shape: { x: x[1], y: y - half, width: Math.max(x[3] - x[1], 1), height: 2 * half }, style: { fill: look.paper, stroke: color, lineWidth: 1.5 } },
              line(x[2], y - half, x[2], y + half, 3),
            ],
          };
        },
        tooltip: {
          formatter: () =>
            `<b>${sides[index]}: median ${show(five[2])}</b><br>middle half ${show(five[1])} to ${show(five[3])}<br>whiskers ${show(five[0])} to ${show(five[4])}<br>${side.box.beyond} beyond`,
        },
      });
      series.push({
        key: "beyond the whiskers",
        type: "scatter",
        symbolSize: 4,
        itemStyle: { color, opacity: 0.6 },
        data: outliers.map((x) => [x, index]),
        tooltip: { formatter: ({ data: [x] }) => `${sides[index]}: ${show(x)}` },
      });
    });
    return {
      x: axis(measured(data), values, show),
      y: { categories: sides.slice(0, data.distributions.length) },
      series,
      keys: [
        { name: "body", color: look.quiet, shape: "square" },
        { name: "box", color: look.quiet, shape: "square" },
        { name: "beyond the whiskers", color: look.quiet },
      ],
      points: [null, values],
      rows: { header: ["side", "whisker", "lower quartile", "median", "upper quartile", "whisker", "beyond"], rows },
    };
  };

  const ecdf = (data, look) => {
    const show = quantity(data);
    const values = [];
    const rows = [];
    const series = data.distributions.map((side, index) => {
      const [xs, ys] = [scaled(data, side.ecdf[0]), unpacked(side.ecdf[1])];
      values.push(...xs);
      const color = colours(look)[index];
      xs.forEach((x, at) => rows.push([sides[index], show(x), `${digits(ys[at] * 100)} %`]));
      return {
        key: sides[index],
        name: sides[index],
        type: "line",
        step: "end",
        symbol: "circle",
        symbolSize: 3,
        showSymbol: false,
        lineStyle: { color, width: 2, type: index ? [8, 3] : "solid" },
        itemStyle: { color },
        data: xs.map((x, at) => [x, ys[at] * 100]),
      };
    });
    return {
      x: axis(measured(data), values, show),
      y: { name: "samples at or below", format: (value) => `${digits(value)} %`, window: [0, 100], whole: [0, 100], ends: true },
      series,
      keys: sides.slice(0, series.length).map((name, index) => ({ name, color: colours(look)[index], shape: "line", dash: index ? [4, 2] : null })),
      points: [null, values],
      along: (x, near) => `<b>${show(x)}</b><br>` + near.map(({ name, y }) => `${name}: ${digits(y)} % at or below`).join("<br>"),
      rows: { header: ["side", "value", "at or below"], rows },
    };
  };

  const quantiles = (data, look) => {
    const show = (value) => quantity(data)(Math.exp(value) / data.factor);
    const [xs, ys] = [[], []];
    const rows = [];
    const series = [];
    data.distributions.forEach((side, index) => {
      const color = colours(look)[index];
      const [x, y] = side.quantiles.map(unpacked);
      xs.push(...x);
      ys.push(...y);
      x.forEach((value, at) => rows.push([sides[index], digits(value), show(y[at])]));
      if (side.line && x.length) {
        const ends = [x[0], x[x.length - 1]];
        series.push({
          key: "its line",
          type: "line",
          symbol: "none",
          silent: true,
          lineStyle: { color, width: 1.3, type: "dashed" },
          itemStyle: { color },
          data: ends.map((end) => [end, side.line[0] + side.line[1] * end]),
        });
      }
      series.push({
        key: sides[index],
        type: "scatter",
        symbol: index ? "triangle" : "circle",
        symbolSize: x.length > 300 ? 4 : 6,
        itemStyle: { color, opacity: 0.75 },
        data: x.map((value, at) => [value, y[at]]),
        tooltip: { formatter: ({ data: [at, value] }) => `<b>${show(value)}</b> (${sides[index]})<br>ln t = ${digits(value)}<br>normal quantile ${digits(at)}` },
      });
    });
    const x = whole(xs, [-1, 1]);
    return {
      x: { name: "normal quantile", format: digits, window: x, whole: x },
      y: axis(`${data.metric}, drawn by ln`, ys, (value) => quantity(data)(Number((Math.exp(value) / data.factor).toPrecision(4)))),
      series,
      keys: [
        ...sides.slice(0, data.distributions.length).map((name, index) => ({ name, color: colours(look)[index], shape: index ? "triangle" : undefined })),
        { name: "its line", color: look.quiet, shape: "line", dash: [3, 2] },
      ],
      points: [ys, xs],
      rows: { header: ["side", "normal quantile", "value"], rows },
    };
  };

  return { differences, scatter, replicates, looks, histogram, violin, ecdf, quantiles };
})();
