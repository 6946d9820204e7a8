// Charts of how times are distributed: histograms, violins, shares, quantiles.
// Nothing is worked out here but where things stand.
"use strict";

const shapes = (() => {
  const { unpacked, integers, digits, whole, axis, quantity, measured, scaled, sides, colours } = scales;

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
      const counts = integers(side.counts);
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
      let places = [];
      for (const [family, y, x] of side.curves) {
        // Told where they differ from those of the curve before.
        if (x !== undefined) places = scaled(data, x);
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
          data: places.map((value, at) => [value, expected[at]]),
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
      xs.forEach((x, at) => rows.push([sides[index], show(x), `${digits(ys[at] * 100)}%`]));
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
      y: { name: "samples at or below", format: (value) => `${digits(value)}%`, window: [0, 100], whole: [0, 100], ends: true },
      series,
      keys: sides.slice(0, series.length).map((name, index) => ({ name, color: colours(look)[index], shape: "line", dash: index ? [4, 2] : null })),
      points: [null, values],
      along: (x, near) => `<b>${show(x)}</b><br>` + near.map(({ name, y }) => `${name}: ${digits(y)}% at or below`).join("<br>"),
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

  return { histogram, violin, ecdf, quantiles };
})();
