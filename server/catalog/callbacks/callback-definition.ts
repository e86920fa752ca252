import { z } from "zod";
import { distinct, nameText, text } from "@/server/base/texts";
import { amountAboveZero, slug } from "@/server/catalog/definitions";
import { CALLBACK_EVENTS, DEFINITION_STATUSES } from "@/server/contract/enums";

const MAX_PAIRS = 20;

/** A callback as definition files and forms declare it. A browser can use this module. */
export const callbackDefinition = z
  .strictObject({
    slug,
    /** Default: the slug. */
    name: nameText.optional(),
    url: text(2_000),
    events: z
      .array(z.enum(CALLBACK_EVENTS, { error: `must be one of ${CALLBACK_EVENTS.join(", ")}` }))
      .min(1, "must name at least one type of event")
      .max(CALLBACK_EVENTS.length)
      .refine((types) => new Set(types).size === types.length, "must not contain duplicates"),
    status: z.enum(DEFINITION_STATUSES).default("active"),
    /** Both empty: runs of all agents and tools. */
    agents: distinct(slug).default([]),
    tools: distinct(slug).default([]),
    /** Empty: however runs were started. */
    triggers: distinct(slug).default([]),
    /** Pairs that a run's metadata must have; values compare as texts. */
    metadata: z
      .record(text(100), z.union([text(500), z.number(), z.boolean()]).transform(String))
      .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `must have at most ${MAX_PAIRS} pairs`)
      .default({}),
    creditsBelow: amountAboveZero
      .nullable()
      .default(null)
      .describe(
        "With `credits.low`: tells that fewer credits are left, including those that open runs hold.",
      ),
  })
  .superRefine(
    ({ events, creditsBelow }, context) => {
      if (events.includes("credits.low") === (creditsBelow !== null)) return;
      const message = creditsBelow === null ? "is missing: credits.low needs a number" : "is for credits.low";
      context.addIssue({ code: "custom", path: ["creditsBelow"], message });
    },
    { when: ({ issues }) => issues.length === 0 },
  );
export type CallbackDefinition = z.output<typeof callbackDefinition>;
