// Charts of pairs: differences in order of time, pairs, replicates, looks. Nothing
// is worked out here but where things stand.
"use strict";

const series = (() => {
  const { unpacked, risen, bits, percent, change, bulk, axis, evidence, quantity, scaled, bar } = scales;

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
    const first = bits(series.order);
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
      lines.push(first[index] ? "the baseline ran first" : "the candidate ran first");
      if (mark) {
        if (mark[0]) lines.push(`the baseline was ${evidence(mark[0])}`);
        if (mark[1]) lines.push(`the candidate was ${evidence(mark[1])}`);
        lines.push(mark[2] ? "<b>dropped</b>, not in the estimate" : "kept in the estimate");
      }
      return lines.join("<br>");
    };
    const tooltip = { formatter: (point) => describe(point.data[2]) };
    // Dropped blocks are worth a look: the window takes in those that do not
    // press all others flat.
    const sure = must(data, effect);
    const [low, high] = bulk(effect, sure);
    const near = (value) => value > low - 2 * (high - low) && value < high + 2 * (high - low);
    const shown = groups.dropped.map(([, value]) => value).filter(near);
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
      y: axis("change", effect, change, [...sure, ...shown]),
      series: all,
      keys,
      points: [effect, position.map((at) => at + 1)],
      dropped: new Set(groups.dropped.map(([, , index]) => index)),
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
            first[index] ? "baseline" : "candidate",
            change(value),
            told.filter(Boolean).join(", "),
          ];
        }),
      },
    };
  };

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
    const first = bits(data.pairs.order);
    const side = (baselineFirst) => baseline.flatMap((x, index) => (first[index] === baselineFirst ? [[x, candidate[index]]] : []));
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
        { key: "baseline first", name: "baseline first (AB)", type: "scatter", symbol: "circle", symbolSize: size, itemStyle: { color: look.first, opacity }, data: side(true), tooltip },
        { key: "candidate first", name: "candidate first (BA)", type: "scatter", symbol: "triangle", symbolSize: size + 1, itemStyle: { color: look.second, opacity }, data: side(false), tooltip },
      ],
      keys: [
        { name: "baseline first", color: look.first },
        { name: "candidate first", color: look.second, shape: "triangle" },
        { name: "equal", color: look.quiet, shape: "line" },
      ],
      points: [candidate, baseline],
      rows: {
        header: ["first", "baseline", "candidate"],
        rows: baseline.map((x, index) => [first[index] ? "baseline" : "candidate", show(x), show(candidate[index])]),
      },
    };
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

  return { differences, scatter, replicates, looks };
})();
