import { causesOf } from "@/server/errors";
import { codeOf } from "./outage";

/** Why the database cannot be used, in a sentence with the way out. */
type DatabaseFault = {
  text: string;
  /** Whether waiting can help: nothing listens yet, in contrast to a wrong password. */
  passing: boolean;
};

/** The common reasons, by codes of PostgreSQL, Prisma or the network, or by messages. */
const FAULTS: (DatabaseFault & { codes: string[]; messages: RegExp })[] = [
  {
    codes: ["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT"],
    messages: /ECONNREFUSED|ENOTFOUND|ETIMEDOUT|Can't reach/,
    text: "The database does not answer. Is DATABASE_URL right, and is PostgreSQL running?",
    passing: true,
  },
  {
    codes: ["28P01", "28000"],
    messages: /password authentication failed/,
    text: "The database refuses the user or password of DATABASE_URL.",
    passing: false,
  },
  {
    codes: ["3D000"],
    messages: /database .* does not exist/,
    text: "The database named by DATABASE_URL does not exist. Create it first.",
    passing: false,
  },
  {
    codes: ["42P01", "P2021"],
    messages: /(relation|table) .* does not exist/,
    text: "The database has no tables yet. Start the service once: it migrates.",
    passing: false,
  },
];

/** The common reasons why a database cannot be used; null for any other error. */
export function describeDatabaseFault(error: unknown): DatabaseFault | null {
  const causes = causesOf(error);
  const found = FAULTS.find(({ codes, messages }) =>
    causes.some((cause) => codes.includes(codeOf(cause)) || messages.test(cause.message)),
  );
  return found ?? null;
}
