// Columns of numbers as the page packs them, how they are spelled, and the
// window of a chart that holds most of them.
"use strict";

const scales = (() => {
  // Columns, as the page packs them: numbers of one to three digits of base 90,
  // of which the first tells how many there are, and seldom more.
  const signs = " !#$%'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
  const digit = new Uint8Array(128);
  [...signs].forEach((sign, value) => (digit[sign.charCodeAt(0)] = value));
  const integers = (text, at = 0) => {
    const found = [];
    const next = () => digit[text.charCodeAt(at++)];
    while (at < text.length) {
      const first = next();
      if (first < 45) found.push(first);
      else if (first < 85) found.push(45 + (first - 45) * 90 + next());
      else if (first < 89) found.push(3645 + ((first - 85) * 90 + next()) * 90 + next());
      else {
        let number = 0;
        for (let left = next(); left > 0; left -= 1) number = number * 90 + next();
        found.push(number);
      }
    }
    return found;
  };
  // Even is up, odd is down.
  const steps = (number) => (number % 2 ? -(number + 1) / 2 : number / 2);
  // Values as steps from the middle: each by itself, by how far it lies above the
  // one before, or by how much more it rises.
  const unpacked = (column) => {
    const [head, middle, mark, step] = /^([^ /~]*)([ /~])([^ /~]*)[ /~]/.exec(column);
    let [last, rise, begun] = [0, 0, false];
    return integers(column, head.length).map((number) => {
      if (mark === "/" && begun) last += number;
      else if (mark === "~") last += rise += steps(number);
      else last = steps(number);
      begun = true;
      return Number(middle) + last * Number(step);
    });
  };
  // Whole numbers by how much more each rises than the one before; behind a
  // zero stands how many more there are.
  const risen = (column) => {
    const numbers = integers(column);
    const found = [];
    let [last, rise] = [0, 0];
    for (let at = 0; at < numbers.length; at += 1) {
      rise += steps(numbers[at]);
      let left = numbers[at] ? 1 : 1 + numbers[(at += 1)];
      for (; left > 0; left -= 1) found.push((last += rise));
    }
    return found;
  };
  const bits = (column) => [...column].flatMap((sign) => [1, 2, 4, 8, 16, 32].map((bit) => Boolean(digit[sign.charCodeAt(0)] & bit)));
  const percent = (theta) => Math.expm1(theta) * 100;

  const digits = (value) => {
    const text = Number(value.toPrecision(5)).toString();
    return text.replace("-", "−");
  };
  const signed = (value) => (value > 0 ? "+" : "") + digits(value);
  const change = (value) => `${signed(Number(value.toPrecision(4)))}%`;

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

  return { unpacked, risen, integers, bits, percent, digits, change, bulk, whole, axis, evidence, quantity, measured, scaled, sides, colours, bar };
})();
