import { STATUS_CODES } from "node:http";
import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { AppError, isAppError } from "@/server/base/errors";
import { jsonPointer } from "@/server/base/json/text";
import { type ErrorBody, INTERNAL_ERROR_MESSAGE } from "@/server/contract/errors";
import { JSON_CONTENT, JSON_TYPE, PROBLEM_TYPE } from "@/server/contract/media-types";
import { isWebhookPath, webhookPath } from "@/server/contract/webhook";
import { checkReadiness } from "@/server/operate/health";
import type { Services } from "@/server/services";
import type { ApiRequest, ApiResponse } from "./api-request";

export const JSON_HEADERS = {
  "Content-Type": JSON_CONTENT,
  "Cache-Control": "no-store",
};

/** A successful response; `body` is a value, or JSON text that is sent unchanged. */
export function jsonResponse(
  body: object | string,
  requestId: string,
  headers: Record<string, string> = {},
): ApiResponse {
  return {
    status: 200,
    headers: { ...JSON_HEADERS, "X-Request-Id": requestId, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

/** A successful response without a body. */
export function emptyResponse(requestId: string, headers: Record<string, string>): ApiResponse {
  const { "Cache-Control": cache } = JSON_HEADERS;
  return {
    status: 204,
    headers: { "Cache-Control": cache, "X-Request-Id": requestId, ...headers },
    body: "",
  };
}

/**
 * Renders every error for REST and webhook callers (docs/contract.md, "Errors"). Anything but an AppError is logged
 * with the request id and answered with a fixed message. Callers that accept `application/problem+json` get RFC
 * 9457.
 */
export function errorResponse(
  thrown: unknown,
  request: ApiRequest,
  {
    requestId,
    services: { log, metrics },
    headers = {},
  }: { requestId: string; services: Pick<Services, "log" | "metrics">; headers?: Record<string, string> },
): ApiResponse {
  const error = toAppError(thrown);
  metrics.countRejection(error.code);
  if (error.code === "internal_error") {
    log.error("A request failed", {
      requestId,
      method: request.method,
      path: loggedPath(request.path),
      error: thrown,
    });
  }
  const body: ErrorBody = {
    success: false,
    code: error.code,
    message: error.message,
    requestId,
    ...(error.issues === undefined ? {} : { issues: error.issues }),
  };
  const asProblem = prefersProblem(request.header("accept") ?? "");
  const problem = {
    type: "about:blank",
    // RFC 9457, section 4.2.1.
    title: STATUS_CODES[error.status] ?? "Error",
    status: error.status,
    detail: error.message,
    ...body,
  };
  return {
    status: error.status,
    headers: {
      ...JSON_HEADERS,
      ...(asProblem ? { "Content-Type": `${PROBLEM_TYPE}; charset=utf-8` } : {}),
      "X-Request-Id": requestId,
      ...headers,
      ...error.headers,
    },
    body: JSON.stringify(asProblem ? problem : body),
  };
}

/** Follows RFC 9110, section 12.5.1. Between equal preferences, problem+json wins if it is named. */
function prefersProblem(accept: string): boolean {
  const preferences = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const quality = parameters.find((each) => each.startsWith("q="))?.slice(2);
    preferences.set(type, Number(quality ?? 1));
  }
  const problem = preferences.get(PROBLEM_TYPE) ?? 0;
  const json = [JSON_TYPE, "application/*", "*/*"].map((type) => preferences.get(type));
  return problem > 0 && problem >= (json.find((each) => each !== undefined) ?? 0);
}

/** A path for the log, without a webhook's token, which is a secret. */
export function loggedPath(path: string): string {
  return isWebhookPath(normalizePath(path)) ? webhookPath("[token]") : path;
}

/** A path as handlers are chosen by it: in small letters, without escapes. */
export function normalizePath(path: string): string {
  const decoded = path.includes("%")
    ? path.replace(/%([0-7][0-9a-f])/gi, (_escape, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : path;
  return decoded.replace(/^[/\\]+/, "/").toLowerCase();
}

/** The error as shown to callers; anything unexpected becomes `internal_error` with a fixed message. */
export function toAppError(thrown: unknown): AppError {
  if (isAppError(thrown)) return thrown;
  if (thrown instanceof TRPCError) {
    if (isAppError(thrown.cause)) return thrown.cause;
    if (thrown.code === "BAD_REQUEST" && thrown.cause instanceof z.ZodError)
      return invalidRequest(thrown.cause);
  }
  return new AppError("internal_error", INTERNAL_ERROR_MESSAGE, { cause: thrown });
}

/** Procedures take `{ …path parameters, body }`; pointers into the body start at its root. */
export function invalidRequest(error: z.ZodError): AppError {
  const issues = error.issues.map((issue) => {
    const path = issue.path[0] === "body" ? issue.path.slice(1) : issue.path;
    return { path: jsonPointer(path), message: issue.message };
  });
  const reason = issues[0]?.message ?? "it has the wrong format";
  return new AppError("invalid_request", `The request is not valid: ${reason}.`, { issues });
}

/** `/api/health`: the process is alive. */
export const ALIVE: ApiResponse = { status: 200, headers: JSON_HEADERS, body: '{"alive":true}' };

/** `/api/ready`: 200 if the process can serve, else 503, with the state of each part. */
export async function readinessResponse(
  services: Parameters<typeof checkReadiness>[0],
  state = { stopping: false },
): Promise<ApiResponse> {
  const report = await checkReadiness(services);
  const ready = report.ready && !state.stopping;
  return { status: ready ? 200 : 503, headers: JSON_HEADERS, body: JSON.stringify({ ...report, ready }) };
}
