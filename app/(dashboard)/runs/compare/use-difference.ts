"use client";

import { useDeferredValue, useMemo } from "react";
import { readableText } from "@/app/_ui/json/spacing";
import { type DiffLine, diffLines } from "@/app/_ui/text/diff";

/** How many lines are shown of a text without a counterpart. */
const MAX_ALONE = 300;

type Difference = "same" | "too many" | DiffLine[];

/** A text as far as loaded, or none; `cut` if that is only its start. */
export type Side = { text: string; cut: boolean; isThere: boolean };

/**
 * The difference between two texts, with JSON indented. Pass the same objects while nothing changes. After a change the
 * earlier difference is returned until the new one is known, so that the page stays responsive.
 */
export function useDifference(left: Side, right: Side): Difference {
  const [a, b] = [useDeferredValue(left), useDeferredValue(right)];
  return useMemo(() => compare(a, b), [a, b]);
}

function compare(left: Side, right: Side): Difference {
  if (left.text === right.text) return "same";
  const [a, b] = [readableText(left.text, left.cut), readableText(right.text, right.cut)];
  if (!left.isThere) return alone("right", b);
  if (!right.isThere) return alone("left", a);
  return a === b ? "same" : (diffLines(a, b) ?? "too many");
}

function alone(kind: "left" | "right", text: string): DiffLine[] {
  const lines = text.split("\n", MAX_ALONE + 1).map((line): DiffLine => ({ kind, text: line }));
  if (lines.length > MAX_ALONE) lines.splice(MAX_ALONE, 1, { kind: "same", text: "…" });
  return lines;
}
