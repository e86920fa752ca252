import { z } from "zod";
import { type MemberActor, roleCovers } from "@/server/base/actor";
import { toPlainData } from "@/server/base/db/plain-data";
import { AppError } from "@/server/base/errors";
import { anyJson } from "@/server/base/json/any-json";
import { type JsonObject, readJson, writeJson } from "@/server/base/json/json";
import { triggerFacts } from "@/server/catalog/save-trigger";
import type { Services } from "@/server/catalog/services";
import { tokenPurpose, triggerUrl } from "@/server/catalog/webhooks/trigger";
import { exampleInput } from "@/server/work/json-schema/example-input";
import { describeSignature, storedSignature } from "./senders/signature-definition";
import { exampleForTemplate } from "./template-example";

const MASK = "••••••••";

export type TriggerDetail = Awaited<ReturnType<typeof inspectTrigger>>;

const parametersOf = z
  .object({ parameters: z.record(z.string(), anyJson).default({}) })
  .catch({ parameters: {} });

/**
 * The data of a trigger's page. The token in `url` is masked for viewers; `url` is null if the sealed token does
 * not open. `secrets` are the live ones, newest first, with their expiry. `exampleBody` is JSON. `facts` are what the
 * form replaces. Throws `not_found`.
 */
export async function inspectTrigger(
  services: Services,
  actor: MemberActor,
  { triggerId }: { triggerId: string },
) {
  const now = services.clock.now();
  const target = { id: true, slug: true, name: true, deletedAt: true } as const;
  const newest = { orderBy: { number: "desc" }, take: 1, select: { definition: true } } as const;
  const trigger = await services.db.trigger.findFirst({
    where: { id: triggerId, organizationId: actor.orgId, deletedAt: null },
    include: {
      agent: { select: { ...target, status: true } },
      tool: { select: { ...target, versions: newest } },
      secrets: {
        where: { OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
        orderBy: { createdAt: "desc" },
        select: { id: true, createdAt: true, expiresAt: true },
      },
    },
  });
  if (!trigger) throw new AppError("not_found", "Trigger not found.");
  const { id, slug, name, agent, tool, messageTemplate, filter, maxCredits, createdAt, secrets } = trigger;
  const signature = storedSignature.parse(trigger.signature);
  const found = agent ?? tool;
  const masked = !roleCovers(actor.role, "member");
  const token = masked ? MASK : services.encryption.openOrNull(trigger.tokenSealed, tokenPurpose(id));
  return {
    ...toPlainData({ id, slug, name, messageTemplate, filter, maxCredits, createdAt, secrets }),
    enabled: trigger.disabledAt === null,
    url: token === null ? null : triggerUrl(services.env.appUrl, token),
    masked,
    target: {
      kind: agent ? ("agent" as const) : ("tool" as const),
      id: found?.id ?? "",
      slug: found?.slug ?? "",
      name: found?.name ?? "",
      gone: !found || found.deletedAt !== null,
      inactive: agent?.status === "inactive",
    },
    signature,
    signatureText: describeSignature(signature),
    rateLimit: { requests: trigger.rateLimitRequests, seconds: trigger.rateLimitSeconds },
    exampleBody: writeJson(sampleFor(trigger)),
    facts: triggerFacts(trigger, { agent: agent?.slug ?? null, tool: tool?.slug ?? null }),
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
  return exampleInput(parametersOf.parse(readJson(tool.versions[0]?.definition ?? "{}")).parameters);
}
