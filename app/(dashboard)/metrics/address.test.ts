import { expect, test } from "vitest";
import { bucketLabel } from "@/app/_ui/figures/buckets";
import { readMetricsAddress, writeMetricsAddress } from "./address";

const id = "0193c4aa-2efc-779d-96d7-58140f1414c7";
const read = (query: string) => readMetricsAddress(new URLSearchParams(query));

test("keeps valid values in the address and drops invalid ones", () => {
  expect(read("")).toEqual({ period: "24h" });
  expect(read(`period=7d&interval=3h&tool=${id}`)).toEqual({
    period: "7d",
    interval: "3h",
    subject: { dimension: "tool", id },
  });
  expect(read("period=2y&interval=3s&agent=me")).toEqual({ period: "24h" });
});

test("reads a range of days, and none that is not one", () => {
  const days = { first: "2026-11-01", last: "2026-11-15" };
  expect(read("first=2026-11-01&last=2026-11-15")).toEqual({ period: "24h", days });
  expect(writeMetricsAddress({ period: "24h", days, subject: { dimension: "tool", id } })).toBe(
    `/metrics?tool=${id}&first=2026-11-01&last=2026-11-15`,
  );
  for (const range of [
    "2026-11-15&last=2026-11-01",
    "2026-13-01&last=2026-13-02",
    "2026-11-01",
    "2020-01-01&last=2026-11-01",
  ])
    expect(read(`first=${range}`)).toEqual({ period: "24h" });
});

test("drops an interval that the period lacks, and omits the default one", () => {
  const subject = { dimension: "key", id } as const;
  expect(writeMetricsAddress({ period: "7d", interval: "3h", subject })).toBe(
    `/metrics?period=7d&key=${id}&interval=3h`,
  );
  expect(writeMetricsAddress({ period: "90d", interval: "3h" })).toBe("/metrics?period=90d");
  expect(writeMetricsAddress({ period: "7d", interval: "6h" })).toBe("/metrics?period=7d");
});

test("labels hours in the reader's time zone and days by their UTC date", () => {
  const midnight = { from: "2026-11-21T00:00:00.000Z" };
  expect(bucketLabel(midnight, 3_600_000, "America/New_York")).toBe("20 Nov 19:00");
  expect(bucketLabel(midnight, 86_400_000, "America/New_York")).toBe("21 Nov");
});
