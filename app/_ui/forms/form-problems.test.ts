import { TRPCClientError } from "@trpc/client";
import { expect, test } from "vitest";
import { readProblems } from "./form-problems";

const LABELS = { "/name": "Name", "/agents": "Agents" };

function rejected(issues: { path: string; message: string }[]) {
  return TRPCClientError.from({
    error: {
      code: -32600,
      message: "m",
      data: { shown: { code: "invalid_request", message: "Not valid.", issues } },
    },
  });
}

test("issues go to their fields, others to the dialog", () => {
  const problems = readProblems(
    rejected([
      { path: "/name", message: "is required" },
      { path: "/agents/1", message: "is unknown" },
      { path: "/names", message: "is not known here" },
      { path: "", message: "must name an agent" },
    ]),
    LABELS,
  );
  expect(problems.at("/name")).toBe("Name is required.");
  expect(problems.at("/agents")).toBe("Agents is unknown.");
  expect(problems.rest).toBe("names is not known here. must name an agent.");
});

test("an error about an item of a list names the item, and comes before one about the list", () => {
  const error = rejected([
    { path: "/agents", message: "are too many" },
    { path: "/agents/1", message: "is unknown" },
  ]);
  expect(readProblems(error, LABELS, { agents: ["desk", "shop"] }).at("/agents")).toBe("shop is unknown.");
});

test("an error without issues belongs to the dialog, and without an error there is no message", () => {
  expect(readProblems(rejected([]), LABELS).rest).toBe("Not valid.");
  expect(readProblems(new Error("Lost."), LABELS)).toMatchObject({ rest: "Lost." });
  expect(readProblems(null, LABELS).rest).toBeNull();
});
