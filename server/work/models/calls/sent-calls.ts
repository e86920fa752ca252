import { isJsonObject, tryParseJson } from "@/server/base/json/json";

/** A function name that every server accepts in a conversation. */
export const safeName = (name: string) => name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_";

/** Arguments that every server accepts in a conversation: servers parse them, and some fail unless they are an object. */
export const safeArguments = (text: string) => (isJsonObject(tryParseJson(text)) ? text : "{}");
