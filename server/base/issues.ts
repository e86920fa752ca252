import { z } from "zod";
import { AppError, type Issue } from "@/server/base/errors";
import { jsonPointer } from "@/server/base/json/text";
import { nearestName } from "@/server/base/nearest-name";

/** A path in a document for messages: `organizations[0].agents[1].maxSteps`; empty for the whole document. */
export function formatPath(path: readonly (string | number)[]): string {
  const keys = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`));
  return keys.join("").replace(/^\./, "");
}

/** The same issues with paths from a document that has the invalid value at `prefix`. */
export function prefixIssues(prefix: readonly PropertyKey[], issues: readonly Issue[]): Issue[] {
  return issues.map(({ path, message }) => ({ path: jsonPointer(prefix) + path, message }));
}

/** The error for invalid input: the message has the first issue, `issues` all of them. */
export function rejection(issues: readonly Issue[]): AppError {
  const [first] = issues;
  const location = first && first.path !== "" ? `${first.path.slice(1).replaceAll("/", ".")} ` : "";
  return new AppError("invalid_request", first ? `${location}${first.message}` : "The input is not valid.", {
    issues: issues.map(({ path, message }) => ({ path, message })),
  });
}

/** Parses input; throws `invalid_request` with every issue and its path. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = parseOrIssues(schema, input);
  if ("issues" in parsed) throw rejection(parsed.issues);
  return parsed.data;
}

/** `findMeant` gives the known field that an unknown one misspells. */
type ParseIssue = Issue & { findMeant?: () => string | undefined };

/** Parses input: the data, or every issue with its path. */
export function parseOrIssues<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): { data: z.output<Schema> } | { issues: ParseIssue[] } {
  // An issue does not have its schema, but its message.
  const knownFields = new Map<string, readonly string[]>();
  const nameKnownFields = ({ code, inst }: z.core.$ZodRawIssue): string | undefined => {
    if (code !== "unrecognized_keys" || !(inst instanceof z.ZodObject)) return;
    const fields = Object.keys(inst.shape);
    const message = `is not known here; known fields: ${fields.join(", ")}`;
    knownFields.set(message, fields);
    return message;
  };
  const parsed = schema.safeParse(input, { error: nameKnownFields, reportInput: true });
  if (parsed.success) return { data: parsed.data };
  return { issues: parsed.error.issues.flatMap((issue) => toIssues(issue, knownFields.get(issue.message))) };
}

/** Messages continue a path: `maxSteps must be at most 12`. */
function toIssues(issue: z.core.$ZodIssue, knownFields: readonly string[] = []): ParseIssue[] {
  const path = jsonPointer(issue.path);
  const isMissing = issue.input === undefined;
  const at = (message: string): Issue[] => [{ path, message }];
  const orOwn = (zods: string, text: string) => (issue.message.startsWith(zods) ? text : issue.message);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: jsonPointer([...issue.path, key]),
        message: nestsSteps(key, issue.path) ? NO_NESTED_STEPS : issue.message,
        findMeant: () => nearestName(key, freeFields(issue.input, knownFields)),
      }));
    case "invalid_type":
      if (isMissing) return at("is required");
      return at(`must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`);
    case "invalid_value":
      if (isMissing) return at("is required");
      return at(`must be ${issue.values.map(String).join(" or ")}`);
    case "too_big":
      return at(orOwn("Too big", `must ${bound("at most", issue.maximum, issue.origin)}`));
    case "too_small":
      return at(orOwn("Too small", `must ${bound("at least", issue.minimum, issue.origin)}`));
    case "invalid_union":
      return at(isMissing ? "is required" : orOwn("Invalid", "has an unknown format"));
    case "invalid_format":
      return at(orOwn("Invalid", "has the wrong format"));
    default:
      return at(issue.message);
  }
}

const freeFields = (input: unknown, fields: readonly string[]) =>
  fields.filter((field) => !Object.hasOwn(Object(input), field));

const NO_NESTED_STEPS =
  "is not known here: groups and forEach take single steps. Put several steps in a tool and call it with run_tool";

function nestsSteps(key: string, path: readonly PropertyKey[]): boolean {
  const isStep = typeof path.at(-1) === "number" && (path.at(-2) === "steps" || path.at(-2) === "parallel");
  return isStep && (key === "parallel" || key === "steps");
}

const TYPE_NAMES: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a mapping",
  record: "a mapping",
  array: "a list",
};

function bound(word: string, limit: number | bigint, origin: string): string {
  const unit = { string: "character", array: "item" }[origin];
  return unit === undefined
    ? `be ${word} ${limit}`
    : `have ${word} ${limit} ${unit}${limit === 1 ? "" : "s"}`;
}
