import { readFileSync } from "node:fs";

/** Figures of processes from Linux's /proc. */

/** The ids of a process's children. */
export function childrenOf(pid: number): number[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return ids.split(" ").filter(Boolean).map(Number);
}

/** The fields of /proc/PID/stat after the name. */
const statOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];

/** User and system time of a process so far, in ms; the kernel counts in hundredths of a second. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Like `cpuMs`, for all of PostgreSQL: its postmaster, its processes, and those that ended. */
export function postgresCpuMs(postmaster: number): number {
  const fields = statOf(postmaster);
  let sum = (Number(fields[13]) + Number(fields[14])) * 10;
  for (const pid of [postmaster, ...childrenOf(postmaster)]) {
    try {
      sum += cpuMs(pid);
    } catch {
      // One of its connections ended in the meantime.
    }
  }
  return sum;
}

/** Resident memory of a process in MB. */
export function memoryMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes ?? 0) / 1024);
}
