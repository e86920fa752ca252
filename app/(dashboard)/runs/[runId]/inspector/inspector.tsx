import { useState } from "react";
import type { Line } from "../lines";
import type { Workbench } from "../use-workbench";
import { CallInspector } from "./call";
import { GroupInspector, WaitInspector } from "./group-and-wait";
import { SkippedInspector } from "./skipped";
import { StepInspector } from "./step";

/**
 * The details of a timeline line. The selected tab is the same for all lines. An attempt shows its step or call.
 * @param bench absent in a comparison
 */
export function Inspector({ line, bench }: { line: Line; bench?: Workbench }) {
  const [stepTab, setStepTab] = useState("both");
  const [callTab, setCallTab] = useState("said");
  const [shownId, setShownId] = useState("");
  if (line.id !== shownId) {
    setShownId(line.id);
    if (line.kind === "attempt") (line.of.kind === "step" ? setStepTab : setCallTab)("attempts");
  }
  if (line.kind === "wait") return <WaitInspector key={line.id} line={line} />;
  if (line.kind === "group") return <GroupInspector bench={bench} key={line.id} line={line} />;
  const work = line.kind === "attempt" ? line.of : line;
  if (work.kind === "step" && work.step.skipped)
    return <SkippedInspector key={work.id} line={work} note={work.step.skipped} />;
  const props = { attempt: line.kind === "attempt" ? line.attempt.number : null, bench };
  return work.kind === "step" ? (
    <StepInspector {...props} key={work.id} line={work} onTab={setStepTab} tab={stepTab} />
  ) : (
    <CallInspector {...props} key={work.id} line={work} onTab={setCallTab} tab={callTab} />
  );
}
