// Hover and keyboard: what a mark is, beside the pointer or the focus.
const tip = element("div", { id: "tip", role: "tooltip", hidden: true });
const live = element("div", { className: "unseen", ariaLive: "polite" });
document.body.append(tip, live);
const cursor = shape(null, "circle", { class: "cursor", r: 4.5 });
let lit = null; // the mark that is being told

function placeTip(x, y) {
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - width - 16 : x + 16;
  const top = y + 16 + height > innerHeight ? y - height - 12 : y + 16;
  tip.style.left = `${clamp(left, 4, Math.max(4, innerWidth - width - 4))}px`;
  tip.style.top = `${clamp(top, 4, Math.max(4, innerHeight - height - 4))}px`;
}

function showTip(mark, point, x, y, aloud) {
  const { lines } = tell(mark, point);
  tip.replaceChildren(...lines.map((line, i) => element(i ? "div" : "b", {}, line)));
  tip.hidden = false;
  light(mark, point);
  placeTip(x, y);
  if (aloud) live.textContent = lines.join(". ");
}

function light(mark, point) {
  if (lit && lit !== mark) lit.classList.remove("lit");
  lit = mark;
  mark.classList.add("lit");
  const at = point >= 0 ? cornersOf(mark)[point] : null;
  cursor.remove();
  if (!at) return;
  cursor.setAttribute("cx", at[0]);
  cursor.setAttribute("cy", at[1]);
  mark.parentNode.append(cursor);
  cursor.style.transform = mark.style.transform;
}

function hideTip() {
  tip.hidden = true;
  cursor.remove();
  if (lit) lit.classList.remove("lit");
  lit = null;
}

function toDrawing(panel, event) {
  const matrix = panel.getScreenCTM();
  return matrix ? new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()) : null;
}

function onScreen(panel, mark, point) {
  const at = point >= 0 ? cornersOf(mark)[point] : null;
  if (!at) {
    const box = mark.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }
  const moved = new DOMPoint(...at).matrixTransform((mark.getScreenCTM() || panel.getScreenCTM()));
  return [moved.x, moved.y];
}

// What is under the pointer: the nearest point of any line of the plot, else the mark itself.
const REACH = 36;
function under(panel, event) {
  const at = toDrawing(panel, event);
  if (!at) return null;
  const direct = event.target.closest(MARK);
  const plot = plotAt(panel, at);
  let best = null, least = REACH;
  const lines = plot ? all("path[data-m]", plot).filter(isShown) : [];
  for (const mark of lines) {
    const points = cornersOf(mark);
    for (let i = 0; i < points.length; i += 1) {
      const [x, y] = points[i];
      if (!inside(plot, x, y)) continue;
      const distance = Math.hypot(x - at.x, y - at.y);
      if (distance < least) [best, least] = [[mark, i], distance];
    }
  }
  if (best) return best;
  if (!direct || !panel.contains(direct)) return null;
  if (kindOf(direct).kind !== "e") return [direct, -1];
  const matrix = direct.getScreenCTM();
  const own = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  const near = cornersOf(direct).findIndex(([x, y]) => Math.hypot(x - own.x, y - own.y) < 5);
  return [direct, near];
}

const isShown = (mark) => !mark.closest(".off");
const marksOf = (panel) => all(MARK, panel).filter(isShown);

// The keys of a drawing. State: which mark, which point of it (-1: the mark as a whole).
function keysOf(panel) {
  let mark = null, point = -1;
  const go = (next, at) => {
    mark = next;
    point = at;
    mark.setAttribute("tabindex", "-1");
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", tell(mark, point).lines.join(". "));
    mark.focus({ preventScroll: true });
    showTip(mark, point, ...onScreen(panel, mark, point), true);
  };
  panel.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (zoomKey(panel, event)) {
      event.preventDefault();
      hideTip();
      return;
    }
    const marks = marksOf(panel);
    const place = marks.indexOf(mark);
    const count = mark ? pointsOf(mark).length : 0;
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const across = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!marks.length) return;
    if ((along || across) && place < 0) go(marks[0], firstPoint(marks[0]));
    else if (along && count) go(mark, clamp(point + along, firstPoint(mark), count - 1));
    else if (along || across) {
      const next = marks[clamp(place + (along || across), 0, marks.length - 1)];
      const same = kindOf(next).kind !== "e" && pointsOf(next).length ? Math.max(point, 0) : -1;
      go(next, Math.min(same, pointsOf(next).length - 1));
    } else if (event.key === "Home") go(marks[0], firstPoint(marks[0]));
    else if (event.key === "End") go(marks[marks.length - 1], firstPoint(marks[marks.length - 1]));
    else if ((event.key === "Enter" || event.key === " ") && mark) openTrials(mark, point);
    else return;
    event.preventDefault();
  });
  panel.addEventListener("focusout", (event) => {
    if (!panel.contains(event.relatedTarget)) hideTip();
  });
}

const firstPoint = (mark) => (kindOf(mark).kind === "e" || !pointsOf(mark).length ? -1 : 0);

function openTrials(mark, point) {
  const { rows, lines } = tell(mark, point);
  if (!rows.length) return;
  hideTip();
  showTrials(rows, lines.slice(0, 2).join(", "), kindOf(mark).kind === "e" && point < 0
    ? mark.dataset.m : "");
}

function startTips(panel) {
  for (const title of all("title", panel)) {
    // the browser's own tooltip would show beside ours
    const parent = title.parentNode;
    if (!parent.closest(MARK)) parent.setAttribute("data-label", title.textContent);
    title.remove();
  }
  panel.setAttribute("tabindex", "0");
  panel.setAttribute("role", "group");
  panel.addEventListener("pointermove", (event) => {
    const found = event.buttons ? null : under(panel, event);
    if (found) showTip(...found, event.clientX, event.clientY, false);
    else hideTip();
  });
  panel.addEventListener("pointerleave", hideTip);
  panel.addEventListener("click", (event) => {
    const found = panel.dataset.dragged ? null : under(panel, event);
    delete panel.dataset.dragged;
    if (found) openTrials(...found);
  });
  keysOf(panel);
}
