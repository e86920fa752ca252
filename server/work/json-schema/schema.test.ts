import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { type Json, type JsonObject, readJson } from "@/server/base/json/json";
import { ThreadPool } from "@/server/guard/sandbox/thread-pool";
import { inferSchema } from "./infer-schema";
import { checkSchema, validateAgainst } from "./schema";

const city: JsonObject = {
  type: "object",
  properties: { city: { type: "string", minLength: 2 }, unit: { enum: ["C", "F"] } },
  required: ["city"],
  additionalProperties: false,
};

const check = (schema: JsonObject, value: Json) => validateAgainst(schema, value, "org-1");

describe("validateAgainst", () => {
  test("names every error by a JSON pointer", async () => {
    expect(await check(city, { city: "Oslo" })).toEqual([]);
    expect(await check(city, {})).toEqual([{ path: "/city", message: "is required" }]);
    expect(await check(city, { city: 1, unit: "K", "a/b": 1 })).toEqual([
      { path: "/a~1b", message: "is not allowed" },
      { path: "/city", message: "must be string" },
      { path: "/unit", message: 'must be one of ["C","F"]' },
    ]);
    expect(await check(city, [])).toEqual([{ path: "", message: "must be object" }]);
  });

  test("lists at most 20 errors, and only the first of a large value", async () => {
    const numbers: JsonObject = { type: "array", items: { type: "number" } };
    expect(await check(numbers, Array(100).fill("x"))).toHaveLength(20);
    expect(await check(numbers, Array(50_000).fill("x"))).toHaveLength(1);
  });

  test("inherited properties do not count as present", async () => {
    const schema: JsonObject = { type: "object", required: ["constructor", "__proto__"] };
    expect((await check(schema, {})).map((issue) => issue.path)).toEqual(["/constructor", "/__proto__"]);
    expect(await check(schema, JSON.parse('{"constructor":1,"__proto__":2}'))).toEqual([]);
  });

  test.each<[string, JsonObject, Json]>([
    ["a catastrophic pattern", { type: "string", pattern: "^(a+)+$" }, `${"a".repeat(40)}b`],
    [
      "unique items over many",
      { type: "array", uniqueItems: true },
      Array.from({ length: 60_000 }, (_, i) => ({ i })),
    ],
  ])("%s is stopped", async (_name, schema, value) => {
    const started = Date.now();
    expect(await check(schema, value)).toEqual([
      { path: "", message: "could not be checked within 1000 ms" },
    ]);
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  test("local references and formats work", async () => {
    const schema: JsonObject = {
      $defs: { day: { type: "string", format: "date" } },
      type: "object",
      properties: { from: { $ref: "#/$defs/day" } },
    };
    expect(await check(schema, { from: "2026-02-28" })).toEqual([]);
    expect((await check(schema, { from: "2026-02-30" }))[0]?.path).toBe("/from");
  });

  test.each([
    [0.01, [19.99, 1.11, 143.48, 8.69, -4.02, 9313.8], [0.005, 19.999]],
    [0.1, [2.4, 21.1, 0.3], [0.25]],
    [1e-7, [3e-7, 1], [1.5e-7]],
  ])(
    "multiples of %d are those of the decimal number (ajv-validator/ajv#928)",
    async (divisor, some, others) => {
      const schema = { items: { multipleOf: divisor } };
      expect(await check(schema, some)).toEqual([]);
      expect(await check(schema, others)).toEqual(
        others.map((_, at) => ({ path: `/${at}`, message: `must be multiple of ${divisor}` })),
      );
    },
  );

  test.each([
    ["^{[a-z]+}$", ["{a}"], ["a"]],
    ["^[\\w-.]+@[\\d-x]$", ["a-b.c@x", "a@-"], ["é@x"]],
    ["^[a]]$", ["a]"], ["a"]],
    ["^a{2}{b\\-$", ["aa{b-"], ["a{b-"]],
    ["^\\p{L}\\-{x}$", ["é-{x}"], ["1-{x}"]],
  ])(
    "the pattern %s is read as without the flag u (ajv-validator/ajv#2468)",
    async (pattern, some, others) => {
      expect(await checkSchema({ pattern }, "org-1")).toEqual([]);
      for (const text of some) expect(await check({ pattern }, text)).toEqual([]);
      for (const text of others) expect(await check({ pattern }, text)).toHaveLength(1);
    },
  );

  test.each<JsonObject>([
    { type: "object", properties: { child: { $ref: "#" } }, additionalProperties: false },
    {
      $id: "https://x.test/tree",
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: { child: { $ref: "#" } },
      additionalProperties: false,
    },
  ])("a schema may refer to itself as a whole: %j", async (schema) => {
    expect(await checkSchema(schema, "org-1")).toEqual([]);
    expect(await check(schema, { child: { child: {} } })).toEqual([]);
    expect(await check(schema, { child: { child: { other: 1 } } })).toMatchObject([
      { path: "/child/child/other" },
    ]);
  });

  test("two schemas may carry the same $id", async () => {
    const a: JsonObject = { $id: "https://x.test/s", type: "string" };
    const b: JsonObject = { $id: "https://x.test/s", type: "number" };
    expect(await check(a, "x")).toEqual([]);
    expect(await check(b, 1)).toEqual([]);
    expect(await check(a, 1)).toHaveLength(1);
  });
});

describe("a check", () => {
  const doubling = range(16, (n) => ({ allOf: Array(2).fill({ $ref: `#/$defs/a${n + 1}` }) }));
  const rows = (count: number): Json => Array(count).fill({ city: "Oslo", unit: "C" });
  test.each<[name: string, place: "at once" | "in a thread", JsonObject, Json]>([
    ["of an ordinary value", "at once", city, { city: "Oslo" }],
    ["of 10 KB of text", "at once", city, { city: "x".repeat(10_240) }],
    ["of a list", "at once", { items: city }, rows(100)],
    ["of a format", "at once", { format: "email" }, "a@b.test"],
    ["of a reference", "at once", { $defs: { city }, $ref: "#/$defs/city" }, { city: "Oslo" }],
    ["of a long list", "in a thread", { items: city }, rows(5_000)],
    ["of a long text", "in a thread", city, { city: "x".repeat(500_000) }],
    ["of a pattern", "in a thread", { pattern: "^a$" }, "a"],
    ["of an unknown keyword", "in a thread", { uniqueItems: true }, [1]],
    ["of an unknown format", "in a thread", { format: "regex" }, "a"],
    [
      "of a circular reference",
      "in a thread",
      { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" },
      [[]],
    ],
    ["of references that double", "in a thread", { $defs: { ...doubling, a16: {} }, $ref: "#/$defs/a0" }, 1],
    ["of a long schema", "in a thread", { enum: ["x".repeat(5_000), 1] }, 1],
    [
      "of a schema with many parts",
      "in a thread",
      { properties: range(70, () => ({ type: "string", minLength: 1 })) },
      {},
    ],
    ["of an exact number", "in a thread", { items: { type: "number" } }, readJson("[8202522731445525542]")],
  ])("%s is done %s", async (_name, place, schema, value) => {
    const ask = vi.spyOn(ThreadPool.prototype, "ask");
    try {
      expect(await check(schema, value)).toEqual([]);
      expect(ask).toHaveBeenCalledTimes(place === "at once" ? 0 : 1);
    } finally {
      ask.mockRestore();
    }
  });

  test.each<[string, JsonObject]>([
    [
      "forty references to a large definition",
      {
        $defs: { a: { properties: range(20, () => ({ minLength: 1, maxLength: 9, minimum: 1 })) } },
        properties: range(40, () => ({ $ref: "#/$defs/a" })),
      },
    ],
    [
      "references that double",
      {
        $defs: {
          ...range(16, (n) => ({ properties: range(2, () => ({ $ref: `#/$defs/a${n + 1}` })) })),
          a16: { type: "string", minLength: 1 },
        },
        $ref: "#/$defs/a0",
      },
    ],
  ])("of %s compiles each definition once", async (_name, schema) => {
    let compiledCharacters = 0;
    // Ajv makes its validators of source text.
    const construct = (target: FunctionConstructor, sources: string[]) => {
      compiledCharacters += sources.join("").length;
      return Reflect.construct(target, sources);
    };
    vi.stubGlobal("Function", new Proxy(Function, { construct }));
    try {
      expect(await check(schema, {})).toEqual([]);
      expect(compiledCharacters).toBeGreaterThan(0);
      expect(compiledCharacters).toBeLessThan(100_000);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

function range(count: number, make: (n: number) => Json): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, make(n)]));
}

describe("checkSchema", () => {
  test.each<[string, JsonObject, string]>([
    ["an unknown type", { type: "objekt" }, "/type"],
    ["an issue deep inside", { properties: { a: { minLength: -1 } } }, "/properties/a/minLength"],
    ["a remote reference", { properties: { a: { $ref: "https://evil.test/s.json" } } }, "/properties/a/$ref"],
    ["a relative reference", { $ref: "other.json" }, "/$ref"],
    ["another dialect", { $schema: "http://json-schema.org/draft-04/schema#" }, "/$schema"],
    ["an unknown dialect", { $schema: "https://json-schema.org.evil.test/draft-07/schema" }, "/$schema"],
    ["a dangling reference", { $ref: "#/$defs/none" }, "/$ref"],
    // spring-projects/spring-ai#5888
    [
      "a reference to definitions that are not at the root",
      { properties: { a: { items: { $ref: "#/$defs/F" }, $defs: { F: {} } } } },
      "/properties/a/items/$ref",
    ],
    ["a pattern that is none", { properties: { a: { pattern: "(" } } }, "/properties/a/pattern"],
    ["a name's pattern that is none", { patternProperties: { "[": {} } }, "/patternProperties/["],
    ["a letter's needless escape", { pattern: "\\h" }, "/pattern"],
    ["a huge schema", { enum: ["x".repeat(200_000)] }, ""],
    ["a nest", nest(80), "/items/items/items/items/items/items/items/items"],
  ])("%s is rejected with its path", async (_name, schema, path) => {
    const issues = await checkSchema(schema, "org-1");
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.map((issue) => issue.path)).toContain(path);
  });

  test("names and data that look like keywords are none", async () => {
    const data = { $ref: "https://x.test/", $schema: 1, pattern: "(", enum: 1 };
    const schema: JsonObject = {
      properties: { $schema: { type: "string" }, $ref: {}, pattern: { const: data }, enum: { enum: [data] } },
      default: data,
      examples: [data],
    };
    expect(await checkSchema(schema, "org-1")).toEqual([]);
    expect(await check(schema, { $schema: "x", $ref: 1, pattern: data })).toEqual([]);
    expect((await check(schema, { $schema: 1, pattern: 1 })).map(({ path }) => path).sort()).toEqual([
      "/$schema",
      "/pattern",
    ]);
  });

  test("a published schema of draft-07 is accepted", async () => {
    const schema = JSON.parse(readFileSync("node_modules/knip/schema.json", "utf8"));
    expect(await checkSchema(schema, "org-1")).toEqual([]);
    expect(await check(schema, { entry: ["a.ts"], ignoreBinaries: 1 })).toMatchObject([
      { path: "/ignoreBinaries" },
    ]);
  });

  test("beside a reference, keywords count except in draft-07 (ajv-validator/ajv#2199)", async () => {
    const schema: JsonObject = {
      definitions: { foo: { type: "object", properties: { foo: { type: "string" } } } },
      properties: { nested: { $ref: "#/definitions/foo", additionalProperties: false, maxProperties: 1 } },
    };
    const draft07 = { ...schema, $schema: "http://json-schema.org/draft-07/schema#" };
    const value: Json = { nested: { foo: "x", bar: 1 } };
    const large: Json = { ...value, others: Array(5_000).fill({ city: "Oslo" }) };
    for (const each of [value, large]) {
      expect(await check(draft07, each)).toEqual([]);
      expect(await check(schema, each)).not.toEqual([]);
    }
    expect(await check(draft07, { nested: { foo: 1 } })).toMatchObject([{ path: "/nested/foo" }]);
  });

  test.each(["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"])(
    "%s has the meaning of its dialect",
    async ($schema) => {
      const schema: JsonObject = {
        $schema,
        items: [{ type: "number" }],
        additionalItems: { type: "string" },
        dependencies: { a: ["b"], b: { required: ["c"] } },
      };
      expect(await checkSchema(schema, "org-1")).toEqual([]);
      expect(await check(schema, [1, "x"])).toEqual([]);
      expect((await check(schema, [1, 2]))[0]?.path).toBe("/1");
      expect(await check(schema, { a: 1, b: 2 })).toHaveLength(1);
      expect((await checkSchema({ $schema, items: [1] }, "org-1")).length).toBeGreaterThan(0);
    },
  );

  test.each([
    ["https://json-schema.org/draft/2020-12/schema#", { prefixItems: [{ type: "number" }], items: false }],
    ["https://json-schema.org/draft/2019-09/schema", { items: [{ type: "number" }], additionalItems: false }],
  ])("%s is accepted", async ($schema, tuple) => {
    const schema: JsonObject = { $schema, ...tuple };
    expect(await checkSchema(schema, "org-1")).toEqual([]);
    expect([await check(schema, [1]), (await check(schema, [1, 2])).length]).toEqual([[], 1]);
  });

  test.each([
    ["^[a-z]+\\-[\\w\\-\\_]+\\@x$", "ab-c_-d@x", "ab-c@y"],
    ["^\\p{L}\\ \\#$", "ä #", "1 #"],
    ["^[\\]\\-\\&]$", "&", "\\"],
  ])("the needless escapes of %s are accepted", async (pattern, fits, other) => {
    for (const schema of [{ pattern }, { patternProperties: { [pattern]: { type: "number" } } }]) {
      expect(await checkSchema(schema, "org-1")).toEqual([]);
      const value = (text: string) => ("pattern" in schema ? text : { [text]: "x" });
      const issues = [await check(schema, value(fits)), await check(schema, value(other))];
      expect(issues.map(({ length }) => length)).toEqual("pattern" in schema ? [0, 1] : [1, 0]);
    }
  });

  test("a schema is data and never code", async () => {
    const schema: JsonObject = {
      type: "object",
      properties: { 'a"];process.exit(1);//': { const: "`$" + "{process.exit(1)}`" } },
    };
    expect(await checkSchema(schema, "org-1")).toEqual([]);
    expect(await check(schema, { x: 1 })).toEqual([]);
  });
});

function nest(depth: number): JsonObject {
  return depth === 0 ? { type: "string" } : { items: nest(depth - 1) };
}

describe("inferSchema", () => {
  test("describes objects, arrays and mixtures", () => {
    expect(inferSchema({ a: 1, b: [1, 2.5], c: null, d: [] })).toEqual({
      type: "object",
      properties: {
        a: { type: "integer" },
        b: { type: "array", items: { type: "number" } },
        c: { type: "null" },
        d: { type: "array" },
      },
      required: ["a", "b", "c", "d"],
    });
    expect(inferSchema([{ a: 1 }, { a: "x", b: true }, "t"])).toEqual({
      type: "array",
      items: {
        anyOf: [
          {
            type: "object",
            properties: { a: { anyOf: [{ type: "integer" }, { type: "string" }] }, b: { type: "boolean" } },
            required: ["a"],
          },
          { type: "string" },
        ],
      },
    });
  });

  test("every value is valid against its own inferred schema", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (generated) => {
        const value: Json = JSON.parse(JSON.stringify(generated));
        const schema = inferSchema(value);
        expect(await checkSchema(schema, "org-1")).toEqual([]);
        expect(await check(schema, value)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("a large value gets a bounded schema", () => {
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    expect(JSON.stringify(inferSchema(wide)).length).toBeLessThan(20_000);
  });
});
