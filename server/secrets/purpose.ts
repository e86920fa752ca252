/**
 * The encryption's purpose of a secret's value. A sealed value opens only for this organization and name, so a copied one is
 * useless.
 */
export function secretValuePurpose(orgId: string, name: string): string {
  return purposeOfSecret(`${orgId}/${name}`);
}

/** Like `secretValuePurpose`, for an owner in the form of SECRET_OWNER_SQL. */
export const purposeOfSecret = (owner: string) => `secret-value:${owner}`;

/** SQL for the owner of a row of `secrets`: organization and name. */
export const SECRET_OWNER_SQL = "organization_id || '/' || name";
