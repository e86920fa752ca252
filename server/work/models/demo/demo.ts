import type { Clock } from "@/server/base/clock";
import { type JsonObject, writeJson } from "@/server/base/json/json";
import { asksForCorrection } from "@/server/work/models/json-answer";
import { ModelError, type ModelReply, type ModelRequest, type OfferedTool } from "@/server/work/models/port";
import { countUsage } from "@/server/work/models/tokens/tokens";
import { countNumberFields, createArguments, createValue } from "./demo-arguments";
import { findArithmetic, findNumbers, findOrders, findZone, readMessage } from "./demo-reading";
import { createReply, readFacts } from "./demo-reply";

/**
 * The demo model is a script: it calls the offered tools that fit the message, and answers with their results. The
 * same request gives the same reply.
 */

/** The name of the demo model, and of its provider. */
export const DEMO = "demo";

type PlannedCall = { name: string; arguments: JsonObject; reason: string };

// Functions with their own rules, or that the script never calls on its own.
const BUILT_IN = new Set(
  "calculate current_time http_request generate_text transform_json run_javascript run_tool run_agent wait".split(
    " ",
  ),
);

const UNFILLED =
  "The built-in demo model fills only simple schemas, and its answer did not match this one. Choose another model, or " +
  "simplify the schema.";

const READ_LENGTH = 4000;
const MAX_TOOLS = 3;
const MAX_ORDERS = 4;

const SENSES: [string, RegExp][] = [
  ["price", /^(price[ds]?|pricing|costs?|quotes?|quotation|order(s|ed)?|buy(ing)?|pay|total|bill|invoice)$/],
  ["weather", /^(weather|forecast|temperatures?|rain(y|ing)?|sunny|snow(ing)?)$/],
];

const wordsOf = (text: string) =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .map((word) => SENSES.find(([, words]) => words.test(word))?.[0] ?? word)
      .filter((word) => word.length >= 4),
  );

function relevance(tool: OfferedTool, words: ReadonlySet<string>): number {
  const wordsOfTool = wordsOf(`${tool.name.replaceAll("_", " ")} ${tool.description}`);
  return [...wordsOfTool].filter((word) => words.has(word) || words.has(`${word}s`)).length;
}

function planTool(tool: OfferedTool, text: string): PlannedCall[] {
  const orders = countNumberFields(tool.parameters) >= 2 ? findOrders(text).slice(0, MAX_ORDERS) : [];
  const parts = orders.length > 1 ? orders : [text];
  return parts.map((part) => ({
    name: tool.name,
    arguments: createArguments(tool.parameters, part),
    reason: orders.length > 1 ? `I use ${tool.name} for ${part}.` : `I use ${tool.name} for this.`,
  }));
}

function findExpressions(text: string, tools: readonly OfferedTool[]): string[] {
  const found = findArithmetic(text);
  if (tools.some((tool) => !BUILT_IN.has(tool.name) && countNumberFields(tool.parameters) >= 2)) return found;
  const totals = findOrders(text).map((order) => findNumbers(order).slice(0, 2).join(" * "));
  return [...found, ...totals.slice(0, MAX_ORDERS)];
}

function plan(text: string, tools: readonly OfferedTool[]): PlannedCall[] {
  const calls: PlannedCall[] = [];
  const offer = (name: string, input: JsonObject, reason: string) => {
    if (tools.some((tool) => tool.name === name)) calls.push({ name, arguments: input, reason });
  };
  for (const expression of findExpressions(text, tools))
    offer("calculate", { expression }, `I calculate ${expression}.`);
  if (/\b(time|date|today|now|clock|day is it|tomorrow|o'clock)\b/i.test(text)) {
    const timezone = findZone(text);
    if (timezone === undefined) offer("current_time", {}, "I look up the current time.");
    else offer("current_time", { timezone }, `I look up the time in ${timezone}.`);
  }
  const url = /https?:\/\/[^\s"'<>)]+/.exec(text)?.[0];
  if (url !== undefined) offer("http_request", { url }, `I fetch ${url}.`);
  const words = wordsOf(text);
  const attached = tools.filter((tool) => !BUILT_IN.has(tool.name));
  const relevant = attached.filter((tool) => relevance(tool, words) > 0).slice(0, MAX_TOOLS);
  const greeting = /^\s*(hi|hello|hey|thanks|thank you|good (morning|evening|day))\b[\s!.,]*$/i.test(text);
  const chosen = relevant.length > 0 || calls.length > 0 || greeting ? relevant : attached.slice(0, 1);
  const planned = chosen.flatMap((tool) => planTool(tool, text));
  // Tools come first; calculations and the time follow.
  return findNumbers(text).length > 0 ? [...planned, ...calls] : [...calls, ...planned];
}

/** Answers a request by the script. Throws the signal's reason when aborted, and ModelError for a schema it cannot fill. */
export async function callDemoModel(request: ModelRequest, clock: Clock): Promise<ModelReply> {
  request.signal.throwIfAborted();
  const startedAt = clock.now().toISOString();
  // The same answer would be wrong again.
  if (asksForCorrection(request.messages))
    throw new ModelError(UNFILLED, { reason: "rejected", attempts: [] });
  const asked = request.messages.find((message) => message.role === "user")?.content ?? "";
  const text = readMessage(asked.slice(0, READ_LENGTH));
  const made = request.messages.flatMap((m) => (m.role === "assistant" ? m.toolCalls : [])).length;
  const next = request.tools.length > 0 ? plan(text, request.tools)[made] : undefined;
  const toolCalls = (next === undefined ? [] : [next]).map(({ name, arguments: input }) => ({
    id: `demo_call_${made + 1}`,
    name,
    arguments: writeJson(input),
  }));
  const reply = next === undefined ? answer(request, text) : `(demo model, simulated) ${next.reason}`;
  // The output limit, at three characters per token.
  const content = reply.slice(0, request.maxOutputTokens * 3);
  const usage = await countUsage(request, { content, reasoning: "", toolCalls });
  return {
    content,
    reasoning: "",
    state: null,
    toolCalls,
    finishReason: next === undefined ? "stop" : "tool_calls",
    usage: { ...usage, outputTokens: Math.min(usage.outputTokens, request.maxOutputTokens) },
    provider: DEMO,
    attempts: [{ startedAt, durationMs: 0, error: null }],
  };
}

function answer(request: ModelRequest, text: string): string {
  if (request.responseSchema !== undefined) {
    return writeJson(createValue(request.responseSchema, text, readFacts(request.messages)));
  }
  return createReply(request, text);
}
