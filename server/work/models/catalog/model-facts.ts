import { z } from "zod";

// Prices are in US dollars per million tokens, for reference only.
const catalogModel = z.strictObject({
  /** Covers a request and its answer together. */
  contextWindow: z.int().positive(),
  maxOutputTokens: z.int().positive(),
  reasoning: z.literal(true).optional(),
  images: z.literal(true).optional(),
  dollars: z
    .strictObject({
      input: z.number().positive(),
      output: z.number().min(0),
      cachedInput: z.number().positive().optional(),
      cacheWrite: z.number().positive().optional(),
    })
    .optional(),
});

/** Facts about a model, from the catalog or from the operator. Each may be unknown. */
export type ModelFacts = { [Fact in keyof CatalogModel]?: CatalogModel[Fact] | undefined };
type CatalogModel = z.output<typeof catalogModel>;

/** The file models.json, which `npm run models:update` writes. Earlier providers win where a name is all that is known. */
export const catalogFile = z.strictObject({
  date: z.iso.date(),
  source: z.string(),
  providers: z.array(
    z.strictObject({
      name: z.string(),
      /** A host includes those below it, such as eu.api.openai.com. */
      hosts: z.array(z.string()),
      models: z.record(z.string(), catalogModel),
    }),
  ),
});
export type CatalogFile = z.output<typeof catalogFile>;
