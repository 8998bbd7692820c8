// Why the method chose a trial. Computing this may take a moment, so it is loaded separately.
import { cell, element, load, number } from "./words.js";

const card = document.getElementById("explain");
const text = card.querySelector("p");
try {
  const { reason, mean, sd, objectives, constraints, ...rest } = await load(card.dataset.api);
  text.textContent = reason ?? "";
  const facts = Number.isFinite(mean) ? { expected: `${number(mean)} ± ${number(sd)}`, ...rest } : rest;
  for (const [name, each] of Object.entries(objectives ?? {})) {
    facts[`expected ${name}`] = `${number(each.mean)} ± ${number(each.sd)}`;
  }
  for (const [limit, chance] of Object.entries(constraints ?? {})) {
    facts[`chance of ${limit}`] = `${(100 * chance).toPrecision(3)} %`;
  }
  const rows = Object.entries(facts).map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, cell(value))));
  if (rows.length) card.append(element("table", { class: "plain" }, element("tbody", {}, ...rows)));
} catch (error) {
  text.textContent = error.message;
}
