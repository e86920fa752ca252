import { expect, test } from "vitest";
import { EMPTY_KEY, readDraft } from "./key-draft";

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
