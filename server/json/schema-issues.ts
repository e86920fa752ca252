import { z } from "zod";
import type { Issue } from "@/server/errors";
import { jsonPointer } from "./text";

const MAX_ISSUES = 20;
/** The most Ajv errors that are examined: several may mean the same. */
export const MAX_ERRORS = 200;

/** The part of an Ajv error that is used here. */
export const schemaError = z.object({
  keyword: z.string(),
  instancePath: z.string(),
  params: z.record(z.string(), z.unknown()),
  message: z.string().optional(),
});
type SchemaError = z.infer<typeof schemaError>;

/** A fault in plain words, with its path. */
function toIssue(error: SchemaError): Issue {
  const at = error.instancePath;
  const named = (name: unknown, message: string) => ({ path: at + jsonPointer([String(name)]), message });
  const { params } = error;
  switch (error.keyword) {
    case "required":
    case "dependentRequired":
      return named(params.missingProperty, "is required");
    case "additionalProperties":
      return named(params.additionalProperty, "is not allowed");
    case "unevaluatedProperties":
      return named(params.unevaluatedProperty, "is not allowed");
    case "enum":
      return {
        path: at,
        message: `must be one of ${JSON.stringify(params.allowedValues ?? []).slice(0, 300)}`,
      };
    case "const":
      return { path: at, message: `must be ${JSON.stringify(params.allowedValue ?? null).slice(0, 300)}` };
    case "minLength":
      return {
        path: at,
        message: params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`,
      };
    case "maxLength":
      return { path: at, message: `must have at most ${params.limit} characters` };
    default:
      return { path: at, message: (error.message ?? "is invalid").slice(0, 500) };
  }
}

/** Every fault once, at most 20. Faults inside a branch replace the less specific fault of the branch. */
export function toIssues(errors: readonly SchemaError[]): Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of errors.slice(0, MAX_ERRORS)) {
    if (error.keyword === "if") continue;
    const issue = toIssue(error);
    issues.set(`${issue.path}\n${issue.message}`, issue);
    if (issues.size === MAX_ISSUES) break;
  }
  return [...issues.values()];
}

/** The issues as one sentence, for step errors and models. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map((issue) => `${issue.path === "" ? "the value" : issue.path} ${issue.message}`).join("; ");
}
