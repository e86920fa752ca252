import type { AttachedCallable } from "@/server/agent/definition";
import { findFunction, inputSchemaOf } from "@/server/functions/registry";
import type { OfferedTool } from "@/server/models/port";

/** A tool's name for the model: its slug with `_` for `-`. */
export function toolNameForModel(slug: string): string {
  return slug.replaceAll("-", "_");
}

/** The slug of a tool by its name for the model: a slug has no `_`. */
export function toolSlugOf(name: string): string {
  return name.replaceAll("_", "-");
}

/** The definitions of an agent's functions and tools for the model, in the order they were attached. */
export function offeredTools(callables: readonly AttachedCallable[]): OfferedTool[] {
  return callables.flatMap((callable) => {
    if (callable.kind === "tool") {
      const { name, title, description, definition } = callable;
      return [{ name, description: description || title, parameters: definition.parameters }];
    }
    const definition = findFunction(callable.name);
    if (definition === undefined) return [];
    return [
      { name: definition.name, description: definition.description, parameters: inputSchemaOf(definition) },
    ];
  });
}
