import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorOf } from "@/server/catalog/organization/organizations";
import { createGuardedEgress, type GuardedFetch } from "@/server/guard/egress/guarded-fetch";
import type { Egress } from "@/server/guard/egress/trusted-fetch";
import { startRun } from "@/server/runs/start";
import { callCommandLine } from "@/testing/command-line";
import { executeRun } from "@/testing/execute";
import { findLeaks } from "@/testing/leaks";
import { closeServer, listen } from "@/testing/servers/listen";
import { createWorld, type World } from "@/testing/world";

/** examples/secrets.yaml through the command line, against a server in GitHub's place that requires the secret. */

const TOKEN = "ghp_0123456789abcdefABCDEF";
const HOST = "api.github.com";

let world: World;
let egress: Egress<GuardedFetch>;
let server: Server;
let origin: string;
let folder: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? "", origin);
    response.setHeader("content-type", "application/json");
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      response
        .writeHead(401)
        .end(JSON.stringify({ message: `Bad credentials: ${request.headers.authorization}` }));
      return;
    }
    const page = Number(url.searchParams.get("page") ?? 1);
    if (page < 3) response.setHeader("link", `<${origin}${url.pathname}?page=${page + 1}>; rel="next"`);
    const labels = [{ name: "bug" }, { name: TOKEN }];
    response.end(
      JSON.stringify([
        { number: 2 * page, title: `Issue ${page}`, labels },
        { number: 2 * page + 1, title: "A pull request", labels, pull_request: {} },
      ]),
    );
  });
  const port = await listen(server);
  origin = `http://127.0.0.1:${port}`;
  egress = createGuardedEgress({ allow: [new URL(origin).host] });
  world = await createWorld({ fetch: egress.fetch });
  folder = await mkdtemp(join(tmpdir(), "stepwell-example-"));
});
afterAll(async () => {
  await egress.close();
  await world.close();
  await closeServer(server);
  await rm(folder, { recursive: true });
});

async function stepwell(argv: string[], secret = ""): Promise<string> {
  const { code, out, err } = await callCommandLine(world, argv, { secret });
  expect(code, err).toBe(0);
  return out + err;
}

async function run() {
  const { id } = await world.db.tool.findFirstOrThrow({ where: { slug: "open-issues" } });
  const actor = await operatorOf(world, "secrets");
  const input = { owner: "acme", repository: "shop" };
  const { runId } = await startRun(world, actor, { kind: "tool", targetId: id, input });
  await executeRun(world, runId);
  return world.db.run.findUniqueOrThrow({ where: { id: runId } });
}

test("the example fetches all pages with its secret, reshapes them, and keeps the secret to itself", async () => {
  const source = await readFile(join(import.meta.dirname, "secrets.yaml"), "utf8");
  const file = join(folder, "secrets.yaml");
  await writeFile(
    file,
    source.replaceAll(`https://${HOST}`, origin).replace(`[${HOST}]`, `["${new URL(origin).host}"]`),
  );
  expect(await stepwell(["apply", file])).toContain("The secret github has no value yet.");
  expect(await run()).toMatchObject({
    status: "Failed",
    errorMessage: expect.stringContaining('The secret "github" has no value yet.'),
  });

  await stepwell(["secrets", "set", "secrets", "github"], TOKEN);
  const completed = await run();
  expect(completed).toMatchObject({ status: "Completed", errorMessage: null });
  expect(JSON.parse(completed.output ?? "")).toEqual({
    count: 3,
    complete: true,
    issues: [1, 2, 3].map((page) => ({
      number: 2 * page,
      title: `Issue ${page}`,
      labels: ["bug", "[secret github]"],
    })),
  });

  await stepwell(["secrets", "set", "secrets", "github"], `${TOKEN}-wrong`);
  expect(await run()).toMatchObject({
    status: "Failed",
    errorMessage: expect.stringContaining("GitHub answered 401: Bad credentials: Bearer [secret github]"),
  });
  expect(await findLeaks(world, TOKEN)).toEqual([]);
});
