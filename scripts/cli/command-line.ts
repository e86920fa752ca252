import { z } from "zod";
import { ApiError } from "@/client/src/errors";
import { describeOutage } from "@/server/base/db/outage";
import { prepareDatabase } from "@/server/base/db/prepare-database";
import { defineQuery } from "@/server/base/db/statement";
import { isAppError } from "@/server/base/errors";
import { CALL, IS_PACKAGE } from "@/server/base/settings/program";
import { checkSecretFingerprint } from "@/server/guard/secrets/fingerprint";
import { readAppUrl } from "@/server/operate/app-url";
import type { Services } from "@/server/services";
import { apiCommands } from "./api";
import { backupCommands } from "./backups";
import { type Command, type Terminal, UsageError } from "./command";
import { definitionCommands } from "./definitions";
import { doctorCommand } from "./doctor";
import { keyCommands } from "./keys";
import { migrateCommand } from "./migrate";
import { operatorCommands } from "./operators";
import { organizationCommands } from "./organizations";
import { toPrintable } from "./printable";
import { runCommands } from "./runs";
import { secretCommands } from "./secrets";
import { serviceSecretCommands } from "./service-secret";
import { userCommands } from "./users";

/** Standard output has results only. Exit codes: 0 done, 1 not done, 2 wrong usage (docs/command-line.md). */

const COMMANDS: readonly Command[] = [
  ...definitionCommands,
  ...organizationCommands,
  ...keyCommands,
  ...secretCommands,
  ...userCommands,
  ...operatorCommands,
  ...runCommands,
  ...apiCommands,
  ...serviceSecretCommands,
  migrateCommand,
  ...backupCommands,
  doctorCommand,
];

/** Runs one command line. `open` creates the services on demand. Returns the exit code. */
export async function runCommandLine(
  argv: readonly string[],
  given: Terminal,
  open: () => Services,
): Promise<number> {
  const terminal = { ...given, err: (text: string) => given.err(toPrintable(text)) };
  const [first, second] = argv;
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    const named = findCommand(argv.slice(1));
    terminal.out(named ? describeCommand(named.command) : describeAll());
    return first === undefined ? 2 : 0;
  }
  const found = findCommand(argv);
  if (!found) {
    terminal.err(describeUnknownCommand(first, second));
    terminal.err(`See ${CALL} help`);
    return 2;
  }
  const { command, rest } = found;
  if (rest.includes("--help") || rest.includes("-h")) {
    terminal.out(describeCommand(command));
    return 0;
  }
  try {
    const prepare = async () => {
      const opened = open();
      if (command.needs !== "nothing") await migrateEmptyDatabase(opened);
      if (command.needs === undefined) await checkSecretFingerprint(opened);
      return adoptAppUrl(opened);
    };
    const result = await command.start({ terminal, open: prepare }, rest);
    if (result === false) return 1;
    if (result !== "") terminal.out(toPrintable(result));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`${error.message}\n${describeCommand(command)}`);
      return 2;
    }
    terminal.err(describeFailure(error));
    return 1;
  }
}

const FIND_MIGRATIONS = defineQuery(
  "find-migrations",
  z.object({ known: z.boolean() }),
  "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS known",
);

/**
 * Only the service and `migrate` migrate an existing database: a newer command line must not do it under an older
 * running service unasked.
 */
async function migrateEmptyDatabase({ env, pool }: Pick<Services, "env" | "pool">): Promise<void> {
  const [migrations] = await FIND_MIGRATIONS(pool);
  if (!migrations?.known) await prepareDatabase(env.databaseUrl, ".");
}

async function adoptAppUrl(services: Services): Promise<Services> {
  const appUrl = await readAppUrl(services).catch(() => services.env.appUrl);
  return { ...services, env: { ...services.env, appUrl } };
}

function findCommand(argv: readonly string[]): { command: Command; rest: string[] } | null {
  for (const command of COMMANDS) {
    const words = command.name.split(" ");
    if (words.every((word, index) => argv[index] === word))
      return { command, rest: argv.slice(words.length) };
  }
  return null;
}

function describeAll(): string {
  const offered = IS_PACKAGE ? COMMANDS.filter((each) => !backupCommands.includes(each)) : COMMANDS;
  const lines = inColumns(offered.map((command) => [describeCall(command), command.summary]));
  return [`Usage: ${CALL} <command>`, "", ...lines, "", `${CALL} help <command> explains one.`].join("\n");
}

function describeCommand(command: Command): string {
  const { summary, choices = {}, options } = command;
  const lines = inColumns([
    ...Object.entries(choices).map(([parameter, values]) => [parameter, values.join(", ")] as const),
    ...Object.entries(options).map(
      ([name, { value = "", text }]) => [`--${name} ${value}`.trim(), text] as const,
    ),
  ]);
  const usage = `Usage: ${CALL} ${describeCall(command)}${lines.length > 0 ? " [options]" : ""}`;
  return [usage, summary, ...lines].join("\n");
}

function describeCall({ name, parameters = [] }: Command): string {
  return [name, ...parameters].join(" ");
}

function inColumns(rows: (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}

/** Of unexpected errors, returns only the first line. */
function describeFailure(error: unknown): string {
  if (isAppError(error)) {
    const issues = error.issues?.map(({ path, message }) =>
      `${path.slice(1).replaceAll("/", ".")} ${message}`.trim(),
    );
    return issues && issues.length > 0 ? issues.join("\n") : error.message;
  }
  if (error instanceof ApiError) {
    const issues = error.issues.map(({ path, message }) => `  ${path} ${message}`);
    return [`${error.message} (${error.code ?? error.status})`, ...issues].join("\n");
  }
  const outage = describeOutage(error);
  if (outage !== null) return outage.text;
  if (!(error instanceof Error)) return String(error);
  if (!error.name.startsWith("PrismaClient")) return error.message;
  // Prisma puts the reason last, after an excerpt of our source.
  const reason = error.message.trim().split("\n").at(-1) ?? "";
  return `The database rejected the statement: ${reason}`;
}

function describeUnknownCommand(first: string, second: string | undefined): string {
  const similar = COMMANDS.filter(({ name }) => name.split(" ")[0] === first).map(({ name }) => name);
  if (similar.length === 0) return `There is no command "${first}".`;
  const commands = `Commands: ${similar.join(", ")}.`;
  return second === undefined
    ? `"${first}" is incomplete. ${commands}`
    : `There is no command "${first} ${second}". ${commands}`;
}
