import { describe, expect, test, vi } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { storeOutput } from "@/server/guard/secrets/stored-output";
import {
  codeOfFailure,
  type FunctionContext,
  type FunctionDefinition,
} from "@/server/work/functions/core/define";
import { executeFunction } from "@/server/work/functions/core/execute";
import { inputSchemaOf, listFunctions } from "@/server/work/functions/core/registry";
import { testFunctionContext } from "@/testing/function-context";
import { COMMON_ERRORS } from "@/testing/functions-guide";

const MIB = 1024 * 1024;

function nest(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const HOSTILE: Record<string, Json> = {
  nothing: null,
  "an empty text": "",
  "a wrong type": true,
  "an empty list": [],
  "U+0000": "a\0b",
  "half of a character": "a\ud800b",
  "a line break": "a@b.test\r\nBcc: eve@b.test",
  "a megabyte of text": "x".repeat(MIB),
  "a megabyte of astral characters": "🦄".repeat(MIB / 4),
  "many values": Array.from({ length: 50_000 }, (_, n) => n),
  "many keys": Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])),
  "a deep nest": nest(199),
  "the largest number": Number.MAX_VALUE,
  "a negative number": -1e9,
  "a fraction": 0.1,
  "an own __proto__": JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  ),
  "the name of a prototype": "__proto__",
  "a formula": "=cmd|' /C calc'!A0",
  "a local address": "http://169.254.169.254/latest/meta-data",
  "a file's address": "file:///etc/passwd",
  "an unending number": "9".repeat(5_000),
};

const context: Partial<FunctionContext> = {
  fetch: async () => Response.json(HOSTILE["an own __proto__"]),
  callModel: async () => ({
    content: '{"__proto__":{"polluted":true},"a":"\\ud800"}',
    state: null,
    toolCalls: [],
  }),
  values: {
    get: async () => ({ value: HOSTILE["an own __proto__"] ?? null, version: 1 }),
    set: async () => ({ outcome: "written", version: 1 }),
  },
  sendMail: async ({ to }) => ({ messageId: "<1@b.test>", accepted: [...to], rejected: [] }),
};

const called = listFunctions().filter(({ run }) => typeof run === "function");

describe.each(called.map((definition) => ({ name: definition.name, definition })))(
  "$name",
  ({ definition }) => {
    const example: JsonObject = JSON.parse(JSON.stringify(definition.example.input));
    const properties = inputSchemaOf(definition).properties;
    const fields = isJsonObject(properties) ? Object.keys(properties) : [];

    test.each(fields)("survives any %s", async (field) => {
      for (const [what, value] of Object.entries(HOSTILE)) {
        const outcome = await call(definition, { ...example, [field]: value });
        expect([what, outcome]).toEqual([what, "fine"]);
      }
    });

    test("rejects fields with the names of prototypes, or ignores them", async () => {
      const input: JsonObject = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":2}');
      expect(await call(definition, Object.assign(input, example))).toBe("fine");
    });
  },
);

const COLUMN = "a".repeat(2_000);
const DEEP_LIST = `${"<ol start=9999999999><li>".repeat(99)}${"a<br>".repeat(5_000)}`;

test.each<[string, string, JsonObject]>([
  ["records with a long name", "parse_csv", { text: `${COLUMN}\n${"x\n".repeat(99_000)}` }],
  [
    "repaired records with a long name",
    "parse_csv",
    { text: `${COLUMN}\n${"x\n".repeat(99_000)}`, relaxed: true },
  ],
  [
    "short rows",
    "parse_csv",
    { text: `${"x,".repeat(2_000)}x\n${"x\n".repeat(5_000)}`, header: false, relaxed: true },
  ],
  ["characters to escape", "parse_csv", { text: "\u0001".repeat(MIB), header: false }],
  ["the indents of a deep list", "extract_text", { html: DEEP_LIST }],
])("a result that %s would make larger than 4 MiB is an error", async (_what, name, input) => {
  await expect(executeFunction(name, { input, context: testFunctionContext() })).rejects.toMatchObject({
    code: name === "parse_csv" ? "invalid_csv" : "invalid_html",
    message: expect.stringContaining("the result is larger than 4 MiB"),
  });
});

test("the rows of a CSV text count as memory of their step", async () => {
  const memory = new ProcessMemory().openRun("org-1").openStep();
  const hold = vi.spyOn(memory, "holdText");
  const context = testFunctionContext({ memory });
  await executeFunction("parse_csv", { input: { text: "a\n1" }, context });
  expect(hold).toHaveBeenCalledExactlyOnceWith('[{"a":"1"}]');
});

async function call({ name, errors }: FunctionDefinition, input: JsonObject): Promise<string> {
  let issue = "fine";
  try {
    const output = await executeFunction(name, { input, context: testFunctionContext(context) });
    const stored = await storeOutput(output, { overflow: "cut" });
    if ("error" in stored) issue = stored.error;
    else if (!stored.text.isWellFormed() || stored.text.includes("\\u0000"))
      issue = "a text that cannot be stored";
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = codeOfFailure(error);
    if (!(code in errors) && !(code in COMMON_ERRORS)) issue = `an unknown code: ${code}`;
    else if (error instanceof TypeError || error instanceof RangeError)
      issue = `an error of ours: ${message}`;
    else if (message.length > 5_000) issue = `a message of ${message.length} characters`;
  }
  if ("polluted" in {}) issue = "a changed prototype";
  return issue;
}
