import type { OrgId } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import type { Facts } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import type { CallbackEndpoint } from "@/server/base/db/generated/client";
import { AppError, type Issue } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { rejection } from "@/server/base/issues";
import {
  type Author,
  type Change,
  checkExpectation,
  type Expectation,
  type Saved,
  saveItem,
  statusToSave,
} from "@/server/catalog/change";
import { resolveTargets } from "@/server/catalog/resolve-slugs";
import { readCallbackAddress } from "@/server/guard/egress/callback-address";
import type { CallbackDefinition } from "./callback-definition";
import { callbackSecretPurpose, newCallbackSecret } from "./callback-secrets";

const MAX_CALLBACKS = 20;

type SavedCallback = {
  id: string;
  slug: string;
  saved: Saved;
  /** Only for a new callback, this once. */
  secret: string | null;
};

/** Creates or updates the organization's callback of that slug. `egressAllow` is EGRESS_ALLOW. Throws `invalid_request`. */
export async function putCallback(
  change: Change<Author>,
  definition: CallbackDefinition,
  { egressAllow, replaces, ...expected }: Expectation & { egressAllow: readonly string[] },
): Promise<SavedCallback> {
  const { tx, actor, at } = change;
  const { slug, name = slug, events, metadata, creditsBelow } = definition;
  const found = await tx.callbackEndpoint.findFirst({
    where: { organizationId: actor.orgId, slug, deletedAt: null },
  });
  checkExpectation("callback", found, { slug, ...expected });
  const stored = found ? statusOf(found) : undefined;
  const status = statusToSave(definition.status, { stored, opened: replaces?.status });
  const filter = await resolveFilter(change, definition, found);
  const address = readCallbackAddress(definition.url, egressAllow);
  if ("issue" in address) throw rejection([{ path: "/url", message: address.issue }, ...filter.issues]);
  if (filter.issues.length > 0) throw rejection(filter.issues);

  const id = found?.id ?? newId();
  const data = {
    name,
    url: address.url,
    events,
    targetIds: filter.targetIds,
    triggerIds: filter.triggerIds,
    metadata: JSON.stringify(metadata),
    creditsBelow: creditsBelow === null ? null : new Decimal(creditsBelow),
    disabledAt: status === "active" ? null : (found?.disabledAt ?? at),
    ...(status === "active" && found?.disabledAt ? { failingSince: null } : {}),
    updatedAt: at,
  };
  const subject = { kind: "callback" as const, id, name };
  let secret: string | null = null;
  const compared = { subject, before: found && callbackFacts(found), after: callbackFacts(data), replaces };
  const saved = await saveItem(change, compared, async (changed) => {
    const isNewBound = changed.has("creditsBelow");
    if (found) {
      await tx.callbackEndpoint.update({
        where: { id },
        data: { ...data, ...(isNewBound ? { creditsLowAt: null } : {}) },
      });
    } else {
      await requireRoom(change);
      await tx.callbackEndpoint.create({
        data: { ...data, id, organizationId: actor.orgId, slug, createdAt: at },
      });
      secret = newCallbackSecret();
      await addCallbackSecret(change, id, secret);
    }
  });
  countCallbacksLast(change);
  return { id, slug, saved, secret };
}

/** The facts that a callback's form shows. */
export const callbackFacts = (
  callback: Omit<
    CallbackEndpoint,
    | "id"
    | "organizationId"
    | "slug"
    | "createdAt"
    | "deletedAt"
    | "failingSince"
    | "failedAt"
    | "creditsLowAt"
  >,
): Facts => ({
  name: callback.name,
  url: callback.url,
  events: callback.events,
  targetIds: callback.targetIds,
  triggerIds: callback.triggerIds,
  metadata: callback.metadata,
  creditsBelow: callback.creditsBelow?.toFixed(4) ?? null,
  status: statusOf(callback),
});

const statusOf = ({ disabledAt }: Pick<CallbackEndpoint, "disabledAt">) =>
  disabledAt === null ? "active" : "inactive";

async function requireRoom({ tx, actor }: Change<Author>): Promise<void> {
  const where = { organizationId: actor.orgId, slug: { not: null }, deletedAt: null };
  if ((await tx.callbackEndpoint.count({ where })) < MAX_CALLBACKS) return;
  throw new AppError("invalid_request", `An organization has at most ${MAX_CALLBACKS} callbacks.`);
}

export async function addCallbackSecret(
  { tx, encryption, at }: Change<Author>,
  endpointId: string,
  secret: string,
): Promise<void> {
  const sealed = encryption.seal(secret, callbackSecretPurpose(endpointId));
  await tx.callbackSecret.create({ data: { id: newId(), endpointId, sealed, createdAt: at } });
}

export function countCallbacksLast({ tx, actor: { orgId }, accountWrites }: Change<Author>): void {
  accountWrites.push({ orgId, write: () => countCallbacks(tx, orgId) });
}

/** Events are recorded only for organizations that have active callbacks. */
export async function countCallbacks(tx: Transaction, orgId: OrgId): Promise<void> {
  const where = { organizationId: orgId, slug: { not: null }, deletedAt: null, disabledAt: null };
  const hasCallbacks = (await tx.callbackEndpoint.count({ where })) > 0;
  await tx.organization.updateMany({
    where: { id: orgId, hasCallbacks: !hasCallbacks },
    data: { hasCallbacks },
  });
}

/** Stored items of the filter may be archived: without them, the callback would get other runs, or all. */
async function resolveFilter(
  change: Change<Author>,
  { agents, tools, triggers }: CallbackDefinition,
  stored: Pick<CallbackEndpoint, "targetIds" | "triggerIds"> | null,
): Promise<{ targetIds: string[]; triggerIds: string[]; issues: Issue[] }> {
  const { tx, actor } = change;
  const targets = await resolveTargets({ ...change, kept: stored?.targetIds ?? [] }, [
    ...agents.map((slug, n) => ({ kind: "agent" as const, slug, path: `/agents/${n}` })),
    ...tools.map((slug, n) => ({ kind: "tool" as const, slug, path: `/tools/${n}` })),
  ]);
  const found = await tx.trigger.findMany({
    where: {
      organizationId: actor.orgId,
      slug: { in: triggers },
      OR: [{ deletedAt: null }, { id: { in: stored?.triggerIds ?? [] } }],
    },
    select: { id: true, slug: true },
  });
  const idOf = new Map(found.map(({ id, slug }) => [slug, id]));
  const unknown = triggers.flatMap((slug, n) =>
    idOf.has(slug)
      ? []
      : [{ path: `/triggers/${n}`, message: `"${slug}" is not a trigger of the organization` }],
  );
  return {
    targetIds: targets.ids,
    triggerIds: triggers.flatMap((slug) => idOf.get(slug) ?? []),
    issues: [...targets.issues, ...unknown],
  };
}
