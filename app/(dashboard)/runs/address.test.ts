import { expect, test } from "vitest";
import type { RunFilter } from "@/server/runs/read/find/filter";
import { isPlain, paramsOf, readFilter, withText, writeFilter } from "./address";

const read = (query: string) => readFilter(new URLSearchParams(query));

test("reads every filter back as it was written", () => {
  const id = "0193c4aa-2efc-779d-96d7-58140f1414c7";
  const filter: Required<Omit<RunFilter, "targetIds">> = {
    status: ["Pending", "Failed"],
    kind: "tool",
    source: "webhook",
    period: "7d",
    from: "2026-11-01T00:00:00.000Z",
    to: "2026-11-02T00:00:00.000Z",
    agentId: id,
    toolId: id,
    triggerId: id,
    scheduleId: id,
    apiKeyId: id,
    userId: id,
    minDurationMs: 0,
    maxDurationMs: 1_000,
    minTokens: 1,
    maxTokens: 2,
    minCredits: "0.5",
    maxCredits: "1",
    metadata: { customer: "acme & sons", "order.id": "42" },
    text: "late & = orders",
  };
  expect(read(writeFilter(filter))).toEqual({ filter, unread: [] });
  expect(read("")).toEqual({ filter: { source: "outside" }, unread: [] });
  expect(read("status=&q=+")).toEqual({ filter: { source: "outside" }, unread: [] });
});

test("reports unknown parameters and reads the rest", () => {
  expect(read("status=Faild&kind=tool")).toEqual({
    filter: { kind: "tool", source: "outside" },
    unread: ["status=Faild"],
  });
  expect(read("status=Failed&status=Cancelled")).toEqual({
    filter: { source: "outside" },
    unread: ["status=Failed", "status=Cancelled"],
  });
  expect(
    read(`q=${"x".repeat(201)}&to=0&minCredits=0.00001&page=2`).unread.map((part) => part.slice(0, 6)),
  ).toEqual(["q=xxxx", "minCre", "page=2"]);
  expect(readFilter(paramsOf({ kind: ["tool", "agent"], q: undefined }), ["kind"])).toEqual({
    filter: { source: "outside" },
    unread: [],
  });
});

test("lists root runs unless the address says otherwise; a search finds child runs, too", () => {
  expect(writeFilter({ source: "outside" })).toBe("");
  expect(writeFilter({})).toBe("?source=any");
  expect(read("source=any")).toEqual({ filter: {}, unread: [] });
  expect(read("q=late")).toEqual({ filter: { text: "late" }, unread: [] });
  expect(writeFilter({ text: "late" })).toBe("?q=late");
  expect(read(writeFilter({ text: "late", source: "outside" })).filter).toEqual({
    text: "late",
    source: "outside",
  });
  expect(withText({ source: "outside" }, "late")).toEqual({ text: "late" });
  expect(withText({ text: "late" }, "")).toEqual({ source: "outside" });
  expect(withText({}, "late")).toEqual({ text: "late" });
  expect([isPlain({}), isPlain({ source: "outside" }), isPlain({ source: "run" })]).toEqual([
    true,
    true,
    false,
  ]);
});
