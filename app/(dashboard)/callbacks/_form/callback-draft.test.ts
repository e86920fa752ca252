import { expect, it } from "vitest";
import { draftOf, listChoices, NEW_CALLBACK, readDraft } from "./callback-draft";

const HELPER = { id: "1", slug: "helper", name: "Helper", kind: "agent" as const, archived: false };
const SHOP = { id: "3", slug: "shop", name: "Shop", kind: "trigger" as const, archived: false };
const ERP = { ...NEW_CALLBACK, name: "ERP", slug: "erp", url: " https://erp.test " };

it("reads the filter only if the callback is limited", () => {
  const draft = { ...ERP, chosen: [HELPER, SHOP], metadata: "shop = no\n\n level=2 = x" };
  expect(readDraft(draft, null)).toMatchObject({
    definition: { url: "https://erp.test", agents: [], tools: [], triggers: [], metadata: {} },
    issues: {},
  });
  expect(readDraft({ ...draft, limited: true }, null)).toMatchObject({
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
  expect(Object.keys(readDraft({ ...ERP, limited: true }, null).issues)).toEqual(["/agents"]);
  expect(readDraft({ ...ERP, limited: true, metadata: "shop = no" }, null).issues).toEqual({});
});

it("keeps and offers what the callback names already, also if it is archived", () => {
  const { kind: _, ...archived } = { ...HELPER, archived: true };
  const stored = {
    ...{ name: "ERP", slug: "erp", url: "https://erp.test", events: ["run.failed"] },
    ...{ agents: [archived], tools: [], triggers: [], metadata: {}, creditsBelow: null },
    disabledAt: "2026-01-01T00:00:00.000Z",
  };
  expect(readDraft({ ...draftOf(stored), name: "Shop" }, stored)).toMatchObject({
    definition: { name: "Shop", agents: ["helper"], status: "inactive" },
    issues: {},
  });
  expect(listChoices([SHOP], stored)).toEqual([{ ...HELPER, archived: true }, SHOP]);
  expect(listChoices([HELPER, SHOP], stored)).toEqual([HELPER, SHOP]);
});

it("keeps metadata that its text cannot express until the text is edited", () => {
  const metadata = { "a=b": " c ", note: "two\nlines" };
  const stored = {
    ...{ name: "ERP", slug: "erp", url: "https://erp.test", events: ["run.failed"], disabledAt: null },
    ...{ agents: [], tools: [], triggers: [], metadata, creditsBelow: null },
  };
  const draft = { ...draftOf(stored), name: "Shop" };
  expect(readDraft(draft, stored)).toMatchObject({ definition: { metadata }, issues: {} });
  const edited = { ...draft, metadata: "shop = no" };
  expect(readDraft(edited, stored).definition.metadata).toEqual({ shop: "no" });
  expect(readDraft({ ...draft, limited: false }, stored).definition.metadata).toEqual({});
});

it("reads the credits only if the event is chosen", () => {
  const draft = { ...ERP, creditsBelow: " 100 " };
  expect(readDraft(draft, null).definition.creditsBelow).toBeNull();
  const watching = { ...draft, events: ["credits.low" as const] };
  expect(readDraft(watching, null).definition.creditsBelow).toBe("100");
  expect(readDraft({ ...watching, creditsBelow: "" }, null).issues).toHaveProperty(["/creditsBelow"]);
});

it("names missing and invalid fields", () => {
  const draft = { ...NEW_CALLBACK, events: [], limited: true, metadata: "shop" };
  expect(Object.keys(readDraft(draft, null).issues)).toEqual(["/url", "/events", "/metadata"]);
});
