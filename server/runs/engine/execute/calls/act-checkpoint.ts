import type { WorkflowCall } from "@/server/workflow/interpret";

/**
 * Parallel calls count as one act, like the calls of one model answer. The first of every `width` calls of a step or
 * group passes the run's checkpoint. The next step always starts with one, even if the last one made fewer calls than
 * it might have.
 */
export function createActCheckpoint(
  checkpoint: () => void,
): (call: Pick<WorkflowCall, "act" | "width">) => void {
  let act: string | undefined;
  let left = 0;
  return (call) => {
    if (call.act !== act || left === 0) {
      checkpoint();
      act = call.act;
      left = call.width;
    }
    left -= 1;
  };
}
