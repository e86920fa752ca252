import { expect, test } from "vitest";
import { changesOf, describeLineChanges, editableJson, type ForkDraft, findDraftIssues } from "./fork-draft";

const base = { model: "m", systemPrompt: "Add.", userMessage: "1+1", toolVersion: 1, versions: [] };
const draft: ForkDraft = { ...base, change: "none", value: null, tools: "recorded", maxCredits: "" };

test("a fork's changes are what differs from its origin", () => {
  expect(changesOf(draft, base)).toEqual({});
  const changed = { ...draft, systemPrompt: "", userMessage: "2+2" };
  expect(changesOf(changed, base)).toEqual({ systemPrompt: "", userMessage: "2+2" });
  expect(changesOf({ ...draft, userMessage: null }, { ...base, userMessage: null })).toEqual({});
});

test.each([["hello"], ["42"], ['a "b"'], [{ a: [1] }], [42], [null]])(
  "the prefilled output %j can be edited as JSON",
  (output) => {
    const value = editableJson(JSON.stringify(output));
    expect(changesOf({ ...draft, change: "output", value }, base)).toEqual({ output });
  },
);

test("changed lines of a text are counted", () => {
  const was = "one\ntwo\nthree";
  expect(describeLineChanges(was, was)).toBe("");
  expect(describeLineChanges(was, "one\ntwo\nnew\nthree")).toBe("1 line added");
  expect(describeLineChanges(was, "one\n2\nthree\nfour\nfive")).toBe("1 line changed, 2 added");
  expect(describeLineChanges(was, "three")).toBe("2 lines removed");
});

test("a user message must not be empty", () => {
  expect(findDraftIssues(draft)).toEqual({});
  expect(findDraftIssues({ ...draft, userMessage: "" })).toHaveProperty("/changes/userMessage");
});
