"use client";

import { useState } from "react";
import type { RunDetail } from "@/server/runs/inspect";
import { CallInspector } from "./call-inspector";
import { StepInspector } from "./step-inspector";
import { type Line, lineId } from "./timeline-lines";

/**
 * What one line of the timeline holds: a step's input, output and reasoning, or what the model said and saw. The tab that
 * one looks at stays the same from line to line.
 */
export function Inspector({ run, line }: { run: RunDetail; line: Line }) {
  const [stepTab, setStepTab] = useState("both");
  const [callTab, setCallTab] = useState("said");
  return line.kind === "step" ? (
    <StepInspector key={lineId(line)} line={line} onTab={setStepTab} runId={run.id} tab={stepTab} />
  ) : (
    <CallInspector key={lineId(line)} line={line} onTab={setCallTab} runId={run.id} tab={callTab} />
  );
}
