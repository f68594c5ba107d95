// Every component of pages and reports, made by the functions that the pages use.
(() => {
  const data = JSON.parse(by("data").textContent), { answer, repaired, refused, asked, documents, tokens } = data;
  const keys = Object.keys(documents), main = by("main"), kinds = [...Object.keys(SIGNS), "pending"];
  const section = (name, made, about) => main.append(el("section", { class: "component" }, el("h2", {}, name), el("p", { class: "note" }, about), made));
  const shown = (it, opened, summed) => { const place = el("article"), view = new AnswerView(place, documents); view.titled = false; view.summed = summed; view.earlier = it.earlier || null; view.show(it); if (opened !== undefined) view.toggle(opened); return place; };
  const swatch = (name) => { const colour = el("span", { class: "swatch" }); colour.style.background = `var(${name})`; return el("li", {}, colour, el("code", {}, name)); };

  section("Colours", el("ul", { class: "swatches" }, tokens.map(swatch)), "Each token has a value for light and one for dark. Components use tokens only.");
  section("Type and space", el("div", {}, el("h1", {}, "Question or title"), el("h3", {}, "Part of a page"), el("p", {}, "Text: 1 rem, line height 1.5."), el("p", { class: "meta" }, "Secondary text: 0.875 rem."), el("div", { class: "answer" }, el("p", {}, "An answer: 1.125 rem, line height 1.75, at most 46 rem wide."))), "Spaces are multiples of 0.25 rem. Corners have a radius of 0.6 rem, those of buttons 0.4 rem.");
  section("Marks", el("ul", { class: "legend" }, kinds.map((kind) => el("li", {}, sign(kind), " ", el("b", {}, named(kind)), `: ${meaning(kind)}`))), "A verdict has a colour and a shape of its own. sign(kind)");
  section("Chips", el("p", {}, kinds.map((kind) => [chip(kind, kind === "uncited" ? named(kind) : "1", named(kind)), " "])), "A citation in the text: the number of its source, and the mark. chip(kind, words, label)");
  section("Probabilities", el("p", {}, [0.999, 0.93, 0.7, 0.5, 0.2, 0.05, 0.001].map((p, place) => [place ? " · " : "", likelihood(p)])), "In words, with the figure. likelihood(p)");
  section("Badges", el("p", { class: "badges" }, badgesOf({ retraction: "retracted", design: "randomised trial", n: 17604, depth: "title" }), badge("says yes", "yes"), badge("says no", "no")), "What a reader should see of a source at a glance. badgesOf(document)");
  section("Source", el("div", { class: "cards" }, keys.slice(0, 2).map((key, place) => sourceCard(documents[key], place + 1, [])), sourceCard({ ...documents[keys[0]], retraction: "retracted" }, 3, [])), "Title, journal, year, design, and the text, folded. sourceCard(document, number, passages)");
  const view = new AnswerView(el("div"), documents);
  view.titled = false;
  view.show(answer);
  section("Card at a chip", el("div", { class: "card hovering still" }, view.card("contradicted", 2, keys[1], answer.claims[2].verdicts[0])), "While the pointer or the focus is on a chip. withCard(chip, make)");
  section("Yes or no", consensus(asked.stance, "", asked.sources, documents, () => {}), "Which sources say yes and which no, by design. consensus(stance, short, sources, documents, open)");
  section("Answer", shown(answer, 2), "Prose with chips. An opened sentence shows what was found, and where. AnswerView");
  section("Summary", shown({ ...answer, sources: [] }, undefined, true).querySelector(".summary"), "The number of sentences that need a person. AnswerView with summed");
  section("Refusal", refusal(refused, refused.sources.slice(0, 1).map((key, place) => sourceCard(documents[key], place + 1, [])), [el("button", { type: "button", class: "help" }, "Ask in other words")]), "Why there is no answer, and what may help. refusal(answer, nearest, help)");
  section("Repair", shown(repaired), "Each sentence before and after. A change can be accepted or refused. RepairView");
  section("Notices", el("div", {}, el("p", { class: "notice" }, "The sources probably do not answer this."), el("p", { id: "problem" }, "The service does not answer. Is it still running?"), el("p", { class: "verdict failed" }, "No answer: the model did not reply.")), "A remark, an error, a failure.");
  section("Buttons and fields", el("form", { class: "work" }, el("label", { class: "wide" }, "Question", el("textarea", { rows: 2 })), el("label", {}, "Title", el("input", { placeholder: "optional" })), el("label", {}, "Answer from", el("select", {}, el("option", {}, "demo"))), el("label", { class: "check wide" }, el("input", { type: "checkbox", checked: true }), "say what is wrong with each sentence"), el("div", { class: "wide buttons" }, el("button", { type: "button", class: "primary" }, "Ask"), el("button", { type: "button" }, "Copy"), el("button", { type: "button", class: "help" }, "Stop"), el("button", { type: "button", disabled: true }, "Not now"))), "One button of a page is primary.");
  const share = el("div");
  share.append(by("share").content.cloneNode(true));
  section("Figures", share, "A share, its interval and its counts.");
  section("Keys", el("p", {}, ["n", "p", "/", "?"].map((name) => [el("kbd", {}, name), " "])), "showKeys(keys) lists all keys of a page.");
})();
