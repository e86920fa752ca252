import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient as generateHeyApi } from "@hey-api/openapi-ts";
import { build } from "esbuild";
import openapiTypeScript, { astToString } from "openapi-typescript";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { applyDefinitionFile } from "@/server/catalog/definition-file/apply";
import {
  HEY_API_PROGRAM,
  OPENAPI_FETCH_PROGRAM,
  PROGRAM_TYPES,
  PYTHON_PROGRAM,
} from "@/testing/client-programs";
import { startTestService, type TestService } from "@/testing/services/service";
import { createOpenApiDocument } from "./document";

/** The Python client is tested if `openapi-python-client==0.29.1` is installed. */

const DEFINITIONS = `organizations:
  - slug: clients
    credits: 100
    apiKeys: [{ name: ci }]
    tools:
      - slug: stock
        name: Stock
        parameters: { type: object, properties: { sku: { type: string } }, required: [sku] }
        steps: [{ id: level, uses: calculate, with: { expression: 6 - 2 } }]
        output: { sku: "{{ input.sku }}", inStock: "{{ steps.level }}" }
      - slug: ping
        name: Ping
        steps: [{ id: now, uses: current_time }]
        output: pong
    agents:
      - { slug: helper, name: Helper, model: gpt-5-mini, systemPrompt: You help., functions: [calculate] }
    triggers:
      - { slug: inbound, name: Inbound, tool: stock }
`;

// The formatter that the generator calls at the end may be missing. It has no type for YAML.
const PYTHON_CONFIG = `post_hooks: []
content_type_overrides:
  application/yaml: application/octet-stream
`;

const run = promisify(execFile);
const document = createOpenApiDocument("https://stepwell.test");
let folder: string;
let service: TestService;
let given: Record<"baseUrl" | "key" | "agentId" | "toolId" | "pingId" | "token", string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stepwell-clients-"));
  // Generated code finds its packages as in an integrator's project.
  await symlink(join(process.cwd(), "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "openapi.json"), JSON.stringify(document));
  await writeFile(join(folder, "program.ts"), PROGRAM_TYPES);
  await writeFile(join(folder, "schema.ts"), astToString(await openapiTypeScript(JSON.stringify(document))));
  await writeFile(join(folder, "fetch-program.ts"), OPENAPI_FETCH_PROGRAM);
  await generateHeyApi({
    input: join(folder, "openapi.json"),
    output: join(folder, "hey-api"),
    logs: { level: "silent" },
  });
  await writeFile(join(folder, "hey-program.ts"), HEY_API_PROGRAM);
  service = await startTestService();
  const [organization] = await applyDefinitionFile(service.services, DEFINITIONS);
  const found = z
    .object({
      agents: z.tuple([z.object({ id: z.string() })]),
      tools: z.tuple([z.object({ id: z.string() }), z.object({ id: z.string() })]),
      triggers: z.tuple([z.object({ token: z.string() })]),
      apiKeys: z.tuple([z.object({ key: z.string() })]),
    })
    .parse(organization);
  given = {
    baseUrl: service.origin,
    key: found.apiKeys[0].key,
    agentId: found.agents[0].id,
    toolId: found.tools[0].id,
    pingId: found.tools[1].id,
    token: found.triggers[0].token,
  };
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true });
});

function compile(...files: string[]): string[] {
  const program = ts.createProgram(
    files.map((file) => join(folder, file)),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
      strict: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      noEmit: true,
      types: [],
    },
  );
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ messageText, file }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
}

async function runTypeScript(name: string): Promise<unknown> {
  const outfile = join(folder, `${name}.mjs`);
  const contents = `import { run } from "./${name}";
    console.log(JSON.stringify(await run(JSON.parse(process.argv[2]))));`;
  await build({
    stdin: { contents, resolveDir: folder },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  return JSON.parse((await run(process.execPath, [outfile, JSON.stringify(given)])).stdout);
}

const SEEN = {
  agent: { status: "Completed", finalOutput: expect.stringContaining("391"), steps: ["calculate"] },
  tool: { status: "Completed", statusInt: 2, outputData: '{"sku":"A-1","inStock":4}' },
  ping: '"pong"',
  webhook: { type: "tool", outputData: '{"sku":"B-2","inStock":4}' },
  issue: { code: "invalid_request", issues: ["/userMessage"], requestId: expect.any(String) },
};

it("the TypeScript clients compile under strict rules", { tags: "long" }, () => {
  expect(compile("fetch-program.ts", "hey-program.ts")).toEqual([]);
});

describe("a generated client starts runs and polls them to their end", () => {
  it("openapi-typescript with openapi-fetch", async () => {
    expect(await runTypeScript("fetch-program")).toEqual(SEEN);
  });

  it("@hey-api/openapi-ts", async () => {
    expect(await runTypeScript("hey-program")).toEqual(SEEN);
  });

  it("openapi-python-client", async ({ skip }) => {
    const python = await run("python3", ["-c", "import openapi_python_client"]).then(
      () => "ready",
      (error: NodeJS.ErrnoException) =>
        error.code === "ENOENT" ? "there is no python3" : "it is not installed",
    );
    if (python !== "ready") skip(`${python}: pip install openapi-python-client==0.29.1`);
    const target = join(folder, "python");
    await mkdir(target);
    await writeFile(join(folder, "python.yaml"), PYTHON_CONFIG);
    const generated = await run("python3", [
      ...["-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"],
      ...["--path", join(folder, "openapi.json"), "--config", join(folder, "python.yaml")],
      ...["--output-path", join(target, "stepwell_client")],
    ]);
    expect(generated.stdout + generated.stderr).not.toMatch(/warning/i);
    const modules = await readdir(join(target, "stepwell_client/api"), { recursive: true });
    const operations = modules.filter((name) => name.endsWith(".py") && !name.endsWith("__init__.py"));
    expect(operations).toHaveLength(Object.values(document.paths ?? {}).flatMap(Object.keys).length);
    const { stdout } = await run("python3", ["-c", PYTHON_PROGRAM, JSON.stringify(given)], { cwd: target });
    expect(JSON.parse(stdout)).toEqual(SEEN);
  });
});
