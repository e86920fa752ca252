import type { Metadata } from "next";
import { buttonClass } from "@/app/_ui/button";
import { PageHead } from "@/app/_ui/page/page";
import { LinesSkeleton } from "@/app/_ui/page/skeletons";
import { serverApi } from "@/app/request";
import { getServices } from "@/process-services";
import { createOpenApiDocument } from "@/server/api/openapi/document";
import { readJson, writeJson } from "@/server/base/json/json";
import type { RunKind } from "@/server/contract/enums";
import { exampleInput } from "@/server/work/json-schema/example-input";
import { suspended } from "../content-page";
import { KeyProvider } from "./key";
import { OperationSection } from "./operation-section";
import { type Operation, readOperations } from "./read-document";
import type { KnownIds } from "./try-it";

export const metadata: Metadata = { title: "API reference" };

let operations: Operation[] | undefined;

function ownOperations(): Operation[] {
  operations ??= readOperations(createOpenApiDocument(getServices().env.appUrl));
  return operations;
}

async function readKnownIds(): Promise<KnownIds> {
  const api = await serverApi();
  const [directory, schedules, { callbacks }, ofAgents, ofTools] = await Promise.all([
    api.catalog.directory(),
    api.schedules.list(),
    api.callbacks.list(),
    api.runs.list({ filter: { kind: "agent" }, limit: 1 }),
    api.runs.list({ filter: { kind: "tool" }, limit: 1 }),
  ]);
  const targets = (kind: RunKind) =>
    directory.filter((entry) => entry.kind === kind).map(({ id, name }) => ({ id, name }));
  const [first, ...others] = targets("tool");
  const tool = first && (await api.definitions.tool({ toolId: first.id }));
  const newest = ({ items }: typeof ofAgents) =>
    items.map(({ id, targetName }) => ({ id, name: targetName }));
  return {
    agentId: targets("agent"),
    toolId: tool
      ? [{ ...first, example: writeJson(exampleInput(readJson(tool.parameters)), 2) }, ...others]
      : [],
    triggerId: directory.filter(({ kind }) => kind === "trigger").map(({ id, name }) => ({ id, name })),
    scheduleId: schedules.map(({ id, name }) => ({ id, name })),
    callbackId: callbacks.filter(({ slug }) => slug !== null).map(({ id, name }) => ({ id, name })),
    agentRunId: newest(ofAgents),
    toolRunId: newest(ofTools),
    runId: [...newest(ofAgents), ...newest(ofTools)],
  };
}

async function Reference() {
  const ids = await readKnownIds();
  const all = ownOperations();
  return (
    <KeyProvider>
      <Contents operations={all} />
      {all.map((operation) => (
        <OperationSection ids={ids} key={operation.id} operation={operation} />
      ))}
    </KeyProvider>
  );
}

const Operations = suspended(Reference, <LinesSkeleton />);

/** The reference of the HTTP API, rendered from our own OpenAPI document. */
export default function ApiReferencePage() {
  return (
    <>
      <PageHead title="API reference">
        <a className={buttonClass()} href="/openapi.json">
          OpenAPI document
        </a>
      </PageHead>
      <Operations />
    </>
  );
}

function Contents({ operations: all }: { operations: Operation[] }) {
  const tags = [...new Set(all.map(({ tag }) => tag))];
  return (
    <nav
      aria-label="Operations"
      className="grid gap-x-6 gap-y-3 border-line border-t px-4 py-4 sm:grid-cols-3 sm:px-6"
    >
      {tags.map((tag) => (
        <div key={tag}>
          <h2 className="mb-1 font-semibold">{tag}</h2>
          <ul>
            {all
              .filter((operation) => operation.tag === tag)
              .map(({ id, summary }) => (
                <li key={id}>
                  <a
                    className="inline-flex min-h-6 items-center text-muted hover:text-accent"
                    href={`#${id}`}
                  >
                    {summary}
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
