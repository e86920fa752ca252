import { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { type Facts, recordAudit } from "@/server/base/audit";
import type { Transaction } from "@/server/base/db/client";
import { AppError, type Issue, isAppError } from "@/server/base/errors";
import { parseOrIssues, prefixIssues, rejection } from "@/server/base/issues";
import { mayReceive } from "@/server/guard/egress/outgoing-request";
import { parseModelProviders, stringifyModelProviders } from "@/server/runs/find-model-providers";
import { keySecretOf, type OwnProvider, ownProvider, ownProviders } from "@/server/work/models/own-provider";
import { type Change, catalogVerb, type Editor, saveItem } from "../change";
import { setSecretWithin } from "./secrets";

/**
 * Adds or replaces a model provider for calls from now on. `replaces` is the provider as opened for editing; null:
 * a new one. `keyValue` creates the secret that `apiKey` names, for the provider's host alone. Throws `not_found` and
 * `conflict`.
 */
export const saveModelProvider = catalogVerb(
  {
    role: "admin",
    input: ownProvider.extend({ replaces: ownProvider.nullable(), keyValue: z.string().optional() }),
  },
  async (change, { replaces, keyValue, ...provider }) => {
    const { name } = provider;
    const all = await readOwnProviders(change.tx, change.actor.orgId);
    const index = all.findIndex((each) => each.name === name);
    const found = all[index] ?? null;
    checkOpened(name, found, replaces);
    const others = all.filter((each) => each !== found);
    checkBesideOthers(provider, others);
    if (keyValue !== undefined) await createKey(change, provider, keyValue);
    const issues = await findProviderIssues(change, [provider]);
    if (issues.length > 0) throw rejection(withoutIndex(issues));
    const compared = {
      subject: subjectOf(name),
      before: found && factsOf(found),
      after: factsOf(provider),
      replaces: replaces === null ? undefined : factsOf(replaces),
    };
    await saveItem(change, compared, () =>
      writeOwnProviders(change, found === null ? [...all, provider] : all.with(index, provider)),
    );
    return { name };
  },
);

/** Removes a provider: the service's default provider gets its models' calls. Throws `not_found`. */
export const removeModelProvider = catalogVerb(
  { role: "admin", input: z.object({ name: z.string().max(64) }) },
  async (change, { name }) => {
    const before = await readOwnProviders(change.tx, change.actor.orgId);
    const after = before.filter((each) => each.name !== name);
    if (after.length === before.length) throw providerNotFound(name);
    await writeOwnProviders(change, after);
    await recordAudit(change, { verb: "removed", subject: subjectOf(name) });
  },
);

/** The organization's own providers as they are stored, unlike `findModelProviders`, which caches them. */
export async function readOwnProviders(
  db: Pick<Transaction, "organization">,
  orgId: OrgId,
): Promise<OwnProvider[]> {
  const where = { id: orgId };
  const found = await db.organization.findUniqueOrThrow({ where, select: { modelProviders: true } });
  return parseModelProviders(found.modelProviders);
}

async function writeOwnProviders(
  { tx, actor, at }: Change,
  providers: readonly OwnProvider[],
): Promise<void> {
  const modelProviders = stringifyModelProviders(providers);
  await tx.organization.update({ where: { id: actor.orgId }, data: { modelProviders, updatedAt: at } });
}

const subjectOf = (name: string) => ({ kind: "model_provider", id: null, name }) as const;

export const providerNotFound = (name: string) =>
  new AppError("not_found", `There is no model provider "${name}".`);

const factsOf = ({ api, apiKey, ...provider }: OwnProvider): Facts => ({
  ...provider,
  api: api ?? null,
  apiKey: apiKey ?? null,
});

function checkOpened(name: string, found: OwnProvider | null, replaces: OwnProvider | null): void {
  if (replaces === null) {
    if (found === null) return;
    throw rejection([{ path: "/name", message: `is taken: a model provider "${name}" exists` }]);
  }
  if (found === null) throw providerNotFound(name);
}

function checkBesideOthers(provider: OwnProvider, others: readonly OwnProvider[]): void {
  const all = [...others, provider];
  const checked = parseOrIssues(ownProviders, all);
  if ("issues" in checked) throw rejection(withoutIndex(checked.issues));
}

const withoutIndex = (issues: readonly Issue[]): Issue[] =>
  issues.map(({ path, message }) => ({ path: path.replace(/^\/\d+/, ""), message }));

async function createKey(change: Change, provider: OwnProvider, value: string): Promise<void> {
  const name = keySecretOf(provider);
  if (name === null) throw rejection([{ path: "/apiKey", message: "must name the secret for the key" }]);
  const { host } = new URL(provider.baseUrl);
  try {
    await setSecretWithin(change, { name, value, hosts: [host] }, { only: "create" });
  } catch (error) {
    if (!isAppError(error) || error.issues === undefined) throw error;
    throw rejection(
      error.issues.map(({ path, message }) => ({
        path: path === "/value" ? "/keyValue" : "/apiKey",
        message,
      })),
    );
  }
}

/** Issues of model providers: keys that are not secrets of the organization, or may not be sent to the provider. */
export async function findProviderIssues(
  { tx, actor }: { tx: Pick<Transaction, "secret">; actor: Pick<Editor, "orgId"> },
  providers: readonly OwnProvider[],
): Promise<Issue[]> {
  if (providers.length === 0) return [];
  const secrets = await tx.secret.findMany({
    where: { organizationId: actor.orgId },
    orderBy: { name: "asc" },
    select: { name: true, allowedHosts: true },
  });
  return providers.flatMap((provider, index) => {
    const name = keySecretOf(provider);
    const secret = secrets.find((each) => each.name === name);
    const at = (message: string) => prefixIssues([index], [{ path: "/apiKey", message }]);
    if (name === null) return [];
    if (secret === undefined) {
      const known = secrets.map((each) => each.name).join(", ") || "none";
      return at(`there is no secret "${name}"; known secrets: ${known}`);
    }
    const url = new URL(provider.baseUrl);
    if (mayReceive(secret.allowedHosts, url)) return [];
    return at(
      `the secret "${name}" may not be sent to ${url.host}; its hosts: ${secret.allowedHosts.join(", ")}`,
    );
  });
}
