"use client";

import { useInfiniteQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { ChoiceLinks } from "@/app/_ui/choice-links";
import { useTRPC } from "@/app/_ui/data/providers";
import { NONE } from "@/app/_ui/figures/format";
import { Ago, Moment } from "@/app/_ui/figures/time";
import { ChevronRightIcon } from "@/app/_ui/icons";
import { JsonView } from "@/app/_ui/json/view";
import { Link } from "@/app/_ui/link";
import { OlderButton } from "@/app/_ui/older-button";
import { Empty } from "@/app/_ui/page/page";
import { ItemSkeletons } from "@/app/_ui/page/skeletons";
import { Unreadable } from "@/app/_ui/text/unreadable";
import type { AuditLine } from "@/server/base/audit";
import { isJsonObject } from "@/server/base/json/json";
import { AUDIT_SUBJECTS, type AuditSubject } from "@/server/contract/enums";
import { auditQuery, readSubject } from "./query";

/** The audit log, newest first. An entry opens to its changes. */
export function AuditView() {
  const trpc = useTRPC();
  const subject = readSubject(useSearchParams().get("subject"));
  const query = useInfiniteQuery(auditQuery(trpc, subject));
  const lines = query.data?.pages.flatMap((page) => page.items) ?? [];
  if (query.isError && lines.length === 0) {
    return <Unreadable query={query} what="The audit log could not be read" />;
  }
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
      {query.isSuccess && lines.length === 0 ? (
        <Empty title={subject ? `No changes of ${SUBJECT_LABELS[subject].toLowerCase()}` : "No changes yet"}>
          <p>Changes to agents, tools, triggers, keys and members appear here.</p>
        </Empty>
      ) : null}
      <ol aria-busy={query.isPending} aria-label="Audit log" className="border-line border-t">
        {query.isPending ? <ItemSkeletons /> : lines.map((line) => <AuditEntry key={line.id} line={line} />)}
      </ol>
      <OlderButton query={query} what="lines" />
    </>
  );
}

const SUBJECT_LABELS: Record<AuditSubject, string> = {
  agent: "Agents",
  tool: "Tools",
  trigger: "Triggers",
  secret: "Secrets",
  model_provider: "Model providers",
  api_key: "API keys",
  member: "Members",
  invitation: "Invitations",
  organization: "Organization",
};
const SUBJECT_PATHS: Record<string, string> = { agent: "/agents", tool: "/tools", trigger: "/triggers" };

function AuditEntry({ line }: { line: AuditLine }) {
  const [open, setOpen] = useState(false);
  const empty = line.changes === "{}";
  const path = SUBJECT_PATHS[line.subjectKind];
  return (
    <li className="border-line border-b">
      <button
        aria-expanded={empty ? undefined : open}
        className={clsx(
          "flex min-h-10 w-full items-center gap-x-2 px-4 py-1.5 text-left max-sm:flex-wrap sm:px-6",
          empty ? "!cursor-default" : "hover:bg-hover",
        )}
        onClick={() => setOpen(!open && !empty)}
        type="button"
      >
        <ChevronRightIcon
          className={clsx("shrink-0 text-faint", open && "rotate-90", empty && "invisible")}
          size={12}
        />
        <span className="truncate font-medium sm:w-36 sm:shrink-0" title={line.actorName}>
          {line.actorName}
        </span>
        <span className="truncate text-muted sm:w-44 sm:shrink-0" title={line.action}>
          {actionLabel(line.action)}
        </span>
        <span
          className="min-w-0 truncate max-sm:order-last max-sm:basis-full max-sm:pl-5"
          title={line.subjectName}
        >
          {line.subjectName}
        </span>
        <Ago at={line.createdAt} className="ml-auto whitespace-nowrap text-muted" />
      </button>
      {open ? (
        <div className="px-4 pb-3 sm:pr-6 sm:pl-11">
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
      ) : null}
    </li>
  );
}

/** Changed fields with old and new value; other facts as stored. */
function Changes({ text }: { text: string }) {
  const changes = readChanges(text);
  if (!changes) return <JsonView text={text} />;
  return (
    <div className="overflow-x-auto">
      <table aria-label="Changes" className="w-full text-left">
        <thead className="text-muted text-xs">
          <tr>
            <th className="py-1 pr-4 font-normal" scope="col">
              Field
            </th>
            <th className="w-1/2 py-1 pr-4 font-normal" scope="col">
              Before
            </th>
            <th className="w-1/2 py-1 font-normal" scope="col">
              After
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ field, from, to }) => (
            <tr className="align-top" key={field}>
              <th className="whitespace-nowrap py-0.5 pr-4 font-normal" scope="row">
                {field}
              </th>
              <td className="mono whitespace-pre-wrap bg-failed-wash px-1 py-0.5 [overflow-wrap:anywhere]">
                {from}
              </td>
              <td className="mono whitespace-pre-wrap bg-added-wash px-1 py-0.5 [overflow-wrap:anywhere]">
                {to}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The changes as pairs of old and new value; null if an entry is not such a pair. */
function readChanges(text: string): { field: string; from: string; to: string }[] | null {
  const value: unknown = JSON.parse(text);
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
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** An audit entry's action in words: `api_key.revoked` is "API key revoked". */
export function actionLabel(action: string): string {
  const words = action.replace(/^api_/, "API_").replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
