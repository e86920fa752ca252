"use client";

import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { PageHead } from "@/app/_ui/page/page";
import { DatabaseSize } from "./database-size";
import { Doctor, RunDoctor } from "./doctor";
import { KeyFigures } from "./key-figures";
import { Maintenance } from "./maintenance";
import { Processes } from "./processes";
import { Queue } from "./queue";
import { SignIns } from "./sign-ins";

/** Processes report every 5 s. */
const REFRESH_MS = 5_000;

export function SystemView() {
  const trpc = useTRPC();
  const options = trpc.system.status.queryOptions();
  const { data: status } = useSuspenseQuery({ ...options, refetchInterval: REFRESH_MS });
  const { stepwell, node, postgres, engine, schema } = status.versions;
  return (
    <>
      <PageHead title="System">
        <span className="text-muted max-sm:hidden">For operators, over all organizations</span>
        <RunDoctor />
      </PageHead>
      <KeyFigures status={status} />
      <Doctor />
      <Processes status={status} />
      <div className="mt-6 grid border-line border-y lg:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)]">
        <div className="min-w-0 lg:border-line lg:border-r">
          <Queue status={status} />
        </div>
        <div className="min-w-0 max-lg:border-line max-lg:border-t">
          <DatabaseSize disk={status.disk} />
        </div>
      </div>
      <Maintenance jobs={status.jobs} />
      <SignIns />
      <p className="px-4 py-4 text-muted text-xs sm:px-6">
        Stepwell {stepwell}, Node {node}, PostgreSQL {postgres}, engine{" "}
        {engine === "embedded" ? "embedded" : "Inngest"}, schema {schema}.
      </p>
    </>
  );
}
