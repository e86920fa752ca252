import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import { findWorkflowIssues, type KnownNames } from "@/server/work/workflow/check";
import { workflowDefinition } from "@/server/work/workflow/definition";

const known = {
  secrets: [],
  findUnknown: async (kind: string, slugs: readonly string[]) =>
    new Map(
      slugs
        .filter((slug) => slug !== "known")
        .map((slug) => {
          const message = `"${slug}" is not ${kind === "agent" ? "an" : "a"} ${kind}`;
          return [slug, { message, meant: slug === "knwon" ? "known" : undefined }];
        }),
    ),
} satisfies KnownNames;
const check = async (definition: Json) => {
  const ofSchema = (workflowDefinition.safeParse(definition).error?.issues ?? []).map(
    ({ path, message }) => ({
      path: jsonPointer(path),
      message,
    }),
  );
  const issues = [...ofSchema, ...(await findWorkflowIssues(definition, known, "org-1"))];
  return issues.map((issue) => `${issue.path} ${issue.message}`);
};

const weather: JsonObject = {
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  steps: [
    {
      id: "fetch",
      uses: "http_request",
      with: { url: "https://w.test/v1?q={{ $encodeUrlComponent(input.city) }}" },
    },
    {
      id: "brief",
      uses: "transform_json",
      with: { value: "{{ steps.fetch.body }}", expression: "{ 'tempC': current.temp }" },
    },
  ],
  output: "{{ steps.brief }}",
  outputSchema: { type: "object", properties: { tempC: { type: "number" } }, required: ["tempC"] },
};

const step = (fields: JsonObject): JsonObject => ({
  id: "a",
  uses: "calculate",
  with: { expression: "1" },
  ...fields,
});
const one = (fields: JsonObject, rest: JsonObject = {}): JsonObject => ({ steps: [step(fields)], ...rest });

const group = (parallel: JsonObject[]): JsonObject => ({ steps: [{ id: "g", parallel }] });
const pair = (index: number): JsonObject => ({
  id: `g${index}`,
  parallel: [step({ id: `b${index}` }), step({ id: `c${index}` })],
});

test("the documentation's example is valid, and gets its defaults", async () => {
  expect(await check(weather)).toEqual([]);
  expect(workflowDefinition.parse(weather)).toMatchObject(weather);
  const small = { steps: [{ id: "now", uses: "current_time" }] };
  expect(await check(small)).toEqual([]);
  // Expressions and scripts without a result, or with none in time, can still be parsed.
  for (const expression of ["1 / 0", "9^9^9!"])
    expect(await check(one({ uses: "calculate", with: { expression } }))).toEqual([]);
  const code = "const { items } = await input;\nfor (;;) if (items) return items ?? null;";
  expect(await check(one({ uses: "run_javascript", with: { code } }))).toEqual([]);
  expect(workflowDefinition.parse(small)).toMatchObject({
    parameters: { type: "object" },
    steps: [{ with: {} }],
  });
});

test("steps name tools and agents that there are, as far as can be known", async () => {
  const call = (id: string, slug: Json) => ({ id, uses: "run_tool", with: { tool: slug } });
  const ask = (id: string, slug: Json) => ({ id, uses: "run_agent", with: { agent: slug, message: "Hi" } });
  const issues = await check({
    steps: [
      call("a", "known"),
      call("b", "gone"),
      call("c", "{{ input.tool }}"),
      call("d", "my-{{ input.tool }}"),
      call("e", ""),
      call("f", 7),
      { id: "g", parallel: [ask("h", "known"), ask("i", "gone"), ask("j", "{{ input.agent }}")] },
      step({ id: "k", with: { expression: "1", tool: "gone" } }),
    ],
  });
  expect(issues).toEqual([
    '/steps/1/with/tool "gone" is not a tool',
    "/steps/4/with/tool must not be empty",
    "/steps/5/with/tool must be string",
    '/steps/6/parallel/1/with/agent "gone" is not an agent',
    '/steps/7/with/tool calculate doesn\'t take "tool"; known inputs: expression',
  ]);
});

test("inputs of http_request that do not go together are rejected, as far as can be known", async () => {
  const request = (id: string, input: JsonObject) => ({
    id,
    uses: "http_request",
    with: { url: "https://x.test/", ...input },
  });
  const issues = await check({
    steps: [
      request("a", { headers: { HOST: "y.test", authorization: "{{ input.key }}" } }),
      request("b", { method: "POST", retries: 2, next: "body.next" }),
      request("c", { method: "{{ input.method }}", retries: 2, next: "body.next" }),
      request("d", { retries: 2, next: "body.next", headers: "{{ input.headers }}" }),
    ],
  });
  expect(issues).toEqual([
    "/steps/0/with/headers/HOST cannot be set: the host is that of the address",
    "/steps/1/with/retries is not for POST: it might do something twice",
    "/steps/1/with/next is only for GET",
  ]);
});

describe("rejects, naming the path", () => {
  test.each<[string, Json, RegExp]>([
    ["what is not an object", [], /^ .*object/],
    ["no steps", { steps: [] }, /^\/steps /],
    ["an unknown key", one({ uzes: "x" }), /^\/steps\/0 .*uzes/],
    ["an id that is not a name", one({ id: "1 a" }), /^\/steps\/0\/id letters/],
    [
      "an unknown function",
      one({ uses: "fetch_url" }),
      /^\/steps\/0\/uses there is no function named "fetch_url"; known functions: .*calculate, .*transform_json, /,
    ],
    [
      "a prototype's name as function",
      one({ uses: "constructor" }),
      /^\/steps\/0\/uses there is no function/,
    ],
    [
      "a repeated id",
      { steps: [step({}), step({})] },
      /^\/steps\/1\/id "a" is already the id of an earlier step$/,
    ],
    ["a reserved id", one({ id: "__proto__" }), /^\/steps\/0\/id "__proto__" cannot be/],
    [
      "an unknown step",
      one({ if: "steps.b" }),
      /^\/steps\/0\/if there is no step "b"; steps before this one: none$/,
    ],
    [
      "itself",
      one({ with: { expression: "{{ steps.a }}" } }),
      /^\/steps\/0\/with\/expression .* refer to itself or its group$/,
    ],
    [
      "a later step",
      { steps: [step({ with: { expression: "{{ steps.b }}" } }), step({ id: "b" })] },
      /^\/steps\/0\/with\/expression the step "b" comes later$/,
    ],
    [
      "an unknown name",
      one({ with: { expression: "{{ inptu.x }}" } }),
      /^\/steps\/0\/with\/expression "inptu" is not known/,
    ],
    [
      "an expression in a key",
      one({ uses: "transform_json", with: { value: [{ "{{ input.n }}": 1 }], expression: "$" } }),
      /^\/steps\/0\/with\/value\/0\/{{ input.n }} has {{ in its key: keys are not filled in/,
    ],
    [
      "an expression in a key of the output",
      one({}, { output: { "{{ input.n }}": 1 } }),
      /^\/output\/{{ input.n }} has {{ in its key/,
    ],
    ["item without forEach", one({ with: { expression: "{{ item }}" } }), /"item" is not known/],
    [
      "item under another name",
      one({ forEach: "input", as: "x", with: { expression: "{{ item }}" } }),
      /"item" is not known/,
    ],
    ["as without forEach", one({ as: "x" }), /^\/steps\/0\/as is only allowed with forEach$/],
    ["a taken name", one({ forEach: "input", as: "steps" }), /^\/steps\/0\/as "steps" is taken/],
    [
      "an invalid expression",
      one({ with: { expression: "x {{ input. }}" } }),
      /^\/steps\/0\/with\/expression .*end/,
    ],
    [
      "an open brace",
      one({ with: { expression: "{{ input.x" } }),
      /^\/steps\/0\/with\/expression .*never closed/,
    ],
    ["a condition with text", one({ if: "a {{ input.x }}" }), /^\/steps\/0\/if .*single expression/],
    ["a missing input", one({ with: {} }), /^\/steps\/0\/with\/expression is required by calculate$/],
    [
      "an unknown input",
      one({ with: { expression: "1", ex: 1 } }),
      /^\/steps\/0\/with\/ex calculate doesn't take "ex"; known inputs: expression$/,
    ],
    ["a wrong input", one({ with: { expression: 1 } }), /^\/steps\/0\/with\/expression must be string$/],
    [
      "a wrong enum",
      one({ uses: "http_request", with: { url: "x", method: "BREW" } }),
      /^\/steps\/0\/with\/method must be one of/,
    ],
    [
      "an unknown parameter",
      { ...weather, output: "{{ input.town }}" },
      /^\/output input.town is not among the parameters; known parameters: city$/,
    ],
    [
      "an unknown step in the output",
      { ...weather, output: { a: ["{{ steps.x }}"] } },
      /^\/output\/a\/0 there is no step "x"; steps before this one: fetch, brief$/,
    ],
    ["an invalid schema", one({}, { outputSchema: { type: "objekt" } }), /^\/outputSchema\/type /],
    [
      "a remote reference",
      one({}, { parameters: { $ref: "https://x.test" } }),
      /^\/parameters\/\$ref refers outside/,
    ],
    [
      "parameters that are a list",
      one({}, { parameters: { type: "array" } }),
      /^\/parameters\/type must be "object"/,
    ],
    ["neither uses nor parallel", { steps: [{ id: "a" }] }, /^\/steps\/0 must have uses or parallel$/],
    ["a group with uses", one({ parallel: [step({ id: "b" })] }), /^\/steps\/0\/uses is not allowed beside/],
    [
      "a step of the same group",
      group([step({ id: "b" }), step({ id: "c", if: "steps.b" })]),
      /^\/steps\/0\/parallel\/1\/if the step "b" cannot refer to itself or its group$/,
    ],
    [
      "a repeated id in a group",
      group([step({ id: "b" }), step({ id: "b" })]),
      /^\/steps\/0\/parallel\/1\/id "b" is already/,
    ],
    [
      "an unknown function in a group",
      group([step({ id: "b", uses: "x" })]),
      /^\/steps\/0\/parallel\/0\/uses there is no function/,
    ],
    [
      "too many calls at once",
      group([step({ id: "b", forEach: "input", concurrency: 20 }), step({ id: "c" })]),
      /^\/steps\/0\/parallel would have up to 21 calls at once; at most 20 are allowed$/,
    ],
    [
      "too many steps with those in groups",
      { steps: Array.from({ length: 51 }, (_, i) => pair(i)) },
      /^\/steps has 102 steps with those in groups; at most 100/,
    ],
    [
      "an expression that a function takes",
      one({ uses: "transform_json", with: { value: 1, expression: "$sum(" } }),
      /^\/steps\/0\/with\/expression Expected "\)" before end of expression/,
    ],
    [
      "an unknown function of an expression",
      one({ with: { expression: "{{ input.on ? $uppercse(input.a) : 1 }}" } }),
      /^\/steps\/0\/with\/expression there is no function or variable "\$uppercse"; known functions: \$abs, /,
    ],
    [
      "an unknown function of an expression that a function takes",
      one({ uses: "transform_json", with: { value: 1, expression: "$total(a)" } }),
      /^\/steps\/0\/with\/expression there is no function or variable "\$total"; /,
    ],
    [
      "two ends of one wait",
      one({ uses: "wait", with: { seconds: "{{ input.pause }}", until: "2027-01-01T00:00:00Z" } }),
      /^\/steps\/0\/with must have either seconds or until$/,
    ],
    [
      "an unknown time zone",
      one({ uses: "current_time", with: { timezone: "Europe/Berlinn" } }),
      /^\/steps\/0\/with\/timezone "Europe\/Berlinn" is not a time zone; use a name such as "Europe\/Berlin" or "UTC"$/,
    ],
    [
      "an expression that finds the next page",
      one({ uses: "http_request", with: { url: "https://w.test", next: "links..[" } }),
      /^\/steps\/0\/with\/next /,
    ],
    [
      "a schema that a function takes",
      one({ uses: "generate_text", with: { prompt: "p", schema: { properties: { a: { type: "strin" } } } } }),
      /^\/steps\/0\/with\/schema\/properties\/a\/type must be one of/,
    ],
    [
      "model options that Stepwell sends itself",
      one({ uses: "generate_text", with: { prompt: "p", modelOptions: { n: 5 } } }),
      /^\/steps\/0\/with\/modelOptions cannot have n: Stepwell sends it itself$/,
    ],
    [
      "a fallback to the same model",
      one({ uses: "generate_text", with: { prompt: "p", model: "m", fallbackModels: ["n", "m"] } }),
      /^\/steps\/0\/with\/fallbackModels\/1 is the step's own model$/,
    ],
    [
      "arithmetic that a function takes",
      one({ uses: "calculate", with: { expression: "2 * (3 +" } }),
      /^\/steps\/0\/with\/expression the expression ends too early \(at character 9\)$/,
    ],
    [
      "a script that a function takes",
      one({ uses: "run_javascript", with: { code: "const a = ;\nreturn a" } }),
      /^\/steps\/0\/with\/code SyntaxError: /,
    ],
    ["too many retries", one({ retries: 11 }), /^\/steps\/0\/retries /],
    ["too much", one({ with: { expression: "x".repeat(600_000) } }), /^ is larger than 512 KiB$/],
    ["a nest", nested(300), /^ is nested deeper/],
  ])("%s", async (_name, definition, expected) => {
    const issues = await check(definition);
    expect(issues).toContainEqual(expect.stringMatching(expected));
  });

  test("every error at once", async () => {
    expect(
      await check({
        steps: [step({ uses: "x", if: "steps.q" }), step({ id: "b", with: {} })],
        output: "{{ nope }}",
      }),
    ).toHaveLength(4);
  });

  test("issues of the schema together with all others, and nothing that only follows from them", async () => {
    const issues = await check({
      parameters: { type: "object", properties: { city: { type: "string" } }, additionalProperties: false },
      steps: [
        step({ id: "1 a", uzes: "x", if: "input.town" }),
        step({ id: "b", uses: "fetch_url", with: "text" }),
        step({ id: "c", with: { expression: 1 }, retries: 99 }),
        { id: "d", uses: 7, with: { expression: "{{ input. }}" } },
        "no step",
        { id: "g", parallel: [step({ id: "e", concurrency: 0, with: {} }), 3] },
      ],
      output: "{{ steps.f }} {{ steps.b }}",
      outputSchema: { type: "objekt" },
      speed: 3,
    });
    const paths = new Set(issues.map((issue) => issue.split(" ", 1).join("")));
    expect([...paths].sort()).toEqual([
      "", // speed
      "/output",
      "/outputSchema/type",
      "/steps/0", // uzes
      "/steps/0/id",
      "/steps/0/if",
      "/steps/1/uses",
      "/steps/1/with",
      "/steps/2/retries",
      "/steps/2/with/expression",
      "/steps/3/uses",
      "/steps/3/with/expression",
      "/steps/4",
      "/steps/5/parallel/0/concurrency",
      "/steps/5/parallel/0/with/expression",
      "/steps/5/parallel/1",
    ]);
    expect(issues).toContainEqual('/output there is no step "f"; steps before this one: b, c, d, g, e');
    expect(issues).toContainEqual(
      "/steps/0/if input.town is not among the parameters; known parameters: city",
    );
  });
});

function nested(depth: number): Json {
  let value: Json = 1;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
}

describe("the repair of an issue", () => {
  const repairs = async (definition: Json) => {
    const issues = await findWorkflowIssues(definition, { ...known, secrets: ["hook"] }, "org-1");
    return issues.map(({ path, repair }) => ({ path, ...repair }));
  };
  const text = (from: string, to: string) => ({ from, to });

  test.each([
    ["{{ steps.fech.body }}", "Use fetch", "{{ steps.fetch.body }}"],
    ["a {{ $$.steps.`fech` & steps.fech }} b", "Use fetch", "a {{ $$.steps.fetch & steps.fetch }} b"],
    ["{{ input.citi }}", "Use city", "{{ input.city }}"],
  ])("%s: %s", async (output, label, repaired) => {
    const found = await repairs({ ...weather, output });
    expect(found[0]).toEqual({ path: "/output", label, change: text(output, repaired) });
  });

  test("a condition, a function, a secret and a foreign input", async () => {
    const headers = { authorization: "Bearer {{ secrets.hok }}" };
    const url = "https://w.test";
    const steps: Json = [
      { id: "fetch", uses: "http_requests", with: { url } },
      { id: "brief", uses: "http_request", if: "steps.fetsh.ok", with: { url, headers, value: 1 } },
    ];
    expect(await repairs({ steps })).toEqual([
      { path: "/steps/0/uses", label: "Use http_request", change: text("http_requests", "http_request") },
      { path: "/steps/1/if", label: "Use fetch", change: text("steps.fetsh.ok", "steps.fetch.ok") },
      {
        path: "/steps/1/with/headers/authorization",
        label: "Use hook",
        change: text("Bearer {{ secrets.hok }}", "Bearer {{ secrets.hook }}"),
      },
      { path: "/steps/1/with/value", label: "Remove", change: "remove" },
    ]);
  });

  test("a misspelt input, unless the right one is there too, and a misspelt slug", async () => {
    const steps: Json = [
      { id: "a", uses: "transform_json", with: { valu: 1, expression: "$" } },
      { id: "b", uses: "transform_json", with: { value: 1, valu: 1, expression: "$" } },
      { id: "c", uses: "run_tool", with: { tool: "knwon" } },
      { id: "d", uses: "run_tool", with: { tool: "gone" } },
    ];
    expect(await repairs({ steps })).toEqual([
      { path: "/steps/0/with/valu", label: "Use value", change: { rename: "value" } },
      { path: "/steps/0/with/value" },
      { path: "/steps/1/with/valu", label: "Remove", change: "remove" },
      { path: "/steps/2/with/tool", label: "Use known", change: text("knwon", "known") },
      { path: "/steps/3/with/tool" },
    ]);
  });

  test("only issues that are shown have one", async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`expressio${n}`, 1]));
    const startedAt = performance.now();
    await repairs({ steps: [{ id: "a", uses: "transform_json", with: many }] });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test.each(["{{ steps.other.body }}", "{{ steps.brief.a + steps.later.b }}"])(
    "%s has none: no name is near",
    async (output) => {
      expect(await repairs({ ...weather, output })).toEqual([{ path: "/output" }]);
    },
  );
});
