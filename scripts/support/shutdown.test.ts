import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "./project.mjs";

const SHUTDOWN = pathToFileURL(join(ROOT, "scripts/support/shutdown.mjs")).href;

function runProgram(body: string) {
  const source = `import { runCommand } from ${JSON.stringify(SHUTDOWN)};
    await runCommand(async () => { ${body} });`;
  return spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

test("a command's long output reaches a slow reader before the process ends", async () => {
  const child = runProgram(`process.stdout.write("x".repeat(3_000_000)); return 7;`);
  const exited = once(child, "exit");
  let length = 0;
  for await (const chunk of child.stdout) {
    length += chunk.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(length).toBe(3_000_000);
  expect((await exited)[0]).toBe(7);
});

test("a command ends although the reader of its output is gone", async () => {
  const child = runProgram(
    `process.stdout.on("error", () => {}); process.stdout.write("x".repeat(3_000_000)); return 0;`,
  );
  child.stdout.destroy();
  expect((await once(child, "exit"))[0]).toBe(0);
});
