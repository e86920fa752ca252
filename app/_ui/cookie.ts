/** Keeps a choice where the server sees it with the next request; null forgets it. */
export function rememberInCookie(name: string, value: string | null): void {
  const rest = value === null ? "; max-age=0" : `${encodeURIComponent(value)}; max-age=31536000`;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
  document.cookie = `${name}=${rest}; path=/; samesite=lax`;
}
