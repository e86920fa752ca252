import type { ShownError } from "@/app/_ui/data/query-client";
import { fromPointer, jsonPointer } from "@/server/base/json/text";
import type { TextIssue } from "@/server/catalog/edit-definition";
import { lineAt } from "../tool-document";

/** The issues of a rejected save, at their lines, without those already `found`. Their paths begin with `/definition`. */
export function readRejection(
  { value, issues }: { value: string; issues: ShownError["issues"] },
  found: readonly TextIssue[],
): TextIssue[] {
  const isFound = (pointer: string, issue: string) =>
    found.some((problem) => problem.issue === issue && jsonPointer(problem.path) === pointer);
  return issues.flatMap(({ path: pointer, message }) => {
    const [root, ...path] = fromPointer(pointer);
    if (root !== "definition" || isFound(jsonPointer(path), message)) return [];
    return [{ line: lineAt(value, path), path, issue: message, message }];
  });
}
