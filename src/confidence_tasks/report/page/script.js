"use strict";
(() => {
  const root = document.documentElement;
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Show one headline measure at a time; without a script and in print, all are shown.
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

  // Show or hide all rows of a model.
  const off = new Set();
  for (const chip of every(".chip")) {
    chip.addEventListener("click", () => {
      const model = chip.dataset.model;
      if (!off.delete(model)) off.add(model);
      chip.setAttribute("aria-pressed", String(!off.has(model)));
      for (const part of every("main [data-model]:not(.chip)")) part.toggleAttribute("data-hidden", off.has(part.dataset.model));
    });
  }

  // Make scrollable tables reachable by keyboard.
  for (const part of every(".scroll")) if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;

  // Add buttons that copy or save each table and figure as it is shown.
  const latexOf = LATEX;
  const latex = (text) => [...text].map((char) => latexOf[char] ?? char).join("");
  const plain = (text) => /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
  const raised = (digits) => [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(digit)).join("");
  const value = (text) => text.replace(/−/g, "-").replace(/^–$/, "").replace(/^(-?\d{1,3}(,\d{3})+)(?=\.|$)/, (all) => all.replace(/,/g, ""))
    .replace(/×10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, power) => `e${raised(power)}`);
  const cells = (table) => {
    const grid = [];
    [...table.rows].filter((row) => !row.closest("[data-hidden]")).forEach((row, r) => {
      grid[r] ??= [];
      for (const cell of row.cells) {
        const copy = cell.cloneNode(true), limits = cell.querySelector("small")?.textContent ?? "";
        for (const part of every("small, i, sup", copy)) part.remove();
        const at = [...grid[r], undefined].findIndex((taken) => taken === undefined);
        for (let down = 0; down < cell.rowSpan; down++)
          for (let along = 0; along < cell.colSpan; along++)
            (grid[r + down] ??= [])[at + along] = { text: copy.textContent.trim().replace(/\s+/g, " "), limits };
      }
    });
    return grid;
  };
  const rowsOf = (table) => {
    const grid = cells(table), head = table.tHead?.rows.length ?? 0;
    const wide = grid[0].map((_, column) => grid.some((row) => row[column]?.limits));
    return grid.map((row, r) => row.flatMap((cell, column) => {
      const [low, high] = cell.limits.slice(1, -1).split(", ");
      if (!wide[column]) return [r < head ? cell.text : value(cell.text)];
      return r < head ? ["", " low", " high"].map((end) => cell.text + end) : [value(cell.text), value(low ?? ""), value(high ?? "")];
    }));
  };
  const quoted = (text) => /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  const csvOf = (table) => rowsOf(table).map((row) => row.map((text) => quoted(plain(text))).join(",")).join("\r\n") + "\r\n";
  const tabbed = (table) => rowsOf(table).map((row) => row.map(plain).join("\t")).join("\n");
  const latexTable = (table) => {
    const grid = cells(table), head = table.tHead?.rows.length ?? 0;
    const lines = grid.map((row) => row.map(({ text, limits }) => latex(text) + (limits && ` {\\scriptsize ${latex(limits)}}`)).join(" & ") + " \\\\");
    lines.splice(head, 0, "\\midrule");
    const columns = [...grid.at(-1)].map((cell, i) => i && /^[−\d.–]/.test(cell.text) ? "r" : "l").join("");
    return ["% needs \\usepackage{booktabs}", `\\begin{tabular}{${columns}}`, "\\toprule", ...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n");
  };
  const svgOf = (figure) => {
    const frame = figure.getBoundingClientRect(), style = getComputedStyle(root);
    const place = (part) => { const { left, top, width, height } = part.getBoundingClientRect(); return { x: left - frame.left, y: top - frame.top, width, height }; };
    const drawn = every("svg", figure).filter((part) => part.checkVisibility()).map((part) => {
      const copy = part.cloneNode(true);
      for (const [name, number] of Object.entries(place(part))) copy.setAttribute(name, number.toFixed(1));
      copy.setAttribute("color", getComputedStyle(part).color);
      for (const name of ["style", "class", "role", "aria-hidden"]) copy.removeAttribute(name);
      return copy.outerHTML;
    });
    const words = every("h4, .legend li", figure).filter((part) => part.checkVisibility()).map((part) => {
      const { x, y, height } = place(part), mark = part.querySelector("svg") ? 18 : 0, text = document.createElement("i");
      text.textContent = part.textContent.trim();
      return `<text x="${(x + mark).toFixed(1)}" y="${(y + 0.7 * height).toFixed(1)}" font-size="13" fill="var(--ink)">${text.innerHTML}</text>`;
    });
    let text = drawn.join("") + words.join(""), parts = "";
    const taken = new Set();
    for (let found = true; found;) {
      found = false;
      for (const [, id] of (text + parts).matchAll(/(?:href="#|url\(#)([\w-]+)/g)) {
        if (taken.has(id)) continue;
        taken.add(id);
        const part = document.getElementById(id);
        if (part && !figure.contains(part)) { parts += part.outerHTML; found = true; }
      }
    }
    const rules = [...document.styleSheets[0].cssRules].filter((rule) => /^\.s\d+$/.test(rule.selectorText ?? "") && (text + parts).includes(`"${rule.selectorText.slice(1)}"`));
    const { width, height } = frame;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height.toFixed(0)}" width="${width.toFixed(0)}" height="${height.toFixed(0)}" font-family="sans-serif"><style>${rules.map((rule) => rule.cssText).join("")}</style><rect width="100%" height="100%" fill="var(--card)"/><defs>${parts}</defs>${text}</svg>`
      .replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  };
  const copied = async (text) => {
    try { await navigator.clipboard.writeText(text); } catch {
      const area = document.body.appendChild(document.createElement("textarea"));
      area.value = text;
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const saved = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const tools = (after, what, name, buttons) => {
    const bar = document.createElement("p");
    bar.className = "tools";
    for (const [label, run] of buttons) {
      const part = document.createElement("button");
      part.type = "button";
      part.textContent = label;
      part.setAttribute("aria-label", `${label}: ${what}`);
      part.addEventListener("click", async () => {
        await run(name);
        part.textContent = label === "Copy" ? "Copied" : label;
        setTimeout(() => { part.textContent = label; }, 1500);
      });
      bar.append(part);
    }
    if (after.tagName === "FIGURE") after.append(bar); else after.after(bar);
  };
  every("main table").forEach((table, i) => {
    const what = table.caption?.textContent.trim() ?? "table";
    const name = `${table.closest("[id]").id}-${what.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40)}-${i + 1}`;
    tools(table.parentElement, what, name, [
      ["Copy", () => copied(tabbed(table))],
      ["CSV", (file) => saved(`${file}.csv`, "text/csv", csvOf(table))],
      ["LaTeX", (file) => saved(`${file}.tex`, "text/x-tex", latexTable(table))],
    ]);
  });
  every("main figure").forEach((figure) => tools(figure, figure.id, figure.id, [
    ["Copy", () => copied(svgOf(figure))],
    ["SVG", (file) => saved(`${file}.svg`, "image/svg+xml", svgOf(figure))],
  ]));

  // Open the folded sections around the target of a link.
  const reveal = () => {
    const aim = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = aim; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (aim) aim.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  if (innerWidth < 960) document.querySelector(".contents details").open = false;

  const button = document.querySelector(".theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });

  addEventListener("beforeprint", () => every("details").forEach((part) => { part.open = true; }));
})();
