import { tryParseJson } from "@/server/base/json/json";
import { validateAgainst } from "@/server/work/json-schema/schema";
import { addUsage } from "./calls/reported-usage";
import { readJsonAnswer } from "./json-answer";
import {
  ModelError,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
  type ToolCall,
} from "./port";

/** An ability of a model as it is connected. `note` says it in plain words. */
export type Ability = {
  name: "Text" | "Streaming" | "Function calls" | "Structured answers" | "Reasoning" | "Usage";
  works: boolean;
  note: string;
};

const ADD = {
  name: "add",
  description: "Adds two whole numbers.",
  parameters: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" } },
    required: ["a", "b"],
  },
};
const ANSWER = {
  type: "object",
  properties: { word: { type: "string" }, sum: { type: "integer" } },
  required: ["word", "sum"],
};
const QUESTION =
  "What is 1234 plus 4321? Call the function add. When you have its result, answer with the word ready and the sum.";
const SUM = JSON.stringify(1234 + 4321);

type Tested = { text: string; usage: ModelUsage; abilities: Ability[] };

/**
 * Tests a model with two small calls: one offers a function, the other returns its result and asks for a structured
 * answer. Throws ModelError if the first one fails.
 */
export async function testAbilities(
  { model, organizationId }: { model: string; organizationId: string },
  call: (request: ModelRequest) => Promise<ModelReply>,
): Promise<Tested> {
  let isStreamed = false;
  const request: ModelRequest = {
    model,
    messages: [{ role: "user", content: QUESTION }],
    tools: [ADD],
    // Models that think before they answer use some of it.
    maxOutputTokens: 1_000,
    raiseLimit: async () => 8_000,
    signal: new AbortController().signal,
    onText: () => {
      isStreamed = true;
    },
  };
  const first = await call(request);
  const [called] = first.toolCalls;
  const messages: ModelMessage[] = [
    ...request.messages,
    { role: "assistant", content: first.content, toolCalls: first.toolCalls, state: first.state },
    ...first.toolCalls.map(({ id }): ModelMessage => ({ role: "tool", toolCallId: id, content: SUM })),
    ...(called === undefined ? [{ role: "user" as const, content: `The sum is ${SUM}. Answer now.` }] : []),
  ];
  const second = await call({
    ...request,
    messages,
    tools: [],
    withheldTools: [ADD],
    responseSchema: ANSWER,
  }).catch((error: unknown) => {
    if (error instanceof ModelError) return error;
    throw error;
  });
  const replies = second instanceof ModelError ? [first] : [first, second];
  const text = replies.map(({ content }) => content).find((content) => content !== "") ?? "";
  const changes = replies.flatMap(({ attempts }) => attempts.at(-1)?.changes ?? []);
  return {
    text,
    usage: replies.map(({ usage }) => usage).reduce(addUsage),
    abilities: [
      text === ""
        ? {
            name: "Text",
            works: false,
            note: second instanceof ModelError ? second.message : "No text came.",
          }
        : { name: "Text", works: true, note: "Works." },
      isStreamed && !changes.some((change) => change.includes("in one piece"))
        ? { name: "Streaming", works: true, note: "Text arrives as it is written." }
        : {
            name: "Streaming",
            works: false,
            note: text === "" ? "No text came." : "Answers come in one piece. Runs work, too.",
          },
      await describeCall(called, { second, organizationId }),
      await describeAnswer(second, organizationId),
      describeReasoning(replies),
      replies.every(({ usage }) => !usage.estimated)
        ? { name: "Usage", works: true, note: "The provider reports tokens." }
        : { name: "Usage", works: false, note: "The provider reports no tokens. They are counted here." },
    ],
  };
}

async function describeCall(
  called: ToolCall | undefined,
  { second, organizationId }: { second: ModelReply | ModelError; organizationId: string },
): Promise<Ability> {
  const name = "Function calls";
  if (called === undefined)
    return {
      name,
      works: false,
      note: "The model did not call the function. Agents cannot use tools with it.",
    };
  const input = tryParseJson(called.arguments);
  const issues = input === undefined ? [] : await validateAgainst(ADD.parameters, input, organizationId);
  if (called.name !== ADD.name || input === undefined || issues.length > 0)
    return { name, works: false, note: "The model called the function with a wrong name or input." };
  if (second instanceof ModelError)
    return { name, works: false, note: `The result of the call was not accepted: ${second.message}` };
  return { name, works: true, note: "Works." };
}

async function describeAnswer(second: ModelReply | ModelError, organizationId: string): Promise<Ability> {
  const name = "Structured answers";
  if (second instanceof ModelError) return { name, works: false, note: second.message };
  const answer = await readJsonAnswer(second.content, ANSWER, organizationId);
  if ("issue" in answer)
    return {
      name,
      works: false,
      note: `The answer does not match the schema: ${answer.issue.slice(0, 200)}.`,
    };
  const isDescribed = second.attempts.at(-1)?.changes?.some((change) => change.includes("schema")) ?? false;
  return {
    name,
    works: true,
    note: isDescribed ? "Works: the system message describes the schema." : "Works.",
  };
}

function describeReasoning(replies: readonly ModelReply[]): Ability {
  const name = "Reasoning";
  if (replies.some(({ reasoning }) => reasoning !== "")) return { name, works: true, note: "Is shown." };
  const isHidden = replies.some(({ usage, state }) => (usage.reasoningTokens ?? 0) > 0 || state !== null);
  return isHidden
    ? { name, works: true, note: "Is used, but the provider does not show it." }
    : {
        name,
        works: false,
        note: "None came. Many models do not reason, or only if reasoningEffort is set.",
      };
}
