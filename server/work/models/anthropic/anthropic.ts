import type { Anthropic } from "@anthropic-ai/sdk";
import {
  type Connection,
  type ConnectionOptions,
  JSON_HEADERS,
  type ModelInterface,
} from "@/server/work/models/calls/model-interface";
import { readReported } from "@/server/work/models/errors/error-bodies";
import { ResponseError } from "@/server/work/models/errors/replies";
import { MAX_EVENT_LENGTH } from "@/server/work/models/port";
import { readMessage } from "./message";
import { hasResults, messageParameters, toMessageBody } from "./message-request";
import { StreamedMessage } from "./streamed-message";

/** Anthropic's messages, with prompt caching and thinking that comes back. */
export const anthropic: ModelInterface = {
  name: "anthropic",
  baseUrl: "https://api.anthropic.com",
  maxEventLength: MAX_EVENT_LENGTH,
  headersOf: (apiKey = "none") => ({
    ...JSON_HEADERS,
    "anthropic-version": "2023-06-01",
    "x-api-key": apiKey,
  }),
  connect,
  collect: (onText, request) => new StreamedMessage(onText, request),
  read: readMessage,
  parametersOf: messageParameters,
  needsTools: hasResults,
  namesOfState: () => [],
};

type Sdk = typeof import("@anthropic-ai/sdk");

// Loads the package with the first call: most installations have no such models.
function connect(options: ConnectionOptions): Connection {
  let sdk: Sdk | undefined;
  let client: Anthropic | undefined;
  const open = async () => {
    sdk ??= await import("@anthropic-ai/sdk");
    client ??= createClient(sdk, options);
    return client;
  };
  return {
    async send({ request, known, origin, isStreamed, signal }) {
      const body = { ...toMessageBody(request, known, origin), ...(isStreamed && { stream: true }) };
      return (await open()).post("/v1/messages", { body, stream: isStreamed, signal }).asResponse();
    },
    async list(signal) {
      return (await open()).get("/v1/models", { query: { limit: 1_000 }, signal }).asResponse();
    },
    explain: (error) => (sdk === undefined ? error : explain(sdk, error)),
  };
}

function createClient(
  { Anthropic }: Sdk,
  { apiKey = "none", address, query, timeoutMs, fetch }: ConnectionOptions,
): Anthropic {
  return new Anthropic({
    // Without a key, the client searches for one.
    apiKey,
    baseURL: address,
    defaultQuery: query,
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: "off",
    openTelemetry: false,
    fetch: (input, init) => fetch(input instanceof Request ? input.url : input, init),
  });
}

function explain({ APIError }: Sdk, error: unknown): unknown {
  if (!(error instanceof APIError) || error.status === undefined) return error;
  const { status, headers } = error;
  const reported = readReported(error.error, status);
  const message = reported === null ? error.message : `${status} ${reported.message}`;
  return new ResponseError(message, { ...reported, status, headers, cause: error });
}
