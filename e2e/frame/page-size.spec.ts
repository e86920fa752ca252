import { gzipSync } from "node:zlib";
import { expect, type Organization, test } from "../support/fixtures";
import { NAVIGATION } from "../support/navigation";
import { finishRun } from "../support/start";

/** Counts compressed scripts with their headers, without those that load on first use. */

const HEADERS_BYTES = 550;
/** Pages promise less than 260 kB. */
const LIMIT_KB = 250;

const pages = ({ agentId, toolId, triggerIds, callbackId }: Organization, run: string) => [
  ...NAVIGATION.flatMap(({ paths }) => paths),
  "/account",
  "/docs/first-agent",
  "/agents/new",
  `/agents/${agentId}/edit`,
  "/tools/new",
  `/tools/${toolId}/edit`,
  `/agents/${agentId}`,
  `/tools/${toolId}`,
  `/triggers/${triggerIds.doubles}`,
  `/callbacks/${callbackId}`,
  `/runs/${run}`,
  `/runs/compare?a=${run}&b=${run}`,
];

test("no page loads more script than its limit", async ({ ownerPage, organization }) => {
  const { request } = ownerPage;
  const run = await finishRun(request, organization, { agent: "Markdown of every kind" });
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
  for (const path of pages(organization, run)) {
    const answer = await request.get(path);
    expect(answer.status(), path).toBe(200);
    let bytes = 0;
    for (const chunk of chunksOf(await answer.text())) bytes += await sizeOf(chunk);
    if (bytes > LIMIT_KB * 1_000) above.push(`${path}: ${(bytes / 1_000).toFixed(1)} kB`);
  }
  expect(above).toEqual([]);
});

test("the HTML of a detail page is complete, with its answer or form", async ({
  ownerPage,
  organization,
}) => {
  const { request } = ownerPage;
  const { agentId, toolId, triggerIds } = organization;
  const run = await finishRun(request, organization, { agent: "Markdown of every kind" });
  const expected = {
    [`/runs/${run}`]: /<div class="prose">.*<(h3|table|ul|strong)>/s,
    [`/tools/${toolId}`]: /<form.*>number</s,
    [`/agents/${agentId}`]: /<textarea/,
    [`/triggers/${triggerIds.doubles}`]: /curl/,
  };
  for (const [path, content] of Object.entries(expected)) {
    const html = await (await request.get(path)).text();
    expect(html, path).toMatch(content);
    // A part that is sent later would displace visible parts.
    expect(html, path).not.toContain('<template id="B:');
  }
});

function chunksOf(html: string): Set<string> {
  const modern = html.replace(/<script[^>]*nomodule[^>]*>/gi, "");
  return new Set([...modern.matchAll(/static\/chunks\/([\w.~-]+\.js)/g)].map(([, name]) => name ?? ""));
}
