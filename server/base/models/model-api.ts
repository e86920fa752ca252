/** The interfaces of models: OpenAI's chat completions, OpenAI's responses, and Anthropic's messages. */
export const MODEL_APIS = ["chat", "responses", "anthropic"] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

// Thinking models call functions only over `responses` here (BerriAI/litellm#34569).
const OPENAI_HOST = "api.openai.com";

/** The interface of a provider that states none. An unset address is OpenAI's. */
export function apiOf({
  api,
  baseUrl,
}: {
  api?: ModelApi | undefined;
  baseUrl?: string | undefined;
}): ModelApi {
  if (api !== undefined) return api;
  const hostname = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).hostname : null;
  // There is one host for each region, such as eu.api.openai.com.
  const isOpenAi = baseUrl === undefined || `.${hostname}`.endsWith(`.${OPENAI_HOST}`);
  return isOpenAi ? "responses" : "chat";
}
