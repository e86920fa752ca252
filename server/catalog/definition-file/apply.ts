import { transactPrisma } from "@/server/base/db/transaction";
import { type Issue, isAppError } from "@/server/base/errors";
import { prefixIssues } from "@/server/base/issues";
import type { Json } from "@/server/base/json/json";
import { fromPointer } from "@/server/base/json/text";
import type { Services } from "@/server/catalog/services";
import { triggerUrl } from "@/server/catalog/webhooks/trigger";
import { putCallback } from "../callbacks/save-callback";
import {
  type AccountWrite,
  type Author,
  type CatalogServices,
  type Change,
  lockCatalog,
  organizationLock,
  personLock,
  type Saved,
  slugLock,
  writeAccounts,
} from "../change";
import { putApiKey } from "../organization/api-keys";
import { putMember } from "../organization/members";
import { findProviderIssues } from "../organization/model-providers";
import { putOrganization } from "../organization/organizations";
import { putSecret } from "../organization/secrets";
import { requireOwn } from "../require-own";
import { putAgent } from "../save-agent";
import { findIssuesOfInvalidTool, putTool } from "../save-tool";
import { putTrigger } from "../save-trigger";
import { putSchedule } from "../schedules/save-schedule";
import { type DeclaredEntry, type DeclaredOrganization, readDefinitionFile } from "./definition-file";

/** The result of `apply` for one organization. New keys are in `apiKeys`, this once. */
export type AppliedOrganization = { slug: string; id: string; saved: Saved } & Contents;

/**
 * Applies a definition file completely or not at all. What the file does not name is not changed. Throws
 * DefinitionFileError with every issue and its line.
 */
export async function applyDefinitionFile(
  services: CatalogServices & Pick<Services, "env">,
  source: string,
  operatorName = "operator",
): Promise<AppliedOrganization[]> {
  const { organizations, issues: unreadable, reject } = await readDefinitionFile(source);
  return transactPrisma(services.db, "definitionFile", async (tx) => {
    await lockCatalog(tx, [
      ...organizations.flatMap(({ members }) =>
        members.flatMap(({ definition }) => (definition ? [personLock(definition.email)] : [])),
      ),
      ...organizations.map(({ definition }) => slugLock(definition.slug)),
    ]);
    const known = await tx.organization.findMany({
      where: { slug: { in: organizations.map(({ definition }) => definition.slug) } },
      select: { id: true },
    });
    await lockCatalog(
      tx,
      known.map(({ id }) => organizationLock(id)),
    );

    const applied: AppliedOrganization[] = [];
    const issues = [...unreadable];
    const accountWrites: AccountWrite[] = [];
    for (const [index, declared] of organizations.entries()) {
      const { definition } = declared;
      const options = { operatorName, definition, accountWrites };
      const { id, slug, saved, change } = await putOrganization(tx, services, options);
      const { contents, issues: found } = await applyContents(change, declared, services.env);
      issues.push(...prefixIssues(["organizations", index], found));
      applied.push({ slug, id, saved, ...contents });
    }
    if (issues.length > 0) throw reject(issues);
    await writeAccounts(accountWrites);
    return applied;
  });
}

type Contents = Awaited<ReturnType<typeof applyContents>>["contents"];

type Entries<Definition, Result> = {
  kind: string;
  entries: readonly DeclaredEntry<Definition>[];
  put: (definition: Definition) => Promise<Result>;
  /** These come before the others. */
  first?: (definition: Definition) => boolean;
  findIssuesOfInvalid?: (value: Json) => Promise<readonly Issue[]>;
};

async function applyEntries<Definition, Result>(
  issues: Issue[],
  { kind, entries, put, first, findIssuesOfInvalid }: Entries<Definition, Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const attempt = async (definition: Definition | null): Promise<readonly Issue[]> => {
    if (definition === null) return [];
    try {
      results.push(await put(definition));
      return [];
    } catch (error) {
      // Who may not save one entry may not apply the file.
      if (!isAppError(error) || error.code === "forbidden") throw error;
      return error.issues ?? [{ path: "", message: error.message }];
    }
  };
  const rankOf = ({ definition }: DeclaredEntry<Definition>) => Number(!(definition && first?.(definition)));
  const ordered = [...entries.entries()].sort(([, one], [, two]) => rankOf(one) - rankOf(two));
  for (const [index, { value, rejected, definition, standIn }] of ordered) {
    const isValid = rejected.size === 0 && definition !== null;
    const found =
      isValid || findIssuesOfInvalid === undefined
        ? await attempt(definition)
        : await findIssuesOfInvalid(value);
    // A consequence of a rejected field is not an issue of its own, except within a value that was checked unchanged.
    const own = findIssuesOfInvalid
      ? found
      : found.filter(({ path }) => !rejected.has(String(fromPointer(path)[0])));
    issues.push(...prefixIssues([kind, index], own));
    if (!isValid || own.length > 0) await attempt(standIn);
  }
  return results;
}

/**
 * Tools refer to secrets, agents to tools, triggers, schedules and keys to both, callbacks to all. Of an
 * invalid entry, the valid part is applied to find all issues; the caller rolls back.
 */
async function applyContents(change: Change, declared: DeclaredOrganization, env: Services["env"]) {
  const issues: Issue[] = [];
  const secrets = await applyEntries(issues, {
    kind: "secrets",
    entries: declared.secrets,
    put: (definition) => putSecret(change, definition),
  });
  const providers = declared.definition.modelProviders ?? [];
  issues.push(...prefixIssues(["modelProviders"], await findProviderIssues(change, providers)));
  const definitions = await applyDefinitions(change, declared, env);
  issues.push(...definitions.issues);
  const apiKeys = await applyEntries(issues, {
    kind: "apiKeys",
    entries: declared.apiKeys,
    put: (definition) => putApiKey(change, definition),
  });
  const members = await applyEntries(issues, {
    kind: "members",
    entries: declared.members,
    put: (definition) => putMember(change, definition),
    // The last owner may give the role up only when there is another one.
    first: ({ role }) => role === "owner",
  });
  return { contents: { secrets, ...definitions.saved, apiKeys, members }, issues };
}

/** Applies the agents, tools, triggers, schedules and callbacks of a file. Throws `forbidden` for a limited key. */
export async function applyDefinitions(
  change: Change<Author>,
  declared: DeclaredOrganization,
  { appUrl, egressAllow }: Pick<Services["env"], "appUrl" | "egressAllow">,
) {
  const issues: Issue[] = [];
  const slugsOf = (entries: readonly DeclaredEntry<{ slug: string }>[]) =>
    new Set(entries.flatMap(({ standIn }) => standIn?.slug ?? []));
  const withDeclared = {
    ...change,
    declared: { agent: slugsOf(declared.agents), tool: slugsOf(declared.tools) },
  };
  const tools = await applyEntries(issues, {
    kind: "tools",
    entries: declared.tools,
    async put(definition) {
      await requireOwn(change, { kind: "tool", definition });
      return putTool(withDeclared, definition);
    },
    findIssuesOfInvalid: (value) => findIssuesOfInvalidTool(value, withDeclared),
  });
  const agents = await applyEntries(issues, {
    kind: "agents",
    entries: declared.agents,
    async put(definition) {
      await requireOwn(change, { kind: "agent", definition });
      return putAgent(change, definition);
    },
  });
  const triggers = await applyEntries(issues, {
    kind: "triggers",
    entries: declared.triggers,
    async put(definition) {
      await requireOwn(change, { kind: "trigger", definition });
      const saved = await putTrigger(change, definition);
      return { ...saved, url: triggerUrl(appUrl, saved.token) };
    },
  });
  const schedules = await applyEntries(issues, {
    kind: "schedules",
    entries: declared.schedules,
    async put(definition) {
      await requireOwn(change, { kind: "schedule", definition });
      return putSchedule(change, definition);
    },
  });
  const callbacks = await applyEntries(issues, {
    kind: "callbacks",
    entries: declared.callbacks,
    async put(definition) {
      await requireOwn(change, { kind: "callback", definition });
      return putCallback(change, definition, { egressAllow });
    },
  });
  return { saved: { tools, agents, triggers, schedules, callbacks }, issues };
}
