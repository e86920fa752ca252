import { expect, test } from "vitest";
import { actionLabel } from "./audit-view";

test("an action is shown in words", () => {
  expect(actionLabel("tool.created")).toBe("Tool created");
  expect(actionLabel("model_provider.updated")).toBe("Model provider updated");
  expect(actionLabel("api_key.revoked")).toBe("API key revoked");
  expect(actionLabel("trigger.address_changed")).toBe("Trigger address changed");
});
