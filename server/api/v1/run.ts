import { z } from "zod";
import {
  type Endpoint,
  type EndpointRules,
  endpoint,
  endpointOf,
  idParameter,
  integerParameter,
  type KeyContext,
} from "@/server/api/endpoint";
import { isTerminal, type RunKind, type RunStatus } from "@/server/contract/enums";
import { type RunCancelled, runCancelled } from "@/server/contract/shapes";
import { cancelRun } from "@/server/runs/cancel";
import { readRun } from "@/server/runs/read/read-run";
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
  | { render(ctx: KeyContext, run: RunFacts): Promise<Of["_zod"]["input"]> };

/** Declares an endpoint that returns a view of one run. A view of the run alone takes the parameter `wait`. */
export function viewEndpoint<View extends z.ZodType>({
  view,
  example,
  ...rules
}: Described & { view: View; example: View["_zod"]["input"] & object } & RunView<View>): Endpoint {
  const { input: named, refOf } = runInput(rules.kind);
  const input = "viewRun" in rules ? named.extend({ wait }) : named;
  return endpointOf(
    {
      ...rules,
      method: "GET",
      scope: "runs:read",
      limit: "reads",
      ignoresUnknownQuery: true,
      successDescription: "The run's current state",
      requestHeaders: VIEW_HEADERS,
      example: { response: example },
    },
    {
      input,
      answer: view,
      async resolve(ctx, given: z.output<typeof named> & { wait?: number | undefined }) {
        const { wait: seconds = 0 } = given;
        let run = await readRun(ctx.services, ctx.actor, refOf(given));
        if (seconds > 0 && !isTerminal(run.status)) {
          await waitForEnd(ctx, run, seconds * 1_000);
          run = await readRun(ctx.services, ctx.actor, refOf(given));
        }
        return "viewRun" in rules ? rules.viewRun(ctx.services, run) : rules.render(ctx, run);
      },
    },
  );
}

const VIEW_HEADERS = z.object({
  "If-None-Match": z.string().optional().meta({
    description: "The ETag of an earlier answer: if the run is as it was, the answer is 304 without a body.",
  }),
});

const wait = integerParameter("wait", {
  min: 0,
  max: 30,
  description:
    "Answer when the run has ended, or after this many seconds with its state. It counts as one read.",
}).optional();

async function waitForEnd({ services, actor, call }: KeyContext, run: RunFacts, ms: number): Promise<void> {
  const { confirm = async () => {}, onGone = () => () => {} } = call ?? {};
  await services.endWaiters.wait(run.id, { ms, caller: actor.apiKeyId, confirm, onGone });
  await confirm();
}

/** The common part of the descriptions of both cancels. */
export const CANCEL =
  "Idempotent. A pending run ends immediately, a running one within 30 seconds. What it has used is charged. " +
  "Cancelling an ended run changes nothing. The call needs the scope runs:start and counts as a read. If the key " +
  "lacks the scope runs:read, the answer is RunCancelled, with the status only.";

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
    limit: "reads",
    ignoresUnknownQuery: true,
    successDescription: "The run after the cancel, as far as the key may read it",
    example: { response: example },
    input,
    answer,
    async run(services, actor, given) {
      const run = refOf(given);
      await readRun(services, actor, run);
      await cancelRun(services, actor.orgId, { runId: run.runId, by: `the API key ${actor.name}` });
      const shown = render(services, await readRun(services, actor, run));
      if (actor.scopes.includes("runs:read")) return shown;
      const { status } = shown;
      const message = isTerminal(status) ? "The run has ended." : "The run ends within 30 seconds.";
      const cancelled: RunCancelled = { success: true, id: run.runId, status, message };
      return cancelled;
    },
  });
}
