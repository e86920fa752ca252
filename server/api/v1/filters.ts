import { z } from "zod";
import { flagParameter } from "@/server/api/endpoint";
import { readJson } from "@/server/base/json/json";
import { idInput } from "@/server/contract/ids";
import { replaceNul } from "@/server/guard/secrets/stored-output";

/** Query parameters that narrow a list. Each issue is a sentence about its parameter. */

/** `input` parses the parameter; `applied` is its form in the answer, null if it is not given. */
export type Filter<Value> = { input: z.ZodType<Value | undefined>; applied: z.ZodType };

export function choice<const Value extends string>(
  name: string,
  { among, description }: { among: readonly Value[]; description: string },
): Filter<Value> {
  const values = z.enum(among, `${name} must be one of ${among.join(", ")}`);
  return { input: values.meta({ description }).optional(), applied: values.nullable() };
}

/** Values that are separated by commas. */
export function choices<const Value extends string>(
  name: string,
  { among, description }: { among: readonly Value[]; description: string },
): Filter<Value[]> {
  const value = z.enum(among);
  const input = z
    .string()
    .transform((text, { issues }) => {
      const parsed = z.array(value).max(among.length).safeParse(text.split(","));
      if (parsed.success) return parsed.data;
      const message = `${name} must be one or more of ${among.join(", ")}, with commas between them`;
      issues.push({ code: "custom", message, input: text });
      return z.NEVER;
    })
    .meta({ description, override: { type: "string" } });
  return { input: input.optional(), applied: z.array(value).nullable() };
}

/** False if it is not given. */
export const flag = (name: string, description: string): Filter<boolean> => ({
  input: flagParameter(name, description).default(false),
  applied: z.boolean(),
});

export function id(name: string, description: string): Filter<string> {
  const input = idInput(`${name} must be an id`).meta({ description });
  return { input: input.optional(), applied: z.uuid().nullable() };
}

/** Its key stands for any: `metadata.customer=acme`. */
export const METADATA_PARAMETER = "metadata.KEY";
const MAX_PAIRS = 10;

const pairsOfMetadata = z.record(z.string().transform(replaceNul), z.string().transform(replaceNul));

/** Keys of the metadata of runs with their values as texts. The handler passes them as one JSON object. */
export function metadata(description: string): Filter<Record<string, string>> {
  const input = z
    .string()
    .transform((text) => pairsOfMetadata.parse(readJson(text)))
    .refine(
      (pairs) => Object.keys(pairs).length <= MAX_PAIRS,
      `at most ${MAX_PAIRS} keys of metadata can be given`,
    )
    .meta({ description, override: { type: "string" } });
  const applied = z
    .record(z.string(), z.string())
    .meta({ override: { type: "object", additionalProperties: true } })
    .nullable();
  return { input: input.optional(), applied };
}

// In UTC, an offset may lead to it; ISO 8601 has years of four digits.
const YEAR_10000 = Date.UTC(10_000, 0);

/** A time, as ISO 8601 in UTC. No row is older than 1970, and PostgreSQL has no year 0. */
export function moment(name: string, description: string): Filter<string> {
  const input = z.iso
    .datetime({ offset: true, abort: true, error: `${name} must be a time such as 2026-11-21T00:00:00Z` })
    .refine((text) => Date.parse(text) >= 0, `${name} must not be before 1970`)
    .refine((text) => Date.parse(text) < YEAR_10000, `${name} must not be after 9999`)
    .transform((text) => new Date(text).toISOString())
    .meta({ description, override: { type: "string", format: "date-time" } });
  return { input: input.optional(), applied: z.iso.datetime().nullable() };
}

export function textParameter(
  name: string,
  { max, description }: { max: number; description: string },
): Filter<string> {
  const message = `${name} must have 1 to ${max} characters`;
  const input = z
    .string()
    .trim()
    .min(1, message)
    .max(max, message)
    .transform(replaceNul)
    .meta({ description, override: { type: "string", minLength: 1, maxLength: max } });
  return { input: input.optional(), applied: z.string().nullable() };
}
