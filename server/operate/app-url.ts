import type { Services } from "@/server/services";

const KEY = "app_url";

/** Stores the service's address in the database, for commands that print webhook URLs. */
export async function storeAppUrl({ db, env }: Pick<Services, "db" | "env">): Promise<void> {
  const value = env.appUrl;
  await db.setting.upsert({ where: { key: KEY }, create: { key: KEY, value }, update: { value } });
}

/**
 * The service's address for a command: from APP_URL or PORT if set, else that of the last service started on this
 * database, else the default.
 */
export async function readAppUrl({ db, env }: Pick<Services, "db" | "env">): Promise<string> {
  if (env.appUrlGiven) return env.appUrl;
  const stored = await db.setting.findUnique({ where: { key: KEY } });
  return stored?.value ?? env.appUrl;
}
