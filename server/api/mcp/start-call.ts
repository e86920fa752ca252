import { invalidRequest } from "@/server/api/http/respond";
import { agentStart } from "@/server/api/v1/agents";
import { startConditions } from "@/server/api/v1/start";
import { readStartOptions } from "@/server/api/v1/start-headers";
import { toolStart } from "@/server/api/v1/tools";
import type { JsonObject } from "@/server/base/json/json";
import type { Callable } from "@/server/catalog/callable-definitions";
import type { StartRequest } from "@/server/runs/prepare-start";
import { rejectStart, startRun } from "@/server/runs/start";
import type { Exchange } from "./exchange";

/** Starts a run as `/v1` does, with the same limits, options and checks. Returns the run's id. */
export async function startCall(
  { services, actor, header, callKey, messageHash, takeInput }: Exchange,
  callable: Pick<Callable, "kind" | "id">,
): Promise<string> {
  const repetition = callKey === null ? undefined : { key: callKey, requestHash: messageHash };
  const conditions = startConditions(actor, callable.kind, repetition);
  const read = async () => {
    const options = readStartOptions(header, services.env);
    return { ...(await readStart(callable, takeInput())), options, conditions };
  };
  const { runId } = await read().then(
    (request) => startRun(services, actor, request),
    (error: unknown) => rejectStart(services, actor, { error, conditions }),
  );
  return runId;
}

async function readStart(
  { kind, id }: Pick<Callable, "kind" | "id">,
  body: JsonObject,
): Promise<StartRequest> {
  if (kind === "agent") {
    const given = agentStart.input.safeParse({ agentId: id, body });
    if (!given.success) throw invalidRequest(given.error);
    return agentStart.request(given.data);
  }
  const given = toolStart.input.safeParse({ toolId: id, body });
  if (!given.success) throw invalidRequest(given.error);
  return toolStart.request(given.data);
}
