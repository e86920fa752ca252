import type { ModelReply, ModelRequest, Models } from "@/server/models/port";
import { countRequestTokens } from "@/server/models/tokens";

/** What a scripted model says: words, calls, or a reply put together; usage is 10 in and 5 out when unset. */
export type ScriptedReply = {
  content?: string;
  calls?: { name: string; arguments: unknown; id?: string }[];
  usage?: ModelReply["usage"];
};

/** One line of a script: a reply, a failure to throw, or a function of the request. */
export type ScriptLine =
  | ScriptedReply
  | Error
  | ((request: ModelRequest) => ScriptedReply | Promise<ScriptedReply>);

/** Models that answer the calls one after another from a script, and keep what they were asked. */
export type ScriptedModels = Models & { readonly requests: ModelRequest[] };

/**
 * Makes models that read from a script, for tests without a network. Arguments that are no text become JSON. A call
 * beyond the script's end throws.
 */
export function scriptedModels(...script: ScriptLine[]): ScriptedModels {
  const requests: ModelRequest[] = [];
  return {
    requests,
    async call(request) {
      request.signal.throwIfAborted();
      requests.push(request);
      const number = requests.length;
      const line = script[number - 1];
      if (line === undefined) throw new Error(`The script has no line for model call ${number}.`);
      if (line instanceof Error) throw line;
      const { content = "", calls = [], usage } = typeof line === "function" ? await line(request) : line;
      const toolCalls = calls.map((call, index) => ({
        id: call.id ?? `call_${number}_${index + 1}`,
        name: call.name,
        arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
      }));
      return {
        content,
        toolCalls,
        finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
        usage: usage ?? { inputTokens: 10, outputTokens: 5, estimated: false },
        provider: "scripted",
        attempts: [],
      };
    },
    providerOf: () => "scripted",
    countTokens: countRequestTokens,
  };
}
