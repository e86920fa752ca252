import OpenAI, { APIError } from "openai";
import type { ConnectionOptions } from "@/server/work/models/calls/model-interface";
import { ResponseError } from "@/server/work/models/calls/replies";

/** OpenAI's client as both of its interfaces use it: without retries, a log, or settings from the environment. */
export const createOpenAiClient = ({ apiKey, address, query, timeoutMs, fetch }: ConnectionOptions): OpenAI =>
  new OpenAI({
    apiKey: apiKey ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: address,
    defaultQuery: query,
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: "off",
    fetch: (input, init) => fetch(input instanceof Request ? input.url : input, init),
  });

/** The client's error of a response as a ResponseError; any other as it is. */
export function explainOpenAiError(error: unknown): unknown {
  if (!(error instanceof APIError) || error.status === undefined) return error;
  const { message, status, code, param, headers } = error;
  return new ResponseError(message, { status, code, param, headers, cause: error });
}
