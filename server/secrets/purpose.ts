/**
 * The encryption's purpose of a secret's value. A sealed value opens only for this organization and name, so a copied one is
 * useless.
 */
export function secretValuePurpose(orgId: string, name: string): string {
  return purposeOfSecret(`${orgId}/${name}`);
}

/** The same, of what SECRET_OWNER_SQL gives. */
export const purposeOfSecret = (owner: string) => `secret-value:${owner}`;

/** Whose a row of `secrets` is. */
export const SECRET_OWNER_SQL = "organization_id || '/' || name";
