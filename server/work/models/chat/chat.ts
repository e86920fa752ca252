import type {
  Connection,
  ConnectionOptions,
  ModelInterface,
} from "@/server/work/models/calls/model-interface";
import { createOpenAiClient, explainOpenAiError, openAiHeaders } from "@/server/work/models/openai/client";
import { MAX_EVENT_LENGTH } from "@/server/work/models/port";
import { readChatCompletion } from "./chat-completion";
import { chatParameters, toChatCompletion } from "./chat-request";
import { namesOfState } from "./chat-state";
import { StreamedCompletion } from "./streamed-completion";

/** OpenAI's chat completions, which most providers and servers offer. */
export const chat: ModelInterface = {
  name: "chat",
  baseUrl: "https://api.openai.com/v1",
  maxEventLength: MAX_EVENT_LENGTH,
  headersOf: openAiHeaders,
  connect,
  collect: (onText) => new StreamedCompletion(onText),
  read: readChatCompletion,
  parametersOf: chatParameters,
  needsTools: () => false,
  namesOfState,
};

function connect(options: ConnectionOptions): Connection {
  const client = createOpenAiClient(options);
  const { completions } = client.chat;
  return {
    send({ request, known, origin, isStreamed, signal }) {
      const body = toChatCompletion(request, known, origin);
      const streamed = { ...body, stream: true, stream_options: { include_usage: true } } as const;
      const call = isStreamed
        ? completions.create(streamed, { signal })
        : completions.create({ ...body, stream: false }, { signal });
      return call.asResponse();
    },
    list: (signal) => client.get("/models", { signal }).asResponse(),
    explain: explainOpenAiError,
  };
}
