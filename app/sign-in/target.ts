/** Where one goes when nothing else was asked for. */
const HOME = "/runs";

/** Stands for our origin, which differs by the address that people use. No address of the world has it. */
const HERE = "http://stepwell.invalid";

/**
 * Where to go after signing in: what `to` names when it is a page of this very site, else the runs. A path with its
 * query, never an address of another host.
 */
export function targetAfterSignIn(to: string | null | undefined): string {
  // Parsed as the browser will, which leaves out tabs and line breaks and takes `\` for `/`.
  if (!to || !URL.canParse(to, HERE)) return HOME;
  const { origin, pathname, search, hash } = new URL(to, HERE);
  // A path that begins with two slashes names a host.
  return origin === HERE && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : HOME;
}

/** The sign-in page that leads back to `target`, a path with its query. */
export function signInAddress(target: string | null): string {
  if (target === null || !URL.canParse(target, HERE)) return "/sign-in";
  const url = new URL(target, HERE);
  // Next asks for the parts of a page under an address of their own.
  url.searchParams.delete("_rsc");
  const to = `${url.pathname}${url.search}`;
  return to === "/" || to === HOME ? "/sign-in" : `/sign-in?to=${encodeURIComponent(to)}`;
}
