import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { STREAM_LIMITS } from "@/server/guard/limits/stream-slots";
import { startClientService } from "@/testing/client-service";
import { hasProgram } from "@/testing/programs";

const PAGE = readFileSync(join(process.cwd(), "docs/mcp.md"), "utf8");
const SAMPLES = new Map(
  [...PAGE.matchAll(/^```(json|ts|sh) (?:config|call)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", code = ""]) => [language, code] as const,
  ),
);
const run = promisify(execFile);

let service: Awaited<ReturnType<typeof startClientService>>;
beforeAll(async () => {
  service = await startClientService();
});
afterAll(() => service?.stop());

it("has a configuration with which a client connects", async () => {
  const text = (SAMPLES.get("json") ?? "")
    .replace("https://stepwell.example.com", service.origin)
    .replace("API_KEY", service.env.STEPWELL_KEY);
  const server = z.object({
    type: z.literal("http"),
    url: z.url(),
    headers: z.record(z.string(), z.string()),
  });
  const { mcpServers } = z.object({ mcpServers: z.object({ stepwell: server }) }).parse(JSON.parse(text));
  const { url, headers } = mcpServers.stepwell;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["agent_helper", "tool_many", "tool_nested", "tool_stock"]);
  await client.close();
});

it("has a program that calls a tool", async () => {
  const folder = mkdtempSync(join(tmpdir(), "stepwell-mcp-"));
  try {
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
    const { code } = await transform(SAMPLES.get("ts") ?? "", { loader: "ts" });
    const program = join(folder, "call.mjs");
    writeFileSync(program, code);
    const { stdout } = await run(process.execPath, [program], { env: { ...process.env, ...service.env } });
    expect(stdout.split("\n")[0]).toBe("agent_helper, tool_many, tool_nested, tool_stock");
    expect(stdout).toContain("calculate: Completed\n{ sku: 'A-1', inStock: 4 }\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.skipIf(!["sh", "curl"].every(hasProgram))("has a call with curl", async () => {
  const env = { ...process.env, ...service.env, no_proxy: "127.0.0.1" };
  const { stdout } = await run("sh", ["-euc", SAMPLES.get("sh") ?? "exit 1"], { env });
  expect(stdout).toMatch(/^event: message\ndata: /);
  expect(stdout).toContain(String.raw`{\"sku\":\"A-1\",\"inStock\":4}`);
});

it("names the limits", () => {
  expect(PAGE).toContain(`a key can have ${STREAM_LIMITS.key}.`);
});
