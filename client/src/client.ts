import { Caller, type CallOptions } from "./call.js";
import { AgentRun, Start, ToolRun } from "./run.js";
import type { Input, Schemas } from "./types.js";

export type ClientOptions = {
  /** The service's address, such as https://stepwell.example.com. */
  url: string;
  /** An API key. Keep it on servers. */
  key: string;
  /** Attempts after the first one; 4 by default. */
  retries?: number;
  /** Milliseconds for an attempt, beside the time that it waits for a run; 60,000 by default. */
  timeoutMs?: number;
  /** An answer that asks for a longer pause is thrown; 60,000 ms by default. */
  maxRetryAfterMs?: number;
  fetch?: typeof fetch;
};

export type StartOptions = CallOptions & {
  /** Your own id of the start. By default each start has a new one, which its retries keep. */
  idempotencyKey?: string;
  /** Facts of yours, which are shown with the run and filter lists; at most 2 KiB as JSON. */
  metadata?: Record<string, string | number | boolean>;
  /** The most credits that the run may use, such as "0.5". */
  maxCredits?: string | number;
  /** The run fails after this many seconds. */
  deadlineSeconds?: number;
  /** An https address that gets an event when the run ends. */
  callbackUrl?: string;
};

/** A client of one service with one API key. */
export class StepwellClient extends Caller {
  constructor({
    url,
    key,
    retries = 4,
    timeoutMs = 60_000,
    maxRetryAfterMs = 60_000,
    ...others
  }: ClientOptions) {
    super({
      url: new URL(url).href.replace(/\/+$/, ""),
      key,
      retries,
      timeoutMs,
      maxRetryAfterMs,
      // Called without `this`, which browsers reject for their own.
      fetch: others.fetch ?? ((...given) => fetch(...given)),
    });
  }

  /** Starts an agent with a message. */
  runAgent(
    agentId: string,
    message: string | Schemas["StartAgentRun"],
    options: StartOptions = {},
  ): Start<AgentRun> {
    const body = typeof message === "string" ? { userMessage: message } : message;
    const input = { path: { agentId }, headers: startHeaders(options), body };
    return new Start(this.call("runAgent", input, options).then(({ id }) => this.agentRun(id)));
  }

  /** Starts a tool with an input that matches its parameters. */
  runTool(toolId: string, input: Schemas["ToolInput"] = {}, options: StartOptions = {}): Start<ToolRun> {
    const call = { path: { toolId }, headers: startHeaders(options), body: input };
    return new Start(this.call("runTool", call, options).then(({ id }) => this.toolRun(id)));
  }

  /** A run of an agent that was started before. */
  agentRun(runId: string): AgentRun {
    return new AgentRun(this, runId);
  }

  /** A run of a tool that was started before. */
  toolRun(runId: string): ToolRun {
    return new ToolRun(this, runId);
  }
}

type StartHeaders = NonNullable<Input<"runAgent">["headers"]>;

function startHeaders({
  idempotencyKey,
  metadata,
  maxCredits,
  deadlineSeconds,
  callbackUrl,
}: StartOptions): StartHeaders {
  return {
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
    ...(metadata !== undefined && { "X-Metadata": asciiJson(metadata) }),
    ...(maxCredits !== undefined && { "X-Max-Credits": String(maxCredits) }),
    ...(deadlineSeconds !== undefined && { "X-Deadline-Seconds": String(deadlineSeconds) }),
    ...(callbackUrl !== undefined && { "X-Callback-Url": callbackUrl }),
  };
}

/** Headers take ASCII only. */
const asciiJson = (value: object) =>
  JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
