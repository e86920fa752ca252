"use client";

import { useSearchParams } from "next/navigation";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { NONE } from "@/app/_ui/figures/format";
import { Ago, Moment } from "@/app/_ui/figures/time";
import { JsonView } from "@/app/_ui/json/view";
import { Link } from "@/app/_ui/link";
import { Empty } from "@/app/_ui/page/page";
import { PagedList, usePages } from "@/app/_ui/paged-list";
import { type LineColumn, LineList } from "@/app/_ui/table";
import type { AuditLine } from "@/server/base/audit";
import { isJsonObject, readJson, writeJson } from "@/server/base/json/json";
import { AUDIT_SUBJECTS, type AuditSubject } from "@/server/contract/enums";
import { auditQuery, readSubject } from "./query";

const COLUMNS: LineColumn<AuditLine>[] = [
  {
    head: "Change",
    width: "w-64",
    area: "start",
    look: "line",
    cell: ({ action }) => (
      <span className="truncate font-medium" title={action}>
        {actionLabel(action)}
      </span>
    ),
  },
  {
    head: "Subject",
    area: "lastStart",
    look: "cut",
    cell: ({ subjectName }) => (
      <span className="text-ink max-md:pl-5" title={subjectName}>
        {subjectName}
      </span>
    ),
  },
  {
    head: "By",
    width: "w-56",
    area: "last",
    look: "cut",
    cell: ({ actorName }) => <span title={actorName}>{actorName}</span>,
  },
  {
    head: "Time",
    width: "w-32",
    area: "end",
    look: "figure",
    cell: ({ createdAt }) => <Ago at={createdAt} className="text-muted" />,
  },
];

/** The audit log, newest first. An entry opens to its changes. */
export function AuditView() {
  const trpc = useTRPC();
  const subject = readSubject(useSearchParams().get("subject"));
  return (
    <>
      <div className="px-4 pb-2 sm:px-6">
        <ChoiceLinks
          label="Changes of"
          options={[null, ...AUDIT_SUBJECTS].map((value) => ({
            value,
            label: value === null ? "All" : SUBJECT_LABELS[value],
            href: value === null ? "/audit" : `/audit?subject=${value}`,
          }))}
          value={subject}
        />
      </div>
      <PagedList
        columns={COLUMNS}
        detailsOf={(line) => (line.changes === "{}" ? null : <Details line={line} />)}
        empty={
          <Empty
            title={subject ? `No changes of ${SUBJECT_LABELS[subject].toLowerCase()}` : "No changes yet"}
          >
            <p>Changes to agents, tools, triggers, schedules, keys and members appear here.</p>
          </Empty>
        }
        keyOf={({ id }) => id}
        label="Audit log"
        list={usePages(auditQuery(trpc, subject))}
        what="changes"
      />
    </>
  );
}

export const AuditSkeleton = () => (
  <LineList columns={COLUMNS} keyOf={({ id }) => id} label="Audit log" lines={null} />
);

const SUBJECT_LABELS: Record<AuditSubject, string> = {
  agent: "Agents",
  tool: "Tools",
  trigger: "Triggers",
  callback: "Callbacks",
  schedule: "Schedules",
  secret: "Secrets",
  model_provider: "Model providers",
  api_key: "API keys",
  member: "Members",
  invitation: "Invitations",
  organization: "Organization",
};
const SUBJECT_PATHS: Record<string, string> = {
  agent: "/agents",
  tool: "/tools",
  trigger: "/triggers",
  callback: "/callbacks",
  schedule: "/schedules",
};

function Details({ line }: { line: AuditLine }) {
  const path = SUBJECT_PATHS[line.subjectKind];
  return (
    <div className="px-4 py-3 sm:pr-6 sm:pl-11">
      <p className="mb-2 text-muted">
        <Moment at={line.createdAt} />
        {path && line.subjectId ? (
          <>
            {" · "}
            <Link className="text-accent underline" href={`${path}/${line.subjectId}`}>
              Open the {line.subjectKind}
            </Link>
          </>
        ) : null}
      </p>
      <Changes text={line.changes} />
    </div>
  );
}

type Change = { field: string; from: string; to: string };

const CHANGE_COLUMNS: LineColumn<Change>[] = [
  { head: "Field", width: "w-[38%] sm:w-[20%]", area: "line", look: "wrap", cell: ({ field }) => field },
  {
    head: "Before",
    area: "line",
    cell: ({ from }) => <Value wash="bg-failed-wash">{from}</Value>,
  },
  { head: "After", area: "line", cell: ({ to }) => <Value wash="bg-added-wash">{to}</Value> },
];

function Value({ wash, children }: { wash: string; children: string }) {
  return (
    <span className={`mono block whitespace-pre-wrap px-1 py-0.5 [overflow-wrap:anywhere] ${wash}`}>
      {children}
    </span>
  );
}

function Changes({ text }: { text: string }) {
  const changes = readChanges(text);
  if (!changes) return <JsonView text={text} />;
  return (
    <LineList
      columns={CHANGE_COLUMNS}
      form="table"
      inset
      keyOf={({ field }) => field}
      label="Changes"
      lines={changes}
    />
  );
}

function readChanges(text: string): Change[] | null {
  const value: unknown = readJson(text);
  if (!isJsonObject(value)) return null;
  const pairs = Object.entries(value).map(([field, change]) =>
    isJsonObject(change) && "from" in change && "to" in change
      ? { field, from: show(change.from), to: show(change.to) }
      : null,
  );
  return pairs.every((pair) => pair !== null) ? pairs : null;
}

function show(value: unknown): string {
  if (value === null) return NONE;
  return typeof value === "string" ? value : writeJson(value, 2);
}

/** An audit entry's action in words: `api_key.revoked` is "API key revoked". */
export function actionLabel(action: string): string {
  const words = action.replace(/^api_/, "API_").replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
