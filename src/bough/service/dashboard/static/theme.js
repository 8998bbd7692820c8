// Light or dark as the reader chose, or as their system says. Loaded before anything is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("bough-theme"); } catch { /* storage may be off */ }

  const apply = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    root.dataset.theme = dark ? "dark" : "light";
    document.dispatchEvent(new CustomEvent("bough-theme"));
  };
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme").addEventListener("click", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("bough-theme", chosen); } catch { /* then for this page only */ }
      apply();
    });
  });
})();
