import { z } from "zod";
import { endpoint, flagParameter, Reply } from "@/server/api/endpoint";
import { applyOwnFile } from "@/server/catalog/definition-file/apply-own";
import { exportDefinitions } from "@/server/catalog/definition-file/export";
import { YAML_TYPE } from "@/server/contract/media-types";
import { MAX_BODY_BYTES } from "@/server/contract/sizes";
import { choice } from "./filters";

// The text of JSON; the document shows its value.
const source = z.string().meta({
  description: "A definition file of one organization, the key's",
  override: ({ jsonSchema }) => {
    delete jsonSchema.type;
    jsonSchema.$ref = "#/components/schemas/DefinitionFile";
  },
});

const exampleFile = {
  organizations: [
    {
      slug: "acme",
      agents: [{ slug: "helper", name: "Helper", model: "gpt-5-mini", systemPrompt: "Help with sums." }],
      schedules: [{ slug: "morning", agent: "helper", cron: "0 8 * * MON-FRI", message: "Good morning" }],
    },
  ],
};
const exampleYaml = `organizations:
  - slug: acme
    agents:
      - { slug: helper, name: Helper, model: gpt-5-mini, systemPrompt: Help with sums. }
`;

const applied = z
  .object({
    kind: z.enum(["tool", "agent", "trigger", "schedule", "callback"]),
    slug: z.string(),
    id: z.uuid().nullable().meta({ description: "Null: a dry run would create it" }),
    saved: z.enum(["created", "updated", "restored", "unchanged"]),
    version: z.int().nullable().meta({ description: "Of an agent or tool" }),
    changes: z.record(z.string(), z.unknown()).meta({
      description: "The changed fields, each with from and to, as in the audit log; long values are cut",
      override: { type: "object", additionalProperties: true },
    }),
    url: z.string().nullable().meta({ description: "The address of a new trigger, this once" }),
    secret: z.string().nullable().meta({ description: "The secret of a new callback, this once" }),
  })
  .meta({ id: "AppliedDefinition" });

export const definitionFiles = {
  apply: endpoint({
    tag: "Definition files",
    method: "POST",
    path: "/v1/apply",
    operationId: "applyDefinitionFile",
    summary: "Apply a definition file",
    description:
      "Creates and updates the agents, tools, triggers, schedules and callbacks of a definition file in YAML or JSON, " +
      "completely or not at all. What the file does not name stays. The file has only the key's organization, without " +
      "its other fields. Callbacks need the scope runs:read, too.",
    successDescription: "What was applied, or would be",
    scope: "definitions:write",
    alsoNeeds: ["definitions:read"],
    answers: "plain",
    limit: "changes",
    body: { maxBytes: MAX_BODY_BYTES, yaml: exampleYaml },
    input: z.object({
      dryRun: flagParameter("dryRun", "true: changes nothing, and answers with the changes").default(false),
      body: source,
    }),
    answer: z
      .object({ dryRun: z.boolean(), definitions: z.array(applied) })
      .meta({ id: "AppliedDefinitionFile" }),
    example: {
      request: exampleFile,
      response: {
        dryRun: false,
        definitions: [
          {
            kind: "agent",
            slug: "helper",
            id: "019aa5c0-0a9f-7c08-b1d4-8e2f6a3b5c70",
            saved: "updated",
            version: 4,
            changes: { systemPrompt: { from: "Help.", to: "Help with sums." } },
            url: null,
            secret: null,
          },
        ],
      },
    },
    async run({ services, actor, input: { body: source, dryRun } }) {
      return { dryRun, definitions: await applyOwnFile(services, actor, { source, dryRun }) };
    },
  }),

  export: endpoint({
    tag: "Definition files",
    method: "GET",
    path: "/v1/export",
    operationId: "exportDefinitionFile",
    summary: "Export a definition file",
    description:
      "The organization's agents, tools, triggers, schedules and callbacks as a definition file, without secrets. " +
      "Applying it changes nothing; a file of more than 500 definitions or 1 MiB is applied with the command line. A key that is limited to agents and tools gets only what it may read.",
    successDescription: "The definition file",
    scope: "definitions:read",
    answers: "plain",
    limit: "lists",
    sendsYaml: exampleYaml,
    input: z.object({
      format: choice("format", { among: ["json", "yaml"], description: "json by default" }).input,
    }),
    answer: z
      .object({
        organizations: z.array(z.record(z.string(), z.unknown())).meta({
          description: "One: the key's, with tools, agents, triggers, callbacks and schedules",
          override: { items: { type: "object", additionalProperties: true } },
        }),
      })
      .meta({ id: "DefinitionFile" }),
    example: { response: exampleFile },
    async run({ services, actor, input: { format } }) {
      const exported = await exportDefinitions(services, actor);
      if (format !== "yaml") return exported.file;
      const headers = { "Content-Type": `${YAML_TYPE}; charset=utf-8` };
      return new Reply(exported.file, { text: exported.toYaml(), headers });
    },
  }),
};
