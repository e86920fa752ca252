import { CallbackDispatcher } from "@/server/catalog/callbacks/send/dispatcher";
import { releaseLostRuns } from "@/server/operate/lost-runs";
import { startMaintenance } from "@/server/operate/maintenance";
import type { ClaimedRun } from "@/server/runs/engine/claimed-run";
import { RunEngine } from "@/server/runs/engine/engine";
import { endedRunFacts } from "@/server/runs/engine/poll-facts";
import type { Worker } from "@/server/runs/engine/port";
import type { Suspect } from "@/server/runs/engine/suspects";
import { startScheduleTimer } from "@/server/runs/schedules/timer";
import type { Services } from "@/server/services";
import { createEmbeddedDriver } from "./embedded";
import type { ServerDriver } from "./server";

const LOST_EVERY_MS = 5_000;

/** The engine of a process with its driver, as configured: embedded, or an Inngest server. */
export class RunningEngine extends RunEngine {
  declare protected readonly getServices: () => Services;
  #server: ServerDriver | undefined;
  #stopMaintenance = async () => {};
  #callbacks: CallbackDispatcher | undefined;
  #stopSchedules = async () => {};
  #timer: NodeJS.Timeout | undefined;
  #onBegin: (suspect: Suspect) => void = () => {};

  constructor(getServices: () => Services, { slots }: { slots: number }) {
    super(getServices, {
      slots,
      onEnd(run, end) {
        const { endedRuns, log } = getServices();
        const facts = endedRunFacts(run, end);
        endedRuns.add(run.orgId, facts);
        log.info("run ended", {
          runId: run.id,
          orgId: run.orgId,
          kind: run.kind,
          status: facts.status,
          durationMs: end.finishedAt.getTime() - run.startedAt.getTime(),
          steps: facts.stepsExecuted,
          ...(end.outcome.status === "Failed" ? { code: end.outcome.code } : {}),
        });
      },
    });
  }

  /**
   * Without it, this process only starts, reads and cancels runs. `ordinary`: leaves suspects to an isolated
   * process.
   */
  async execute(queue: "all" | "ordinary" = "all"): Promise<void> {
    const services = this.getServices();
    const { inngest } = services.env;
    if (inngest === undefined) this.start(createEmbeddedDriver(this), queue);
    else {
      const { createServerDriver } = await import("./server");
      this.#server = createServerDriver(services, this, inngest);
      this.start(this.#server.driver, queue);
    }
    this.#seekLostRuns();
    this.#stopMaintenance = startMaintenance(services);
    this.#callbacks = new CallbackDispatcher(services);
    this.#callbacks.start();
    this.#stopSchedules = startScheduleTimer(services);
  }

  /** Executes only suspects, without an Inngest server, maintenance and callbacks. Calls `onBegin` before each. */
  executeSuspects(onBegin: (suspect: Suspect) => void): void {
    this.#onBegin = onBegin;
    this.start(createEmbeddedDriver(this), "suspects");
  }

  override beginClaimed(run: ClaimedRun, worker: Worker): Promise<void> {
    this.#onBegin({ run: run.id, worker: worker.id });
    return super.beginClaimed(run, worker);
  }

  takesCalls(): boolean {
    return this.#server !== undefined;
  }

  /** Answers 404 on the embedded engine, 503 if this process executes no runs. */
  async handle(request: Request): Promise<Response> {
    if (this.#server !== undefined) return this.#server.handle(request);
    if (this.getServices().env.inngest === undefined) return new Response("Not found", { status: 404 });
    // The server repeats the call, which another process may answer.
    return new Response("This process executes no runs: point INNGEST_SERVE_ORIGIN at one that does.", {
      status: 503,
    });
  }

  override async ready(): Promise<boolean> {
    return (await super.ready()) && (this.#server?.isRegistered() ?? true);
  }

  override async stop(graceMs?: number): Promise<void> {
    clearInterval(this.#timer);
    this.#server?.stop();
    const jobs = Promise.all([this.#stopSchedules(), this.#stopMaintenance()]);
    await Promise.all([super.stop(graceMs, jobs), this.#callbacks?.stop()]);
  }

  /** Takes back runs that an Inngest server does not call, even one that the deployment used before. */
  #seekLostRuns(): void {
    const services = this.getServices();
    const seek = async () => {
      if ((await releaseLostRuns(services)) > 0) this.wake();
    };
    this.#timer = setInterval(() => {
      seek().catch((error: unknown) => {
        services.log.warn("Could not take back lost runs; retrying in 5 s", { error });
      });
    }, LOST_EVERY_MS);
    this.#timer.unref();
  }
}
