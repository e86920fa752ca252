import OpenAI, { APIError } from "openai";
import { type ConnectionOptions, JSON_HEADERS } from "@/server/work/models/calls/model-interface";
import { ResponseError } from "@/server/work/models/errors/replies";

export const openAiHeaders = (apiKey = "none"): Record<string, string> => ({
  ...JSON_HEADERS,
  authorization: `Bearer ${apiKey}`,
});

/**
 * Sends the headers, time limit and signal of the call (ModelServer), because the client's own cost more than the
 * rest of a call.
 */
class LeanClient extends OpenAI {
  readonly #send: ConnectionOptions["fetch"];

  constructor({ apiKey = "none", address, query, timeoutMs, fetch }: ConnectionOptions) {
    super({
      apiKey,
      baseURL: address,
      defaultQuery: query,
      maxRetries: 0,
      timeout: timeoutMs,
      logLevel: "off",
    });
    this.#send = fetch;
  }

  override async buildRequest({
    method,
    path,
    query,
    body,
    signal,
  }: Parameters<OpenAI["buildRequest"]>[0]): ReturnType<OpenAI["buildRequest"]> {
    const req = {
      method: method.toUpperCase(),
      headers: NO_HEADERS,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    };
    return { req, url: this.buildURL(path, { ...query }), timeout: this.timeout };
  }

  override fetchWithTimeout(url: RequestInfo, init?: RequestInit): Promise<Response> {
    return this.#send(url instanceof Request ? url.url : url, init);
  }
}

const NO_HEADERS = new Headers();

export const createOpenAiClient = (options: ConnectionOptions): OpenAI => new LeanClient(options);

/** The client's error of a response as a ResponseError; any other as it is. */
export function explainOpenAiError(error: unknown): unknown {
  if (!(error instanceof APIError) || error.status === undefined) return error;
  const { message, status, code, param, headers } = error;
  return new ResponseError(message, { status, code, param, headers, cause: error });
}
