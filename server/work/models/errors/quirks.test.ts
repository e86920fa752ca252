import { expect, test } from "vitest";
import { learnFrom, UNKNOWN_SERVER } from "./adaptation";
import { readOverflow } from "./overflow";
import { readProviderError } from "./provider-error";
import { ResponseError } from "./replies";

const SERVER = { name: "test", apiKey: undefined };
const request = { messages: [] };
const parameters = { reasoning_effort: "medium", temperature: 0.2, enable_thinking: true };
const learn = (message: string, { status = 400, code }: { status?: number; code?: string } = {}) => {
  const error = new ResponseError(`${status} ${message}`, { status, code });
  return learnFrom(error, UNKNOWN_SERVER, { request, parameters, fields: [], origin: "" });
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
    rejectedSettings: ['reasoning_effort="medium"'],
  });
});

test.each([
  ["Failed to initialize samplers: failed to parse grammar", "simpleSchemas"],
  ["JSON schema conversion failed: Unrecognized schema", "simpleSchemas"],
  [
    `Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[5].parameters.properties[8].value.any_of[0]': Cannot find field.`,
    "geminiSchemas",
  ],
  [
    // jenslys/opencode-gemini-auth#57
    "Unable to submit request because `edit` functionDeclaration `parameters.edits` schema specified other fields alongside any_of. When using any_of, it must be the only field set.",
    "geminiSchemas",
  ],
  [
    // googleapis/python-genai#625
    "Unable to submit request because one or more response schemas specified other fields alongside any_of.",
    "geminiSchemas",
  ],
  [
    // brainlid/langchain#183
    "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type",
    "filledObjects",
  ],
  ["Missing `reasoning_content` field in the assistant message at message index 2.", "reasoningAlways"],
  [
    "Unable to submit request because function call `x` in the 12. content block is missing a `thought_signature`.",
    "signatureAlways",
  ],
  [
    "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
    "noReasoningWithTools",
  ],
  ["parameter.enable_thinking must be set to false for non-streaming calls", "streamedAlways"],
  ["parameter.enable_thinking必须设置为false才能进行非流式调用", "streamedAlways"],
  [
    // musistudio/claude-code-router#948
    "enable thinking can not be support when `stream=False`.",
    "streamedAlways",
  ],
  ["messages: text content blocks must be non-empty", "nullContent"],
  [
    'BedrockException - {"message":"The text field in the ContentBlock object at messages.2.content.1 is blank."}',
    "nullContent",
  ],
  ["messages.1.content.0.text.text: Field required", "nullContent"],
  [
    "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    "namedResults",
  ],
  ["stream must be true", "streamedAlways"],
  ["Requests with max_tokens > 4096 must have stream=true", "streamedAlways"],
  ["Unsupported value: 'messages[0].role' does not support 'system' with this model.", "noSystemRole"],
  ["Developer instruction is not enabled for models/gemma-3-27b-it", "noSystemRole"],
  [
    // iamsrikanthnani/pluely#71
    "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).",
    "resultsApart",
  ],
  [
    // mistralai/mistral-vibe#1006
    "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
    "resultsApart",
  ],
  [
    "This model only support stream mode, please enable the stream parameter to access the model. ",
    "streamedAlways",
  ],
])("%s teaches only this", (message, quirk) => {
  expect(learn(message)).toEqual({ ...UNKNOWN_SERVER, quirks: [quirk] });
});

test.each([
  ['Failed to call a function: {"temperature": 3, "response_format": "stream"}', "tool_use_failed"],
  // LiteLLM 1.108 in front of Groq
  [
    'litellm.BadRequestError: GroqException - {"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"stream"}}',
    "400",
  ],
  [
    `Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.: {"temperature": "out of credits`,
    "json_validate_failed",
  ],
  [
    "Generated JSON does not match the expected schema. Error: jsonschema: '/response_format' does not validate",
    "json_validate_failed",
  ],
  [
    'litellm.BadRequestError: GroqException - {"error":{"message":"Failed to generate JSON.","code":"json_validate_failed","failed_generation":"prompt is too long"}}',
    "400",
  ],
])("what the model wrote wrongly teaches nothing, whatever it contains: %s", (message, code) => {
  expect(learn(message, { code })).toBe(UNKNOWN_SERVER);
  const error = new ResponseError(message, { status: 400, code });
  expect(readOverflow(error)).toBeNull();
  expect(readProviderError(error, SERVER, new Date()).reason).toBe("unavailable");
});

test.each([
  "output_format: Extra inputs are not permitted",
  "The model returned the following errors: output_config.format: Extra inputs are not permitted",
  "output_config: Extra inputs are not permitted",
  // It names a setting that was sent.
  "<400> InternalError.Algo.InvalidParameter: Json mode response is not supported when enable_thinking is true",
])("the schema is described in the prompt after: %s", (message) => {
  expect(learn(message)).toEqual({ ...UNKNOWN_SERVER, schemaInPrompt: true });
});

test("a schema that Gemini rejects in its own form, too, is described in the prompt", () => {
  const error = new ResponseError("400 Unable to submit request because one or more response schemas …", {
    status: 400,
    code: undefined,
  });
  const known = { ...UNKNOWN_SERVER, quirks: ["geminiSchemas" as const] };
  const learned = learnFrom(error, known, { request, parameters, fields: [], origin: "" });
  expect(learned).toEqual({ ...known, schemaInPrompt: true });
});

test("a model whose name contains a word is not a rejection of it", () => {
  expect(learn("Model streamed-7b: no").unstreamed).toBe(false);
  expect(learn("stream_options: Extra inputs are not permitted").unstreamed).toBe(true);
});
