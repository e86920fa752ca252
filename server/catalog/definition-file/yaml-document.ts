import { z } from "zod";
import { formatPath } from "@/server/base/issues";
import { EXACT_MARK, MAY_BE_EXACT, unmarkExact } from "@/server/base/json/exact-number";
import { type Json, readJson } from "@/server/base/json/json";
import { formatLimit, MIB } from "@/server/contract/sizes";
import { resolveInstalled, ThreadPool } from "@/server/guard/sandbox/thread-pool";
import { YAML_THREAD } from "./yaml-thread";

/** A YAML text as JSON, with the line of each value. */
export type YamlDocument = {
  value: Json;
  /** A JSON path with its line: `organizations[0].agents[1].maxSteps (line 12)`. */
  locate(path: Path): string;
  /** From 1; the line of the nearest parent if the value is missing. Null for the whole document. */
  lineAt(path: Path): number | null;
};

type Path = readonly (string | number)[];

/** Lines and columns count from 1. */
type YamlIssue = { line: number | null; column: number | null; message: string };

export const MAX_FILE_BYTES = 4 * MIB;
export const MAX_FILE_DEPTH = 100;

type LineTree = number | null | [number | null, LineTree[] | Record<string, LineTree>];
const lineTree: z.ZodType<LineTree> = z.custom<LineTree>();

const yamlIssue: z.ZodType<YamlIssue> = z.object({
  line: z.number().nullable(),
  column: z.number().nullable(),
  message: z.string(),
});

// Reading takes up to a second, and hostile texts take long.
const pool = new ThreadPool({
  source: YAML_THREAD,
  workerData: () => ({
    yaml: resolveInstalled("yaml"),
    mark: EXACT_MARK,
    mayBeExact: MAY_BE_EXACT,
    maxDepth: MAX_FILE_DEPTH,
    maxAliases: 100,
    maxIssues: 5,
    valueWeight: VALUE_WEIGHT,
  }),
  memoryMb: 512,
  value: z.union([
    z.object({ value: z.string(), lines: z.string() }),
    z.object({ issues: z.array(yamlIssue) }),
  ]),
});

// Checking a value takes as long as checking this many characters.
const VALUE_WEIGHT = 16;

export type YamlLimits = {
  /** The most words, marks and comments. */
  parts: number;
  /** The most characters once aliases are expanded; each value counts as 16 more. */
  weight: number;
  timeoutMs: number;
};
const FILE_LIMITS: YamlLimits = {
  parts: Number.POSITIVE_INFINITY,
  weight: 4 * MAX_FILE_BYTES,
  timeoutMs: 120_000,
};

/**
 * Reads one YAML 1.2 document from an untrusted text, in a thread. Size, depth and aliases are limited. Tags,
 * numbers that JSON cannot hold, and those that mean a text are issues. `<<` merges maps, and keys of the document
 * that begin with `x-` are left out.
 */
export async function readYaml(
  source: string,
  organizationId: string,
  { timeoutMs, ...limits }: YamlLimits = FILE_LIMITS,
): Promise<YamlDocument | { issues: YamlIssue[] }> {
  if (Buffer.byteLength(source) > MAX_FILE_BYTES)
    return issue(`The file has more than ${formatLimit(MAX_FILE_BYTES)}.`);
  const answer = await pool.ask({ source, ...limits }, { timeoutMs, organizationId });
  if ("exceeded" in answer) return issue(`The text cannot be read ${answer.limit}.`);
  if ("issue" in answer) return issue(`The text cannot be read: ${answer.issue}.`);
  if ("issues" in answer.value) return answer.value;
  const { lines } = answer.value;
  const value = readJson(unmarkExact(answer.value.value));
  let tree: LineTree | undefined;
  const lineAt = (path: Path) => {
    // Most documents have no issues to locate.
    tree ??= lineTree.parse(JSON.parse(lines));
    return nearestLine(tree, path);
  };
  const locate = (path: Path) => {
    const line = lineAt(path);
    return `${formatPath(path) || "the file"}${line === null ? "" : ` (line ${line})`}`;
  };
  return { value, locate, lineAt };
}

const issue = (message: string) => ({ issues: [{ line: null, column: null, message }] });

// A missing key is reported at its parent.
function nearestLine(tree: LineTree, path: Path): number | null {
  let nearest: number | null = null;
  let at: LineTree | undefined = tree;
  for (const key of [...path, null]) {
    if (at === undefined || at === null) break;
    const [line, members]: [number | null, LineTree[] | Record<string, LineTree>] = Array.isArray(at)
      ? at
      : [at, []];
    nearest = line ?? nearest;
    const known: LineTree | undefined =
      key !== null && Object.hasOwn(members, key) ? Reflect.get(members, key) : undefined;
    at = known;
  }
  return nearest;
}
