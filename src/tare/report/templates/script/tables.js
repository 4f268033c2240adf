// Tables: sorted by any column; the trials behind a number are marked in the table of trials.
const collator = new Intl.Collator("en", { numeric: true });

function sortTable(table, column, descending) {
  const body = table.tBodies[0];
  const key = (row) => {
    const cell = row.children[column];
    return cell.dataset.v === undefined ? [1, cell.textContent.trim()] : [0, Number(cell.dataset.v)];
  };
  const rows = [...body.rows].map((row, i) => [key(row), i, row]);
  const sign = descending ? -1 : 1;
  rows.sort(([a, i], [b, j]) => {
    if (a[0] !== b[0]) return a[0] - b[0]; // what has no number stays last
    const order = a[0] ? collator.compare(a[1], b[1]) : a[1] - b[1];
    return sign * order || i - j;
  });
  body.append(...rows.map((r) => r[2]));
  all("thead th", table).forEach((head, i) => {
    if (i === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

function startTable(table) {
  if (table.tBodies[0].rows.length > 1) {
    all("thead th", table).forEach((head, column) => {
      const button = element("button", { type: "button", className: "sort" }, ...head.childNodes);
      button.addEventListener("click", () =>
        sortTable(table, column, head.getAttribute("aria-sort") === "ascending"));
      head.replaceChildren(button);
    });
  }
  const name = table.dataset.name;
  if (!name) return;
  const bar = element("p", { className: "tools" });
  bar.append(tool("CSV", `Save this table as CSV: ${table.closest(".scroll").getAttribute("aria-label")}`, () => save(`${name}.csv`, "text/csv", tableCsv(table))));
  table.closest(".scroll").before(bar);
}

function tool(text, label, action) {
  const button = element("button", { type: "button", title: label }, text);
  button.setAttribute("aria-label", label);
  button.addEventListener("click", action);
  return button;
}

const traceNote = element("p", { className: "traced", hidden: true, tabIndex: -1 });

function showTrials(rows, what, mark) {
  const table = document.getElementById("trials-table");
  if (!table) return;
  const names = new Set(trialNames(rows));
  for (const row of table.tBodies[0].rows) row.classList.toggle("hit", names.has(row.dataset.trial));
  const only = element("label", {}, element("input", { type: "checkbox" }), " show only these");
  only.firstChild.addEventListener("change", (event) =>
    table.classList.toggle("only-hits", event.target.checked));
  table.classList.remove("only-hits");
  traceNote.replaceChildren(element("b", {}, `${plural(rows.length, "trial")}: ${what} `), only, " ",
    tool("Clear", "Mark no trials", clearTrials));
  traceNote.hidden = false;
  table.closest(".scroll").before(traceNote);
  reveal(table);
  traced = mark;
  keepAddress();
  traceNote.scrollIntoView({ block: "start", behavior: calm() ? "auto" : "smooth" });
  traceNote.focus({ preventScroll: true });
}

function clearTrials() {
  all("#trials-table .hit").forEach((row) => row.classList.remove("hit"));
  document.getElementById("trials-table").classList.remove("only-hits");
  traceNote.hidden = true;
  traced = "";
  keepAddress();
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function startTraces() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link) return;
    const holder = link.closest("[data-m]");
    if (link.classList.contains("trace") && holder) {
      event.preventDefault();
      openTrials(holder, -1);
      return;
    }
    // the address keeps the filter, so a link inside the page scrolls without changing it
    const target = document.getElementById(link.getAttribute("href").slice(1));
    if (!target) return;
    event.preventDefault();
    reveal(target);
    target.scrollIntoView({ behavior: calm() ? "auto" : "smooth" });
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  });
}
