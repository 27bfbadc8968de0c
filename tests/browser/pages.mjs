// Opens all kinds of pages from the disk in headless Chromium, wide and narrow, light, dark and printed: there must be no error, no network
// request and no element beyond the page; axe-core, if installed, must find no serious problem. Takes pictures.
//
//   node pages.mjs PICTURES CHROMIUM PLAYWRIGHT AXE NAME=PAGE...       AXE: the file of axe-core, or `-`
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { mkdirSync, readFileSync } from "node:fs";

const [pictures, chromium, library, axe, ...named] = process.argv.slice(2);
const playwright = createRequire(import.meta.url)(library);
const judge = axe === "-" ? null : readFileSync(axe, "utf8");
mkdirSync(pictures, { recursive: true });
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await playwright.chromium.launch({ executablePath: chromium, args: flags });
const wrong = [];
const must = (holds, what) => {
  console.log(`${holds ? "ok   " : "WRONG"} ${what}`);
  if (!holds) wrong.push(what);
};
const wide = { viewport: { width: 1440, height: 900 } };
const narrow = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const looks = [
  ["wide-light", wide],
  ["wide-dark", { ...wide, colorScheme: "dark" }],
  ["narrow-light", narrow],
  ["narrow-dark", { ...narrow, colorScheme: "dark" }],
  ["print", { viewport: { width: 794, height: 1123 }, colorScheme: "dark" }],
];

/** Describes the serious problems that axe-core finds. */
async function serious(tab) {
  if (!judge) return [];
  // Pages allow no scripts from other sources, so the browser inserts axe-core.
  await tab.evaluate(judge);
  const { violations } = await tab.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const found = violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return found.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join("; ")}`);
}

async function look(page, path, [name, options]) {
  const address = pathToFileURL(path).href;
  const context = await browser.newContext(options);
  const tab = await context.newPage();
  const found = [];
  tab.on("pageerror", (error) => found.push(String(error)));
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && found.push(message.text()));
  tab.on("request", (request) => !request.url().startsWith("blob:") && request.url() !== address && found.push(`asks for ${request.url()}`));
  await tab.goto(address);
  await tab.waitForSelector("html[data-ready]");
  if (name === "print") await tab.emulateMedia({ media: "print" });
  await tab.waitForTimeout(150);
  const width = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (width > 1) found.push(`${width} px stand out to the right`);
  if (name === "print") {
    const paper = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    if (paper !== "rgb(255, 255, 255)") found.push(`printed on ${paper}`);
  } else {
    found.push(...(await serious(tab)));
  }
  await tab.screenshot({ path: `${pictures}/${page}-${name}.png`, fullPage: true });
  await context.close();
  must(found.length === 0, `${page}, ${name}: nothing fails, stands out or is hard to read ${found.join(" | ")}`);
}

/** Checks sorting, the rest of a long table, the switch of colours, and files to save. */
async function use(page, path) {
  const context = await browser.newContext(wide);
  const tab = await context.newPage();
  await tab.goto(pathToFileURL(path).href);
  await tab.waitForSelector("html[data-ready]");
  const before = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await tab.locator("#theme").click();
  const after = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  must(before !== after, `${page}: the switch changes colours`);
  const links = await tab.evaluate(() => [...document.querySelectorAll("nav.contents a")].every((link) => document.querySelector(link.getAttribute("href"))));
  must(links, `${page}: the contents lead to headings`);
  const sorts = await tab.locator("table.sortable th button.sort:visible");
  if (await sorts.count() > 0) {
    await sorts.first().click();
    must(await tab.locator("th[aria-sort=ascending]").count() === 1, `${page}: a click on a heading sorts`);
  }
  const tall = tab.locator(".tall").filter({ has: tab.locator("#gantt-axis") });
  if (await tall.count() > 0 && await tall.evaluate((area) => area.scrollHeight > area.clientHeight + 50)) {
    const off = await tall.evaluate((area) => {
      area.scrollTop = 1e6;
      return area.querySelector("#gantt-axis").getBoundingClientRect().top - area.getBoundingClientRect().top;
    });
    must(Math.abs(off) < 2, `${page}: the axis of time stays while the processes scroll`);
  }
  const lines = await tab.locator(".save").count();
  for (let line = 0; line < lines; line += 1) {
    const buttons = tab.locator(".save").nth(line).locator("button:visible");
    for (let at = 0; at < await buttons.count(); at += 1) {
      const button = buttons.nth(at);
      const saved = tab.waitForEvent("download", { timeout: 10000 });
      await button.click();
      const file = await (await saved).path();
      const start = readFileSync(file).subarray(0, 400).toString("latin1");
      const name = (await saved).suggestedFilename();
      const isRight = { svg: /^<svg /, png: /^.PNG/, csv: /^[^<]+\r\n/ }[name.split(".").pop()].test(start);
      if (!isRight) must(false, `${page}: ${name} is not what its name says`);
    }
  }
  must(true, `${page}: ${lines} charts and tables can be saved`);
  await context.close();
}

for (const one of named) {
  const at = one.indexOf("=");
  const [page, path] = [one.slice(0, at), one.slice(at + 1)];
  for (const which of looks) await look(page, path, which);
  await use(page, path);
}
await browser.close();
if (wrong.length > 0) {
  console.log(`${wrong.length} wrong`);
  process.exit(1);
}
