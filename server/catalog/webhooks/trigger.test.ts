import { expect, test } from "vitest";
import { newTriggerToken, triggerUrl } from "@/server/catalog/webhooks/trigger";

test("tokens are url-safe, long and never repeat", () => {
  const tokens = Array.from({ length: 200 }, newTriggerToken);
  expect(new Set(tokens).size).toBe(200);
  for (const token of tokens) {
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(new URL(triggerUrl("https://run.test", token)).pathname).toBe(`/webhooks/${token}`);
  }
});
