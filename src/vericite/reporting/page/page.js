(() => {
  const data = window.REPORT || JSON.parse(document.getElementById("data").textContent);
  const HEIGHT = 68;
  const list = by("list"), rows = by("rows"), reader = by("reader");
  const filters = { text: by("f-text"), kind: by("f-kind"), system: by("f-system"), type: by("f-type"), differs: by("f-differs") };
  const cased = data.answers.map((it) => `${it.id}\n${it.question}\n${it.text}`.toLowerCase());
  const view = new AnswerView(reader, data.documents);
  let shown = [], chosen = -1;

  for (const kind of Object.keys(KINDS)) filters.kind.append(el("option", { value: kind }, kind));
  data.systems.forEach((name, index) => filters.system.append(el("option", { value: String(index) }, name)));
  for (const type of [...new Set(data.answers.map((it) => it.type))].filter(Boolean).sort()) filters.type.append(el("option", { value: type }, type));

  const filter = (keep) => {
    const text = filters.text.value.trim().toLowerCase(), kind = filters.kind.value;
    const system = filters.system.value, type = filters.type.value, differs = filters.differs.checked;
    shown = [];
    data.answers.forEach((it, index) => {
      if (text && !cased[index].includes(text)) return;
      if (kind && !it.counts[kind] && !(kind === "failed" && it.failed)) return;
      if (system && String(it.system) !== system) return;
      if (type && it.type !== type) return;
      if (differs && !it.differs) return;
      shown.push(index);
    });
    by("count").textContent = `${shown.length} of ${data.answers.length} answers`;
    rows.style.height = `${shown.length * HEIGHT}px`;
    if (!keep) list.scrollTop = 0;
    draw();
  };

  // Only the rows in sight are drawn: there may be many thousands.
  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 4);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 9);
    const made = [];
    for (let place = first; place < last; place += 1) {
      const it = data.answers[shown[place]];
      const row = el("div", { class: "row", role: "option", id: `row-${place}`, "aria-selected": String(shown[place] === chosen), "aria-setsize": shown.length, "aria-posinset": place + 1 },
        el("b", {}, it.question || it.text || it.id),
        el("span", {}, signed(it.counts), it.failed ? "no answer " : "", it.insufficient ? "refused " : "", "· ", data.systems[it.system], " · ", it.id));
      row.style.top = `${place * HEIGHT}px`;
      row.addEventListener("click", () => choose(place, true));
      made.push(row);
    }
    rows.replaceChildren(...made);
  };

  const choose = (place, link) => {
    if (place < 0 || place >= shown.length) return;
    chosen = shown[place];
    const top = place * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
    draw();
    list.setAttribute("aria-activedescendant", `row-${place}`);
    read(data.answers[chosen]);
    if (link) history.replaceState(null, "", `#${encodeURIComponent(data.systems[data.answers[chosen].system])}/${encodeURIComponent(data.answers[chosen].id)}`);
  };

  const read = (it) => view.show(it, `${data.systems[it.system]} · ${it.id}${it.type ? ` · ${it.type}` : ""}`);

  const step = (by) => choose(Math.min(shown.length - 1, Math.max(0, shown.indexOf(chosen) + by)), true);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping()) { if (event.key === "Escape") document.activeElement.blur(); return; }
    const inList = document.activeElement === list;
    const act = { j: () => step(1), k: () => step(-1), n: () => view.step(1), p: () => view.step(-1), "/": () => filters.text.focus() }[event.key]
      || (inList && { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: () => reader.focus(), Home: () => choose(0, true), End: () => choose(shown.length - 1, true) }[event.key]);
    if (act) { event.preventDefault(); act(); }
  });
  by("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const part of Object.values(filters)) part.addEventListener("input", () => filter(false));
  let waiting = false;
  list.addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } });
  window.addEventListener("resize", draw);

  const follow = () => {
    const [system, id] = location.hash.slice(1).split("/").map((part) => { try { return decodeURIComponent(part || ""); } catch { return ""; } });
    const place = shown.findIndex((index) => data.systems[data.answers[index].system] === system && data.answers[index].id === id);
    choose(place < 0 ? 0 : place, false);
  };
  window.addEventListener("hashchange", follow);
  filter(true);
  follow();
})();
