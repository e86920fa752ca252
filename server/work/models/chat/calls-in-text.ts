import { isJsonObject, type Json, tryParseJson } from "@/server/base/json/json";
import { readFenced } from "@/server/work/models/calls/loose-json";
import type { GivenCall } from "@/server/work/models/calls/read-calls";
import { MAX_RECORDED_CALLS, type ModelRequest } from "@/server/work/models/port";

const MAX_LENGTH = 256 * 1024;
const TAGGED = /^<tool_call>([\s\S]*?)<\/tool_call>\s*/;

/**
 * The calls of an answer that consists of nothing but calls of offered tools, as servers without a parser for their
 * model leave them: `{"name", "arguments"}`, each in `<tool_call>` or alone (NousResearch/hermes-agent#107125,
 * jundot/omlx#2565). Empty for any other text.
 */
export function callsInText(
  content: string,
  { tools = [], responseSchema }: Partial<Pick<ModelRequest, "tools" | "responseSchema">>,
): GivenCall[] {
  const text = content.trim();
  if (tools.length === 0 || text.length > MAX_LENGTH) return [];
  const offered = new Set(tools.map(({ name }) => name));
  if (text.startsWith("<tool_call>")) return readCalls(readTagged(text), offered);
  // A structured answer may look the same.
  if (responseSchema !== undefined) return [];
  const parsed = tryParseJson(readFenced(text) ?? text);
  return readCalls(Array.isArray(parsed) ? parsed : [parsed], offered);
}

function readTagged(text: string): unknown[] {
  const found: unknown[] = [];
  for (let rest = text; rest !== ""; ) {
    const [whole = "", inner = ""] = TAGGED.exec(rest) ?? [];
    if (whole === "" || found.length === MAX_RECORDED_CALLS) return [];
    found.push(tryParseJson(inner));
    rest = rest.slice(whole.length);
  }
  return found;
}

function readCalls(values: readonly unknown[], offered: ReadonlySet<string>): GivenCall[] {
  const calls = values.flatMap((value) => readCall(value, offered) ?? []);
  return calls.length === values.length ? calls : [];
}

function readCall(value: unknown, offered: ReadonlySet<string>): GivenCall | null {
  if (!isJsonObject(value)) return null;
  const { name, arguments: given, parameters, ...others } = value;
  const called: Json | undefined = given ?? parameters;
  const isCall = typeof name === "string" && offered.has(name) && isJsonObject(called);
  return isCall && Object.keys(others).length === 0 ? { name, arguments: called } : null;
}
