import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { recordAudit } from "@/server/base/audit";
import { describeModel } from "@/server/catalog/organization/describe-model";
import type { CarriedSecret } from "@/server/guard/egress/outgoing-request";
import { requireRate } from "@/server/guard/limits/rate-limit";
import { SecretPlaceholders } from "@/server/guard/secrets/placeholders";
import { createRedactor, type Redact } from "@/server/guard/secrets/redact";
import { createOwnProvider } from "@/server/runs/engine/execute/own-models";
import { RunSecrets } from "@/server/runs/engine/execute/run-secrets";
import type { Services } from "@/server/services";
import { OfferCache } from "@/server/work/models/offer-cache";
import { keySecretOf, type OwnProvider, ownProvider } from "@/server/work/models/own-provider";
import type { Offer } from "@/server/work/models/port";

const PER_MINUTE = { limit: 20, seconds: 60 };

/** The models of the service's default provider, which serves every model that no provider lists. */
export async function listServiceModels(services: Pick<Services, "models" | "prices">) {
  const { models } = services;
  const { models: offered, problem } = await models.listOffered();
  return {
    provider: models.providerOf(""),
    models: await Promise.all(offered.map((model) => describeModel(services, model))),
    problem,
  };
}

/** A provider as its form has it, before or after it was saved. `keyValue`: a key that is not saved yet. */
export const unsavedProvider = ownProvider
  .pick({ api: true, baseUrl: true, apiKey: true })
  .extend({ keyValue: z.string().max(10_000).optional() });
type UnsavedProvider = z.output<typeof unsavedProvider>;

const offers = new OfferCache();

/**
 * The models that a provider of the organization offers, asked through the guarded client. Needs the role admin. Throws
 * `rate_limited`.
 */
export async function listOwnModels(
  services: Services,
  actor: MemberActor,
  { keyValue, ...server }: UnsavedProvider,
) {
  const own: OwnProvider = { ...server, name: new URL(server.baseUrl).host, models: [] };
  const read = async () => {
    const limit = { key: `model-list:${actor.orgId}`, ...PER_MINUTE };
    await requireRate(services, { ...limit, message: "Too many lists of models were requested." });
    return askProvider(services, actor, { own, keyValue });
  };
  const key = JSON.stringify([actor.orgId, server]);
  const { models, problem } =
    keyValue === undefined ? await offers.get(key, services.clock, read) : await read();
  return { models: await Promise.all(models.map((model) => describeModel(services, model, own))), problem };
}

async function askProvider(
  services: Services,
  actor: MemberActor,
  { own, keyValue }: { own: OwnProvider; keyValue: string | undefined },
): Promise<Offer> {
  const key =
    keyValue === undefined
      ? await openKey(services, actor, own)
      : holdKey(keyValue, new URL(own.baseUrl).host);
  if ("rejected" in key) return { models: [], problem: key.rejected };
  const { models, problem } = await createOwnProvider(services, own, {
    ...key,
    orgId: actor.orgId,
  }).listModels();
  const { redact } = key;
  return {
    models: models.map((model) => ({ ...model, name: redact(model.name) })),
    problem: problem === null ? null : redact(problem),
  };
}

type OpenedKey = { apiKey: string | undefined; carried: readonly CarriedSecret[]; redact: Redact };

/** Writes an audit record. */
async function openKey(
  services: Services,
  actor: MemberActor,
  own: OwnProvider,
): Promise<OpenedKey | { rejected: string }> {
  const name = keySecretOf(own);
  const { db, clock } = services;
  const secrets = new RunSecrets(services, {
    orgId: actor.orgId,
    names: name === null ? [] : [name],
    recordUse: (secret) =>
      recordAudit(
        { tx: db, actor, at: clock.now() },
        {
          verb: "used",
          subject: { kind: "secret", id: secret.id, name: secret.name },
          changes: { provider: own.name },
        },
      ),
  });
  const opened = name === null ? { carried: [] } : await secrets.openKey(name);
  if ("rejected" in opened) return opened;
  const apiKey = name === null ? undefined : secrets.placeholders.of(name);
  return { apiKey, carried: opened.carried, redact: secrets.redact };
}

// For a typed key that is not a secret yet; only the provider's host gets it.
function holdKey(value: string, host: string): OpenedKey {
  const placeholder = new SecretPlaceholders().of("key");
  return {
    apiKey: placeholder,
    carried: [{ name: "key", placeholder, value, hosts: [host] }],
    redact: createRedactor([{ value, mark: "[redacted]" }]).redact,
  };
}
