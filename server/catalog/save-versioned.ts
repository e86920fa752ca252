import { actorReference } from "@/server/base/actor";
import type { Facts } from "@/server/base/audit";
import { newId } from "@/server/base/ids";
import type { RunKind } from "@/server/contract/enums";
import { type Author, type Change, type Saved, saveItem } from "./change";

export type SavedDefinition = { id: string; slug: string; version: number; saved: Saved };

type Versioned = {
  kind: RunKind;
  slug: string;
  found: { id: string; version: number; deletedAt: Date | null } | null;
  unversioned: { name: string } & Facts;
  before: Facts | null | undefined;
  content: Facts;
  replaces: Facts | undefined;
  note: string | undefined;
  save(row: { id: string; version: number; updatedAt: Date; deletedAt: null }): Promise<unknown>;
  addVersion(
    id: string,
    version: { number: number; note: string; createdBy: string; createdAt: Date },
  ): Promise<unknown>;
};

/** Saves an agent or tool. If its content has changed, it gets a new version. */
export async function saveVersioned(change: Change<Author>, item: Versioned): Promise<SavedDefinition> {
  const {
    kind,
    slug,
    found,
    unversioned,
    before = null,
    content,
    replaces,
    note = "",
    save,
    addVersion,
  } = item;
  const { actor, at } = change;
  const id = found?.id ?? newId();
  let version = found?.version ?? 0;
  const subject = { kind, id, name: unversioned.name };
  const compared = {
    subject,
    before,
    after: { ...unversioned, ...content },
    restores: found?.deletedAt != null,
    replaces,
  };
  const saved = await saveItem(change, compared, async (changed) => {
    const isNewVersion = [...changed].some((field) => !(field in unversioned));
    if (isNewVersion) version += 1;
    await save({ id, version, updatedAt: at, deletedAt: null });
    if (isNewVersion) {
      await addVersion(id, { number: version, note, createdBy: actorReference(actor), createdAt: at });
    }
  });
  return { id, slug, version, saved };
}
