// The figures of a study: each is loaded when it comes into view, and again when the study, the branch or
// the theme has changed while it is in view.
import { element, load } from "./words.js";

// Plotly's markup as plain text.
function plain(text) {
  const words = text.replace(/<[^>]*>/g, "");
  return words.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

const PAUSE = 2000; // at least so many milliseconds between two loads of a live figure

export class Figures {
  constructor(api, chooseBranch) {
    this.api = api;
    this.chooseBranch = chooseBranch;
    this.branch = {};
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
    document.addEventListener("bough-theme", () => this.refreshAll());
  }

  show(branch) {
    this.branch = branch;
    this.refreshAll();
  }

  changed() {
    this.version += 1;
    this.refreshAll();
  }

  refreshAll() {
    for (const figure of this.figures) this.refresh(figure);
  }

  wanted(figure) {
    const dark = document.documentElement.dataset.theme === "dark";
    const query = new URLSearchParams({ dark });
    const whole = "whole" in figure.place.dataset; // the tree always shows the whole space
    if (!whole && Object.keys(this.branch).length) query.set("branch", JSON.stringify(this.branch));
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
      if (!figure.shown) figure.place.replaceChildren(element("p", { class: "soft" }, error.message));
    }
    figure.shown = wanted;
    figure.last = performance.now();
    figure.loading = false;
    figure.place.removeAttribute("aria-busy");
    this.refresh(figure); // something may have changed meanwhile
  }

  async draw(figure, { data, layout }) {
    this.head(figure, layout);
    layout.autosize = true;
    delete layout.width;
    const half = figure.place.closest(".grid > .card:not(.full)");
    const needed = half && figure.name !== "importance" ? 0 : layout.height ?? 0;
    layout.height = Math.max(needed, figure.name === "timeline" ? 200 : 430);
    figure.place.style.height = `${layout.height}px`;
    if (figure.name === "tree") {
      for (const note of layout.annotations ?? []) note.captureevents = true;
      figure.bars = data.at(-1)?.customdata ?? [];
    }
    const first = !figure.place.classList.contains("js-plotly-plot");
    const config = { displayModeBar: false, responsive: true, scrollZoom: false };
    await Plotly.react(figure.place, data, layout, config);
    figure.place.dataset.drawn = String(Number(figure.place.dataset.drawn ?? 0) + 1);
    if (figure.name !== "tree") return;
    this.mark(figure);
    if (first) {
      figure.place.on("plotly_click", (event) => this.choose(figure, event.points[0].pointNumber));
      figure.place.on("plotly_clickannotation", (event) => this.choose(figure, event.index));
    }
  }

  // The heading of a figure as HTML, which breaks its lines where the page needs it.
  head(figure, layout) {
    const [title, note = ""] = (layout.title?.text ?? "").split("<br>").map(plain);
    const head = figure.place.closest(".pan").previousElementSibling;
    head.querySelector("h2").textContent = title || head.querySelector("h2").textContent;
    head.querySelector("p").textContent = note;
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

  // A frame around the chosen branch; the bars are the last shapes of the figure, in the order of its points.
  mark(figure) {
    const shapes = figure.place.layout?.shapes ?? [];
    const chosen = JSON.stringify(this.branch);
    if (figure.marked === chosen && figure.markedDraw === figure.place.dataset.drawn) return;
    figure.marked = chosen;
    figure.markedDraw = figure.place.dataset.drawn;
    const start = shapes.length - figure.bars.length;
    const changes = {};
    figure.bars.forEach((path, index) => {
      const here = path.length > 0 && JSON.stringify(Object.fromEntries(path)) === chosen;
      changes[`shapes[${start + index}].line.width`] = here ? 4 : 0;
      changes[`shapes[${start + index}].line.color`] = "#e69f00";
    });
    if (figure.bars.length) Plotly.relayout(figure.place, changes);
    figure.place.dataset.branch = chosen;
  }
}
