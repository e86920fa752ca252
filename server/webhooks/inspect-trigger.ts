import { z } from "zod";
import type { MemberActor } from "@/server/auth/actor";
import { roleCovers } from "@/server/auth/sessions";
import { AppError } from "@/server/errors";
import type { JsonObject } from "@/server/json/json";
import type { Services } from "@/server/services";
import { exampleBody, exampleForTemplate } from "./example-body";
import { tokenPurpose, triggerUrl } from "./token";

/** Replaces the token in a URL that the reader may not see. */
const MASK = "••••••••";

export type TriggerDetail = {
  id: string;
  slug: string;
  name: string;
  enabled: boolean;
  /** Null if the sealed token does not open: the trigger needs a new URL. */
  url: string | null;
  /** Whether the token in `url` is masked: viewers may not start runs, so they don't see the URL. */
  masked: boolean;
  target: {
    kind: "agent" | "tool";
    id: string;
    slug: string;
    name: string;
    gone: boolean;
    inactive: boolean;
  };
  scheme: "hex" | "standard_webhooks";
  /** Live secrets without their value, newest first. `expiresAt` is the end of a rotation's overlap. */
  secrets: { id: string; createdAt: string; expiresAt: string | null }[];
  rateLimit: { requests: number; seconds: number };
  messageTemplate: string | null;
  maxCredits: string | null;
  createdAt: string;
  /** A sample body for the target, as JSON. */
  exampleBody: string;
};

const parametersOf = z
  .object({ parameters: z.record(z.string(), z.json()).default({}) })
  .catch({ parameters: {} });

/** The data of a trigger's page. Throws `not_found`. */
export async function inspectTrigger(
  services: Services,
  actor: MemberActor,
  triggerId: string,
): Promise<TriggerDetail> {
  const now = services.clock.now();
  const target = { select: { id: true, slug: true, name: true, deletedAt: true } } as const;
  const trigger = await services.db.trigger.findFirst({
    where: { id: triggerId, organizationId: actor.orgId, deletedAt: null },
    include: {
      agent: { select: { ...target.select, status: true } },
      tool: {
        select: {
          ...target.select,
          versions: { orderBy: { number: "desc" }, take: 1, select: { definition: true } },
        },
      },
      secrets: {
        where: { OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
        orderBy: { createdAt: "desc" },
        select: { id: true, createdAt: true, expiresAt: true },
      },
    },
  });
  if (!trigger) throw new AppError("not_found", "Trigger not found.");
  const found = trigger.agent ?? trigger.tool;
  const masked = !roleCovers(actor.role, "member");
  const token = masked ? MASK : services.encryption.openOrNull(trigger.tokenSealed, tokenPurpose(trigger.id));
  return {
    id: trigger.id,
    slug: trigger.slug,
    name: trigger.name,
    enabled: trigger.disabledAt === null,
    url: token === null ? null : triggerUrl(services.env.appUrl, token),
    masked,
    target: {
      kind: trigger.agentId ? "agent" : "tool",
      id: found?.id ?? "",
      slug: found?.slug ?? "",
      name: found?.name ?? "",
      gone: !found || found.deletedAt !== null,
      inactive: trigger.agent?.status === "inactive",
    },
    scheme: trigger.signatureScheme,
    secrets: trigger.secrets.map(({ id, createdAt, expiresAt }) => ({
      id,
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
    })),
    rateLimit: { requests: trigger.rateLimitRequests, seconds: trigger.rateLimitSeconds },
    messageTemplate: trigger.messageTemplate,
    maxCredits: trigger.maxCredits?.toFixed(4) ?? null,
    createdAt: trigger.createdAt.toISOString(),
    exampleBody: JSON.stringify(sampleFor(trigger)),
  };
}

function sampleFor({
  tool,
  messageTemplate,
}: {
  tool: { versions: { definition: string }[] } | null;
  messageTemplate: string | null;
}): JsonObject {
  if (!tool) return exampleForTemplate(messageTemplate ?? "");
  return exampleBody(parametersOf.parse(JSON.parse(tool.versions[0]?.definition ?? "{}")).parameters);
}
