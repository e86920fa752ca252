import type { ShownError } from "@/app/_ui/data/query-client";
import type { EditorProblem } from "@/app/_ui/editor/language";
import { readPointer } from "@/app/_ui/editor/text/position";
import { isJsonObject } from "@/server/base/json/json";
import { readTypedJson } from "@/server/base/json/repeated-key";
import { JsonTextError } from "@/server/base/json/text";

/** The reason why an input was rejected, and the places of its issues. */
export function InputProblem({ id, problem }: { id: string; problem: ShownError | string | null }) {
  const { message, issues } =
    typeof problem === "string"
      ? { message: problem, issues: [] }
      : (problem ?? { message: null, issues: [] });
  return (
    <div aria-live="polite" className="text-failed empty:hidden" id={id}>
      {message === null ? null : <p>{message}</p>}
      {issues.length > 0 ? (
        <ul className="mt-1 flex max-h-40 flex-col gap-0.5 overflow-y-auto">
          {issues.map((issue) => (
            <li className="[overflow-wrap:anywhere]" key={`${issue.path} ${issue.message}`}>
              {issue.path === "" ? "The input" : <span className="mono">{issue.path}</span>} {issue.message}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

export function inputProblems(problem: ShownError | string | null): EditorProblem[] {
  if (problem === null || typeof problem === "string") return [];
  return problem.issues.map(({ path, message }) => ({ path: readPointer(path), message }));
}

/** Returns the JSON object of a text, or the reason why it isn't one. */
export function readJsonObject(text: string) {
  try {
    const value = readTypedJson(text);
    if (isJsonObject(value)) return { value, issue: null };
    return { value: null, issue: "The input of a tool must be a JSON object." };
  } catch (error) {
    if (error instanceof JsonTextError) return { value: null, issue: error.message };
    const why = error instanceof Error ? error.message : "";
    return { value: null, issue: `This is not valid JSON: ${why}` };
  }
}
