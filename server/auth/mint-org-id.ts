import type { OrgId } from "./actor";

/**
 * Mints an OrgId from an id that was just read from a verified key, session or trigger, from the run that a worker
 * owns, or from the operator's database. `.dependency-cruiser.cjs` names the files that may do so.
 */
export function mintOrgId(id: string): OrgId {
  return id as OrgId;
}
