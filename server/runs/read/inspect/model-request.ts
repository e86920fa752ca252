import { z } from "zod";
import type { MemberActor } from "@/server/base/actor";
import { defineQuery } from "@/server/base/db/statement";
import { AppError } from "@/server/base/errors";
import { readJson, writeJson } from "@/server/base/json/json";
import { readAttempts, readToolCalls } from "@/server/runs/attempts";
import type { Services } from "@/server/runs/services";
import { type AgentConfiguration, runConfiguration } from "@/server/work/agent/definition";
import {
  type ModelTurn,
  runAgentLoop,
  type ToolResult,
  type ToolRound,
  type TurnReply,
} from "@/server/work/agent/loop";
import { textInput, textMessages } from "@/server/work/functions/generate-text";
import { keptOf, shortenText } from "@/server/work/models/context/shorten";
import type { Attempt, Prompt, Shortening } from "@/server/work/models/port";
import { payloadPreview, previewPayload, startOf } from "./payload-preview";

export type ModelRequestView = ReturnType<typeof viewRequest>;
export type SentMessage = ModelRequestView["messages"][number];

/**
 * The messages and offered tools of one model call, replayed from the run's frozen configuration and finished
 * steps. Throws `not_found`.
 */
export async function inspectModelRequest(
  { db, pool }: Pick<Services, "db" | "pool">,
  actor: MemberActor,
  { runId, callId }: { runId: string; callId: string },
): Promise<ModelRequestView> {
  const ofRun = { runId, organizationId: actor.orgId };
  const call = await db.modelCall.findFirst({
    where: { ...ofRun, id: callId },
    select: {
      key: true,
      iterationNumber: true,
      attempts: true,
      run: { select: { input: true, configuration: { select: { document: true } } } },
    },
  });
  if (!call) throw new AppError("not_found", `There is no model call ${callId} in run ${runId}.`);
  const inside = /^(.+)\/model-(\d+)-(\d+)$/.exec(call.key);
  if (inside) {
    const [, stepKey = "", attempt, number] = inside;
    const step = await db.step.findFirst({
      where: { ...ofRun, key: stepKey },
      select: { input: true },
    });
    const first = number === "1" ? null : { ...ofRun, key: `${stepKey}/model-${attempt}-1` };
    const answer = first ? await db.modelCall.findFirst({ where: first, select: { content: true } }) : null;
    return viewTextRequest(step?.input ?? "null", actor.orgId, answer);
  }
  const configuration = runConfiguration.parse(readJson(call.run.configuration.document));
  if (configuration.kind !== "agent") {
    throw new AppError(
      "not_found",
      `The model call ${call.key} of run ${runId} belongs to none of its steps.`,
    );
  }
  const earlier = { ...ofRun, iterationNumber: { lt: call.iterationNumber } };
  const [calls, steps] = await Promise.all([
    db.modelCall.findMany({ where: earlier, select: { key: true, content: true, toolCalls: true } }),
    READ_OUTPUTS(pool, [runId, actor.orgId, call.iterationNumber]),
  ]);
  return replay(configuration, {
    shortened: shorteningOf(readAttempts(call.attempts)),
    userMessage: call.run.input,
    wanted: call.key,
    journal: {
      organizationId: actor.orgId,
      replies: new Map(
        calls.map(({ key, content, toolCalls }) => [
          key,
          { content, reasoning: "", state: null, toolCalls: readToolCalls(toolCalls) },
        ]),
      ),
      outputs: new Map(steps.map((step) => [step.key, step])),
    },
  });
}

const outputRow = z.object({
  key: z.string(),
  number: z.number(),
  name: z.string(),
  failed: z.boolean(),
  output: payloadPreview,
});

type OutputRow = z.infer<typeof outputRow>;

// Reads the outputs before iteration $3, only those that a page shows: an output may have a megabyte.
const READ_OUTPUTS = defineQuery(
  "read-request-outputs",
  outputRow,
  `SELECT key, step_number AS number, tool_name AS name, status = 'Failed' AS failed,
          ${startOf("coalesce(output, 'null')")} AS output
   FROM steps WHERE run_id = $1 AND organization_id = $2 AND iteration_number < $3`,
);

// A wait is no request.
const shorteningOf = (attempts: readonly Attempt[]): readonly Shortening[] =>
  attempts.findLast(({ waited }) => waited !== true)?.shortened ?? [];

type Journal = {
  organizationId: string;
  replies: Map<string, TurnReply>;
  outputs: Map<string, OutputRow>;
};

/** The wanted call gets no reply, which ends the loop. */
async function replay(
  configuration: AgentConfiguration,
  {
    userMessage,
    wanted,
    shortened,
    journal,
  }: { userMessage: string; wanted: string; shortened: readonly Shortening[]; journal: Journal },
): Promise<ModelRequestView> {
  const { organizationId, replies, outputs } = journal;
  let found: ModelTurn | undefined;
  let known = 0;
  // In the order of the messages of role `tool`.
  const toolOutputs: (OutputRow | undefined)[] = [];
  await runAgentLoop(configuration, userMessage, {
    organizationId,
    async callModel(turn) {
      const key = turn.closing ? "answer" : `think-${turn.iteration}`;
      const reply = key === wanted ? undefined : replies.get(key);
      if (reply === undefined) {
        // With an output schema, the loop asks again after this empty reply.
        found ??= turn;
        return { content: "", reasoning: "", state: null, toolCalls: [] };
      }
      known = turn.messages.length;
      return reply;
    },
    async callTools({ iteration, calls }: ToolRound) {
      return calls.map((_, index): ToolResult => {
        const step = outputs.get(`call-${iteration}-${index + 1}`);
        toolOutputs.push(step);
        if (step === undefined) return { output: "null", failed: false };
        return { output: step.output.text, failed: step.failed && !step.output.cut };
      });
    },
  });
  return viewRequest({ messages: [], tools: [], ...found }, known, { outputs: toolOutputs, shortened });
}

async function viewTextRequest(
  input: string,
  organizationId: string,
  firstAnswer: { content: string } | null,
): Promise<ModelRequestView> {
  const stepInput = textInput.safeParse(readJson(input));
  if (!stepInput.success) return viewRequest({ messages: [], tools: [] }, 0);
  const known = firstAnswer === null ? 0 : (await textMessages(stepInput.data, organizationId)).length;
  const messages = await textMessages(stepInput.data, organizationId, firstAnswer ?? undefined);
  return viewRequest({ messages, tools: [], responseSchema: stepInput.data.schema }, known);
}

/** `known`: how many messages an earlier call had sent. `outputs`: the steps behind the messages of role `tool`. */
function viewRequest(
  { messages, tools, responseSchema }: Prompt,
  known: number,
  {
    outputs = [],
    shortened = [],
  }: { outputs?: readonly (OutputRow | undefined)[]; shortened?: readonly Shortening[] } = {},
) {
  let results = 0;
  return {
    messages: messages.map((message, index) => {
      const step = message.role === "tool" ? outputs[results++] : undefined;
      const calls = message.role === "assistant" ? message.toolCalls : [];
      const whole = step?.output ?? previewPayload(message.content);
      const keep = message.role === "tool" ? keptOf(index, shortened) : null;
      const short = keep === null ? null : shortenText(whole.text, keep, whole.bytes);
      return {
        role: message.role,
        content: short === null ? whole : previewPayload(short),
        isShortened: short !== null,
        toolCalls: calls.map((call) => ({ name: call.name, arguments: previewPayload(call.arguments) })),
        step: step ? { number: step.number, name: step.name } : null,
        fresh: index >= known,
      };
    }),
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: writeJson(parameters),
    })),
    responseSchema: responseSchema === undefined ? null : writeJson(responseSchema),
  };
}
