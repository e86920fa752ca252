import type { z } from "zod";
import { Decimal } from "@/server/credits/amount";
import type { Tool, ToolVersion } from "@/server/db/generated/client";
import { workflowDefinition, workflowStep } from "@/server/workflow/definition";
import { toolDefinition } from "../definitions";

/**
 * A definition as it is written in files: its fields in the schema's order, without those that are not set or have the
 * default value. Times are written as ISO 8601, decimals as numbers.
 */
export function declare(schema: z.ZodObject, fields: object): Record<string, unknown> {
  const values = new Map(Object.entries(fields));
  const written = Object.entries(schema.shape).flatMap(([field, type]) => {
    const value = values.get(field) ?? undefined;
    const preset = "safeParse" in type ? type.safeParse(undefined).data : undefined;
    if (value === undefined || JSON.stringify(value) === JSON.stringify(preset)) return [];
    if (value instanceof Date) return [[field, value.toISOString()]];
    return [[field, Decimal.isDecimal(value) ? value.toNumber() : value]];
  });
  return Object.fromEntries(written);
}

type ToolContent = Pick<Tool, "slug" | "name" | "description"> &
  Pick<ToolVersion, "definition" | "maxCredits" | "deadlineSeconds">;

/** A tool with one of its versions. */
export function declareTool({ definition, ...tool }: ToolContent): Record<string, unknown> {
  const { steps, ...workflow } = workflowDefinition.parse(JSON.parse(definition));
  const declared = steps.map((step) => declare(workflowStep, step));
  return declare(toolDefinition, { ...tool, ...workflow, steps: declared });
}
