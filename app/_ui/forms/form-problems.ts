import { describeError } from "@/app/_ui/data/query-client";

/** What a form shows of a failed mutation. */
export type FormProblems = {
  /** The error at the field of a JSON pointer, or below it. */
  at: (path: string) => string | undefined;
  /** What belongs to none of the fields. */
  rest: string | null;
};

const NONE: FormProblems = { at: () => undefined, rest: null };

/**
 * Sorts the issues of an error to the fields of a form: `labels` has the label of each field by its JSON pointer.
 * An issue's message continues its label: "Name" and "is required".
 * @param lists the items that were sent, by field: the message about an item begins with the item
 */
export function readProblems(
  error: unknown,
  labels: Record<string, string>,
  lists: Record<string, readonly string[]> = {},
): FormProblems {
  if (error === null || error === undefined) return NONE;
  const { message, issues } = describeError(error);
  const fieldOf = (path: string) =>
    Object.keys(labels).find((field) => path === field || path.startsWith(`${field}/`));
  const rest = issues.filter(({ path }) => fieldOf(path) === undefined);
  return {
    at(field) {
      const own = issues.filter(({ path }) => fieldOf(path) === field);
      const issue = own.find(({ path }) => path !== field) ?? own[0];
      const item = issue && lists[field]?.[Number(issue.path.slice(field.length + 1))];
      return issue && `${item ?? labels[field] ?? ""} ${issue.message}.`;
    },
    rest:
      issues.length === 0
        ? message
        : rest.map((issue) => `${issue.path.slice(1)} ${issue.message}.`.trim()).join(" ") || null,
  };
}
