import { expect, it } from "vitest";
import { NEW_CALLBACK, readDraft } from "./callback-draft";

const DIRECTORY = [
  { id: "1", slug: "helper", kind: "agent" as const },
  { id: "2", slug: "adder", kind: "tool" as const },
  { id: "3", slug: "shop", kind: "trigger" as const },
];
const ERP = { ...NEW_CALLBACK, name: "ERP", slug: "erp", url: " https://erp.test " };

it("reads the filter only if the callback is limited", () => {
  const draft = { ...ERP, ids: ["1", "3"], metadata: "shop = no\n\n level=2 = x" };
  expect(readDraft(draft, DIRECTORY)).toMatchObject({
    definition: { url: "https://erp.test", agents: [], tools: [], triggers: [], metadata: {} },
    issues: {},
  });
  expect(readDraft({ ...draft, limited: true }, DIRECTORY)).toMatchObject({
    definition: {
      agents: ["helper"],
      tools: [],
      triggers: ["shop"],
      metadata: { shop: "no", level: "2 = x" },
    },
    issues: {},
  });
});

it("reads the credits only if the event is chosen", () => {
  const draft = { ...ERP, creditsBelow: " 100 " };
  expect(readDraft(draft, DIRECTORY).definition.creditsBelow).toBeNull();
  const watching = { ...draft, events: ["credits.low" as const] };
  expect(readDraft(watching, DIRECTORY).definition.creditsBelow).toBe("100");
  expect(readDraft({ ...watching, creditsBelow: "" }, DIRECTORY).issues).toHaveProperty(["/creditsBelow"]);
});

it("names missing and invalid fields", () => {
  const draft = { ...NEW_CALLBACK, events: [], limited: true, metadata: "shop" };
  expect(Object.keys(readDraft(draft, DIRECTORY).issues)).toEqual(["/url", "/events", "/metadata"]);
});
