import { gzipSync } from "node:zlib";
import { expect, type Organization, test } from "./support/fixtures";
import { finishRun } from "./support/start";

/**
 * The scripts that a page loads when it is opened, compressed, with their headers. What is loaded with its first use does
 * not count.
 */

const HEADERS_BYTES = 550;
const LIMIT_KB = 260;
/** Pages above the limit. They must not grow. */
const LARGER_KB = { agent: 263, tool: 275, trigger: 262, run: 352, compare: 263, runs: 263 };

const pages = ({ agentId, toolId, triggerIds }: Organization, run: string) => ({
  runs: "/runs",
  metrics: "/metrics",
  agents: "/agents",
  tools: "/tools",
  triggers: "/triggers",
  models: "/models",
  secrets: "/secrets",
  keys: "/keys",
  reference: "/api-reference",
  credits: "/credits",
  members: "/members",
  audit: "/audit",
  organization: "/organization",
  account: "/account",
  docs: "/docs/first-agent",
  newAgent: "/agents/new",
  editAgent: `/agents/${agentId}/edit`,
  newTool: "/tools/new",
  editTool: `/tools/${toolId}/edit`,
  agent: `/agents/${agentId}`,
  tool: `/tools/${toolId}`,
  trigger: `/triggers/${triggerIds.doubles}`,
  run: `/runs/${run}`,
  compare: `/runs/compare?a=${run}&b=${run}`,
});

test("no page loads more script than its limit", async ({ ownerPage, organization }) => {
  const { request } = ownerPage;
  const run = await finishRun(request, organization, { agent: "What is 6 * 7?" });
  const sizes = new Map<string, number>();
  const sizeOf = async (chunk: string) => {
    const known = sizes.get(chunk);
    if (known !== undefined) return known;
    const answer = await request.get(`/_next/static/chunks/${chunk}`);
    expect(answer.status(), chunk).toBe(200);
    const size = gzipSync(await answer.body()).length + HEADERS_BYTES;
    sizes.set(chunk, size);
    return size;
  };
  const above: string[] = [];
  for (const [name, path] of Object.entries(pages(organization, run))) {
    const answer = await request.get(path);
    expect(answer.status(), path).toBe(200);
    let bytes = 0;
    for (const chunk of chunksOf(await answer.text())) bytes += await sizeOf(chunk);
    const limit = new Map(Object.entries(LARGER_KB)).get(name) ?? LIMIT_KB;
    if (bytes > limit * 1_000) above.push(`${path}: ${(bytes / 1_000).toFixed(1)} kB`);
  }
  expect(above).toEqual([]);
});

/** The scripts that a page's HTML names, but not those for browsers without modules. */
function chunksOf(html: string): Set<string> {
  const modern = html.replace(/<script[^>]*nomodule[^>]*>/gi, "");
  return new Set([...modern.matchAll(/static\/chunks\/([\w.~-]+\.js)/g)].map(([, name]) => name ?? ""));
}
