import type { Services } from "@/server/services";

const KEY = "app_url";

/** Notes in the database under which address its service runs, for commands that print webhook addresses. */
export async function storeAppUrl({ db, env }: Pick<Services, "db" | "env">): Promise<void> {
  const value = env.appUrl;
  await db.setting.upsert({ where: { key: KEY }, create: { key: KEY, value }, update: { value } });
}

/**
 * The address for a command beside the service: APP_URL or PORT when one is set, else the address of the service that
 * started last on this database, else the default.
 */
export async function readAppUrl({ db, env }: Pick<Services, "db" | "env">): Promise<string> {
  if (env.appUrlGiven) return env.appUrl;
  const noted = await db.setting.findUnique({ where: { key: KEY } });
  return noted?.value ?? env.appUrl;
}
