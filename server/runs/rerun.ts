import { z } from "zod";
import type { ApiKeyActor, MemberActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { rejectInvalidText, rejectRepeatedKeys } from "@/server/base/json/body";
import { isJsonObject, type JsonObject, readJson } from "@/server/base/json/json";
import { parseLargeJson } from "@/server/base/json/large";
import type { RunKind } from "@/server/contract/enums";
import { formatLimit, MAX_BODY_BYTES, MAX_USER_MESSAGE_BYTES } from "@/server/contract/sizes";
import type { Draft } from "@/server/runs/prepare-start";
import type { Services } from "@/server/runs/services";
import { type StartResult, startRun } from "@/server/runs/start";
import { type StartOptions, withMetadataOf } from "@/server/runs/start-options";
import type { StartConditions } from "./start-item";

/**
 * Starts a run with an input as text, as pages have it: a message or a JSON object. `isStored`: an earlier run had the
 * input, maybe a larger message of a webhook. Throws `payload_too_large`, `invalid_request` and the errors of `startRun`.
 */
export async function startFromDashboard(
  services: Services,
  actor: MemberActor | ApiKeyActor,
  target: {
    kind: RunKind;
    id: string;
    input: string;
    isStored?: boolean;
    fromOutside?: boolean;
    draft?: Draft | undefined;
    options?: StartOptions | undefined;
    conditions?: StartConditions | undefined;
  },
): Promise<StartResult> {
  const { kind, id: targetId, input, isStored = false, ...others } = target;
  const most = kind === "agent" ? MAX_USER_MESSAGE_BYTES : MAX_BODY_BYTES;
  if (!isStored && Buffer.byteLength(input) > most) {
    throw new AppError("payload_too_large", `The input is larger than ${formatLimit(most)}.`);
  }
  if (kind === "tool") {
    const parsed = await parseToolInput(input);
    await rejectInvalidText(parsed);
    return startRun(services, actor, { kind, targetId, input: parsed, ...others });
  }
  await rejectInvalidText(input);
  if (input === "") throw new AppError("invalid_request", "The message must have at least one character.");
  return startRun(services, actor, { kind, targetId, userMessage: input, ...others });
}

/**
 * Starts an earlier run's target again with its current configuration and the run's metadata, but without its
 * callback. An unchanged input from outside is still marked as such for the model. Throws `not_found`.
 */
export async function rerun(
  services: Services,
  actor: MemberActor | ApiKeyActor,
  {
    runId,
    input,
    options,
    conditions,
  }: {
    runId: string;
    input?: string | undefined;
    options?: StartOptions | undefined;
    conditions?: StartConditions | undefined;
  },
): Promise<StartResult> {
  const run = await services.db.run.findFirst({
    where: { id: runId, organizationId: actor.orgId },
    select: { kind: true, agentId: true, toolId: true, input: true, metadata: true, configuration: true },
  });
  const id = run?.agentId ?? run?.toolId;
  if (!run || !id) throw new AppError("not_found", `There is no run ${runId} in this organization.`);
  const same = input === undefined || input === run.input;
  return startFromDashboard(services, actor, {
    kind: run.kind,
    id,
    input: input ?? run.input,
    isStored: same,
    fromOutside: same && isMarked(run.configuration.document),
    options: withMetadataOf(run, options),
    conditions,
  });
}

// Of the whole configuration, this version may not be able to read an older one.
const marks = z.object({ messageFromOutside: z.boolean(), fromOutside: z.boolean() }).partial();

function isMarked(document: string): boolean {
  const { messageFromOutside, fromOutside } = marks.parse(readJson(document));
  return messageFromOutside === true || fromOutside === true;
}

async function parseToolInput(text: string): Promise<JsonObject> {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = await parseLargeJson(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "";
    throw new AppError("invalid_request", `The input is not valid JSON: ${reason}`, { cause });
  }
  if (!isJsonObject(value))
    throw new AppError("invalid_request", "The input of a tool must be a JSON object.");
  await rejectRepeatedKeys(text);
  return value;
}
