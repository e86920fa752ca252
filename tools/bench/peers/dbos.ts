import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { listen } from "../../../scripts/support/ports.mjs";
import type { Start, Target } from "../target";
import {
  type AgentInput,
  agentInput,
  type DoStep,
  runAgent,
  runTool,
  type ToolInput,
  toolInput,
} from "./work";

/** The parts of `@dbos-inc/dbos-sdk` used here. It is no package of ours, so it brings no types. */
type Workflow<Input> = (input: Input) => Promise<unknown>;
type DbosSdk = {
  DBOS: {
    setConfig: (config: {
      name: string;
      systemDatabaseUrl: string;
      systemDatabasePoolSize: number;
      logLevel: string;
    }) => void;
    launch: () => Promise<void>;
    registerWorkflow: <Input>(workflow: Workflow<Input>, options: { name: string }) => Workflow<Input>;
    startWorkflow: <Input>(workflow: Workflow<Input>) => (input: Input) => Promise<{ workflowID: string }>;
    runStep: <Result>(act: () => Promise<Result>, options: { name: string }) => Promise<Result>;
    getWorkflowStatus: (id: string) => Promise<{ status: string } | null>;
  };
};

/** As in one of our processes. */
const POOL_SIZE = 20;

/**
 * Serves the agent and the tool with DBOS, in a process of its own. DBOS is a library: node:http takes the starts and
 * polls. Returns the port.
 */
export async function serveDbos(folder: string, modelPort: number): Promise<number> {
  const { DBOS }: DbosSdk = createRequire(join(folder, "package.json"))("@dbos-inc/dbos-sdk");
  const systemDatabaseUrl = process.env.DBOS_SYSTEM_DATABASE_URL ?? "";
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl,
    systemDatabasePoolSize: POOL_SIZE,
    logLevel: "error",
  });
  const doStep: DoStep = (name, act) => DBOS.runStep(act, { name });
  const agent = DBOS.registerWorkflow((input: AgentInput) => runAgent(doStep, input, modelPort), {
    name: "agent",
  });
  const tool = DBOS.registerWorkflow((input: ToolInput) => runTool(doStep, input), { name: "tool" });
  await DBOS.launch();
  const start = (path: string | undefined, input: unknown) =>
    path === "/agent"
      ? DBOS.startWorkflow(agent)(agentInput.parse(input))
      : DBOS.startWorkflow(tool)(toolInput.parse(input));
  const server = createServer(async (incoming, outgoing) => {
    const answer =
      incoming.method === "POST"
        ? { id: (await start(incoming.url, await json(incoming))).workflowID }
        : await DBOS.getWorkflowStatus(incoming.url?.split("/").at(-1) ?? "");
    const body = JSON.stringify(answer);
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    outgoing.writeHead(200, headers).end(body);
  });
  return listen(server);
}

const startOf = (path: string, input: object): Start => ({
  paths: () => [path],
  body: JSON.stringify(input),
  statusPath: (id) => `/status/${id}`,
});

const STATUSES: Record<string, string> = { SUCCESS: "Completed", ERROR: "Failed" };

/** The service of `serveDbos`, with the PostgreSQL that it uses. */
export function openDbos(
  service: { port: number; pid: number; readyMs: number },
  database: { pid: number; stop: () => Promise<void>; countStatements: Target["countStatements"] },
): Target {
  return {
    name: "dbos",
    port: service.port,
    key: "none",
    pids: [service.pid],
    postmaster: database.pid,
    readyMs: service.readyMs,
    agent: startOf("/agent", { userMessage: "What is 6 * 7?" }),
    tool: startOf("/tool", { a: 1 }),
    readId: (body) => JSON.parse(body).id,
    readStatus: async (response) => STATUSES[(await response.json()).status] ?? "Running",
    countStatements: database.countStatements,
    stop: database.stop,
  };
}
