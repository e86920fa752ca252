import type { IncomingMessage, ServerResponse } from "node:http";
import { type ApiResponse, fromNode, sendToNode } from "@/server/api/http/api-request";
import { errorResponse } from "@/server/api/http/respond";
import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { KIB } from "@/server/contract/sizes";
import type { Services } from "@/server/services";

// Shorter ones take less than their connections.
const LIGHT_ANSWER_LENGTH = 16 * KIB;
const RETRY_SECONDS = 5;

type Request = { incoming: IncomingMessage; outgoing: ServerResponse; path: string };
type Used = Pick<Services, "memory" | "log" | "metrics">;

/**
 * Creates a function that sends an answer and returns it. Large ones count for their organization until the client has
 * taken them. If too many wait, a GET gets 429 instead; other calls are done, so their answers are sent.
 */
export function createSender(
  services: Used,
  rawHeaders: readonly string[],
): (request: Request, response: ApiResponse) => ApiResponse {
  return (request, response) => {
    const { incoming, outgoing } = request;
    const { body, orgId } = response;
    if (orgId === undefined || body.length <= LIGHT_ANSWER_LENGTH) {
      sendToNode(outgoing, response, rawHeaders);
      return response;
    }
    const { unread } = services.memory;
    const bytes = Buffer.byteLength(body);
    if (incoming.method === "GET" && !unread.hasRoom(orgId, bytes)) {
      const rejection = rejectAnswer(services, request, response);
      sendToNode(outgoing, rejection, rawHeaders);
      return rejection;
    }
    if (sendToNode(outgoing, response, rawHeaders))
      outgoing.once("close", unread.enterNow(orgId, bytes).leave);
    return response;
  };
}

function rejectAnswer(services: Used, { incoming, path }: Request, { headers }: ApiResponse): ApiResponse {
  const error = new AppError(
    "rate_limited",
    "Your organization has too many unread responses. Read them, or close their connections. " +
      `Try again in ${RETRY_SECONDS} s.`,
    { headers: { "Retry-After": String(RETRY_SECONDS) } },
  );
  const requestId = headers["X-Request-Id"] ?? newId();
  return errorResponse(error, fromNode(incoming, path), { requestId, services });
}
