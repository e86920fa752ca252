import type { z } from "zod";
import type { Issue } from "@/server/base/errors";
import type { Json } from "@/server/base/json/json";
import { jsonPointer } from "@/server/base/json/text";
import { limitTime } from "@/server/base/sleep";
import {
  type FunctionContext,
  type FunctionDefinition,
  FunctionError,
} from "@/server/work/functions/core/define";
import { findFunction, listFunctions } from "@/server/work/functions/core/registry";
import { describeIssues } from "@/server/work/json-schema/schema-issues";

export function checkFunctionInput(definition: FunctionDefinition, input: Json): Issue[] {
  const parsed = definition.input.safeParse(input);
  return parsed.success ? [] : toIssues(parsed.error);
}

// Tenants' inputs may have any number of issues, with names of any length.
const MAX_ISSUES = 10;
const MAX_ISSUE_LENGTH = 300;

function toIssues(error: z.ZodError): Issue[] {
  return error.issues
    .flatMap(ofBranch)
    .slice(0, MAX_ISSUES)
    .map((issue) => ({
      path: jsonPointer(issue.path).slice(0, MAX_ISSUE_LENGTH),
      message: issue.message.slice(0, MAX_ISSUE_LENGTH),
    }));
}

/** For a value that no branch of a union accepts: the issues in the branch that accepts its type. */
function ofBranch(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branch = issue.errors.find((issues) => !issues.some(rejectsType));
  if (branch === undefined) return [issue];
  return branch.flatMap((inner) => ofBranch({ ...inner, path: [...issue.path, ...inner.path] }));
}

function rejectsType(issue: z.core.$ZodIssue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === "invalid_union") return issue.errors.every((issues) => issues.some(rejectsType));
  return issue.code === "invalid_type";
}

/** The input of a call, parsed. Throws FunctionError `invalid_input`, which names the issues. */
export function parseFunctionInput<Input extends z.ZodType>(
  definition: Pick<FunctionDefinition<Input>, "name" | "input">,
  input: Json,
): z.output<Input> {
  const parsed = definition.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(toIssues(parsed.error));
  throw new FunctionError("invalid_input", `The input of ${definition.name} is invalid: ${issues}`);
}

/**
 * Runs a function over unchecked input, for at most `timeoutMs` (by default the function's limit). Throws what the
 * function throws, FunctionError `invalid_input` or `timeout`, or the signal's reason.
 */
export async function executeFunction(
  name: string,
  { input, context, timeoutMs }: { input: Json; context: FunctionContext; timeoutMs?: number | undefined },
): Promise<Json> {
  const definition = findFunction(name);
  if (definition === undefined) {
    const known = listFunctions().map((each) => each.name);
    throw new FunctionError(
      "failed",
      `There is no function named "${name}". Known functions: ${known.join(", ")}.`,
    );
  }
  const { run } = definition;
  if (typeof run !== "function") throw new Error(`${name} is executed by the engine.`);
  const parsed = parseFunctionInput(definition, input);
  context.signal.throwIfAborted();
  const limit = timeoutMs ?? definition.timeoutMs;
  const overdue = () => new FunctionError("timeout", `${name} took longer than ${limit} ms.`);
  const { signal, end } = limitTime(context.signal, limit, overdue);
  const callModel: FunctionContext["callModel"] = async (request) => {
    // A function that ignores its signal begins no call after its end.
    signal.throwIfAborted();
    return context.callModel(request, signal);
  };
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  try {
    // The attempt ends even if the function ignores its signal and continues.
    return await Promise.race([run(parsed, { ...context, signal, callModel }), aborted]);
  } finally {
    end();
  }
}
