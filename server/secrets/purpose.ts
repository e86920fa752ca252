/**
 * What a secret's value is sealed for: it opens only as the secret of this organization and name, so that a sealed value copied
 * to another row is of no use.
 */
export function secretValuePurpose(orgId: string, name: string): string {
  return purposeOfSecret(`${orgId}/${name}`);
}

/** The same, of what SECRET_OWNER_SQL gives. */
export const purposeOfSecret = (owner: string) => `secret-value:${owner}`;

/** Whose a row of `secrets` is. */
export const SECRET_OWNER_SQL = "organization_id || '/' || name";
