import { type APIRequestContext, expect } from "@playwright/test";
import type { Organization } from "./fixtures";

/** A text of one test: a worker's tests share one organization. */
export const unique = (text: string) => `${text} ${crypto.randomUUID().slice(0, 8)}`;

export async function startRun(
  request: APIRequestContext,
  organization: Organization,
  what: { agent: string } | { tool: string; input: object },
): Promise<string> {
  const path = "agent" in what ? `/v1/agents/run/${organization.agentId}` : `/v1/tools/run/${what.tool}`;
  const answer = await request.post(path, {
    headers: { "X-API-Key": organization.apiKey },
    data: "agent" in what ? { userMessage: what.agent } : what.input,
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return (await answer.json()).id;
}

/** Finishes one run for each text, which is in its input. Returns their ids in the order of the texts. */
export function finishRuns(
  request: APIRequestContext,
  organization: Organization,
  texts: string[],
): Promise<string[]> {
  const tool = organization.toolIds.echo ?? "";
  return Promise.all(texts.map((text) => finishRun(request, organization, { tool, input: { text } })));
}

export async function finishRun(
  request: APIRequestContext,
  organization: Organization,
  what: { agent: string } | { tool: string; input: object },
): Promise<string> {
  const id = await startRun(request, organization, what);
  const kind = "agent" in what ? "agents" : "tools";
  const headers = { "X-API-Key": organization.apiKey };
  const readStatus = async () =>
    (await (await request.get(`/v1/${kind}/run/${id}/status`, { headers })).json()).status;
  // Runs that earlier tests started may have the slots.
  await expect.poll(readStatus, { intervals: [50, 100, 200], timeout: 60_000 }).toBe("Completed");
  return id;
}
