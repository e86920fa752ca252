import type { TextIssue } from "@/server/catalog/edit-definition";
import { stepAt, type ToolView } from "../tool-document";

/** A problem as people read it: its place, and the error. */
export type ShownProblem = Pick<TextIssue, "line" | "path" | "repair"> & {
  place: string;
  sentence: string;
  /** The sentence once it is repaired. */
  repaired: string;
};

const LABELS = new Map([
  ["id", "Step id"],
  ["uses", "Function"],
  ["if", "Only if"],
  ["forEach", "For each"],
  ["as", "Item name"],
  ["concurrency", "At once"],
  ["retries", "Retries"],
  ["timeoutMs", "Timeout"],
  ["onError", "On error"],
  ["name", "Name"],
  ["slug", "Slug"],
  ["description", "Description"],
  ["parameters", "Parameters"],
  ["steps", "Steps"],
  ["output", "Output"],
  ["outputSchema", "Output schema"],
]);

/** An issue that starts with one of these words continues the name of its field. */
const CONTINUES = /^(?:is|are|must|has|have|cannot|can|does|would|should|may|needs|contains|allows)\b/;

/** Describes a problem of a tool by the names that its form has. `tool`: null while its YAML has a syntax error. */
export function describeProblem(
  { line, path, issue, repair }: TextIssue,
  tool: ToolView | null,
): ShownProblem {
  const step = path[0] === "steps" && typeof path[1] === "number" ? path[1] : null;
  const member = step !== null && path[2] === "parallel" && typeof path[3] === "number" ? path[3] : undefined;
  const id = step === null ? "" : (stepAt(tool, { index: step, member })?.id ?? "");
  const within = step === null ? path : path.slice(member === undefined ? 2 : 4);
  const isInput = within[0] === "with";
  const names = (isInput ? within.slice(1) : within).map((key, index) =>
    typeof key === "number" ? `item ${key + 1}` : index === 0 && !isInput ? (LABELS.get(key) ?? key) : key,
  );
  const field = names.join(" › ");
  const part = step === null ? "" : id === "" ? `Step ${step + 1}` : id;
  const place = [part, field].filter((name) => name !== "").join(", ");
  const ofStep = step === null ? "" : `step ${id || step + 1}`;
  return {
    line,
    path,
    repair,
    repaired: `Fixed ${[field, ofStep].filter((name) => name !== "").join(" in ") || "the tool"}`,
    place: place || (line === null ? "" : `Line ${line}`),
    sentence: toSentences(
      CONTINUES.test(issue) ? `${field || part || "The tool"} ${issue}` : capitalize(issue),
    ),
  };
}

function toSentences(text: string): string {
  const [issue = "", ...known] = text.split(/; (?=[a-z ]*(?:known|expressions can use|steps before)\b)/);
  return [issue, ...known.map(capitalize)].map(endSentence).join(" ");
}

/** Names such as http_request stay. */
const capitalize = (text: string) => text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
const endSentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
