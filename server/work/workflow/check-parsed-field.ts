import type { Issue } from "@/server/base/errors";
import { isJsonObject, type Json } from "@/server/base/json/json";
import { findSyntaxError } from "@/server/guard/sandbox/run-script";
import { findArithmeticIssue } from "@/server/work/expressions/arithmetic";
import { ExpressionError, parseExpression } from "@/server/work/expressions/jsonata";
import { describeUnknownVariable } from "@/server/work/expressions/unknown-variables";
import type { ParsedField } from "@/server/work/functions/core/define";
import { checkSchema } from "@/server/work/json-schema/schema";

/** Finds what a function would reject in a field that holds a schema, a script or an expression. */
export async function findParseIssues(
  field: ParsedField,
  value: Json,
  organizationId: string,
): Promise<readonly Issue[]> {
  if (field === "schema") return isJsonObject(value) ? checkSchema(value, organizationId) : [];
  if (typeof value !== "string") return [];
  const message = await findTextIssue(field, value, organizationId);
  return message === null ? [] : [{ path: "", message }];
}

async function findTextIssue(
  field: Exclude<ParsedField, "schema">,
  text: string,
  organizationId: string,
): Promise<string | null> {
  try {
    if (field === "script") return await findSyntaxError(text, organizationId);
    if (field === "arithmetic") return await findArithmeticIssue(text, organizationId);
    return describeUnknownVariable(await parseExpression(text, organizationId));
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
