import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

test.skipIf(process.platform !== "linux")("a build leaves no process of esbuild behind", () => {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-build-"));
  // Ends only when it has no child left; a killed one takes a moment.
  const program = `
    import { readFileSync } from "node:fs";
    import { setTimeout as pause } from "node:timers/promises";
    import { buildPrograms } from "./scripts/build.mjs";
    await buildPrograms({ folder: process.argv[1] });
    while (readFileSync("/proc/self/task/" + process.pid + "/children", "utf8") !== "") await pause(20);
    console.log("no children");
  `;
  try {
    const parameters = ["--input-type=module", "--eval", program, "--", folder];
    const output = execFileSync(process.execPath, parameters, { encoding: "utf8", timeout: 30_000 });
    expect(output).toBe("no children\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
