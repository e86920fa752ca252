import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CopyButton } from "@/app/_ui/copy-button";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatBytes, formatCount, formatPlural } from "@/app/_ui/figures/format";
import { JsonView } from "@/app/_ui/json/view";
import { Fold } from "@/app/_ui/text/fold";
import { isLong, startOfFolded } from "@/app/_ui/text/long-text";
import { PlainText } from "@/app/_ui/text/plain-text";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { readJson, writeJson } from "@/server/base/json/json";
import type { ModelRequestView, SentMessage } from "@/server/runs/read/inspect/model-request";
import { TextSkeleton } from "../skeleton";

/** The prompt of a model call: its messages, those of earlier calls collapsed, and the offered tools. */
export function PromptView({ runId, callId }: { runId: string; callId: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.runs.modelRequest.queryOptions({ runId, callId }));
  const [showEarlier, setShowEarlier] = useState(false);
  if (query.isError) return <Unreadable query={query} what="Could not load the prompt" />;
  if (!query.data) return <TextSkeleton className="py-1" widths={["w-2/3", "w-full", "w-3/4"]} />;
  const { messages, tools, responseSchema } = query.data;
  if (messages.length === 0)
    return <p className="text-faint">The prompt of this call is no longer available.</p>;
  const earlier = messages.filter(({ fresh }) => !fresh);
  const shortened = earlier.filter(({ isShortened }) => isShortened).length;
  const shown = showEarlier ? messages : messages.filter(({ fresh }) => fresh);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex min-h-7 items-center gap-x-3 text-muted text-xs">
        <span>
          {formatPlural(messages.length, "message")}, {formatPlural(tools.length, "tool")} offered
        </span>
        <span className="ml-auto">
          <CopyButton label="Copy the prompt as JSON" text={asRequest(query.data)} />
        </span>
      </div>
      {earlier.length > 0 ? (
        <button
          aria-expanded={showEarlier}
          className="w-fit text-accent hover:underline"
          onClick={() => setShowEarlier(!showEarlier)}
          type="button"
        >
          {showEarlier
            ? "Hide messages of earlier calls"
            : `Show ${formatPlural(earlier.length, "message")} of earlier calls${shortened > 0 ? `, ${formatCount(shortened)} of them shortened` : ""}`}
        </button>
      ) : null}
      <ol className="flex flex-col gap-3">
        {shown.map((message) => (
          <Message key={messages.indexOf(message)} message={message} />
        ))}
      </ol>
      {responseSchema ? (
        <details>
          <summary className="w-fit cursor-pointer text-muted hover:text-ink">Schema for the answer</summary>
          <div className="mt-1">
            <JsonView text={responseSchema} tools />
          </div>
        </details>
      ) : null}
      {tools.length > 0 ? <Offered tools={tools} /> : null}
    </div>
  );
}

const NAMES: Record<SentMessage["role"], string> = {
  system: "system prompt",
  user: "user",
  assistant: "model",
  tool: "result",
};

function Message({ message }: { message: SentMessage }) {
  const { role, content, step, toolCalls, isShortened } = message;
  return (
    <li className="rounded-md border border-line">
      <p className="flex gap-2 border-line border-b px-3 py-1.5 text-xs">
        <span className="font-medium">
          {step ? (
            <>
              result of step {step.number}, <span className="mono">{step.name}</span>
            </>
          ) : (
            NAMES[role]
          )}
        </span>
        <span className="ml-auto text-faint">
          {isShortened ? "shortened to " : ""}
          {formatBytes(content.bytes)}
        </span>
      </p>
      <div className="flex flex-col gap-2 px-3 py-2">
        {content.text ? (
          <Fold long={isLong(content.text)} bytes={content.bytes}>
            {(folded) => (
              <>
                {role === "tool" && !isShortened ? (
                  <JsonView cut={content.cut} text={content.text} tools={!folded} />
                ) : (
                  <PlainText prose text={folded ? startOfFolded(content.text) : content.text} />
                )}
                {content.cut ? <p className="text-muted">… {formatBytes(content.bytes)} in total</p> : null}
              </>
            )}
          </Fold>
        ) : null}
        {toolCalls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message's calls never change.
          <p className="mono text-xs [overflow-wrap:anywhere]" key={index}>
            <span className="text-muted">called </span>
            <span className="font-medium">{call.name}</span> {call.arguments.text}
          </p>
        ))}
      </div>
    </li>
  );
}

function Offered({ tools }: Pick<ModelRequestView, "tools">) {
  return (
    <section aria-label="Tools offered" className="flex flex-col">
      <h3 className="text-muted text-xs">Tools offered</h3>
      {tools.map((tool) => (
        <details className="border-line border-b py-1.5 last:border-0" key={tool.name}>
          <summary className="cursor-pointer hover:text-ink">
            <span className="mono font-medium">{tool.name}</span>{" "}
            <span className="text-muted">{tool.description}</span>
          </summary>
          <div className="mt-1 pl-4">
            <JsonView text={tool.parameters} tools />
          </div>
        </details>
      ))}
    </section>
  );
}

function asRequest({ messages, tools, responseSchema }: ModelRequestView): string {
  const request = {
    messages: messages.map(({ role, content, toolCalls }) => ({
      role,
      content: content.text,
      ...(toolCalls.length > 0
        ? { tool_calls: toolCalls.map((call) => ({ name: call.name, arguments: call.arguments.text })) }
        : {}),
    })),
    tools: tools.map((tool): unknown => ({ ...tool, parameters: readJson(tool.parameters) })),
    ...(responseSchema ? { response_schema: readJson(responseSchema) as unknown } : {}),
  };
  return writeJson(request, 2);
}
