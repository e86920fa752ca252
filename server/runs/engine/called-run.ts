import { deriveId } from "@/server/base/ids";

/** The id of the run that an attempt of a step calls. */
export function calledRunId(runId: string, key: string, attempt: number): string {
  return deriveId(runId, attempt === 1 ? key : `${key}/attempt-${attempt}`);
}
