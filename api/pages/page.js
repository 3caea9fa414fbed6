"use strict";
(() => {
  const make = (name, text, kind) => {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (kind) e.className = kind;
    return e;
  };

  // what a point or a line is, beside the pointer or what the keyboard has come to
  const tip = document.getElementById("tip");
  const place = (x, y) => {
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
  };
  const tell = (event, x, y) => {
    const said = event.target.closest("[data-tip]");
    tip.hidden = !said;
    if (!said) return;
    tip.textContent = said.dataset.tip;
    place(x, y);
  };
  document.addEventListener("mousemove", (e) => tell(e, e.clientX, e.clientY));
  document.addEventListener("focusin", (e) => {
    const box = e.target.getBoundingClientRect();
    tell(e, box.left, box.bottom - 14);
  });
  document.addEventListener("focusout", () => { tip.hidden = true; });
  document.addEventListener("keydown", (e) => { if (e.key === "Escape") tip.hidden = true; });

  // the classes of the e-graph: one at a time, and the way that led there
  const frame = document.getElementById("classes");
  if (!frame) return;
  const { root, classes } = JSON.parse(document.getElementById("egraph-data").textContent);
  const price = (x) => (x === null ? "-" : x.toPrecision(3).replace(/e\+?/, "e"));
  const link = (c, way) => {
    if (!(c in classes)) return make("span", `c${c}`);
    const b = make("button", `c${c}`);
    b.dataset.tip = `${classes[c].type}\n${classes[c].smallest}`;
    b.addEventListener("click", () => show([...way, c]));
    return b;
  };
  const row = (term, way) => {
    const tr = make("tr"), first = make("td");
    first.append([term.head, ...term.data].join(" "));
    for (const kid of term.kids) first.append(" ", link(kid, way));
    tr.append(first, make("td", price(term.written), "number"), make("td", price(term.read), "number"));
    return tr;
  };
  const show = (way) => {
    const c = way[way.length - 1], found = classes[c];
    const path = make("div", undefined, "path");
    way.forEach((k, i) => {
      const b = make("button", i ? `c${k}` : `c${k}, the program`);
      if (i === way.length - 1) b.setAttribute("aria-current", "true");
      b.addEventListener("click", () => show(way.slice(0, i + 1)));
      path.append(b);
    });
    const table = make("table", undefined, "terms"), head = make("tr"), body = make("tbody");
    for (const text of ["term", "to write", "to read"]) head.append(make("th", text));
    for (const term of found.terms) body.append(row(term, way));
    const thead = make("thead");
    thead.append(head);
    table.append(thead, body);
    const scroll = make("div", undefined, "scroll");
    scroll.append(table);
    const count = `${found.terms.length} term${found.terms.length > 1 ? "s" : ""} of class c${c}: ${found.type}`;
    const again = frame.contains(document.activeElement);
    frame.replaceChildren(path, make("p", count), make("pre", found.smallest), scroll);
    if (again) path.lastChild.focus({ preventScroll: true });
    tip.hidden = true;
  };
  show([root]);
})();
