// The filter: hides what belongs to unticked conditions; the address keeps it.
const hidden = { factors: new Map(), conditions: new Set() };
let traced = ""; // the effect whose trials are shown, as data-m

function isHidden(name, levels) {
  if (hidden.conditions.has(name)) return true;
  return Object.entries(levels || {}).some(([f, level]) => hidden.factors.get(f)?.has(level));
}

const levelsOf = new Map(DATA.conditions.map((c) => [c.name, c.levels]));
// A mark may stand for several conditions, with blanks between: it goes when all of them are hidden.
const conditionHidden = (names) => (levelsOf.has(names) ? [names] : names.split(" "))
  .every((name) => isHidden(name, levelsOf.get(name)));
const effectHidden = (e) => isHidden(e.t, { ...levelsOf.get(e.t), ...e.l });

function applyFilter() {
  for (const part of all("[data-condition]")) {
    part.classList.toggle("off", conditionHidden(part.dataset.condition));
  }
  for (const part of all('[data-m^="e"]')) {
    if (part.matches("a")) continue;
    part.classList.toggle("off", effectHidden(DATA.effects[Number(part.dataset.m.slice(1))]));
  }
  all(".panel[data-row]").forEach(stackRows);
  all("table.answers").forEach(hideEmptyColumns);
  for (const box of all(".box")) box.classList.toggle("bare", !box.querySelector(".panel > *:not(.off)"));
  noteFilter();
  keepAddress();
}

// Rows of a forest move up into the place of hidden ones.
function stackRows(panel) {
  const step = Number(panel.dataset.row);
  let gone = 0;
  for (const row of all("g.row", panel)) {
    if (row.classList.contains("off")) gone += 1;
    else row.style.transform = gone ? `translate(0, ${-gone * step}px)` : "";
  }
  const axis = panel.querySelector("g.foot");
  if (axis) axis.style.transform = gone ? `translate(0, ${-gone * step}px)` : "";
  panel.dataset.height = panel.dataset.height || panel.viewBox.baseVal.height;
  const { x, y, width } = panel.viewBox.baseVal;
  panel.setAttribute("viewBox", `${x} ${y} ${width} ${panel.dataset.height - gone * step}`);
  panel.closest(".box").classList.toggle("off", gone === all("g.row", panel).length);
}

function hideEmptyColumns(table) {
  const rows = all("tbody tr", table);
  const columns = rows.length ? rows[0].children.length : 0;
  const empty = (cell) => cell.matches(".off, .none");
  for (const row of rows) row.classList.toggle("off", all("td", row).every(empty));
  for (let i = 1; i < columns; i += 1) {
    const gone = rows.every((row) => empty(row.children[i]));
    for (const row of all("tr", table)) row.children[i].classList.toggle("gone", gone);
  }
}

function noteFilter() {
  const conditions = DATA.conditions.filter((c) => conditionHidden(c.name));
  const note = document.getElementById("filter-note");
  if (!conditions.length) {
    note.textContent = "all are shown";
    note.classList.remove("hiding");
    return;
  }
  const effects = DATA.effects.filter(effectHidden).length;
  const trials = DATA.trials.filter((t) => conditionHidden(t[1])).length;
  const names = [...hidden.factors].flatMap(([factor, levels]) => [...levels].map((l) => `${factor} ${l}`));
  names.push(...hidden.conditions);
  note.textContent = `hidden: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", \u2026" : ""} ` +
    `(${conditions.length} of ${plural(DATA.conditions.length, "condition")}, ${effects} of ` +
    `${plural(DATA.effects.length, "effect")}, ${trials} of ${plural(DATA.trials.length, "trial")})`;
  note.classList.add("hiding");
}

// #view?level.FACTOR=LEVEL&condition=NAME&trials=eN: everything named is hidden, or traced.
function keepAddress() {
  const state = new URLSearchParams();
  for (const [factor, levels] of hidden.factors) {
    for (const level of levels) state.append(`level.${factor}`, level);
  }
  for (const name of hidden.conditions) state.append("condition", name);
  if (traced) state.set("trials", traced);
  const text = state.toString();
  if (text || location.hash.startsWith("#view?")) {
    history.replaceState(null, "", text ? `#view?${text}` : "#");
  }
}

function readAddress() {
  if (!location.hash.startsWith("#view?")) return;
  const state = new URLSearchParams(location.hash.slice("#view?".length));
  hidden.factors.clear();
  hidden.conditions.clear();
  for (const [name, value] of state) {
    if (name === "condition" && levelsOf.has(value)) hidden.conditions.add(value);
    else if (name.startsWith("level.")) hideLevel(name.slice("level.".length), value);
  }
  for (const box of all("#filter-form input")) {
    box.checked = !(box.dataset.factor ? hidden.factors.get(box.dataset.factor)?.has(box.value)
      : hidden.conditions.has(box.value));
  }
  const mark = state.get("trials") || "";
  applyFilter();
  if (/^e\d+$/.test(mark) && DATA.effects[Number(mark.slice(1))]) {
    const { rows, lines } = tellEffect(Number(mark.slice(1)));
    showTrials(rows, lines.slice(0, 2).join(", "), mark);
  }
}

function hideLevel(factor, level) {
  if (!hidden.factors.has(factor)) hidden.factors.set(factor, new Set());
  hidden.factors.get(factor).add(level);
}

function startFilter() {
  const form = document.getElementById("filter-form");
  if (!form.querySelector("input")) return;
  document.getElementById("filter").hidden = false;
  const read = () => {
    hidden.factors.clear();
    hidden.conditions.clear();
    for (const box of all("input", form)) {
      if (box.checked) continue;
      if (box.dataset.factor) hideLevel(box.dataset.factor, box.value);
      else hidden.conditions.add(box.value);
    }
    applyFilter();
  };
  form.addEventListener("change", read);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(read));
  addEventListener("hashchange", readAddress);
  noteFilter();
}
