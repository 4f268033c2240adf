// Start: every part of the page gets what it can do; for paper, all folds are opened.
document.documentElement.classList.add("scripted");
all(".fig").forEach(startFigure);
all("table").forEach(startTable);
startTraces();
startFilter();
readAddress();

const opened = [];
addEventListener("beforeprint", () => {
  hideTip();
  for (const fold of all("details:not([open])")) {
    if (fold.closest("#filter")) continue;
    fold.open = true;
    opened.push(fold);
  }
});
addEventListener("afterprint", () => {
  for (const fold of opened.splice(0)) fold.open = false;
});
