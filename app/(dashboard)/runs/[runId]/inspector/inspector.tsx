"use client";

import { useState } from "react";
import { type Line, lineId } from "../lines";
import type { Unfolding } from "../timeline/use-unfolding";
import { GroupInspector } from "./group";
import { CallInspector } from "./model-call";
import { StepInspector } from "./step";
import { WaitInspector } from "./wait";

/**
 * The details of one timeline line: a step's input and output, a model call's output and prompt, or why the run waited.
 * The selected tab is the same for all lines. An attempt shows its step or call.
 */
export function Inspector({
  line,
  unfolding,
  onShow,
  searchText = "",
  runError = "",
}: {
  line: Line;
  onShow?: ((line: Line) => void) | undefined;
  unfolding?: Unfolding | undefined;
  /** The search text, highlighted in the line's texts. */
  searchText?: string;
  /** The error of the run, which the page shows at its top. */
  runError?: string;
}) {
  const [stepTab, setStepTab] = useState("both");
  const [callTab, setCallTab] = useState("said");
  const [shownId, setShownId] = useState("");
  const id = lineId(line);
  if (id !== shownId) {
    setShownId(id);
    if (line.kind === "attempt") (line.of.kind === "step" ? setStepTab : setCallTab)("attempts");
  }
  if (line.kind === "wait") return <WaitInspector key={id} line={line} />;
  if (line.kind === "group") return <GroupInspector key={id} line={line} onShow={onShow ?? (() => {})} />;
  const work = line.kind === "attempt" ? line.of : line;
  const attempt = line.kind === "attempt" ? line.attempt.number : null;
  return work.kind === "step" ? (
    <StepInspector
      attempt={attempt}
      key={lineId(work)}
      line={work}
      onTab={setStepTab}
      searchText={searchText}
      tab={stepTab}
      runError={runError}
      unfolding={unfolding}
    />
  ) : (
    <CallInspector
      attempt={attempt}
      key={lineId(work)}
      line={work}
      onTab={setCallTab}
      tab={callTab}
      runError={runError}
    />
  );
}
