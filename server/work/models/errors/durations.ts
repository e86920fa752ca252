const DURATION = /^(?:([\d.]+)h)?(?:([\d.]+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?$/;

/** Durations such as `6m0s` and `890.5ms`, in milliseconds; null if it cannot be read. */
export function readDuration(text: string): number | null {
  const [whole, ...parts] = DURATION.exec(text) ?? [];
  if (!whole) return null;
  const [h = 0, m = 0, s = 0, rest = 0] = parts.map((part) => Number(part ?? 0));
  const total = ((h * 60 + m) * 60 + s) * 1000 + rest;
  return Number.isFinite(total) ? total : null;
}
