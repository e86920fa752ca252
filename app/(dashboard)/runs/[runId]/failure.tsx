"use client";

import Link from "next/link";
import type { RunDetail } from "@/server/runs/inspect";
import { type Line, lineFacts, lineId } from "./timeline-lines";

/** A failed run opens with what happened, where, and what to try. */
export function Failure({
  run,
  lines,
  chosen,
  onShow,
}: {
  run: RunDetail;
  lines: Line[];
  chosen: Line | null;
  onShow: (line: Line) => void;
}) {
  const message = run.errorMessage ?? "The run failed.";
  const { sentence, rest } = splitMessage(message);
  const where = lines.findLast((line) => lineFacts(line).status !== "Completed");
  const advice = adviceFor(run);
  return (
    <section
      aria-label="Failure"
      className="mx-4 mb-3 rounded-lg border border-line bg-failed-wash px-4 py-3 sm:mx-6"
    >
      <p className="font-medium text-failed [overflow-wrap:anywhere]">{sentence}</p>
      {where ? (
        <p className="mt-1">
          In {where.kind === "step" ? `step ${where.step.number}, ` : ""}
          <span className="mono">{where.label}</span>, iteration {lineIteration(where)}.{" "}
          {chosen && lineId(chosen) === lineId(where) ? null : (
            <button className="text-accent underline" onClick={() => onShow(where)} type="button">
              Show it
            </button>
          )}
        </p>
      ) : null}
      {advice ? (
        <p className="mt-1 text-muted">
          {advice.text}{" "}
          {advice.href ? (
            <Link className="text-accent underline" href={advice.href}>
              {advice.link}
            </Link>
          ) : null}
        </p>
      ) : null}
      {rest ? (
        <details className="mt-2">
          <summary className="w-fit cursor-pointer text-muted hover:text-ink">The whole message</summary>
          <pre className="mono mt-1.5 max-h-72 overflow-auto whitespace-pre-wrap [overflow-wrap:anywhere]">
            {message}
          </pre>
        </details>
      ) : null}
    </section>
  );
}

function lineIteration(line: Line): number {
  return line.kind === "step" ? line.step.iteration : line.call.iteration;
}

/** The first sentence or line stands as the headline; the rest is folded. */
function splitMessage(message: string): { sentence: string; rest: boolean } {
  const line = message.split("\n", 1)[0] ?? message;
  const sentence = line.length > 240 ? `${line.slice(0, 240)}…` : line;
  return { sentence, rest: sentence.length < message.trim().length };
}

type Advice = { text: string; href?: string; link?: string };

function adviceFor(run: RunDetail): Advice | null {
  const target = run.kind === "agent" ? "/agents" : "/tools";
  const similar = {
    href: `/runs?status=Failed&${run.kind}=${run.agentId ?? run.toolId}`,
    link: "Other failures of it",
  };
  switch (run.errorCode) {
    case "insufficient_credits":
      return { text: "Grant credits or wait for the monthly ones, then run it again." };
    case "max_credits":
      return {
        text: "The run reached its own limit of credits. Raise it where it is set.",
        href: target,
        link: "Open it",
      };
    case "deadline":
      return {
        text: "The run took longer than it may. Raise its deadline or give it less to do.",
        href: target,
        link: "Open it",
      };
    case "repeated_failure":
      return {
        text: "The model made the very same failing call three times. Say in the prompt how to call it.",
        href: target,
        link: "Open it",
      };
    case "platform":
      return { text: "The fault was ours, not the run's; it was not charged. Run it again." };
    default:
      return { text: "Look at the input and output below.", ...similar };
  }
}
