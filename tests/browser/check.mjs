// Opens a report of LU 2000/50 from the disk in headless Chromium: there must be no error and no network request; a zoom, a filter,
// a tooltip and a step of the slider must work. Takes pictures.
//
//   node check.mjs REPORT.html PICTURES CHROMIUM [PLAYWRIGHT]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { mkdirSync } from "node:fs";

const [page, pictures, chromium, library = "playwright-core"] = process.argv.slice(2);
const playwright = createRequire(import.meta.url)(library);
mkdirSync(pictures, { recursive: true });
const address = pathToFileURL(page).href;
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await playwright.chromium.launch({ executablePath: chromium, args: flags });
const wrong = [];
const must = (holds, what) => {
  console.log(`${holds ? "ok   " : "WRONG"} ${what}`);
  if (!holds) wrong.push(what);
};

/** A page that records errors and requests. */
async function open(options) {
  const tab = await browser.newPage(options);
  tab.failures = [];
  tab.requests = [];
  tab.on("pageerror", (error) => tab.failures.push(String(error)));
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && tab.failures.push(message.text()));
  tab.on("request", (request) => !request.url().startsWith("blob:") && request.url() !== address && tab.requests.push(request.url()));
  const begin = Date.now();
  await tab.goto(address);
  await tab.waitForSelector("html[data-ready]");
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  tab.opened = Date.now() - begin;
  return tab;
}
const picture = (tab, name, options = {}) => tab.screenshot({ path: `${pictures}/${name}.png`, ...options });
/** Checks that no element extends beyond the right edge, and that texts of the drawing do not overlap. */
const layout = (tab) => tab.evaluate(() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  const boxes = [...document.querySelectorAll("#platform-after .platform-drawing text")].filter((text) => text.textContent).map((text) => [text.textContent, text.getBoundingClientRect()]);
  for (const [at, [a, one]] of boxes.entries()) {
    for (const [b, other] of boxes.slice(at + 1)) {
      const isOver = one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
      if (isOver) found.push(`\`${a}\` covers \`${b}\``);
    }
  }
  return found;
});

const tab = await open({ viewport: { width: 1440, height: 900 } });
console.log(`opened in ${tab.opened} ms`);
must(tab.opened < 3000, "the page opens");
must(await tab.locator(".uplot").count() >= 3, "the charts are drawn");
must((await layout(tab)).length === 0, `nothing overlaps at 1440 px ${await layout(tab)}`);
await picture(tab, "wide-light", { fullPage: true });

// Zoom: 60 steps of the wheel, each one drawn before the next.
const canvas = tab.locator("#gantt-canvas");
await canvas.scrollIntoViewIfNeeded();
const box = await canvas.boundingBox();
const range = () => tab.locator("#gantt-range").textContent();
const whole = await range();
const zoom = await tab.evaluate(async () => {
  const canvas = document.getElementById("gantt-canvas");
  canvas.focus();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const begin = performance.now();
  let longest = 0;
  for (let step = 0; step < 60; step += 1) {
    const before = performance.now();
    const rect = canvas.getBoundingClientRect();
    const deltaY = step < 30 ? -100 : 100;
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, bubbles: true, cancelable: true, clientX: rect.left + rect.width / 3, clientY: rect.top + 100 }));
    await frame();
    longest = Math.max(longest, performance.now() - before);
    if (step === 29) window.deepest = document.getElementById("gantt-range").textContent;
  }
  return { total: performance.now() - begin, longest, deepest: window.deepest };
});
console.log(`60 zoom steps in ${Math.round(zoom.total)} ms, the longest ${Math.round(zoom.longest)} ms; ${zoom.deepest}`);
must(zoom.total < 3000, "60 zoom steps take less than 3 s");
must(zoom.deepest !== whole, "the wheel zooms in");
await tab.mouse.move(box.x + 300, box.y + 120);
await tab.keyboard.press("0");
await tab.waitForTimeout(100);
must((await range()) === whole, "the key 0 shows everything again");
await tab.mouse.down();
await tab.mouse.move(box.x + 340, box.y + 130, { steps: 4 });
await tab.mouse.up();
await tab.waitForTimeout(100);
must((await range()) !== whole, "dragging selects what is shown");
for (let step = 0; step < 8; step += 1) await tab.keyboard.press("+");
await tab.waitForTimeout(100);
await tab.mouse.move(box.x + 700, box.y + 201);
const told = await tab.locator("#tooltip").textContent();
must(/process \d+ on .*\n?.*computes [\d.]+ [mun]?s/s.test(told), `the tooltip tells numbers: ${told.replaceAll("\n", "; ")}`);
await picture(tab, "zoomed-light");
await tab.selectOption("#gantt-colours", "cluster");
await tab.keyboard.press("0");
await tab.locator("#zoom-all").click();
await tab.waitForTimeout(100);
await picture(tab, "clusters-light");
await tab.selectOption("#gantt-colours", "state");

// The slider over calls.
const words = tab.locator("#platform-words");
const before = await words.textContent();
await tab.locator("#call-after").click();
const after = await words.textContent();
must(before !== after && /moved from|nothing moved/.test(after), `the slider goes from call to call: ${after}`);

// The filter of decisions.
const rows = tab.locator("#decision-table tbody tr");
const all = await rows.count();
await tab.fill("#decision-text", "p37");
await tab.selectOption("#decision-verdict", "moved");
const filtered = await rows.count();
must(filtered > 0 && filtered < all, `the filter leaves ${filtered} of ${all} lines`);
const texts = await tab.locator("#decision-table tbody tr:not(.call)").allTextContents();
await tab.locator("#decision-table tbody tr:not(.call) button.why").first().click();
const reason = await tab.locator("#decision-table tr.told").textContent();
must(/\(PM.*\) of p37/.test(reason) && /would save t1 - t2 = /.test(reason), `a decision is explained in words: ${reason}`);
must(texts.length > 0 && texts.every((text) => text.startsWith("p37") && text.includes("moved")), "only what was asked for is left");
await tab.locator("#decisions").scrollIntoViewIfNeeded();
await picture(tab, "filter-light");
must(tab.failures.length === 0, `nothing failed ${tab.failures}`);
must(tab.requests.length === 0, `nothing was asked for ${tab.requests}`);
await tab.close();

for (const [name, options] of [
  ["wide-dark", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" }],
  ["narrow-light", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }],
  ["narrow-dark", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true, colorScheme: "dark" }],
]) {
  const other = await open(options);
  const found = await layout(other);
  must(other.failures.length === 0 && other.requests.length === 0 && found.length === 0, `${name}: nothing fails or overlaps ${other.failures} ${found}`);
  await picture(other, name, { fullPage: true });
  await other.close();
}
const paper = await open({ viewport: { width: 794, height: 1123 }, colorScheme: "dark" });
await paper.emulateMedia({ media: "print" });
await paper.waitForTimeout(300);
must(await paper.evaluate(() => getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"), "dark pages are printed on white");
await picture(paper, "print", { fullPage: true });
await paper.pdf({ path: `${pictures}/print.pdf`, format: "A4" });
await browser.close();
if (wrong.length > 0) {
  console.log(`${wrong.length} wrong`);
  process.exit(1);
}
