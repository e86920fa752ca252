import { createHash, createHmac } from "node:crypto";
import { z } from "zod";

const inngestEvent = z.object({
  id: z.string().default(""),
  name: z.string(),
  data: z.record(z.string(), z.unknown()).default({}),
  ts: z.number().optional(),
});
export type InngestEvent = z.infer<typeof inngestEvent>;
export const sentEvents = z.union([z.array(inngestEvent), inngestEvent.transform((event) => [event])]);

const inngestFunction = z.object({
  id: z.string(),
  name: z.string(),
  triggers: z.array(z.object({ event: z.string().optional(), expression: z.string().optional() })),
  cancel: z.array(z.object({ event: z.string(), if: z.string().optional() })).default([]),
  steps: z.object({
    step: z.object({
      runtime: z.object({ url: z.url() }),
      retries: z.object({ attempts: z.int() }).default({ attempts: 3 }),
    }),
  }),
});
export type InngestFunction = z.infer<typeof inngestFunction>;
export const registration = z.object({ appName: z.string(), functions: z.array(inngestFunction) });

/** `id` is the hash of the step's id. */
const operation = z.looseObject({
  op: z.string(),
  id: z.string().default(""),
  name: z.string().optional(),
  displayName: z.string().optional(),
  opts: z.looseObject({ if: z.string().optional(), timeout: z.string().optional() }).nullish(),
  data: z.unknown().optional(),
  error: z.unknown().optional(),
});
export type Operation = z.infer<typeof operation>;
export const operations = z.union([z.array(operation), operation.transform((one) => [one])]);
export const checkpoint = z.object({
  qi_id: z.string(),
  generation_id: z.int().optional(),
  steps: z.array(operation),
});

/**
 * Returns true if a bearer token proves the signing key: the key itself or its hash, with or without the cloud's
 * prefix.
 */
export function isSigningToken(authorization: string | undefined, signingKey: string): boolean {
  const [, token] = /^Bearer (?:signkey-\w+-)?(\w+)$/.exec(authorization ?? "") ?? [];
  const hash = createHash("sha256").update(Buffer.from(signingKey, "hex")).digest("hex");
  return token === hash || token === signingKey;
}

/** The value of X-Inngest-Signature for a canonical body. */
export function sign(body: string, signingKey: string, at = Date.now()): string {
  const seconds = Math.floor(at / 1000);
  const signature = createHmac("sha256", signingKey).update(body).update(String(seconds)).digest("hex");
  return `t=${seconds}&s=${signature}`;
}

/** JSON in the form of RFC 8785, which the signature covers. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}

/** Evaluates the comparisons that the SDK writes: `event.data.a == async.data.a && event.data.b == 'text'`. */
export function matches(
  expression: string | undefined,
  events: { event: InngestEvent; async?: InngestEvent },
): boolean {
  if (expression === undefined) return true;
  return expression.split("&&").every((comparison) => {
    const [left, right, ...rest] = comparison.split("==").map((side) => resolveTerm(side.trim(), events));
    if (rest.length > 0) throw new Error(`The stand-in does not know the expression ${expression}`);
    return left !== undefined && left === right;
  });
}

function resolveTerm(term: string, events: Record<string, unknown>): unknown {
  const [, text] = /^'([^']*)'$/.exec(term) ?? [];
  if (text !== undefined) return text;
  if (!/^(event|async)(\.\w+)+$/.test(term)) throw new Error(`The stand-in does not know the term ${term}`);
  return term.split(".").reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), events);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

const UNITS: Record<string, number> = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** A sleep's or timeout's milliseconds from now. Like the server, rounds the time until a date to whole seconds. */
export function durationOf(text: string): number {
  const parts = [...text.matchAll(/(\d+)(w|d|h|ms|m|s)/g)];
  if (parts.map(([part]) => part).join("") === text)
    return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 1), 0);
  return Math.max(0, Math.round((new Date(text).getTime() - Date.now()) / 1_000) * 1_000);
}

/** The time that a Retry-After header asks to wait, in milliseconds; at least a second. Undefined without a header. */
export function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d{1,7}$/.test(header) ? Number(header) * 1_000 : new Date(header).getTime() - Date.now();
  return Math.max(1_000, ms);
}
