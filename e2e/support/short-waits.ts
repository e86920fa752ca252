import { expect } from "@playwright/test";
import {
  requestPackets,
  requestShapes,
  requestText,
  type Shape,
  watchService,
} from "@/testing/request-shapes";

/** The longest delay that one request may cause for others, on an idle machine. */
const LONGEST_WAIT_MS = 250;
/** On a busy machine, requests without the shape are slow, too. */
const LONGEST_RATIO = 5;
const MEASUREMENTS = 4;
/** The head limit and less: a shape rejected for its size must be harmless without this rejection, too. */
const SIZES = [16 * 1024, 11 * 1024];
/** As much as Node reads at once, and with tiny chunks a body of the sign-in form's largest size. */
const PACKET_SIZE = 96 * 1024;

const ID = "00000000-0000-7000-8000-000000000000";
const ROUTES: [string, string][] = [
  ["GET", "/sign-in"],
  ["GET", "/runs"],
  ["GET", `/runs/${ID}`],
  ["GET", "/unknown"],
  ["POST", "/sign-in"],
  ["GET", "/api/trpc/runs.list"],
  ["POST", "/api/trpc/runs.list"],
  ["GET", "/api/auth/get-session"],
  ["POST", "/api/auth/sign-in/email"],
  ["POST", "/api/sign-in"],
  ["POST", "/api/invitations/read"],
  ["GET", "/api/live/runs"],
  ["GET", "/api/runs/export"],
  ["GET", "/api/inngest"],
  ["GET", "/api/health"],
  ["GET", "/api/ready"],
  ["GET", "/openapi.json"],
  ["GET", "/service-worker.js"],
  ["GET", "/icon.svg"],
  ["GET", "/_next/static/chunks/none.js"],
  ["GET", "/_next/image"],
  ["GET", `/v1/agents/run/${ID}/status`],
  ["POST", `/v1/agents/run/${ID}`],
  ["POST", "/webhooks/unknown"],
];
/** With `thorough`, these get every shape, the others two of each header. */
const THOROUGH = ["/runs", "/openapi.json"];

/** Expects that no request of any shape lets others at `origin` wait for longer than 250 ms. */
export async function expectShortWaits(origin: string, { thorough }: { thorough: boolean }): Promise<void> {
  const watcher = await watchService(Number(new URL(origin).port));
  const tooLong: string[] = [];
  for (const [method, path] of ROUTES) {
    const plain = requestText(method, path, {});
    // The first request loads the route.
    await watcher.longestWait(plain);
    const shapes = shapesFor(thorough && THOROUGH.includes(path));
    const shaped = shapes.map((shape) => ({ name: shape.name, text: requestText(method, path, shape) }));
    for (const { name, text: request } of [...shaped, ...requestPackets(method, path, PACKET_SIZE)]) {
      let wait = await watcher.longestWait(request);
      for (let n = 1; n < MEASUREMENTS && wait > LONGEST_WAIT_MS; n += 1) {
        const bound = LONGEST_RATIO * (await watcher.longestWait(plain));
        const again = await watcher.longestWait(request);
        wait = again > bound ? Math.min(wait, again) : 0;
      }
      if (wait > LONGEST_WAIT_MS) tooLong.push(`${method} ${path}, ${name}: ${Math.round(wait)} ms`);
    }
  }
  watcher.close();
  expect(tooLong).toEqual([]);
}

function shapesFor(thorough: boolean): Shape[] {
  const shapes = SIZES.flatMap(requestShapes);
  if (thorough) return shapes;
  const isHeader = /^[\w-]+: /;
  const kept = /^(query|path): |: (one word|distinct parts)$|^(Cookie|X-Forwarded-For): (pairs|many)$/;
  return shapes.filter(({ name }) => !isHeader.test(name) || kept.test(name));
}
