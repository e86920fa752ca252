import { runInThisContext } from "node:vm";
import Decimal from "decimal.js";
import { z } from "zod";
import { resolveInstalled, ThreadPool, threadOf } from "@/server/guard/sandbox/thread-pool";
import { CALCULATOR } from "@/server/work/expressions/arithmetic-script";

const CALCULATION_TIMEOUT_MS = 5_000;
const CHECK_TIMEOUT_MS = 500;

const answer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.union([z.number(), z.string()]) }),
  z.object({ ok: z.literal(false), message: z.string(), position: z.number().nullable() }),
]);
type Answer = z.infer<typeof answer>;

const pool = new ThreadPool({
  source: threadOf(`(path) => ${CALCULATOR}(require(path))`),
  workerData: () => resolveInstalled("decimal.js/decimal.js"),
  memoryMb: 128,
  value: answer,
});

const calculatePlain: (expression: string) => unknown = runInThisContext(CALCULATOR)(Decimal);

const PLAIN = /^[\d\s.+\-*/()]{1,60}$/;

function normalise(expression: string): string {
  return expression
    .replace(/[×·⋅]/g, "*")
    .replace(/÷/g, "/")
    .replace(/[−–]/g, "-")
    .replace(/π/g, "pi")
    .replace(/(?<![\s=?])[\s=?]+$/, "");
}

/**
 * Calculates with 64 decimal digits. Returns a number, or its digits as a string if a double cannot hold it. All
 * but the simplest expressions run in a thread: decimal.js takes minutes for some short ones.
 */
export async function calculateExpression(
  expression: string,
  organizationId: string,
): Promise<{ value: number | string } | { issue: string }> {
  const answer = await calculateText(expression, organizationId, CALCULATION_TIMEOUT_MS);
  return answer.ok ? { value: answer.value } : { issue: locateMessage(answer) };
}

/** The reason why an expression cannot be read; null if it can, also when it has no result or takes too long. */
export async function findArithmeticIssue(
  expression: string,
  organizationId: string,
): Promise<string | null> {
  const answer = await calculateText(expression, organizationId, CHECK_TIMEOUT_MS);
  return answer.ok || answer.position === null ? null : locateMessage(answer);
}

async function calculateText(expression: string, organizationId: string, timeoutMs: number): Promise<Answer> {
  const text = PLAIN.test(expression) ? expression.trimEnd() : normalise(expression);
  // "**" is a power.
  if (PLAIN.test(text) && !text.includes("**")) return answer.parse(calculatePlain(text));
  const answered = await pool.ask(text, { timeoutMs, organizationId });
  if ("value" in answered) return answered.value;
  const limit = "issue" in answered ? "" : ` ${answered.limit}`;
  return { ok: false, message: `could not calculate it${limit}`, position: null };
}

const locateMessage = ({ message, position }: Extract<Answer, { ok: false }>) =>
  position === null ? message : `${message} (at character ${position})`;
