import { readFileSync } from "node:fs";
import { statOf } from "../scripts/support/processes.mjs";

export function childrenOf(pid: number): number[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return ids.split(" ").filter(Boolean).map(Number);
}

/** User and system time so far, in ms. The kernel counts hundredths of a second. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

/** Like `cpuMs`, of all processes of a PostgreSQL server and those that ended. */
export function postgresCpuMs(postmaster: number): number {
  const fields = statOf(postmaster);
  const ended = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 10;
  return [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + cpuMs(pid), ended);
}

export function memoryMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes ?? 0) / 1024);
}
