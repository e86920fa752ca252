import type { Tool } from "@modelcontextprotocol/server";
import type { Callable } from "@/server/catalog/callable-definitions";
import { slug } from "@/server/catalog/definitions";
import { RUN_KINDS, type RunKind } from "@/server/contract/enums";
import { readObject } from "./call-tool";

/** The tools of `/mcp`: `agent_<slug>` and `tool_<slug>`. */

const USER_MESSAGE = {
  type: "object" as const,
  properties: {
    userMessage: { type: "string", minLength: 1, description: "The message that the agent answers." },
  },
  required: ["userMessage"],
};

export const nameOf = ({ kind, slug }: { kind: RunKind; slug: string }) => `${kind}_${slug}`;

/** Null if no agent or tool can have that name. */
export function readName(name: string): { kind: RunKind; slug: string } | null {
  const kind = RUN_KINDS.find((each) => name.startsWith(`${each}_`));
  const parsed = slug.safeParse(name.slice((kind ?? "").length + 1));
  return kind === undefined || !parsed.success ? null : { kind, slug: parsed.data };
}

export function describeTool(callable: Callable): Tool {
  const { kind, name, description, parameters, outputSchema } = callable;
  const output = readObjectSchema(outputSchema);
  return {
    name: nameOf(callable),
    title: name,
    description: description || `Runs the ${kind} ${name}.`,
    // A tool's input is an object, also if its schema does not say so.
    inputSchema: kind === "agent" ? USER_MESSAGE : { ...readObject(parameters ?? ""), type: "object" },
    ...(output === null ? {} : { outputSchema: output }),
  };
}

// MCP takes schemas of objects only.
function readObjectSchema(text: string | null): { type: "object"; [keyword: string]: unknown } | null {
  const schema = readObject(text ?? "");
  return schema?.type === "object" ? { ...schema, type: "object" } : null;
}
