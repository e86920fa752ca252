import { Agent, EventSource } from "undici";
import { afterAll, expect, it } from "vitest";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import { startTestService } from "@/testing/services/service";

const service = await startTestService();
afterAll(() => service.stop());

const DEFINITIONS = `
organizations:
  - slug: acme
    plan: { apiAccess: true }
    credits: 100
    apiKeys: [{ name: ci }]
    tools:
      - slug: steps
        name: Steps
        description: Steps with pauses between them.
        steps:
          - { id: one, uses: calculate, with: { expression: 1 + 1 } }
          - { id: pause, uses: wait, with: { seconds: 3 } }
          - { id: two, uses: calculate, with: { expression: 2 + 2 } }
          - { id: again, uses: wait, with: { seconds: 3 } }
          - { id: three, uses: calculate, with: { expression: 3 + 3 } }
`;

it("a browser's EventSource continues by itself when its connection is cut, and stops at the run's end", async () => {
  const [applied] = await applyDefinitionFile(service.services, DEFINITIONS);
  const headers = { "X-API-Key": applied?.apiKeys[0]?.key ?? "" };
  const started = await fetch(`${service.origin}/v1/tools/run/${applied?.tools[0]?.id}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: "{}",
  });
  const { id } = await started.json();

  const dispatcher = new Agent().compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, headers: { ...Object(options.headers), ...headers } }, handler),
  );
  const source = new EventSource(`${service.origin}/v1/tools/run/${id}/events?since=0`, {
    node: { dispatcher },
  });
  const events: { id: string; type: string }[] = [];
  let opened = 0;
  let isOver = false;
  const stopped = new Promise<void>((resolve, reject) => {
    source.addEventListener("open", () => {
      opened += 1;
      if (isOver) reject(new Error("It connected again after the end"));
    });
    source.addEventListener("error", () => {
      if (source.readyState === source.CLOSED) resolve();
    });
  });
  const types = ["run.waiting", "run.running", "step.started", "step.completed", "run.completed"];
  await new Promise<void>((resolve) => {
    for (const type of types) {
      source.addEventListener(type, (event) => {
        events.push({ id: "lastEventId" in event ? String(event.lastEventId) : "", type });
        isOver = type === "run.completed";
        if (isOver) resolve();
        // While the run waits, so that more follows.
        if (type === "run.waiting") service.cut();
      });
    }
  });
  await stopped;
  await dispatcher.close();
  expect(opened).toBeGreaterThan(2);
  expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, n) => n + 1));
  expect(events.filter(({ type }) => type === "step.completed")).toHaveLength(5);
});
