/**
 * The token of the opened one-time link. It is stored for this tab, so that it survives a visit to another page. It is
 * removed from the address, so that it is neither shown nor shared.
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
