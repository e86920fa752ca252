import { describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
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
