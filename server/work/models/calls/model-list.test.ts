import { expect, test } from "vitest";
import { MAX_LISTED_MODELS, readModelList } from "./model-list";

const names = (body: unknown) => readModelList(body).map(({ name }) => name);

test.each<[string, unknown, { name: string; contextWindow?: number }[]]>([
  [
    "OpenAI",
    { object: "list", data: [{ id: "gpt-5", object: "model", owned_by: "openai" }] },
    [{ name: "gpt-5" }],
  ],
  [
    "Anthropic",
    { data: [{ type: "model", id: "claude-sonnet-4-5", display_name: "Claude" }], has_more: false },
    [{ name: "claude-sonnet-4-5" }],
  ],
  [
    "OpenRouter",
    { data: [{ id: "openai/gpt-5", name: "OpenAI: GPT-5", context_length: 400_000, pricing: {} }] },
    [{ name: "openai/gpt-5", contextWindow: 400_000 }],
  ],
  ["vLLM", { data: [{ id: "qwen", max_model_len: 8_192 }] }, [{ name: "qwen", contextWindow: 8_192 }]],
  ["Groq", { data: [{ id: "llama", context_window: 131_072 }] }, [{ name: "llama", contextWindow: 131_072 }]],
  [
    "Together",
    [
      { id: "b", type: "chat", context_length: 1 },
      { id: "a", type: "embedding" },
    ],
    [{ name: "b", contextWindow: 1 }],
  ],
  ["Gemini", { data: [{ id: "models/gemini-2.5-pro" }] }, [{ name: "gemini-2.5-pro" }]],
  [
    "Mistral",
    {
      data: [
        { id: "mistral-small", capabilities: { completion_chat: true }, max_context_length: 32_768 },
        { id: "mistral-ocr", capabilities: { completion_chat: false } },
      ],
    },
    [{ name: "mistral-small", contextWindow: 32_768 }],
  ],
  ["Ollama", { models: [{ name: "llama3:8b" }] }, [{ name: "llama3:8b" }]],
])("reads the list of %s", (_, body, expected) => {
  expect(readModelList(body)).toEqual(expected.map(({ name, contextWindow }) => ({ name, contextWindow })));
});

test("leaves out what does not chat, and what is no name", () => {
  const ids = ["gpt-5", "text-embedding-3-small", "whisper-1", "tts-1", "dall-e-3", "omni-moderation-latest"];
  expect(names({ data: ids.map((id) => ({ id })) })).toEqual(["gpt-5"]);
  expect(names({ data: [{ id: "" }, { id: 7 }, null, "x", { id: "x".repeat(201) }, { id: "a\0" }] })).toEqual(
    [],
  );
});

test("is bounded, sorted and without repeats", () => {
  const many = Array.from({ length: 3_000 }, (_, index) => ({ id: `m-${index}` }));
  expect(names({ data: many })).toHaveLength(MAX_LISTED_MODELS);
  expect(names({ data: [{ id: "b" }, { id: "a" }, { id: "b" }] })).toEqual(["a", "b"]);
});

test.each([[{ object: "list" }], ["<html>"], [null], [{ error: { message: "No such path" } }]])(
  "%j is no list",
  (body) => {
    expect(() => readModelList(body)).toThrow();
  },
);
