import { z } from "zod";
import { respondToWebRequest } from "@/server/api/http/api-request";
import { respondToMcp } from "@/server/api/mcp/mcp";
import type { Services } from "@/server/services";
import { readEvents } from "./event-reader";

/** Messages of the Model Context Protocol as a client sends them. */

const REVISIONS = { legacy: "2025-11-25", modern: "2026-07-28" } as const;
export type Era = keyof typeof REVISIONS;

const META = {
  "io.modelcontextprotocol/protocolVersion": REVISIONS.modern,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

type Sent = {
  key: string;
  progress?: boolean;
  era?: Era;
  id?: number;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export async function sendMcp(
  services: Services,
  { method, params = {} }: { method: string; params?: Record<string, unknown> },
  { key, progress: wanted = false, era = "modern", id = 1, headers = {}, signal }: Sent,
): Promise<Response> {
  const isModern = era === "modern";
  const { name } = params;
  const progress = wanted ? { progressToken: "p" } : {};
  const message = {
    jsonrpc: "2.0",
    ...(method.startsWith("notifications/") ? {} : { id }),
    method,
    params: isModern ? { ...params, _meta: { ...META, ...progress } } : { ...params, _meta: progress },
  };
  const named = typeof name === "string" ? { "Mcp-Name": name } : {};
  return postMcp(services, JSON.stringify(message), {
    ...(signal && { signal }),
    headers: {
      Authorization: `Bearer ${key}`,
      "MCP-Protocol-Version": REVISIONS[era],
      ...(isModern ? { "Mcp-Method": method, ...named } : {}),
      ...headers,
    },
  });
}

export function postMcp(
  services: Services,
  body: BodyInit,
  {
    headers,
    signal,
    path = "/mcp",
  }: { headers: Record<string, string>; signal?: AbortSignal; path?: string },
): Promise<Response> {
  const types = { Accept: "application/json, text/event-stream", "Content-Type": "application/json" };
  const init = { method: "POST", headers: { ...types, ...headers }, body, duplex: "half" };
  const request = new Request(`http://stepwell.test${path}`, { ...init, ...(signal && { signal }) });
  return respondToWebRequest(request, (call) => respondToMcp(services, call));
}

const message = z.looseObject({
  error: z.object({ code: z.number(), message: z.string() }).optional(),
  result: z
    .looseObject({
      tools: z.array(z.looseObject({ name: z.string() })).default([]),
      content: z.array(z.looseObject({ text: z.string() })).default([]),
    })
    .optional(),
});

/** The last message of a response, which is JSON or a stream. */
export async function readMcp(response: Response): Promise<z.output<typeof message>> {
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  return message.parse(isStream ? readEvents(text).at(-1)?.data : JSON.parse(text));
}
