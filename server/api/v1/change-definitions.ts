import { z } from "zod";
import { type Endpoint, type EndpointRules, endpoint, idParameter, Reply } from "@/server/api/endpoint";
import { requireMatch, tagDefinition } from "@/server/api/http/entity-tag";
import type { ApiKeyActor } from "@/server/base/actor";
import { MAX_BODY_BYTES } from "@/server/contract/sizes";
import type { Services } from "@/server/services";
import { flag, textParameter } from "./filters";

/** Declares the endpoints that create, change and archive a kind of definition. */

type Changes = {
  update(
    services: Services,
    key: ApiKeyActor,
    change: { id: string; fields: object; note: string | undefined; precondition: Precondition },
  ): Promise<object>;
  archive(
    services: Services,
    key: ApiKeyActor,
    change: { id: string; precondition: Precondition },
  ): Promise<{ id: string; archivedAt: Date }>;
};
type Precondition = ((current: object) => void) | undefined;

type Kind = {
  tag: string;
  /** `agent` has the path parameter `agentId`. */
  name: string;
  path: `/v1/${string}`;
  view: z.ZodType<object>;
  /** See `EndpointRules`. */
  state?: readonly string[];
  example: { id: string; definition: object };
  changes: Changes;
  /** To create and change it. */
  alsoNeeds?: EndpointRules["alsoNeeds"];
  hasVersions?: true;
  /** Its slug is free once it is archived. */
  freesSlug?: true;
};

export const definition = z.record(z.string(), z.unknown(), "the body must be an object").meta({
  id: "Definition",
  description: "The entry of a definition file, as JSON. Fields with their default value are left out.",
  override: { type: "object", additionalProperties: true },
});

const archived = z
  .object({ id: z.uuid(), archivedAt: z.iso.datetime({ precision: 3 }) })
  .meta({ id: "Archived" });

const IF_MATCH = z.object({
  "If-Match": z.string().optional().meta({
    description:
      "The ETag of an earlier answer. If the definition has changed since, the answer is 412 and nothing changes.",
  }),
});

const CHANGE = { scope: "definitions:write", limit: "changes" } as const;
const BODY = { maxBytes: MAX_BODY_BYTES };
const GENERATE = {
  generateSecret: flag(
    "generateSecret",
    "true: the service creates the secret that signs calls, in place of the body's",
  ).input,
};
const NOTE = textParameter("note", { max: 500, description: "Why the version is saved" }).input;

/** As read from the query. */
const OPTIONS = z.object({ note: z.string().optional(), generateSecret: z.boolean().optional() });

const withArticle = (name: string) => `${name === "agent" ? "an" : "a"} ${name}`;
const operation = (verb: string, name: string) => `${verb}${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** Of a new definition. `created`: its answer, if that has more than a read's. */
export function createEndpoint({
  kind: { tag, name, path, view, state, example, alsoNeeds = [], hasVersions, freesSlug },
  created,
  generatesSecret,
  create,
}: {
  kind: Kind;
  created?: { answer: z.ZodType; example: object; description: string };
  generatesSecret?: true;
  create(
    services: Services,
    key: ApiKeyActor,
    given: { definition: object; note?: string | undefined; generateSecret?: boolean | undefined },
  ): Promise<object>;
}): Endpoint {
  const query = { ...(hasVersions ? { note: NOTE } : {}), ...(generatesSecret ? GENERATE : {}) };
  const restores = freesSlug ? "" : ` The slug of an archived ${name} restores that one with its id.`;
  return endpoint({
    ...CHANGE,
    tag,
    path,
    method: "POST",
    operationId: operation("create", name),
    summary: `Create ${withArticle(name)}`,
    description:
      `The body is the entry of a definition file, as JSON. Its slug must be free.${restores}` +
      `${created?.description ?? ""}`,
    alsoNeeds: ["definitions:read", ...alsoNeeds],
    answers: "saved",
    ...(state === undefined ? {} : { state }),
    successDescription: "The stored definition",
    body: BODY,
    input: z.object({ ...query, body: definition }),
    answer: created?.answer ?? view,
    example: { request: example.definition, response: created?.example ?? example },
    async run({ services, actor, input: { body, ...given } }) {
      const made = await create(services, actor, { definition: body, ...OPTIONS.parse(given) });
      if (created === undefined) return made;
      return new Reply(made, { headers: { ETag: tagDefinition(view.parse(made), state) } });
    },
  });
}

/** Of an existing definition. Both take the header If-Match. */
export function changeEndpoints({
  tag,
  name,
  path,
  view,
  example,
  changes,
  alsoNeeds = [],
  state,
  hasVersions,
}: Kind): { update: Endpoint; archive: Endpoint } {
  const parameter = `${name}Id`;
  const ofOne = { ...CHANGE, tag, path: `${path}/{${parameter}}`, requestHeaders: IF_MATCH } as const;
  const id = { [parameter]: idParameter(parameter, name) };
  const idOf = (given: Readonly<Record<string, unknown>>) => z.string().parse(given[parameter]);
  // The tag is that of the answer to a read.
  const preconditionOf = ({ "If-Match": ifMatch }: Readonly<Record<string, string>>): Precondition =>
    ifMatch === undefined
      ? undefined
      : (current) => requireMatch(tagDefinition(view.parse(current), state), ifMatch);
  return {
    update: endpoint({
      ...ofOne,
      method: "PATCH",
      operationId: operation("update", name),
      summary: `Change ${withArticle(name)}`,
      description:
        "Replaces the fields that the body has; null gives a field its default value. Other fields stay. The slug " +
        "cannot be changed.",
      alsoNeeds: ["definitions:read", ...alsoNeeds],
      answers: "saved",
      ...(state === undefined ? {} : { state }),
      successDescription: "The changed definition",
      body: BODY,
      input: z.object({ ...id, ...(hasVersions ? { note: NOTE } : {}), body: definition }),
      answer: view,
      example: { request: { name: "Renamed" }, response: example },
      run: ({ services, actor, input, call }) =>
        changes.update(services, actor, {
          id: idOf(input),
          fields: definition.parse(input.body),
          note: NOTE.parse(input.note),
          precondition: preconditionOf(call.headers),
        }),
    }),
    archive: endpoint({
      ...ofOne,
      method: "DELETE",
      operationId: operation("archive", name),
      summary: `Archive ${withArticle(name)}`,
      description:
        "An archived one is missing from lists and starts nothing; its runs stay. Archiving it again changes nothing.",
      answers: "plain",
      successDescription: "It is archived",
      input: z.object(id),
      answer: archived,
      example: { response: { id: example.id, archivedAt: "2026-11-21T01:22:07.000Z" } },
      async run({ services, actor, input, call }) {
        const change = { id: idOf(input), precondition: preconditionOf(call.headers) };
        const { id, archivedAt } = await changes.archive(services, actor, change);
        return { id, archivedAt: archivedAt.toISOString() };
      },
    }),
  };
}
