import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { headingId } from "../docs/guides";
import {
  describeFull,
  describeGrowth,
  describeRetention,
  describeRoles,
  describeWait,
  describeWaiting,
  formatGrowth,
  minutesBefore,
} from "./describe";
import { GUIDED_CHECKS, guideOf } from "./doctor-guides";

const MIB = 1_024 ** 2;

it("names how many processes do what", () => {
  expect(describeRoles([])).toBe("No process reports");
  const processes = [{ role: "worker" as const }, { role: "all" as const }, { role: "all" as const }];
  expect(describeRoles([...processes, { role: null }])).toBe("2 web and worker, 1 worker");
});

it("says how long runs wait", () => {
  expect(describeWait(0, 0)).toBe("No run waits");
  expect(describeWait(14, 2.1)).toBe("Oldest waits 2.10 s");
});

it("shows growth with its sign, and that it is not known yet", () => {
  expect(describeGrowth(null)).toBe("Growth is known after a day");
  expect(describeGrowth(380 * MIB)).toBe("+380.0 MiB a day");
  expect(formatGrowth(-12 * MIB)).toBe("−12.0 MiB");
  expect(formatGrowth(0.3)).toBe("±0");
});

it("forecasts a full disk only if it is near", () => {
  expect(describeFull(100 * MIB, null)).toBeNull();
  expect(describeFull(100 * MIB, -1)).toBeNull();
  expect(describeFull(MIB, 2 * MIB)).toBe("full within a day");
  expect(describeFull(45 * MIB, MIB)).toBe("full in 45 days");
  expect(describeFull(400 * MIB, MIB)).toBe("full in 13 months");
  expect(describeFull(10_000 * MIB, MIB)).toBeNull();
});

it("shows the range of what plans keep", () => {
  expect(describeRetention(null)).toBe("");
  expect(describeRetention({ least: 30, most: 30 })).toBe("30 d");
  expect(describeRetention({ least: 7, most: 90 })).toBe("7–90 d");
});

it("has a bar for each minute of an hour, without a figure where there is no sample", () => {
  const minutes = minutesBefore("2026-11-21T10:30:40.000Z", [
    { at: "2026-11-21T10:29:00.000Z", waiting: 4 },
    { at: "2026-11-21T09:00:00.000Z", waiting: 9 },
  ]);
  expect(minutes).toHaveLength(60);
  expect(minutes.at(-1)).toEqual({ at: "2026-11-21T10:30:00.000Z", waiting: null });
  expect(minutes.filter(({ waiting }) => waiting !== null)).toEqual([
    { at: "2026-11-21T10:29:00.000Z", waiting: 4 },
  ]);
});

it("claims nothing about the time between two samples", () => {
  expect(describeWaiting([{ waiting: null }])).toBe("No sample yet.");
  expect(describeWaiting([{ waiting: null }, { waiting: 0 }])).toBe("No run waited at any sample.");
  expect(describeWaiting([{ waiting: 0 }, { waiting: 1 }])).toBe("At most 1 waiting run.");
});

it("leads from each check of doctor to a part of the guide that exists", () => {
  const guide = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8");
  const ids = Array.from(guide.matchAll(/^#+ (.+)$/gm), ([, text = ""]) => headingId(text));
  for (const check of GUIDED_CHECKS) {
    expect(ids, check).toContain(guideOf(check)?.href.split("#")[1]);
  }
  expect(guideOf("another")).toBeNull();
});
