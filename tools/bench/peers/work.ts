import { z } from "zod";

/** Does one step durably: if it was done before, returns its earlier result. */
export type DoStep = <Result>(name: string, act: () => Promise<Result>) => Promise<Result>;

/** The inputs of the two runs, as our API takes them. */
export const agentInput = z.object({ userMessage: z.string() });
export type AgentInput = z.infer<typeof agentInput>;
export const toolInput = z.object({ a: z.number() });
export type ToolInput = z.infer<typeof toolInput>;

type ToolCall = { id: string; function: { name: string; arguments: string } };
type Message = { role: string; content?: string; tool_calls?: ToolCall[]; tool_call_id?: string };
type Chunk = { choices: { delta: { content?: string; tool_calls?: ToolCall[] } }[] };

/** An agent run as a peer executes it: three model calls and two function calls, each of them a durable step. */
export async function runAgent(
  doStep: DoStep,
  { userMessage }: AgentInput,
  modelPort: number,
): Promise<string> {
  const messages: Message[] = [
    { role: "system", content: "You help." },
    { role: "user", content: userMessage },
  ];
  for (let iteration = 1; ; iteration += 1) {
    const reply = await doStep(`model ${iteration}`, () => callModel(messages, modelPort));
    messages.push(reply);
    if (!reply.tool_calls) return reply.content ?? "";
    for (const [index, call] of reply.tool_calls.entries()) {
      const result = await doStep(`call ${iteration}.${index}`, async () => calculate(call));
      messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(result) });
    }
  }
}

/** A tool run: one durable step. */
export const runTool = (doStep: DoStep, { a }: ToolInput): Promise<number> => doStep("one", async () => a);

async function callModel(messages: Message[], modelPort: number): Promise<Message> {
  const response = await fetch(`http://127.0.0.1:${modelPort}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: "Bearer bench" },
    body: JSON.stringify({ model: "bench", stream: true, messages }),
  });
  const [line = ""] = (await response.text()).split("\n");
  const chunk: Chunk = JSON.parse(line.slice("data: ".length));
  const { content, tool_calls } = chunk.choices[0]?.delta ?? {};
  return {
    role: "assistant",
    ...(content !== undefined && { content }),
    ...(tool_calls !== undefined && { tool_calls }),
  };
}

function calculate({ function: { arguments: json } }: ToolCall): { result: number } {
  const { expression }: { expression: string } = JSON.parse(json);
  const [left = 0, right = 0] = expression.split("*").map(Number);
  return { result: left * right };
}
