import type { ApiKeyActor } from "@/server/base/actor";
import type { StepMemory } from "@/server/guard/limits/process-memory";
import type { EventSink } from "@/server/runs/live/event-stream";
import { readCalledRuns, readOpenCalls } from "@/server/runs/read/events/called-runs";
import {
  finishedStep,
  type RunEvent,
  type RunRef,
  readEvents,
  readSnapshot,
  type StepCall,
} from "@/server/runs/read/events/read-events";
import { agentRunStatus, toolRunStatus } from "@/server/runs/read/views";
import { listenToRun, type Subscription } from "@/server/runs/run-changes";
import type { RunFacts } from "@/server/runs/run-facts";
import type { Services } from "@/server/runs/services";
import { type ChildPosition, type Position, START } from "./position";
import { RunTexts } from "./run-texts";

/** The followers of a run and of the runs that it calls share it. */
export type Tree = {
  services: Services;
  actor: ApiKeyActor;
  sink: EventSink;
  hasChildren: boolean;
  /** The id of an event that is sent now. */
  eventId(): string;
  onChange(): void;
};

/** The step, of a run further up, that called a run. */
type PathPart = { stepNumber: number } & ({ agentRunId: string } | { toolRunId: string });

type Followed = {
  ref: RunRef;
  since: Position;
  view(run: RunFacts): object;
  /** From the root; empty for the root itself. */
  path: readonly PathPart[];
};

/** The reader's place in the runs that a step called, one after the other: in the last one it knows of. */
type Called = { attempt: number; since: ChildPosition | null; run: RunFollower | null };

/** Sends the events of one run, and those of the runs that it calls between the start and the completion of the step. */
export class RunFollower {
  readonly #tree: Tree;
  readonly #followed: Followed;
  readonly #texts: RunTexts;
  /** By the number of the event that the step started with. */
  readonly #called: Map<number, Called>;
  readonly #drained = new Set<number>();
  #n: number;
  #open: StepCall[] = [];
  #isChanged = true;
  #isOver = false;
  #subscription: Subscription | null = null;

  constructor(tree: Tree, followed: Followed) {
    this.#tree = tree;
    this.#followed = followed;
    this.#texts = new RunTexts(tree.services, tree.actor, followed.ref.runId);
    const { n, children } = followed.since;
    this.#n = n;
    this.#called = new Map(
      [...children].map(([step, since]) => [step, { attempt: since.attempt, since, run: null }]),
    );
  }

  subscribe(): Subscription {
    const changed = () => {
      this.#isChanged = true;
      this.#tree.onChange();
    };
    this.#subscription ??= listenToRun(this.#tree.services, this.#followed.ref.runId, changed);
    return this.#subscription;
  }

  close(): void {
    this.#subscription?.unsubscribe();
    for (const { run } of this.#called.values()) run?.close();
  }

  position(): Position {
    const children = [...this.#called].flatMap(([step, { attempt, since, run }]) => {
      const position = run?.position() ?? since;
      return position === null ? [] : [[step, { ...position, attempt }] as const];
    });
    return { n: this.#n, children: new Map(children) };
  }

  /** The state with the finished steps. What open steps have called follows from the start. */
  async sendSnapshot(): Promise<void> {
    const { services, actor, sink, eventId } = this.#tree;
    const { ref, view } = this.#followed;
    await this.#hold(async (memory) => {
      const { run, n, steps } = await readSnapshot(services, { actor, ref, memory, signal: sink.signal });
      this.#n = n;
      sink.send({
        name: "snapshot",
        data: { ...view(run), steps: steps.map(finishedStep) },
        id: eventId(),
      });
    });
  }

  /** The memory counts until the reader has taken what the work sends. */
  #hold<Result>(work: (memory: StepMemory) => Promise<Result>): Promise<Result> {
    const { services, actor, sink } = this.#tree;
    return services.memory.answer(actor.orgId, { bytes: 0 }, async (memory) => {
      const result = await work(memory);
      await sink.drained();
      return result;
    });
  }

  /** Sends what is new. Returns true if the last event was sent. `isPoll`: also if no change was notified. */
  async send({ isPoll }: { isPoll: boolean }): Promise<boolean> {
    if (this.#isOver) return true;
    const { services, sink, hasChildren } = this.#tree;
    if (isPoll || this.#isChanged) {
      this.#isChanged = false;
      for (let isWhole = false; !isWhole; ) {
        const sent = await this.#sendEvents();
        if (sent.undrained !== null) {
          if (!(await this.#drain(sent.undrained, { isPoll: true }))) {
            this.#isChanged = true;
            return false;
          }
          this.#drained.add(sent.undrained.n);
        } else if (sent.isOver) {
          this.#isOver = true;
          return true;
        }
        isWhole = sent.isWhole && sent.undrained === null;
        if (sink.signal.aborted) return false;
      }
      if (hasChildren) this.#open = await readOpenCalls(services, this.#followed.ref.runId, this.#n);
      const open = new Set(this.#open.map(({ n }) => n));
      for (const step of this.#called.keys()) if (!open.has(step)) this.#release(step);
    }
    for (const call of this.#open) await this.#drain(call, { isPoll });
    return false;
  }

  /** Sends the next events, up to the completion of a step whose runs may have more: `undrained`. */
  async #sendEvents() {
    const { services, actor, hasChildren, sink } = this.#tree;
    const { ref, view } = this.#followed;
    const { signal } = sink;
    return this.#hold(async (memory) => {
      const { run, events, isWhole, end } = await readEvents(
        services,
        { actor, ref, memory, signal },
        this.#n,
      );
      if (ref.kind === "agent") await this.#texts.send((name, data) => this.#write({ name, data }));
      for (const event of events) {
        const call = hasChildren && event.type === "step.completed" ? event.call : undefined;
        if (call && !this.#drained.has(call.n)) return { undrained: call, isWhole, isOver: false };
        if (call) this.#release(call.n);
        this.#writeNumbered(event);
      }
      const isOver = isWhole && end !== null;
      if (isOver && end > this.#n) {
        this.#writeNumbered({ n: end, type: `run.${run.status.toLowerCase()}`, data: view(run) });
      }
      return { undrained: null, isWhole, isOver };
    });
  }

  /** Sends the events of the runs that a step called so far. Returns true if these runs are over. */
  async #drain(call: StepCall, { isPoll }: { isPoll: boolean }): Promise<boolean> {
    const { services, actor } = this.#tree;
    const { runId } = this.#followed.ref;
    const called = this.#called.get(call.n) ?? { attempt: 0, since: null, run: null };
    for (;;) {
      if (called.run !== null && !(await called.run.send({ isPoll }))) return false;
      const runs = await readCalledRuns(services, actor, { runId, key: call.key });
      const next = runs.find(({ attempt }) =>
        called.run === null ? attempt >= called.attempt : attempt > called.attempt,
      );
      if (next === undefined) return true;
      called.run?.close();
      const since = next.attempt === called.attempt ? called.since : null;
      called.run = this.#followCalled(call, next, since ?? START);
      called.attempt = next.attempt;
      called.since = null;
      this.#called.set(call.n, called);
    }
  }

  #followCalled({ stepNumber }: StepCall, ref: RunRef, since: Position): RunFollower {
    const { services } = this.#tree;
    const { kind, runId } = ref;
    const part = { stepNumber, ...(kind === "agent" ? { agentRunId: runId } : { toolRunId: runId }) };
    const run = new RunFollower(this.#tree, {
      ref: { kind, runId },
      since,
      view: (facts) =>
        kind === "agent" ? agentRunStatus(facts) : toolRunStatus(facts, services.clock.now()),
      path: [...this.#followed.path, part],
    });
    run.subscribe();
    return run;
  }

  #release(step: number): void {
    this.#called.get(step)?.run?.close();
    this.#called.delete(step);
    this.#drained.delete(step);
  }

  #writeNumbered({ n, type, data }: Pick<RunEvent, "n" | "type" | "data">): void {
    this.#n = n;
    this.#write({ name: type, data, id: this.#tree.eventId() });
  }

  #write({ name, data, id }: { name: string; data: object; id?: string }): void {
    const { path } = this.#followed;
    this.#tree.sink.send({ name, data: path.length === 0 ? data : { ...data, path }, id });
  }
}
