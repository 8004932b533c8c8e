"use strict";
(() => {
  const root = document.documentElement;
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];

  // One headline measure at a time; without a script, or on paper, all of them.
  for (const block of every(".measures")) {
    const tabs = every("[role=tab]", block);
    const panels = tabs.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
    const show = (chosen) => tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      panels[i].hidden = i !== chosen;
    });
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => show(i));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) { const next = (i + step + tabs.length) % tabs.length; show(next); tabs[next].focus(); }
      });
    });
    if (tabs.length > 1) { block.classList.add("tabbed"); block.querySelector(".tabs").hidden = false; show(0); }
  }

  // Models are switched on and off everywhere they have a row of their own.
  const off = new Set();
  for (const chip of every(".chip")) {
    chip.addEventListener("click", () => {
      const model = chip.dataset.model;
      if (!off.delete(model)) off.add(model);
      chip.setAttribute("aria-pressed", String(!off.has(model)));
      for (const part of every("main [data-model]:not(.chip)")) part.toggleAttribute("data-hidden", off.has(part.dataset.model));
    });
  }

  // What can be scrolled must be reached by keyboard too.
  for (const part of every(".scroll")) if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;

  const button = document.querySelector(".theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });

  addEventListener("beforeprint", () => every("details").forEach((part) => { part.open = true; }));
})();
