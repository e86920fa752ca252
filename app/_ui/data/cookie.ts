/** Stores a choice in a cookie that the server reads with the next request; null removes it. */
export function rememberInCookie(name: string, value: string | null): void {
  const rest = value === null ? "; max-age=0" : `${encodeURIComponent(value)}; max-age=31536000`;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
  document.cookie = `${name}=${rest}; path=/; samesite=lax`;
}
