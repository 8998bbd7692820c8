// The table of trials: a column per parameter; search, order, pages, and the chosen branch.
import { cell, duration, element, load, number } from "./words.js";

const ROWS = 50;

export class Trials {
  constructor(api, page) {
    this.api = api;
    this.page = page;
    this.branch = {};
    this.wanted = 0; // the first row of the page that was asked for, whether it has come or not
    this.total = 0;
    this.body = document.querySelector("#table tbody");
    this.place = document.getElementById("place");
    this.tools = document.getElementById("tools");
    this.heads = [...document.querySelectorAll("#table thead button")];
    this.columns = this.heads.filter((head) => "by" in head.dataset).map((head) => head.dataset.by);
    this.measures = [...document.querySelectorAll("#table thead [data-measure]")].map((head) => head.dataset.measure);
    this.sort = { order: "latest" };
    for (const head of this.heads) head.addEventListener("click", () => this.sortBy(head));
    this.buttons = Object.fromEntries([...document.querySelectorAll("#pager [data-go]")].map((b) => [b.dataset.go, b]));
    let timer = null;
    this.tools.addEventListener("submit", (event) => event.preventDefault());
    this.tools.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.turn(0), 200);
    });
    for (const [where, button] of Object.entries(this.buttons)) {
      button.addEventListener("click", () => this.go(where));
    }
    this.turn(0);
  }

  // The first click on a column sorts it upwards (trials: the best first), the next one downwards.
  sortBy(head) {
    const cell = head.closest("th");
    const down = cell.getAttribute("aria-sort") === "ascending";
    for (const each of this.heads) each.closest("th").removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    if ("by" in head.dataset) this.sort = { by: head.dataset.by, descending: down };
    else if (head.dataset.order === "number") this.sort = { order: down ? "latest" : "number" };
    else this.sort = { order: down ? "worst" : "best" };
    this.turn(0);
  }

  go(where) {
    const last = Math.max(0, Math.floor((this.total - 1) / ROWS) * ROWS);
    const to = { first: 0, back: this.wanted - ROWS, on: this.wanted + ROWS, last }[where];
    this.turn(Math.min(Math.max(to, 0), last));
  }

  show(branch) {
    this.branch = branch;
    this.turn(0);
  }

  changed() {
    this.turn(this.wanted);
  }

  async turn(offset) {
    this.wanted = offset;
    this.pending?.abort(); // only the latest wish counts
    this.pending = new AbortController();
    const query = new URLSearchParams({ offset, limit: ROWS, ...this.sort });
    for (const name of ["search", "state"]) {
      if (this.tools.elements[name].value) query.set(name, this.tools.elements[name].value);
    }
    if (Object.keys(this.branch).length) query.set("branch", JSON.stringify(this.branch));
    let found;
    try {
      found = await load(`${this.api}/trials?${query}`, this.pending.signal);
    } catch (error) {
      if (error.name !== "AbortError") this.place.textContent = error.message;
      return;
    }
    this.total = found.total;
    this.body.replaceChildren(...found.trials.map((trial) => this.row(trial)));
    const end = offset + found.trials.length;
    this.place.textContent = found.total ? `${offset + 1}–${end} of ${found.total}` : "no trials";
    this.buttons.first.disabled = this.buttons.back.disabled = offset === 0;
    this.buttons.on.disabled = this.buttons.last.disabled = end >= found.total;
    this.body.dataset.branch = JSON.stringify(this.branch);
  }

  row(trial) {
    const worker = element("td", {}, trial.worker ?? "");
    if (trial.attempt > 1) worker.append(" ", element("span", { class: "tag" }, `attempt ${trial.attempt}`));
    const state = element("span", { class: `state ${trial.state}` }, trial.state);
    if (trial.error) state.title = trial.error;
    const states = [state];
    if (trial.violated.length) {
      const violates = `violates ${trial.violated.join(", ")}`;
      states.push(" ", element("span", { class: "tag", title: violates }, "not feasible"));
    }
    if (trial.retracted !== null) {
      states.push(" ", element("span", { class: "tag", title: trial.retracted }, "retracted"));
    }
    const measured = this.measures.map((name) =>
      element("td", { class: "n" }, Object.hasOwn(trial.measures, name) ? number(trial.measures[name]) : ""));
    const values = this.columns.map((name) =>
      element("td", { class: "n cell" }, Object.hasOwn(trial.config, name) ? cell(trial.config[name]) : ""));
    return element("tr", {},
      element("th", { class: "n", scope: "row" },
        element("a", { href: `${this.page}/trials/${trial.number}` }, String(trial.number))),
      element("td", {}, ...states),
      element("td", { class: "n" }, ...value(trial)),
      ...measured,
      ...values,
      element("td", { class: "n" }, duration(trial)),
      worker);
  }
}

// The value of a trial as nodes; what does not count is struck through.
function value(trial) {
  const now = number(trial.value);
  if (trial.retracted !== null) return [element("s", { title: `retracted: ${trial.retracted}` }, now)];
  if (trial.corrected === null || trial.value_before === trial.value) return [now];
  return [element("s", { title: `corrected: ${trial.corrected}` }, number(trial.value_before)), " ", now];
}
