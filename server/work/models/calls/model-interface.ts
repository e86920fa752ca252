import type { ModelApi } from "@/server/base/model-api";
import type { EgressFetch } from "@/server/guard/egress/trusted-fetch";
import type { Redact } from "@/server/guard/secrets/redact";
import type { ModelMessage, ModelRequest, Prompt, ReceivedOutput } from "@/server/work/models/port";
import type { Adaptation } from "./adaptation";
import type { ReadReply } from "./replies";

/** One interface of models: it writes requests and reads replies. The loop around them is the same for all. */
export type ModelInterface = {
  name: ModelApi;
  /** The base address of who defines it. */
  baseUrl: string;
  /** The longest event of a stream, in characters. */
  maxEventLength: number;
  /** All headers of a request. Those of the package are not sent: some come from the process's environment. */
  headersOf(apiKey: string | undefined): Record<string, string>;
  connect(options: ConnectionOptions): Connection;
  /** Joins the pieces of a streamed reply. @param onText called with the complete text so far whenever there is more. */
  collect(onText: (text: string) => void, request: ModelRequest): StreamedReply;
  /** Parses a provider's untrusted response. Throws ReplyError. */
  read(body: unknown, request: ModelRequest, options: ReadOptions): ReadReply;
  /** The parameters that a model may refuse, with their values. A part of an object has both names, with a dot. */
  parametersOf(request: Pick<ModelRequest, "settings" | "tools" | "responseSchema">): Record<string, unknown>;
  /** The names of all fields that messages bring back to their origin and that a server may refuse. */
  namesOfState(messages: readonly ModelMessage[], origin: string): string[];
};

/** The headers of requests of all interfaces. */
export const JSON_HEADERS = {
  accept: "application/json",
  "content-type": "application/json",
  "user-agent": "Stepwell",
};

export type ConnectionOptions = {
  /** Unset for servers that ask for none. */
  apiKey: string | undefined;
  /** The base address without its query. */
  address: string;
  /** Belongs behind the path of each call. */
  query: Record<string, string>;
  timeoutMs: number;
  fetch: EgressFetch;
};

/** The request of one attempt. */
export type Sent = {
  request: ModelRequest;
  known: Adaptation;
  origin: string;
  /** Requests the reply in pieces. */
  isStreamed: boolean;
  signal: AbortSignal;
};

/** A vendor's client. */
export type Connection = {
  /** Sends a request. Throws the client's errors, also for a response with an error status. */
  send(sent: Sent): Promise<Response>;
  /** Requests the models that the server offers. Throws like `send`. */
  list(signal: AbortSignal): Promise<Response>;
  /** The error of a response as a ResponseError; any other as it is. */
  explain(error: unknown): unknown;
};

export type ReadOptions = {
  /** The number of calls that were removed from the body. */
  furtherCalls?: number;
  /** The server and model that the reply's state goes back to. */
  origin: string;
  /** Takes secrets out of texts before they are cut: a part of a secret is not recognized. */
  redact?: Redact | undefined;
};

/** A streamed reply as far as it has arrived. */
export type StreamedReply = {
  /** Adds the next piece. Throws PiecesError for an invalid one, ReplyError for an error, and ReplyTooLarge. */
  add(piece: unknown): void;
  readonly furtherCalls: number;
  /** The output so far, with the provider's usage if it was reported, else counted; null before any output. */
  received(request: Prompt): Promise<ReceivedOutput | null>;
  /** The reply as a complete body. Throws PiecesError if it is incomplete. */
  toBody(): object;
};
