import { expect, test } from "vitest";
import { Decimal } from "@/server/base/amount";
import { newId } from "@/server/base/ids";
import { runSpan, spansOfRows, type TracedCall, type TracedRun, type TracedStep } from "./run-spans";

const at = { startedAt: new Date("2026-03-01T10:00:00Z"), finishedAt: new Date("2026-03-01T10:00:01Z") };
const CONTENTS = { input: '{"a":1}', output: '{"b":2}' };

const runOf = (kind: "agent" | "tool"): TracedRun => ({
  ...at,
  id: newId(),
  rootRunId: newId(),
  traceParent: null,
  parent: null,
  organization: "acme",
  kind,
  name: "Helper",
  targetId: newId(),
  version: 3,
  status: "Failed",
  source: "api",
  errorCode: "deadline_exceeded",
  errorMessage: "Stopped",
  inputTokens: 100,
  outputTokens: 20,
  credits: new Decimal("0.5"),
  contents: CONTENTS,
});

const row = { ...at, runId: newId(), status: "Failed", errorMessage: "No answer" } as const;
const step: TracedStep = { ...row, key: "call-1-1", name: "calculate", contents: CONTENTS };
const call: TracedCall = {
  ...row,
  key: "think-1",
  provider: "google",
  model: "gemini-2.5-pro",
  finishReason: null,
  inputTokens: 100,
  outputTokens: 20,
  cachedInputTokens: 50,
  cacheWriteTokens: 10,
  reasoningTokens: 5,
  reply: { text: "Partial", toolCalls: [{ id: "a", name: "calculate", arguments: '{"expression":"6*7"}' }] },
};

const attributesOf = (kind: "agent" | "tool", rows: { steps?: TracedStep[]; calls?: TracedCall[] }) =>
  [runSpan(runOf(kind)), ...spansOfRows(runOf(kind), rows)].map(({ attributes }) => attributes);

const namesOf = (attributes: object) =>
  Object.entries(attributes)
    .filter(([name, value]) => value !== null && value !== undefined && !name.startsWith("stepwell."))
    .map(([name]) => name)
    .sort();

const INVOCATION = ["error.type", "gen_ai.agent.name", "gen_ai.operation.name"];

// The lists are those of the spans in the conventions' model/gen-ai/spans.yaml, as far as Stepwell knows the values.
test.each([
  [
    "agent",
    [
      ...INVOCATION,
      "gen_ai.input.messages",
      "gen_ai.output.messages",
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.output_tokens",
    ],
  ],
  ["tool", INVOCATION],
] as const)("the span of a run of an %s has the conventions' attributes", (kind, names) => {
  expect(attributesOf(kind, {}).map(namesOf)).toEqual([[...names].sort()]);
});

test("the span of a model call has the conventions' attributes", () => {
  const [, attributes = {}] = attributesOf("agent", { calls: [call] });
  expect(namesOf(attributes)).toEqual([
    "error.type",
    "gen_ai.operation.name",
    "gen_ai.output.messages",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.finish_reasons",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.reasoning.output_tokens",
  ]);
});

test("a call that failed without a finish reason has the reason error", () => {
  const calls: TracedCall[] = [call, { ...call, finishReason: "length" }, { ...call, status: "Completed" }];
  const reasons = attributesOf("agent", { calls }).map((one) => one["gen_ai.response.finish_reasons"]);
  expect(reasons.slice(1)).toEqual([["error"], ["length"], null]);
});

// By gen-ai-output-messages.json of the conventions. Phoenix ignores messages without a finish reason.
test("output messages have the text, the tool calls and the finish reason", () => {
  const completed = { ...call, status: "Completed" } as const;
  const calls: TracedCall[] = [
    { ...completed, finishReason: "tool_calls" },
    { ...completed, finishReason: "stop", reply: { text: "42", toolCalls: [] } },
    { ...completed, reply: { text: "", toolCalls: [{ id: "b", name: "calculate", arguments: "{" }] } },
    { ...call, reply: { text: "", toolCalls: [] } },
  ];
  const messages = attributesOf("agent", { calls }).map((one) => String(one["gen_ai.output.messages"]));
  const role = "assistant";
  const asked = { type: "tool_call", id: "a", name: "calculate", arguments: { expression: "6*7" } };
  expect(messages.map((one) => JSON.parse(one))).toEqual([
    [{ role, parts: [{ type: "text", content: CONTENTS.output }], finish_reason: "stop" }],
    [{ role, parts: [{ type: "text", content: "Partial" }, asked], finish_reason: "tool_call" }],
    [{ role, parts: [{ type: "text", content: "42" }], finish_reason: "stop" }],
    [{ role, parts: [{ ...asked, id: "b", arguments: "{" }], finish_reason: "stop" }],
    [{ role, parts: [], finish_reason: "error" }],
  ]);
});

test("arguments keep numbers that a double cannot hold", () => {
  const toolCalls = [{ id: "a", name: "calculate", arguments: '{"n":12345678901234567890}' }];
  const [, chat] = attributesOf("agent", { calls: [{ ...call, reply: { text: "", toolCalls } }] });
  expect(chat?.["gen_ai.output.messages"]).toContain('"n":12345678901234567890');
});

test("providers have the conventions' names, and their own where the conventions have none", () => {
  const calls = ["google", "xai", "openai", "acme"].map((provider) => ({ ...call, provider }));
  const names = attributesOf("agent", { calls }).map((one) => one["gen_ai.provider.name"]);
  expect(names.slice(1)).toEqual(["gcp.gemini", "x_ai", "openai", "acme"]);
});

test("the span of a step names the agent that called it; a workflow's step has none", () => {
  const agentOf = (kind: "agent" | "tool") => attributesOf(kind, { steps: [step] })[1]?.["gen_ai.agent.name"];
  expect([agentOf("agent"), agentOf("tool")]).toEqual(["Helper", null]);
});
