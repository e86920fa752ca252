import type { ModelRequest, ModelUsage, ReceivedOutput } from "@/server/models/port";
import { countUsage } from "@/server/models/tokens/tokens";
import { replaceNul } from "@/server/secrets/stored-output";
import { readUsage } from "./chat-completion";
import type { StreamedCompletion } from "./streamed-completion";

export function addUsage(a: ModelUsage, b: ModelUsage): ModelUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    estimated: a.estimated || b.estimated,
  };
}

/** Adds what an interrupted stream received: the provider's figures if they arrived, else counted here. */
export async function addReceived(
  earlier: ReceivedOutput | null,
  request: Pick<ModelRequest, "messages" | "tools">,
  streamed: StreamedCompletion,
): Promise<ReceivedOutput | null> {
  const output = streamed.received();
  if (output === null) return earlier;
  const usage = readUsage(output.usage) ?? (await countUsage(request, output));
  return {
    content: replaceNul(output.content),
    usage: earlier === null ? usage : addUsage(earlier.usage, usage),
  };
}
