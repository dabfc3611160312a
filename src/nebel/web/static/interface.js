// /api: the routes of the server as its own OpenAPI description tells them, without any other host.
import { get } from "./api.js";
import { el } from "./dom.js";

const main = document.getElementById("main");

function named(schema, all) {
  return schema?.$ref ? all[schema.$ref.split("/").pop()] : schema;
}

function kind(schema, all) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((one) => kind(one, all)).join(" or ");
  if (schema.prefixItems) return `[${schema.prefixItems.map((one) => kind(one, all)).join(", ")}]`;
  if (schema.type === "array") return `list of ${kind(schema.items, all) || "anything"}`;
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  return schema.type ?? "anything";
}

function rows(title, list) {
  if (!list.length) return null;
  const lines = list.map(([name, what, must, about]) =>
    el("tr", {}, el("td", {}, el("code", { text: name })), el("td", { text: what }), el("td", { text: must ? "needed" : "" }), el("td", { text: about ?? "" })));
  return el("table", {}, el("tr", {}, el("th", { text: title }), el("th", { text: "kind" }), el("th"), el("th", { text: "meaning" })), ...lines);
}

function fields(schema, all) {
  const found = named(schema, all);
  return Object.entries(found?.properties ?? {}).map(([name, one]) => [name, kind(one, all), (found.required ?? []).includes(name), one.description]);
}

function call(path, method, route, all) {
  const body = route.requestBody?.content["application/json"]?.schema;
  const answer = route.responses?.["200"]?.content?.["application/json"]?.schema;
  const item = answer?.type === "array" ? answer.items : answer;
  const given = (route.parameters ?? []).map((one) => [one.name, kind(one.schema, all), one.required, one.description ?? one.schema.description]);
  return el("details", { class: "card call" },
    el("summary", {}, el("span", { class: "method", text: method.toUpperCase() }), el("code", { text: path }), el("span", { class: "note", text: route.summary })),
    route.description ? el("p", { text: route.description }) : null, rows("parameter", given), rows(`body: ${kind(body, all)}`, body ? fields(body, all) : []),
    rows(`answer: ${kind(answer, all)}`, fields(item, all)));
}

const told = await get("/openapi.json");
const all = told.components?.schemas ?? {};
main.append(el("h1", { text: `${told.info.title} ${told.info.version}` }),
  el("p", {}, "Every refusal is a JSON object with one key, ", el("code", { text: "error" }), ". The same as a file for tools: ", el("a", { href: "/api/openapi.json", text: "/api/openapi.json" }), "."));
const groups = new Map();
for (const [path, methods] of Object.entries(told.paths))
  for (const [method, route] of Object.entries(methods)) {
    const tag = route.tags?.[0] ?? "other";
    groups.set(tag, [...(groups.get(tag) ?? []), call(path, method, route, all)]);
  }
for (const [tag, calls] of groups) main.append(el("h2", { text: tag }), ...calls);
main.append(el("h2", { text: "WebSocket" }), el("div", { class: "card" },
  el("p", {}, el("code", { text: "/api/play/{id}/live?key=KEY" }), " sends the position whenever the seat sees a change of it, and takes"),
  el("pre", { text: '{"do": "move", "move": "b2", "at": 3, "ref": 7}\n{"do": "undo"}\n{"do": "resign"}' }),
  el("p", {}, "Each gets an answer: ", el("code", { text: '{"type": "done", "ref": 7}' }), " or ", el("code", { text: '{"type": "refused", "ref": 7, "error": "why"}' }), ".")));
