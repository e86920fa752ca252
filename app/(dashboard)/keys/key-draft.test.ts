import { expect, test } from "vitest";
import { KEY_SCOPES } from "@/server/base/actor";
import { EMPTY_KEY, readDraft, withScope } from "./key-draft";
import { SCOPE_GROUPS } from "./scopes";

const TARGETS = [
  { kind: "agent", id: "a", slug: "helper", name: "Helper" },
  { kind: "tool", id: "t", slug: "double", name: "Double" },
] as const;
const read = (part: Partial<typeof EMPTY_KEY>) => readDraft({ ...EMPTY_KEY, name: "ci", ...part }, TARGETS);

test("an untouched form limits nothing", () => {
  expect(read({})).toEqual({
    issues: {},
    input: {
      name: "ci",
      scopes: ["runs:read", "runs:start"],
      agents: [],
      tools: [],
      startsPerMinute: null,
      readsPerMinute: null,
      maxCredits: null,
    },
  });
});

test("a selection and limits are passed on", () => {
  const { input, issues } = read({
    limited: true,
    targetIds: ["t"],
    startsPerMinute: "5",
    maxCredits: "0.5",
  });
  expect(issues).toEqual({});
  expect(input).toMatchObject({
    agents: [],
    tools: ["double"],
    startsPerMinute: 5,
    maxCredits: "0.5",
  });
});

test("what would silently widen the key is an issue", () => {
  expect(read({ limited: true }).issues).toHaveProperty("/agents");
  expect(read({ startsPerMinute: "ten" }).issues).toHaveProperty("/startsPerMinute");
});

test("the form has each scope once; a new key has those that a definition file gives", () => {
  const shown = SCOPE_GROUPS.flatMap(({ scopes }) => scopes);
  expect([...shown].sort()).toEqual([...KEY_SCOPES].sort());
  expect(EMPTY_KEY.scopes).toEqual(["runs:read", "runs:start"]);
  expect(withScope(EMPTY_KEY.scopes, "credits:read", true)).toEqual([
    "runs:read",
    "runs:start",
    "credits:read",
  ]);
  expect(withScope(EMPTY_KEY.scopes, "runs:read", false)).toEqual(["runs:start"]);
});
