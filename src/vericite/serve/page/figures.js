// The figures of a checked answer, as the command line prints them: shares with their intervals.
const figuresTable = (rows) => el("details", { class: "of-figures" }, el("summary", {}, t("figures.title")),
  el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("figures.title") }, el("table", { class: "outcomes" }, el("caption", {}, t("figures.about")),
    el("thead", {}, el("tr", {}, [t("figures.outcome"), t("figures.share"), t("figures.interval"), t("figures.counted")].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.name), el("td", {}, el("b", {}, decimals(row.value, 2))),
      el("td", {}, row.low === null ? "" : t("components.range", { low: decimals(row.low, 2), high: decimals(row.high, 2) })),
      el("td", {}, row.count === null ? t("figures.n", { n: row.n, of: row.of }) : t("figures.count", { count: row.count, all: row.n, of: row.of }))))))));

// How a result was made, as the command line says it: the time of each stage, calls of language models, what was left undecided.
const TIMES = ["retrieve", "rerank", "rewrite", "generate", "verify", "repair", "rationale"];
const calledIn = ({ calls, cached, failures, attempts, prompt_tokens: read, completion_tokens: written, estimated, cost }) => [
  t("figures.calls", { n: calls }), cached ? t("figures.cached", { n: cached }) : "", failures ? t("figures.failures", { n: failures }) : "", attempts === calls - cached ? "" : t("figures.attempts", { n: attempts }),
  t(estimated ? "figures.tokens-estimated" : "figures.tokens", { read, written }), cost === null ? t("figures.cost-unknown") : t("figures.cost", { dollars: decimals(cost, 4) })].filter(Boolean).join(", ");
const howMade = ({ seconds, calls, precision, unsure, of, remark }) => {
  const times = TIMES.filter((stage) => stage in seconds).map((stage) => t(`figures.time-${stage}`, { time: seconds[stage] < 1 ? `${Math.round(1000 * seconds[stage])} ms` : `${decimals(seconds[stage], 1)} s` }));
  const lines = [times.length ? `${t("figures.times")}: ${times.join(", ")}.` : null, calls ? `${t("figures.model")}: ${calledIn(calls)}.` : null, precision ? t("figures.precision", { precision: decimals(precision, 2), n: unsure, of }) : null, remark ? said(remark) : null].filter(Boolean);
  return lines.length ? el("details", { class: "of-making" }, el("summary", {}, t("figures.made")), el("ul", {}, lines.map((line) => el("li", {}, line)))) : "";
};
