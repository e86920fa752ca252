import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { API_VERSION } from "@/server/api/v1/endpoints";
import type { JsonObject } from "@/server/base/json/json";
import { findCallable, listCallable } from "@/server/catalog/callable-definitions";
import { INTERNAL_ERROR_MESSAGE } from "@/server/contract/errors";
import { callTool } from "./call-tool";
import type { Exchange } from "./exchange";
import type { Report } from "./follow-call";
import { describeTool, nameOf, readName } from "./tools";

const PAGE = 100;
// Another key gets another list.
const LIST = { ttlMs: 0, cacheScope: "private" } as const;

export function handle(
  exchange: Exchange,
  { request, body }: { request: Request; body: JsonObject },
): Promise<Response> {
  const handler = createMcpHandler(({ era }) => createServer(exchange, era), {
    // A stream keeps the connection open until a long run ends.
    responseMode: body.method === "tools/call" ? "sse" : "auto",
  });
  return handler.fetch(request, { parsedBody: body });
}

function createServer(exchange: Exchange, era: "legacy" | "modern"): Server {
  const { services, actor } = exchange;
  const server = new Server(
    { name: "stepwell", version: API_VERSION },
    { capabilities: { tools: {} }, cacheHints: { "tools/list": LIST, "server/discover": LIST } },
  );
  server.setRequestHandler("tools/list", ({ params }) =>
    guard(exchange, async () => {
      const { cursor } = params ?? {};
      const after = cursor === undefined ? null : readName(cursor);
      if (cursor !== undefined && after === null)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The cursor is not valid.");
      const found = await listCallable(services, actor, { after, limit: PAGE + 1 });
      const page = found.slice(0, PAGE);
      const last = found.length > PAGE ? page.at(-1) : undefined;
      return { tools: page.map(describeTool), ...(last && { nextCursor: nameOf(last) }) };
    }),
  );
  server.setRequestHandler("tools/call", ({ params: { name } }, context) =>
    guard(exchange, async () => {
      const named = readName(name);
      const callable = named && (await findCallable(services, actor, named));
      if (!callable)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `There is no active agent or tool ${name.slice(0, 200)}.`,
        );
      // The 2025 revisions cancel by a message; the connection may be lost for other reasons.
      const cancelsWhenGone = era === "modern";
      return callTool(exchange, { callable, report: createReport(context), cancelsWhenGone });
    }),
  );
  return server;
}

// The protocol's package would send the message of any error.
async function guard<Result>(
  { services, requestId }: Exchange,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    services.log.error("A request failed", { requestId, path: "/mcp", error });
    throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_ERROR_MESSAGE);
  }
}

function createReport({ mcpReq }: ServerContext): Report {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  let progress = 0;
  return (message) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that left gets none.
    return mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}
