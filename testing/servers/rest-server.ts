import { createServer } from "node:http";
import { afterAll } from "vitest";
import { drainRequest, fromNode, sendToNode } from "@/server/api/http/api-request";
import { targetOf } from "@/server/api/http/node-http";
import { respondToRest } from "@/server/api/rest";
import type { KeyScope } from "@/server/base/actor";
import { KEY_SCOPES } from "@/server/base/actor";
import { newId } from "@/server/base/ids";
import { newApiKey } from "@/server/catalog/auth/api-key";
import type { Tenant, World } from "@/testing/world";
import { closeServer, listen } from "./listen";

type Call = { method?: string; key: string; headers?: Record<string, string>; body?: unknown };

/** `/v1` of a world over HTTP, until the tests of the file are over. */
export async function openRestServer(world: World) {
  const server = createServer((incoming, outgoing) => {
    const { pathname } = targetOf(incoming, "http://stepwell.test");
    void respondToRest(world, fromNode(incoming, pathname)).then((response) => {
      sendToNode(outgoing, response, []);
      if (incoming.method !== "GET") drainRequest(incoming);
    });
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;
  afterAll(() => closeServer(server));
  const call = async (path: string, { method = "GET", key, headers, body }: Call) => {
    const json = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await fetch(origin + path, {
      method,
      headers: { "X-API-Key": key, ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  };
  return { origin, call };
}

/** A new API key of a tenant; by default with all scopes and not limited. */
export async function createKey(
  world: World,
  { orgId }: Pick<Tenant, "orgId">,
  {
    scopes = KEY_SCOPES,
    targetIds = [],
    readsPerMinute = null,
    maxCredits = null,
  }: {
    scopes?: readonly KeyScope[];
    targetIds?: string[];
    readsPerMinute?: number | null;
    maxCredits?: string | null;
  } = {},
): Promise<string> {
  const { key, prefix, hash } = newApiKey();
  await world.db.apiKey.create({
    data: {
      id: newId(),
      organizationId: orgId,
      name: "lists",
      prefix,
      hash: new Uint8Array(hash),
      scopes: [...scopes],
      targetIds,
      readsPerMinute,
      maxCredits,
      createdBy: "operator",
      createdAt: world.clock.now(),
    },
  });
  return key;
}
