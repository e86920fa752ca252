import type { Services } from "@/server/services";
import { createJobs } from "../jobs";
import { backlogsOf } from "../metrics/backlogs";
import { isDatabaseHere, readDisk } from "./disk";
import { readJobRecords } from "./job-records";
import { countOrganizations } from "./organizations";
import { countSlots, listProcesses } from "./processes";
import { readQueueHistory } from "./queue-history";
import { readVersions } from "./versions";

export type SystemStatus = Awaited<ReturnType<typeof readSystemStatus>>;
export type SystemProcess = SystemStatus["processes"][number];
export type SystemJob = SystemStatus["jobs"][number];

/** The state of the installation: versions, processes, slots, queue, disk and maintenance jobs. */
export async function readSystemStatus(services: Services) {
  const [versions, processes, backlogs, history, organizations, disk, databaseHere, records] =
    await Promise.all([
      readVersions(services),
      listProcesses(services),
      backlogsOf(services)(),
      readQueueHistory(services),
      countOrganizations(services.pool),
      readDisk(services.env),
      isDatabaseHere(services.env),
      readJobRecords(services),
    ]);
  const slots = countSlots(processes);
  return {
    at: services.clock.now().toISOString(),
    versions,
    processes: processes.map(({ id, heartbeatAt, settings, figures }) => ({
      id,
      heartbeatAt,
      host: settings?.host ?? null,
      pid: settings?.pid ?? null,
      role: settings?.role ?? null,
      figures,
    })),
    // The last sample may be a minute old.
    slots: {
      ...slots,
      mostInDay: history.mostSlots === null ? null : Math.max(history.mostSlots, slots.used),
    },
    // Null while the database does not answer in time.
    queue: backlogs && {
      classes: [...backlogs.queue].map(([name, depth]) => ({ name, ...depth })),
      backlogs: [...backlogs.rows].map(([name, rows]) => ({ name, rows })),
    },
    waitingByMinute: history.minutes,
    organizations,
    disk: { ...disk, databaseHere },
    jobs: createJobs(services).map(({ name, title, everyMs }) => ({
      name,
      title,
      everyMs,
      last: records.get(name) ?? null,
    })),
  };
}
