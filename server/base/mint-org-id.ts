import type { OrgId } from "./actor";

/**
 * Mints an OrgId from a trusted id. It comes from a verified key, session or trigger, from a run that this worker owns,
 * or from the operator's database. `.dependency-cruiser.cjs` lists the files that may do so.
 */
export function mintOrgId(id: string): OrgId {
  return id as OrgId;
}
