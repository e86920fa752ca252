import type { Issue } from "@/server/errors";
import { findArithmeticFault } from "@/server/expressions/arithmetic";
import { ExpressionError } from "@/server/expressions/expression-error";
import { parseExpression } from "@/server/expressions/jsonata";
import { describeUnknownVariable } from "@/server/expressions/unknown-variables";
import type { ParsedField } from "@/server/functions/define";
import { isJsonObject, type Json } from "@/server/json/json";
import { checkSchema } from "@/server/json/schema";
import { findSyntaxError } from "@/server/sandbox/run-script";

/** Faults of a value that a function will parse, before it does. Their paths begin at the value. */
export async function findParseFaults(
  field: ParsedField,
  value: Json,
  organizationId: string,
): Promise<readonly Issue[]> {
  if (field === "schema") return isJsonObject(value) ? checkSchema(value, organizationId) : [];
  if (typeof value !== "string") return [];
  const message = await findTextFault(field, value, organizationId);
  return message === null ? [] : [{ path: "", message }];
}

async function findTextFault(
  field: Exclude<ParsedField, "schema">,
  text: string,
  organizationId: string,
): Promise<string | null> {
  try {
    if (field === "script") return await findSyntaxError(text, organizationId);
    if (field === "arithmetic") return await findArithmeticFault(text, organizationId);
    return describeUnknownVariable(await parseExpression(text, organizationId));
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
