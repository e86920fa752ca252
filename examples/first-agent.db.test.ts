import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "@/scripts/support/ports.mjs";
import { hasProgram } from "@/testing/programs";
import { startTestService, type TestService } from "@/testing/services/service";

/**
 * Executes docs/first-agent.md as written: its shell blocks in one shell, its JSON blocks against their output. Only
 * the two ports and the home folder differ. The same handlers, engine and settings replace `npm start`.
 */

const ROOT = join(import.meta.dirname, "..");
const PROGRAMS = ["sh", "curl", "openssl", "npm"];

type Block = { language: string; role: string; text: string };
const MARK = "--- end of block ---";

let home: string;
let service: TestService | undefined;
let api: ReturnType<typeof spawn> | undefined;
let blocks: Block[];
const apiPort = await freePort();

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "stepwell-first-agent-"));
  const page = await readFile(join(ROOT, "docs/first-agent.md"), "utf8");
  blocks = [...page.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", role = "", text = ""]) => ({
      language,
      role,
      text: text.replaceAll("4010", `${apiPort}`),
    }),
  );
});
afterAll(async () => {
  if (api !== undefined && api.exitCode === null) {
    const gone = once(api, "exit");
    // The shell and its child processes are one process group.
    if (api.pid !== undefined) process.kill(-api.pid, "SIGKILL");
    await gone;
  }
  await service?.stop();
  await rm(home, { recursive: true, force: true });
});

const of = (role: string) => blocks.filter((block) => block.language === "sh" && block.role === role);

/** The pattern of a documented output, in which `…` matches anything. */
function patternOf(shown: string): RegExp {
  const parts = shown.trim().split("…");
  return new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join(".*")}$`, "s");
}

it.skipIf(!PROGRAMS.every(hasProgram))(
  "every command of docs/first-agent.md works and prints what the page shows",
  async () => {
    expect(new Set(blocks.map(({ language, role }) => `${language} ${role}`.trim()))).toEqual(
      new Set(["sh background", "sh service", "sh", "json"]),
    );
    const [background, ...moreBackground] = of("background");
    const [start, ...moreStarts] = of("service");
    expect([moreBackground, moreStarts]).toEqual([[], []]);

    const apiProcess = spawn("sh", ["-euc", background?.text ?? ""], {
      env: { ...process.env, HOME: home },
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    api = apiProcess;
    expect(String(await once(apiProcess.stdout, "data"))).toContain("ready");

    const [, settings = ""] = /^((?:[A-Z_]+=\S+ )*)npm start\n$/.exec(start?.text ?? "") ?? [];
    expect(settings).not.toBe("");
    const env = Object.fromEntries(
      settings
        .trim()
        .split(" ")
        .map((setting) => setting.split("=", 2)),
    );
    service = await startTestService(env);

    // A block's output is compared with the JSON block after it; other blocks print nothing.
    const steps = blocks.flatMap((block, index) => {
      if (block.language !== "sh" || block.role !== "") return [];
      const next = blocks[index + 1];
      return [{ script: block.text, shown: next?.language === "json" ? next.text : "" }];
    });
    const script = steps.map((step) => `${step.script}\necho; echo '${MARK}'`).join("\n");
    const { stdout } = await promisify(execFile)(
      "sh",
      ["-euc", script.replaceAll("http://localhost:3000", service.origin)],
      {
        cwd: ROOT,
        env: { ...process.env, ...service.settings, HOME: home, STEPWELL_ENV_FILE: "" },
      },
    );
    const outputs = stdout.split(`${MARK}\n`).slice(0, -1);
    expect(outputs).toHaveLength(steps.length);
    for (const [index, { shown }] of steps.entries())
      expect(outputs[index]?.trim()).toMatch(patternOf(shown));

    const { db } = service.services;
    expect(await db.user.count({ where: { email: "you@shop.test" } })).toBe(1);
    expect(await db.run.count({ where: { parentRunId: null, status: "Completed" } })).toBe(3);
  },
  120_000,
);
