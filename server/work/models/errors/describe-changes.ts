import type { ModelRequest } from "@/server/work/models/port";
import { type Adaptation, acceptedParameters, isStreamed, UNKNOWN_SERVER } from "./adaptation";
import { hasLostStates, withoutLostStates } from "./lost-states";
import { describeQuirks } from "./quirks";

type Asked = {
  request: Pick<ModelRequest, "messages" | "onText" | "responseSchema" | "tools" | "withheldTools">;
  parameters: () => Record<string, unknown>;
  fields: () => readonly string[];
  origin: string;
};

export const IN_ONE_PIECE = "the answer was requested in one piece";

/** The changes of a request because of what was learned about its server, in words. */
export function describeChanges(known: Adaptation, { request, parameters, fields, origin }: Asked): string[] {
  if (known === UNKNOWN_SERVER) return [];
  const { tools, withheldTools = [], onText, responseSchema } = request;
  const changes: string[] = [];
  if (known.rejectedSettings.length > 0) {
    const asked = parameters();
    const accepted = acceptedParameters(asked, known);
    for (const [name, value] of Object.entries(asked))
      if (value !== undefined && !Object.hasOwn(accepted, name)) changes.push(`${name} was left out`);
  }
  if (known.unwantedFields.length > 0) {
    const back = new Set(fields());
    for (const name of known.unwantedFields)
      if (back.has(name)) changes.push(`${name} of earlier messages was left out`);
  }
  if (hasLostStates(request.messages, known.lostStates))
    changes.push("reasoning of earlier messages was left out, because the provider could not verify it");
  if (known.oldTokenLimit) changes.push("max_tokens was sent instead of max_completion_tokens");
  if (known.schemaInPrompt && responseSchema !== undefined)
    changes.push("the schema of the answer was described in the system message");
  if (onText !== undefined && !isStreamed(request, known)) changes.push(IN_ONE_PIECE);
  const offered = tools.length > 0 || !known.toolsAlways ? tools : withheldTools;
  if (offered.some(({ description }) => description.length > known.maxDescription))
    changes.push(
      `descriptions of tools were cut to ${known.maxDescription.toLocaleString("en-US")} characters`,
    );
  if (known.toolsAlways && tools.length === 0 && withheldTools.length > 0)
    changes.push("the tools were sent with tool_choice: none");
  if (known.quirks.length > 0)
    changes.push(
      ...describeQuirks(known.quirks, {
        ...withoutLostStates(request, known.lostStates),
        parameters,
        origin,
      }),
    );
  return changes;
}
