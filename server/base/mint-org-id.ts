import type { OrgId } from "./actor";

/**
 * Mints an OrgId from a trusted id: of a verified key, session or trigger, an owned run, or the operator's
 * database. `.dependency-cruiser.cjs` lists the permitted files.
 */
export function mintOrgId(id: string): OrgId {
  return id as OrgId;
}
