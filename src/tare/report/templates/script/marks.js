// Marks: what can be pointed at in a drawing, the points that it has, and what it says.
// data-m names a mark's numbers: eN effect, dN distribution, sN.STRIP series; any other mark
// carries data-label, data-condition and data-trials itself.
const MARK = "[data-m], [data-label]";

function kindOf(mark) {
  const match = /^([eds])(\d+)(?:\.(.+))?$/.exec(mark.dataset.m || "");
  return match ? { kind: match[1], number: Number(match[2]), strip: match[3] } : { kind: "" };
}

// The points along a mark: pairs of an effect, values of a line. None for a plain mark.
function pointsOf(mark) {
  const { kind, number, strip } = kindOf(mark);
  const found = [];
  if (kind === "e") {
    const pairs = DATA.effects[number].pairs;
    for (let i = 0; i < pairs.length; i += 3) found.push(pairs.slice(i, i + 3));
  } else if (kind === "d" || kind === "s") {
    const flat = kind === "d" ? DATA.distributions[number].points
      : DATA.series[number].lines[strip] || [];
    for (let i = 0; i < flat.length; i += 2) {
      if (flat[i + 1] !== null) found.push([flat[i], flat[i + 1]]);
    }
  }
  return found;
}

// Where the points are drawn now, in the drawing's coordinates: the corners of its path.
const corners = new WeakMap();
function cornersOf(mark) {
  const path = kindOf(mark).kind === "e" ? mark.querySelector(".pairs") : mark;
  const text = (path && path.getAttribute("d")) || "";
  const known = corners.get(mark);
  if (known && known.text === text) return known.found;
  const found = [...text.matchAll(/[ML](-?[\d.]+)[ ,](-?[\d.]+)/g)].map((m) => [+m[1], +m[2]]);
  corners.set(mark, { text, found });
  return found;
}

// {lines, rows, condition}: what a reader is told, and the trials (rows of DATA.trials) behind it.
function tell(mark, point = -1) {
  const { kind, number, strip } = kindOf(mark);
  if (kind === "e") return point < 0 ? tellEffect(number) : tellPair(number, pointsOf(mark)[point]);
  if (kind === "d") return tellLatency(DATA.distributions[number], pointsOf(mark)[point]);
  if (kind === "s") return tellSeries(DATA.series[number], strip, pointsOf(mark)[point]);
  const names = new Set((mark.dataset.trials || "").split(" ").filter(Boolean));
  const rows = DATA.trials.flatMap((t, i) => (names.has(t[0].replaceAll(" ", "_")) ? [i] : []));
  const lines = (mark.dataset.label || "").split("\n");
  const condition = mark.dataset.condition || "";
  const one = condition && !condition.includes(" ");
  if (one && !mark.dataset.label.includes(condition)) lines.push(condition);
  if (rows.length) lines.push(`${plural(rows.length, "trial")}: ${someNames(rows)}`);
  return { lines, rows, condition };
}

function tellEffect(number) {
  const e = DATA.effects[number];
  const [, title, unit] = metricOf(e);
  const [ratio, low, high, base, value] = e.n;
  const rows = DATA.traces[e.k];
  const lines = [
    sidesOf(e),
    `${title}: ${change(ratio)} ${interval(low, high)}, ${e.v}`,
    `${quantity(base, unit)} \u2192 ${quantity(value, unit)}`,
    `${plural(e.units[0], e.units[1])} counted, ${plural(e.units[2], "block")}` +
      (e.p === null ? "" : `, p ${e.p < 0.001 ? "< 0.001" : e.p.toFixed(3)}`),
  ];
  if (e.over.length) lines.push(`averaged over ${e.over.join(", ")}`);
  lines.push(`${plural(rows.length, "trial")} (click or Enter shows them)`);
  return { lines, rows, condition: e.t };
}

// A condition as the rest of the page calls it.
const called = (name) => (DATA.conditions.find((c) => c.name === name) || {}).says || name;

const sidesOf = (e) => (e.says || [e.t, e.b]).join(" over ");

function tellPair(number, pair) {
  const e = DATA.effects[number];
  if (!pair) return tellEffect(number);
  const [round, block, ratio] = pair;
  const rows = DATA.traces[e.k].filter((i) => {
    const t = DATA.trials[i];
    return t[2] === round && t[3] === block;
  });
  const lines = [`round ${round}, block ${block}: ${change(ratio)}`,
    `${metricOf(e)[1]}, ${sidesOf(e)}`];
  if (rows.length) lines.push(trialNames(rows).join(", "));
  return { lines, rows, condition: e.t };
}

function tellLatency(d, point) {
  const lines = [called(d.condition)];
  if (point) lines.push(`${quantity(point[1], "us")} at ${+point[0].toPrecision(7)}% of operations`);
  lines.push(`${d.operation.toLowerCase()}, ${d.kind} time, ${plural(d.count, "operation")}`);
  const rows = DATA.trials.flatMap((t, i) => (t[1] === d.condition ? [i] : []));
  if (rows.length) lines.push(`${plural(rows.length, "trial")} merged`);
  return { lines, rows, condition: d.condition };
}

function tellSeries(s, strip, point) {
  const [title, unit] = DATA.strips[strip];
  const lines = [s.trial, called(s.condition)];
  if (point) {
    lines.push(`${title}: ${quantity(point[1], unit)} at ${significant(point[0])} s`);
    const going = s.events.filter(([from, to]) => from <= point[0] && point[0] <= to);
    if (going.length) lines.push(`during: ${[...new Set(going.map((e) => e[2]))].join(", ")}`);
  }
  const rows = DATA.trials.flatMap((t, i) => (t[0] === s.trial ? [i] : []));
  return { lines, rows, condition: s.condition };
}

function someNames(rows) {
  const names = trialNames(rows.slice(0, 4)).join(", ");
  return rows.length > 4 ? `${names}, \u2026` : names;
}
