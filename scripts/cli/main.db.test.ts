import { execFile } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { newId } from "@/server/base/ids";
import { hasProgram } from "@/testing/programs";
import { insertRun } from "@/testing/runs";
import { openScriptedServer } from "@/testing/servers/scripted-server";
import { createTenant, openWorld, type World } from "@/testing/world";

const ROOT = join(import.meta.dirname, "../..");

const program = (...words: string[]) => ["scripts/run-typescript.mjs", "scripts/cli/main.ts", ...words];

const run = (world: World | null, file: string, parameters: string[]) =>
  promisify(execFile)(file, parameters, {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: world?.env.databaseUrl,
      STEPWELL_SECRET: "test-secret-test-secret-test-secret",
      APP_URL: "http://stepwell.test",
    },
    timeout: 40_000,
  });

const start = (world: World | null, ...words: string[]) => run(world, process.execPath, program(...words));

test("a command that ended a run lets its process end, and leaves no worker", async () => {
  const world = await openWorld();
  const tenant = await createTenant(world);
  const run = await insertRun(world, tenant, { status: "Pending" });
  const { stdout } = await start(world, "runs", "cancel", run);
  expect(stdout).toBe("The run is Cancelled.\n");
  expect((await world.pool.query("SELECT FROM workers")).rowCount).toBe(0);
});

test("the events of a run end when nobody reads them any more", async () => {
  const event = (id: number) => `id: ${id}\nevent: step.started\ndata: {}\n\n`;
  let stream: ServerResponse | undefined;
  const server = await openScriptedServer((response) => {
    stream = response.writeHead(200, { "content-type": "text/event-stream" });
    stream.write(event(1));
  });
  const options = ["--url", server.url, "--key", "k-1"];
  const following = start(null, "api", "follow", "tool", newId(), ...options);
  const { stdout } = following.child;
  if (stdout === null) throw new Error("It has no output.");
  await once(stdout, "data");
  stdout.destroy();
  stream?.write(event(2));
  expect(await following).toMatchObject({ stderr: "" });
  await server.close();
});

/** Runs a program in a terminal, types `keys` after the first line that ends with `prompt`, and prints its output. */
const IN_TERMINAL = `
import os, pty, sys
prompt, keys, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
output = b""
try:
    while chunk := os.read(terminal, 4096):
        output += chunk
        if keys and output.endswith(prompt.encode()):
            os.write(terminal, keys.encode())
            keys = ""
except OSError:
    pass
print(output.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

test.skipIf(!hasProgram("python3"))("Ctrl-C at a question for a password ends the command", async () => {
  const world = await openWorld();
  const { slug } = await createTenant(world);
  const email = `${newId()}@acme.test`;
  const command = ["users", "create", email, "--org", slug];
  const asked = [`Password for ${email}: `, "\x03", process.execPath, ...program(...command)];
  const typing = run(world, "python3", ["-c", IN_TERMINAL, ...asked]);
  await expect(typing).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining("Interrupted: nothing was entered."),
  });
});

test("a secret that is not UTF-8 is rejected, because it would be another one", async () => {
  const world = await openWorld();
  const { slug } = await createTenant(world);
  const setting = start(world, "secrets", "set", slug, "pass", "--hosts", "api.test");
  setting.child.stdin?.end(Buffer.from("pass-für-alle\n", "latin1"));
  await expect(setting).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("The text is not UTF-8.\n"),
  });
});

test("a file from standard input may come through a socket, as of ssh", async () => {
  const world = await openWorld();
  const { slug } = await createTenant(world);
  // Node connects a child by sockets.
  const applying = start(world, "apply", "-");
  applying.child.stdin?.end(`organizations: [{ slug: ${slug}, name: Café }]\n`);
  expect((await applying).stdout).toBe(`${slug}\n  updated    the organization\n`);
});
