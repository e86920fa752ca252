import { z } from "zod";
import { DAY_MS } from "@/server/base/clock";
import { transactPrisma } from "@/server/base/db/transaction";
import { AppError } from "@/server/base/errors";
import { parseInput, rejection } from "@/server/base/issues";
import { createLink, deleteLinks, findLink, takeLink } from "@/server/catalog/auth/one-time-links";
import type { Services } from "@/server/catalog/services";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "@/server/contract/limits";
import { type CatalogServices, lockCatalog, personLock, setUpLock, slugLock } from "../change";
import { memberDefinition, organizationDefinition } from "../definitions";
import { insertOrganization } from "./create-organization";
import { putOperator } from "./operators";

/** The start prints a one-time link; its holder makes the first organization. */

const VALID_MS = DAY_MS;
const MAKER = "set-up link";
const GONE =
  "This link was used or has expired, or an organization exists already. If there is none, the service prints a new link when it starts. The command doctor prints one, too.";

export async function isSetUp({ db }: Pick<Services, "db">): Promise<boolean> {
  return (await db.organization.findFirst({ select: { id: true } })) !== null;
}

/** A new set-up link; null if there is an organization. Works once and for a day. */
export async function offerSetUp(services: Pick<Services, "db" | "clock" | "env">): Promise<string | null> {
  if (await isSetUp(services)) return null;
  const { db, clock, env } = services;
  const { token } = await createLink(db, { purpose: "set_up" }, { at: clock.now(), validMs: VALID_MS });
  return `${env.appUrl}/set-up#${token}`;
}

/** Checks a set-up link for its page. Throws `not_found`. */
export async function readSetUp(services: Pick<Services, "db" | "clock">, token: string): Promise<object> {
  await findOpen(services, token);
  return {};
}

const setUpInput = z.strictObject({
  organization: organizationDefinition.shape.name.unwrap(),
  credits: organizationDefinition.shape.credits.unwrap(),
  name: memberDefinition.shape.name.unwrap(),
  email: memberDefinition.shape.email,
  password: z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH),
});

/**
 * Uses a set-up link: creates the first organization and its owner, who also becomes an operator. Throws `not_found`,
 * `invalid_request`.
 */
export async function setUp(
  services: CatalogServices,
  { token, input }: { token: string; input: unknown },
): Promise<{ email: string; slug: string }> {
  await findOpen(services, token);
  const { organization, credits, ...person } = parseInput(setUpInput, input);
  const slug = slugOf(organization);
  return transactPrisma(services.db, "catalog", async (tx) => {
    await lockCatalog(tx, [setUpLock, personLock(person.email), slugLock(slug)]);
    // Another link may have been used while this one waited for the locks.
    const { id } = await findOpen({ db: tx, clock: services.clock }, token);
    await takeLink(tx, id, GONE);
    if (await tx.user.findUnique({ where: { email: person.email } })) {
      const message = "already has an account. Use another, or run `organizations create` with --owner";
      throw rejection([{ path: "/email", message }]);
    }
    const definition = parseInput(organizationDefinition, { slug, name: organization, credits });
    await insertOrganization(tx, services, { definition, owner: person, operatorName: MAKER });
    const { email } = person;
    await putOperator(tx, { email, isOperator: true, operatorName: MAKER, at: services.clock.now() });
    await deleteLinks(tx, { purpose: "set_up" });
    return { email, slug };
  });
}

async function findOpen(
  { db, clock }: Pick<Services, "clock"> & { db: Pick<Services["db"], "oneTimeLink" | "organization"> },
  token: string,
) {
  const link = await findLink(db, { purpose: "set_up", token, now: clock.now(), gone: GONE });
  if (await db.organization.findFirst({ select: { id: true } })) throw new AppError("not_found", GONE);
  return link;
}

// Names in other scripts have no letters for a slug.
function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-+|-+$/g, "");
  return slug === "" ? "organization" : slug;
}
