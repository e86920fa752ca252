import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../support/project.mjs";
import { killProcess } from "./database";

/** Points of the engine (server/runs/engine/pause-points.ts), with the probability that a process kills itself there. */
const POINTS = {
  "accounts:before": 0.1,
  "accounts:sent": 0.1,
  "accounts:answered": 0.1,
  "journal:before": 0.05,
  "journal:sent": 0.05,
  "journal:answered": 0.05,
  "claim:after": 0.3,
  "act:before": 0.05,
  "act:after": 0.05,
  "end:before": 0.1,
  "yield:before": 0.2,
};

type Service = { port: number; pid: number; ready: boolean; over: Promise<unknown>; kill(): void };

/**
 * The processes of the service, restarted whenever one ends. `pointKills` is how many processes kill themselves at named
 * points.
 */
export function startServices({
  ports,
  environment,
  pointKills,
}: {
  ports: number[];
  environment: NodeJS.ProcessEnv;
  pointKills: number;
}) {
  const running = new Map<number, Service>();
  const diedAt: string[] = [];
  const names = Object.entries(POINTS).sort(() => Math.random() - 0.5);
  let next = 0;
  let stopping = false;

  const start = (port: number) => {
    const point = diedAt.length < pointKills ? names[next++ % names.length] : undefined;
    const child = spawn(process.execPath, ["scripts/start.mjs"], {
      cwd: ROOT,
      env: {
        ...environment,
        PORT: String(port),
        APP_URL: `http://127.0.0.1:${port}`,
        STEPWELL_PAUSE_POINTS: point?.join("=") ?? "",
      },
      detached: true,
      stdio: ["ignore", "ignore", "inherit"],
    });
    let killedByUs = false;
    const service: Service = {
      port,
      pid: child.pid ?? 0,
      ready: false,
      over: once(child, "exit"),
      kill() {
        killedByUs = true;
        killProcess(-service.pid);
      },
    };
    running.set(port, service);
    child.on("exit", (code, signal) => {
      service.ready = false;
      if (stopping) return;
      if (signal === "SIGKILL" && point !== undefined && !killedByUs) diedAt.push(point[0]);
      else if (signal !== "SIGKILL")
        console.error(`The service on ${port} ended by itself: ${code ?? signal}`);
      start(port);
    });
    void waitUntilReady(service);
  };
  for (const port of ports) start(port);

  return {
    diedAt,
    /** Waits until `count` processes are ready, at most a minute. */
    async ready(count = ports.length) {
      for (let i = 0; i < 600; i += 1) {
        if ([...running.values()].filter(({ ready }) => ready).length >= count) return;
        await sleep(100);
      }
      throw new Error("the service did not become ready");
    },
    /** A random ready process, or any process if none is ready. */
    any() {
      const all = [...running.values()];
      const ready = all.filter((service) => service.ready);
      const some = ready.length > 0 ? ready : all;
      const found = some[Math.floor(Math.random() * some.length)];
      if (found === undefined) throw new Error("no process was started");
      return found;
    },
    async stop() {
      stopping = true;
      const ending = [...running.values()];
      for (const { pid } of ending) killProcess(-pid, "SIGTERM");
      const patience = sleep(15_000, "late");
      const how = await Promise.race([Promise.all(ending.map(({ over }) => over)), patience]);
      for (const { pid } of ending) killProcess(-pid);
      return how !== "late";
    },
  };
}

async function waitUntilReady(service: Service): Promise<void> {
  let over = false;
  void service.over.then(() => {
    over = true;
  });
  while (!over && !service.ready) {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/ready`).catch(() => null);
    service.ready = response?.ok === true && !over;
    if (!service.ready) await sleep(200);
  }
}
