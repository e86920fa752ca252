import OpenAI, { APIError } from "openai";
import { type ConnectionOptions, JSON_HEADERS } from "@/server/work/models/calls/model-interface";
import { ResponseError } from "@/server/work/models/calls/replies";

/** The headers of both of OpenAI's interfaces. */
export const openAiHeaders = (apiKey = "none"): Record<string, string> => ({
  ...JSON_HEADERS,
  authorization: `Bearer ${apiKey}`,
});

/** OpenAI's client as both of its interfaces use it, without retries and a log. */
export const createOpenAiClient = ({ apiKey, address, query, timeoutMs, fetch }: ConnectionOptions): OpenAI =>
  new OpenAI({
    apiKey: apiKey ?? "none",
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
