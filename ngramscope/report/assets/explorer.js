"use strict";
// Documents: a page of rows at a time; texts are unpacked when a document is opened.
for (const root of document.querySelectorAll(".explorer")) {
  const SIZE = 25, source = root.dataset.source;
  const make = (name, text, more = {}) => Object.assign(document.createElement(name), text === undefined ? {} : { textContent: text }, more);
  const labelled = (text, field) => { const label = make("label", text); label.append(field); return label; };
  let data = null, order = null, page = 0, sorted = null, down = true;
  const pieces = new Map();

  const side = row => data.label[row] === 1 ? "member" : data.label[row] === 0 ? "non-member" : "not known";
  const find = make("input", undefined, { type: "search", size: 14 });
  const sides = make("select"), domains = make("select");
  const body = make("tbody"), heads = make("tr"), place = make("span"), reader = make("div");
  const back = make("button", "Previous", { type: "button" }), next = make("button", "Next", { type: "button" });
  place.setAttribute("aria-live", "polite");
  reader.className = "reader"; reader.hidden = true; reader.tabIndex = -1;

  const arrange = () => {
    const wanted = find.value.toLowerCase(), part = domains.value;
    order = [];
    for (let row = 0; row < data.ids.length; row++) {
      if (sides.value && side(row) !== sides.value) continue;
      if (part && data.domain[row] !== Number(part)) continue;
      if (wanted && !data.ids[row].toLowerCase().includes(wanted)) continue;
      order.push(row);
    }
    if (sorted !== null) {
      const values = sorted === -1 ? data.ids : data.columns[sorted].values;
      order.sort((a, b) => {
        const x = values[a], y = values[b];
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        return (down ? -1 : 1) * (x < y ? -1 : x > y ? 1 : 0) || a - b;
      });
    }
    page = 0;
    draw();
  };

  const draw = () => {
    const pages = Math.max(1, Math.ceil(order.length / SIZE));
    page = Math.min(Math.max(0, page), pages - 1);
    body.replaceChildren(...order.slice(page * SIZE, (page + 1) * SIZE).map(row => {
      const line = make("tr"), open = make("button", data.ids[row], { type: "button", className: "open" });
      open.addEventListener("click", () => read(row));
      const first = make("td");
      first.append(open);
      line.append(first, make("td", side(row)));
      if (data.domain.length) line.append(make("td", data.domains[data.domain[row]] ?? "–"));
      for (const each of data.columns) {
        const value = each.values[row];
        line.append(make("td", value === null ? "–" : String(value), { className: "number" }));
      }
      return line;
    }));
    place.textContent = order.length
      ? `${(page * SIZE + 1).toLocaleString("en")} to ${Math.min((page + 1) * SIZE, order.length).toLocaleString("en")} of ${order.length.toLocaleString("en")}`
      : "no document";
    back.disabled = page === 0;
    next.disabled = page >= pages - 1;
  };

  const unpack = number => {
    if (!pieces.has(number)) pieces.set(number, (async () => {
      const packed = document.getElementById(`${source}-${number}`).textContent;
      const bytes = Uint8Array.from(atob(packed), each => each.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return JSON.parse(await new Response(stream).text());
    })());
    return pieces.get(number);
  };

  const read = async row => {
    reader.hidden = false;
    const title = make("h3", `${data.ids[row]}: ${side(row)}`);
    const numbers = make("p", data.columns.map(each => `${each.name} ${each.values[row] ?? "none"}`).join("; "));
    reader.replaceChildren(title, numbers);
    reader.focus();
    if (data.piece === null) return;
    let found;
    try {
      found = (await unpack(Math.floor(row / data.piece)))[row % data.piece];
    } catch (error) {
      reader.append(make("p", "This browser cannot unpack the texts (it needs DecompressionStream)."));
      return;
    }
    if (found.text) {
      const [segments, cut] = found.text, text = make("div", undefined, { className: "text" });
      text.tabIndex = 0;
      for (const [matched, piece] of segments) text.append(matched ? make("mark", piece) : piece);
      if (cut) text.append(make("em", ` … ${cut.toLocaleString("en")} more characters`));
      if (segments.some(([matched]) => matched)) reader.append(make("p", "Marked: n-grams that the training corpus has.", { className: "note" }));
      reader.append(text);
    }
    if (found.tokens.length) {
      reader.append(make("h4", "Tokens that surprise the model most"));
      const list = make("ol");
      for (const [token, loss, rank, at] of found.tokens) {
        const item = make("li");
        const more = rank === null ? "" : `, ${rank.toLocaleString("en")} tokens were more likely`;
        item.append(make("code", token), ` loss ${loss} nats at position ${at.toLocaleString("en")}${more}`);
        list.append(item);
      }
      reader.append(list);
    }
  };

  const start = () => {
    data = JSON.parse(document.getElementById(source).textContent);
    sides.append(new Option("both sides", ""), ...["member", "non-member", "not known"].map(each => new Option(each, each)));
    domains.append(new Option("all domains", ""), ...data.domains.map((each, at) => new Option(each, at)));
    const controls = make("div", undefined, { className: "controls" });
    controls.append(labelled("Find an id", find), labelled("Side", sides));
    if (data.domain.length) controls.append(labelled("Domain", domains));
    const names = ["id", "side", ...(data.domain.length ? ["domain"] : []), ...data.columns.map(each => each.name)];
    const shift = names.length - data.columns.length;
    names.forEach((name, at) => {
      const head = make("th", undefined, { scope: "col", className: at >= shift ? "number" : "" });
      if (at && at < shift) {
        head.textContent = name;
        head.style.padding = ".28rem .6rem";
      } else {
        const button = make("button", name, { type: "button" });
        button.addEventListener("click", () => {
          const column = at ? at - shift : -1;
          down = sorted === column ? !down : column >= 0;
          sorted = column;
          for (const each of heads.children) each.setAttribute("aria-sort", "none");
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          arrange();
        });
        head.append(button);
      }
      heads.append(head);
    });
    const table = make("table"), top = make("thead"), wide = make("div", undefined, { className: "wide", tabIndex: 0 });
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", "Documents");
    top.append(heads);
    table.append(top, body);
    wide.append(table);
    const pager = make("div", undefined, { className: "pager" });
    pager.append(back, place, next);
    root.append(controls, wide, pager, reader);
    find.addEventListener("input", arrange);
    for (const each of [sides, domains]) each.addEventListener("change", arrange);
    back.addEventListener("click", () => { page -= 1; draw(); });
    next.addEventListener("click", () => { page += 1; draw(); });
    arrange();
  };
  // Nothing is read before the reader comes near.
  new IntersectionObserver((entries, watcher) => {
    if (entries.some(each => each.isIntersecting)) { watcher.disconnect(); start(); }
  }, { rootMargin: "600px" }).observe(root);
}
