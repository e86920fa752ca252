"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import clsx from "clsx";
import type { ReactNode } from "react";
import { buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { CheckIcon, PlusIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { PageHead } from "@/app/_ui/page/page";
import { useMay } from "@/app/_ui/role";
import type { FirstSteps } from "@/server/catalog/organization/first-steps";
import { StarterLinks } from "../_editor/agent/starters";
import { RunPanel } from "../_run/run-panel";

const POLL_MS = 2_000;

/** Three steps to a first completed run. The server's data decides which are ticked off. */
export function FirstStepsView() {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.organization.firstSteps.queryOptions(),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.completed ? false : POLL_MS),
  });
  return (
    <>
      <PageHead title="Get started" />
      <p className="px-4 pb-3 text-muted sm:px-6">Three steps to a first run that completes.</p>
      <ol className="border-line border-t">
        <ModelStep providers={data.providers} />
        <AgentStep agent={data.agent} />
        <RunStep steps={data} />
      </ol>
    </>
  );
}

type StepProps = { number: number; title: string; done: boolean; children: ReactNode };

function Step({ number, title, done, children }: StepProps) {
  return (
    <li className="flex gap-3 border-line border-b px-4 py-4 sm:px-6">
      <span
        className={clsx(
          "flex size-6 shrink-0 items-center justify-center rounded-full border text-xs",
          done ? "border-completed text-completed" : "border-line-strong text-muted",
        )}
      >
        {done ? <CheckIcon size={14} /> : number}
      </span>
      <div className="flex min-w-0 flex-1 flex-col items-start gap-2">
        <h2 className="font-semibold leading-6">
          {title}
          <span className="sr-only">{done ? ", done" : ", to do"}</span>
        </h2>
        {children}
      </div>
    </li>
  );
}

function ModelStep({ providers }: { providers: string[] }) {
  const mayConnect = useMay("admin");
  return (
    <Step done number={1} title="A model">
      {providers.length > 0 ? (
        <p className="text-muted">
          Models are called through {providers.join(", ")}. Each agent names the model it uses.
        </p>
      ) : (
        <p className="text-muted">
          The built-in demo model answers: a simulation that costs nothing. For a real model,{" "}
          {mayConnect ? (
            <>
              <Link className="text-ink underline" href="/models">
                add a model provider
              </Link>{" "}
              with your own key.
            </>
          ) : (
            "an admin or owner adds a model provider."
          )}
        </p>
      )}
    </Step>
  );
}

function AgentStep({ agent }: { agent: FirstSteps["agent"] }) {
  const mayEdit = useMay("member");
  return (
    <Step done={agent !== null} number={2} title="An agent">
      {agent ? (
        <p className="text-muted">
          <Link className="text-ink underline" href={`/agents/${agent.id}`}>
            {agent.name}
          </Link>{" "}
          is active. It answers messages with its model, functions and tools.
        </p>
      ) : (
        <>
          <p className="text-muted">
            An agent is a prompt, a model, and the functions and tools it may use. Begin with one that works
            and change it, or with an empty form.
          </p>
          {mayEdit ? (
            <>
              <StarterLinks />
              <Link className={buttonClass("primary")} href="/agents/new">
                <PlusIcon />
                New agent
              </Link>
            </>
          ) : (
            <p className="text-muted">Your role may read. Creating an agent needs the role Member.</p>
          )}
        </>
      )}
    </Step>
  );
}

function RunStep({ steps: { agent, lastRun, completed } }: { steps: FirstSteps }) {
  return (
    <Step done={completed} number={3} title="A first run">
      {agent === null ? (
        <p className="text-muted">Send the agent a message. The run appears here, step by step.</p>
      ) : (
        <>
          <p className="text-muted">Send {agent.name} a message, such as: What is 12 * 3.5?</p>
          <div className="w-full min-w-0 overflow-hidden rounded-md border border-line [&>section]:border-t-0">
            <RunPanel
              target={{
                kind: "agent",
                id: agent.id,
                name: agent.name,
                maxCredits: agent.maxCredits,
                active: true,
                parameters: null,
              }}
            />
          </div>
          {lastRun?.status === "Failed" && !completed ? (
            <p>
              The last run failed.{" "}
              <Link className="text-accent underline" href={`/runs/${lastRun.id}`}>
                Open it to see why
              </Link>
            </p>
          ) : null}
        </>
      )}
      {completed ? <Next /> : null}
    </Step>
  );
}

const NEXT = [
  { href: "/runs", label: "See all runs" },
  { href: "/keys", label: "Create an API key", forAdmins: true },
  { href: "/triggers", label: "Start runs by webhook" },
] as const;

function Next() {
  const isAdmin = useMay("admin");
  const [first, ...others] = NEXT.filter((next) => isAdmin || !("forAdmins" in next));
  if (first === undefined) return null;
  return (
    <div className="flex flex-wrap items-center gap-2" role="status">
      <span className="mr-1 text-completed">The first run has completed.</span>
      <Link className={buttonClass("primary")} href={first.href}>
        {first.label}
      </Link>
      {others.map(({ href, label }) => (
        <Link className={buttonClass()} href={href} key={href}>
          {label}
        </Link>
      ))}
    </div>
  );
}
