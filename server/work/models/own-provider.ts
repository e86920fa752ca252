import { z } from "zod";
import { findRepeats, modelApi, providerName, providerUrl } from "@/server/base/models/model-providers";
import { parseWholeReference } from "@/server/guard/secrets/references";

/** An organization's own model provider (docs/definition-files.md, "Model provider"). */
export const ownProvider = z.strictObject({
  name: providerName,
  api: modelApi.optional(),
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

/** The name of the secret that a provider's key is; null if it has none. */
export const keySecretOf = ({ apiKey }: OwnProvider) =>
  apiKey === undefined ? null : parseWholeReference(apiKey);
