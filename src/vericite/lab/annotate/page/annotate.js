(() => {
  const data = JSON.parse(by("data").textContent);
  const { scheme, items } = data;
  const work = by("work");
  const IDLE = 120, STORE = `vericite/${data.task}/`;
  // Characters as files count them: one for each code point.
  const points = (text, offset) => [...text.slice(0, offset)].length;
  const offset = (text, count) => [...text].slice(0, count).join("").length;
  let rater = "", state = new Map(), place = 0, sentence = -1, since = 0, failed = false;

  const saved = (text) => { by("saved").textContent = text; };
  const blank = (it) => ({ item: it.item, group: it.group, label: null, snippets: [], scales: {}, note: "", seconds: 0 });
  const mine = (it) => { if (!state.has(it.item)) state.set(it.item, blank(it)); return state.get(it.item); };
  const isTouched = (one) => one.label !== null || one.snippets.length > 0 || one.note !== "" || one.seconds > 0 || Object.keys(one.scales).length > 0;
  const record = (one) => ({ item: one.item, rater, label: one.label, group: one.group, snippets: one.snippets, scales: one.scales, note: one.note, seconds: Math.round(one.seconds * 10) / 10, scheme: scheme.signature });

  // What a file or the server has, checked as if somebody else had written it.
  const take = (rows) => {
    const known = new Map(items.map((it) => [it.item, it])), labels = new Set(scheme.labels.map((it) => it.name));
    let taken = 0;
    for (const row of rows) {
      const it = row && known.get(row.item);
      if (!it || (row.label !== null && !labels.has(row.label))) continue;
      const scales = Object.fromEntries(scheme.scales.map((scale) => [scale.name, (row.scales || {})[scale.name]]).filter(([, value]) => Number.isFinite(value)));
      const snippets = (Array.isArray(row.snippets) ? row.snippets : []).filter((one) => it.documents.some((source) => source.id === one.document)).slice(0, scheme.snippets);
      state.set(it.item, { ...blank(it), label: row.label, snippets, scales, note: String(row.note || ""), seconds: Number(row.seconds) || 0 });
      taken += 1;
    }
    return taken;
  };

  const restore = () => {
    if (data.saves) { take(data.saved); return; }
    try { take(JSON.parse(localStorage.getItem(STORE + rater) || "[]")); } catch { failed = true; }
  };

  let sending = Promise.resolve(), waiting = 0;
  const keep = (one) => {
    count();
    if (data.saves) {
      const body = JSON.stringify(record(one));
      saved("Saving.");
      waiting += 1;
      sending = sending.then(() => fetch(`${location.pathname.replace(/\/$/, "")}/labels`, { method: "POST", headers: { "content-type": "application/json" }, body, keepalive: true }))
        .then((reply) => { waiting -= 1; if (!reply.ok || !waiting) saved(reply.ok ? "Saved." : "NOT saved: the server refused. Export before you close this page."); })
        .catch(() => { waiting -= 1; saved("NOT saved: no server. Export before you close this page."); });
      return;
    }
    try {
      localStorage.setItem(STORE + rater, JSON.stringify([...state.values()].filter(isTouched)));
      saved("Saved in this browser. Export when you are done.");
    } catch { failed = true; saved("This browser keeps nothing: export before you close this page."); }
  };

  const count = () => {
    const done = items.filter((it) => state.has(it.item) && state.get(it.item).label !== null).length;
    by("progress").max = items.length;
    by("progress").value = done;
    by("count").textContent = `Item ${place + 1} of ${items.length}, ${done} labelled`;
  };

  // Time counts while the page is looked at, and at most two minutes since something was done.
  const tick = () => {
    const now = performance.now() / 1000;
    if (rater && since && document.visibilityState === "visible") mine(items[place]).seconds += Math.min(now - since, IDLE);
    since = now;
  };

  const show = (to) => {
    tick();
    if (state.has(items[place].item) && isTouched(state.get(items[place].item))) keep(state.get(items[place].item));
    place = Math.max(0, Math.min(items.length - 1, to));
    sentence = -1;
    const it = items[place], one = mine(it);
    work.replaceChildren(el("div", { class: "item" },
      el("div", {},
        el("p", { class: "question" }, it.question),
        el("h2", {}, scheme.of === "statement" ? "Statement" : "Sentence"), el("p", { class: "claim" }, it.claim),
        it.context ? el("details", { open: scheme.of === "sentence" }, el("summary", {}, "The whole answer"), answer(it)) : null,
        it.documents.length ? el("h2", {}, it.documents.length > 1 ? "Sources" : "Source") : null,
        el("div", { id: "sources" })),
      el("div", { class: "side" }, labels(one), scheme.snippets ? el("div", { id: "marks" }) : null, scales(it), note(one))));
    sources(it, one);
    marks(it, one);
    count();
    window.scrollTo(0, Math.min(window.scrollY, work.offsetTop));
  };

  const answer = (it) => el("p", { class: "answer" }, it.context.slice(0, it.start), el("em", {}, it.context.slice(it.start, it.end)), it.context.slice(it.end));

  const labels = (one) => el("fieldset", { id: "labels" }, el("legend", {}, scheme.title), scheme.labels.map((label, index) => {
    const radio = el("input", { type: "radio", name: "label", value: label.name, checked: one.label === label.name });
    radio.addEventListener("change", () => give(label.name));
    return el("label", { class: "label" }, radio, el("kbd", {}, String(index + 1)), el("span", {}, label.name, el("small", {}, label.meaning)));
  }));

  const give = (name) => {
    tick();
    const one = mine(items[place]);
    one.label = name;
    for (const radio of work.querySelectorAll("input[name=label]")) radio.checked = radio.value === name;
    keep(one);
  };

  // Asked once an answer: whatever is given holds for all of its items.
  const scales = (it) => scheme.scales.map((scale) => {
    const known = items.filter((other) => other.group === it.group).map((other) => (state.get(other.item) || { scales: {} }).scales[scale.name]).find((value) => value !== undefined);
    const input = el("input", { type: "number", min: scale.low, max: scale.high, step: scale.step, value: known });
    input.addEventListener("change", () => {
      const value = input.value === "" ? undefined : Number(input.value);
      if (value !== undefined && !(value >= scale.low && value <= scale.high)) { input.setCustomValidity(`from ${scale.low} to ${scale.high}`); input.reportValidity(); return; }
      input.setCustomValidity("");
      for (const other of items.filter((row) => row.group === it.group)) {
        const one = mine(other);
        if (value === undefined) delete one.scales[scale.name]; else one.scales[scale.name] = value;
        keep(one);
      }
    });
    return el("label", { class: "field" }, scale.name, el("small", {}, scale.meaning), input);
  });

  const note = (one) => {
    const text = el("textarea", { "aria-label": "Note", maxlength: 2000 });
    text.value = one.note;
    text.addEventListener("input", () => { one.note = text.value; keep(one); });
    return el("label", { class: "field" }, "Note", text);
  };

  const sources = (it, one) => by("sources").replaceChildren(...it.documents.map((source, index) => {
    const text = el("p", { "data-source": index });
    const spans = one.snippets.filter((mark) => mark.document === source.id).map((mark) => [offset(source.text, mark.start), offset(source.text, mark.end)]);
    const cuts = new Set([0, source.text.length, ...spans.flat(), ...source.sentences.flat()]);
    const ordered = [...cuts].sort((a, b) => a - b);
    for (let at = 0; at + 1 < ordered.length; at += 1) {
      const [start, end] = [ordered[at], ordered[at + 1]];
      const isMarked = spans.some(([from, to]) => from <= start && end <= to);
      const current = all(it)[sentence];
      const isHere = current && current.source === index && current.start <= start && end <= current.end;
      const words = source.text.slice(start, end);
      text.append(isMarked || isHere ? el(isMarked ? "mark" : "span", { class: isHere ? "here" : null }, words) : words);
    }
    return el("section", { class: "source", "aria-label": `Source ${index + 1}` }, el("p", {}, el("b", {}, source.title)), text);
  }));

  const all = (it) => it.documents.flatMap((source, index) => source.sentences.map(([start, end]) => ({ source: index, start, end })));

  const marks = (it, one) => {
    if (!scheme.snippets) return;
    const add = el("button", { type: "button" }, "Mark selection");
    // A click would take the selection away before it is read.
    add.addEventListener("pointerdown", (event) => event.preventDefault());
    add.addEventListener("click", mark);
    by("marks").replaceChildren(el("h2", {}, `Passages, ${one.snippets.length} of ${scheme.snippets}`), add, el("ol", { class: "snippets" }, one.snippets.map((snippet, index) => {
      const remove = el("button", { type: "button", "aria-label": `Remove passage ${index + 1}` }, "remove");
      remove.addEventListener("click", () => unmark(index));
      return el("li", {}, snippet.text, " ", remove);
    })));
  };

  // What is selected within one source; else the sentence that the keys are at.
  const chosen = (it) => {
    const selection = window.getSelection();
    if (selection && selection.rangeCount && !selection.isCollapsed) {
      const range = selection.getRangeAt(0);
      const within = (node) => (node.nodeType === 1 ? node : node.parentElement).closest("[data-source]");
      const [from, to] = [within(range.startContainer), within(range.endContainer)];
      if (!from || from !== to) return null;
      const before = document.createRange();
      before.setStart(from, 0);
      before.setEnd(range.startContainer, range.startOffset);
      const start = before.toString().length;
      return { source: Number(from.dataset.source), start, end: start + range.toString().length };
    }
    return all(it)[sentence] || null;
  };

  const mark = () => {
    const it = items[place], one = mine(it), found = chosen(it);
    if (!found) { saved("Select a passage within one source first, or go to a sentence with d and e."); return; }
    const source = it.documents[found.source];
    let { start, end } = found;
    while (start < end && /\s/.test(source.text[start])) start += 1;
    while (end > start && /\s/.test(source.text[end - 1])) end -= 1;
    if (start >= end) return;
    if (one.snippets.length >= scheme.snippets) { saved(`No more than ${scheme.snippets} passages: remove one first.`); return; }
    tick();
    const snippet = { document: source.id, start: points(source.text, start), end: points(source.text, end), text: source.text.slice(start, end) };
    if (!one.snippets.some((other) => other.document === snippet.document && other.start === snippet.start && other.end === snippet.end)) one.snippets = [...one.snippets, snippet];
    window.getSelection().removeAllRanges();
    changed(it, one);
  };

  const unmark = (index) => {
    const it = items[place], one = mine(it);
    one.snippets = one.snippets.filter((_, at) => at !== index);
    changed(it, one);
  };

  const changed = (it, one) => { sources(it, one); marks(it, one); keep(one); };

  const move = (by) => {
    const it = items[place], many = all(it).length;
    if (!many) return;
    sentence = sentence < 0 ? (by > 0 ? 0 : many - 1) : (sentence + by + many) % many;
    sources(it, mine(it));
    const here = work.querySelector(".here");
    if (here) { here.scrollIntoView({ block: "nearest" }); saved(`Sentence ${sentence + 1} of ${many}: ${here.textContent}`); }
  };

  const open = () => {
    for (let step = 1; step <= items.length; step += 1) {
      const at = (place + step) % items.length;
      if (!state.has(items[at].item) || state.get(items[at].item).label === null) { show(at); return; }
    }
    saved("Every item has a label. Export them.");
  };

  const lines = () => items.map((it) => state.get(it.item)).filter((one) => one && isTouched(one)).map((one) => `${JSON.stringify(record(one))}\n`).join("");

  const download = () => {
    tick();
    const address = URL.createObjectURL(new Blob([lines()], { type: "application/jsonl" }));
    const link = el("a", { href: address, download: `labels-${rater.replace(/[^\p{L}\p{N}_-]+/gu, "_") || "annotator"}.jsonl` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
    saved("Exported.");
  };

  const begin = (name) => {
    rater = name.trim();
    if (!rater) return;
    by("who").hidden = true;
    by("bar").hidden = false;
    restore();
    since = performance.now() / 1000;
    const first = items.findIndex((it) => !state.has(it.item) || state.get(it.item).label === null);
    place = first < 0 ? 0 : first;
    if (state.size) by("guide").open = false;
    show(place);
    if (failed) saved("This browser keeps nothing: export before you close this page.");
    work.focus();
  };

  for (const text of scheme.guideline.trim().split(/\n\s*\n/)) by("guideline").append(el("p", {}, text));
  if (scheme.source) by("guideline").append(el("p", { class: "note" }, scheme.source));
  by("who").addEventListener("submit", (event) => { event.preventDefault(); begin(by("rater").value); });
  by("next").addEventListener("click", () => show(place + 1));
  by("previous").addEventListener("click", () => show(place - 1));
  by("open").addEventListener("click", open);
  by("export").addEventListener("click", download);
  by("import").addEventListener("change", async (event) => {
    const rows = (await event.target.files[0].text()).split("\n").flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
    const taken = take(rows);
    for (const one of state.values()) keep(one);
    show(place);
    saved(`${taken} labels taken.`);
  });
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") since = performance.now() / 1000; else if (rater && since) { mine(items[place]).seconds += Math.min(performance.now() / 1000 - since, IDLE); since = 0; keep(mine(items[place])); } });
  document.addEventListener("keydown", (event) => {
    if (!rater || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = document.activeElement;
    const isTyping = at.tagName === "TEXTAREA" || (at.tagName === "INPUT" && at.type !== "radio");
    if (isTyping) { if (event.key === "Escape") at.blur(); return; }
    const label = scheme.labels[Number(event.key) - 1];
    const act = label ? () => give(label.name) : {
      0: () => give(null), n: () => show(place + 1), ArrowRight: () => show(place + 1), p: () => show(place - 1), ArrowLeft: () => show(place - 1),
      u: open, s: () => scheme.snippets && mark(), x: () => unmark(mine(items[place]).snippets.length - 1), d: () => move(1), e: () => move(-1),
      g: () => { by("guide").open = !by("guide").open; },
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  if (data.rater) begin(data.rater);
})();
