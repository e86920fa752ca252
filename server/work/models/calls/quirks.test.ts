import { expect, test } from "vitest";
import { learnFrom, UNKNOWN_SERVER } from "./adaptation";
import { ResponseError } from "./replies";

const request = { messages: [] };
const parameters = { reasoning_effort: "medium", temperature: 0.2 };
const learn = (message: string, { status = 400, code }: { status?: number; code?: string } = {}) => {
  const error = new ResponseError(`${status} ${message}`, { status, code });
  return learnFrom(error, UNKNOWN_SERVER, { request, parameters, fields: [] });
};

test.each([
  // ollama/ollama#12561, server/routes.go
  ['think value "medium" is not supported for this model', 500],
  ['"qwen2.5:7b" does not support thinking', 400],
  // BerriAI/litellm#16265
  ["Model grok-4-latest does not support parameter reasoningEffort.", 400],
])("the effort is left out after: %s", (message, status) => {
  expect(learn(message, { status })).toEqual({
    ...UNKNOWN_SERVER,
    refusedSettings: ['reasoning_effort="medium"'],
  });
});

test.each([
  ["Failed to initialize samplers: failed to parse grammar", "simpleSchemas"],
  ["JSON schema conversion failed: Unrecognized schema", "simpleSchemas"],
  ["Missing `reasoning_content` field in the assistant message at message index 2.", "reasoningAlways"],
  [
    "Unable to submit request because function call `x` in the 12. content block is missing a `thought_signature`.",
    "signatureAlways",
  ],
  [
    "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
    "noReasoningWithTools",
  ],
])("%s teaches only this", (message, quirk) => {
  expect(learn(message)).toEqual({ ...UNKNOWN_SERVER, quirks: [quirk] });
});

test("a call that the model wrote wrongly teaches nothing, whatever it contains", () => {
  const message = 'Failed to call a function: {"temperature": 3, "response_format": "stream"}';
  expect(learn(message, { code: "tool_use_failed" })).toBe(UNKNOWN_SERVER);
});

test("a model whose name contains a word is not a refusal of it", () => {
  expect(learn("Model streamed-7b: no").unstreamed).toBe(false);
  expect(learn("stream_options: Extra inputs are not permitted").unstreamed).toBe(true);
});
