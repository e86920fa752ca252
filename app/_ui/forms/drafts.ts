/** Names of drafts in the browser's storage. An organization's slug keeps them apart from another's. */
const PREFIX = "stepwell.draft.";

export function draftKey(organization: string, name: string): string {
  return `${PREFIX}${organization}.${name}`;
}

/** Deletes every draft, so that the next person at this browser does not see them. */
export function deleteDrafts(storage: Storage): void {
  for (const key of Object.keys(storage)) {
    if (key.startsWith(PREFIX)) storage.removeItem(key);
  }
}
