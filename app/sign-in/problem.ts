/** Why signing in did not work, as it stands in the address after a form was sent without scripts. */
export type SignInProblem = "wrong" | "long" | "busy" | "address" | "failed";

const SENTENCES: Record<SignInProblem, string> = {
  wrong: "Wrong email or password.",
  long: "The email or password is too long. Check what you pasted.",
  busy: "Too many attempts. Wait up to ten minutes, then try again.",
  address: "This page was opened at an address other than APP_URL. Open it there.",
  failed: "Sign-in failed on the server. The cause is in its log.",
};

/** The problem behind a refused try's HTTP status. */
export function problemOfStatus(status: number): SignInProblem {
  if (status === 400 || status === 401) return "wrong";
  if (status === 403) return "address";
  if (status === 413) return "long";
  return status === 429 ? "busy" : "failed";
}

/** What to tell of a problem; null when the word is none of ours. */
export function sentenceOf(problem: string | undefined): string | null {
  return Object.entries(SENTENCES).find(([word]) => word === problem)?.[1] ?? null;
}
