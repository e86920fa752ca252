import type { ApiRequest } from "@/server/api/http/api-request";
import type { ApiKeyActor } from "@/server/base/actor";
import type { JsonObject } from "@/server/base/json/json";
import type { Services } from "@/server/services";
import type { Unread } from "./unread";

export type Exchange = {
  services: Services;
  actor: ApiKeyActor;
  requestId: string;
  header: ApiRequest["header"];
  /** Throws what a new request with the same key would. */
  confirm(): Promise<unknown>;
  /** Aborted when the client disconnects. */
  gone: AbortSignal;
  /** Aborted when the client has taken the response, or has left. */
  over: AbortSignal;
  /** Names a call that its client may repeat or cancel by a message of its own. Null without a session. */
  callKey: string | null;
  messageHash: Buffer;
  /** The arguments of a call, once. */
  takeInput(): JsonObject;
  /** Gives the memory of the request's body back. */
  release(): void;
  unread: Unread;
};
