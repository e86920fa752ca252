import type { Insertable } from "../value-field";
import type { ToolView } from "./tool-document";

/** What the input of a step, or the output, can refer to: the tool's input and the outputs of earlier steps. */
export function insertablesBefore(tool: ToolView, index: number): Insertable[] {
  const { forEach, as } = tool.steps[index]?.fields ?? {};
  return [
    ...tool.inputs.map((name) => ({ name: `input.${quoted(name)}` })),
    ...tool.steps.slice(0, index).flatMap(({ id }) => (id === "" ? [] : [{ name: `steps.${quoted(id)}` }])),
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

/** A name as JSONata writes it. */
const quoted = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``);
