// Export: what is shown now, as SVG, PNG (twice the size) or CSV. Always in the light colours.
const FORMULA = /^\s*[=+\-@]/; // a spreadsheet would run such a text

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (rows) => rows.map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";

function tableCsv(table) {
  const heads = all("thead th", table).map((head) =>
    head.textContent.trim() + (head.dataset.unit ? ` (${head.dataset.unit})` : ""));
  const rows = [...table.tBodies[0].rows].filter((row) => !row.matches(".off"));
  return csv([heads, ...rows.map((row) => [...row.children].map(cellValue))]);
}

function cellValue(cell) {
  if (cell.matches(".off")) return "";
  const unit = cell.closest("table").tHead.rows[0].children[cell.cellIndex].dataset.unit;
  const text = (cell.querySelector("summary") || cell).textContent.trim(); // not what it opens to
  const plain = unit || /^[\u2212\d.,]+$/.test(text); // with a unit only in the text, the text says more
  return cell.dataset.v !== undefined && plain ? Number(cell.dataset.v) : text;
}

// The numbers of a figure; of others than our own three, those of its marks and tables.
function figureCsv(figure) {
  const name = figure.dataset.figure;
  if (name === "effects") {
    const head = ["metric", "unit", "treatment", "baseline", "over", "ratio", "ci_low", "ci_high",
      "verdict", "baseline_value", "treatment_value", "p", "blocks"];
    return csv([head, ...DATA.effects.filter((e) => !effectHidden(e)).map((e) => {
      const [metric, , unit] = metricOf(e);
      return [metric, unit, e.t, e.b, e.over.join(" "), ...e.n.slice(0, 3), e.v, ...e.n.slice(3), e.p,
        e.units[2]];
    })]);
  }
  if (name === "latency") {
    const head = ["condition", "operation", "kind", "percentile", "latency_us"];
    return csv([head, ...DATA.distributions.filter((d) => !conditionHidden(d.condition))
      .flatMap((d) => pairsOf(d.points).map((p) => [d.condition, d.operation, d.kind, ...p]))]);
  }
  if (name === "timeline") {
    const head = ["trial", "condition", "series", "unit", "t_s", "value"];
    return csv([head, ...DATA.series.filter((s) => !conditionHidden(s.condition))
      .flatMap((s) => Object.entries(s.lines).flatMap(([strip, flat]) => pairsOf(flat)
        .map((p) => [s.trial, s.condition, strip, DATA.strips[strip][1], ...p])))]);
  }
  const tables = all("table", figure);
  if (tables.length) return tables.map(tableCsv).join("\r\n");
  const marks = shownPanels(figure).flatMap((panel) =>
    marksOf(panel).map((mark) => [panel.getAttribute("aria-label"), ...(mark.dataset.label || "").split("\n")]));
  return csv([["drawing", "mark"], ...marks]);
}

const pairsOf = (flat) =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);

const shownPanels = (figure) => {
  const panels = all(".panel", figure).filter(isShown);
  const visible = panels.filter((panel) => panel.getClientRects().length);
  return visible.length ? visible : panels;
};

function lightStyle() {
  const rules = [...document.getElementById("figure-style").sheet.cssRules];
  return rules.filter((rule) => !(rule instanceof CSSMediaRule)).map((rule) => rule.cssText).join("\n");
}

function figureSvg(figure) {
  const panels = shownPanels(figure), gap = 28, pad = 24;
  const sizes = panels.map((panel) => panel.viewBox.baseVal);
  const cell = Math.max(...sizes.map((s) => s.width), 320);
  const columns = clamp(Math.floor((1160 + gap) / (cell + gap)), 1, panels.length || 1);
  const width = 2 * pad + columns * cell + (columns - 1) * gap;
  const root = shape(null, "svg", { xmlns: SVG, class: "figure sheet" });
  const heading = `${figure.dataset.title}: ${document.querySelector("h1").textContent}`;
  shape(root, "title", {}, heading);
  const note = document.getElementById("filter-note");
  const hiding = note && note.classList.contains("hiding") ? note.textContent : "";
  shape(root, "desc", {}, [`Study ${DATA.study}, run ${DATA.run}.`, hiding,
    ...panels.map((panel) => panel.querySelector("desc")?.textContent || "")].filter(Boolean).join(" "));
  shape(root, "style", {}, lightStyle());
  shape(root, "rect", { class: "paper", x: 0, y: 0, width: "100%", height: "100%" });
  const limit = Math.floor((width - 2 * pad) / 10.4);
  shape(root, "text", { class: "heading", x: pad, y: pad + 14 },
    heading.length > limit ? `${heading.slice(0, limit - 1)}\u2026` : heading);
  let top = drawLegend(root, figure, width, pad);
  for (let start = 0; start < panels.length; start += columns) {
    const row = sizes.slice(start, start + columns);
    row.forEach((size, i) => {
      const holder = shape(root, "svg", { x: pad + i * (cell + gap), y: top, width: size.width,
        height: size.height, viewBox: `${size.x} ${size.y} ${size.width} ${size.height}` });
      holder.append(...[...panels[start + i].childNodes].map(cleanCopy).filter(Boolean));
    });
    top += Math.max(...row.map((size) => size.height)) + gap;
  }
  const height = Math.round(top - gap + pad);
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
    root.setAttribute(name, value);
  }
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

function drawLegend(root, figure, width, pad) {
  let x = pad, top = pad + 36;
  const entries = all(".legend li", figure).filter(isShown);
  for (const entry of entries) {
    const name = entry.textContent.trim(), needed = 40 + 7 * Math.min(name.length, 40);
    if (x + needed > width - pad && x > pad) [x, top] = [pad, top + 22];
    const sample = entry.querySelector(".line");
    if (sample) shape(root, "line", { class: sample.getAttribute("class"), x1: x, x2: x + 20, y1: top, y2: top });
    shape(root, "text", { x: x + 26, y: top + 4 }, name);
    x += needed;
  }
  return entries.length ? top + 24 : top;
}

// Without what is hidden, and without what only the page needs.
function cleanCopy(node) {
  if (node.nodeType !== 1) return node.cloneNode(true);
  if (node === cursor || node.matches(".off, .brush") || node.style.display === "none") return null;
  const copy = node.cloneNode(false);
  for (const { name } of [...copy.attributes]) {
    if (name.startsWith("data-") || name === "tabindex" || name === "role") copy.removeAttribute(name);
  }
  if (node.classList.contains("lit")) copy.classList.remove("lit");
  copy.append(...[...node.childNodes].map(cleanCopy).filter(Boolean));
  if (node.dataset.label) shape(copy, "title", {}, node.dataset.label);
  return copy;
}

function save(name, type, content) {
  const prefix = DATA.study.replace(/[^\w.-]+/g, "-").replace(/^[.-]+/, "").slice(0, 60) || "study";
  const blob = content instanceof Blob ? content : new Blob([content], { type: `${type};charset=utf-8` });
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: `${prefix}-${name}` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Twice the drawing's size, less where a canvas cannot hold that.
async function figurePng(figure) {
  const { text, width, height } = figureSvg(figure);
  const scale = Math.min(2, 16_000 / Math.max(width, height));
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function startFigure(figure) {
  const name = figure.dataset.figure, title = figure.dataset.title;
  const bar = element("p", { className: "tools" });
  if (figure.querySelector(".plot")) {
    const plot = () => shownPanels(figure).map((p) => p.querySelector(".plot")).find(Boolean);
    const act = (factor) => () => {
      const found = plot();
      if (found) zoomBy(figure, found, factor);
    };
    bar.append(tool("+", `Zoom in: ${title}`, act(0.5)), tool("\u2212", `Zoom out: ${title}`, act(2)),
      tool("Whole", `Show the whole axes: ${title}`, () => resetZoom(figure)));
  }
  bar.append(
    tool("SVG", `Save as SVG: ${title}`, () => save(`${name}.svg`, "image/svg+xml", figureSvg(figure).text)),
    tool("PNG", `Save as PNG: ${title}`, async () => save(`${name}.png`, "image/png", await figurePng(figure))),
    tool("CSV", `Save the numbers as CSV: ${title}`, () => save(`${name}.csv`, "text/csv", figureCsv(figure))));
  figure.prepend(bar);
  for (const panel of all(".panel", figure)) {
    startTips(panel);
    startZoom(figure, panel);
  }
}
