import type { Transaction } from "@/server/base/db/client";
import { newId } from "@/server/base/ids";
import { deleteLinks } from "@/server/catalog/auth/one-time-links";

/**
 * Creates a person with a password. The caller has checked that the email is free and adds the membership. Returns the
 * user's id.
 */
export async function createUser(
  tx: Transaction,
  { email, name, password, at }: { email: string; name: string; password: string; at: Date },
): Promise<string> {
  const id = newId();
  const passwordHash = await hashPassword(password);
  await tx.user.create({
    data: {
      id,
      email: email.toLowerCase(),
      name,
      emailVerified: true,
      createdAt: at,
      updatedAt: at,
      accounts: { create: passwordAccount(id, passwordHash, at) },
    },
  });
  return id;
}

/** Sets a person's password. Ends their sessions and the links for a new password. */
export async function setPassword(
  tx: Transaction,
  { userId, password, at }: { userId: string; password: string; at: Date },
): Promise<void> {
  const passwordHash = await hashPassword(password);
  const account = { userId, ...passwordAccount(userId, passwordHash, at) };
  await tx.account.upsert({
    where: { userId_providerId: { userId, providerId: account.providerId } },
    create: account,
    update: { password: account.password, updatedAt: at },
  });
  await tx.session.deleteMany({ where: { userId } });
  await deleteLinks(tx, { purpose: "password", userId });
}

function passwordAccount(userId: string, password: string, at: Date) {
  return {
    id: newId(),
    accountId: userId,
    providerId: "credential",
    password,
    createdAt: at,
    updatedAt: at,
  };
}

const loadCrypto = () => import("better-auth/crypto");

export async function hashPassword(password: string): Promise<string> {
  return (await loadCrypto()).hashPassword(password);
}

export async function verifyPassword(stored: { hash: string; password: string }): Promise<boolean> {
  return (await loadCrypto()).verifyPassword(stored);
}
