import { expect, test } from "vitest";
import { newProviderAt, newSecretName, readDraft, toDraft, toggleModel } from "./provider-draft";

test("a draft gives back the provider that it was made of", () => {
  const provider = {
    name: "far",
    api: "responses" as const,
    baseUrl: "https://far.test/v1",
    apiKey: "{{ secrets.far }}",
    models: ["far/large", "far/small"],
  };
  expect(readDraft(toDraft(provider), [])).toEqual({ provider, keyValue: undefined });
  const { apiKey: _key, api: _api, ...open } = provider;
  expect(readDraft(toDraft(open), [])).toEqual({ provider: open, keyValue: undefined });
});

test("a model is added to a text of models, and removed again", () => {
  expect(toggleModel("", "a")).toBe("a");
  expect(toggleModel("a, b\n", "c")).toBe("a\nb\nc");
  expect(toggleModel("a\nb\nc", "b")).toBe("a\nc");
});

test("a new key is a secret with the provider's name, unless another has it", () => {
  const draft = { ...newProviderAt(null), name: " open-router ", keyValue: "sk-1", models: "a, b\n\nc " };
  expect(readDraft(draft, ["open_router"])).toEqual({
    provider: {
      name: "open-router",
      baseUrl: "",
      apiKey: "{{ secrets.open_router_2 }}",
      models: ["a", "b", "c"],
    },
    keyValue: "sk-1",
  });
  expect(newSecretName("4all", [])).toBe("key_4all");
  expect(newSecretName("", [])).toBe("key");
});
