import { callStateOwner, purposeOfCallState } from "@/server/guard/secrets/encryption";
import type { Services } from "@/server/runs/services";
import type { ProviderState } from "@/server/work/models/port";
import type { ClaimedRun } from "./claimed-run";

type Owner = { run: Pick<ClaimedRun, "id" | "orgId">; key: string };

const purposeOf = ({ run, key }: Owner) =>
  purposeOfCallState(callStateOwner({ orgId: run.orgId, runId: run.id, key }));

export function sealCallState(
  { encryption }: Pick<Services, "encryption">,
  owner: Owner,
  state: ProviderState | null,
): Buffer | null {
  return state === null ? null : encryption.sealBytes(state, purposeOf(owner));
}

/** Null also if no known secret opens it: the provider then gets the conversation without it. */
export function openCallState(
  { encryption }: Pick<Services, "encryption">,
  owner: Owner,
  sealed: Uint8Array | null,
): ProviderState | null {
  return sealed === null ? null : encryption.openBytesOrNull(sealed, purposeOf(owner));
}
