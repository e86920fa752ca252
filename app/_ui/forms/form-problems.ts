import { describeError } from "@/app/_ui/data/query-client";

/**
 * Sorts the issues of a failed mutation to the fields of its form. A message continues the field's label ("Name"
 * "is required"), or begins with the list item. @param labels by JSON pointer @param sent what the mutation sent
 */
export function readProblems(
  error: unknown,
  labels: Record<string, string>,
  sent?: unknown,
): {
  /** At the field of a JSON pointer, or below it. */
  at: (path: string) => string | undefined;
  rest: string | null;
} {
  if (error === null) return { at: () => undefined, rest: null };
  const { message, issues } = describeError(error);
  const fieldOf = (path: string) =>
    Object.keys(labels).find((field) => path === field || path.startsWith(`${field}/`));
  const rest = issues.filter(({ path }) => fieldOf(path) === undefined);
  return {
    at(field) {
      const own = issues.filter(({ path }) => fieldOf(path) === field);
      const issue = own.find(({ path }) => path !== field) ?? own[0];
      return issue && `${itemAt(sent, issue.path) ?? labels[field] ?? ""} ${issue.message}.`;
    },
    rest:
      issues.length === 0
        ? message
        : rest.map((issue) => `${issue.path.slice(1)} ${issue.message}.`.trim()).join(" ") || null,
  };
}

/** All problems in one text. */
export function listProblems(error: unknown, labels: Record<string, string>): string {
  const { at, rest } = readProblems(error, labels);
  return [...Object.keys(labels).map(at), rest].filter(Boolean).join(" ");
}

export type FormProblems = ReturnType<typeof readProblems>;

/** `path`: such as `/hosts/1`. Undefined if there is no list of texts. */
function itemAt(sent: unknown, path: string): string | undefined {
  const [, field = "", index = ""] = path.split("/");
  const list: unknown = typeof sent === "object" && sent !== null ? Reflect.get(sent, field) : undefined;
  const item: unknown = Array.isArray(list) && index !== "" ? list[Number(index)] : undefined;
  return typeof item === "string" ? item : undefined;
}
