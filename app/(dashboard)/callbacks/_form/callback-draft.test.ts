import { expect, it } from "vitest";
import { draftOf, listChoices, NEW_CALLBACK, readDraft } from "./callback-draft";

const HELPER = { id: "1", slug: "helper", name: "Helper", kind: "agent" as const, archived: false };
const SHOP = { id: "3", slug: "shop", name: "Shop", kind: "trigger" as const, archived: false };
const ERP = { ...NEW_CALLBACK, name: "ERP", slug: "erp", url: " https://erp.test " };

it("reads the filter only if the callback is limited", () => {
  const draft = { ...ERP, chosen: [HELPER, SHOP], metadata: "shop = no\n\n level=2 = x" };
  expect(readDraft(draft)).toMatchObject({
    definition: { url: "https://erp.test", agents: [], tools: [], triggers: [], metadata: {} },
    issues: {},
  });
  expect(readDraft({ ...draft, limited: true })).toMatchObject({
    definition: {
      agents: ["helper"],
      tools: [],
      triggers: ["shop"],
      metadata: { shop: "no", level: "2 = x" },
    },
    issues: {},
  });
});

it("is not limited to nothing, which would mean all", () => {
  expect(Object.keys(readDraft({ ...ERP, limited: true }).issues)).toEqual(["/agents"]);
  expect(readDraft({ ...ERP, limited: true, metadata: "shop = no" }).issues).toEqual({});
});

it("keeps and offers what the callback names already, also if it is archived", () => {
  const { kind: _, ...archived } = { ...HELPER, archived: true };
  const stored = {
    ...{ name: "ERP", slug: "erp", url: "https://erp.test", events: ["run.failed"] },
    ...{ agents: [archived], tools: [], triggers: [], metadata: {}, creditsBelow: null },
  };
  expect(readDraft({ ...draftOf(stored), name: "Shop" })).toMatchObject({
    definition: { name: "Shop", agents: ["helper"] },
    issues: {},
  });
  expect(listChoices([SHOP], stored)).toEqual([{ ...HELPER, archived: true }, SHOP]);
  expect(listChoices([HELPER, SHOP], stored)).toEqual([HELPER, SHOP]);
});

it("reads the credits only if the event is chosen", () => {
  const draft = { ...ERP, creditsBelow: " 100 " };
  expect(readDraft(draft).definition.creditsBelow).toBeNull();
  const watching = { ...draft, events: ["credits.low" as const] };
  expect(readDraft(watching).definition.creditsBelow).toBe("100");
  expect(readDraft({ ...watching, creditsBelow: "" }).issues).toHaveProperty(["/creditsBelow"]);
});

it("names missing and invalid fields", () => {
  const draft = { ...NEW_CALLBACK, events: [], limited: true, metadata: "shop" };
  expect(Object.keys(readDraft(draft).issues)).toEqual(["/url", "/events", "/metadata"]);
});
