import { z } from "zod";
import { DEFAULT_KEY_SCOPES, KEY_SCOPES, MEMBER_ROLES } from "@/server/base/actor";
import { anyJson } from "@/server/base/json/any-json";
import { findInvalidText } from "@/server/base/json/invalid-text";
import { isJsonObject } from "@/server/base/json/json";
import { distinct, nameText as name, text } from "@/server/base/texts";
import { DEFINITION_STATUSES, OVERLAP_POLICIES } from "@/server/contract/enums";
import { MAX_PASSWORD_LENGTH } from "@/server/contract/limits";
import { KIB } from "@/server/contract/sizes";
import { SECRET_NAME } from "@/server/guard/secrets/references";
import { agentSettings } from "@/server/work/agent/settings";
import { ownProviders } from "@/server/work/models/own-provider";
import { workflowDefinition } from "@/server/work/workflow/definition";
import { signatureDefinition } from "./webhooks/senders/signature-definition";

/**
 * The schemas of definitions for the operator's YAML and the dashboard's editors. References are slugs. A browser
 * can use this module. Ranges equal the database's (prisma/migrations).
 */

export const slug = z
  .string()
  .regex(
    /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/,
    "must be 1 to 64 of a-z, 0-9 and -, not starting or ending with -",
  );

const AMOUNT = /^\d{1,10}(\.\d{1,4})?$/;

// A number, or a string with at most ten digits and four decimals. Parsed to its shortest string.
const amount = z
  .union([z.number(), z.string()], { error: "must be a number" })
  .transform(String)
  .pipe(z.string().regex(AMOUNT, "must be a number from 0 to 9999999999 with at most four decimal places"))
  .transform((text) => text.replace(/^0+(?=\d)/, "").replace(/\.0+$|(\.\d*?)0+$/, "$1"));
export const amountAboveZero = amount.refine((value) => Number(value) > 0, "must be above zero");

/** PostgreSQL's largest integer. */
const MAX_RATE = 2_147_483_647;
const perMinute = z.int().min(1).max(MAX_RATE);
export const UNLIMITED = "unlimited" as const;
const perMinuteOrUnlimited = z.union([perMinute, z.literal(UNLIMITED)], {
  error: `must be a whole number from 1 to ${MAX_RATE}, or ${UNLIMITED}`,
});
const maxCredits = amountAboveZero
  .nullable()
  .default(null)
  .describe("The most credits that one run may use. Default: no cap.");
const deadlineSeconds = z
  .int()
  .min(1)
  .max(86_400)
  .default(900)
  .describe("The longest time that a run may take, up to a day.");
const instant = z.iso
  .datetime({ offset: true, error: "must be a time such as 2027-01-31T00:00:00Z" })
  .transform((value) => new Date(value).toISOString());

// Fields hold JSON, whose texts no field checks.
function requireValidTexts(definition: object, context: z.RefinementCtx): void {
  const invalid = isJsonObject(definition) ? findInvalidText(definition) : null;
  if (invalid === null) return;
  const { path, found } = invalid;
  context.addIssue({ code: "custom", path, message: `must not contain ${found}` });
}

export const agentDefinition = z
  .strictObject({
    slug: slug.describe("Its name in definition files and in steps. A changed slug is another agent."),
    name: name.describe("Its name on pages."),
    status: z.enum(DEFINITION_STATUSES).default("active").describe("An inactive agent rejects starts."),
    ...agentSettings.shape,
    maxCredits,
    deadlineSeconds,
  })
  .superRefine(requireValidTexts, { when: ({ issues }) => issues.length === 0 });
export type AgentDefinition = z.output<typeof agentDefinition>;

export const toolDefinition = z
  .strictObject({
    slug,
    name,
    description: text(10_000).default(""),
    ...workflowDefinition.shape,
    maxCredits,
    deadlineSeconds,
  })
  .superRefine(requireValidTexts, { when: ({ issues }) => issues.length === 0 });
export type ToolDefinition = z.output<typeof toolDefinition>;
export type ToolInput = z.input<typeof toolDefinition>;

// Has a port only where it is not the scheme's own.
const host = z
  .string()
  .trim()
  .regex(
    /^(\[[0-9a-fA-F:]+\]|[^\s/:@?#[\]*]+)(:\d{1,5})?$/,
    "must be a host such as api.example.com or localhost:8080, without https:// and *",
  )
  .refine((value) => URL.canParse(`https://${value}`), "must be the name or address of a host")
  .transform((value) => (URL.canParse(`https://${value}`) ? new URL(`https://${value}`).host : value));
const secretName = z
  .string()
  .regex(SECRET_NAME, "must be 1 to 64 letters, digits and _, not starting with a digit");
const allowedHosts = distinct(host)
  .min(1, "must name at least one host that may receive the secret")
  .max(20, "must name at most 20 hosts");

/** A secret as files declare it; its value is set apart. */
export const secretDefinition = z.strictObject({ name: secretName, hosts: allowedHosts });
export type SecretDefinition = z.output<typeof secretDefinition>;

/** A secret's value. Unset hosts stay as they are, an unset expiry while it lies ahead; `null`: it never expires. */
export const secretInput = z.strictObject({
  name: secretName,
  value: text(4_096).min(
    8,
    "must have at least 8 characters: shorter ones cannot be distinguished from ordinary text when they are redacted",
  ),
  hosts: allowedHosts.optional(),
  expiresAt: instant.nullish(),
});
export type SecretInput = z.input<typeof secretInput>;

/** The hosts and the expiry of a secret; its value stays. */
export const secretRules = z.strictObject({
  name: secretName,
  hosts: allowedHosts,
  expiresAt: instant.nullable(),
});

export const triggerDefinition = z
  .strictObject({
    slug,
    /** Default: the slug. */
    name: name.optional(),
    agent: slug.optional(),
    tool: slug.optional(),
    status: z.enum(DEFINITION_STATUSES).default("active"),
    /** Unset: not changed; null: none. Never exported. */
    secret: text(1_000)
      .min(1, "must not be empty; leave it out, or write null for none")
      .nullable()
      .optional(),
    signature: signatureDefinition.default("hex"),
    rateLimit: z
      .strictObject({
        requests: z.int().min(1).max(100_000).default(30),
        seconds: z.int().min(1).max(86_400).default(60),
      })
      .default({ requests: 30, seconds: 60 }),
    /** Null: the body's text becomes the agent's user message. */
    messageTemplate: text(100_000).min(1).nullable().default(null),
    /** Null: every call starts a run. */
    filter: text(32 * KIB)
      .min(1)
      .nullable()
      .default(null),
    maxCredits,
  })
  .superRefine(
    (trigger, context) => {
      if ((trigger.agent === undefined) === (trigger.tool === undefined)) {
        context.addIssue({ code: "custom", message: "must name either an agent or a tool" });
      }
      if (typeof trigger.messageTemplate === "string" && trigger.agent === undefined) {
        context.addIssue({
          code: "custom",
          path: ["messageTemplate"],
          message: "is for triggers of agents; a tool's input is the body",
        });
      }
    },
    { when: ({ value }) => isJsonObject(value) },
  );
export type TriggerDefinition = z.output<typeof triggerDefinition>;

export const scheduleDefinition = z
  .strictObject({
    slug,
    /** Default: the slug. */
    name: name.optional(),
    agent: slug.optional(),
    tool: slug.optional(),
    cron: text(200)
      .min(1)
      .describe("Minute, hour, day, month and weekday: `0 8 * * MON-FRI`. `L` is the last day of the month."),
    timeZone: text(100).min(1).default("UTC").describe("A name such as `Europe/Berlin`."),
    message: text(100_000).min(1).optional().describe("The user message of an agent."),
    input: z.record(z.string(), anyJson).optional().describe("The input of a tool. Default: `{}`."),
    overlap: z
      .enum(OVERLAP_POLICIES)
      .default("skip")
      .describe("If the earlier run is still open: skip the time, queue one start, or start anyway (allow)."),
    catchUpSeconds: z
      .int()
      .min(60)
      .max(86_400)
      .default(3600)
      .describe("How late a run may start, such as after a restart. Later ones are missed."),
    jitterSeconds: z
      .int()
      .min(0)
      .max(3600)
      .default(0)
      .describe("Delays each start by up to this time, but not past the next due time."),
    paused: z.boolean().default(false).describe("A paused schedule starts nothing."),
  })
  .superRefine(
    (schedule, context) => {
      if ((schedule.agent === undefined) === (schedule.tool === undefined)) {
        context.addIssue({ code: "custom", message: "must name either an agent or a tool" });
      } else if (schedule.agent === undefined && schedule.message !== undefined) {
        context.addIssue({ code: "custom", path: ["message"], message: "is for schedules of agents" });
      } else if (schedule.agent !== undefined && schedule.message === undefined) {
        context.addIssue({
          code: "custom",
          path: ["message"],
          message: "is missing: an agent needs a message",
        });
      }
      if (schedule.tool === undefined && schedule.input !== undefined) {
        context.addIssue({ code: "custom", path: ["input"], message: "is for schedules of tools" });
      }
    },
    { when: ({ value }) => isJsonObject(value) },
  )
  .superRefine(requireValidTexts, { when: ({ issues }) => issues.length === 0 });
export type ScheduleDefinition = z.output<typeof scheduleDefinition>;

export const apiKeyDefinition = z.strictObject({
  /** Unique among the organization's usable keys. */
  name,
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .min(1)
    .default([...DEFAULT_KEY_SCOPES]),
  /** Null: never. */
  expiresAt: instant.nullable().default(null),
  /** Both empty: the key is not limited to any. */
  agents: distinct(slug).default([]),
  tools: distinct(slug).default([]),
  /** Null: the plan's limit. A number above the plan's has no effect. */
  startsPerMinute: perMinute.nullable().default(null),
  readsPerMinute: perMinute.nullable().default(null),
  maxCredits,
});
export type ApiKeyDefinition = z.output<typeof apiKeyDefinition>;

export const memberDefinition = z.strictObject({
  email: z
    .email("must be an email address")
    .max(254)
    .transform((value) => value.toLowerCase()),
  /** Default: the part before the @. Used only for a new account. */
  name: name.optional(),
  /** Used only for a new account, and never exported. */
  password: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_PASSWORD_LENGTH, `must have at most ${MAX_PASSWORD_LENGTH} characters`)
    .optional(),
  role: z.enum(MEMBER_ROLES).default("member"),
});
export type MemberDefinition = z.output<typeof memberDefinition>;

// Omitted fields are not changed; a new plan gets the schema's defaults.
const planDefinition = z.strictObject({
  apiAccess: z.boolean().optional(),
  monthlyCredits: amount.optional(),
  startsPerMinute: perMinuteOrUnlimited.optional(),
  readsPerMinute: perMinuteOrUnlimited.optional(),
  concurrency: z.int().min(1).max(10_000).optional(),
  retentionDays: z.int().min(1).max(36_500).optional(),
});
export type PlanDefinition = z.output<typeof planDefinition>;

export const organizationDefinition = z.strictObject({
  slug,
  /** Default: the slug for a new organization, else the current name. */
  name: name.optional(),
  plan: planDefinition.default({}),
  /** Granted once, when the organization is created. */
  credits: amount.optional(),
  /** Unset: not changed. */
  modelProviders: ownProviders.optional(),
});
export type OrganizationDefinition = z.output<typeof organizationDefinition>;
