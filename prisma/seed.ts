import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { verifyPassword } from "@/server/catalog/auth/accounts";
import type { CatalogServices } from "@/server/catalog/change";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { saveMember } from "@/server/catalog/organization/members";
import { setOperator } from "@/server/catalog/organization/operators";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { tokenPurpose, triggerUrl } from "@/server/catalog/webhooks/trigger";
import { EncryptionError } from "@/server/guard/secrets/encryption";
import type { Services } from "@/server/services";

/** The lines of `npm start` about the demo organization. */
export type Demo = {
  login: string;
  password?: string;
  /** Null if the password was changed or the file is gone (`users password` sets a new one). */
  passwordFile: string | null;
  apiKey?: string;
  agentId: string;
  toolId: string;
  /** Null if its token was sealed under an earlier STEPWELL_SECRET. */
  triggerUrl: string | null;
};

type SeedServices = CatalogServices & Pick<Services, "env">;

const SLUG = "demo";
const LOGIN = "demo@stepwell.test";
const MAKER = "first start";
const SETTING = "demo_created_at";
/** Without 0, 1, l and o, which look alike. */
const LETTERS = "23456789abcdefghijkmnpqrstuvwxyz";

/**
 * Creates the demo organization of examples/demo.yaml on the first start only, unless STEPWELL_DEMO=off. Returns
 * what to print, or null without a demo. The data folder gets the password, readable by its owner only. `root`: the
 * project's folder.
 */
export async function seedDemo(services: SeedServices, root = "."): Promise<Demo | null> {
  const { db, clock, env } = services;
  if (!env.demo) return null;
  let created: Pick<Demo, "password" | "apiKey"> = {};
  if (await isFirstStart(services)) {
    const source = await readFile(join(root, "examples/demo.yaml"), "utf8");
    const password = await storePassword(services);
    const [applied] = await applyDefinitionFile(services, source, MAKER);
    const apiKey = applied?.apiKeys[0]?.key;
    created = { password, ...(apiKey === undefined ? {} : { apiKey }) };
    const actor = await operatorOf(services, SLUG, MAKER);
    await saveMember(services, actor, { email: LOGIN, name: "Demo", password, role: "owner" });
    // Only the operator has read its password.
    await setOperator(services, { email: LOGIN, isOperator: true }, MAKER);
    await db.setting.createMany({
      data: [{ key: SETTING, value: clock.now().toISOString() }],
      skipDuplicates: true,
    });
  }
  const demo = await describeDemo(services);
  return demo && { ...demo, ...created };
}

/** Continues an interrupted first start, but leaves an operator's own organization with that slug alone. */
async function isFirstStart({ db }: SeedServices): Promise<boolean> {
  if (await db.setting.findUnique({ where: { key: SETTING } })) return false;
  const found = await db.organization.findUnique({
    where: { slug: SLUG },
    select: { auditEntries: { where: { action: "organization.created", actorName: MAKER } } },
  });
  return !found || found.auditEntries.length > 0;
}

async function describeDemo(services: SeedServices): Promise<Demo | null> {
  const { db } = services;
  const inUse = { where: { deletedAt: null }, orderBy: { id: "asc" }, take: 1 } as const;
  const found = await db.organization.findFirst({
    where: { slug: SLUG, members: { some: { user: { email: LOGIN } } } },
    include: {
      agents: inUse,
      tools: inUse,
      triggers: { ...inUse, where: { deletedAt: null, agentId: { not: null } } },
    },
  });
  const [agent] = found?.agents ?? [];
  const [tool] = found?.tools ?? [];
  const [trigger] = found?.triggers ?? [];
  if (!agent || !tool || !trigger) return null;
  return {
    login: LOGIN,
    passwordFile: (await isPasswordUnchanged(services)) ? passwordFile(services) : null,
    agentId: agent.id,
    toolId: tool.id,
    triggerUrl: readTriggerUrl(services, trigger),
  };
}

function readTriggerUrl(
  { env, encryption }: SeedServices,
  { id, tokenSealed }: { id: string; tokenSealed: string },
): string | null {
  try {
    return triggerUrl(env.appUrl, encryption.open(tokenSealed, tokenPurpose(id)));
  } catch (error) {
    if (error instanceof EncryptionError) return null;
    throw error;
  }
}

function passwordFile({ env }: SeedServices): string {
  return join(env.dataDir, "demo-password");
}

/** Two concurrent first starts agree on one password. */
async function storePassword(services: SeedServices): Promise<string> {
  const file = passwordFile(services);
  await mkdir(services.env.dataDir, { recursive: true });
  const password = [...randomBytes(16)]
    .map((byte) => LETTERS.charAt(byte % LETTERS.length))
    .join("")
    .replace(/(.{4})(?!$)/g, "$1-");
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, `${password}\n`, { mode: 0o600, flag: "wx" });
  try {
    // A link appears completely or not at all, so no reader gets half a password.
    await link(draft, file);
    return password;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      return (await readFile(file, "utf8")).trim();
    }
    throw error;
  } finally {
    await unlink(draft);
  }
}

async function isPasswordUnchanged(services: SeedServices): Promise<boolean> {
  const account = await services.db.account.findFirst({
    where: { providerId: "credential", user: { email: LOGIN } },
  });
  const stored = await readFile(passwordFile(services), "utf8").then(
    (text) => text.trim(),
    () => null,
  );
  if (stored === null || !account?.password) return false;
  return verifyPassword({ hash: account.password, password: stored });
}
