// The table of trials: search, order, pages, and the branch that was chosen.
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
    const query = new URLSearchParams({ offset, limit: ROWS, order: this.tools.elements.order.value });
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
    this.place.textContent = found.total ? `${offset + 1}–${end} of ${found.total}` : "no trial matches";
    this.buttons.first.disabled = this.buttons.back.disabled = offset === 0;
    this.buttons.on.disabled = this.buttons.last.disabled = end >= found.total;
    this.body.dataset.branch = JSON.stringify(this.branch);
  }

  row(trial) {
    const config = element("td", { class: "config" });
    for (const [name, value] of Object.entries(trial.config)) {
      config.append(element("span", { class: "pair" }, element("i", {}, name), ` ${cell(value)}`));
    }
    if (trial.error) config.append(element("span", { class: "why" }, trial.error));
    const worker = element("td", {}, trial.worker ?? "");
    if (trial.attempt > 1) worker.append(" ", element("span", { class: "tag" }, `attempt ${trial.attempt}`));
    return element("tr", {},
      element("td", { class: "n" }, element("a", { href: `${this.page}/trials/${trial.number}` }, String(trial.number))),
      element("td", {}, element("span", { class: `state ${trial.state}` }, trial.state)),
      element("td", { class: "n" }, number(trial.value)),
      config,
      element("td", { class: "n" }, duration(trial)),
      worker);
  }
}
