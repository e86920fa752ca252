import { isJsonObject, type Json, tryParseJson, writeJson } from "@/server/base/json/json";
import type { ModelMessage, ModelRequest } from "@/server/work/models/port";

const NOTICE =
  "This answer is simulated by the built-in demo model: for a real one, add a model provider, or set OPENAI_API_KEY " +
  "(and OPENAI_BASE_URL for another OpenAI-compatible provider) and restart the service.";

const shorten = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length)}…`;

const wordOf = (value: Json) => (typeof value === "string" ? value : writeJson(value));
const labelOf = (key: string) =>
  key.replace(/[_-]+/g, " ").replace(/(?<=\p{Ll})\p{Lu}/gu, (letter) => ` ${letter.toLowerCase()}`);

function describeResult(name: string, argumentsText: string, resultText: string): string {
  const result = tryParseJson(resultText);
  const called = tryParseJson(argumentsText);
  if (isJsonObject(result) && typeof result.error === "string") {
    return `${name} failed: ${shorten(result.error, 300)}`;
  }
  if (name === "calculate" && isJsonObject(called) && result !== undefined) {
    return `${wordOf(called.expression ?? "")} = ${shorten(wordOf(result), 300)}`;
  }
  if (name === "current_time" && isJsonObject(result) && typeof result.time === "string") {
    const { weekday, date, time, timezone } = result;
    return `It is ${wordOf(weekday ?? "")}, ${wordOf(date ?? "")}, ${time} (${wordOf(timezone ?? "UTC")}).`;
  }
  if (isJsonObject(result)) {
    const { text, ...facts } = result;
    const list = Object.entries(facts)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => `${labelOf(key)} ${shorten(wordOf(value), 120)}`)
      .join(", ");
    const output =
      typeof text === "string" && text !== "" ? `${shorten(text, 300)}${list && ` (${list})`}` : list;
    return `${name}: ${shorten(output, 600)}`;
  }
  return `${name}: ${shorten(typeof result === "string" ? result : resultText, 600)}`;
}

/** The fields of the objects that calls returned, by name; later ones replace earlier ones. */
export function readFacts(messages: readonly ModelMessage[]): ReadonlyMap<string, Json> {
  const results = messages.flatMap((message) =>
    message.role === "tool" ? [tryParseJson(message.content)] : [],
  );
  return new Map(results.filter(isJsonObject).flatMap((result) => Object.entries(result)));
}

function describeResults({ messages }: ModelRequest): string[] {
  const resultOf = (id: string) =>
    messages.find((message) => message.role === "tool" && message.toolCallId === id)?.content ?? "no result";
  return messages
    .flatMap((message) => (message.role === "assistant" ? message.toolCalls : []))
    .map((call) => describeResult(call.name, call.arguments, resultOf(call.id)));
}

/** The last reply of a run: a note that it is a simulation, then the results. `text` is the user's message. */
export function createReply(request: ModelRequest, text: string): string {
  const results = describeResults(request);
  const [only] = results;
  if (only === undefined) {
    return `${NOTICE}\n\nYou wrote: “${shorten(text.trim().replace(/\s+/g, " "), 200)}”`;
  }
  if (results.length === 1) return `${NOTICE}\n\n${only}`;
  return `${NOTICE}\n\n${results.map((line) => `- ${line}`).join("\n")}`;
}
