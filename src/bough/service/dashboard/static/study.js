// A study's page: the chosen branch, the news of the study, and the parts that follow them.
import { Figures } from "./figures.js";
import { Trials } from "./trials.js";
import { cell, element, load, number } from "./words.js";

const root = document.getElementById("study");
const { api, page } = root.dataset;
const list = document.getElementById("branches");
const filter = document.getElementById("filter");

const figures = new Figures(api, choose, JSON.parse(root.dataset.templates));
const trials = new Trials(api, page);
let branch = {};

// ---- the chosen branch -------------------------------------------------------------------------------

function choose(wanted) {
  branch = JSON.stringify(wanted) === JSON.stringify(branch) ? {} : wanted;
  const text = Object.entries(branch).map(([path, label]) => `${path.split("/").at(-1)} = ${label}`).join(" › ");
  filter.hidden = !text;
  document.getElementById("filter-text").textContent = text;
  markBranches();
  figures.show(branch);
  trials.show(branch);
}

function markBranches() {
  const chosen = JSON.stringify(branch);
  for (const button of list?.querySelectorAll("button") ?? []) {
    button.setAttribute("aria-pressed", String(JSON.stringify(JSON.parse(button.dataset.branch)) === chosen));
  }
}

document.getElementById("filter-clear").addEventListener("click", () => choose({}));
list?.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) choose(JSON.parse(button.dataset.branch));
});
list?.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const buttons = [...list.querySelectorAll("button")];
  buttons[buttons.indexOf(document.activeElement) + step]?.focus();
  event.preventDefault();
});

const measure = document.getElementById("measure");
measure?.addEventListener("change", () => {
  figures.showMeasure(measure.value);
  refreshBranches().catch(() => {});
});

async function refreshBranches() {
  if (!list) return;
  const query = measure?.value ? `?${new URLSearchParams({ measure: measure.value })}` : "";
  for (const found of await load(`${api}/branches${query}`)) {
    const button = [...list.querySelectorAll("button")].find(
      (each) => JSON.stringify(JSON.parse(each.dataset.branch)) === JSON.stringify(found.path),
    );
    if (!button) continue;
    button.querySelector(".count").textContent = found.trials;
    button.querySelector(".best").textContent = number(found.best);
  }
}

// ---- news --------------------------------------------------------------------------------------------

const facts = Object.fromEntries([...document.querySelectorAll("[data-fact]")].map((each) => [each.dataset.fact, each]));
const live = document.getElementById("live");
let last = null;

function news(status) {
  const best = status.best;
  facts.best.textContent = number(status.front ?? best?.value ?? null);
  facts["best-trial"].replaceChildren(
    ...(best ? [element("a", { href: `${page}/trials/${best.number}` }, `trial ${best.number}`)] : []),
  );
  document.getElementById("best").hidden = !best;
  facts["best-config"].replaceChildren(...Object.entries(best?.config ?? {}).map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, cell(value)))));
  facts.trials.textContent = status.trials;
  facts.done.textContent = status.done;
  facts.failed.textContent = status.failed;
  facts.stopped.textContent = status.stopped;
  facts.retracted.textContent = status.retracted;
  for (const name of ["stopped", "retracted"]) facts[name].parentElement.hidden = !status[name];
  facts.open.textContent = status.trials - status.done - status.failed - status.stopped - status.retracted;
  if (last !== null) {
    figures.changed();
    trials.changed();
    refreshBranches().catch(() => {});
  }
  last = status;
}

const events = new EventSource(`${api}/events`);
events.addEventListener("open", () => live.classList.add("on"));
events.addEventListener("error", () => live.classList.remove("on"));
events.addEventListener("status", (event) => news(JSON.parse(event.data)));
events.addEventListener("gone", () => {
  events.close();
  live.classList.remove("on");
});

// ---- snippets ----------------------------------------------------------------------------------------

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch { // no clipboard without https: select the text for the reader to copy
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

root.dataset.ready = "";
