import type {
  Connection,
  ConnectionOptions,
  ModelInterface,
} from "@/server/work/models/calls/model-interface";
import { createOpenAiClient, explainOpenAiError, openAiHeaders } from "@/server/work/models/openai/client";
import { MAX_REPLY_LENGTH } from "@/server/work/models/port";
import { readResponse } from "./response";
import { responseParameters, toResponseBody } from "./response-request";
import { StreamedResponse } from "./streamed-response";

/** OpenAI's responses, which its models that think need to call functions. Nothing is stored at the provider. */
export const responses: ModelInterface = {
  name: "responses",
  baseUrl: "https://api.openai.com/v1",
  // The last event repeats the reply, and the instructions and tools of the request.
  maxEventLength: MAX_REPLY_LENGTH,
  headersOf: openAiHeaders,
  connect,
  collect: (onText) => new StreamedResponse(onText),
  read: readResponse,
  parametersOf: responseParameters,
  needsTools: () => false,
  namesOfState: () => [],
};

function connect(options: ConnectionOptions): Connection {
  const client = createOpenAiClient(options);
  return {
    send({ request, known, origin, isStreamed, signal }) {
      const body = { ...toResponseBody(request, known, origin), ...(isStreamed && { stream: true }) };
      return client.post("/responses", { body, stream: isStreamed, signal }).asResponse();
    },
    list: (signal) => client.get("/models", { signal }).asResponse(),
    explain: explainOpenAiError,
  };
}
