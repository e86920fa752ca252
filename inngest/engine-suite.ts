import { type Inngest, type InngestFunction, NonRetriableError, RetryAfterError } from "inngest";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

/** An engine to try: somewhere functions can be served, and told apart from those of other tests. */
export type Stage = {
  /**
   * Serves what `define` makes with a client of its own, under a fresh app id.
   * Resolves when events sent through that client reach these functions.
   */
  serve(define: (client: Inngest) => InngestFunction.Any[]): Promise<Inngest>;
  close(): Promise<void>;
};

/** How long a fact may take to come true; a real server takes up to seconds between steps. */
const PATIENCE_MS = 15_000;

/** Waits for a fact. */
export async function until(fact: () => unknown): Promise<void> {
  await vi.waitFor(() => expect(fact()).toBeTruthy(), { timeout: PATIENCE_MS, interval: 10 });
}

/** What any engine must do with unmodified functions, whoever drives them. Event names are told apart by the app's id. */
export function describeEngine(name: string, open: () => Promise<Stage>): void {
  describe.concurrent(name, { timeout: 30_000 }, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await open();
    }, 30_000);
    afterAll(() => stage?.close(), 30_000);

    test("an event starts every function that its name and condition select, once, with its data", async () => {
      const seen: string[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "plain", triggers: { event: `${app.id}/go` } }, ({ event }) => {
          seen.push(
            `plain ${event.data.n} ${event.name === `${app.id}/go`} ${typeof event.id} ${typeof event.ts}`,
          );
        }),
        app.createFunction(
          { id: "picky", triggers: { event: `${app.id}/go`, if: "event.data.n == 2" } },
          ({ event }) => {
            seen.push(`picky ${event.data.n}`);
          },
        ),
        app.createFunction({ id: "other", triggers: { event: `${app.id}/other` } }, () => {
          seen.push("other");
        }),
      ]);
      await client.send([1, 2].map((n) => ({ name: `${client.id}/go`, data: { n } })));
      await until(() => seen.length >= 3);
      expect(seen.sort()).toEqual(["picky 2", "plain 1 true string number", "plain 2 true string number"]);
    });

    test("steps run once, in order, and hand their results on as JSON", async () => {
      const ran: string[] = [];
      const results: unknown[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          const first = await step.run("first", () => {
            ran.push("first");
            return { at: new Date(0), nothing: undefined, text: "\u0000\ud83d\ude00" };
          });
          const none = await step.run("none", () => {
            ran.push("none");
          });
          await step.sleep("pause", "1s");
          const loop: number[] = [];
          for (let i = 0; i < 3; i++) {
            loop.push(
              await step.run("repeated id", () => {
                ran.push(`loop ${i}`);
                return i;
              }),
            );
          }
          results.push({ first, none, loop });
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => results.length > 0);
      expect(ran).toEqual(["first", "none", "loop 0", "loop 1", "loop 2"]);
      expect(results[0]).toEqual({
        first: { at: "1970-01-01T00:00:00.000Z", text: "\u0000\ud83d\ude00" },
        none: null,
        loop: [0, 1, 2],
      });
    });

    test("a failing step is tried again, alone, until it succeeds", async () => {
      const ran: string[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step, attempt }) => {
          await step.run("before", () => {
            ran.push("before");
          });
          await step.run("shaky", () => {
            ran.push(`shaky ${attempt}`);
            if (attempt < 2) throw new RetryAfterError("not yet", 1_000);
          });
          await step.run("after", () => {
            ran.push("after");
          });
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => ran.includes("after"));
      expect(ran).toEqual(["before", "shaky 0", "shaky 1", "shaky 2", "after"]);
    });

    test("RetryAfterError decides when the next attempt comes", async () => {
      const at: number[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, () => {
          at.push(Date.now());
          if (at.length === 1) throw new RetryAfterError("later", 2_000);
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => at.length === 2);
      // A real server keeps these moments to the second.
      expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(950);
    });

    test("a step that fails for good can be caught, with its name and message; others are not run again", async () => {
      const ran: string[] = [];
      let caught: unknown;
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", retries: 0, triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          await step.run("before", () => {
            ran.push("before");
          });
          const outcome = await step
            .run("doomed", () => {
              ran.push("doomed");
              throw new TypeError("never works");
            })
            .catch((error: Error) => `${error.name}: ${error.message}`);
          await step.run("after", () => {
            ran.push("after");
          });
          caught = outcome;
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => caught);
      expect(ran).toEqual(["before", "doomed", "after"]);
      expect(caught).toBe("TypeError: never works");
    });

    test("a run that fails for good calls its onFailure once, with the error and the event", async () => {
      const ran: string[] = [];
      const failures: unknown[] = [];
      const client = await stage.serve((app) => [
        app.createFunction(
          {
            id: "f",
            retries: 3,
            triggers: { event: `${app.id}/go` },
            onFailure: async ({ event, error, step }) => {
              const noted = await step.run("note", () => "noted");
              failures.push([noted, error.message, event.data.event.data, event.data.function_id]);
            },
          },
          async ({ step, event }) => {
            await step.run("fatal", () => {
              ran.push(`fatal ${event.data.n}`);
              throw new NonRetriableError("wrong for ever");
            });
          },
        ),
        app.createFunction({ id: "outside", retries: 3, triggers: { event: `${app.id}/go` } }, () => {
          ran.push("outside");
          throw new NonRetriableError("not in a step");
        }),
      ]);
      await client.send({ name: `${client.id}/go`, data: { n: 7 } });
      await until(() => failures.length > 0 && ran.length > 1);
      expect(ran.sort()).toEqual(["fatal 7", "outside"]);
      expect(failures).toEqual([["noted", "wrong for ever", { n: 7 }, `${client.id}-f`]]);
    });

    test("cancelOn stops the runs that its condition selects, and no others", async () => {
      const ended: unknown[] = [];
      const slept: unknown[] = [];
      const client = await stage.serve((app) => [
        app.createFunction(
          {
            id: "f",
            triggers: { event: `${app.id}/go` },
            cancelOn: [{ event: `${app.id}/stop`, if: "event.data.id == async.data.id" }],
          },
          async ({ step, event }) => {
            await step.run("begin", () => {
              slept.push(event.data.id);
            });
            await step.sleep("pause", "2s");
            await step.run("end", () => {
              ended.push(event.data.id);
            });
          },
        ),
      ]);
      await client.send(["a", "b", "c"].map((id) => ({ name: `${client.id}/go`, data: { id } })));
      await until(() => slept.length === 3);
      await client.send({ name: `${client.id}/stop`, data: { id: "b" } });
      await until(() => ended.length === 2);
      // A run of its own that sleeps as long again: had "b" gone on, it would have ended before this one.
      await client.send({ name: `${client.id}/go`, data: { id: "d" } });
      await until(() => ended.includes("d"));
      expect(ended.toSorted()).toEqual(["a", "c", "d"]);
    });

    test("sleep and sleepUntil wait no less than they say", async () => {
      const at: number[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          await step.run("begin", () => at.push(Date.now()));
          await step.sleep("pause", 1_000);
          const moment = await step.run("middle", () => {
            at.push(Date.now());
            return Date.now() + 2_500;
          });
          await step.sleepUntil("until", new Date(moment));
          await step.run("end", () => at.push(Date.now()));
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => at.length === 3);
      const [begin = 0, middle = 0, end = 0] = at;
      expect(middle - begin).toBeGreaterThanOrEqual(950);
      // A real server keeps moments to the second.
      expect(end - middle).toBeGreaterThanOrEqual(1_450);
    });

    test("parallel steps run at the same time, each once, and the function goes on when all are done", async () => {
      const ran: string[] = [];
      let together = 0;
      let most = 0;
      let result: unknown;
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          const branch = (id: string) =>
            step.run(id, async () => {
              ran.push(id);
              most = Math.max(most, ++together);
              await vi.waitFor(() => expect(most).toBe(3), { timeout: PATIENCE_MS });
              together--;
              return id;
            });
          await step.run("before", () => ran.push("before"));
          const values = await Promise.all([branch("a"), branch("b"), branch("c")]);
          const after = await step.run("after", () => {
            ran.push("after");
            return "after";
          });
          result = [...values, after];
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => result);
      expect(result).toEqual(["a", "b", "c", "after"]);
      expect(ran.toSorted()).toEqual(["a", "after", "b", "before", "c"]);
    });

    test("a parallel step that fails is tried again without its siblings", async () => {
      const ran: string[] = [];
      let result: unknown;
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step, attempt }) => {
          const values = await Promise.all([
            step.run("good", () => {
              ran.push("good");
              return 1;
            }),
            step.run("shaky", () => {
              ran.push(`shaky ${attempt}`);
              if (attempt === 0) throw new RetryAfterError("not yet", 1_000);
              return 2;
            }),
            step.sleep("pause", "1s").then(() => 3),
          ]);
          result = values;
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => result);
      expect(result).toEqual([1, 2, 3]);
      expect(ran.toSorted()).toEqual(["good", "shaky 0", "shaky 1"]);
    });

    test("in a race the function goes on with the first", async () => {
      const ran: string[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step, group }) => {
          const winner = await group.parallel({ mode: "race" }, () =>
            Promise.race([step.run("quick", () => "quick"), step.sleep("slow", "1h").then(() => "slow")]),
          );
          await step.run("after", () => ran.push(`after ${winner}`));
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => ran.length > 0);
      expect(ran).toEqual(["after quick"]);
    });

    test("parallel steps resolve in one order, the same in every later call", async () => {
      const orders: string[] = [];
      let ended = false;
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          const order: string[] = [];
          const branch = (id: string, ms: number) =>
            step
              .run(id, () => new Promise<void>((resolve) => setTimeout(resolve, ms)))
              .then(() => order.push(id));
          await Promise.all([branch("a", 200), branch("b", 0), branch("c", 400)]);
          orders.push(order.join(" "));
          await step.sleep("pause", "1s");
          await step.run("end", () => {
            ended = true;
          });
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => ended);
      expect(orders.length).toBeGreaterThan(1);
      expect(new Set(orders)).toEqual(new Set([orders[0]]));
      expect(orders[0]?.split(" ").sort()).toEqual(["a", "b", "c"]);
    });

    test("optimizeParallelism: false goes on after each parallel step", async () => {
      const ran: string[] = [];
      const client = await stage.serve((app) => [
        app.createFunction(
          { id: "f", optimizeParallelism: false, triggers: { event: `${app.id}/go` } },
          async ({ step }) => {
            await Promise.all([
              step.run("a", () => ran.push("a")).then(() => step.run("a2", () => ran.push("a2"))),
              step.sleep("b", "3s").then(() => step.run("b2", () => ran.push("b2"))),
            ]);
            await step.run("end", () => ran.push("end"));
          },
        ),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => ran.includes("end"));
      expect(ran).toEqual(["a", "a2", "b2", "end"]);
    });

    test("concurrency by key: one at a time for a key, keys beside each other", async () => {
      const running = new Map<string, number>();
      let mostOfOneKey = 0;
      let mostKeys = 0;
      let done = 0;
      const client = await stage.serve((app) => [
        app.createFunction(
          { id: "f", concurrency: { limit: 1, key: "event.data.key" }, triggers: { event: `${app.id}/go` } },
          async ({ step, event }) => {
            await step.run("work", async () => {
              const { key } = event.data;
              running.set(key, (running.get(key) ?? 0) + 1);
              mostOfOneKey = Math.max(mostOfOneKey, ...running.values());
              mostKeys = Math.max(mostKeys, [...running.values()].filter(Boolean).length);
              await new Promise((resolve) => setTimeout(resolve, 150));
              running.set(key, (running.get(key) ?? 0) - 1);
              done++;
            });
          },
        ),
      ]);
      await client.send(
        ["a", "a", "a", "b", "b", "b"].map((key) => ({ name: `${client.id}/go`, data: { key } })),
      );
      await until(() => done === 6);
      expect(mostOfOneKey).toBe(1);
      expect(mostKeys).toBe(2);
    });

    test("an event whose id was seen before starts nothing", async () => {
      const seen: unknown[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, ({ event }) => {
          seen.push(event.data.n);
        }),
      ]);
      const send = (id: string, n: number) => client.send({ id, name: `${client.id}/go`, data: { n } });
      await send(`${client.id}-1`, 1);
      await until(() => seen.length === 1);
      await send(`${client.id}-1`, 2);
      await send(`${client.id}-2`, 3);
      await until(() => seen.length >= 2);
      await send(`${client.id}-1`, 4);
      await send(`${client.id}-3`, 5);
      await until(() => seen.includes(5));
      expect(seen.toSorted()).toEqual([1, 3, 5]);
    });

    test("invoke runs another function and returns what it returned", async () => {
      let result: unknown;
      const client = await stage.serve((app) => {
        const double = app.createFunction({ id: "double", triggers: [] }, async ({ step, event }) =>
          step.run("double", () => ({ twice: Number(Reflect.get(event.data, "n")) * 2 })),
        );
        const broken = app.createFunction({ id: "broken", triggers: [], retries: 0 }, () => {
          throw new Error("child is broken");
        });
        return [
          double,
          broken,
          app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
            const value = await step.invoke("call", { function: double, data: { n: 21 } });
            const failure = await step
              .invoke("fail", { function: broken, data: {} })
              .catch((error: Error) => error.message);
            result = { value, failure };
          }),
        ];
      });
      await client.send({ name: `${client.id}/go` });
      await until(() => result);
      expect(result).toEqual({ value: { twice: 42 }, failure: "child is broken" });
    });

    test("waitForEvent resolves with the event that matches, or with null when its time is over", async () => {
      const begun: unknown[] = [];
      const results: unknown[] = [];
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step, event }) => {
          await step.run("begin", () => begun.push(event.data.id));
          const answer = await step.waitForEvent("answer", {
            event: `${app.id}/answer`,
            timeout: "4s",
            if: "async.data.id == event.data.id && async.data.ok == true",
          });
          results.push([event.data.id, answer?.data ?? null]);
        }),
      ]);
      await client.send(["a", "b"].map((id) => ({ name: `${client.id}/go`, data: { id } })));
      await until(() => begun.length === 2);
      await client.send({ name: `${client.id}/answer`, data: { id: "a", ok: false } });
      // The wait of "a" is set up just after "begin" is seen: say it until it is heard.
      const talk = setInterval(() => {
        void client.send({ name: `${client.id}/answer`, data: { id: "a", ok: true } }).catch(() => {});
      }, 100);
      try {
        await until(() => results.length > 0);
      } finally {
        clearInterval(talk);
      }
      expect(results).toEqual([["a", { id: "a", ok: true }]]);
      await until(() => results.length > 1);
      expect(results[1]).toEqual(["b", null]);
    });

    test("sendEvent is a step: it sends once, and what it sends starts functions", async () => {
      const heard: unknown[] = [];
      let ids: unknown;
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          const sent = await step.sendEvent("tell", { name: `${app.id}/told`, data: { n: 1 } });
          await step.sleep("pause", "1s");
          await step.run("end", () => {
            ids = sent.ids;
          });
        }),
        app.createFunction({ id: "g", triggers: { event: `${app.id}/told` } }, ({ event }) => {
          heard.push(event.data.n);
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => ids);
      expect(ids).toHaveLength(1);
      expect(heard).toEqual([1]);
    });

    test("a hundred steps in a row are a run like any other", async () => {
      const ran: number[] = [];
      let sum = 0;
      const client = await stage.serve((app) => [
        app.createFunction({ id: "f", triggers: { event: `${app.id}/go` } }, async ({ step }) => {
          let total = 0;
          for (let i = 0; i < 100; i++) {
            total += await step.run(`step-${i}`, () => {
              ran.push(i);
              return i;
            });
          }
          sum = total;
        }),
      ]);
      await client.send({ name: `${client.id}/go` });
      await until(() => sum > 0);
      expect(sum).toBe(4_950);
      expect(ran).toEqual(Array.from({ length: 100 }, (_, i) => i));
    });
  });
}
