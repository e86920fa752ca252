import { afterAll, afterEach, expect } from "vitest";
import type { Wired } from "@/process-services";
import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { createProcess, type TestProcess } from "@/testing/process";
import { openWorld, quietModels, type Tenant } from "@/testing/world";

/** The place at which a suite's engines run: embedded, or on an Inngest server. */
export type Stage = {
  env: Record<string, string>;
  serve(services: Wired): void;
  close(): Promise<void>;
};

/** A model's answer; missing fields come from `quietModels`. */
export type ModelAnswer = Partial<ModelReply>;
/** Answers a model call; `call` counts the calls of all processes of a test from 1. */
export type Script = (call: number, request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>;

/** Processes on a stage, with one database; they stop after each test. Call it at the top of the file. */
export async function openStage(stage: Stage) {
  const world = await openWorld();
  const processes: TestProcess[] = [];
  let calls = 0;
  afterEach(async () => {
    for (const services of processes.splice(0)) await services.stop();
    calls = 0;
  });
  afterAll(() => stage.close());
  const read = (runId: string) =>
    world.db.run.findUniqueOrThrow({
      where: { id: runId },
      include: {
        steps: { orderBy: { stepNumber: "asc" } },
        modelCalls: { orderBy: { id: "asc" } },
        children: true,
      },
    });
  return {
    world,
    calls: () => calls,
    async startProcess(script: Script, env: Record<string, string> = {}): Promise<TestProcess> {
      const services = createProcess(world, {
        env: { ...stage.env, ...env },
        async call(request) {
          calls += 1;
          const answer = await script(calls, request);
          return { ...(await quietModels.call(request)), ...answer };
        },
      });
      processes.push(services);
      stage.serve(services);
      await services.engine.execute();
      await expect.poll(() => services.engine.ready(), { timeout: 30_000 }).toBe(true);
      return services;
    },
    async start(services: Wired, tenant: Tenant, userMessage = "Go"): Promise<string> {
      const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
      const request = { kind: "agent", targetId: tenant.agentId, userMessage } as const;
      return (await startRun(services, actor, request)).runId;
    },
    async ended(runId: string) {
      await expect.poll(async () => (await read(runId)).finishedAt, { timeout: 45_000 }).not.toBeNull();
      return read(runId);
    },
  };
}
