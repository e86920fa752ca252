import type { ApiKeyActor } from "@/server/base/actor";
import { AppError } from "@/server/base/errors";
import { prefixIssues, rejection } from "@/server/base/issues";
import { isJsonObject, type Json, type JsonObject, valueAt } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import type { Services } from "@/server/catalog/services";
import { MIB } from "@/server/contract/sizes";
import { type CatalogServices, changeCatalog, type Saved } from "../change";
import type { DeclaredKind } from "../require-own";
import { applyDefinitions } from "./apply";
import { DefinitionFileError, definitionFile, readDefinitionFile } from "./definition-file";

export type AppliedObject = {
  kind: DeclaredKind;
  slug: string;
  /** Null: it would be created. */
  id: string | null;
  saved: Saved;
  /** Of an agent or tool. */
  version: number | null;
  /** As in the audit log: the old and the new value of each field. */
  changes: JsonObject;
  /** Of a new trigger, this once. */
  url: string | null;
  /** Of a new callback, this once. */
  secret: string | null;
};

const CONTENTS = ["tools", "agents", "triggers", "schedules", "callbacks"];
// Other fields need the operator or a member.
const ALLOWED = ["slug", ...CONTENTS];
const KNOWN = Object.keys(definitionFile.shape.organizations.element.shape);

const MAX_ENTRIES = 500;
const MAX_ISSUES = 100;
const LIMITS = { parts: 500_000, weight: 16 * MIB, timeoutMs: 20_000, entries: MAX_ENTRIES };

/** Rolls the transaction back. */
class DryRun extends Error {
  readonly objects: AppliedObject[];

  constructor(objects: AppliedObject[]) {
    super("A dry run changes nothing.");
    this.objects = objects;
  }
}

/**
 * Applies a definition file for the organization of a key, completely or not at all. With `dryRun` it changes nothing
 * and returns the changes. Throws `forbidden` if the file has more than the key may change, and `invalid_request` with
 * every issue and its line.
 */
export async function applyOwnFile(
  services: CatalogServices & Pick<Services, "env">,
  key: ApiKeyActor,
  { source, dryRun }: { source: string; dryRun: boolean },
): Promise<AppliedObject[]> {
  const file = await readDefinitionFile(source, key.orgId, LIMITS).catch(reject);
  const { slug } = await services.db.organization.findUniqueOrThrow({
    where: { id: key.orgId },
    select: { slug: true },
  });
  requireOwnContents(key, file.value, slug);
  const [declared] = file.organizations;
  if (declared === undefined) return reject(file.reject(file.issues));
  const applied = changeCatalog(services, { actor: key, role: "member" }, async (change) => {
    const changesOf = new Map<string | null, JsonObject>();
    const observed = {
      ...change,
      onSaved: (id: string | null, changes: JsonObject) => void changesOf.set(id, changes),
    };
    const { saved, issues: found } = await applyDefinitions(observed, declared, services.env);
    const issues = [...file.issues, ...prefixIssues(["organizations", 0], found)];
    if (issues.length > 0) reject(file.reject(issues));
    const objects = [
      ...saved.tools.map((each) => ({ kind: "tool" as const, ...each })),
      ...saved.agents.map((each) => ({ kind: "agent" as const, ...each })),
      ...saved.triggers.map((each) => ({ kind: "trigger" as const, ...each })),
      ...saved.schedules.map((each) => ({ kind: "schedule" as const, ...each })),
      ...saved.callbacks.map((each) => ({ kind: "callback" as const, ...each })),
    ].map((each): AppliedObject => {
      const isNew = each.saved === "created" || each.saved === "restored";
      return {
        kind: each.kind,
        slug: each.slug,
        id: dryRun && each.saved === "created" ? null : each.id,
        saved: each.saved,
        version: "version" in each ? each.version : null,
        changes: changesOf.get(each.id) ?? {},
        url: "url" in each && isNew && !dryRun ? each.url : null,
        secret: "secret" in each && !dryRun ? each.secret : null,
      };
    });
    if (dryRun) throw new DryRun(objects);
    return objects;
  });
  return applied.catch((error: unknown) => {
    if (error instanceof DryRun) return error.objects;
    throw error;
  });
}

/** Throws a file's issues as those of a request. */
function reject(error: unknown): never {
  if (!(error instanceof DefinitionFileError)) throw error;
  throw rejection(error.issues.slice(0, MAX_ISSUES));
}

function requireOwnContents({ name, scopes }: ApiKeyActor, file: Json, slug: string): void {
  const organizations = valueAt(file, "organizations");
  const list: unknown[] = Array.isArray(organizations) ? organizations : [];
  const issues = list.flatMap((organization, index) => {
    const at = (field: string, message: string) => ({
      path: jsonPointer(["organizations", index, field]),
      message,
    });
    const given = isJsonObject(organization) ? organization : {};
    const foreign =
      given.slug === slug ? [] : [at("slug", `must be "${slug}", the organization of the API key`)];
    const forbidden = Object.keys(given).filter((field) => KNOWN.includes(field) && !ALLOWED.includes(field));
    return [...foreign, ...forbidden.map((field) => at(field, "cannot be changed by API key"))];
  });
  if (issues.length > 0) {
    const message = `The API key ${name} may only change tools, agents, triggers, schedules and callbacks of "${slug}".`;
    throw new AppError("forbidden", message, { issues });
  }
  if (valueAt(list[0], "callbacks") === undefined || scopes.includes("runs:read")) return;
  throw new AppError(
    "forbidden",
    `The API key ${name} lacks the scope runs:read, which callbacks need because outputs are sent there.`,
  );
}
