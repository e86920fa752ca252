import { type Issue, isAppError } from "@/server/errors";
import type { Services } from "@/server/services";
import { triggerUrl } from "@/server/webhooks/token";
import {
  type CatalogServices,
  type Change,
  lockCatalog,
  organizationLock,
  personLock,
  type Saved,
  slugLock,
} from "../change";
import { prefixIssues } from "../issues";
import { putApiKey, type SavedApiKey } from "../organization/api-keys";
import { putMember, type SavedMember } from "../organization/members";
import { putOrganization } from "../organization/organizations";
import { putSecret, type SavedSecret } from "../organization/secrets";
import { putAgent, type SavedAgent } from "../save-agent";
import { putTool, type SavedTool } from "../save-tool";
import { putTrigger, type SavedTrigger } from "../save-trigger";
import { type DeclaredOrganization, readDefinitionFile } from "./definition-file";

/** The result of `apply` for one organization. New keys are in `apiKeys`, this once. */
export type AppliedOrganization = {
  slug: string;
  id: string;
  saved: Saved;
  members: SavedMember[];
  apiKeys: SavedApiKey[];
  /** `isSet`: false until `secrets set` gives it a value. */
  secrets: SavedSecret[];
  tools: SavedTool[];
  agents: SavedAgent[];
  triggers: (SavedTrigger & { url: string })[];
};

/** The time limit of the transaction: a file may have thousands of definitions. */
const TIMEOUT_MS = 120_000;

/**
 * Applies a definition file completely or not at all: one transaction, and one `apply` at a time per organization. What
 * the file does not name is not changed. Throws DefinitionFileError with every fault and its line.
 */
export async function applyDefinitionFile(
  services: CatalogServices & Pick<Services, "env">,
  source: string,
  operatorName = "operator",
): Promise<AppliedOrganization[]> {
  const { definitions, refuse } = readDefinitionFile(source);
  return services.db.$transaction(
    async (tx) => {
      const { organizations } = definitions;
      await lockCatalog(tx, [
        ...organizations.flatMap(({ members }) => members.map(({ email }) => personLock(email))),
        ...organizations.map(({ slug }) => slugLock(slug)),
      ]);
      const known = await tx.organization.findMany({
        where: { slug: { in: organizations.map(({ slug }) => slug) } },
        select: { id: true },
      });
      await lockCatalog(
        tx,
        known.map(({ id }) => organizationLock(id)),
      );

      const applied: AppliedOrganization[] = [];
      const issues: Issue[] = [];
      for (const [index, declared] of organizations.entries()) {
        const {
          members: _m,
          apiKeys: _k,
          secrets: _s,
          tools: _t,
          agents: _a,
          triggers: _g,
          ...definition
        } = declared;
        const { id, slug, saved, change } = await putOrganization(tx, services, operatorName, definition);
        const faults: Issue[] = [];
        const contents = await applyContents(change, declared, services.env.appUrl, faults);
        issues.push(...prefixIssues(["organizations", index], faults));
        applied.push({ slug, id, saved, ...contents });
      }
      if (issues.length > 0) throw refuse(issues);
      return applied;
    },
    { timeout: TIMEOUT_MS, maxWait: 30_000 },
  );
}

type Contents = Omit<AppliedOrganization, "slug" | "id" | "saved">;

/** Applies in order: tools refer to secrets, agents to tools, triggers and keys to both. Stops after the first kind with faults. */
async function applyContents(
  change: Change,
  declared: DeclaredOrganization,
  appUrl: string,
  faults: Issue[],
): Promise<Contents> {
  async function each<Definition, Result>(
    kind: string,
    definitions: readonly Definition[],
    put: (change: Change, definition: Definition) => Promise<Result>,
  ): Promise<Result[]> {
    if (faults.length > 0) return [];
    const results: Result[] = [];
    for (const [index, definition] of definitions.entries()) {
      try {
        results.push(await put(change, definition));
      } catch (error) {
        if (!isAppError(error) || error.issues === undefined) throw error;
        faults.push(...prefixIssues([kind, index], error.issues));
      }
    }
    return results;
  }
  const secrets = await each("secrets", declared.secrets, putSecret);
  const tools = await each("tools", declared.tools, putTool);
  const agents = await each("agents", declared.agents, putAgent);
  const triggers = await each("triggers", declared.triggers, putTrigger);
  const apiKeys = await each("apiKeys", declared.apiKeys, putApiKey);
  const members = await each("members", declared.members, putMember);
  const addressed = triggers.map((trigger) => ({ ...trigger, url: triggerUrl(appUrl, trigger.token) }));
  return { secrets, tools, agents, triggers: addressed, apiKeys, members };
}
