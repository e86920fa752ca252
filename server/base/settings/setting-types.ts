import { z } from "zod";
import { PAUSE_POINTS, type PausePoint } from "@/server/base/pause-points";

/** Messages about wrong values have the range or an example, and never a secret. */

const MAX_SHOWN = 60;

const mustBe = (what: string) => (issue: { input: unknown }) => {
  const given = String(issue.input).slice(0, MAX_SHOWN);
  return `must be ${what}; it is "${given}"`;
};

export const text = (pattern: RegExp, what: string) => z.string().regex(pattern, { error: mustBe(what) });
export const httpUrl = (example: string) =>
  z.string().refine(isHttpUrl, {
    error: (issue) => mustBe(`an http:// or https:// address such as ${example}`)(withoutPassword(issue)),
  });
export const wholeNumber = (range: { min: number; max: number; example: number }) =>
  z
    .string()
    .refine((value) => /^\d+$/.test(value) && Number(value) >= range.min && Number(value) <= range.max, {
      error: mustBe(`a whole number from ${range.min} to ${range.max}, such as ${range.example}`),
    })
    .transform(Number);
export const integer = ({ preset, ...range }: { min: number; max: number; preset: number }) =>
  wholeNumber({ ...range, example: preset }).default(preset);
export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: mustBe(`${values.slice(0, -1).join(", ")} or ${values.at(-1)}`) });
export const flag = (preset: "0" | "1") =>
  oneOf(["0", "1"])
    .default(preset)
    .transform((value) => value === "1");
/** Secrets are not shown. */
export const secret = z.string().min(32, {
  error: ({ input }) =>
    `must have at least 32 characters, such as those of \`openssl rand -hex 32\`; it has ${String(input).length}`,
});

/** `key=value` pairs, separated by commas, whose values are encoded as in a URL (W3C Baggage). Not shown: may be secret. */
export const keyValues = z.string().transform((value, context) => {
  const pairs = value.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key = "", text = ""] = /^\s*([^\s=]+)\s*=(.*)$/.exec(pair) ?? [];
      try {
        if (key !== "") return [key, decodeURIComponent(text.trim())];
      } catch {
        // Not encoded properly.
      }
      context.addIssue({
        code: "custom",
        message: "must be pairs such as Authorization=Basic%20abc, separated by commas",
      });
      return [key, ""];
    }),
  );
});

// URL also accepts an address without slashes.
function isHttpUrl(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value);
}

function withoutPassword({ input }: { input: unknown }): { input: unknown } {
  return { input: String(input).replace(/^.*@/, "…@") };
}

/** The scheme of an address, which may contain a password. */
export const beginningOf = (address: string) => /^[a-z][a-z+.-]*:\/\//i.exec(address)?.[0] ?? "another text";

const hostAndPort = /^(\[[0-9a-fA-F:]+\]|[^\s:[\]]+):(\d{1,5})$/;

/** `host:port` pairs, separated by commas or spaces. */
/** Returns true if the user name and password of a valid address have no bare %. */
export function hasDecodableLogin(address: string): boolean {
  const { username, password } = new URL(address);
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

export const hostList = z
  .string()
  .transform((value, context) => {
    const entries = value.split(/[\s,]+/).filter((entry) => entry !== "");
    for (const entry of entries) {
      if (!hostAndPort.test(entry)) {
        context.addIssue({
          code: "custom",
          message: `must be host:port pairs such as localhost:8080; "${entry}" is not one`,
        });
      }
    }
    return entries.map((entry) => entry.toLowerCase());
  })
  .default([]);

/** `point=probability` pairs, separated by commas. */
export const pausePoints = z
  .string()
  .default("")
  .transform((value, context) => {
    const probabilities = new Map<PausePoint, number>();
    for (const entry of value.split(",").filter((part) => part !== "")) {
      const [name, probability] = entry.split("=");
      const point = PAUSE_POINTS.find((known) => known === name);
      const share = Number(probability);
      if (point !== undefined && share >= 0 && share <= 1) probabilities.set(point, share);
      else {
        const message = `"${entry}" is not a point of the engine and a probability`;
        context.addIssue({ code: "custom", message });
      }
    }
    return probabilities;
  });
