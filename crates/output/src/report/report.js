"use strict";
// Starts everything. One part that fails must not take the others with it, and is told.
(async function () {
  try {
    await report.load();
  } catch (error) {
    page.tell(typeof DecompressionStream === "undefined" ? new Error("this browser is too old for the page; use a browser of 2023 or later") : error);
    return;
  }
  for (const start of [report.startGantt, report.startLines, report.startUsage, report.startPlatform, report.startDecisions]) {
    try {
      start();
    } catch (error) {
      page.tell(error);
    }
  }
  try {
    page.start();
  } catch (error) {
    page.tell(error);
  }
  document.documentElement.dataset.ready = "yes";
})();
