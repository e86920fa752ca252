import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("globals.css", import.meta.url), "utf8");

function tokensOf(theme: "light" | "dark"): Map<string, string> {
  const both = /--color-([\w-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));/g;
  return new Map(
    Array.from(css.matchAll(both), ([, name = "", light = "", dark = "", same]) => [
      name,
      same ?? (theme === "light" ? light : dark),
    ]),
  );
}

/** Relative luminance of a color (WCAG 2.2). */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS = [
  ...["ink", "muted", "faint", "accent"],
  ...["pending", "running", "completed", "failed", "cancelled", "waiting"],
  ...["json-key", "json-string", "json-number", "json-word"],
];
const GROUNDS = [
  ...["canvas", "surface", "raised", "selected"],
  ...["failed-wash", "waiting-wash", "added-wash", "accent-wash"],
];

describe.each(["light", "dark"] as const)("the %s theme", (theme) => {
  const tokens = tokensOf(theme);
  it("has every color that is checked", () => {
    expect([...TEXTS, ...GROUNDS, "mark"].filter((name) => !tokens.has(name))).toEqual([]);
  });

  it.each(TEXTS)("has %s readable on every background (AA)", (text) => {
    const weak = GROUNDS.filter((ground) => contrast(tokens.get(text) ?? "", tokens.get(ground) ?? "") < 4.5);
    expect(weak).toEqual([]);
  });

  it("has highlighted text readable", () => {
    expect(contrast(tokens.get("ink") ?? "", tokens.get("mark") ?? "")).toBeGreaterThanOrEqual(4.5);
  });
});
