/** Where to go after signing in: the `to` of the page's query when it is a page of this very origin, else the runs. */
export function targetAfterSignIn(search: string, origin: string): string {
  const to = new URLSearchParams(search).get("to");
  // Parsed as the browser will, which leaves out tabs and line breaks and takes `\` for `/`.
  if (to === null || !URL.canParse(to, origin)) return "/runs";
  const url = new URL(to, origin);
  // Whole: a path alone could begin with two slashes, which names a host.
  return url.origin === origin ? url.href : "/runs";
}
