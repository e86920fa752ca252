import { formatPlural } from "@/app/_ui/figures/format";
import { readableText } from "@/app/_ui/json/spacing";
import { countChanges, diffLines } from "@/app/_ui/text/diff";
import type { Json, JsonObject } from "@/server/base/json/json";
import { isJsonObject } from "@/server/base/json/json";
import { readTypedJson } from "@/server/base/json/repeated-key";
import { JsonTextError } from "@/server/base/json/text";
import type { FORK_MODES } from "@/server/contract/enums";

/** A run's own settings, which a fork can change. Model, prompt and message are null for a tool; a message also if it is too long. */
export type ForkBase = {
  model: string | null;
  systemPrompt: string | null;
  userMessage: string | null;
  toolVersion: number;
  versions: readonly number[];
};

export type ForkDraft = Omit<ForkBase, "versions"> & {
  change: (typeof STEP_CHANGES)[number]["value"];
  /** JSON of the changed input or output; null: as prefilled. */
  value: string | null;
  tools: (typeof FORK_MODES)[number];
  maxCredits: string;
};

/** By JSON pointer in the request. */
export const FORK_LABELS = {
  "/fromStep": "Step",
  "/changes/model": "Model",
  "/changes/systemPrompt": "System prompt",
  "/changes/userMessage": "User message",
  "/changes/toolVersion": "Version",
  "/changes/input": "Arguments",
  "/changes/output": "Output",
  "/maxCredits": "Highest cost",
} as const;

export const STEP_CHANGES = [
  { value: "none", label: "No change" },
  { value: "input", label: "With other arguments" },
  { value: "output", label: "Not made, with another output" },
] as const;

type ForkChanges = {
  model?: string;
  systemPrompt?: string;
  userMessage?: string;
  toolVersion?: number;
  input?: JsonObject;
  output?: Json;
};

/** A step's stored input or output as JSON to edit. A text keeps its quotes: without them it would not be JSON. */
export const editableJson = (text: string) => (text.startsWith('"') ? text : readableText(text));

/** The changes of a draft without issues. */
export function changesOf(draft: ForkDraft, base: ForkBase): ForkChanges {
  const changes: ForkChanges = {};
  if (draft.model !== null && draft.model !== base.model) changes.model = draft.model;
  if (draft.systemPrompt !== null && draft.systemPrompt !== base.systemPrompt)
    changes.systemPrompt = draft.systemPrompt;
  if (draft.userMessage !== null && draft.userMessage !== base.userMessage)
    changes.userMessage = draft.userMessage;
  if (draft.toolVersion !== base.toolVersion) changes.toolVersion = draft.toolVersion;
  if (draft.change === "none" || draft.value === null) return changes;
  const value = readTypedJson(draft.value);
  if (draft.change === "output") changes.output = value;
  else if (isJsonObject(value)) changes.input = value;
  return changes;
}

/** For example `1 line changed, 2 added`. */
export function describeLineChanges(was: string, now: string): string {
  const lines = diffLines(was, now);
  if (lines === null) return "Most lines changed";
  const parts = Object.entries(countChanges(lines)).filter(([, count]) => count > 0);
  return parts
    .map(([word, count], index) => `${index === 0 ? formatPlural(count, "line") : count} ${word}`)
    .join(", ");
}

/** By JSON pointer. */
export function findDraftIssues(draft: ForkDraft): Record<string, string> {
  const { change, value, userMessage, maxCredits } = draft;
  const issues: Record<string, string> = {};
  if (userMessage === "") issues["/changes/userMessage"] = "User message must not be empty.";
  if (change !== "none") {
    const issue = value === null ? "Change it, or choose another option." : findJsonIssue(value, change);
    if (issue !== null) issues[`/changes/${change}`] = issue;
  }
  if (!/^\s*(\d{1,12}(\.\d{1,4})?)?\s*$/.test(maxCredits))
    issues["/maxCredits"] = "Enter a number with at most four decimal places.";
  return issues;
}

function findJsonIssue(text: string, change: "input" | "output"): string | null {
  try {
    const isObject = isJsonObject(readTypedJson(text));
    return change === "input" && !isObject ? "Arguments are a JSON object." : null;
  } catch (error) {
    if (error instanceof JsonTextError) return error.message;
    return `This is not valid JSON: ${error instanceof Error ? error.message : ""}`;
  }
}
