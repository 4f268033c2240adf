// Folds: on a phone the page is the answer and a list of headings, each of which opens its section.
const narrow = matchMedia("(max-width: 700px)");
const OPEN_ALWAYS = ["answer", "filter"];

function setOpen(section, open) {
  section.classList.toggle("shut", !open);
  section.querySelector("h2 button").setAttribute("aria-expanded", String(open));
}

function startFolds() {
  if (!narrow.matches) {
    narrow.addEventListener("change", startFolds, { once: true });
    return;
  }
  for (const section of all("main > section[id]")) {
    if (OPEN_ALWAYS.includes(section.id)) continue;
    const head = section.querySelector("h2");
    head.replaceChildren(element("button", {
      type: "button",
      className: "section",
      onclick: () => setOpen(section, section.classList.contains("shut")),
    }, head.textContent));
    setOpen(section, false);
  }
}

// Opens everything that a part of the page is folded into.
function reveal(part) {
  for (let fold = part.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  const section = part.closest("section.shut");
  if (section) setOpen(section, true);
}
