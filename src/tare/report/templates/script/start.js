// Start: every part of the page gets what it can do. Paper gets the summary, or everything with all
// folds opened.
document.documentElement.classList.add("scripted");
all(".fig").forEach(startFigure);
all("table").forEach(startTable);
startTraces();
startFilter();
startFolds();
readAddress();

const opened = [], whole = document.documentElement.classList;
document.querySelector(".contents").append(element("button", {
  type: "button",
  title: "Without this, paper gets the answer, the checks and the methods",
  onclick: () => {
    whole.add("print-all");
    print();
  },
}, "Print everything"));
addEventListener("beforeprint", () => {
  hideTip();
  if (!whole.contains("print-all")) return;
  for (const fold of all("details:not([open])")) {
    if (fold.closest("#filter")) continue;
    fold.open = true;
    opened.push(fold);
  }
});
addEventListener("afterprint", () => {
  for (const fold of opened.splice(0)) fold.open = false;
  whole.remove("print-all");
});
