// Columns of numbers as the page packs them, how they are spelled, and the
// window of a chart that holds most of them.
"use strict";

const scales = (() => {
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

  const quantity = (data) => (value) => `${digits(value)}${data.unit && ` ${data.unit}`}`;
  const measured = (data) => (data.unit ? `${data.metric}, ${data.unit}` : data.metric);
  const scaled = (data, column) => unpacked(column).map((value) => value / data.factor);

  const sides = ["baseline", "candidate"];
  const colours = (look) => [look.baseline, look.candidate];

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

  return { unpacked, risen, percent, digits, change, bulk, whole, axis, evidence, quantity, measured, scaled, sides, colours, bar };
})();
