export type { CallOptions } from "./call.js";
export { type ClientOptions, type StartOptions, StepwellClient } from "./client.js";
export { ApiError, CallbackError, ConnectionError, RunFailedError, StepwellError } from "./errors.js";
export type { EventStep, PathPart, RunEvent, TreeEvent } from "./events.js";
export type { FollowOptions, FollowTreeOptions } from "./follow.js";
export type { AgentRun, Start, ToolRun, WaitOptions } from "./run.js";
export type { components, operations, paths } from "./schema.js";
export type {
  Answer,
  CallId,
  Input,
  Item,
  ListId,
  OperationId,
  Schemas,
  TextId,
  TextInput,
} from "./types.js";
export { type Callback, signWebhook, verifyCallback } from "./webhooks.js";
