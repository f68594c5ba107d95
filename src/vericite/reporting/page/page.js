(() => {
  const data = window.REPORT || JSON.parse(by("data").textContent);
  const list = by("list"), rows = by("rows"), reader = by("reader"), several = data.systems.length > 1, single = !list;
  const filters = single ? {} : { text: by("f-text"), kind: by("f-kind"), system: by("f-system"), type: by("f-type"), differs: by("f-differs") };
  const cased = data.answers.map((it) => `${it.id}\n${it.question}\n${it.text}`.toLowerCase());
  // Answers of several systems to one question are read side by side. A system may have answered it twice.
  const groups = [], places = new Map(), seen = new Map();
  data.answers.forEach((it, index) => {
    const time = `${it.system}\n${it.id}\n${it.question}`, times = (seen.get(time) || 0) + 1, key = `${times}\n${it.id}\n${it.question}`;
    seen.set(time, times);
    if (!places.has(key)) { places.set(key, groups.length); groups.push([]); }
    groups[places.get(key)].push(index);
  });
  // Of several answers to one question, each is known by its beginning.
  const asked = new Map();
  for (const [first] of groups) { const { question } = data.answers[first]; asked.set(question, (asked.get(question) || 0) + 1); }
  const beginning = (it) => (it.question && asked.get(it.question) > 1 ? it.text.slice(0, 200) || it.id : "");
  const REPEATS = data.answers.some(beginning), LINES = Math.min(4, data.systems.length), HEIGHT = 44 + 20 * (LINES + REPEATS);
  const counts = data.answers.map(countsOf);
  let shown = [], chosen = -1, views = [];

  // The answers of a question that pass the filters.
  const passing = (group) => {
    const text = filters.text.value.trim().toLowerCase(), kind = filters.kind.value, system = filters.system.value, type = filters.type.value;
    const left = group.filter((index) => !system || String(data.answers[index].system) === system);
    const fits = left.some((index) => {
      const it = data.answers[index];
      return (!text || cased[index].includes(text)) && (!kind || counts[index][kind] || (kind === "failed" && it.failed)) && (!type || it.type === type) && (!filters.differs.checked || it.differs);
    });
    return fits ? left : [];
  };
  const filter = (keep) => {
    shown = groups.map((group, number) => [number, single ? group : passing(group)]).filter(([, answers]) => answers.length);
    if (single) return;
    by("count").textContent = t("page.found", { count: shown.length, n: groups.length });
    rows.style.height = `${shown.length * HEIGHT}px`;
    if (!keep) list.scrollTop = 0;
    draw();
  };

  // Only the rows in sight are drawn: there may be many thousands.
  const line = (it, index) => el("span", {}, several ? `${data.systems[it.system]} ` : "", signed(counts[index]), it.failed ? `${t("page.line-failed")} ` : "", it.insufficient ? `${t("page.line-refused")} ` : "", it.changes.length ? `${t("page.line-repaired")} ` : "");
  const draw = () => {
    if (single) return;
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 4), last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 9), made = [];
    for (let place = first; place < last; place += 1) {
      const [number, answers] = shown[place], it = data.answers[answers[0]];
      const row = el("div", { class: "row", role: "option", id: `row-${place}`, "aria-selected": String(number === chosen), "aria-setsize": shown.length, "aria-posinset": place + 1 },
        el("b", { dir: "auto" }, it.question || it.text || it.id), beginning(it) ? el("span", { class: "beginning", dir: "auto" }, beginning(it)) : null, answers.slice(0, LINES).map((index) => line(data.answers[index], index)));
      row.style.top = `${place * HEIGHT}px`;
      row.style.height = `${HEIGHT}px`;
      row.addEventListener("click", () => choose(place, true));
      made.push(row);
    }
    rows.replaceChildren(...made);
  };

  const choose = (place, link) => {
    if (place < 0 || place >= shown.length) return;
    const [number, answers] = shown[place], first = data.answers[answers[0]];
    chosen = number;
    if (!single) {
      const top = place * HEIGHT;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
      draw();
      list.setAttribute("aria-activedescendant", `row-${place}`);
    }
    views = answers.map((index) => { const view = new AnswerView(el("article", { tabindex: -1 }), data.documents); view.titled = false; view.earlier = data.answers[index].earlier || null; view.show(data.answers[index]); return view; });
    const about = [first.id, first.type].filter((part) => part && part !== (first.question || first.id)).join(" · ");
    reader.replaceChildren(...[single ? null : el("h3", { dir: "auto" }, first.question || first.id), single || !about ? null : el("p", { class: "note" }, about),
      el("div", { class: views.length > 1 ? "systems" : null }, views.map((view, at) => el("section", { "aria-label": several ? data.systems[data.answers[answers[at]].system] : null }, several ? el("h4", { class: "system" }, data.systems[data.answers[answers[at]].system]) : null, view.place)))].filter(Boolean));
    if (link) history.replaceState(null, "", `#${encodeURIComponent(data.systems[first.system])}/${encodeURIComponent(first.id)}`);
  };

  // Shows a sentence of an answer, whatever the filters are.
  const open = (answer, index) => {
    if (!shown.some(([, answers]) => answers.includes(answer))) { for (const part of Object.values(filters)) { part.value = ""; part.checked = false; } filter(false); }
    choose(shown.findIndex(([, answers]) => answers.includes(answer)), true);
    const view = views.find((made) => made.it === data.answers[answer]);
    const part = view.parts[index], folded = part && part.place.closest("details");
    if (folded) folded.open = true;
    view.place.focus({ preventScroll: true });
    if (!part) return;
    view.toggle(index);
    part.place.querySelector(".chip").focus({ preventScroll: true });
    part.place.scrollIntoView({ block: "center" });
  };
  // A manuscript alone has a summary and a list of its own.
  if (data.answers.some((it) => it.claims.length && !(single && it.manuscript))) new Review(by("review"), data, open);

  const KEYS = [[["?"], t("components.key-keys")], ...(single ? [] : [[["j"], t("page.key-next-question")], [["k"], t("page.key-question-before")]]), [["n"], t("components.key-next")], [["p"], t("components.key-before")], ...(single ? [] : [[["/"], t("page.key-search")]]), [["Esc"], t("page.key-escape")]];
  const step = (by) => choose(Math.min(shown.length - 1, Math.max(0, shown.findIndex(([number]) => number === chosen) + by)), true);
  const sentence = (by) => { const view = views.find((made) => made.place.contains(document.activeElement)) || views[0]; if (view) view.step(by); };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (isTyping()) { if (event.key === "Escape") document.activeElement.blur(); return; }
    const inList = list && document.activeElement === list;
    const act = { n: () => sentence(1), p: () => sentence(-1), "?": () => showKeys(KEYS) }[event.key]
      || (!single && { j: () => step(1), k: () => step(-1), "/": () => filters.text.focus() }[event.key])
      || (inList && { ArrowDown: () => step(1), ArrowUp: () => step(-1), Enter: () => reader.focus(), Home: () => choose(0, true), End: () => choose(shown.length - 1, true) }[event.key]);
    if (act) { event.preventDefault(); act(); }
  });
  if (!single) {
    for (const kind of Object.keys(SIGNS)) if (data.answers.some((it, index) => counts[index][kind] || (kind === "failed" && it.failed))) filters.kind.append(el("option", { value: kind }, named(kind)));
    data.systems.forEach((name, index) => filters.system.append(el("option", { value: String(index) }, name)));
    const types = [...new Set(data.answers.map((it) => it.type))].filter(Boolean).sort();
    for (const type of types) filters.type.append(el("option", { value: type }, type));
    by("of-system").hidden = by("of-differs").hidden = !several;
    by("of-type").hidden = types.length < 2;
    by("filters").addEventListener("submit", (event) => event.preventDefault());
    for (const part of Object.values(filters)) part.addEventListener("input", () => { filter(false); if (!shown.some(([number]) => number === chosen)) choose(0, true); else choose(shown.findIndex(([number]) => number === chosen), false); });
    let waiting = false;
    list.addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } });
    window.addEventListener("resize", draw);
  }

  const follow = () => {
    const [system, id] = location.hash.slice(1).split("/").map((part) => { try { return decodeURIComponent(part || ""); } catch { return ""; } });
    const place = shown.findIndex(([, answers]) => answers.some((index) => data.systems[data.answers[index].system] === system && data.answers[index].id === id));
    choose(place < 0 ? 0 : place, false);
  };
  window.addEventListener("hashchange", follow);
  filter(true);
  follow();
})();
