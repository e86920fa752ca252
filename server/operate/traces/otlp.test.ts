import { expect, test } from "vitest";
import { z } from "zod";
import { KIB, MIB } from "@/server/contract/sizes";
import { type Span, toOtlp } from "./otlp";

const sent = z.object({
  resourceSpans: z.tuple([
    z.object({ scopeSpans: z.tuple([z.object({ spans: z.array(z.object({ spanId: z.string() })) })]) }),
  ]),
});

const spansOf = (count: number, text: string) =>
  Array.from({ length: count }, (_, index): Span => {
    const at = new Date(0);
    const ids = { traceId: "0".repeat(32), spanId: String(index), parentSpanId: null };
    return {
      ...ids,
      name: "chat",
      kind: "client",
      startedAt: at,
      finishedAt: at,
      attributes: { text },
      error: null,
    };
  });

test.each([
  ["many spans", spansOf(1_201, "x"), 3],
  ["large spans", spansOf(50, "é".repeat(100 * KIB)), 3],
  ["no spans", [], 0],
])("requests have at most 500 spans and about 4 MiB: %s", async (_, spans, requests) => {
  const bodies: string[] = [];
  for await (const body of toOtlp(spans, { "service.name": "stepwell" })) bodies.push(body);
  expect(bodies).toHaveLength(requests);
  for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThan(4 * MIB + KIB);
  const ids = bodies.flatMap((body) => {
    const [{ scopeSpans }] = sent.parse(JSON.parse(body)).resourceSpans;
    return scopeSpans[0].spans.map(({ spanId }) => spanId);
  });
  expect(ids).toEqual(spans.map(({ spanId }) => spanId));
});

test("an attribute that may have a fraction is a double, also without one", async () => {
  const spans = [1, 0.5].flatMap((credits) =>
    spansOf(1, "x").map((span) => ({ ...span, attributes: { credits: { double: credits }, tokens: 3 } })),
  );
  for await (const body of toOtlp(spans, {})) {
    for (const value of ['{"doubleValue":1}', '{"doubleValue":0.5}', '{"intValue":"3"}'])
      expect(body).toContain(value);
  }
});
