import type { MemberActor } from "@/server/base/actor";
import { type AuditRecord, recordAudit } from "@/server/base/audit";
import { requireRole } from "@/server/catalog/change";
import { providerNotFound, readOwnProviders } from "@/server/catalog/organization/model-providers";
import { acquireRate, rateLimited } from "@/server/guard/limits/rate-limit";
import { callOwnProvider } from "@/server/runs/engine/execute/own-models";
import { RunSecrets } from "@/server/runs/engine/execute/run-secrets";
import type { Services } from "@/server/services";
import { keySecretOf } from "@/server/work/models/own-provider";
import { ModelError } from "@/server/work/models/port";
import { type Ability, testAbilities } from "@/server/work/models/test-abilities";

type ProviderTest =
  | {
      answered: true;
      text: string;
      durationMs: number;
      inputTokens: number;
      outputTokens: number;
      abilities: Ability[];
    }
  | { answered: false; message: string };

const LIMITS = { maxAttempts: 1, attemptTimeoutMs: 20_000 };
const PER_MINUTE = { limit: 20, seconds: 60 };
const MAX_SHOWN = 200;

/**
 * Tests a model at the organization's provider with two small calls, as a run makes them. It uses no credits. Needs
 * the role admin. Throws `not_found`, `rate_limited`.
 */
export async function testProvider(
  services: Services,
  actor: MemberActor,
  { name, model }: { name: string; model: string },
): Promise<ProviderTest> {
  requireRole(actor, "admin");
  const { db, pool, clock } = services;
  const provider = (await readOwnProviders(db, actor.orgId)).find((each) => each.name === name);
  if (!provider?.models.includes(model)) throw providerNotFound(name);
  const decision = await acquireRate(pool, { key: `model-test:${actor.orgId}`, ...PER_MINUTE }, { clock });
  if (!decision.allowed) throw rateLimited("model-test", decision);

  const record = (subject: AuditRecord["subject"], verb: string, changes = {}) =>
    recordAudit({ tx: db, actor, at: clock.now() }, { verb, subject, changes });
  const key = keySecretOf(provider);
  const secrets = new RunSecrets(services, {
    orgId: actor.orgId,
    names: key === null ? [] : [key],
    recordUse: (secret) =>
      record({ kind: "secret", id: secret.id, name: secret.name }, "used", { provider: name }),
  });
  const started = clock.now().getTime();
  const outcome = await testAbilities({ model, organizationId: actor.orgId }, (request) =>
    callOwnProvider({ services, secrets, limits: LIMITS }, provider, request),
  ).then(
    ({ text, usage, abilities }): ProviderTest => ({
      answered: true,
      text: text.slice(0, MAX_SHOWN),
      durationMs: Math.max(0, clock.now().getTime() - started),
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      abilities,
    }),
    (error: unknown): ProviderTest => {
      if (!(error instanceof ModelError)) throw error;
      return { answered: false, message: error.message };
    },
  );
  const result = outcome.answered ? "answered" : outcome.message;
  await record({ kind: "model_provider", id: null, name }, "tested", { model, result });
  return outcome;
}
