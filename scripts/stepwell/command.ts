import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Services } from "@/server/services";

/** A command's output: standard output for results, standard error for everything else. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  /** Asks for a password: without echo on a terminal, else the first line of standard input. */
  readPassword(prompt: string): Promise<string>;
  /** Asks for a secret: without echo on a terminal, else all of standard input but its last line break. */
  readSecret(prompt: string): Promise<string>;
  /** Asks for a line: on a terminal after the prompt, else the first line of standard input. */
  readLine(prompt: string): Promise<string>;
};

type Options = NonNullable<ParseArgsConfig["options"]>;

export type Command<Declared extends Options = Options> = {
  /** `credits grant` */
  name: string;
  /** The arguments after the name: `ORG AMOUNT`. The last may be optional: `[ORG]`. */
  parameters: string;
  summary: string;
  /** One line per option: `["--json", "one JSON object"]`. */
  optionTexts?: [string, string][];
  options: Declared;
  /** Works even if STEPWELL_SECRET is not the database's. */
  anySecret?: boolean;
  run(
    context: { services: Services; terminal: Terminal },
    given: ReturnType<typeof parseGiven<Declared>>,
  ): Promise<boolean | undefined>;
};

/** Wrong usage. The message is followed by the command's usage, and the exit code is 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** An error described in one sentence, without a stack. The exit code is 1. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** Declares a command with inferred types of its options. `run` returns false for the exit code 1. */
export function defineCommand<Declared extends Options>(command: Command<Declared>): RunnableCommand {
  return {
    ...command,
    start: (context, argv) => command.run(context, parseGiven(command, argv)),
  };
}

export type RunnableCommand = Pick<
  Command,
  "name" | "parameters" | "summary" | "optionTexts" | "anySecret"
> & {
  start(context: { services: Services; terminal: Terminal }, argv: string[]): Promise<boolean | undefined>;
};

function parseGiven<Declared extends Options>(
  command: Pick<Command<Declared>, "options" | "parameters">,
  argv: string[],
) {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: command.options,
      allowPositionals: true,
      strict: true,
    });
    const parameters = command.parameters.split(" ").filter((parameter) => parameter !== "");
    const missing = parameters[positionals.length];
    if (missing !== undefined && !missing.startsWith("[")) throw new UsageError(`${missing} is missing.`);
    const surplus = positionals[parameters.length];
    if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}".`);
    return { values, positionals };
  } catch (error) {
    if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
      throw new UsageError(`${error.message.split(". ")[0]}.`, { cause: error });
    }
    throw error;
  }
}

/** The argument at an index that `parameters` guarantees. */
export function argument(positionals: readonly string[], index: number): string {
  const value = positionals[index];
  if (value === undefined) throw new UsageError("An argument is missing.");
  return value;
}

const MAX_ROWS = 1_000;

/** The number of rows in `--limit`; throws UsageError. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${MAX_ROWS}.`);
}

/** Options of commands that cannot be undone; see `confirm`. */
export const CONFIRM_TEXTS: [string, string][] = [["--yes", "do not ask for confirmation"]];
export const CONFIRM_OPTIONS = { yes: { type: "boolean", default: false } } as const;

/** Asks the person to type `word`, unless `--yes` was given; throws CommandError for another word. */
export async function confirm(
  terminal: Terminal,
  yes: boolean,
  { what, word }: { what: string; word: string },
): Promise<void> {
  if (yes) return;
  const typed = await terminal.readLine(`${what}\nType ${word} to confirm: `);
  if (typed.trim() !== word) throw new CommandError("Not confirmed; nothing has changed.");
}

const DAY_MS = 24 * 3600 * 1000;

/** What `--expires` says: days such as `90d` from now, or the time as it was given. */
export function readExpiry(text: string | undefined, now: Date): string | null {
  if (text === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  return days === undefined ? text : new Date(now.getTime() + Number(days) * DAY_MS).toISOString();
}

/** Formats rows in columns, two spaces apart; columns named in `right` are right-aligned. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => [...(line[column] ?? "")].length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const blank = " ".repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length));
          return right.includes(headings[column] ?? "") ? blank + cell : cell + blank;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The items of a list with commas. */
export function splitList(list = ""): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
