import { z } from "zod";
import type { Issue } from "@/server/base/errors";
import { writeJson } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";

const MAX_ISSUES = 20;
/** The most Ajv errors that are examined: several may mean the same. */
export const MAX_ERRORS = 200;

export const schemaError = z.object({
  keyword: z.string(),
  instancePath: z.string(),
  params: z.record(z.string(), z.unknown()),
  message: z.string().optional(),
});
type SchemaError = z.infer<typeof schemaError>;

const PROPERTY: Record<string, string> = {
  required: "missingProperty",
  dependentRequired: "missingProperty",
  additionalProperties: "additionalProperty",
  unevaluatedProperties: "unevaluatedProperty",
};

function toIssue(error: SchemaError): Issue {
  const property = PROPERTY[error.keyword];
  if (property === undefined) return { path: error.instancePath, message: describe(error) };
  const path = error.instancePath + jsonPointer([String(error.params[property])]);
  return { path, message: property === "missingProperty" ? "is required" : "is not allowed" };
}

function describe({ keyword, params, message = "is invalid" }: SchemaError): string {
  const { limit, allowedValues = [], allowedValue = null } = params;
  switch (keyword) {
    case "enum":
      return `must be one of ${writeJson(allowedValues).slice(0, 300)}`;
    case "const":
      return `must be ${writeJson(allowedValue).slice(0, 300)}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    default:
      return message.slice(0, 500);
  }
}

/** Every issue once, at most 20. Issues inside a branch replace the less specific issue of the branch. */
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
