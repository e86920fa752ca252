import { isJsonObject, tryParseJson } from "@/server/base/json/json";
import { perOwner } from "@/server/base/per-owner";
import type { ModelMessage } from "@/server/work/models/port";

/** The part of a message's state that is not in its text and calls. `opaque`: the characters of encrypted data and signatures. */
type StateTexts = { texts: readonly string[]; opaque: number };

const OPAQUE = /^[\w+/=-]{64,}$/;
const LABELS = new Set(["origin", "type", "id", "call_id", "status", "role", "phase", "name"]);
// Shorter texts are compared only as a whole: a state may have thousands.
const SEARCHED_LENGTH = 256;

/** Texts of the message itself, which most states repeat, are left out. */
export const readStateTexts = perOwner((message: ModelMessage): StateTexts => {
  if (message.role !== "assistant" || !message.state) return { texts: [], opaque: 0 };
  const own = [message.content, ...message.toolCalls.map((call) => call.arguments)];
  const isOwn = (text: string) =>
    own.some((each) => each === text || (text.length >= SEARCHED_LENGTH && each.includes(text)));
  const texts: string[] = [];
  let opaque = 0;
  const add = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(add);
    else if (isJsonObject(value)) {
      // The input of a call is its arguments.
      const isCall = value.type === "tool_use";
      for (const [name, member] of Object.entries(value))
        if (!LABELS.has(name) && !(isCall && name === "input")) add(member);
    } else if (typeof value === "string" && value !== "" && !isOwn(value)) {
      if (OPAQUE.test(value)) opaque += value.length;
      else texts.push(value);
    }
  };
  add(tryParseJson(message.state));
  return { texts, opaque };
});
