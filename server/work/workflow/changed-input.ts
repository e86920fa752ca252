import type { JsonObject } from "@/server/base/json/json";
import { findSecretNames, replaceReferences } from "@/server/guard/secrets/references";
import type { WorkflowDefinition } from "./definition";

/**
 * The changed input of a call in a fork. In stored inputs, from which it is written, a secret is `{{ secrets.NAME }}`.
 * That is a reference only in a field in which the step itself refers to the secret.
 */
type ChangedCall = { definition: WorkflowDefinition; key: string; input: JsonObject };

/** The first reference to a secret that the step does not use in the same field. */
export function findForeignSecret(call: ChangedCall): { field: string; name: string } | undefined {
  return Object.entries(call.input)
    .flatMap(([field, value]) => findSecretNames(value).map((name) => ({ field, name })))
    .find(({ field, name }) => !namesIn(call, field).includes(name));
}

/** Replaces the references to the step's own secrets by their placeholders. */
export function fillInSecrets(call: ChangedCall, placeholderOf: (name: string) => string): JsonObject {
  return Object.fromEntries(
    Object.entries(call.input).map(([field, value]) => {
      const names = namesIn(call, field);
      const fill = (name: string) => (names.includes(name) ? placeholderOf(name) : undefined);
      return [field, names.length === 0 ? value : replaceReferences(value, fill)];
    }),
  );
}

function namesIn({ definition, key }: ChangedCall, field: string): string[] {
  const id = key.replace(/\[\d+\]$/, "");
  const calls = definition.steps.flatMap(({ parallel, ...step }) => parallel ?? [step]);
  const own = calls.find((step) => step.id === id)?.with ?? {};
  return Object.hasOwn(own, field) ? findSecretNames(own[field]) : [];
}
