// Zoom: plots of one figure with the same data-x-key (or data-y-key) show the same part of an axis.
// A part is [from, to] in shares of the whole axis, so that it holds for drawings of any size.
const zooms = new WeakMap(); // figure -> Map of "x:key" or "y:key" to [from, to]
const drawnAs = new WeakMap(); // element of a plot -> its attributes without zoom
const LEAST_PART = 0.005;

const zoomOf = (figure) => zooms.get(figure) || zooms.set(figure, new Map()).get(figure);
const partOf = (figure, plot, axis) =>
  zoomOf(figure).get(`${axis}:${plot.getAttribute(`data-${axis}-key`)}`) || [0, 1];
const canZoom = (plot, axis) => !plot.getAttribute(`data-${axis}`).startsWith("category");

function areaOf(plot) {
  const [x, y, width, height] = plot.getAttribute("viewBox").split(" ").map(Number);
  return { x, y, width, height };
}

function inside(plot, x, y, slack = 1) {
  const area = areaOf(plot);
  return x >= area.x - slack && x <= area.x + area.width + slack &&
    y >= area.y - slack && y <= area.y + area.height + slack;
}

const plotAt = (panel, at) =>
  all(".plot", panel).find((plot) => inside(plot, at.x, at.y, 8)) || null;

function setPart(figure, plot, axis, from, to) {
  if (!canZoom(plot, axis)) return;
  const key = `${axis}:${plot.getAttribute(`data-${axis}-key`)}`;
  const size = clamp(to - from, LEAST_PART, 1);
  const start = clamp(from, 0, 1 - size);
  if (size >= 1) zoomOf(figure).delete(key);
  else zoomOf(figure).set(key, [start, start + size]);
}

function resetZoom(figure) {
  zoomOf(figure).clear();
  drawZoom(figure);
}

function drawZoom(figure) {
  for (const plot of all(".plot", figure)) {
    const x = partOf(figure, plot, "x"), y = partOf(figure, plot, "y");
    const whole = x[1] - x[0] >= 1 && y[1] - y[0] >= 1;
    plot.classList.toggle("zoomed", !whole);
    const area = areaOf(plot), bottom = area.y + area.height;
    const toX = (v) => area.x + (((v - area.x) / area.width - x[0]) / (x[1] - x[0])) * area.width;
    const toY = (v) => bottom - (((bottom - v) / area.height - y[0]) / (y[1] - y[0])) * area.height;
    for (const part of all("*", plot)) if (part !== cursor) moveMark(part, toX, toY);
  }
  for (const ticks of all(".ticks", figure)) drawTicks(figure, ticks);
  figure.classList.toggle("is-zoomed", zoomOf(figure).size > 0);
}

const ACROSS = ["x", "x1", "x2", "cx"], ALONG = ["y", "y1", "y2", "cy"];
function moveMark(part, toX, toY) {
  if (!drawnAs.has(part)) {
    drawnAs.set(part, Object.fromEntries([...part.attributes].map((a) => [a.name, a.value])));
  }
  const was = drawnAs.get(part);
  const put = (name, value) => part.setAttribute(name, +value.toFixed(1));
  if (part.tagName === "rect" && !was["data-fixed"]) {
    const x = toX(+was.x), y = toY(+was.y);
    put("x", x);
    put("y", y);
    put("width", Math.max(0, toX(+was.x + +was.width) - x));
    put("height", Math.max(0, toY(+was.y + +was.height) - y));
    return;
  }
  for (const name of ACROSS) if (name in was) put(name, toX(+was[name]));
  for (const name of ALONG) if (name in was) put(name, toY(+was[name]));
  if (was.d) {
    part.setAttribute("d", was.d.replace(/([ML])(-?[\d.]+)[ ,](-?[\d.]+)/g,
      (_, pen, x, y) => `${pen}${+toX(+x).toFixed(1)} ${+toY(+y).toFixed(1)}`));
  }
  if (was.points) {
    part.setAttribute("points", was.points.replace(/(-?[\d.]+)[ ,](-?[\d.]+)/g,
      (_, x, y) => `${+toX(+x).toFixed(1)},${+toY(+y).toFixed(1)}`));
  }
}

// Ticks of a zoomed axis replace the drawn ones, at their distance from the plot.
function drawTicks(figure, ticks) {
  const axis = ticks.dataset.axis, key = ticks.dataset.key;
  const drawing = ticks.closest(".panel");
  const plot = all(".plot", drawing).find((p) => p.getAttribute(`data-${axis}-key`) === key);
  all(".live", ticks).forEach((old) => old.remove());
  const [from, to] = plot ? partOf(figure, plot, axis) : [0, 1];
  const whole = to - from >= 1;
  for (const drawn of ticks.children) drawn.style.display = whole ? "" : "none";
  if (whole) return;
  const [kind, ...ends] = plot.getAttribute(`data-${axis}`).split(" ");
  const [low, high] = ends.map(Number);
  const start = low + from * (high - low), end = low + to * (high - low);
  const area = areaOf(plot);
  const group = shape(ticks, "g", { class: "live" });
  const line = ticks.querySelector("line"), text = ticks.querySelector("text");
  let last = null;
  for (const [at, label] of ticksIn(kind, start, end, plot.getAttribute(`data-${axis}-unit`))) {
    const share = (at - start) / (end - start);
    const place = axis === "x" ? area.x + share * area.width : area.y + (1 - share) * area.height;
    const css = text ? text.getAttribute("class").replace(/\b(end|start)\b/, axis === "x" ? "middle" : "$1") : "";
    if (axis === "x") {
      if (line) shape(group, "line", { class: "grid", x1: place, x2: place, y1: area.y, y2: area.y + area.height });
      if (last !== null && place - last < 6.5 * label.length + 8) continue;
      if (text) shape(group, "text", { class: css, x: place, y: text.getAttribute("y") }, label);
    } else {
      if (line) shape(group, "line", { class: "grid", x1: area.x, x2: area.x + area.width, y1: place, y2: place });
      if (last !== null && last - place < 13) continue;
      if (text) shape(group, "text", { class: css, x: text.getAttribute("x"), y: place + 4 }, label);
    }
    last = place;
  }
}

function ticksIn(kind, start, end, unit) {
  if (kind === "log") {
    const values = roundIn(10 ** start, 10 ** end, 5);
    const decades = [];
    for (let d = Math.floor(start); d <= Math.ceil(end); d += 1) {
      for (const m of [1, 2, 5]) decades.push(m * 10 ** d);
    }
    const chosen = end - start > 1 ? decades : values;
    return chosen.filter((v) => v > 0).map((v) => [Math.log10(v), tickText(v, unit)])
      .filter(([at]) => at >= start && at <= end);
  }
  if (kind === "nines") {
    const shares = [0, 25, 50, 75, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.98, 99.99, 99.995,
      99.999, 99.9995, 99.9999];
    return shares.map((p) => [-Math.log10(1 - p / 100), String(p)])
      .filter(([at]) => at >= start && at <= end);
  }
  return roundIn(start, end, 4).map((v) => [v, tickText(v, unit)]);
}

function roundIn(start, end, steps) {
  const rough = (end - start) / steps, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9));
  const found = [];
  for (let i = Math.ceil(start / step); i * step <= end * (1 + 1e-12); i += 1) found.push(i * step);
  return found;
}

// The middle of what the plot's curves reach in a part of its x axis, as a share of its y axis; null
// where there is none.
function middleOfCurves(plot, [from, to]) {
  const area = areaOf(plot), shares = [];
  for (const curve of all("path", plot)) {
    const d = (drawnAs.get(curve) || {}).d || curve.getAttribute("d") || "";
    for (const [, x, y] of d.matchAll(/[ML](-?[\d.]+)[ ,](-?[\d.]+)/g)) {
      const across = (x - area.x) / area.width;
      if (across >= from && across <= to) shares.push(1 - (y - area.y) / area.height);
    }
  }
  return shares.length ? (Math.min(...shares) + Math.max(...shares)) / 2 : null;
}

// One axis about its middle (or where a mark is told), by a factor below 1 to see less of it. Where no
// mark is told, y follows the curves: the middle of the axes may be empty.
function zoomBy(figure, plot, factor) {
  for (const axis of ["x", "y"]) {
    const [from, to] = partOf(figure, plot, axis);
    const area = areaOf(plot);
    let middle = (from + to) / 2;
    if (axis === "y" && factor < 1 && cursor.parentNode !== plot) {
      middle = middleOfCurves(plot, partOf(figure, plot, "x")) ?? middle;
    }
    if (cursor.parentNode === plot) {
      const share = axis === "x" ? (cursor.cx.baseVal.value - area.x) / area.width
        : 1 - (cursor.cy.baseVal.value - area.y) / area.height;
      middle = from + clamp(share, 0, 1) * (to - from);
    }
    const half = ((to - from) * factor) / 2;
    setPart(figure, plot, axis, middle - half, middle + half);
  }
  drawZoom(figure);
}

function zoomKey(panel, event) {
  const figure = panel.closest(".fig"), plot = cursor.closest(".plot") || panel.querySelector(".plot");
  if (!figure || !plot) return false;
  if (event.key === "+" || event.key === "=") zoomBy(figure, plot, 0.5);
  else if (event.key === "-") zoomBy(figure, plot, 2);
  else if (event.key === "Escape" || event.key === "0") resetZoom(figure);
  else if (event.shiftKey && event.key.startsWith("Arrow")) {
    const axis = /Left|Right/.test(event.key) ? "x" : "y";
    const [from, to] = partOf(figure, plot, axis);
    const step = (to - from) * 0.2 * (/Right|Up/.test(event.key) ? 1 : -1);
    setPart(figure, plot, axis, from + step, to + step);
    drawZoom(figure);
  } else return false;
  return true;
}

function startZoom(figure, panel) {
  if (!panel.querySelector(".plot")) return;
  let begun = null, plot = null, brush = null;
  panel.classList.add("zoomable");
  panel.addEventListener("pointerdown", (event) => {
    delete panel.dataset.dragged;
    const at = event.button === 0 && event.pointerType !== "touch" && toDrawing(panel, event);
    plot = at ? plotAt(panel, at) : null;
    begun = plot ? at : null;
  });
  panel.addEventListener("pointermove", (event) => {
    if (!begun || !event.buttons) return;
    const at = toDrawing(panel, event);
    const dx = Math.abs(at.x - begun.x), dy = Math.abs(at.y - begun.y);
    if (!brush && Math.max(dx, dy) < 6) return;
    if (!brush) panel.setPointerCapture(event.pointerId);
    brush = brush || shape(panel, "rect", { class: "brush" });
    const area = areaOf(plot), wide = dy < 14, high = dx < 14 && !wide;
    brush.setAttribute("x", high ? area.x : Math.min(at.x, begun.x));
    brush.setAttribute("width", high ? area.width : dx);
    brush.setAttribute("y", wide ? area.y : Math.min(at.y, begun.y));
    brush.setAttribute("height", wide ? area.height : dy);
  });
  const finish = (event) => {
    if (brush && event.type === "pointerup") {
      const area = areaOf(plot), number = (name) => Number(brush.getAttribute(name));
      for (const [axis, size] of [["x", "width"], ["y", "height"]]) {
        const [from, to] = partOf(figure, plot, axis);
        const first = clamp((number(axis) - area[axis]) / area[size], 0, 1);
        const last = clamp((number(axis) + number(size) - area[axis]) / area[size], 0, 1);
        const [a, b] = axis === "x" ? [first, last] : [1 - last, 1 - first];
        if (b > a) setPart(figure, plot, axis, from + a * (to - from), from + b * (to - from));
      }
      panel.dataset.dragged = "yes";
      drawZoom(figure);
    }
    if (brush) brush.remove();
    begun = plot = brush = null;
  };
  panel.addEventListener("pointerup", finish);
  panel.addEventListener("pointercancel", finish);
  panel.addEventListener("dblclick", (event) => {
    event.preventDefault();
    resetZoom(figure);
  });
}
