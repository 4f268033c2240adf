// The numbers behind the page, and how they are written: as numbers.py writes them.
const DATA = JSON.parse(document.getElementById("data").textContent);
for (const t of DATA.trials) {  // a condition's name would stand there thousands of times
  if (typeof t[1] === "number") t[1] = DATA.conditions[t[1]].name;
}
const SVG = "http://www.w3.org/2000/svg";
const MINUS = "\u2212";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// Text is only ever set as text: nothing that others wrote becomes markup.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function shape(parent, tag, attributes, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function significant(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "n/a";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100) return Math.round(value).toLocaleString("en-US").replace("-", MINUS);
  const decimals = size >= 10 ? 1 : size >= 1 ? 2 : 2 - Math.floor(Math.log10(size));
  return value.toFixed(Math.min(decimals, 9)).replace("-", MINUS);
}

const TIME = [[1e6, "s"], [1e3, "ms"], [1, "\u00b5s"]];
const BYTES = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const STEPS = {
  "us": [TIME, ""], "us/operation": [TIME, "/op"], "bytes": [BYTES, ""],
  "bytes/s": [BYTES, "/s"], "bytes/operation": [BYTES, "/op"],
};
const SHORT = { "operations/s": "ops/s", "operations": "ops" };

function quantity(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "n/a";
  if (unit === "%") {
    const text = Math.abs(value) < 1 ? value.toFixed(2).replace("-", MINUS) : significant(value);
    return /[1-9]/.test(text) ? `${text}%` : "0%";
  }
  if (!Object.hasOwn(STEPS, unit)) {
    return `${significant(value)} ${Object.hasOwn(SHORT, unit) ? SHORT[unit] : unit}`.trim();
  }
  const [steps, suffix] = STEPS[unit];
  const [factor, name] = steps.find((s) => Math.abs(value) >= s[0]) || steps[steps.length - 1];
  return `${significant(value / factor)} ${name}${suffix}`;
}

// On an axis: without trailing zeros.
function tickText(value, unit) {
  const [digits, ...rest] = quantity(value, unit).split(" ");
  const short = digits.includes(".") ? digits.replace(/0+$/, "").replace(/\.$/, "") : digits;
  return [short, ...rest].join(" ").trim();
}

function change(ratio) {
  if (ratio === null) return "n/a";
  const percent = Math.abs(ratio - 1) * 100;
  const text = percent < 99.95 ? percent.toFixed(1) : Math.round(percent).toLocaleString("en-US");
  if (Number(text.replace(/,/g, "")) === 0) return `${text}%`;
  return `${ratio > 1 ? "+" : MINUS}${text}%`;
}

const interval = (low, high) =>
  low === null && high === null ? "[no interval]"
    : `[${low === null ? "unbounded" : change(low)}, ${high === null ? "unbounded" : change(high)}]`;
const plural = (n, noun) => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;
const metricOf = (effect) => DATA.metrics[effect.m] || [effect.name, effect.name, ""];
const trialNames = (rows) => rows.map((i) => DATA.trials[i][0]);
