import { deriveId } from "@/server/base/ids";

export function calledRunId(runId: string, key: string, attempt: number): string {
  return deriveId(runId, attempt === 1 ? key : `${key}/attempt-${attempt}`);
}
