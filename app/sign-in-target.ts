const HOME = "/";

/** Stands for our own origin, which varies. No real host has it. */
const HERE = "http://stepwell.invalid";

/** The page after sign-in: `to` if it is a path of this site, else the start page. Never another host. */
export function targetAfterSignIn(to: string | null | undefined): string {
  // Parsed like the browser does, which ignores tabs and line breaks and treats `\` as `/`.
  if (!to || !URL.canParse(to, HERE)) return HOME;
  const { origin, pathname, search, hash } = new URL(to, HERE);
  // A path that begins with two slashes names a host.
  return origin === HERE && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : HOME;
}

/** The sign-in page that leads back to `target`, a path with its query. */
export function signInAddress(target: string | null): string {
  if (target === null || !URL.canParse(target, HERE)) return "/sign-in";
  const url = new URL(target, HERE);
  // Next adds this parameter when it fetches parts of a page.
  url.searchParams.delete("_rsc");
  const to = `${url.pathname}${url.search}`;
  return to === HOME ? "/sign-in" : `/sign-in?to=${encodeURIComponent(to)}`;
}
