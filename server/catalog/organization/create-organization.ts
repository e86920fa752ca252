import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import { transactPrisma } from "@/server/base/db/transaction";
import { parseInput, rejection } from "@/server/base/issues";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import {
  type AccountWrite,
  type CatalogServices,
  lockCatalog,
  personLock,
  slugLock,
  writeAccounts,
} from "../change";
import { memberDefinition, type OrganizationDefinition } from "../definitions";
import { putMember, type SavedMember } from "./members";
import { putOrganization } from "./organizations";

// The owner of a new organization; the password is for an email without an account.
const newOwner = z.strictObject({
  email: memberDefinition.shape.email,
  name: memberDefinition.shape.name,
  password: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH).optional(),
});

type Created = { id: OrgId; slug: string; owner: SavedMember | null };
type NewOrganization = { definition: OrganizationDefinition; owner: z.output<typeof newOwner> | null };

/** Creates an organization with its owner, for the operator. Throws `invalid_request`, also if the slug is taken. */
export async function createOrganization(
  services: CatalogServices,
  {
    definition,
    owner: given,
  }: { definition: OrganizationDefinition; owner: z.input<typeof newOwner> | null },
  operatorName = "operator",
): Promise<Created> {
  const owner = given && parseInput(newOwner, given);
  const locks = [slugLock(definition.slug), ...(owner ? [personLock(owner.email)] : [])];
  return transactPrisma(services.db, "catalog", async (tx) => {
    await lockCatalog(tx, locks);
    return insertOrganization(tx, services, { definition, owner, operatorName });
  });
}

/** `createOrganization` within a transaction that holds the locks of the slug and the owner. */
export async function insertOrganization(
  tx: Transaction,
  services: Pick<CatalogServices, "clock" | "encryption">,
  { definition, owner, operatorName }: NewOrganization & { operatorName: string },
): Promise<Created> {
  const { slug } = definition;
  if (await tx.organization.findUnique({ where: { slug }, select: { id: true } }))
    throw rejection([{ path: "/slug", message: `is taken: an organization "${slug}" exists` }]);
  const accountWrites: AccountWrite[] = [];
  const { id, change } = await putOrganization(tx, services, { operatorName, definition, accountWrites });
  const saved = owner && (await putMember(change, { ...owner, role: "owner" }));
  await writeAccounts(accountWrites);
  return { id, slug, owner: saved };
}
