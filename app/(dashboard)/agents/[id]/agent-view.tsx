"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { useTRPC } from "@/app/_ui/data/providers";
import { formatPlural } from "@/app/_ui/figures/format";
import { CheckIcon, MessageIcon, ModelIcon, TextIcon, WrenchIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { type LineColumn, LineList } from "@/app/_ui/table";
import { Fold } from "@/app/_ui/text/fold";
import { isLong, isMarkedUp, PROMPT_LIMIT, startOfFolded } from "@/app/_ui/text/long-text";
import type { FirstView } from "@/app/_ui/text/markdown/first-view";
import { FormattedText } from "@/app/_ui/text/markdown/formatted-text";
import { PlainText } from "@/app/_ui/text/plain-text";
import type { AgentDetail } from "@/server/catalog/inspect-definition";
import { labelOf } from "@/server/work/agent/field-changes";
import type { AttachmentPolicy } from "@/server/work/agent/settings";
import { DefinitionView } from "../../_definitions/detail/definition-view";
import { FactList, FlowPart, LimitsPart } from "../../_definitions/detail/flow";

const SchemaTable = dynamic(() =>
  import("../../_definitions/detail/schema-table").then((part) => part.SchemaTable),
);

export function AgentView({ agentId, prompt }: { agentId: string; prompt: FirstView | null }) {
  const trpc = useTRPC();
  const { data: agent } = useSuspenseQuery(trpc.definitions.agent.queryOptions({ agentId }));
  return (
    <DefinitionView of={{ kind: "agent", ...agent }}>
      <FlowPart mark={<MessageIcon />} title="Starts with a message">
        <p className="text-muted">From the dashboard, the API or a trigger.</p>
      </FlowPart>
      <FlowPart mark={<ModelIcon />} title={`Calls ${agent.model}`}>
        <FactList
          facts={[
            ...agent.fallbackModels.map((name, index): [string, string] => [`Fallback ${index + 1}`, name]),
            ...agent.modelSettings.map(withLabel),
          ]}
        />
      </FlowPart>
      <FlowPart
        mark={<TextIcon />}
        title={agent.systemPrompt === "" ? "Follows no prompt" : "Follows this prompt"}
      >
        <Prompt first={prompt} text={agent.systemPrompt} />
      </FlowPart>
      <Uses agent={agent} />
      <LimitsPart of={agent} more={agent.limits.map(withLabel)} />
      <FlowPart
        mark={<CheckIcon />}
        title={agent.outputSchema === null ? "Answers with text" : "Answers with JSON"}
      >
        {agent.outputSchema === null ? null : (
          <SchemaTable label="Output schema" schema={agent.outputSchema} />
        )}
      </FlowPart>
    </DefinitionView>
  );
}

const withLabel = ([name, value]: [string, string]): [string, string] => [labelOf(name), value];

function Prompt({ text, first }: { text: string; first: FirstView | null }) {
  if (text === "") return null;
  return (
    <div className="max-w-176">
      <Fold height="max-h-96" long={isLong(text, PROMPT_LIMIT)} bytes={new Blob([text]).size}>
        {(folded) =>
          isMarkedUp(text) ? (
            <FormattedText first={first} folded={folded} text={text} />
          ) : (
            <PlainText prose text={folded ? startOfFolded(text) : text} />
          )
        }
      </Fold>
    </div>
  );
}

type Use = {
  key: string;
  name: string;
  kind: string;
  description: string;
  policy: AttachmentPolicy | null;
  href: string | null;
};

function Uses({ agent: { tools, functions } }: { agent: AgentDetail }) {
  const lines: Use[] = [
    ...tools.map(({ id, name, description, gone, policy }) => ({
      key: id,
      name,
      description,
      policy,
      kind: gone ? "Deleted tool" : "Tool",
      href: gone ? null : `/tools/${id}`,
    })),
    ...functions.map((each) => ({ key: each.name, ...each, kind: "Function", href: null })),
  ];
  if (lines.length === 0) {
    return (
      <FlowPart mark={<WrenchIcon />} title="Uses nothing else">
        <p className="text-muted">It has no tools and functions and answers from the model alone.</p>
      </FlowPart>
    );
  }
  const counts = [formatPlural(tools.length, "tool"), formatPlural(functions.length, "function")];
  return (
    <FlowPart end={counts.join(", ")} mark={<WrenchIcon />} title="May use">
      <LineList
        columns={USE_COLUMNS}
        inset
        hideHeads
        keyOf={({ key }) => key}
        label="Attached tools and functions"
        lines={lines}
      />
    </FlowPart>
  );
}

const USE_COLUMNS: LineColumn<Use>[] = [
  {
    head: "Name",
    width: "sm:w-[30%]",
    area: "line",
    look: "line",
    cell: ({ name, href }) =>
      href ? (
        <Link className="block truncate font-medium hover:underline" href={href}>
          {name}
        </Link>
      ) : (
        <span className="mono block truncate font-medium">{name}</span>
      ),
  },
  { head: "Kind", width: "w-28", area: "share", look: "muted", cell: ({ kind }) => kind },
  {
    head: "Description",
    area: "share",
    cell: ({ description, policy }) => (
      <span className="text-muted">
        <span className="block truncate max-sm:hidden" title={description}>
          {description}
        </span>
        <span className="block text-xs">{describePolicy(policy)}</span>
      </span>
    ),
  },
];

/** `At most 3 calls · 2 retries · A failed call ends the run`; empty for the defaults. */
function describePolicy(policy: AttachmentPolicy | null): string {
  const { maxCalls, retries, onError } = policy ?? {};
  return [
    maxCalls === undefined ? "" : `At most ${formatPlural(maxCalls, "call")}`,
    retries ? formatPlural(retries, "retry", "retries") : "",
    onError === "fail" ? "A failed call ends the run" : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
