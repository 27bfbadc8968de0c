"use strict";
// Starts everything. One part that fails must not take the others with it, and is told.
(async function () {
  const tell = (error) => {
    const box = report.byId("trouble");
    box.hidden = false;
    box.textContent = `A part of this page cannot be shown: ${error.message || error}`;
    console.error(error);
  };
  try {
    await report.load();
  } catch (error) {
    tell(typeof DecompressionStream === "undefined" ? new Error("this browser is too old; any of 2023 or later will do") : error);
    return;
  }
  for (const start of [report.startGantt, report.startLines, report.startUsage, report.startPlatform, report.startDecisions]) {
    try {
      start();
    } catch (error) {
      tell(error);
    }
  }
  document.documentElement.dataset.ready = "yes";
})();
