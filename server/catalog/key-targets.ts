import type { Actor } from "@/server/base/actor";

/** Limits of an API key that may use only some agents and tools. Other actors may use all of the organization. */

/** `targetIds` is empty if a key is not limited. */
type Limited = Actor | { targetIds: readonly string[] };

/** The ids of the agents and tools that a limited key may use; null for any other actor. */
export function targetIdsOf(actor: Limited): string[] | null {
  return "targetIds" in actor && actor.targetIds.length > 0 ? [...actor.targetIds] : null;
}

export function mayUse(actor: Limited, id: string): boolean {
  return targetIdsOf(actor)?.includes(id) ?? true;
}

/** A condition for the agents or tools that an actor may use. */
export function among(actor: Limited) {
  const ids = targetIdsOf(actor);
  return ids === null ? {} : { id: { in: ids } };
}

/** A condition for the triggers or schedules of agents and tools that an actor may use. */
export function ofTargets(actor: Limited) {
  const ids = targetIdsOf(actor);
  return ids === null ? {} : { OR: [{ agentId: { in: ids } }, { toolId: { in: ids } }] };
}
