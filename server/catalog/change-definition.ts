import type { z } from "zod";
import type { ApiKeyActor } from "@/server/base/actor";
import type { Transaction } from "@/server/base/db/client";
import { AppError, type Issue } from "@/server/base/errors";
import { parseOrIssues, rejection } from "@/server/base/issues";
import { isJsonObject } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import type { Services } from "@/server/catalog/services";
import { type Author, type CatalogServices, type Change, changeCatalog, type SaveOptions } from "./change";
import { type Declared, requireOwn } from "./require-own";

/** Changes of definitions by API key. Each is one transaction. A limited key changes only what is its own. */

type Found = { id: string; slug: string; name: string; deletedAt: Date | null };

/** `generateSecret`: of a new trigger. */
type PutOptions = SaveOptions & Pick<Services, "env"> & { generateSecret?: boolean | undefined };

type Kind<Definition, Saved, View> = {
  called: string;
  schema: z.ZodType<Definition>;
  /** Fields that differ if they are null or missing. */
  nullable?: readonly string[];
  declared(definition: Definition): Declared;
  findIssuesOfInvalid?(value: object, change: Change<Author>): Promise<readonly Issue[]>;
  put(change: Change<Author>, definition: Definition, options: PutOptions): Promise<Saved>;
  read(db: Transaction, key: ApiKeyActor, id: string): Promise<View>;
  find(tx: Transaction, key: ApiKeyActor, id: string): Promise<Found | null>;
  archive(change: Change<Author>, found: Found): Promise<void>;
};

/** Throws unless the caller expects the stored state. */
type Precondition<View> = ((current: View) => void) | undefined;

const MAX_MEMBERS = 5_000;

type KeyServices = CatalogServices & Pick<Services, "env">;

// Each invalid member is an issue of its own, and very many would occupy the process for seconds.
function requireFewMembers(value: object): void {
  const fields: [path: string, members: unknown][] = Object.entries(value).map(([field, members]) => [
    jsonPointer([field]),
    members,
  ]);
  const large = [["", value] as const, ...fields].find(
    ([, members]) => isJsonObject(members) && Object.keys(members).length > MAX_MEMBERS,
  );
  if (large) throw rejection([{ path: large[0], message: `must have at most ${MAX_MEMBERS} members` }]);
}

/** The changes of one kind of definition. They throw `forbidden`, and `invalid_request` with every issue. */
export function definitionChanges<
  Definition,
  Saved extends { id: string },
  View extends { definition: Record<string, unknown> },
>(kind: Kind<Definition, Saved, View>) {
  const { schema, called } = kind;

  async function check(change: Change<Author>, value: object): Promise<Definition> {
    requireFewMembers(value);
    const parsed = parseOrIssues(schema, value);
    if ("issues" in parsed) {
      const others = (await kind.findIssuesOfInvalid?.(value, change)) ?? [];
      throw rejection([...parsed.issues, ...others].slice(0, MAX_ISSUES));
    }
    await requireOwn(change, kind.declared(parsed.data));
    return parsed.data;
  }

  return {
    // Creates a definition whose slug is free, or restores an archived one.
    create(
      services: KeyServices,
      key: ApiKeyActor,
      { definition, ...options }: { definition: object } & Pick<PutOptions, "note" | "generateSecret">,
    ): Promise<Saved & { view: View }> {
      return changeCatalog(services, { actor: key, role: "member" }, async (change) => {
        const checked = await check(change, definition);
        const saved = await kind.put(change, checked, { ...options, env: services.env, only: "create" });
        return { ...saved, view: await kind.read(change.tx, key, saved.id) };
      });
    },

    // Replaces fields; null gives a field its default value. Throws `not_found` and what `precondition` throws.
    update(
      services: KeyServices,
      key: ApiKeyActor,
      {
        id,
        fields,
        note,
        precondition,
      }: { id: string; fields: object; note?: string | undefined; precondition: Precondition<View> },
    ): Promise<View> {
      return changeCatalog(services, { actor: key, role: "member" }, async (change) => {
        const current = await kind.read(change.tx, key, id);
        precondition?.(current);
        const checked = await check(change, replaceFields(current.definition, fields, kind.nullable));
        await kind.put(change, checked, { env: services.env, only: "update", id, note });
        return kind.read(change.tx, key, id);
      });
    },

    // Archives a definition, which may be archived already. Throws `not_found` and what `precondition` throws.
    archive(
      services: KeyServices,
      key: ApiKeyActor,
      { id, precondition }: { id: string; precondition: Precondition<View> },
    ): Promise<{ id: string; archivedAt: Date }> {
      return changeCatalog(services, { actor: key, role: "member" }, async (change) => {
        const found = await kind.find(change.tx, key, id);
        if (found === null) throw new AppError("not_found", `${called} not found.`);
        if (found.deletedAt !== null) return { id, archivedAt: found.deletedAt };
        if (precondition) precondition(await kind.read(change.tx, key, id));
        await kind.archive(change, found);
        return { id, archivedAt: change.at };
      });
    },
  };
}

const MAX_ISSUES = 100;

function replaceFields(
  definition: Record<string, unknown>,
  fields: object,
  nullable: readonly string[] = [],
): object {
  const replaced = Object.entries({ ...definition, ...fields });
  return Object.fromEntries(replaced.filter(([name, value]) => value !== null || nullable.includes(name)));
}
