import { MODEL_APIS, type ModelApi } from "@/server/base/models/model-api";
import type { OwnProvider } from "@/server/work/models/own-provider";
import { referenceTo } from "../secrets/secret-draft";

export type KnownService = { name: string; title: string; api?: ModelApi; baseUrl: string; example: string };

/** Services whose base URL is filled in. */
export const KNOWN_SERVICES: readonly KnownService[] = [
  { name: "openai", title: "OpenAI", baseUrl: "https://api.openai.com/v1", example: "gpt-5-mini" },
  {
    name: "anthropic",
    title: "Anthropic",
    api: "anthropic",
    baseUrl: "https://api.anthropic.com",
    example: "claude-sonnet-4-5",
  },
  {
    name: "openrouter",
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    example: "anthropic/claude-sonnet-4.5",
  },
  {
    name: "mistral",
    title: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    example: "mistral-small-latest",
  },
  {
    name: "groq",
    title: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    example: "llama-3.3-70b-versatile",
  },
];

/** Choices of the key that are not names of secrets. */
export const NO_KEY = "";
export const NEW_KEY = "+";

/** The interfaces as the page names them; `""`: the usual one at the address. */
export const API_TITLES: Record<ModelApi | "", string> = {
  "": "Automatic: responses at api.openai.com, else chat completions",
  chat: "Chat completions",
  responses: "Responses (OpenAI)",
  anthropic: "Messages (Anthropic)",
};

export const API_CHOICES = ["", ...MODEL_APIS] as const;

type ProviderDraft = {
  name: string;
  api: ModelApi | "";
  baseUrl: string;
  key: string;
  keyValue: string;
  models: string;
};

/** A new provider, with the name and base URL of a known service. */
export function newProviderAt(service: KnownService | null): ProviderDraft {
  const { name, api = "", baseUrl } = service ?? { name: "", baseUrl: "" };
  return { name, api, baseUrl, key: NEW_KEY, keyValue: "", models: "" };
}

export function toDraft({ name, api, baseUrl, apiKey, models }: OwnProvider): ProviderDraft {
  const key = apiKey === undefined ? NO_KEY : (/\.\s*(\w+)/.exec(apiKey)?.[1] ?? NO_KEY);
  return { name, api: api ?? "", baseUrl, key, keyValue: "", models: models.join("\n") };
}

/** The provider to save, and the value of a secret that is created with it. */
export function readDraft(
  draft: ProviderDraft,
  secrets: readonly string[],
): { provider: OwnProvider; keyValue: string | undefined } {
  const { key, keyValue } = draft;
  const name = draft.name.trim();
  const secret = key === NEW_KEY ? newSecretName(name, secrets) : key;
  return {
    provider: {
      name,
      ...(draft.api === "" ? {} : { api: draft.api }),
      baseUrl: draft.baseUrl.trim(),
      ...(secret === NO_KEY ? {} : { apiKey: referenceTo(secret) }),
      models: readModels(draft.models),
    },
    keyValue: key === NEW_KEY ? keyValue : undefined,
  };
}

/** The name of a new secret for a provider: the provider's, unless it is taken. */
export function newSecretName(provider: string, taken: readonly string[]): string {
  const base = provider.replace(/\W/g, "_").replace(/^(?=\d)/, "key_") || "key";
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}_${number}`;
    if (!taken.includes(name)) return name;
  }
}

function readModels(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((model) => model.trim())
    .filter((model) => model !== "");
}

/** The text with a model added, or removed if it is in there. */
export function toggleModel(text: string, model: string): string {
  const models = readModels(text);
  const others = models.filter((each) => each !== model);
  return (others.length < models.length ? others : [...models, model]).join("\n");
}

/** The host of an address that is being typed; null until it is one. */
export function hostOf(baseUrl: string): string | null {
  return URL.canParse(baseUrl.trim()) ? new URL(baseUrl.trim()).host || null : null;
}
