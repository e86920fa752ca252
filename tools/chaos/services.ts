import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { PausePoint } from "@/server/base/pause-points";
import { startService, untilReady } from "@/testing/services/service-process";

/** Probabilities that a process kills itself at a point of the engine. */
const POINTS: Record<PausePoint, number> = {
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
  "tick:before": 0.02,
  "tick:after": 0.02,
  "callback:before": 0.1,
  "callback:expanded": 0.1,
  "callback:sent": 0.1,
  "yield:before": 0.2,
};

type Service = { port: number; child: ChildProcess; isReady: boolean; isKilled: boolean };

/**
 * The processes of the service, restarted whenever one ends. `pointKills` is how many processes kill themselves at named
 * points.
 */
export function startServices({
  ports,
  env,
  pointKills,
}: {
  ports: number[];
  env: NodeJS.ProcessEnv;
  pointKills: number;
}) {
  const running = new Map<number, Service>();
  const diedAt: string[] = [];
  const points = Object.entries(POINTS).sort(() => Math.random() - 0.5);
  let next = 0;
  let isStopping = false;

  const start = (port: number) => {
    const point = diedAt.length < pointKills ? points[next++ % points.length] : undefined;
    const child = startService({
      env: {
        ...env,
        PORT: String(port),
        APP_URL: `http://127.0.0.1:${port}`,
        STEPWELL_PAUSE_POINTS: point?.join("=") ?? "",
      },
    });
    const service: Service = { port, child, isReady: false, isKilled: false };
    running.set(port, service);
    void untilReady(child, port).then((isReady) => {
      service.isReady = isReady;
    });
    child.once("exit", (code, signal) => {
      if (isStopping) return;
      if (signal !== "SIGKILL") console.error(`The service on ${port} ended by itself: ${code ?? signal}`);
      else if (point !== undefined && !service.isKilled) diedAt.push(point[0]);
      start(port);
    });
  };
  for (const port of ports) start(port);
  const ready = () => [...running.values()].filter(({ isReady }) => isReady);
  const any = () => {
    const some = ready().length > 0 ? ready() : [...running.values()];
    const found = some[Math.floor(Math.random() * some.length)];
    if (found === undefined) throw new Error("no process was started");
    return found;
  };

  return {
    diedAt,
    async ready(count = ports.length) {
      for (let i = 0; i < 600; i += 1) {
        if (ready().length >= count) return;
        await sleep(100);
      }
      throw new Error("the service did not become ready");
    },
    port: () => any().port,
    async kill() {
      const service = any();
      service.isKilled = true;
      service.child.kill("SIGKILL");
      await once(service.child, "exit");
    },
    async stall(ms: number) {
      const { child } = any();
      child.kill("SIGSTOP");
      await sleep(ms);
      child.kill("SIGCONT");
    },
    async stop() {
      isStopping = true;
      const children = [...running.values()].map(({ child }) => child);
      const ends = Promise.all(children.map((child) => once(child, "exit")));
      for (const child of children) child.kill("SIGTERM");
      const how = await Promise.race([ends, sleep(15_000, "late")]);
      for (const child of children) child.kill("SIGKILL");
      return how !== "late";
    },
  };
}
