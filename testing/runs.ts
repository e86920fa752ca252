import { createHash } from "node:crypto";
import { hashPassword } from "better-auth/crypto";
import { v7 } from "uuid";
import type { MemberActor, MemberRole } from "@/server/base/actor";
import type { RunSource, RunStatus } from "@/server/base/db/generated/client";
import { newId } from "@/server/base/ids";
import { mintOrgId } from "@/server/base/mint-org-id";
import type { RunKind } from "@/server/contract/enums";
import type { Tenant, World } from "./world";

export const TEST_PASSWORD = "correct-horse-battery";

/** A person with a password and this role in the tenant's organization. */
export async function createMember(
  world: World,
  tenant: { orgId: string },
  role: MemberRole = "member",
): Promise<MemberActor & { email: string }> {
  const email = `${newId()}@stepwell.test`;
  const name = `A ${role}`;
  const userId = newId();
  passwordHash ??= hashPassword(TEST_PASSWORD);
  const times = { createdAt: world.clock.now(), updatedAt: world.clock.now() };
  const account = { id: newId(), accountId: userId, providerId: "credential", password: await passwordHash };
  const member = { id: newId(), organizationId: tenant.orgId, role, createdAt: times.createdAt };
  await world.db.user.create({
    data: {
      ...times,
      id: userId,
      email,
      name,
      emailVerified: true,
      accounts: { create: { ...account, ...times } },
      members: { create: member },
    },
  });
  return { kind: "member", orgId: mintOrgId(tenant.orgId), userId, name, role, email };
}

let passwordHash: Promise<string> | undefined;

let inserted = 0;

/** Inserts a run in its final state, for tests of reading runs. */
export async function insertRun(
  world: World,
  tenant: Tenant,
  run: {
    kind?: RunKind;
    status?: RunStatus;
    source?: RunSource;
    input?: string;
    output?: string;
    error?: string;
    createdAt?: Date;
    durationMs?: number;
    tokens?: number;
    steps?: number;
    credits?: string;
    triggerId?: string;
    scheduleId?: string;
    userId?: string;
    parentRunId?: string;
    metadata?: string;
    admitted?: boolean;
  } = {},
): Promise<string> {
  const { kind = "tool", status = "Completed", source = "operator", durationMs = 100, steps = 0 } = run;
  const at = run.createdAt ?? world.clock.now();
  // Ids are in the order of creation; of runs created at the same time, the first inserted is the older.
  inserted += 1;
  const id = v7({ msecs: at.getTime(), seq: inserted });
  const hash = createHash("sha256").update("{}").digest();
  await world.db.configuration.upsert({
    where: { organizationId_hash: { organizationId: tenant.orgId, hash: new Uint8Array(hash) } },
    create: { organizationId: tenant.orgId, hash: new Uint8Array(hash), document: "{}", createdAt: at },
    update: {},
  });
  const ended = status === "Completed" || status === "Failed" || status === "Cancelled";
  const finishedAt = new Date(at.getTime() + durationMs);
  const entry = {
    organizationId: tenant.orgId,
    iterationNumber: 1,
    status: "Completed",
    startedAt: at,
  } as const;
  await world.db.run.create({
    data: {
      id,
      organizationId: tenant.orgId,
      kind,
      agentId: kind === "agent" ? tenant.agentId : null,
      toolId: kind === "tool" ? tenant.toolId : null,
      targetName: kind === "agent" ? "Helper" : "Adder",
      targetVersion: 1,
      model: kind === "agent" ? "gpt-5-mini" : null,
      configurationHash: new Uint8Array(hash),
      status,
      source,
      apiKeyId: source === "api" ? tenant.apiKeyId : null,
      triggerId: run.triggerId ?? null,
      scheduleId: run.scheduleId ?? null,
      userId: run.userId ?? null,
      parentRunId: run.parentRunId ?? null,
      metadata: run.metadata ?? null,
      rootRunId: run.parentRunId ?? id,
      input: run.input ?? "{}",
      output: status === "Completed" ? (run.output ?? "{}") : null,
      errorMessage: status === "Failed" ? (run.error ?? "It failed.") : null,
      cancelledBy: status === "Cancelled" ? "a test" : null,
      inputTokens: ended ? (run.tokens ?? 0) : 0,
      creditsUsed: ended ? (run.credits ?? "0") : "0",
      stepsExecuted: steps,
      createdAt: at,
      admittedAt: run.admitted ? at : null,
      startedAt: status === "Pending" ? null : at,
      finishedAt: ended ? finishedAt : null,
      deadlineSeconds: 900,
      sequence: steps,
      steps: {
        create: Array.from({ length: steps }, (_, index) => ({
          ...entry,
          id: newId(),
          key: `step-${index + 1}`,
          stepNumber: index + 1,
          toolName: "calculate",
          input: "{}",
          output: "{}",
          finishedAt,
          durationMs,
          sequence: index + 1,
        })),
      },
    },
  });
  // An open run's usage is in its journal.
  if (!ended && (run.tokens || run.credits)) {
    await world.db.modelCall.create({
      data: {
        ...entry,
        id: newId(),
        runId: id,
        key: "think-1",
        provider: "test",
        model: "gpt-5-mini",
        inputTokens: run.tokens ?? 0,
        credits: run.credits ?? "0",
        finishedAt: at,
        durationMs: 0,
        sequence: steps + 1,
      },
    });
  }
  if (ended) await world.pool.query("INSERT INTO run_index_queue VALUES ($1, $2)", [id, tenant.orgId]);
  return id;
}
