/** An OpenAI-compatible service whose base URL need not be typed. */
export type KnownService = { name: string; title: string; baseUrl: string; example: string };

export const KNOWN_SERVICES: readonly KnownService[] = [
  { name: "openai", title: "OpenAI", baseUrl: "https://api.openai.com/v1", example: "gpt-5-mini" },
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
