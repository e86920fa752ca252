import { expect, test } from "vitest";
import { FAILURE_CODES } from "@/server/runs/failure-codes";
import { listFunctions } from "@/server/work/functions/core/registry";
import { explainRunFailure, type FailedRun } from "./explain-failure";

const run = (errorCode: string | null, more: Partial<FailedRun> = {}): FailedRun => ({
  errorCode,
  errorMessage: null,
  kind: "agent",
  agentId: "a1",
  toolId: null,
  triggerId: null,
  apiKeyId: null,
  parentRunId: null,
  model: "gpt-5-mini",
  deadlineSeconds: 900,
  currentVersion: 1,
  ...more,
});

test("every failure code has its own sentence and advice", () => {
  const explanations = FAILURE_CODES.map((code) => explainRunFailure(run(code), null));
  expect(new Set(explanations.map(({ sentence }) => sentence)).size).toBe(FAILURE_CODES.length);
  expect(new Set(explanations.map(({ advice }) => advice)).size).toBe(FAILURE_CODES.length);
  for (const { sentence, advice } of explanations)
    for (const text of [sentence, advice]) expect(text).toMatch(/^[A-Z].*\.$/);
});

test("each function's failed step has another sentence, by default with the function's name", () => {
  const explanations = listFunctions().map(({ name }) => explainRunFailure(run("step_failed"), name));
  for (const { sentence, advice } of explanations)
    for (const text of [sentence, advice]) expect(text).toMatch(/^[A-Z].*\.$/);
  expect(new Set(explanations.map(({ sentence }) => sentence)).size).toBe(explanations.length);
  expect(explainRunFailure(run("step_failed"), null).sentence).toMatch(/before or after/);
  expect(explainRunFailure(run("step_failed"), "of_tomorrow").sentence).toBe("The step of_tomorrow failed.");
});

test("only a rejected address leads to the operator's list of allowed ones", () => {
  const advice = (errorMessage: string) =>
    explainRunFailure(run("step_failed", { errorMessage }), "http_request").advice;
  expect(
    advice("The call to 10.0.0.1:80 failed: 10.0.0.1 is not a public address; calls to it are rejected."),
  ).toContain("EGRESS_ALLOW");
  for (const reason of ["no response in time", "the connection was refused", "the host name is unknown"])
    expect(advice(`The call to erp.example failed: ${reason}.`)).not.toContain("EGRESS_ALLOW");
});

test("links to where the failure can be fixed", () => {
  const hrefs = (code: string, more: Partial<FailedRun> = {}) =>
    explainRunFailure(run(code, more), null).links.map(({ href }) => href);
  expect(hrefs("insufficient_credits")).toEqual(["/credits"]);
  expect(hrefs("max_credits", { triggerId: "t1" })).toEqual(["/agents/a1", "/triggers/t1"]);
  expect(hrefs("max_credits", { apiKeyId: "k1" })).toEqual(["/agents/a1", "/keys"]);
  expect(hrefs("output_invalid", { kind: "tool", agentId: null, toolId: "t2" })).toEqual(["/tools/t2"]);
  expect(hrefs("caller_ended", { parentRunId: "r1" })).toEqual(["/runs/r1"]);
  expect(hrefs("output_invalid", { currentVersion: null })).toEqual([]);
  expect(hrefs("max_credits", { currentVersion: null, apiKeyId: "k1" })).toEqual(["/keys"]);
  expect(hrefs("not_admitted")).toEqual(["/runs?status=Running"]);
});

test("shows the run's own figures", () => {
  expect(explainRunFailure(run("deadline_exceeded"), null).sentence).toContain("15 min");
  expect(explainRunFailure(run("model_unknown"), null).sentence).toContain("gpt-5-mini");
});

test("an unknown code still gets a sentence and advice", () => {
  for (const code of [null, "of_tomorrow"]) {
    expect(explainRunFailure(run(code), null)).toMatchObject({
      sentence: "The run failed.",
      links: [{ href: "/agents/a1" }],
    });
  }
});
