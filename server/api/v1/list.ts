import { z } from "zod";
import {
  type Endpoint,
  type EndpointCall,
  type EndpointRules,
  endpoint,
  integerParameter,
} from "@/server/api/endpoint";
import type { ApiKeyActor } from "@/server/base/actor";
import type { Page } from "@/server/base/db/page";
import { idInput } from "@/server/contract/ids";
import type { Services } from "@/server/services";
import type { Filter } from "./filters";

type Filters = Record<string, Filter<unknown>>;

/** The values of a list's filters; undefined for one that is not given. */
type ValuesOf<Of extends Filters> = {
  [Name in keyof Of]: Of[Name] extends Filter<infer Value> ? Value | undefined : never;
};

type ListRules = Pick<EndpointRules, "path" | "operationId" | "tag" | "summary" | "description" | "scope"> & {
  id: string;
};

/**
 * Declares an endpoint that returns a page of a list: `data`, the cursor of the next page, and the filters as
 * understood. `cursor` parses the cursor of the previous page.
 */
export function listEndpoint<Item extends z.ZodType, Cursor, Of extends Filters>({
  id,
  item,
  filters,
  cursor,
  example,
  list,
  ...rules
}: ListRules & {
  item: Item;
  filters: Of;
  cursor: z.ZodType<Cursor, string>;
  example: { item: Item["_zod"]["input"]; filters?: object };
  list(
    services: Services,
    actor: ApiKeyActor,
    question: { filters: ValuesOf<Of>; page: { cursor: Cursor | undefined; limit: number } },
  ): Promise<Page<Item["_zod"]["input"], Cursor>>;
}): Endpoint {
  const names = Object.keys(filters);
  const part = (of: "input" | "applied") =>
    Object.entries(filters).map(([name, filter]): [string, z.ZodType] => [name, filter[of]]);
  const shownAs = (name: string) => name.replace(".KEY", "");
  const shown = part("applied").map(([name, filter]) => [shownAs(name), filter] as const);
  const applied = z.object({ ...Object.fromEntries(shown), limit: z.int() });
  const input: z.ZodObject = z.object({
    ...Object.fromEntries(part("input")),
    limit,
    cursor: cursor.meta(CURSOR).optional(),
  });
  const answer: z.ZodType = z.object({
    data: z.array(item),
    nextCursor: z.string().nullable().meta({ description: "The cursor of the next page; null at the end" }),
    applied: applied.meta({ description: "The filters and the limit of the page" }),
  });
  const nothing = Object.fromEntries(names.map((name) => [shownAs(name), null]));
  return endpoint({
    ...rules,
    method: "GET",
    answers: "plain",
    limit: "lists",
    successDescription: "A page of the list",
    example: {
      response: {
        data: [example.item],
        nextCursor: null,
        applied: { ...nothing, ...example.filters, limit: 50 },
      },
    },
    input,
    answer: answer.meta({ id }),
    async run({ services, actor, input: given }: EndpointCall<ValuesOf<Of> & Paging<Cursor>>) {
      const { limit, cursor } = given;
      const values: Record<string, unknown> = given;
      const { items, nextCursor } = await list(services, actor, { filters: given, page: { cursor, limit } });
      const understood = Object.fromEntries(names.map((name) => [shownAs(name), values[name] ?? null]));
      return {
        data: items,
        nextCursor: nextCursor === null ? null : String(nextCursor),
        applied: { ...understood, limit },
      };
    },
  });
}

type Paging<Cursor> = { limit: number; cursor?: Cursor | undefined };

const limit = integerParameter("limit", {
  min: 1,
  max: 200,
  description: "The most items of the page; 50 by default",
}).default(50);

const CURSOR = { description: "nextCursor of the previous page" };

export const idCursor = idInput("cursor is not valid");

/** The cursor of a list whose items have numbers. */
export const numberCursor = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, "cursor is not valid")
  .transform(Number);
