import { AppError } from "@/server/base/errors";
import { newId } from "@/server/base/ids";
import { FairQueue } from "@/server/base/scheduling/fair-queue";
import { KIB, MIB } from "@/server/contract/sizes";
import type { Services } from "@/server/services";
import { type ApiRequest, type ApiResponse, boundBodyBytes } from "./http/api-request";
import { clientAddress } from "./http/client-address";
import { errorResponse } from "./http/respond";

/** The signature covers the body, so that strangers' bodies are read, too. */

// A body is an event and references to the results of steps.
const MAX_BYTES = 4 * MIB;
/** Shorter bodies are read without waiting. */
const LIGHT_BYTES = 16 * KIB;
// In bytes of longer bodies; one address has at most half.
const reading = new FairQueue(32 * MIB, 16 * MIB);

type Called = Pick<Services, "log" | "metrics"> & {
  env: Pick<Services["env"], "trustProxy">;
  engine: {
    takesCalls(): boolean;
    handle(request: Request): Promise<Response>;
  };
};

/** Answers a call of an Inngest server. Never throws. */
export async function respondToEngineCall(
  services: Called,
  call: ApiRequest,
  url: URL,
): Promise<ApiResponse> {
  const { engine, env } = services;
  try {
    const { method } = call;
    if (!["GET", "POST", "PUT"].includes(method)) {
      const message = "Use GET, POST or PUT.";
      throw new AppError("method_not_allowed", message, { headers: { Allow: "GET, POST, PUT" } });
    }
    const isRead = method !== "GET" && engine.takesCalls();
    const body = isRead ? new Uint8Array(await readInTurn(call, clientAddress(env, call))) : null;
    const response = await engine.handle(new Request(url, { method, headers: [...call.headers()], body }));
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, body: await response.text() };
  } catch (error) {
    return errorResponse(error, call, { requestId: newId(), services });
  }
}

function readInTurn(call: ApiRequest, address: string): Promise<Buffer> {
  const cost = boundBodyBytes(call, MAX_BYTES);
  const read = () => call.readBody(MAX_BYTES);
  return cost <= LIGHT_BYTES ? read() : reading.enter(address, { cost }).then((e) => read().finally(e.leave));
}
