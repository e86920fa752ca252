const STORED = "stepwell-invitation";

/**
 * The token of the opened link. It is stored for this tab, so that it survives the visit to the sign-in page. It is
 * removed from the address, so that it is neither shown nor shared.
 */
export function takeToken(): string | null {
  const inAddress = window.location.hash.slice(1);
  if (inAddress !== "") {
    sessionStorage.setItem(STORED, inAddress);
    window.history.replaceState(null, "", window.location.pathname);
  }
  return sessionStorage.getItem(STORED);
}

export function dropToken(): void {
  sessionStorage.removeItem(STORED);
}
