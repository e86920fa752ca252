import { expect, test } from "vitest";
import type { Json } from "@/server/base/json/json";
import { describeTemplateIssue, fillMessageTemplate } from "@/server/catalog/webhooks/message-template";

const facts = { now: new Date("2026-01-01T00:00:00Z"), seed: "delivery-1", organizationId: "org-1" };

test.each<[string, Json, string]>([
  ["New: {{ body.title }}", { title: "Lamp" }, "New: Lamp"],
  ["{{ body.title }}", { title: "Lamp" }, "Lamp"],
  ["{{ body.count }}", { count: 3 }, "3"],
  ["All of it: {{ body }}", { a: [1, 2] }, 'All of it: {"a":[1,2]}'],
  ["{{ $sum(body.amount) }} in {{ $count(body) }}", [{ amount: 1 }, { amount: 2 }], "3 in 2"],
  ["No braces", { a: 1 }, "No braces"],
])("%s", async (template, body, message) => {
  expect(await fillMessageTemplate(template, body, facts)).toBe(message);
});

test.each<[string, Json, string]>([
  ["{{ body.title }}", {}, "invalid_request"],
  ["{{ body.title }}", { title: "  " }, "invalid_request"],
  ["{{ $number(body.title) }}", { title: "x" }, "trigger_misconfigured"],
])("%s over %j is rejected", async (template, body, code) => {
  await expect(fillMessageTemplate(template, body, facts)).rejects.toThrow(expect.objectContaining({ code }));
});

test("a template that takes too long is rejected", async () => {
  const tooLate = { ...facts, signal: AbortSignal.abort() };
  await expect(fillMessageTemplate("{{ body.a }}", { a: 1 }, tooLate)).rejects.toThrow(
    expect.objectContaining({ code: "trigger_misconfigured", message: expect.stringContaining("too long") }),
  );
});

test("slow templates of one organization do not delay another organization's webhooks", async () => {
  const of = (organizationId: string) => ({ ...facts, organizationId });
  const endless = "{{ ($f := function($n) { $f($n + 1) }; $f(body.a)) }}";
  // Starts a thread for each of them.
  await Promise.all(
    ["slow", "other"].map((org) => fillMessageTemplate("{{ body.a + 1 }}", { a: 1 }, of(org))),
  );
  let ended = 0;
  const slow = Array.from({ length: 4 }, () =>
    fillMessageTemplate(endless, { a: 1 }, of("slow"))
      .catch((error: unknown) => error)
      .finally(() => {
        ended += 1;
      }),
  );
  expect(await fillMessageTemplate("{{ body.a + 1 }}", { a: 1 }, of("other"))).toBe("2");
  // Each of them takes 2 s, one after the other.
  expect(ended).toBeLessThan(2);
  for (const outcome of await Promise.all(slow))
    expect(outcome).toMatchObject({
      code: "trigger_misconfigured",
      message: expect.stringContaining("2000 ms"),
    });
}, 60_000);

test("a template is checked before it is saved", async () => {
  expect(await describeTemplateIssue("{{ body.title }}", "org-1")).toBeNull();
  expect(await describeTemplateIssue("{{ body. }}", "org-1")).not.toBeNull();
  expect(await describeTemplateIssue("{{ body", "org-1")).not.toBeNull();
  expect(await describeTemplateIssue("Key: {{ secrets.api }}", "org-1")).toBe(
    "secrets cannot be used in a message",
  );
  expect(await describeTemplateIssue("{{ $titel(body.a) }}", "org-1")).toMatch(
    'there is no function or variable "$titel"',
  );
});
