import type { ModelApi } from "@/server/base/models/model-api";
import type { EgressFetch } from "@/server/guard/egress/trusted-fetch";
import type { Redact } from "@/server/guard/secrets/redact";
import type { ModelMessage, ModelRequest, Prompt, ReceivedOutput } from "@/server/work/models/port";
import type { Adaptation } from "../errors/adaptation";
import type { ReadReply } from "../errors/replies";

/** One interface of models: it writes requests and reads replies. The loop around them is the same for all. */
export type ModelInterface = {
  name: ModelApi;
  baseUrl: string;
  /** In characters. */
  maxEventLength: number;
  /** All headers of a request. Those of the package are not sent: some come from the process's environment. */
  headersOf(apiKey: string | undefined): Record<string, string>;
  connect(options: ConnectionOptions): Connection;
  /** @param onText Called with the complete text so far whenever there is more. */
  collect(onText: (text: string) => void, request: ModelRequest): StreamedReply;
  /** Parses a provider's untrusted response. Throws ReplyError. */
  read(body: unknown, request: ModelRequest, options: ReadOptions): ReadReply;
  /** With their values. A part of an object has both names, with a dot. */
  parametersOf(request: Pick<ModelRequest, "settings" | "tools" | "responseSchema">): Record<string, unknown>;
  /** Returns true if the request has the withheld tools, although the server did not ask for them. */
  needsTools(messages: readonly ModelMessage[]): boolean;
  namesOfState(messages: readonly ModelMessage[], origin: string): string[];
};

export const JSON_HEADERS = {
  accept: "application/json",
  "content-type": "application/json",
  "user-agent": "Stepwell",
};

export type ConnectionOptions = {
  apiKey: string | undefined;
  address: string;
  query: Record<string, string>;
  timeoutMs: number;
  fetch: EgressFetch;
};

type Sent = {
  request: ModelRequest;
  known: Adaptation;
  origin: string;
  isStreamed: boolean;
  signal: AbortSignal;
};

export type Connection = {
  /** Throws the client's errors, also for a response with an error status. */
  send(sent: Sent): Promise<Response>;
  list(signal: AbortSignal): Promise<Response>;
  /** Returns a ResponseError for the error of a response; any other as it is. */
  explain(error: unknown): unknown;
};

export type ReadOptions = {
  furtherCalls?: number;
  /** The server and model that the reply's state goes back to. */
  origin: string;
  /** Redacts texts before they are cut: a part of a secret is not recognized. */
  redact?: Redact | undefined;
};

/** A streamed reply as far as it has arrived. */
export type StreamedReply = {
  /** Throws ReplyError for an invalid piece, an error, or too much. */
  add(piece: unknown): void;
  readonly furtherCalls: number;
  /** Usage that the provider did not report is counted. Null before any output or usage. */
  received(request: Prompt): Promise<ReceivedOutput | null>;
  /** Throws ReplyError if the reply is incomplete. */
  toBody(): object;
};
