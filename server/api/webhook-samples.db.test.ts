import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hasProgram } from "@/testing/programs";
import { closeServer, listen } from "@/testing/servers/listen";
import { createTenant, createTrigger, createWorld, type Tenant, type World } from "@/testing/world";
import { drainRequest, fromNode, sendToNode } from "./http/api-request";
import { targetOf } from "./http/node-http";
import { respondToWebhook } from "./webhook";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/webhooks.md"), "utf8");

const SAMPLES = [...PAGE.matchAll(/^```(sh|js|python) (hex|standard-webhooks)\n([\s\S]*?)^```$/gm)].map(
  ([, language = "", form = "", code = ""]) => ({ language, form, code }),
);

const PROGRAMS: Record<string, { needs: string[]; command: string; options: string[] }> = {
  sh: { needs: ["sh", "curl", "openssl"], command: "sh", options: ["-euc"] },
  js: { needs: [], command: process.execPath, options: ["--input-type=module", "-e"] },
  python: { needs: ["python3"], command: "python3", options: ["-c"] },
};

const SECRETS: Record<string, string> = {
  hex: "s3cret & more",
  "standard-webhooks": `whsec_${Buffer.from("\0\x01 a secret of 24 bytes").toString("base64")}`,
};

let world: World;
let tenant: Tenant;
let server: Server;
let origin: string;
const rejecting = new Set<string>();
/** Paths whose next connection ends without an answer. */
const cutting = new Set<string>();

beforeAll(async () => {
  world = await createWorld();
  // Senders use the machine's clock.
  world.clock.set(new Date());
  tenant = await createTenant(world);
  server = createServer((incoming, outgoing) => {
    const { pathname } = targetOf(incoming, origin);
    if (cutting.delete(pathname)) return void incoming.socket.destroy();
    const answer = rejecting.delete(pathname)
      ? Promise.resolve({ status: 429, headers: { "Retry-After": "1" }, body: "" })
      : respondToWebhook(world, fromNode(incoming, pathname));
    void answer.then((response) => {
      sendToNode(outgoing, response, []);
      drainRequest(incoming);
    });
  });
  const port = await listen(server);
  origin = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await closeServer(server);
  await world.close();
});

it("has samples in three languages for both forms of signature", () => {
  const found = SAMPLES.map(({ language, form }) => `${language} ${form}`);
  const wanted = ["sh", "js", "python"].flatMap((language) =>
    Object.keys(SECRETS).map((form) => `${language} ${form}`),
  );
  expect(found).toEqual(wanted);
});

for (const { language, form, code } of SAMPLES) {
  const { needs, command, options } = PROGRAMS[language] ?? { needs: ["-"], command: "", options: [] };
  it.skipIf(!needs.every(hasProgram))(
    `the sample for ${language}, ${form}, starts one run, tries again after 429 and a cut, and is rejected with another secret`,
    // Most of the time they wait.
    { concurrent: true },
    async () => {
      const secret = SECRETS[form] ?? "";
      const signature = form === "hex" ? "hex" : "standard-webhooks";
      const { id, token } = await createTrigger(world, tenant, { secrets: [secret], signature });
      const path = `/webhooks/${token}`;
      const run = (WEBHOOK_SECRET: string) =>
        promisify(execFile)(command, [...options, code], {
          env: { ...process.env, WEBHOOK_URL: `${origin}${path}`, WEBHOOK_SECRET },
        });

      const first = JSON.parse((await run(secret)).stdout);
      expect(first).toEqual({ success: true, runId: expect.any(String), type: "agent" });
      const [started, ...more] = await world.db.run.findMany({ where: { triggerId: id } });
      expect(more).toEqual([]);
      expect(started?.id).toBe(first.runId);
      expect(JSON.parse(started?.input ?? "")).toEqual({ event: "order.created", order: 42 });

      // The same event again, after temporary errors: the first run's id, and no second run.
      rejecting.add(path);
      // curl repeats a call after a cut connection only with every other error, too.
      if (language !== "sh") cutting.add(path);
      expect(JSON.parse((await run(secret)).stdout)).toEqual(first);
      expect(rejecting).not.toContain(path);
      expect(await world.db.run.count({ where: { triggerId: id } })).toBe(1);

      const wrong = form === "hex" ? "another" : `whsec_${Buffer.from("another").toString("base64")}`;
      await expect(run(wrong)).rejects.toMatchObject({ code: expect.any(Number) });
      expect(await world.db.delivery.count({ where: { triggerId: id, code: "invalid_signature" } })).toBe(1);
    },
  );
}
