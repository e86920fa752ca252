import { LRUCache } from "lru-cache";
import { afterAll } from "vitest";
import type { z } from "zod";
import type { OrgId } from "@/server/base/actor";
import { Decimal } from "@/server/base/amount";
import { openDatabase, type Timeouts } from "@/server/base/db/client";
import { createConfigurationCaches } from "@/server/base/db/configuration-cache";
import type { Prisma } from "@/server/base/db/generated/client";
import { createNotifications } from "@/server/base/db/notifications";
import { newId } from "@/server/base/ids";
import { mintOrgId } from "@/server/base/mint-org-id";
import type { PriceList } from "@/server/base/models/price-list";
import { readEnvironment } from "@/server/base/settings/env";
import { sha256 } from "@/server/base/sha256";
import { newApiKey } from "@/server/catalog/auth/api-key";
import type { scheduleDefinition } from "@/server/catalog/definitions";
import { saveSchedule } from "@/server/catalog/schedules/save-schedule";
import type { SignatureDefinition } from "@/server/catalog/webhooks/senders/signature-definition";
import { newTriggerToken, signingSecretPurpose, tokenPurpose } from "@/server/catalog/webhooks/trigger";
import type { RunKind } from "@/server/contract/enums";
import { grantCredits } from "@/server/credits/ledger";
import { ProcessMemory } from "@/server/guard/limits/process-memory";
import { createEncryption } from "@/server/guard/secrets/encryption";
import { createServiceMetrics } from "@/server/operate/metrics/service-metrics";
import { createEndedRuns } from "@/server/runs/ended-runs";
import { RunEngine } from "@/server/runs/engine/engine";
import { EndWaiters } from "@/server/runs/live/end-waiters";
import type { Services } from "@/server/services";
import { type agentSettings, readAgentSettings } from "@/server/work/agent/settings";
import type { ModelReply, ModelRequest, Models } from "@/server/work/models/port";
import { type TestClock, testClock } from "./clock";
import { createTestDatabase } from "./database";
import { type TestLogger, testLogger } from "./log";

/**
 * Services over a test database, with a fixed clock and an engine that executes nothing by itself: use `executeRun` of
 * testing/execute.ts.
 */
export type World = Services & {
  engine: RunEngine;
  clock: TestClock;
  log: TestLogger;
  close(): Promise<void>;
};

function countCharacters({ messages }: Pick<ModelRequest, "messages">): number {
  return messages.reduce((sum, { content }) => sum + Math.ceil(content.length / 4), 10);
}

/** A model that answers at once with a fixed text. */
export const quietModels: Models = {
  call: async () => ({
    content: "Done.",
    reasoning: "",
    state: null,
    toolCalls: [],
    finishReason: "stop",
    usage: { inputTokens: 100, outputTokens: 10, estimated: false },
    provider: "test",
    attempts: [],
  }),
  providerOf: () => "test",
  factsOf: async () => ({}),
  listed: ["test-model"],
  listOffered: async () => ({
    models: [{ name: "test-model", contextWindow: undefined }],
    problem: null,
  }),
  boundTokens: countCharacters,
  countTokens: async (request) => countCharacters(request),
};

/** Models that answer like `quietModels`, but for what `reply` returns. */
export function scriptedModels(
  reply: (request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>,
): Models {
  return {
    ...quietModels,
    call: async (request) => ({ ...(await quietModels.call(request)), ...(await reply(request)) }),
  };
}

/** A world for all tests of a file, closed after them. Call it at the top of the file. */
export async function openWorld(parts?: WorldParts): Promise<World> {
  const world = await createWorld(parts);
  afterAll(() => world.close());
  return world;
}

type WorldParts = {
  models?: Models;
  prices?: PriceList;
  env?: Record<string, string>;
  fetch?: Services["fetch"];
  sendMail?: Services["sendMail"];
  timeouts?: Timeouts;
  beside?: World;
  slots?: number;
  databaseUrl?: string;
};

/** Creates a world that the caller closes. */
export async function createWorld(parts: WorldParts = {}): Promise<World> {
  const { beside } = parts;
  const database = beside
    ? { url: parts.databaseUrl ?? beside.env.databaseUrl, drop: async () => {} }
    : await createTestDatabase();
  const env = readEnvironment({
    DATABASE_URL: database.url,
    STEPWELL_SECRET: "test-secret-test-secret-test-secret",
    APP_URL: "http://stepwell.test",
    ...parts.env,
  });
  const log = testLogger();
  const { db, pool } = openDatabase(database.url, log, parts.timeouts ? { timeouts: parts.timeouts } : {});
  const notifications = createNotifications({ url: database.url, pool, log });
  const cached = createConfigurationCaches(notifications);
  const engine = new RunEngine(() => world, { slots: parts.slots ?? 40 });
  const models = parts.models ?? quietModels;
  const clock = beside?.clock ?? testClock("2026-11-21T01:22:07.000Z");
  const prices = parts.prices ?? env.prices;
  const world: World = {
    env,
    db,
    pool,
    notifications,
    cached: { apiKeys: cached(), targets: cached(), triggers: cached(), modelProviders: cached() },
    endedRuns: createEndedRuns(clock),
    endWaiters: new EndWaiters({ pool, notifications }),
    configurationsStored: new LRUCache({ max: 1_000 }),
    engine,
    memory: new ProcessMemory(),
    models,
    prices,
    sendMail: parts.sendMail ?? null,
    fetch: parts.fetch ?? (() => Promise.reject(new Error("no way out in this test"))),
    encryption: createEncryption(env.secret),
    clock,
    log,
    metrics: createServiceMetrics({ env, models, prices }),
    async close() {
      await engine.stop();
      await notifications.close();
      await db.$disconnect();
      await pool.end();
      await database.drop();
    },
  };
  return world;
}

export type Tenant = {
  orgId: OrgId;
  slug: string;
  key: string;
  apiKeyId: string;
  agentId: string;
  toolId: string;
};

/** A new organization with a plan, credits, an API key, an agent `helper` and a tool `adder`. */
export async function createTenant(
  world: World,
  options: {
    credits?: string;
    plan?: Omit<Prisma.PlanCreateWithoutOrganizationInput, "updatedAt">;
    agent?: {
      status?: "active" | "inactive";
      maxSteps?: number;
      functions?: string[];
      withTool?: boolean;
    };
    parameters?: object;
  } = {},
): Promise<Tenant> {
  const now = world.clock.now();
  const orgId = mintOrgId(newId());
  const slug = `org-${orgId.slice(-8)}`;
  const common = { createdAt: now, updatedAt: now };
  await world.db.organization.create({
    data: { id: orgId, slug, name: slug, ...common, plan: { create: { updatedAt: now, ...options.plan } } },
  });
  const credits = new Decimal(options.credits ?? "100");
  if (credits.gt(0)) {
    const grant = { orgId, amount: credits, note: "test", actor: "operator", clock: world.clock };
    await grantCredits(world.pool, grant);
  }
  const { key, prefix, hash } = newApiKey();
  const apiKeyId = newId();
  await world.db.apiKey.create({
    data: {
      id: apiKeyId,
      organizationId: orgId,
      name: "ci",
      prefix,
      hash: new Uint8Array(hash),
      createdBy: "operator",
      createdAt: now,
    },
  });
  const definition = {
    parameters: options.parameters ?? {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    steps: [{ id: "sum", uses: "calculate", with: { expression: "{{ input.a }} + {{ input.b }}" } }],
    output: { sum: "{{ steps.sum }}" },
  };
  const toolId = newId();
  await world.db.tool.create({
    data: {
      id: toolId,
      organizationId: orgId,
      slug: "adder",
      name: "Adder",
      ...common,
      versions: {
        create: { number: 1, definition: JSON.stringify(definition), createdBy: "operator", createdAt: now },
      },
    },
  });
  const agentId = newId();
  const { status = "active", maxSteps = 8, functions = ["calculate"], withTool = true } = options.agent ?? {};
  await world.db.agent.create({
    data: {
      id: agentId,
      organizationId: orgId,
      slug: "helper",
      name: "Helper",
      status,
      ...common,
      versions: {
        create: {
          number: 1,
          definition: JSON.stringify({
            model: "gpt-5-mini",
            systemPrompt: "You help.",
            maxSteps,
            functions,
            tools: withTool ? ["adder"] : [],
            policies: {},
          }),
          createdBy: "operator",
          createdAt: now,
        },
      },
    },
  });
  return { orgId, slug, key, apiKeyId, agentId, toolId };
}

/** Changes settings of a tenant's agent in place, without a new version. */
export async function setAgent(
  world: World,
  { agentId }: Pick<Tenant, "agentId">,
  settings: Partial<z.input<typeof agentSettings>>,
): Promise<void> {
  const version = await world.db.agentVersion.findFirstOrThrow({ where: { agentId } });
  const definition = JSON.stringify({ ...readAgentSettings(version), ...settings });
  await world.db.agentVersion.updateMany({ where: { agentId }, data: { definition } });
}

/** A trigger of a tenant's agent or tool; returns its token. */
export async function createTrigger(
  world: World,
  tenant: Tenant,
  options: {
    target?: RunKind;
    secrets?: string[];
    signature?: SignatureDefinition;
    filter?: string;
    disabled?: boolean;
    rateLimit?: { requests: number; seconds: number };
    messageTemplate?: string;
    maxCredits?: string;
  } = {},
): Promise<{ id: string; token: string }> {
  const now = world.clock.now();
  const id = newId();
  const token = newTriggerToken();
  await world.db.trigger.create({
    data: {
      id,
      organizationId: tenant.orgId,
      slug: `hook-${id.slice(-8)}`,
      name: "Inbound",
      tokenHash: sha256(token),
      tokenSealed: world.encryption.seal(token, tokenPurpose(id)),
      ...(options.target === "tool" ? { toolId: tenant.toolId } : { agentId: tenant.agentId }),
      signature: JSON.stringify(options.signature ?? "hex"),
      filter: options.filter ?? null,
      disabledAt: options.disabled ? now : null,
      messageTemplate: options.messageTemplate ?? null,
      maxCredits: options.maxCredits ?? null,
      ...(options.rateLimit
        ? { rateLimitRequests: options.rateLimit.requests, rateLimitSeconds: options.rateLimit.seconds }
        : {}),
      createdAt: now,
      updatedAt: now,
      secrets: {
        create: (options.secrets ?? []).map((secret) => ({
          id: newId(),
          sealed: world.encryption.seal(secret, signingSecretPurpose(id)),
          createdAt: now,
        })),
      },
    },
  });
  return { id, token };
}

/** A schedule of a tenant's agent, due each hour from the next full hour on; `rule` changes it. */
export async function createSchedule(
  world: World,
  tenant: Pick<Tenant, "orgId">,
  rule: Partial<z.input<typeof scheduleDefinition>> = {},
): Promise<{ id: string; slug: string }> {
  const slug = `s-${newId().slice(-8)}`;
  const target = rule.tool === undefined ? { agent: "helper", message: "Good morning" } : {};
  const definition = { slug, name: "Hourly", cron: "0 * * * *", ...target, ...rule };
  const { id } = await saveSchedule(
    world,
    { kind: "operator", orgId: tenant.orgId, name: "operator" },
    { definition },
  );
  return { id, slug };
}
