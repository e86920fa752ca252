import { z } from "zod";
import type { Issue } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { parseOrIssues } from "@/server/base/issues";
import { isJsonObject, type Json, type JsonObject } from "@/server/base/json/json";
import { fromPointer } from "@/server/base/json/text";
import { callbackDefinition } from "../callbacks/callback-definition";
import {
  agentDefinition,
  apiKeyDefinition,
  memberDefinition,
  type OrganizationDefinition,
  organizationDefinition,
  scheduleDefinition,
  secretDefinition,
  toolDefinition,
  triggerDefinition,
} from "../definitions";
import { readYaml, type YamlLimits } from "./yaml-document";

/** The operator's YAML (docs/definition-files.md). */
export const definitionFile = z.strictObject({
  organizations: unique(
    "slug",
    z
      .array(
        z.strictObject({
          ...organizationDefinition.shape,
          members: unique("email", z.array(memberDefinition)).default([]),
          apiKeys: unique("name", z.array(apiKeyDefinition)).default([]),
          secrets: unique("name", z.array(secretDefinition)).default([]),
          tools: unique("slug", z.array(toolDefinition)).default([]),
          agents: unique("slug", z.array(agentDefinition)).default([]),
          triggers: unique("slug", z.array(triggerDefinition)).default([]),
          callbacks: unique("slug", z.array(callbackDefinition)).default([]),
          schedules: unique("slug", z.array(scheduleDefinition)).default([]),
        }),
      )
      .min(1),
  ),
});

/**
 * An invalid definition file; nothing was written. Each of `lines` is a sentence with its location, `issues` are the
 * same.
 */
export class DefinitionFileError extends Error {
  override name = "DefinitionFileError";
  readonly lines: string[];
  readonly issues: Issue[];

  constructor(located: readonly { line: string; issue: Issue }[]) {
    super(located.map(({ line }) => line).join("\n"));
    this.lines = located.map(({ line }) => line);
    this.issues = located.map(({ issue }) => issue);
  }
}

/**
 * An entry of a file, as far as it can be read. `definition` lacks the fields in `rejected`, which its schema
 * rejects; null if too little remains. `standIn` has only the name; null if the name is invalid.
 */
export type DeclaredEntry<Definition> = {
  value: Json;
  rejected: ReadonlySet<string>;
  definition: Definition | null;
  standIn: Definition | null;
};
export type DeclaredOrganization = ReturnType<typeof readOrganization>;

type ReadDefinitionFile = {
  value: Json;
  organizations: DeclaredOrganization[];
  issues: Issue[];
  /** Keeps the order of the file. */
  reject(issues: readonly Issue[]): DefinitionFileError;
};

/** `entries`: the most organizations, and the most entries of their lists together. */
type FileLimits = YamlLimits & { entries: number };

/**
 * Reads a definition file, in turn with other texts of the owner. Throws DefinitionFileError if it is not YAML, or
 * beyond the limits.
 */
export async function readDefinitionFile(
  source: string,
  owner = "operator",
  limits?: FileLimits,
): Promise<ReadDefinitionFile> {
  const document = await readYaml(source, owner, limits);
  if ("issues" in document) {
    throw new DefinitionFileError(
      document.issues.map(({ line, column, message }) => {
        const text = line === null ? message : `line ${line}, column ${column}: ${message}`;
        return { line: text, issue: { path: "", message: text } };
      }),
    );
  }
  const { value } = document;
  // Before the schema, which would report each of very many invalid entries.
  if (limits !== undefined && hasMoreEntries(value, limits.entries)) {
    const message = `The file has more than ${limits.entries} definitions`;
    throw new DefinitionFileError([{ line: message, issue: { path: "", message } }]);
  }
  const parsed = parseOrIssues(definitionFile, value);
  const issues = "issues" in parsed ? parsed.issues : [];
  const rejected = groupByEntry(issues);
  return {
    value,
    organizations: listOf(value, "organizations").map((organization, index) =>
      readOrganization(organization, `/organizations/${index}`, rejected),
    ),
    issues,
    reject: (issues) => {
      const located = issues.map(({ path, message }) => {
        const keys = fromPointer(path);
        const at = document.lineAt(keys) ?? 0;
        const issue = { path, message: `${message} (line ${at})` };
        return { at, line: `${document.locate(keys)} ${message}`, issue };
      });
      return new DefinitionFileError(located.sort((a, b) => a.at - b.at));
    },
  };
}

function hasMoreEntries(file: Json, limit: number): boolean {
  const organizations = listOf(file, "organizations");
  const lists = organizations.flatMap((organization) => Object.values(Object(organization)));
  const count = lists.reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
  return organizations.length > limit || count > limit;
}

function groupByEntry(issues: readonly Issue[]): Map<string, Set<string>> {
  const rejected = new Map<string, Set<string>>();
  for (const { path } of issues) {
    const parts = path.split("/");
    for (const length of [3, 5]) {
      const [field] = fromPointer(`/${parts[length] ?? ""}`);
      if (parts.length <= length || field === undefined) continue;
      const path = parts.slice(0, length).join("/");
      rejected.set(path, (rejected.get(path) ?? new Set()).add(String(field)));
    }
  }
  return rejected;
}

const STAND_INS = {
  secrets: { hosts: ["host.invalid"] },
  tools: { name: "?", steps: [{ id: "a", uses: "current_time" }] },
  agents: { name: "?", model: "?" },
} satisfies Record<string, JsonObject>;

function readOrganization(value: Json, path: string, rejected: ReadonlyMap<string, ReadonlySet<string>>) {
  const entries = <Schema extends z.ZodType>(kind: string, schema: Schema, standIn?: JsonObject) =>
    listOf(value, kind).map((entry, index): DeclaredEntry<z.output<Schema>> => {
      const invalid = rejected.get(`${path}/${kind}/${index}`) ?? new Set<string>();
      const sound = isJsonObject(entry)
        ? Object.fromEntries(Object.entries(entry).filter(([field]) => !invalid.has(field)))
        : {};
      const names = Object.entries(sound).filter(([field]) => field === "slug" || field === "name");
      const parse = (input: JsonObject) => schema.safeParse(input).data ?? null;
      return {
        value: entry,
        rejected: invalid,
        definition: parse(invalid.size === 0 ? sound : { ...standIn, ...sound }),
        standIn: standIn === undefined ? null : parse({ ...standIn, ...Object.fromEntries(names) }),
      };
    });
  return {
    definition: parseOwnFields(value, rejected.get(path) ?? new Set()),
    secrets: entries("secrets", secretDefinition, STAND_INS.secrets),
    tools: entries("tools", toolDefinition, STAND_INS.tools),
    agents: entries("agents", agentDefinition, STAND_INS.agents),
    triggers: entries("triggers", triggerDefinition),
    callbacks: entries("callbacks", callbackDefinition),
    schedules: entries("schedules", scheduleDefinition),
    apiKeys: entries("apiKeys", apiKeyDefinition),
    members: entries("members", memberDefinition),
  };
}

// One without a valid slug is checked as a new organization.
function parseOwnFields(value: Json, rejected: ReadonlySet<string>): OrganizationDefinition {
  const fields = Object.entries(isJsonObject(value) ? value : {}).filter(
    ([field]) => field in organizationDefinition.shape && !rejected.has(field),
  );
  return organizationDefinition.parse({ slug: newId(), ...Object.fromEntries(fields) });
}

function listOf(value: Json, key: string): Json[] {
  const list = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}

// Issues of other items do not hide a repeated one.
function unique<Item extends z.ZodType<Record<string, unknown>>>(key: string, list: z.ZodArray<Item>) {
  return list.superRefine((items, context) => findRepeats(key, items, context), {
    when: ({ value }) => Array.isArray(value),
  });
}

function findRepeats(key: string, items: readonly unknown[], context: z.RefinementCtx): void {
  const seen = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const value = isJsonObject(item) ? item[key] : undefined;
    if (value === undefined) continue;
    const first = seen.get(value);
    if (first === undefined) seen.set(value, index);
    else {
      context.addIssue({
        code: "custom",
        path: [index, key],
        message: `"${String(value)}" is already entry ${first + 1} of this list`,
      });
    }
  }
}
