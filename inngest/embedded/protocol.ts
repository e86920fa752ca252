import { z } from "zod";

/**
 * The SDK's protocol as the engine speaks it: what functions say of themselves, how a call is built, and how its
 * answer is read. Everything the SDK says is parsed here; nothing else knows its field names.
 */

/** An event as the SDK sends and receives it. */
export const eventSchema = z.looseObject({
  id: z.string().min(1).max(512),
  name: z.string().min(1).max(256),
  data: z.unknown().optional(),
  ts: z.number(),
});
export type EngineEvent = z.infer<typeof eventSchema>;

/** Events on their way in; an empty or missing id counts as none, a missing time is filled in by the scheduler. */
export const sentEventsSchema = z.array(
  z.looseObject({
    id: z.string().max(512).nullish(),
    name: z.string().min(1).max(256),
    data: z.unknown().optional(),
    ts: z.number().nullish(),
  }),
);
export type SentEvents = z.infer<typeof sentEventsSchema>;

// ── Functions ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** The step id that means "go through the function and discover what comes next". */
export const discoveryStepId = "step";

const concurrencySchema = z.union([
  z.number().transform((limit) => [{ limit }]),
  z
    .strictObject({ limit: z.number(), key: z.string().optional(), scope: z.literal("fn").optional() })
    .transform((one) => [one]),
  z.array(
    z.strictObject({ limit: z.number(), key: z.string().optional(), scope: z.literal("fn").optional() }),
  ),
]);

const functionSchema = z.strictObject({
  id: z.string(),
  name: z.string().optional(),
  triggers: z.array(z.strictObject({ event: z.string(), expression: z.string().optional() })),
  steps: z.object({
    [discoveryStepId]: z.object({ retries: z.object({ attempts: z.int().min(0) }).optional() }),
  }),
  concurrency: concurrencySchema.optional(),
  cancel: z
    .array(z.strictObject({ event: z.string(), if: z.string().optional(), timeout: z.string().optional() }))
    .optional(),
});

const DEFAULT_RETRIES = 3;

/** A registered function, reduced to what the engine acts on. */
export type EngineFunction = {
  id: string;
  triggers: readonly { event: string; expression?: string | undefined }[];
  maxAttempts: number;
  limits: readonly { limit: number; key?: string | undefined }[];
  cancelOn: readonly { event: string; if?: string | undefined; timeoutMs: number | null }[];
};

/**
 * Reads the configurations the SDK gives for an in-band sync.
 * @throws Error naming the function and every option that this engine does not implement.
 */
export function readFunctions(body: unknown): EngineFunction[] {
  const { functions } = z.object({ functions: z.array(z.looseObject({ id: z.string() })) }).parse(body);
  return functions.map((raw) => {
    const parsed = functionSchema.safeParse(raw);
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => describeIssue(issue));
      throw new Error(
        `The embedded engine cannot run the function ${JSON.stringify(raw.id)}: ${problems.join("; ")}.`,
      );
    }
    const { id, triggers, steps, concurrency = [], cancel = [] } = parsed.data;
    return {
      id,
      triggers,
      maxAttempts: (steps[discoveryStepId].retries?.attempts ?? DEFAULT_RETRIES) + 1,
      limits: concurrency,
      cancelOn: cancel.map(({ event, if: condition, timeout }) => ({
        event,
        if: condition,
        timeoutMs: timeout === undefined ? null : readDuration(timeout, new Date(0)),
      })),
    };
  });
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const options = issue.keys.map((key) => (at === "" ? `"${key}"` : `"${at}.${key}"`));
    return `it does not implement ${options.join(", ")}`;
  }
  return `it does not implement this "${at}" (${issue.message})`;
}

// ── Calls ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a step left behind, as the SDK takes it back. */
export type StepMemo = { type: "data"; data: unknown } | { type: "error"; error: StepError };

const errorSchema = z
  .looseObject({
    name: z.string().catch("Error"),
    message: z.string().optional(),
    error: z.string().optional(),
  })
  .transform(({ error, message = error ?? "Unknown error", ...rest }) => ({ ...rest, message }))
  .catch({ name: "Error", message: "Unknown error" });
export type StepError = z.infer<typeof errorSchema>;

/** One call of a function: the job that asks for it, and all that its run remembers. */
export type Call = {
  functionId: string;
  stepId: string;
  runId: string;
  jobId: string;
  generation: number;
  attempt: number;
  maxAttempts: number;
  event: EngineEvent;
  /** Finished steps in the order in which they finished. */
  memo: readonly { id: string; state: StepMemo }[];
  /** Plan steps instead of running the first one at once: others of the run are still under way. */
  planOnly: boolean;
};

/** Builds the request that makes the SDK's handler run one call. */
export function buildCall(call: Call): Request {
  const url = new URL(handlerUrl);
  url.searchParams.set("fnId", call.functionId);
  url.searchParams.set("stepId", call.stepId);
  const finished = call.memo.map((step) => step.id);
  return new Request(url, {
    method: "POST",
    headers: {
      ...handlerHeaders,
      "x-inngest-req-version": "2",
      "x-inngest-generation-id": String(call.generation),
      "x-request-id": call.jobId,
    },
    body: JSON.stringify({
      version: 2,
      event: call.event,
      events: [call.event],
      steps: Object.fromEntries(call.memo.map((step) => [step.id, step.state])),
      defers: {},
      use_api: false,
      ctx: {
        run_id: call.runId,
        fn_id: call.functionId,
        qi_id: call.jobId,
        job_id: call.jobId,
        request_id: call.jobId,
        generation_id: call.generation,
        env: "embedded",
        step_id: call.stepId,
        attempt: call.attempt,
        max_attempts: call.maxAttempts,
        disable_immediate_execution: call.planOnly,
        use_api: false,
        stack: { stack: finished, current: finished.length },
      },
    }),
  });
}

const handlerUrl = "http://engine.local/api/inngest";
/** Without `host` the SDK cannot make an absolute URL of its own address. */
const handlerHeaders = { host: "engine.local", "content-type": "application/json" };

/** Builds the request that asks the SDK's handler for the configurations of its functions. */
export function buildSync(): Request {
  return new Request(handlerUrl, {
    method: "PUT",
    headers: { ...handlerHeaders, "x-inngest-sync-kind": "in_band" },
    body: JSON.stringify({ url: handlerUrl }),
  });
}

// ── Answers ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const waitSchema = z.object({ timeout: z.string().optional(), if: z.string().nullish() });
const invokeSchema = z.object({
  function_id: z.string(),
  payload: z.looseObject({ data: z.unknown().optional() }).nullish(),
  timeout: z.string().nullish(),
});
const modeSchema = z.object({ parallelMode: z.string().optional() }).nullish();

const operationSchema = z.object({
  id: z.string().min(1),
  op: z.string(),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  opts: z.unknown().optional(),
  data: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** One thing the SDK reports or asks for. `race`: the function goes on as soon as it is settled, whatever was planned beside it. */
export type Operation = { id: string; name: string; race: boolean } & (
  | { type: "finished"; memo: StepMemo }
  | { type: "retry"; error: StepError }
  | { type: "plan" }
  | { type: "sleep"; ms: number }
  | { type: "wait"; eventName: string; condition: string | null; ms: number }
  | { type: "invoke"; functionId: string; payload: Record<string, unknown>; ms: number }
  | { type: "complete"; output: unknown }
  | { type: "discover" }
);

/** What came of a call. A `null` delay leaves the time of the next attempt to the engine. */
export type Answer =
  | { type: "completed"; output: unknown }
  | { type: "operations"; operations: Operation[]; retryInMs: number | null }
  | { type: "failed"; error: StepError; final: boolean; retryInMs: number | null };

/** How long an `invoke` waits for its function when it names no limit of its own. */
const INVOKE_TIMEOUT_MS = 365 * 24 * 3_600_000;

/**
 * Reads the response of the SDK's handler.
 * An answer that this engine cannot carry out is a final failure that says so: trying again would not help.
 */
export async function readAnswer(response: Response, now: Date): Promise<Answer> {
  const body = parseJson(await response.text());
  const retryInMs = readRetryAfter(response.headers.get("retry-after"), now);
  if (response.status === 200) return { type: "completed", output: body };
  if (response.status === 206) {
    try {
      // Version 1 is how the SDK says `optimizeParallelism: false`: go on after each step.
      const raceAll = response.headers.get("x-inngest-req-version") === "1";
      return { type: "operations", operations: readOperations(body, now, raceAll), retryInMs };
    } catch (error) {
      return { type: "failed", error: describeError(error), final: true, retryInMs: null };
    }
  }
  const final = response.headers.get("x-inngest-no-retry") === "true";
  return { type: "failed", error: errorSchema.parse(body), final, retryInMs };
}

/** Reads a list of operations. @throws Error naming the first one that this engine does not implement. */
export function readOperations(body: unknown, now: Date, raceAll = false): Operation[] {
  return z
    .array(operationSchema)
    .parse(body)
    .map((operation) => readOperation(operation, now, raceAll));
}

function readOperation(raw: z.infer<typeof operationSchema>, now: Date, raceAll: boolean): Operation {
  const common = {
    id: raw.id,
    name: raw.displayName ?? raw.name ?? raw.id,
    race: raceAll || modeSchema.safeParse(raw.opts).data?.parallelMode === "race",
  };
  switch (raw.op) {
    case "Step":
    case "StepRun":
      return { ...common, type: "finished", memo: { type: "data", data: raw.data ?? null } };
    case "StepFailed":
      return { ...common, type: "finished", memo: { type: "error", error: errorSchema.parse(raw.error) } };
    case "StepError":
      return { ...common, type: "retry", error: errorSchema.parse(raw.error) };
    case "StepPlanned":
      return { ...common, type: "plan" };
    case "Sleep":
      return { ...common, type: "sleep", ms: readDuration(raw.name ?? "", now) };
    case "WaitForEvent": {
      const { timeout = "", if: condition } = waitSchema.parse(raw.opts);
      const eventName = z.string().min(1).parse(raw.name);
      return {
        ...common,
        type: "wait",
        eventName,
        condition: condition ?? null,
        ms: readDuration(timeout, now),
      };
    }
    case "InvokeFunction": {
      const { function_id, payload, timeout } = invokeSchema.parse(raw.opts);
      const ms = timeout ? readDuration(timeout, now) : INVOKE_TIMEOUT_MS;
      return { ...common, type: "invoke", functionId: function_id, payload: payload ?? {}, ms };
    }
    case "RunComplete":
      return { ...common, type: "complete", output: raw.data ?? null };
    case "DiscoveryRequest":
      return { ...common, type: "discover" };
    default:
      throw new Error(
        `The embedded engine does not implement the operation ${raw.op} (step "${common.name}").`,
      );
  }
}

/** What the SDK saves between two steps of one call. */
export const checkpointSchema = z.object({
  run_id: z.string(),
  qi_id: z.string(),
  generation_id: z.int(),
  steps: z.array(operationSchema),
});
export type Checkpoint = z.infer<typeof checkpointSchema>;

// ── Small readings ──────────────────────────────────────────────────────────────────────────────────────────────────

const UNIT_MS: Record<string, number> = {
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
};

/**
 * Milliseconds from `now` for a duration as the SDK writes it ("1d2h30m", "" for none) or an ISO 8601 moment.
 * @throws Error when the text is neither.
 */
export function readDuration(text: string, now: Date): number {
  const parts = [...text.matchAll(/(\d+)(ms|[wdhms])/g)];
  if (parts.map((part) => part[0]).join("") === text) {
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ""] ?? 0), 0);
  }
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new Error(`${JSON.stringify(text)} is neither a duration nor a moment.`);
  return Math.max(0, moment - now.getTime());
}

/** `Retry-After` as the SDK writes it: seconds or an ISO 8601 moment. */
function readRetryAfter(value: string | null, now: Date): number | null {
  if (value === null || value === "") return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? null : Math.max(0, moment - now.getTime());
}

function parseJson(text: string): unknown {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return { name: "Error", message: text.slice(0, 1_000) };
  }
}

/** An error of the engine itself as a step's or run's error. */
export function describeError(error: unknown): StepError {
  if (error instanceof z.ZodError) return { name: "ProtocolError", message: z.prettifyError(error) };
  if (error instanceof Error) return { name: error.name, message: error.message };
  return { name: "Error", message: String(error) };
}
