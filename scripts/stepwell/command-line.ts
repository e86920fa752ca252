import { describeDatabaseFault } from "@/server/db/faults";
import { isAppError } from "@/server/errors";
import { readAppUrl } from "@/server/operate/app-url";
import { checkSecretFingerprint } from "@/server/secrets/fingerprint";
import type { Services } from "@/server/services";
import { listAuditCommand } from "./audit";
import { type RunnableCommand, type Terminal, UsageError } from "./command";
import { balanceCommand, grantCommand, refundCommand } from "./credits";
import { apply, exportCommand } from "./definitions";
import { doctorCommand } from "./doctor";
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from "./keys";
import { listMembersCommand, memberRoleCommand, removeMemberCommand } from "./members";
import { listSecretsCommand, removeSecretCommand, setSecretCommand } from "./organization-secrets";
import {
  listOrganizationsCommand,
  removeOrganizationCommand,
  resumeCommand,
  suspendCommand,
} from "./organizations";
import { prepareDatabase } from "./prepare-database";
import { removeCommand } from "./remove";
import { cancelRunCommand, listRunsCommand, showRunCommand } from "./runs";
import { adoptSecretCommand, rotateSecretCommand } from "./service-secret";
import { createUserCommand, listUsersCommand, passwordCommand, removeUserCommand } from "./users";

/**
 * The operator's command line (docs/operating.md, "Command line"). It works on the same database with or without a
 * running service. Standard output has results only. Exit codes: 0 done, 1 not done, 2 wrong usage.
 */

const COMMANDS: readonly RunnableCommand[] = [
  apply,
  exportCommand,
  removeCommand,
  listOrganizationsCommand,
  suspendCommand,
  resumeCommand,
  removeOrganizationCommand,
  grantCommand,
  refundCommand,
  balanceCommand,
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  setSecretCommand,
  listSecretsCommand,
  removeSecretCommand,
  listUsersCommand,
  createUserCommand,
  passwordCommand,
  removeUserCommand,
  listMembersCommand,
  memberRoleCommand,
  removeMemberCommand,
  listRunsCommand,
  showRunCommand,
  cancelRunCommand,
  listAuditCommand,
  rotateSecretCommand,
  adoptSecretCommand,
  doctorCommand,
];

/** npm runs the command line in the project's folder. */
const MIGRATIONS = "prisma/migrations";
const CALL = "npm run -s stepwell --";

/** Runs one command line. `open` creates the services on demand. Returns the exit code. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
  open: () => Services,
): Promise<number> {
  const [first, second] = argv;
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    const named = findCommand(argv.slice(1));
    terminal.out(named ? describeCommand(named.command) : describeAll());
    return first === undefined ? 2 : 0;
  }
  const found = findCommand(argv);
  if (!found) {
    const kin = COMMANDS.filter(({ name }) => name.split(" ")[0] === first).map(({ name }) => name);
    const given = kin.length > 0 && second !== undefined ? `${first} ${second}` : first;
    terminal.err(
      kin.length > 0 && second === undefined
        ? `"${first}" is incomplete. Commands: ${kin.join(", ")}.`
        : `There is no command "${given}".${kin.length > 0 ? ` Commands: ${kin.join(", ")}.` : ""}`,
    );
    terminal.err(`See ${CALL} help`);
    return 2;
  }
  const { command, rest } = found;
  if (rest.includes("--help") || rest.includes("-h")) {
    terminal.out(describeCommand(command));
    return 0;
  }
  try {
    const opened = open();
    if (command.name !== doctorCommand.name) await prepareDatabase(opened, MIGRATIONS);
    if (!command.anySecret) await checkSecretFingerprint(opened);
    const services = await adoptAppUrl(opened);
    return (await command.start({ services, terminal }, rest)) === false ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`${error.message}\n${describeCommand(command)}`);
      return 2;
    }
    terminal.err(describeFailure(error));
    return 1;
  }
}

/** `doctor` examines a database that may not answer; it then keeps the default address. */
async function adoptAppUrl(services: Services): Promise<Services> {
  const appUrl = await readAppUrl(services).catch(() => services.env.appUrl);
  return { ...services, env: { ...services.env, appUrl } };
}

function findCommand(argv: readonly string[]): { command: RunnableCommand; rest: string[] } | null {
  for (const command of COMMANDS) {
    const words = command.name.split(" ");
    if (words.every((word, index) => argv[index] === word))
      return { command, rest: argv.slice(words.length) };
  }
  return null;
}

function describeAll(): string {
  const names = COMMANDS.map(({ name, parameters }) => `${name} ${parameters}`.trim());
  const width = Math.max(...names.map((name) => name.length));
  const lines = COMMANDS.map(({ summary }, index) => `  ${(names[index] ?? "").padEnd(width)}  ${summary}`);
  return [`Usage: ${CALL} <command>`, "", ...lines, "", `${CALL} help <command> explains one.`].join("\n");
}

function describeCommand({ name, parameters, summary, optionTexts = [] }: RunnableCommand): string {
  const width = Math.max(0, ...optionTexts.map(([option]) => option.length));
  const options = optionTexts.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`);
  const usage = `Usage: ${CALL} ${[name, parameters].filter((part) => part !== "").join(" ")}`;
  return [`${usage}${options.length > 0 ? " [options]" : ""}`, summary, ...options].join("\n");
}

/** Describes an error in a sentence: the message of expected errors, and of others only the first line. */
function describeFailure(error: unknown): string {
  if (isAppError(error)) {
    const issues = error.issues?.map(({ path, message }) =>
      `${path.slice(1).replaceAll("/", ".")} ${message}`.trim(),
    );
    return issues && issues.length > 0 ? issues.join("\n") : error.message;
  }
  const fault = describeDatabaseFault(error);
  if (fault !== null) return fault.text;
  if (!(error instanceof Error)) return String(error);
  if (!error.name.startsWith("PrismaClient")) return error.message;
  // Prisma puts the reason last, after an excerpt of our source.
  const reason = error.message.trim().split("\n").at(-1) ?? "";
  return `The database refused the statement: ${reason}`;
}
