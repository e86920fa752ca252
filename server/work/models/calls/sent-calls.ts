import { createHash } from "node:crypto";
import { isJsonObject, tryParseJson } from "@/server/base/json/json";

/** A function name that every server accepts in a conversation. */
export const safeName = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_";

// OpenAI's limit over chat completions.
const MAX_ID_LENGTH = 40;

/**
 * An id that every server accepts, in place of a longer one. That one goes back only to its own server: gateways have
 * Gemini's signatures in it (BerriAI/litellm#16895, agentgateway/agentgateway#3342).
 */
export const shortenId = (id: string) =>
  isLongId(id) ? `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}` : id;

export const isLongId = (id: unknown): id is string => typeof id === "string" && id.length > MAX_ID_LENGTH;

/** Arguments that every server accepts in a conversation: servers parse them, and some fail unless they are an object. */
export const safeArguments = (text: string) => (isJsonObject(tryParseJson(text)) ? text : "{}");
