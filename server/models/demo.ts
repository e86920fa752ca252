import type { Clock } from "@/server/clock";
import { isJsonObject, type Json, type JsonObject } from "@/server/json";
import { countUsage } from "@/server/models/chat-completion";
import type { ModelReply, ModelRequest, OfferedTool, ToolCall } from "@/server/models/port";

/**
 * The demo model: a script, no model. It reads the user's message and the offered tools, calls what fits one after
 * another, and answers with the results, always saying that it is a simulation. The same request gives the same reply.
 */
export const DEMO_PROVIDER = "demo";
const NOTICE = "This is a simulated answer by the built-in demo model; no real model was called.";

type PlannedCall = { name: string; arguments: JsonObject; reason: string };

/** Functions that the script knows how to use, or never calls by itself. */
const BUILT_IN = new Set([
  "calculate",
  "current_time",
  "http_request",
  "generate_text",
  "transform_json",
  "run_javascript",
  "run_tool",
  "run_agent",
  "wait",
]);

const CITY_ZONES: Record<string, string> = {
  amsterdam: "Europe/Amsterdam",
  berlin: "Europe/Berlin",
  chicago: "America/Chicago",
  delhi: "Asia/Kolkata",
  istanbul: "Europe/Istanbul",
  lisbon: "Europe/Lisbon",
  london: "Europe/London",
  madrid: "Europe/Madrid",
  mumbai: "Asia/Kolkata",
  "new york": "America/New_York",
  oslo: "Europe/Oslo",
  paris: "Europe/Paris",
  rome: "Europe/Rome",
  "san francisco": "America/Los_Angeles",
  "são paulo": "America/Sao_Paulo",
  singapore: "Asia/Singapore",
  sydney: "Australia/Sydney",
  tokyo: "Asia/Tokyo",
  vienna: "Europe/Vienna",
  zurich: "Europe/Zurich",
};

/** Only so much of a message is read: its patterns must stay cheap. */
const READ_LENGTH = 4000;

/** Arithmetic in a text: at least two numbers with an operator between. */
function findArithmetic(text: string): string[] {
  const found = text.match(/[(\d][\d\s.()+*/×÷^%-]{1,200}[\d)%]/g) ?? [];
  return found
    .map((part) => part.trim())
    .filter((part) => /\d\s*[+*/×÷^-]\s*[(\d]/.test(part) && !/^\d{4}-\d\d-\d\d/.test(part))
    .filter((part) => (part.match(/\(/g) ?? []).length === (part.match(/\)/g) ?? []).length)
    .slice(0, 3);
}

function findZone(text: string): string | undefined {
  const named = /\b[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+\b/.exec(text)?.[0];
  if (named !== undefined) return named;
  const lower = text.toLowerCase();
  return Object.entries(CITY_ZONES).find(([city]) => lower.includes(city))?.[1];
}

const wordsOf = (text: string) =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length >= 4),
  );

/** How many words of a tool's name, description and parameters the message shares. */
function relevance(tool: OfferedTool, words: ReadonlySet<string>): number {
  const own = wordsOf(`${tool.name} ${tool.description}`);
  return [...own].filter((word) => words.has(word) || words.has(`${word}s`)).length;
}

/** What in a message could fill a text parameter: something quoted, else a name, else the message. */
function findSubject(text: string): string {
  const quoted = /["“«]([^"”»]{1,200})["”»]/.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  const name = /\b(?:in|for|of|at|about|to|from)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*){0,3})/u.exec(
    text,
  )?.[1];
  if (name !== undefined) return name;
  const capital = [...text.matchAll(/(?<=[\p{L},]\s)\p{Lu}[\p{L}'-]+/gu)].map((match) => match[0]);
  return capital[0] ?? text.trim().slice(0, 200);
}

/** A value that fits a schema as well as can be guessed from the message. */
function makeValue(schema: Json | undefined, text: string, depth = 0): Json {
  if (!isJsonObject(schema) || depth > 6) return findSubject(text);
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const lower = text.toLowerCase();
    const named = schema.enum.find(
      (value) => typeof value === "string" && lower.includes(value.toLowerCase()),
    );
    return named ?? schema.enum[0] ?? null;
  }
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (Array.isArray(branches) && branches.length > 0) return makeValue(branches[0], text, depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object" || (type === undefined && isJsonObject(schema.properties))) {
    return makeArguments(schema, text, depth + 1);
  }
  if (type === "array") {
    const count = typeof schema.minItems === "number" ? Math.min(schema.minItems, 10) : 1;
    return Array.from({ length: count }, () => makeValue(schema.items, text, depth + 1));
  }
  if (type === "number" || type === "integer") return makeNumber(schema, text);
  if (type === "boolean") return true;
  if (type === "null") return null;
  return makeText(schema, text);
}

function makeNumber(schema: JsonObject, text: string): number {
  const found = Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 1);
  const whole = schema.type === "integer" ? Math.round(found) : found;
  const min = typeof schema.minimum === "number" ? schema.minimum : Number.NEGATIVE_INFINITY;
  const max = typeof schema.maximum === "number" ? schema.maximum : Number.POSITIVE_INFINITY;
  return Math.min(max, Math.max(min, whole));
}

function makeText(schema: JsonObject, text: string): string {
  if (schema.format === "date") return /\d{4}-\d\d-\d\d/.exec(text)?.[0] ?? "2026-01-01";
  if (schema.format === "date-time") return "2026-01-01T00:00:00Z";
  if (schema.format === "email")
    return /[^\s@]{1,64}@[^\s@]{1,100}\.\w{2,20}/.exec(text)?.[0] ?? "someone@example.com";
  if (schema.format === "uri") return /https?:\/\/[^\s"'<>]+/.exec(text)?.[0] ?? "https://example.com/";
  const subject = findSubject(text);
  const max = typeof schema.maxLength === "number" ? schema.maxLength : subject.length;
  const min = typeof schema.minLength === "number" ? Math.min(schema.minLength, 1000) : 0;
  return subject.slice(0, max).padEnd(min, "x");
}

/** Arguments with every required property, and the others when nothing is required. */
function makeArguments(schema: JsonObject, text: string, depth = 0): JsonObject {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const wanted = required.length > 0 ? properties.filter(([name]) => required.includes(name)) : properties;
  return Object.fromEntries(
    wanted.slice(0, 50).map(([name, property]) => [name, makeValue(property, text, depth)]),
  );
}

/** Everything that the message asks for and a tool is offered for, in the order it will be called. */
function plan(text: string, tools: readonly OfferedTool[]): PlannedCall[] {
  const offered = new Set(tools.map((tool) => tool.name));
  const calls: PlannedCall[] = [];
  if (offered.has("calculate")) {
    for (const expression of findArithmetic(text)) {
      calls.push({ name: "calculate", arguments: { expression }, reason: `I work out ${expression} first.` });
    }
  }
  if (
    offered.has("current_time") &&
    /\b(time|date|today|now|clock|day is it|tomorrow|o'clock)\b/i.test(text)
  ) {
    const timezone = findZone(text);
    calls.push({
      name: "current_time",
      arguments: timezone === undefined ? {} : { timezone },
      reason: "I look up what time it is.",
    });
  }
  const url = /https?:\/\/[^\s"'<>)]+/.exec(text)?.[0];
  if (offered.has("http_request") && url !== undefined) {
    calls.push({ name: "http_request", arguments: { url }, reason: `I fetch ${url}.` });
  }
  const words = wordsOf(text);
  const attached = tools.filter((tool) => !BUILT_IN.has(tool.name));
  const relevant = attached.filter((tool) => relevance(tool, words) > 0).slice(0, 3);
  const greeting = /^\s*(hi|hello|hey|thanks|thank you|good (morning|evening|day))\b[\s!.,]*$/i.test(text);
  const chosen = relevant.length > 0 || calls.length > 0 || greeting ? relevant : attached.slice(0, 1);
  for (const tool of chosen) {
    calls.push({
      name: tool.name,
      arguments: makeArguments(tool.parameters, text),
      reason: `I use ${tool.name} for this.`,
    });
  }
  return calls;
}

const shorten = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length)}…`;

/** The results so far, one line each. */
function describeResults(request: ModelRequest): string[] {
  const results = new Map(
    request.messages.flatMap((message) =>
      message.role === "tool" ? [[message.toolCallId, message.content]] : [],
    ),
  );
  return request.messages.flatMap((message) =>
    message.role === "assistant"
      ? message.toolCalls.map((call) => {
          const result = results.get(call.id) ?? "no result";
          if (call.name === "calculate") {
            const expression = /"expression":"([^"]*)"/.exec(call.arguments)?.[1];
            if (expression !== undefined) return `- ${expression} = ${shorten(result, 300)}`;
          }
          return `- ${call.name}: ${shorten(result, 600)}`;
        })
      : [],
  );
}

function answer(request: ModelRequest, text: string): string {
  if (request.responseSchema !== undefined) return JSON.stringify(makeValue(request.responseSchema, text));
  const results = describeResults(request);
  const asked = shorten(text.trim().replace(/\s+/g, " "), 200);
  if (results.length === 0) return `${NOTICE}\n\nYou wrote: “${asked}”`;
  return `${NOTICE}\n\nHere is what I found for “${asked}”:\n\n${results.join("\n")}`;
}

/** Answers a request by the script. Throws the signal's reason when aborted. */
export async function callDemoModel(request: ModelRequest, clock: Clock): Promise<ModelReply> {
  request.signal.throwIfAborted();
  const startedAt = clock.now().toISOString();
  const asked = request.messages.find((message) => message.role === "user")?.content ?? "";
  const text = asked.slice(0, READ_LENGTH);
  const made = request.messages.reduce(
    (sum, m) => sum + (m.role === "assistant" ? m.toolCalls.length : 0),
    0,
  );
  const next = request.tools.length > 0 ? plan(text, request.tools)[made] : undefined;
  const toolCalls: ToolCall[] =
    next === undefined
      ? []
      : [{ id: `demo_call_${made + 1}`, name: next.name, arguments: JSON.stringify(next.arguments) }];
  const whole = next === undefined ? answer(request, text) : `(demo model, simulated) ${next.reason}`;
  // What the caller pays for is limited, here by the usual three characters a token.
  const content = whole.slice(0, request.maxOutputTokens * 3);
  const usage = countUsage(request, content, toolCalls);
  return {
    content,
    toolCalls,
    finishReason: next === undefined ? "stop" : "tool_calls",
    usage: { ...usage, outputTokens: Math.min(usage.outputTokens, request.maxOutputTokens), estimated: true },
    provider: DEMO_PROVIDER,
    attempts: [{ startedAt, durationMs: 0, error: null }],
  };
}
