/** Why the database cannot be used, in a sentence with the way out. */
export type DatabaseFault = {
  text: string;
  /** Whether waiting can help: nothing listens yet, in contrast to a wrong password. */
  passing: boolean;
};

const UNREACHABLE = ["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT"];

/** The common reasons why a database cannot be used; null for any other error. */
export function describeDatabaseFault(error: unknown): DatabaseFault | null {
  const { codes, matches } = readChain(error);
  if (
    UNREACHABLE.some((code) => codes.has(code)) ||
    matches(/ECONNREFUSED|ENOTFOUND|ETIMEDOUT|Can't reach/)
  ) {
    return {
      text: "The database does not answer. Is DATABASE_URL right, and is PostgreSQL running?",
      passing: true,
    };
  }
  if (codes.has("28P01") || codes.has("28000") || matches(/password authentication failed/)) {
    return { text: "The database refuses the user or password of DATABASE_URL.", passing: false };
  }
  if (codes.has("3D000") || matches(/database .* does not exist/)) {
    return {
      text: "The database named by DATABASE_URL does not exist. Create it first.",
      passing: false,
    };
  }
  if (
    codes.has("42P01") ||
    codes.has("P2021") ||
    matches(/relation .* does not exist|table .* does not exist/)
  ) {
    return {
      text: "The database has no tables yet. Start the service once: it migrates.",
      passing: false,
    };
  }
  return null;
}

/** The codes and messages of an error and its causes. */
function readChain(error: unknown) {
  const codes = new Set<string>();
  const texts: string[] = [];
  for (let fault: unknown = error, depth = 0; fault instanceof Error && depth < 6; depth += 1) {
    if ("code" in fault && typeof fault.code === "string") codes.add(fault.code);
    texts.push(fault.message);
    fault = fault instanceof AggregateError ? fault.errors[0] : fault.cause;
  }
  return { codes, matches: (pattern: RegExp) => texts.some((text) => pattern.test(text)) };
}
