"use client";

import { useState } from "react";
import { CallInspector } from "./call-inspector";
import { StepInspector, type Unfolding } from "./step-inspector";
import { type Line, lineId } from "./timeline-lines";

/**
 * What one line of the timeline holds: a step's input, output and reasoning, or what the model said and saw. The tab that
 * one looks at stays the same from line to line.
 */
export function Inspector({
  line,
  unfolding,
  sought = "",
}: {
  line: Line;
  unfolding?: Unfolding | undefined;
  /** What the reader looks for: marked in the line's texts. */
  sought?: string;
}) {
  const [stepTab, setStepTab] = useState("both");
  const [callTab, setCallTab] = useState("said");
  return line.kind === "step" ? (
    <StepInspector
      key={lineId(line)}
      line={line}
      onTab={setStepTab}
      sought={sought}
      tab={stepTab}
      unfolding={unfolding}
    />
  ) : (
    <CallInspector key={lineId(line)} line={line} onTab={setCallTab} tab={callTab} />
  );
}
