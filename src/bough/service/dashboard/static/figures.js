// The figures of a study: each is loaded when it comes into view, and again when the study, the branch or
// its options have changed while it is in view. A change of theme redraws it here, without the server.
import { element, load } from "./words.js";

// Plotly's markup as plain text.
function plain(text) {
  const words = text.replace(/<[^>]*>/g, "");
  return words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

const PAUSE = 2000; // least milliseconds between two loads of a live figure
const NARROW = "(max-width: 640px)";

export class Figures {
  constructor(api, chooseBranch, templates) {
    this.api = api;
    this.templates = templates;
    this.chooseBranch = chooseBranch;
    this.branch = {};
    this.measure = "";
    this.version = 0;
    this.figures = [...document.querySelectorAll("[data-figure]")].map((place) => ({
      place, name: place.dataset.figure, shown: null, seen: false, loading: false, last: 0,
    }));
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const figure = this.figures.find((each) => each.place === entry.target);
        figure.seen = entry.isIntersecting;
        this.refresh(figure);
      }
    }, { rootMargin: "300px" });
    for (const figure of this.figures) watch.observe(figure.place);
    document.addEventListener("bough-theme", () => this.dress());
    for (const form of document.querySelectorAll("[data-options]")) {
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("change", () => this.refreshAll());
    }
    matchMedia(NARROW).addEventListener("change", () => this.refreshAll());
  }

  show(branch) {
    this.branch = branch;
    this.refreshAll();
  }

  showMeasure(measure) {
    this.measure = measure;
    this.refreshAll();
  }

  changed() {
    this.version += 1;
    this.refreshAll();
  }

  get template() {
    return this.templates[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
  }

  // Give every drawn figure the template of the theme, those in view first.
  dress() {
    const drawn = this.figures.filter((figure) => figure.place.classList.contains("js-plotly-plot"));
    drawn.sort((one, other) => Number(other.seen) - Number(one.seen));
    for (const figure of drawn) Plotly.relayout(figure.place, { template: this.template });
  }

  refreshAll() {
    for (const figure of this.figures) this.refresh(figure);
  }

  wanted(figure) {
    const form = document.querySelector(`[data-options="${figure.name}"]`);
    const query = new URLSearchParams(form ? [...new FormData(form)].filter(([, value]) => value) : []);
    if ("columns" in figure.place.dataset && matchMedia(NARROW).matches) query.set("columns", 1);
    const whole = "whole" in figure.place.dataset; // the tree always shows the whole space
    if (!whole && Object.keys(this.branch).length) query.set("branch", JSON.stringify(this.branch));
    if (this.measure && !("unmeasured" in figure.place.dataset)) query.set("measure", this.measure);
    const address = `${this.api}/figures/${figure.name}?${query}`;
    return { address, version: this.version, branch: JSON.stringify(this.branch) };
  }

  async refresh(figure) {
    const wanted = this.wanted(figure);
    const same = figure.shown?.address === wanted.address;
    if (!figure.seen || figure.loading) return;
    if (same && figure.shown.version === wanted.version) {
      if (figure.name === "tree") this.mark(figure);
      return;
    }
    const early = same ? PAUSE - (performance.now() - figure.last) : 0;
    if (early > 0) {
      figure.timer ??= setTimeout(() => { figure.timer = null; this.refresh(figure); }, early);
      return;
    }
    figure.loading = true;
    figure.place.setAttribute("aria-busy", "true");
    try {
      await this.draw(figure, await load(wanted.address));
      if (figure.name !== "tree") figure.place.dataset.branch = wanted.branch; // see mark()
    } catch (error) {
      const note = figure.place.closest(".card, .pane").querySelector(".figure-head p");
      note.textContent = error.message; // the figure drawn before stays
    }
    figure.shown = wanted;
    figure.last = performance.now();
    figure.loading = false;
    figure.place.removeAttribute("aria-busy");
    this.refresh(figure); // in case something changed while it loaded
  }

  async draw(figure, { data, layout }) {
    this.head(figure, layout);
    layout.autosize = true;
    layout.template = this.template;
    figure.place.style.minWidth = layout.meta?.min_width ? `${layout.meta.min_width}px` : "";
    delete layout.width;
    const half = figure.place.closest(".grid > .card:not(.full)");
    const empty = !data.length; // a sentence says why
    const needed = half && figure.name !== "importance" ? 0 : layout.height ?? 0;
    layout.height = Math.max(empty ? 0 : needed, empty || figure.name === "timeline" ? 200 : 430);
    figure.place.style.height = `${layout.height}px`;
    if (figure.name === "tree") {
      for (const note of layout.annotations ?? []) note.captureevents = true;
      figure.bars = data.at(-1)?.customdata ?? [];
    }
    const first = !figure.place.classList.contains("js-plotly-plot");
    const config = { displayModeBar: false, responsive: true, scrollZoom: false };
    await Plotly.react(figure.place, data, layout, config);
    this.hint(figure.place.closest(".pan"));
    figure.place.dataset.drawn = String(Number(figure.place.dataset.drawn ?? 0) + 1);
    if (figure.name !== "tree") return;
    this.mark(figure);
    if (first) {
      figure.place.on("plotly_click", (event) => this.choose(figure, event.points[0].pointNumber));
      figure.place.on("plotly_clickannotation", (event) => this.choose(figure, event.index));
    }
  }

  // Show that a figure is wider than the page, and fade it out where more of it follows.
  hint(pan) {
    const more = () => pan.classList.toggle("more", pan.scrollLeft + pan.clientWidth < pan.scrollWidth - 4);
    pan.classList.toggle("wide", pan.scrollWidth > pan.clientWidth + 4);
    pan.onscroll = more;
    more();
  }

  // The heading of a figure as HTML, which breaks its lines where the page needs it.
  head(figure, layout) {
    const [title, ...notes] = (layout.title?.text ?? "").split("<br>").map(plain);
    const head = figure.place.closest(".pan").previousElementSibling;
    head.querySelector("h2").textContent = title || head.querySelector("h2").textContent;
    head.querySelector("p").textContent = notes.join(" ");
    const legend = figure.name !== "tree";
    const top = layout.margin?.t ?? layout.template.layout.margin.t;
    const spared = top - (legend ? 36 : 14);
    layout.title = { text: "" };
    layout.margin = { ...layout.margin, t: top - spared };
    if (layout.height) layout.height -= spared;
  }

  choose(figure, index) {
    const path = figure.bars[index];
    if (path) this.chooseBranch(Object.fromEntries(path));
  }

  // A frame around the chosen branch. The figure names the shape of each bar after its point: "branch 3".
  mark(figure) {
    const shapes = figure.place.layout?.shapes ?? [];
    const chosen = JSON.stringify(this.branch);
    if (figure.marked === chosen && figure.markedDraw === figure.place.dataset.drawn) return;
    figure.marked = chosen;
    figure.markedDraw = figure.place.dataset.drawn;
    const changes = {};
    figure.bars.forEach((path, index) => {
      const here = path.length > 0 && JSON.stringify(Object.fromEntries(path)) === chosen;
      const shape = shapes.findIndex((each) => each.name === `branch ${index}`);
      changes[`shapes[${shape}].line.width`] = here ? 4 : 0;
      changes[`shapes[${shape}].line.color`] = "#e69f00";
    });
    if (figure.bars.length) Plotly.relayout(figure.place, changes);
    figure.place.dataset.branch = chosen;
  }
}
