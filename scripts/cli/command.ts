import { type ParseArgsConfig, parseArgs } from "node:util";
import type { OperatorActor } from "@/server/base/actor";
import { DAY_MS } from "@/server/base/clock";
import { codeOf } from "@/server/base/errors";
import { operatorOf } from "@/server/catalog/organization/organizations";
import type { Services } from "@/server/services";
import { toPrintableLine } from "./printable";

/** A command's output: standard output for results, standard error for everything else. */
export type Terminal = {
  /** Unchanged, for files and programs. A text for people is the command's result. */
  out(text: string): void;
  err(text: string): void;
  /** Without echo on a terminal, else the first line of standard input. */
  readPassword(prompt: string): Promise<string>;
  /** Without echo on a terminal, else all of standard input but its last line break. */
  readSecret(prompt: string): Promise<string>;
  /** After the prompt on a terminal, else the first line of standard input. */
  readLine(prompt: string): Promise<string>;
  /** All of standard input, without a prompt. */
  readInput(): Promise<Uint8Array>;
  /** Aborted once nobody reads standard output any more, such as after `| head`. */
  closed: AbortSignal;
  caller: Caller;
};

/** From the caller's environment. Files are relative to `folder`; `url` and `key` are of a service. */
export type Caller = { folder: string; url?: string | undefined; key?: string | undefined };

/** Wrong usage. The message is followed by the command's usage, and the exit code is 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

type Option = NonNullable<ParseArgsConfig["options"]>[string] & { value?: string; text: string };
type Options = Record<string, Option>;
type Parameters = readonly string[];
type Arguments<Names extends Parameters> = {
  readonly [Index in keyof Names]: Names[Index] extends `[${string}` ? string | undefined : string;
};

/** An option with a value, such as `--note TEXT`. */
export const option = (value: string, text: string) => ({ type: "string", value, text }) as const;
/** An option without a value, such as `--json`. */
export const flag = (text: string) => ({ type: "boolean", default: false, text }) as const;

type Usage<Names extends Parameters, Declared extends Options> = {
  name: string;
  /** `["ORG", "AMOUNT"]`; those in brackets, at the end, are optional. Of one with `…`, there may be many. */
  parameters?: Names;
  summary: string;
  choices?: Record<string, readonly string[]>;
  options: Declared;
  /** Must be in order before the command runs; default: the database and its secret. */
  needs?: "database" | "nothing";
};

type Opening = { terminal: Terminal; open(): Promise<Services> };
type Context = { services: Services; terminal: Terminal };
/** A text for people, whose control characters are escaped; false if the command did not do its task. */
type Result = Promise<string | false>;
type Run<Given, Names extends Parameters, Declared extends Options> = (
  context: Given,
  args: Arguments<Names>,
  options: ReturnType<typeof parse<Declared>>["values"],
) => Result;

export type Command = Usage<Parameters, Options> & { start(opening: Opening, argv: string[]): Result };

/** Declares a command; the types of its arguments and options are inferred. */
export function declareCommand<const Names extends Parameters, Declared extends Options>({
  run,
  ...usage
}: Usage<Names, Declared> & { run: Run<Context, Names, Declared> }): Command {
  return {
    ...usage,
    async start({ terminal, open }, argv) {
      const { values, positionals } = parse(argv, usage.options);
      checkCount(usage.parameters, positionals);
      return run({ services: await open(), terminal }, positionals, values);
    },
  };
}

/** Declares a command that needs no services of its own. */
export function declareRemoteCommand<const Names extends Parameters, Declared extends Options>({
  run,
  ...usage
}: Usage<Names, Declared> & { run: Run<Pick<Context, "terminal">, Names, Declared> }): Command {
  return {
    ...usage,
    async start({ terminal }, argv) {
      const { values, positionals } = parse(argv, usage.options);
      checkCount(usage.parameters, positionals);
      return run({ terminal }, positionals, values);
    },
  };
}

export type OrganizationContext = Context & { slug: string; actor: OperatorActor };

/** Declares a command on one organization, whose first argument is ORG. */
export function declareOrganizationCommand<const Names extends Parameters, Declared extends Options>({
  run,
  ...usage
}: Usage<Names, Declared> & { run: Run<OrganizationContext, Names, Declared> }): Command {
  return {
    ...usage,
    parameters: ["ORG", ...(usage.parameters ?? [])],
    async start({ terminal, open }, argv) {
      const { values, positionals } = parse(argv, usage.options);
      const [slug, ...args] = positionals;
      if (slug === undefined) throw new UsageError("ORG is missing.");
      checkCount(usage.parameters, args);
      const services = await open();
      const actor = await operatorOf(services, slug);
      return run({ services, terminal, slug, actor }, args, values);
    },
  };
}

function parse<Declared extends Options>(args: string[], options: Declared) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError && codeOf(error).startsWith("ERR_PARSE_ARGS")) {
      throw new UsageError(`${error.message.split(". ")[0]}.`, { cause: error });
    }
    throw error;
  }
}

function checkCount<Names extends Parameters>(
  names: Names | undefined,
  args: string[],
): asserts args is string[] & Arguments<Names> {
  const missing = names?.[args.length];
  if (missing !== undefined && !missing.startsWith("[")) throw new UsageError(`${missing} is missing.`);
  if (names?.at(-1)?.includes("…")) return;
  const surplus = args[names?.length ?? 0];
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}".`);
}

/** The one of `known` that is `text`; throws UsageError, with `what` such as "role". */
export function choose<Choice extends string>(known: readonly Choice[], text: string, what: string): Choice {
  const found = known.find((each) => each.toLowerCase() === text.toLowerCase());
  if (found === undefined)
    throw new UsageError(`"${text}" is not a ${what}. Use one of ${known.join(", ")}.`);
  return found;
}

const MAX_ROWS = 1_000;

/** For commands that list the newest rows; see `readLimit`. */
export const LIMIT = { limit: option("N", "default 20") };

/** The number of rows in `--limit`; throws UsageError. */
export function readLimit(text = "20"): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit;
  throw new UsageError(`--limit must be a whole number from 1 to ${MAX_ROWS}.`);
}

/** For commands that cannot be undone; see `confirm`. */
export const YES = { yes: flag("do not ask for confirmation") };

/** Asks the person to type `word`, unless `--yes` was given; throws for another word. */
export async function confirm(
  terminal: Terminal,
  yes: boolean,
  { what, word }: { what: string; word: string },
): Promise<void> {
  if (yes) return;
  const typed = await terminal.readLine(`${what}\nType ${word} to confirm: `);
  if (typed.trim() !== word) throw new Error("Not confirmed; nothing has changed.");
}

/** The value of `--expires`: days such as `90d` from now, null for `never`, or the time as it was given. */
export function readExpiry(text: string | undefined, now: Date): string | null | undefined {
  if (text === undefined) return undefined;
  if (text === "never") return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  return days === undefined ? text : new Date(now.getTime() + Number(days) * DAY_MS).toISOString();
}

export function splitList(list = ""): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** A text without its last line break, which the terminal adds; earlier ones may belong to a value. */
export const withoutLastBreak = (text: string): string => text.replace(/\n$/, "");

type Cell = string | Date | { toFixed(): string };

/** Formats rows in columns by heading, two spaces apart; columns of numbers are right-aligned. */
export function renderTable<Row>(rows: readonly Row[], cells: Record<string, (row: Row) => Cell>): string {
  const columns = Object.entries(cells).map(([heading, read]) => {
    const found = rows.map(read);
    const texts = [heading, ...found.map(renderCell)];
    const width = Math.max(...texts.map(lengthOf));
    const isRight = found.some((cell) => typeof cell !== "string" && !(cell instanceof Date));
    return texts.map((text) => {
      const blank = " ".repeat(width - lengthOf(text));
      return isRight ? blank + text : text + blank;
    });
  });
  const lines = ["", ...rows].map((_, line) => columns.map((column) => column[line]).join("  "));
  return lines.map((line) => line.trimEnd()).join("\n");
}

function renderCell(cell: Cell): string {
  if (typeof cell === "string") return toPrintableLine(cell);
  return cell instanceof Date ? cell.toISOString() : cell.toFixed();
}

/** In characters, of which some are two units long. */
const lengthOf = (text: string) => [...text].length;
