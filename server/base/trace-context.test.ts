import { expect, it } from "vitest";
import { parseTraceParent, traceParentOf } from "./trace-context";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const run = { id: "0193b4d2-0000-7000-8000-000000000001", rootRunId: "0193b4d2-0000-7000-8000-000000000000" };

it.each([
  [`00-${TRACE}-${SPAN}-01`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-00`, { traceId: TRACE, spanId: SPAN, isSampled: false }],
  // A later version may have more parts.
  [`cc-${TRACE}-${SPAN}-03-more`, { traceId: TRACE, spanId: SPAN, isSampled: true }],
  [`00-${TRACE}-${SPAN}-01-more`, null],
  [`ff-${TRACE}-${SPAN}-01`, null],
  [`00-${"0".repeat(32)}-${SPAN}-01`, null],
  [`00-${TRACE}-${"0".repeat(16)}-01`, null],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, null],
  [`00-${TRACE}-${SPAN}`, null],
  ["", null],
  [null, null],
])("reads %j", (text, expected) => {
  expect(parseTraceParent(text)).toEqual(expected);
});

it("continues the caller's trace, or begins one with the root run's id", () => {
  const incoming = `00-${TRACE}-${SPAN}-00`;
  expect(traceParentOf({ ...run, traceParent: incoming }, "fetch")).toMatch(
    new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`),
  );
  const own = traceParentOf({ ...run, traceParent: null }, "fetch");
  expect(own).toMatch(/^00-0193b4d2000070008000000000000000-[0-9a-f]{16}-01$/);
  expect(traceParentOf({ ...run, traceParent: null }, "fetch")).toBe(own);
  expect(traceParentOf({ ...run, traceParent: null }, "other")).not.toBe(own);
});
