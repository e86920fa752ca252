/**
 * The token of the opened one-time link. Keeps it for this tab and removes it from the address, so that it is
 * neither shown nor shared.
 */
export function takeToken(link: string): string | null {
  const stored = keyOf(link);
  const inAddress = window.location.hash.slice(1);
  if (inAddress !== "") {
    sessionStorage.setItem(stored, inAddress);
    window.history.replaceState(null, "", window.location.pathname);
  }
  return sessionStorage.getItem(stored);
}

export function dropToken(link: string): void {
  sessionStorage.removeItem(keyOf(link));
}

const keyOf = (link: string) => `stepwell-${link}`;
