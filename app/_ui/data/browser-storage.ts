import type { ChoiceCookie } from "@/server/catalog/auth/own-cookies";

/** Stores a choice in a cookie that the server reads with the next request; null removes it. */
export function rememberInCookie(name: ChoiceCookie, value: string | null): void {
  const rest = value === null ? "; max-age=0" : `${encodeURIComponent(value)}; max-age=31536000`;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
  document.cookie = `${name}=${rest}; path=/; samesite=lax`;
}

/** An organization's slug and a person's id follow, to separate drafts by both. */
const PREFIX = "stepwell.draft.";

export function draftKey({ slug, userId }: { slug: string; userId: string }, name: string): string {
  return `${PREFIX}${slug}.${userId}.${name}`;
}

/** Deletes every draft, so that the next person at this browser does not see them. */
export function deleteDrafts(): void {
  for (const storage of [localStorage, sessionStorage])
    for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key);
}
