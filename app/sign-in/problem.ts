/** The reason why the sign-in failed, as in the URL after a submit without JavaScript. */
export type SignInProblem = "wrong" | "long" | "busy" | "address" | "failed";

const SENTENCES: Record<SignInProblem, string> = {
  wrong: "Wrong email or password.",
  long: "The email or password is too long. Check what you pasted.",
  busy: "Too many attempts. Wait a minute, then try again.",
  address: "This page was opened at an address other than APP_URL. Open it there.",
  failed: "Sign-in failed on the server. The cause is in its log.",
};

export function problemOfStatus(status: number): SignInProblem {
  if (status === 400 || status === 401) return "wrong";
  if (status === 403) return "address";
  if (status === 413) return "long";
  return status === 429 ? "busy" : "failed";
}

/** The message for a problem; null if it is unknown. */
export function sentenceOf(problem: string | undefined): string | null {
  return Object.entries(SENTENCES).find(([word]) => word === problem)?.[1] ?? null;
}
