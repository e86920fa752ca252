"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { Button, buttonClass } from "@/app/_ui/button";
import { useTRPC } from "@/app/_ui/data/providers";
import { describeError } from "@/app/_ui/data/query-client";
import { PartHead } from "@/app/_ui/figures/facts";
import { formatPlural } from "@/app/_ui/figures/format";
import { type RunStatusName, StatusShape } from "@/app/_ui/figures/status";
import { Ago } from "@/app/_ui/figures/time";
import { DoctorIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";
import { SkeletonLine } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { Unreadable } from "@/app/_ui/text/unreadable";
import { notify } from "@/app/_ui/toast";
import type { Judged } from "@/server/operate/doctor/finding";
import { guideOf } from "./doctor-guides";

const REFRESH_MS = 60_000;

const LEVELS: Record<Judged["level"], { shape: RunStatusName; label: string }> = {
  fail: { shape: "Failed", label: "Broken" },
  warn: { shape: "Waiting", label: "Look at it" },
  ok: { shape: "Completed", label: "Fine" },
};

export function RunDoctor() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const run = useMutation(
    trpc.system.runDoctor.mutationOptions({
      onSuccess: (found) => queryClient.setQueryData(trpc.system.doctor.queryKey(), found),
      onError: (error) => notify("Could not run doctor", describeError(error).message),
    }),
  );
  const start = () => run.mutate();
  usePageActions([{ label: "Run doctor", icon: <DoctorIcon />, run: start }]);
  return (
    <Button disabled={run.isPending} onClick={start}>
      <DoctorIcon />
      Run doctor
    </Button>
  );
}

/** The findings of `doctor`: issues first; passed checks are folded. */
export function Doctor() {
  const options = useTRPC().system.doctor.queryOptions();
  const found = useQuery({ ...options, refetchInterval: REFRESH_MS });
  const [open, setOpen] = useState(false);
  if (found.isError && !found.data) return <Unreadable query={found} what="Could not run doctor" />;
  const findings = found.data?.findings ?? [];
  const issues = findings
    .filter(({ level }) => level !== "ok")
    .toSorted((one, two) => Number(two.level === "fail") - Number(one.level === "fail"));
  const fine = findings.filter(({ level }) => level === "ok");
  const shown = open ? [...issues, ...fine] : issues;
  return (
    <section aria-label="Doctor">
      <PartHead title="Doctor">
        {found.data ? (
          <p className="text-muted text-xs">
            {formatPlural(issues.length, "finding")}, {formatPlural(fine.length, "check is", "checks are")}{" "}
            fine. Checked <Ago at={found.data.at} />, every 15 min.
          </p>
        ) : null}
      </PartHead>
      <ul aria-busy={!found.data} className="border-line border-t *:border-line *:border-b">
        {found.data ? null : (
          <li className="flex h-12 items-center px-4 sm:px-6">
            <SkeletonLine className="w-80 max-w-full" />
          </li>
        )}
        {shown.map((finding) => (
          <FindingLine finding={finding} key={`${finding.what} ${finding.text}`} />
        ))}
        {found.data && fine.length > 0 ? (
          <li className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 sm:px-6">
            <StatusShape status="Completed" />
            <span className="min-w-0 flex-1 truncate">
              <span className="font-medium">{formatPlural(fine.length, "check is", "checks are")} fine</span>{" "}
              <span className="text-muted">{fine.map(({ what }) => what).join(", ")}</span>
            </span>
            <button
              aria-expanded={open}
              className="min-h-6 text-accent underline"
              onClick={() => setOpen(!open)}
              type="button"
            >
              {open ? "Show issues only" : "Show all"}
            </button>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

function FindingLine({ finding: { what, level, text } }: { finding: Judged }) {
  const { shape, label } = LEVELS[level];
  const guide = level === "ok" ? null : guideOf(what);
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-4 py-2.5 sm:px-6">
      <StatusShape className="mt-1" status={shape} />
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium first-letter:uppercase">
          <span className="sr-only">{label}: </span>
          {what}
        </p>
        <p className="text-muted [overflow-wrap:anywhere]">
          <WithCode text={text} />
        </p>
      </div>
      {guide === null ? null : (
        <Link className={buttonClass("plain")} href={guide.href}>
          Guide: {guide.title}
        </Link>
      )}
    </li>
  );
}

function WithCode({ text }: { text: string }) {
  const pieces = text.split("`");
  return pieces.map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no other name, and never move.
    <Fragment key={index}>
      {index % 2 === 1 && index < pieces.length - 1 ? <code className="mono text-ink">{piece}</code> : piece}
    </Fragment>
  ));
}
