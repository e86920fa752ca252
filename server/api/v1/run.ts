import { z } from "zod";
import { authorizeCaller } from "@/server/api/authorize";
import {
  type Endpoint,
  type EndpointCall,
  type EndpointRules,
  endpoint,
  flagParameter,
  idParameter,
  integerParameter,
  Reply,
} from "@/server/api/endpoint";
import { AppError, isAppError } from "@/server/base/errors";
import { isTerminal, type RunKind, type RunStatus } from "@/server/contract/enums";
import { STREAM_MINUTES } from "@/server/contract/limits";
import { type RunCancelled, runCancelled } from "@/server/contract/shapes";
import { acquireStreamSlot } from "@/server/guard/limits/stream-slots";
import { cancelRun } from "@/server/runs/cancel";
import { EVENT_STREAM_HEADERS, openEventStream } from "@/server/runs/live/event-stream";
import { followRun } from "@/server/runs/live/follow-run";
import { type Position, readPosition, START } from "@/server/runs/live/position";
import { readEnd } from "@/server/runs/read/events/read-events";
import { ownRun, readRun } from "@/server/runs/read/read-run";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/services";

type Described = Pick<EndpointRules, "path" | "operationId" | "tag" | "summary" | "description"> & {
  kind: RunKind;
};

function runInput(kind: RunKind) {
  const name = `${kind}RunId` as const;
  const input = z.object({ [name]: idParameter(name, `${kind} run`) });
  const refOf = (given: z.output<typeof input>) => ({ kind, runId: given[name] ?? "" });
  return { input, refOf };
}

type RunView<Of extends z.ZodType> =
  | { viewRun(services: Pick<Services, "clock">, run: RunFacts): Of["_zod"]["input"] & object }
  /** Reads more than the run. */
  | { render(call: EndpointCall<unknown>, run: RunFacts): Promise<Of["_zod"]["input"]> };

/** Declares an endpoint that returns a view of one run. A view of the run alone takes the parameter `wait`. */
export function viewEndpoint<View extends z.ZodType>({
  view,
  example,
  ...rules
}: Described & { view: View; example: View["_zod"]["input"] & object } & RunView<View>): Endpoint {
  const { input: named, refOf } = runInput(rules.kind);
  const input = "viewRun" in rules ? named.extend({ wait }) : named;
  return endpoint({
    ...rules,
    method: "GET",
    scope: SCOPE,
    answers: "view",
    ignoresUnknownQuery: true,
    successDescription: "The run's current state",
    example: { response: example },
    input,
    answer: view,
    async run(call: EndpointCall<z.output<typeof named> & { wait?: number | undefined }>) {
      const { services, actor, input: given } = call;
      const { wait: seconds = 0 } = given;
      let run = await readRun(services, actor, refOf(given));
      if (seconds > 0 && !isTerminal(run.status)) {
        await waitForEnd(call, { run, kind: rules.kind }, seconds * 1_000);
        run = await readRun(services, actor, refOf(given));
      }
      return "viewRun" in rules ? rules.viewRun(services, run) : rules.render(call, run);
    },
  });
}

const SCOPE = "runs:read";

const wait = integerParameter("wait", {
  min: 0,
  max: 30,
  description:
    "Answer when the run has ended, or after this many seconds with its state. It counts as one read.",
}).optional();

type Caller = Pick<EndpointCall<unknown>, "services" | "call">;
type Asked = { run: RunFacts; kind: RunKind };

// Throws what a new call with the same key would.
async function confirmCaller({ services, call: { key } }: Caller, { run, kind }: Asked): Promise<void> {
  ownRun(await authorizeCaller(services, { key }, { scope: SCOPE }), kind, run);
}

async function waitForEnd(
  { services, actor, call }: EndpointCall<unknown>,
  asked: Asked,
  ms: number,
): Promise<void> {
  const confirm = () => confirmCaller({ services, call }, asked);
  await services.endWaiters.wait(asked.run.id, { ms, caller: actor.apiKeyId, confirm, signal: call.signal });
  await confirm();
}

/** Completes "For polling, until …: ". */
export const POLLING = "with wait, or after 1 second, then every 2 seconds.";

export const EVENTS =
  "Server-sent events: a snapshot first, then run.running, step.started, step.completed and run.waiting, and for agents " +
  "text.delta and text.reset. The last event is run.completed, run.failed or run.cancelled. Each event except text.* has an " +
  "id, which counts from 1: with Last-Event-ID or since, a reader continues where it stopped. An open stream ends " +
  `after ${STREAM_MINUTES} minutes; continue it. A reader that has the last event gets 204.`;

export const exampleEvents = (run: object) =>
  `id: 1\nevent: snapshot\ndata: ${JSON.stringify({ ...run, steps: [] })}\n\nid: 4\nevent: run.completed\ndata: ${JSON.stringify(run)}\n\n`;

export function eventsEndpoint({
  view,
  example,
  ...rules
}: Described & {
  view(services: Pick<Services, "clock">, run: RunFacts): object;
  example: string;
}): Endpoint {
  const { input: named, refOf } = runInput(rules.kind);
  const input = named.extend({ since, children });
  return endpoint({
    ...rules,
    method: "GET",
    scope: SCOPE,
    answers: "events",
    successDescription: "The run's events until it has ended",
    requestHeaders: EVENTS_HEADERS,
    example: { response: example },
    input,
    answer: z.string(),
    async run({
      services,
      actor,
      input: given,
      call,
    }: EndpointCall<
      z.output<typeof named> & { since?: number | undefined; children?: boolean | undefined }
    >) {
      const ref = refOf(given);
      const asked = { run: await readRun(services, actor, ref), kind: rules.kind };
      const { since: n, children: hasChildren = false } = given;
      const from =
        readLastEventId(call.headers["Last-Event-ID"] ?? "", hasChildren) ??
        (n === undefined ? null : { ...START, n });
      if (from !== null && isTerminal(asked.run.status) && from.n >= (await readEnd(services, asked.run)))
        return new Reply("", { events: null });
      const slot = acquireStreamSlot(services, actor);
      if ("rejection" in slot) {
        throw new AppError("rate_limited", slot.rejection, { headers: { "Retry-After": "5" } });
      }
      const events = openEventStream({
        produce: (sink) =>
          followRun(services, actor, {
            ref,
            since: from,
            hasChildren,
            view: (run) => view(services, run),
            sink,
          }),
        mayStay: () =>
          confirmCaller({ services, call }, asked).then(
            () => true,
            (error: unknown) => !isAppError(error),
          ),
        checkEveryMs: 1_000,
        onError: (error) => services.log.error("A stream of events failed", { runId: ref.runId, error }),
        onOver: slot.release,
        call,
      });
      return new Reply("", { events, headers: EVENT_STREAM_HEADERS });
    },
  });
}

const MAX_EVENT = 999_999_999;

const since = integerParameter("since", {
  min: 0,
  max: MAX_EVENT,
  description: "Send the events after this number, without a snapshot. 0: all events.",
}).optional();

const children = flagParameter(
  "children",
  "true: also the events of the runs that the run calls, with their path. Their ids are for Last-Event-ID only.",
).optional();

const EVENTS_HEADERS = z.object({
  "Last-Event-ID": z
    .string()
    .optional()
    .meta({ description: "As since: the id of the last event that the reader has. It takes precedence." }),
});

function readLastEventId(text: string, hasChildren: boolean): Position | null {
  const id = text.trim();
  if (id === "") return null;
  const position = readPosition(id);
  if (position !== null && (hasChildren || position.children.size === 0)) return position;
  const what = hasChildren ? "the id of an event" : "the id of an event, a whole number";
  throw new AppError("invalid_request", `The header Last-Event-ID must be ${what}.`);
}

// A worker that is alive ends a cancelled run in that time, a lost worker's is ended by another.
const CANCEL_SECONDS = 30;

/** The common part of the descriptions of both cancels. */
export const CANCEL =
  `Idempotent. A pending run ends immediately, a running one within ${CANCEL_SECONDS} seconds. What it has used is charged. ` +
  "Cancelling an ended run changes nothing. If the key lacks the scope runs:read, the answer is RunCancelled, with " +
  "the status only.";

/**
 * Declares an endpoint that cancels a run. It counts as a read, so that it works when the starts are used up. If
 * the key may not read runs, it returns only the status.
 */
export function cancelEndpoint<View extends { status: RunStatus }>({
  view,
  example,
  render,
  ...rules
}: Described & {
  view: z.ZodType<View, View>;
  example: View;
  render(services: Services, run: RunFacts): View;
}): Endpoint {
  const answer: z.ZodType<View | RunCancelled, View | RunCancelled> = z.union([view, runCancelled]);
  const { input, refOf } = runInput(rules.kind);
  return endpoint({
    ...rules,
    method: "POST",
    scope: "runs:start",
    answers: "plain",
    idempotent: true,
    ignoresUnknownQuery: true,
    successDescription: "The run after the cancel, as far as the key may read it",
    example: { response: example },
    input,
    answer,
    async run({ services, actor, input: given }) {
      const run = refOf(given);
      await readRun(services, actor, run);
      await cancelRun(services, actor.orgId, { runId: run.runId, by: `the API key ${actor.name}` });
      const shown = render(services, await readRun(services, actor, run));
      if (actor.scopes.includes("runs:read")) return shown;
      const { status } = shown;
      const message = isTerminal(status)
        ? "The run has ended."
        : `The run ends within ${CANCEL_SECONDS} seconds.`;
      const cancelled: RunCancelled = { success: true, id: run.runId, status, message };
      return cancelled;
    },
  });
}
