"use client";

import { useEffect, useMemo, useState } from "react";
import { readableText } from "@/app/_ui/json/spacing";
import { type DiffLine, diffLines, diffLinesInSlices } from "@/app/_ui/text/diff";

/** Texts of more characters in total are compared in slices, so that the page stays responsive. */
const AT_ONCE = 200_000;
/** How many lines are shown of a text without a counterpart. */
const MAX_ALONE = 300;

export type Difference = "same" | "working" | "too many" | DiffLine[];

/** A text as far as loaded, or none; `cut` if that is only its start. */
export type Side = { text: string; cut: boolean; isThere: boolean };

/** The difference between two texts, with JSON indented. Pass the same objects while nothing changes. */
export function useDifference(left: Side, right: Side): Difference {
  const isLong = left.text.length + right.text.length > AT_ONCE;
  const later = isLong && left.isThere && right.isThere && left.text !== right.text;
  const known = useMemo(() => (later ? "working" : compareNow(left, right)), [later, left, right]);
  const [found, setFound] = useState<Difference>("working");
  useEffect(() => {
    if (!later) return;
    const reader = new AbortController();
    setFound("working");
    void compareLong(left, right, reader.signal).then(setFound, () => {});
    return () => reader.abort();
  }, [later, left, right]);
  return later ? found : known;
}

function compareNow(left: Side, right: Side): Difference {
  if (left.text === right.text) return "same";
  const [a, b] = [readableText(left.text, left.cut), readableText(right.text, right.cut)];
  if (!left.isThere) return alone("right", b);
  if (!right.isThere) return alone("left", a);
  return a === b ? "same" : resultOf(diffLines(a, b));
}

async function compareLong(left: Side, right: Side, signal: AbortSignal): Promise<Difference> {
  const a = readableText(left.text, left.cut);
  await new Promise((resolve) => setTimeout(resolve));
  const b = readableText(right.text, right.cut);
  if (a === b) return "same";
  return resultOf(await diffLinesInSlices(a, b, signal));
}

function resultOf(lines: DiffLine[] | null): Difference {
  return lines ?? "too many";
}

function alone(kind: "left" | "right", text: string): DiffLine[] {
  const lines = text.split("\n", MAX_ALONE + 1).map((line): DiffLine => ({ kind, text: line }));
  if (lines.length > MAX_ALONE) lines.splice(MAX_ALONE, 1, { kind: "same", text: "…" });
  return lines;
}
