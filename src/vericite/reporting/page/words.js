// The words of a page in its language: `t(key, values)`. `n` chooses between singular and plural, and `shown` is put in its
// place. If a value is an element, the parts are returned as `el` takes them.
const WORDS = JSON.parse(by("words").textContent), LANGUAGE = document.documentElement.lang;
const plurals = new Intl.PluralRules(LANGUAGE), numbers = new Intl.NumberFormat(LANGUAGE);
const moments = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "short" });
const decimals = (value, digits) => value.toLocaleString(LANGUAGE, { minimumFractionDigits: digits, maximumFractionDigits: digits });
const t = (key, values) => {
  const phrase = WORDS[key], form = typeof phrase === "string" ? phrase : phrase[plurals.select(values.n)] || phrase.other;
  const put = (name) => { const value = name === "n" && values.shown ? values.shown : values[name]; return typeof value === "number" ? numbers.format(value) : value; };
  const parts = form.split(/\{(\w+)\}/).map((part, place) => (place % 2 ? put(part) : part));
  return parts.every((part) => typeof part === "string") ? parts.join("") : parts;
};
const slug = (text) => text.replaceAll(" ", "-");
// Words of a closed list of the core, such as the designs of studies.
const known = (list, text) => WORDS[`words.${list}-${slug(text)}`] || text;
// A text of the core, which is in English.
const said = (text) => (LANGUAGE === "en" || !text ? text : el("span", { lang: "en" }, text));
