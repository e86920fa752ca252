import { z } from "zod";
import { retryWhileUnavailable } from "@/server/base/db/outage";
import { defineQuery } from "@/server/base/db/statement";
import { readJson } from "@/server/base/json/json";
import { canonicalText } from "@/server/base/json/text";
import { sha256 } from "@/server/base/sha256";
import { KIB } from "@/server/contract/sizes";
import { unfinishedError } from "@/server/runs/failure-codes";
import type { Services } from "@/server/runs/services";
import type { ClaimedRun } from "../claimed-run";

// Longer arguments are compared as texts, because sorting their keys takes long.
const MAX_COMPARED_BYTES = 16 * KIB;

const READ_RECORD = defineQuery(
  "read-step-record",
  z.object({
    id: z.string(),
    key: z.string(),
    name: z.string(),
    input: z.string().nullable(),
    hash: z.string(),
  }),
  `SELECT id, key, tool_name AS name, CASE WHEN octet_length(input) <= $3 THEN input END AS input,
          CASE WHEN octet_length(input) <= $3 THEN '' ELSE encode(sha256(convert_to(input, 'UTF8')), 'hex') END AS hash
   FROM steps WHERE run_id = $1 AND organization_id = $2 AND status IN ('Completed', 'Failed')
     AND (error_message IS NULL OR error_message <> ALL ($4::text[]))
   ORDER BY step_number`,
);
// These steps may have had an effect, but it is unknown.
const UNFINISHED = (["Failed", "Cancelled"] as const).map((status) => unfinishedError(status, "step"));

type Reading = { services: Pick<Services, "pool">; run: Pick<ClaimedRun, "orgId">; signal: AbortSignal };
type Call = { name: string; input: string; key?: string };
type Recorded = { id: string; key: string };

/**
 * The finished steps of a fork's origin. The nth call with the same name and arguments is answered by the nth such
 * step; a call of a tool's run by the step of its own key, if its arguments are the same.
 */
export class StepRecord {
  readonly #steps = new Map<string, Recorded[]>();

  /** A text of arguments that only differs in the order of keys is the same. */
  static async read({ services, run, signal }: Reading, originId: string): Promise<StepRecord> {
    const values = [originId, run.orgId, MAX_COMPARED_BYTES, UNFINISHED];
    const rows = await retryWhileUnavailable(() => READ_RECORD(services.pool, values), signal);
    const record = new StepRecord();
    for (const { id, key, name, input, hash } of rows) {
      const identity = `${name} ${input === null ? hash : canonicalText(readJson(input))}`;
      const known = record.#steps.get(identity);
      if (known === undefined) record.#steps.set(identity, [{ id, key }]);
      else known.push({ id, key });
    }
    return record;
  }

  /** The id of the step that answers a call; undefined: none. Every call takes one, also if it has finished. */
  take({ name, input, key }: Call): string | undefined {
    const isCompared = Buffer.byteLength(input) <= MAX_COMPARED_BYTES;
    const identity = `${name} ${isCompared ? canonicalText(readJson(input)) : sha256(input).toString("hex")}`;
    const steps = this.#steps.get(identity);
    if (steps === undefined) return undefined;
    const own = steps.findIndex((step) => step.key === key);
    return steps.splice(Math.max(own, 0), 1)[0]?.id;
  }

  takeAll(calls: readonly Call[]): (string | undefined)[] {
    return calls.map((call) => this.take(call));
  }
}
