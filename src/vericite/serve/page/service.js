(() => {
  const data = JSON.parse(by("data").textContent), page = data.page, store = `vericite/${page}`;
  const STAGES = { read: "Reading the documents.", rewrite: "Rewriting the question.", search: "Searching.", retrieve: "Searching.", rerank: "Ordering what was found.", generate: "Writing the answer.", verify: "Checking each citation.", repair: "Repairing.", rationale: "Judging the steps of the rationale." };
  const form = by("form"), view = by("reader") && new AnswerView(by("reader"), {});
  let source = null, stream = null, run = null, begun = 0, own = [];

  const say = (text) => { by("status").textContent = text; };
  const complain = (text) => { by("problem").textContent = text; by("problem").hidden = !text; };
  const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

  // The service, which answers errors with the reason.
  const ask = async (path, body, headers = {}, method = "POST") => {
    const reply = await fetch(path, { method, body, headers });
    if (reply.status === 401) { location.reload(); throw new Error("Sign in again."); }
    if (reply.status === 204) return null;
    const found = await reply.json().catch(() => ({ error: { message: `the service answered with status ${reply.status}` } }));
    if (found.error) throw new Error(found.error.message + (reply.headers.get("retry-after") ? ` (in ${reply.headers.get("retry-after")} s)` : ""));
    return found;
  };
  const attempt = async (act) => { try { return await act(); } catch (error) { say(""); complain(error instanceof TypeError ? "The service does not answer. Is it still running?" : error.message); busy(false); return undefined; } };

  // Seconds next to the stage show that work goes on. Hidden from screen readers, which hear the stages.
  let clock = 0;
  const time = (is) => {
    clearInterval(clock);
    by("clock").hidden = !is;
    if (!is) return;
    const from = performance.now(), tick = () => { by("clock").textContent = `Working for ${Math.round((performance.now() - from) / 1000)} s.`; };
    tick();
    clock = setInterval(tick, 1000);
  };
  // From the form to the status, and on to the answer when there is one: keys must not type into a question that was sent.
  // The status stays in sight.
  const follow = () => { if ([by("status"), document.body].includes(document.activeElement)) by("reader").focus({ preventScroll: true }); };

  const busy = (is) => {
    if (by("clock")) time(is);
    if (by("go")) { by("go").disabled = is; by("stop").hidden = !is; }
    if (by("repair")) by("repair").disabled = is;
    if (by("reader")) by("reader").setAttribute("aria-busy", String(is));
  };

  // An answer that comes into being: the stream is found again by the address, so that a reload goes on with it.
  const listen = (id) => {
    stream = id;
    history.replaceState(null, "", `?stream=${id}`);
    begun = performance.now();
    busy(true);
    source = new EventSource(`/v1/streams/${id}`);
    const on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    on("stage", (it) => { if (it.seconds === null && STAGES[it.stage]) say(STAGES[it.stage]); });
    on("evidence", (it) => {
      by("found").hidden = !it.documents.length;
      by("found").querySelector("ol").replaceChildren(...it.documents.map((one) => el("li", {}, one.title || one.id, one.retracted ? el("b", { class: "retracted" }, " RETRACTED") : null, el("small", {}, [one.journal, one.year].filter(Boolean).map((part) => ` · ${part}`).join("")))));
    });
    on("sentence", (it) => { if (it.draft) draft(it.text); });
    on("view", (it) => { by("found").hidden = true; show(it); progress(); });
    on("judged", (it) => { view.judged(it.start, it.end, it.kind, it.verdict); progress(); });
    on("done", async (it) => { stop(); await attempt(async () => finish(it.run, await ask(`/v1/runs/${it.run}/view`, undefined, {}, "GET"))); });
    source.addEventListener("error", (event) => {
      if (event.data !== undefined) { stop(); say(""); complain(`No answer: ${JSON.parse(event.data).message}`); history.replaceState(null, "", location.pathname); } else if (source && source.readyState === EventSource.CLOSED) {
        stop(); say(""); complain("This answer is no longer at hand. Ask again."); history.replaceState(null, "", location.pathname);
      } else say("The connection was lost. Trying again.");
    });
  };
  const stop = () => { if (source) source.close(); source = null; stream = null; busy(false); by("found").hidden = true; };

  // A sentence as it is written, before the answer is whole.
  const draft = (text) => {
    by("result").hidden = false;
    by("found").hidden = true;
    if (!by("draft")) by("reader").replaceChildren(el("p", { id: "draft", class: "answer" }));
    by("draft").append(text, " ");
    follow();
  };

  const progress = () => {
    const cited = view.it.claims.filter((claim) => claim.cites.length), left = cited.filter((claim) => claim.kind === "pending").length;
    if (left) say(`Checking: ${cited.length - left} of ${plural(cited.length, "sentence", "sentences")} with citations.`);
  };

  const show = (it) => {
    by("result").hidden = false;
    view.documents = it.documents;
    if (document.querySelector(".examples")) document.querySelector(".examples").hidden = true;
    const open = view.open, before = view.it;
    view.show(it.answer);
    by("hint").hidden = !it.answer.claims.length;
    if (source) follow();
    if (before && open >= 0 && before.text === it.answer.text && view.parts[open]) view.toggle(open);
  };

  const finish = (id, it) => {
    run = id;
    const [last, earlier] = it.views;
    show(last);
    by("before").hidden = !earlier;
    if (earlier) new AnswerView(by("earlier"), earlier.documents).show(earlier.answer);
    const counts = last.answer.counts, bad = ["contradicted", "irrelevant", "dangling", "uncited"].some((kind) => counts[kind]);
    by("acts").hidden = false;
    by("repair").hidden = !bad || Boolean(earlier);
    by("report").href = `/v1/runs/${id}/report`;
    by("json").href = `/v1/runs/${id}`;
    by("json").download = `vericite-${id.slice(0, 8)}.json`;
    const time = begun ? ` in ${((performance.now() - begun) / 1000).toFixed(1)} s` : "";
    const told = Object.keys(KINDS).filter((kind) => counts[kind]).map((kind) => `${counts[kind]} ${kind}`).join(", ");
    const gone = earlier ? last.answer.changes.filter((change) => !change.after).length : 0;
    const deleted = gone ? ` ${plural(gone, "sentence was", "sentences were")} deleted and ${gone > 1 ? "are" : "is"} not counted.` : "";
    say(earlier && !last.answer.changes.length ? `Nothing could be repaired. ${told}.` : last.answer.insufficient ? `Done${time}: the sources do not answer.` : `Done${time}: ${plural(last.answer.claims.length, "sentence", "sentences")}${told ? `, ${told}` : ""}.${deleted}`);
    history.replaceState(null, "", page === "run" ? `/runs/${id}` : `?run=${id}`);
    if (earlier) by("reader").focus();
  };

  const begin = async (said, path, body) => {
    complain("");
    say(said);
    busy(true);
    if (by("status").tabIndex < 0) by("status").focus();
    by("result").hidden = true;
    by("acts").hidden = by("before").hidden = true;
    view.it = null;
    listen((await ask(path, body, { prefer: "respond-async" })).stream);
  };

  // Files are read by the service, and sent with the question as texts.
  const read = async (file) => {
    const found = await ask(`/v1/documents?name=${encodeURIComponent(file.name)}`, file);
    if (found.problems.length) complain(`${file.name}: ${found.problems[0]}`);
    return found.documents.map((it) => ({ name: file.name, id: it.id, title: it.title || it.id, pmid: it.pmid, pages: it.pages, text: it.sections.map((section) => section.text).join("\n") }));
  };
  const take = async (event) => {
    const files = [...event.target.files];
    for (const file of files) {
      say(`Reading ${file.name}.`);
      await attempt(async () => { own.push(...await read(file)); say(`${file.name} was read.`); });
      listed();
    }
    event.target.value = "";
    keep();
  };
  const sent = () => {
    const seen = new Map();
    return own.filter((it) => it.text.trim()).map(({ id, title, text, pmid, pages }, index) => {
      const name = id || `source ${index + 1}`, times = (seen.get(name) || 0) + 1;
      seen.set(name, times);
      return { id: times > 1 ? `${name} (${times})` : name, title: title || "", text, pmid: pmid || null, pages: pages || [] };
    });
  };
  const size = (it) => `${it.text.length.toLocaleString("en")} characters${it.pages && it.pages.length ? `, ${plural(it.pages.length, "page", "pages")}` : ""}`;
  const without = (it, name) => {
    const button = el("button", { type: "button", "aria-label": `Remove ${name}` }, "Remove");
    button.addEventListener("click", () => { own = own.filter((one) => one !== it); listed(); keep(); (by("add") || by("file")).focus(); });
    return button;
  };
  const listed = () => {
    if (page === "ask") { by("own").replaceChildren(...own.map((it) => el("li", {}, el("b", {}, it.title), el("small", {}, size(it)), without(it, it.title)))); }
    if (page === "check") by("sources").replaceChildren(...own.map(field));
  };
  const field = (it, index) => {
    const label = `Source ${index + 1}`;
    const title = el("input", { "aria-label": `${label}: title`, placeholder: "title, if it has one", autocomplete: "off" });
    title.value = it.title;
    title.addEventListener("input", () => { it.title = title.value; keep(); });
    const row = el("li", {}, el("b", {}, `[${index + 1}]`), title, without(it, label));
    if (it.name) row.append(el("span", {}), el("small", {}, `${it.name}, ${size(it)}`));
    else {
      const text = el("textarea", { rows: 3, "aria-label": `${label}: text`, placeholder: "text of the source", autocomplete: "off" });
      text.value = it.text;
      text.addEventListener("input", () => { it.text = text.value; keep(); });
      row.append(text);
    }
    return row;
  };

  // What was typed outlives a reload, in this tab alone.
  const FIELDS = ["question", "answer", "corpus", "model", "k", "protocol", "pmids"];
  const keep = () => {
    const typed = Object.fromEntries(FIELDS.filter(by).map((id) => [id, by(id).value]));
    try { sessionStorage.setItem(store, JSON.stringify({ typed, own })); } catch { try { sessionStorage.setItem(store, JSON.stringify({ typed, own: [] })); } catch { /* kept nowhere */ } }
  };
  const restore = () => {
    let kept = {};
    try { kept = JSON.parse(sessionStorage.getItem(store) || "{}"); } catch { /* none */ }
    for (const [id, value] of Object.entries(kept.typed || {})) if (FIELDS.includes(id) && by(id) && (by(id).tagName !== "SELECT" || [...by(id).options].some((one) => one.value === value))) by(id).value = value;
    own = Array.isArray(kept.own) ? kept.own : [];
    if (page === "check" && !own.length) own.push({ title: "", text: "" });
  };

  const asks = {
    ask: () => {
      const own_ = by("corpus").value === "", model = by("model").value;
      if (own_ && !sent().length) throw new Error("Add a file to answer from, or choose a corpus.");
      const answer = by("rationale") && by("rationale").checked && model ? { answer: { rationale: true } } : {};
      const check = by("protocol").value ? { check: { protocol: by("protocol").value } } : {};
      const body = { question: by("question").value, model: model || null, plan: { search: { k: Number(by("k").value) || 5 }, ...check, ...answer } };
      return ["Asking.", "/v1/ask?view=true", own_ ? { ...body, documents: sent() } : { ...body, corpus: by("corpus").value }];
    },
    check: () => {
      const pmids = by("pmids") ? by("pmids").value.split(/[^0-9]+/).filter(Boolean) : [];
      if (!pmids.length && !sent().length) throw new Error("Give the text of a source.");
      // Its marker would count another source's.
      const empty = own.findIndex((it, place) => !it.text.trim() && own.slice(place + 1).some((one) => one.text.trim()));
      if (!pmids.length && empty >= 0) throw new Error(`Source ${empty + 1} has no text. Give it one, or remove it.`);
      return ["Reading the answer and its sources.", "/v1/check?view=true", { answer: by("answer").value, question: by("question").value.trim() || null, ...(pmids.length ? { pmids } : { documents: sent() }) }];
    },
  };

  if (form) {
    restore();
    listed();
    if (page === "ask") {
      const choose = () => { by("files").hidden = by("corpus").value !== ""; };
      by("corpus").addEventListener("change", choose);
      choose();
      for (const button of document.querySelectorAll(".example")) button.addEventListener("click", () => { by("question").value = button.textContent; by("corpus").selectedIndex = [...by("corpus").options].findIndex((one) => one.text.startsWith("demo")); choose(); form.requestSubmit(); });
    } else by("add").addEventListener("click", () => { own.push({ title: "", text: "" }); listed(); by("sources").lastChild.querySelector("textarea").focus(); });
    by("file").addEventListener("change", take);
    form.addEventListener("input", keep);
    form.addEventListener("submit", (event) => { event.preventDefault(); if (!by("go").disabled) { keep(); attempt(async () => { const [said, path, body] = asks[page](); await begin(said, path, JSON.stringify(body)); }); } });
    form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.target.id === "question") && !event.shiftKey && event.target.tagName === "TEXTAREA") { event.preventDefault(); form.requestSubmit(); } });
    by("stop").addEventListener("click", () => attempt(async () => { const id = stream; stop(); history.replaceState(null, "", location.pathname); say("Stopped."); by("go").focus(); if (id) await ask(`/v1/streams/${id}`, undefined, {}, "DELETE"); }));
  }
  if (view) {
    by("link").hidden = !navigator.clipboard;
    by("repair").addEventListener("click", () => attempt(() => begin("Repairing the citations.", `/v1/runs/${run}/repair?view=true`)));
    by("link").addEventListener("click", () => attempt(async () => { await navigator.clipboard.writeText(`${location.origin}/runs/${run}`); say("Copied."); }));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping()) return;
      const act = { n: () => view.step(1), p: () => view.step(-1), "/": () => (by("question") || by("reader")).focus() }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    const left = new URLSearchParams(location.search).get("stream");
    if (data.run) finish(data.run.id, data.run);
    if (left) listen(left);
  }
  if (data.problem) complain(data.problem);
  if (page === "runs") {
    for (const place of document.querySelectorAll("[data-counts]")) place.append(...signed(JSON.parse(place.dataset.counts)));
    for (const button of document.querySelectorAll(".forget")) button.addEventListener("click", () => attempt(async () => {
      const row = button.closest("li");
      await ask(`/v1/runs/${row.dataset.id}`, undefined, {}, "DELETE");
      const next = row.nextElementSibling || row.previousElementSibling;
      row.remove();
      say("Deleted.");
      (next ? next.querySelector("a") : by("main")).focus();
    }));
  }
})();
