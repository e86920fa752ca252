import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createThrowaway, removeThrowaway } from "../../../scripts/postgres/throwaway.mjs";
import { freePort } from "../../../scripts/support/ports.mjs";
import type { Start, Target } from "../target";
import { type AgentInput, type DoStep, runAgent, runTool, type ToolInput } from "./work";

/** The parts of `@restatedev/restate-sdk` used here. It is no package of ours, so it brings no types. */
type Context = { run: DoStep };
type Handlers<Input> = { run: (context: Context, input: Input) => Promise<unknown> };
type Endpoint = { bind: (workflow: object) => Endpoint; listen: (port: number) => Promise<number> };
type RestateSdk = {
  workflow: <Input>(definition: { name: string; handlers: Handlers<Input> }) => object;
  endpoint: () => Endpoint;
};

/** Serves the agent and the tool to a Restate server; in a process of their own. Returns the port. */
export function serveRestate(folder: string, modelPort: number): Promise<number> {
  const sdk: RestateSdk = createRequire(join(folder, "package.json"))("@restatedev/restate-sdk");
  const doStepOf =
    (context: Context): DoStep =>
    (name, act) =>
      context.run(name, act);
  const agent = sdk.workflow<AgentInput>({
    name: "agent",
    handlers: { run: (context, input) => runAgent(doStepOf(context), input, modelPort) },
  });
  const tool = sdk.workflow<ToolInput>({
    name: "tool",
    handlers: { run: (context, input) => runTool(doStepOf(context), input) },
  });
  return sdk.endpoint().bind(agent).bind(tool).listen(0);
}

let keys = 0;

/** The ingress starts a workflow once for each key. */
const startOf = (workflow: string, input: object): Start => ({
  paths: (count) => Array.from({ length: count }, () => `/${workflow}/bench-${++keys}/run/send`),
  body: JSON.stringify(input),
  statusPath: (id) => `/restate/invocation/${id}/output`,
});

/** Starts a Restate server with its default settings, and registers the service of `serveRestate`. */
export async function openRestate(folder: string, service: { port: number; pid: number }): Promise<Target> {
  const [port, admin, node] = [await freePort(), await freePort(), await freePort()];
  const data = await createThrowaway();
  const program = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
  const server = spawn(
    join(folder, "node_modules", program),
    ["--no-logo", "--listen-mode=tcp", `--base-dir=${data}`],
    {
      stdio: "ignore",
      env: {
        NODE_ENV: "production",
        RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${port}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        RESTATE_LOG_FILTER: "error",
      },
    },
  );
  const began = performance.now();
  await once(server, "spawn");
  const uri = `http://127.0.0.1:${service.port}`;
  const register = () =>
    fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ uri }),
    }).catch(() => undefined);
  while (!(await register())?.ok) {
    if (server.exitCode !== null) throw new Error("The Restate server ended.");
    await sleep(100);
  }
  return {
    name: "restate",
    port,
    key: "none",
    pids: [server.pid ?? 0, service.pid],
    readyMs: performance.now() - began,
    agent: startOf("agent", { userMessage: "What is 6 * 7?" }),
    tool: startOf("tool", { a: 1 }),
    readId: (body) => JSON.parse(body).invocationId,
    // 470: it exists, and has not completed.
    readStatus: async (response) => {
      await response.arrayBuffer();
      return response.ok ? "Completed" : response.status === 470 ? "Running" : "Failed";
    },
    async stop() {
      const ended = once(server, "exit");
      server.kill();
      await ended;
      await removeThrowaway(data);
    },
  };
}
