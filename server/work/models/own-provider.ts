import { z } from "zod";
import { isJsonObject } from "@/server/base/json/json";
import { parseWholeReference } from "@/server/guard/secrets/references";

/** Names of model providers; `demo` and `openai` are the service's own. */
export const providerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must consist of lowercase letters, digits and hyphens")
  .refine((name) => name !== "demo" && name !== "openai", "is taken: demo is built in, openai is OPENAI_*");

export const providerUrl = z.url({ protocol: /^https?$/, error: "must be an http or https address" });

/** An organization's own model provider: an OpenAI-compatible endpoint (docs/definition-files.md, "Model provider"). */
export const ownProvider = z.strictObject({
  name: providerName,
  baseUrl: providerUrl.max(2_000),
  /** `{{ secrets.NAME }}`; unset: the server needs none. */
  apiKey: z
    .string()
    .refine(
      (text) => parseWholeReference(text) !== null,
      "must be a secret alone in its braces, such as {{ secrets.openrouter }}",
    )
    .optional(),
  models: z.array(z.string().min(1, "must not be empty").max(200)).min(1).max(100),
});
export type OwnProvider = z.output<typeof ownProvider>;

/** An organization's model providers: no two have one name or list one model. */
export const ownProviders = z
  .array(ownProvider)
  .max(20)
  .superRefine(
    (providers, context) => {
      for (const { path, message } of findRepeats(providers))
        context.addIssue({ code: "custom", path, message });
    },
    // Checked even if other fields are invalid.
    { when: ({ value }) => Array.isArray(value) },
  );

type Repeat = { path: [number, "name"] | [number, "models", number]; message: string };

/** Names that two providers have, and models that two of them list. Each may be anything. */
export function findRepeats(providers: readonly unknown[]): Repeat[] {
  const repeats: Repeat[] = [];
  const names = new Set<unknown>();
  const models = new Map<unknown, unknown>([["demo", "the demo model"]]);
  for (const [index, provider] of providers.entries()) {
    if (!isJsonObject(provider)) continue;
    const { name } = provider;
    if (names.has(name)) repeats.push({ path: [index, "name"], message: `"${name}" is used twice` });
    names.add(name);
    for (const [at, model] of (Array.isArray(provider.models) ? provider.models : []).entries()) {
      const other = models.get(model);
      if (other !== undefined)
        repeats.push({ path: [index, "models", at], message: `"${model}" is already listed by ${other}` });
      models.set(model, name);
    }
  }
  return repeats;
}

/** The name of the secret that a provider's key is; null if it has none. */
export const keySecretOf = ({ apiKey }: OwnProvider) =>
  apiKey === undefined ? null : parseWholeReference(apiKey);
