import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Transaction } from "@/server/base/db/client";
import type { LinkPurpose, OneTimeLink } from "@/server/base/db/generated/client";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { sha256 } from "@/server/base/sha256";

/**
 * Links that work once, without a session. A row is found by its id; its secret is stored as a hash and compared in
 * constant time.
 */

const ID_BYTES = 16;
const SECRET_BYTES = 32;

/** The longest accepted token, for callers that bound their input. */
export const MAX_TOKEN_LENGTH = 100;

type LinkFacts = Pick<OneTimeLink, "purpose" | "userId" | "organizationId" | "createdBy">;

type NewLink = { token: string; expiresAt: Date };

/** Creates a link. Earlier ones stay valid until one of them is used. */
export async function createLink(
  tx: Pick<Transaction, "oneTimeLink">,
  facts: Pick<LinkFacts, "purpose"> & Partial<LinkFacts>,
  { at, validMs }: { at: Date; validMs: number },
): Promise<NewLink> {
  const id = newId();
  const secret = randomBytes(SECRET_BYTES);
  const expiresAt = new Date(at.getTime() + validMs);
  await tx.oneTimeLink.create({
    data: { ...facts, id, secretHash: sha256(secret), createdAt: at, expiresAt },
  });
  const token = Buffer.concat([Buffer.from(id.replaceAll("-", ""), "hex"), secret]).toString("base64url");
  return { token, expiresAt };
}

/** The valid link of a token. Throws `not_found` with `gone`. */
export async function findLink(
  db: Pick<Transaction, "oneTimeLink">,
  { purpose, token, now, gone }: { purpose: LinkPurpose; token: string; now: Date; gone: string },
): Promise<OneTimeLink> {
  const bytes = Buffer.from(token, "base64url");
  const isWhole = bytes.length === ID_BYTES + SECRET_BYTES && bytes.toString("base64url") === token;
  const hex = bytes.subarray(0, ID_BYTES).toString("hex");
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const found = isWhole ? await db.oneTimeLink.findUnique({ where: { id } }) : null;
  const isRight = found !== null && timingSafeEqual(found.secretHash, sha256(bytes.subarray(ID_BYTES)));
  if (!isRight || found.purpose !== purpose || found.expiresAt <= now) throw new AppError("not_found", gone);
  return found;
}

/** Deletes all links with this purpose: of one person, or of an admin of one organization to one person. */
export async function deleteLinks(
  tx: Pick<Transaction, "oneTimeLink">,
  where: Pick<LinkFacts, "purpose"> & Partial<LinkFacts>,
): Promise<void> {
  await tx.oneTimeLink.deleteMany({ where });
}

/** Uses a link up. Throws `not_found` with `gone` if another call was faster. */
export async function takeLink(
  tx: Pick<Transaction, "oneTimeLink">,
  id: string,
  gone: string,
): Promise<void> {
  const { count } = await tx.oneTimeLink.deleteMany({ where: { id } });
  if (count === 0) throw new AppError("not_found", gone);
}
