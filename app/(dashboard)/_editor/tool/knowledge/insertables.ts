import { quoted } from "@/server/work/expressions/quoted";
import type { Insertable } from "../../insert-menu";
import { type StepPlace, stepAt, type ToolView } from "../tool-document";
import { fieldsOf, previewOf } from "./output-fields";

/**
 * References for a step's input or the output: the tool's input, and the outputs of earlier steps with their last
 * fields.
 */
export function insertablesBefore(
  tool: ToolView,
  place: StepPlace,
  outputs: ReadonlyMap<string, unknown> = new Map(),
): Insertable[] {
  const { forEach, as } = stepAt(tool, place)?.fields ?? {};
  return [
    ...tool.inputs.map((name) => ({ name: `input.${quoted(name)}` })),
    ...tool.steps.slice(0, place.index).flatMap(({ id }) => {
      const name = `steps.${quoted(id)}`;
      if (id === "") return [];
      if (!outputs.has(id)) return [{ name }];
      const output = outputs.get(id);
      return [{ name, preview: previewOf(output) }, ...fieldsOf(name, output)];
    }),
    ...(forEach === undefined ? [] : [{ name: typeof as === "string" && as !== "" ? as : "item" }]),
  ];
}

/** References to secrets from an input of a function. An empty input gets the secret where it usually belongs. */
export function insertableSecrets(names: readonly string[], input: string): Insertable[] {
  return names.map((secret) => {
    const name = `secrets.${secret}`;
    const reference = `{{ ${name} }}`;
    if (input === "url") return { name, alone: `https://api.example.com/${reference}` };
    return { name, alone: JSON.stringify(usualDocument(input, reference)) };
  });
}

function usualDocument(input: string, reference: string): object {
  if (input === "headers") return { authorization: `Bearer ${reference}` };
  if (input === "basicAuth") return { username: "", password: reference };
  return { key: reference };
}
