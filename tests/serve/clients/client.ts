// Uses the types that openapi-typescript makes of /openapi.json: node client.js ADDRESS
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];

declare const process: { argv: string[] };
const address = process.argv[2] ?? "http://127.0.0.1:8600";
// A reply may also be events; this client reads JSON.
const client = createClient<paths, "application/json">({ baseUrl: address });
const body: Schemas["AnswerBody"] = {
  answer: "Zelotrine reduced pain [1]. It rains.",
  documents: [{ id: "d1", text: "Zelotrine reduced pain in 40 of 80 adults." }],
  plan: { check: { protocol: "fast" } },
};

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`expected ${what}`);
}

const { data, error } = await client.POST("/v1/check", { body });
expect(error === undefined && "checked" in data, "a checked answer");
const labels: Schemas["Verdict"]["label"][] = data.checked.verdicts.map((verdict) => verdict.label);
expect(labels.join() === "supported", "one supported citation");

const run = await client.GET("/v1/runs/{id}", { params: { path: { id: data.run } } });
expect(run.data !== undefined && "checked" in run.data, "the stored run");

const refused = await client.POST("/v1/check", { body: { ...body, answer: " " } });
expect(refused.error?.error.status === 422, "status 422");

const missing = await client.GET("/v1/jobs/{id}", { params: { path: { id: "none" } } });
expect(missing.response.status === 404 && missing.error !== undefined, "status 404");

const begun = await client.POST("/v1/check", { body, params: { header: { Prefer: "respond-async" } } });
expect(begun.data !== undefined && "stream" in begun.data, "a stream");
const events = await createClient<paths>({ baseUrl: address }).GET("/v1/streams/{id}", {
  params: { path: { id: begun.data.stream } },
  parseAs: "text",
});
const verdicts = (events.data ?? "")
  .split("\n\n")
  .filter((event) => event.includes("event: verdict"))
  .map((event) => JSON.parse(event.split("data: ")[1] ?? "") as Schemas["VerdictEvent"]);
expect(verdicts.length === 1 && verdicts[0]?.kind === "supported", "one verdict as an event");
console.log(labels.join());
