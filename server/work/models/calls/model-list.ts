import { z } from "zod";
import type { ListedModel } from "@/server/work/models/port";
import { unreadable } from "../errors/replies";

/** More models are left out. */
export const MAX_LISTED_MODELS = 1_000;
const MAX_NAME_LENGTH = 200;

const size = z.int().positive().optional().catch(undefined);
const entry = z.object({
  id: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  capabilities: z.looseObject({ completion_chat: z.unknown() }).optional().catch(undefined),
  context_length: size,
  context_window: size,
  max_context_length: size,
  max_model_len: size,
});
// OpenAI's and Anthropic's form, Together's, and Ollama's.
const list = z.union([
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.array(z.unknown()),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models),
]);

// Names of models that do not chat: a guess; people can still type one.
const OTHER_NAMES =
  /embed|whisper|\btts\b|dall-e|moderation|transcribe|rerank|realtime|\b(image|imagen|sora|veo)\b/i;
const OTHER_TYPES = new Set(["image", "embedding", "moderation", "rerank", "audio", "video", "transcribe"]);

/** Parses a provider's untrusted list of models, in alphabetical order. Throws ReplyError. */
export function readModelList(body: unknown): ListedModel[] {
  const parsed = list.safeParse(body);
  if (!parsed.success) throw unreadable(body, "a list of models");
  const found = new Map<string, ListedModel>();
  for (const raw of parsed.data) {
    const model = entry.safeParse(raw).data;
    // Gemini writes models/gemini-2.5-pro, which is called without the prefix.
    const name = (model?.id ?? model?.name ?? "").replace(/^models\//, "");
    if (model === undefined || name === "" || name.length > MAX_NAME_LENGTH || name.includes("\0")) continue;
    if (OTHER_NAMES.test(name) || OTHER_TYPES.has(model.type ?? "")) continue;
    if (model.capabilities?.completion_chat === false) continue;
    const { context_length, context_window, max_context_length, max_model_len } = model;
    const contextWindow = max_model_len ?? context_length ?? context_window ?? max_context_length;
    found.set(name, { name, contextWindow });
    if (found.size === MAX_LISTED_MODELS) break;
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
