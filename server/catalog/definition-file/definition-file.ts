import { z } from "zod";
import type { Issue } from "@/server/errors";
import {
  agentDefinition,
  apiKeyDefinition,
  memberDefinition,
  organizationDefinition,
  secretDefinition,
  toolDefinition,
  triggerDefinition,
} from "../definitions";
import { describeFaults, fromPointer } from "../issues";
import { readYaml, type YamlDocument } from "./yaml-document";

/** The operator's YAML (docs/definition-files.md). */
export const definitionFile = z.strictObject({
  organizations: z
    .array(
      z.strictObject({
        ...organizationDefinition.shape,
        members: unique("email", z.array(memberDefinition)).default([]),
        apiKeys: unique("name", z.array(apiKeyDefinition)).default([]),
        secrets: unique("name", z.array(secretDefinition)).default([]),
        tools: unique("slug", z.array(toolDefinition)).default([]),
        agents: unique("slug", z.array(agentDefinition)).default([]),
        triggers: unique("slug", z.array(triggerDefinition)).default([]),
      }),
    )
    .min(1)
    .superRefine((organizations, context) => findRepeats("slug", organizations, context)),
});
export type DefinitionFile = z.output<typeof definitionFile>;
export type DeclaredOrganization = DefinitionFile["organizations"][number];

/** An invalid definition file. Each line is a sentence with its location; nothing was written. */
export class DefinitionFileError extends Error {
  override name = "DefinitionFileError";
  readonly lines: string[];

  constructor(lines: string[]) {
    super(lines.join("\n"));
    this.lines = lines;
  }
}

/** A parsed definition file; `refuse` reports later faults, such as unknown references, with their lines. */
export type ReadDefinitionFile = {
  definitions: DefinitionFile;
  refuse(issues: readonly Issue[]): DefinitionFileError;
};

/** Reads and checks a definition file; throws DefinitionFileError with every fault. */
export function readDefinitionFile(source: string): ReadDefinitionFile {
  const document = readYaml(source);
  if ("faults" in document) {
    throw new DefinitionFileError(
      document.faults.map(({ line, message }) => (line === null ? message : `line ${line}: ${message}`)),
    );
  }
  const parsed = definitionFile.safeParse(document.value);
  if (!parsed.success) {
    throw new DefinitionFileError(describeIssues(document, describeFaults(parsed.error, document.value)));
  }
  return {
    definitions: parsed.data,
    refuse: (issues) => new DefinitionFileError(describeIssues(document, issues)),
  };
}

function describeIssues(document: YamlDocument, issues: readonly Issue[]): string[] {
  return issues.map(({ path, message }) => `${document.locate(fromPointer(path))} ${message}`);
}

function unique<Item extends z.ZodType<Record<string, unknown>>>(key: string, list: z.ZodArray<Item>) {
  return list.superRefine((items, context) => findRepeats(key, items, context));
}

function findRepeats(key: string, items: readonly Record<string, unknown>[], context: z.RefinementCtx): void {
  const seen = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const value = item[key];
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
