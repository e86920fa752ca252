import { startRun } from "@/server/runs/start";
import type { ModelReply, ModelRequest } from "@/server/work/models/port";
import { executeRun } from "@/testing/execute";
import { openWorld, scriptedModels, type Tenant } from "@/testing/world";

/** Answers a model call; `call` counts the calls since the script began, from 1. */
export type Script = (
  request: ModelRequest,
  call: number,
) => Partial<ModelReply> | Promise<Partial<ModelReply>>;

export const ask = (name: string, args: unknown, id = "c1") => ({
  content: `I call ${name}.`,
  toolCalls: [{ id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) }],
});

/** A world whose models play a script, and runs of agents in it. Call it at the top of a file. */
export async function openScriptedWorld({ env = {} }: { env?: Record<string, string> } = {}) {
  let script: Script = () => ({ content: "Done." });
  let calls = 0;
  const world = await openWorld({
    env,
    models: scriptedModels((request) => {
      calls += 1;
      return script(request, calls);
    }),
  });
  const play = (next: Script) => {
    script = next;
    calls = 0;
  };
  const start = (tenant: Tenant, userMessage = "Hello") => {
    const actor = { kind: "operator", orgId: tenant.orgId, name: "test" } as const;
    return startRun(world, actor, { kind: "agent", targetId: tenant.agentId, userMessage });
  };
  const read = (runId: string) =>
    world.db.run.findUniqueOrThrow({
      where: { id: runId },
      include: {
        steps: { orderBy: { stepNumber: "asc" } },
        modelCalls: { orderBy: { iterationNumber: "asc" } },
      },
    });
  return {
    world,
    play,
    modelCalls: () => calls,
    start,
    read,
    async run(tenant: Tenant, userMessage: string, next: Script) {
      play(next);
      const { runId } = await start(tenant, userMessage);
      await executeRun(world, runId);
      return read(runId);
    },
  };
}
