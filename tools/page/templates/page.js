"use strict";
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const source = read("data-source");
  const names = $$("#choose option").slice(1).map((option) => option.textContent);
  const loaded = new Map();
  const kernel = (index) => {
    if (!loaded.has(index)) loaded.set(index, read(`data-kernel-${index}`));
    return loaded.get(index);
  };

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // Lines of text, in colours

  function colored(line, text, runs) {
    let at = 0;
    for (const [, letter, length] of (runs || "").matchAll(/([A-Z_])([0-9a-z]+)/g)) {
      const part = text.slice(at, (at += parseInt(length, 36)));
      line.append(letter === "_" ? part : element("span", { className: letter }, part));
    }
    line.append(text.slice(at) || (text ? "" : "\u200b"));
  }

  // The panes of the kernel that is shown

  let panes = [];
  let shown = null;
  let pinned = null;
  let pointer = "";
  let wanted = innerWidth < 1100 ? ["source", "msl"] : ["source", "msl", "spirv"];

  class Pane {
    constructor(data, lineNumbers) {
      Object.assign(this, data);
      this.rows = [];
      this.bySource = new Map();
      this.byCode = new Map();
      const rows = element("div", { className: "rows" });
      this.code = element("div", { className: "code", tabIndex: 0 }, rows);
      this.code.setAttribute("role", "region");
      this.code.setAttribute("aria-label", `${data.title}: ${data.about}`);
      this.note = element("span");
      this.root = element("section", { className: "pane" },
        element("h4", { title: data.about }, data.title, this.note), this.code);
      this.root.dataset.pane = data.id;
      this.fill(rows, lineNumbers);
      this.code.addEventListener("pointermove", (event) => this.over(event));
      this.code.addEventListener("pointerleave", () => pinned ? mark(...pinned) : clear());
      this.code.addEventListener("click", (event) => this.press(event));
      this.code.addEventListener("keydown", (event) => this.key(event));
    }

    fill(rows, lineNumbers) {
      const count = this.lines.length;
      for (let i = 0; i < count; i++) {
        if (lineNumbers && !lineNumbers.has(i)) {
          let end = i;
          while (end < count && !lineNumbers.has(end)) end++;
          rows.append(this.fold(i, end));
          i = end - 1;
          continue;
        }
        rows.append(this.row(i));
      }
    }

    fold(start, end) {
      const button = element("button", { className: "fold", type: "button" },
        `⋯ ${end - start} more line${end - start === 1 ? "" : "s"}`);
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        const rows = [];
        for (let i = start; i < end; i++) rows.push(this.row(i));
        button.replaceWith(...rows);
      });
      return button;
    }

    row(i) {
      const row = element("div", { className: "line" });
      row.dataset.n = i + 1;
      row.dataset.i = i;
      colored(row, this.lines[i], this.runs[i]);
      this.rows[i] = row;
      const { sources, codes } = this.links(i);
      for (const line of sources) add(this.bySource, line, i);
      for (const number of codes) add(this.byCode, number, i);
      if (sources.length || codes.length) row.classList.add("linked");
      return row;
    }

    links(i) {
      if (this.id === "source") return { sources: this.used.has(i + 1) ? [i + 1] : [], codes: [] };
      const set = (key) => this[key] && this[key][i] >= 0 ? this[`${key}Sets`][this[key][i]] : [];
      return { sources: set("from"), codes: set("says") };
    }

    index(event) {
      const row = event.target.closest(".line");
      return row ? Number(row.dataset.i) : -1;
    }

    over(event) {
      // Browsers also tell of a mouse at rest when what is under it scrolls.
      const place = `${event.screenX} ${event.screenY}`;
      const i = this.index(event);
      if (event.pointerType !== "touch" && place !== pointer && i >= 0) mark(this, i);
      pointer = place;
    }

    press(event) {
      const i = this.index(event);
      if (i >= 0 && !String(getSelection())) pin(this, i);
    }

    key(event) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") return unpin();
      if (!step) return;
      let i = (pinned && pinned[0] === this ? pinned[1] : step > 0 ? -1 : this.lines.length) + step;
      while (i >= 0 && i < this.lines.length && !(this.rows[i] && this.rows[i].classList.contains("linked"))) i += step;
      if (this.rows[i]) {
        event.preventDefault();
        pin(this, i);
        reveal(this, i);
      }
    }
  }

  const add = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
  const gather = (map, keys) => new Set(keys.flatMap((key) => map.get(key) || []));

  // Lines that belong together

  let marked = [];

  function clear() {
    for (const row of marked) row.classList.remove("on", "near", "here");
    marked = [];
    for (const pane of panes) pane.note.textContent = "";
  }

  function mark(origin, i) {
    clear();
    const { sources, codes } = origin.links(i);
    const paint = (pane, lines, name) => {
      for (const line of lines) {
        const row = pane.rows[line];
        row.classList.add(name);
        marked.push(row);
      }
    };
    for (const pane of panes) {
      const related = gather(pane.bySource, sources);
      const same = codes.length && pane.byCode.size ? gather(pane.byCode, codes) : related;
      paint(pane, related, "near");
      paint(pane, same, "on");
      pane.first = Math.min(...(same.size ? same : related));
      if (pane !== origin && (sources.length || codes.length)) {
        const count = same.size || related.size;
        pane.note.textContent = count ? `${count} line${count === 1 ? "" : "s"}` : "no line";
      }
    }
    const here = origin.rows[i];
    here.classList.add("here");
    marked.push(here);
  }

  function reveal(pane, i) {
    const row = pane.rows[i];
    if (!row) return;
    const top = row.offsetTop - pane.code.offsetTop;
    const { scrollTop, clientHeight } = pane.code;
    if (top < scrollTop || top > scrollTop + clientHeight - 40) pane.code.scrollTop = top - clientHeight / 3;
  }

  function pin(pane, i) {
    pinned = [pane, i];
    mark(pane, i);
    for (const other of panes) if (other !== pane && Number.isFinite(other.first)) reveal(other, other.first);
    const { sources } = pane.links(i);
    const parts = panes.filter((other) => other !== pane && other.note.textContent)
      .map((other) => `${other.title}: ${other.note.textContent}`);
    const from = sources.length ? ` comes from ${linesText(sources)} of the source` : "";
    status(`${pane.title} line ${i + 1}${pane.id === "source" ? "" : from}${parts.length ? `; ${parts.join(", ")}` : ""}.`);
  }

  function unpin() {
    pinned = null;
    clear();
    status("Point at a line to see what belongs to it; click to keep it.");
  }

  /** `line 7`, `lines 2, 5 to 9`. */
  function linesText(numbers) {
    const parts = [];
    for (let i = 0; i < numbers.length; i++) {
      const first = numbers[i];
      while (numbers[i + 1] === numbers[i] + 1) i++;
      parts.push(numbers[i] > first + 1 ? `${first} to ${numbers[i]}` : numbers[i] > first ? `${first}, ${numbers[i]}` : first);
    }
    return `line${numbers.length === 1 ? "" : "s"} ${parts.join(", ")}`;
  }

  const status = (text) => { $("#status").textContent = text; };

  // Choosing a kernel and its texts

  function open(index, paneId, line) {
    const data = kernel(index);
    if (paneId && !wanted.includes(paneId)) wanted.push(paneId);
    shown = index;
    pinned = null;
    $("#choose").value = String(index);
    for (const p of $$(".bindings")) p.hidden = Number(p.dataset.of) !== index;
    const all = [...(source ? [sourceData(data)] : []), ...data.panes];
    tabs(all);
    panes = all.filter((p) => wanted.includes(p.id)).map((p) => new Pane(p, p.keep));
    $("#panes").replaceChildren(...panes.map((pane) => pane.root));
    unpin();
    if (data.unlinked) status(`The MSL is not linked: ${data.unlinked}.`);
    const pane = panes.find((p) => p.id === paneId);
    if (pane && line >= 0) {
      if (!pane.rows[line]) pane.code.querySelectorAll(".fold").forEach((fold) => fold.click());
      pin(pane, line);
      reveal(pane, line);
    } else {
      // What begins with declarations is shown from its first statement on.
      const first = (p) => p.id === "source" ? Math.min(...p.used) - 1 : (p.from || []).findIndex((set) => set >= 0);
      for (const p of panes) if (p.id === "source" || p.id === "spirv") reveal(p, first(p));
    }
  }

  function sourceData(data) {
    const used = new Set(data.panes.flatMap((pane) => (pane.fromSets || []).flat()));
    const keep = new Set();
    for (const line of used) for (let i = line - 3; i <= line + 1; i++) if (i >= 0 && i < source.lines.length) keep.add(i);
    const about = `${source.name}: the lines that this kernel comes from`;
    return { id: "source", title: "Source", about, used, keep, ...source };
  }

  function tabs(all) {
    const buttons = all.map((pane) => {
      const button = element("button", { type: "button", title: pane.about }, pane.title);
      button.setAttribute("aria-pressed", wanted.includes(pane.id));
      button.addEventListener("click", () => {
        wanted = wanted.includes(pane.id) ? wanted.filter((id) => id !== pane.id) : [...wanted, pane.id];
        const kept = pinned && [pinned[0].id, pinned[1]];
        open(shown, ...(kept && wanted.includes(kept[0]) ? kept : []));
        $$("#tabs button").find((b) => b.textContent === pane.title).focus();
      });
      return button;
    });
    $("#tabs").replaceChildren(...buttons);
  }

  function go(index, paneId, line) {
    open(index, paneId, line);
    history.replaceState(null, "", `#kernel-${index}`);
    $("#viewer").scrollIntoView();
  }

  function follow() {
    const found = location.hash.match(/^#kernel-(\d+)$/);
    if (found && Number(found[1]) < names.length) go(Number(found[1]));
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-kernel], a[data-name]");
    if (!link) return;
    event.preventDefault();
    go(link.dataset.kernel ? Number(link.dataset.kernel) : names.indexOf(link.dataset.name));
  });
  $("#choose").addEventListener("change", (event) => event.target.value && go(Number(event.target.value)));
  addEventListener("hashchange", follow);

  // Search

  const input = $("#search");
  const list = $("#found");
  const MOST = 40;
  let hits = [];
  let chosen = 0;

  function search(text) {
    const query = text.toLowerCase();
    hits = [];
    const full = () => hits.length >= MOST;
    const hit = (what, label, act) => full() || hits.push({ what, label, act });
    names.forEach((name, i) => name.toLowerCase().includes(query) && hit("kernel", name, () => go(i)));
    for (const span of $$(".signature span")) {
      if (span.textContent.toLowerCase().includes(query))
        hit("signature", span.textContent, () => { span.closest("details").open = true; span.scrollIntoView({ block: "center" }); });
    }
    names.forEach((name, i) => {
      for (const code of $$(`.bindings[data-of="${i}"] span code`))
        if (code.textContent.toLowerCase().includes(query)) hit("buffer", `${code.textContent} of ${name}`, () => go(i));
    });
    const lines = (what, data, limit, act) => {
      let count = 0;
      for (let i = 0; i < data.lines.length && count < limit && !full(); i++) {
        const at = data.lines[i].toLowerCase().indexOf(query);
        if (at < 0) continue;
        count++;
        const text = data.lines[i].trim();
        const start = Math.max(0, at - (data.lines[i].length - data.lines[i].trimStart().length) - 24);
        hit(what, `${i + 1}: ${start ? "…" : ""}${text.slice(start, start + 120)}`, () => act(i));
      }
    };
    if (source) lines("source", source, 8, (i) => go(kernelOf(i + 1), "source", i));
    names.forEach((name, i) => {
      for (const pane of kernel(i).panes) lines(`${name}, ${pane.title}`, pane, 2, (line) => go(i, pane.id, line));
    });
    show();
  }

  /** The kernel that most of a source line went into: the first that has it, or the one shown. */
  function kernelOf(line) {
    const has = (i) => kernel(i).panes.some((pane) => (pane.fromSets || []).some((set) => set.includes(line)));
    if (shown !== null && has(shown)) return shown;
    return Math.max(0, names.findIndex((_, i) => has(i)));
  }

  function show() {
    chosen = 0;
    const items = hits.map(({ what, label }, i) => {
      const item = element("li", { id: `hit-${i}`, title: what },
        element("span", { className: "what" }, what), element("code", {}, label));
      item.setAttribute("role", "option");
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); choose(i); });
      return item;
    });
    list.replaceChildren(...(items.length ? items : [element("li", {}, "nothing found")]));
    list.hidden = !input.value;
    select(0);
  }

  function select(i) {
    if (!hits.length) return;
    chosen = (i + hits.length) % hits.length;
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", n === chosen));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", `hit-${chosen}`);
  }

  function choose(i) {
    if (!hits[i]) return;
    list.hidden = true;
    input.blur();
    hits[i].act();
  }

  input.addEventListener("input", () => input.value ? search(input.value) : (list.hidden = true));
  input.addEventListener("focus", () => input.value && search(input.value));
  input.addEventListener("blur", () => { list.hidden = true; });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); select(chosen + step); }
    else if (event.key === "Enter") choose(chosen);
    else if (event.key === "Escape") { input.value = ""; input.blur(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  // Wide drawings are scaled down to the width that there is, but stay readable.
  for (const svg of $$(".canvas:not(.chart) svg")) {
    const width = Number(svg.getAttribute("width"));
    const scale = Math.max(0.6, Math.min(1, (svg.parentElement.clientWidth - 26) / width));
    svg.setAttribute("height", Number(svg.getAttribute("height")) * scale);
    svg.setAttribute("width", width * scale);
  }
  follow();
})();
