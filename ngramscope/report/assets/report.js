"use strict";
(() => {
  document.documentElement.classList.add("script");
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tables: a head sorts by exact values; cells without a value stay at the end.
  for (const table of all("table.sortable")) {
    all("thead button", table).forEach((button, column) => button.addEventListener("click", () => {
      const head = button.parentElement, down = head.getAttribute("aria-sort") === "descending" ? false
        : head.getAttribute("aria-sort") === "ascending" || head.classList.contains("number");
      for (const each of all("thead th", table)) each.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0], rows = [...body.rows].map(row => {
        const cell = row.cells[column], value = cell.dataset.value;
        return [row, value === undefined ? (cell.querySelector("[aria-label]") ? null : cell.textContent) : Number(value)];
      });
      rows.sort(([, a], [, b]) => a === null || b === null ? (a === null) - (b === null)
        : (down ? -1 : 1) * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
      body.append(...rows.map(([row]) => row));
    }));
  }

  // One attack stands out in all figures.
  const choice = document.getElementById("highlight");
  if (choice) choice.addEventListener("change", () => {
    for (const each of all("svg [data-attack]")) {
      each.style.opacity = choice.value === "" || each.dataset.attack === choice.value ? "" : ".12";
    }
  });

  // Sets as tabs.
  const tabs = all(".tabs [role=tab]");
  const show = name => {
    for (const tab of tabs) {
      const mine = tab.dataset.set === name;
      tab.setAttribute("aria-selected", mine);
      tab.tabIndex = mine ? 0 : -1;
    }
    for (const each of all(".set, .set-items")) each.hidden = each.dataset.set !== name;
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => show(tab.dataset.set));
    tab.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(at + step + tabs.length) % tabs.length];
      next.focus();
      show(next.dataset.set);
    });
  });
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const set = target && target.closest(".set");
    if (set) { show(set.dataset.set); target.scrollIntoView(); }
  };
  if (tabs.length) { show(tabs[0].dataset.set); reveal(); addEventListener("hashchange", reveal); }

  // Contents: folded on a telephone, and the section in view is marked.
  const contents = document.getElementById("contents"), narrow = matchMedia("(max-width: 60rem)");
  const fold = () => { contents.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);
  const links = new Map(all("nav a").map(each => [each.hash.slice(1), each]));
  const observer = new IntersectionObserver(entries => {
    for (const each of entries) {
      if (!each.isIntersecting || !links.has(each.target.id)) continue;
      for (const [id, link] of links) link.classList.toggle("here", id === each.target.id);
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  for (const each of all("main section")) observer.observe(each);

  addEventListener("beforeprint", () => { for (const each of all("main details")) each.open = each.querySelectorAll("tr").length < 60; });
})();
