import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ENDPOINTS } from "@/server/api/v1/endpoints";
import { HTTP_STATUS } from "@/server/contract/errors";
import { createOpenApiDocument } from "./document";

const document = createOpenApiDocument("https://stepwell.test");
const text = JSON.stringify(document);

const CONTRACT = [
  "POST /v1/tools/run/{toolId}",
  "GET /v1/tools/run/{toolRunId}/status",
  "GET /v1/tools/run/{toolRunId}/result",
  "POST /v1/agents/run/{agentId}",
  "GET /v1/agents/run/{agentRunId}/status",
  "GET /v1/agents/run/{agentRunId}/details",
  "POST /webhooks/{token}",
];

const reference = z.object({ $ref: z.string() });
const media = z.object({ schema: z.record(z.string(), z.unknown()), example: z.unknown().optional() });
const headers = z.record(z.string(), reference);
const response = z.object({ headers, content: z.record(z.string(), media) });
const notModified = z.strictObject({ headers, description: z.string() });
const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().min(20),
  parameters: z.array(z.object({ name: z.string(), description: z.string() })),
  requestBody: z.object({ required: z.boolean(), content: z.record(z.string(), media) }).optional(),
  responses: z.record(z.string(), z.union([reference, response, notModified])),
});

const operations = Object.values(document.paths ?? {})
  .flatMap(({ get, post, patch, delete: remove }) => [get, post, patch, remove])
  .filter((each) => each !== undefined)
  .map((each) => operation.parse(each));
const ENDPOINTS_BY_ID = new Map(Object.values(ENDPOINTS).map((each) => [each.operationId, each]));
const operationOf = (id: string) => {
  const found = operations.find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`no operation ${id}`);
  return found;
};

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isReference = (value: unknown) => isObject(value) && "$ref" in value;

function keywords(value: unknown): [string, unknown][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => [[key, part], ...keywords(part)]);
}

it("lists the contract's seven endpoints and all others that are declared, with APP_URL as its server", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.servers).toEqual([{ url: "https://stepwell.test" }]);
  const listed = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const declared = Object.values(ENDPOINTS).map(({ method, path }) => `${method} ${path}`);
  expect(listed.toSorted()).toEqual([...declared, "POST /webhooks/{token}"].toSorted());
  expect(listed).toEqual(expect.arrayContaining(CONTRACT));
});

describe("bodies", () => {
  it("a tool's input is an optional, free-form object", () => {
    const { requestBody } = operationOf("runTool");
    expect(requestBody?.required).toBe(false);
    expect(requestBody?.content["application/json"]?.schema).toEqual({
      $ref: "#/components/schemas/ToolInput",
    });
    expect(document.components?.schemas?.ToolInput).toMatchObject({
      type: "object",
      additionalProperties: true,
    });
  });

  it("an agent's message is required, a webhook's body is any JSON", () => {
    expect(operationOf("runAgent").requestBody).toMatchObject({
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/StartAgentRun" } } },
    });
    expect(operationOf("receiveWebhook").requestBody).toMatchObject({
      required: true,
      content: { "application/json": { schema: {} } },
    });
    expect(operationOf("receiveWebhook").requestBody?.content["application/json"]?.schema).toEqual({});
  });

  it("a definition file has one name, applied and exported", () => {
    const file = { $ref: "#/components/schemas/DefinitionFile" };
    const { requestBody } = operationOf("applyDefinitionFile");
    expect(requestBody?.content["application/json"]?.schema).toMatchObject(file);
    const exported = response.parse(operationOf("exportDefinitionFile").responses["200"]);
    expect(exported.content["application/json"]?.schema).toEqual(file);
  });

  it("enums, views and errors are named components, each of them in use", () => {
    const names = Object.keys(document.components?.schemas ?? {});
    for (const name of names) {
      expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
      expect(text).toContain(`"#/components/schemas/${name}"`);
    }
    expect(names).toEqual(
      expect.arrayContaining(["ApiError", "AgentRunStatus", "ToolRunStatusInt", "RunStarted"]),
    );
  });

  it("contains nothing that breaks generated clients", () => {
    for (const [key, value] of keywords(document)) {
      if (key === "additionalProperties") expect(value).toBe(true);
      if (key === "pattern") expect(String(value).length).toBeLessThan(50);
      if (key === "maximum" || key === "minimum") expect(Math.abs(Number(value))).toBeLessThan(1e9);
      if (key === "const") expect(value).toBeTypeOf("string");
      if (isReference(value)) expect(value).not.toHaveProperty("default");
      if (key === "properties" && isObject(value))
        for (const property of Object.values(value)) expect(property).not.toHaveProperty("type", "null");
    }
    // A generated constructor of `Trigger` is NewTrigger.
    const schemas = document.components?.schemas ?? {};
    for (const name of Object.keys(schemas)) expect(schemas).not.toHaveProperty(`New${name}`);
  });
});

describe("every operation", () => {
  const limited = ["X-Request-Id", "RateLimit-Policy", "RateLimit"];

  it.each(operations)("$operationId has texts, examples, headers and error responses", (each) => {
    const { requestBody, responses } = each;
    const success = response.parse(responses["200"]);
    const declared = ENDPOINTS_BY_ID.get(each.operationId);
    for (const scope of [declared?.scope ?? "", ...(declared?.alsoNeeds ?? [])])
      expect(each.description).toContain(scope);
    if (declared) expect(each.description).toMatch(/ The call counts as a (start|read|list|change)\.$/);
    const type = declared?.answers === "events" ? "text/event-stream" : "application/json";
    expect(success.content[type]?.example).toBeDefined();
    if (requestBody) expect(requestBody.content["application/json"]?.example).toBeDefined();
    const isView = declared?.answers === "view";
    const isTagged = isView || declared?.answers === "saved";
    const mayMatch = declared?.headers.includes("If-Match");
    const isStart = declared === undefined || declared.answers === "start";
    const more = isStart ? ["Idempotent-Replayed"] : isTagged ? ["ETag"] : [];
    expect(Object.keys(success.headers)).toEqual([...limited, ...more]);
    const expected = [
      "200",
      "204",
      "304",
      "400",
      "401",
      "403",
      "404",
      "405",
      "409",
      "412",
      "413",
      "415",
      "429",
      "500",
    ].filter(
      (status) =>
        !(status === "204" && declared?.answers !== "events") &&
        !(status === "304" && !isView) &&
        !(declared === undefined && ["403", "409"].includes(status)) &&
        !(status === "409" && !isStart) &&
        !(status === "412" && !mayMatch) &&
        !(status === "413" && !isStart && requestBody === undefined) &&
        !(status === "415" && requestBody === undefined),
    );
    expect(Object.keys(responses)).toEqual(expected);
  });

  it("may answer with every error code of its statuses, as JSON and as problem+json", () => {
    const errors = z
      .record(
        z.string(),
        z.object({
          headers: z.record(z.string(), reference),
          content: z.object({
            "application/json": z.object({
              examples: z.record(z.string(), z.object({ value: z.object({ code: z.string() }) })),
            }),
            "application/problem+json": z.object({ schema: reference }),
          }),
        }),
      )
      .parse(document.components?.responses);
    const codes = new Set<string>();
    for (const { headers, content } of Object.values(errors)) {
      expect(headers).toHaveProperty("X-Request-Id");
      expect(content["application/problem+json"].schema.$ref).toBe("#/components/schemas/ApiProblem");
      for (const [name, { value }] of Object.entries(content["application/json"].examples)) {
        expect(value.code).toBe(name);
        codes.add(name);
      }
    }
    expect([...codes].sort()).toEqual(Object.keys(HTTP_STATUS).sort());
    expect(errors.RateLimited?.headers).toHaveProperty("Retry-After");
    expect(errors.MethodNotAllowed?.headers).toHaveProperty("Allow");
  });
});

it("creating it changes no schema that parses requests", () => {
  expect(JSON.stringify(createOpenApiDocument("https://stepwell.test"))).toBe(text);
});

it("passes Redocly's recommended rules without errors and warnings", async () => {
  // In `/v1/agents/run/{agentId}` and `/v1/agents/{agentId}/estimate`, `run` is never an id (route.ts).
  const rules = { "no-ambiguous-paths": "off" } as const;
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lintFromString({ source: text, config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
    [],
  );
});
