export type Tick = {
  /** In ms from the axis' zero. */
  at: number;
  /** As a share of the axis' width. */
  part: number;
  label: string;
  /** The least width of the axis, in pixels, at which the label fits. */
  needs: number;
};

/** In pixels, for the widest labels (12 px). */
const CHARACTER = 7.5;
const GAP = 14;
/** Pixels by which a label may overlap the ends of the axis. */
const BEYOND_LEFT = 6;
const BEYOND_RIGHT = 24;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 30, 100].map((days) => days * DAY),
];

/**
 * At most six round times between `from` and `to`, in ms from the axis' zero. CSS hides labels by `needs`, so that
 * the server renders narrow axes correctly.
 */
export function axisTicks(from: number, to: number): Tick[] {
  const span = to - from;
  const step = STEPS.find((each) => each >= span / 4.5) ?? Math.ceil(span / 4.5 / DAY) * DAY;
  const first = Math.ceil(from / step);
  const indexes = Array.from({ length: Math.floor(to / step) - first + 1 }, (_, n) => first + n);
  const labelOf = (index: number) => formatTick(index * step, { step, to });
  const widthOf = (index: number) => labelOf(index).length * CHARACTER;
  return indexes.map((index) => {
    const part = (index * step - from) / span;
    const sparsest = sparsestWith(index, indexes);
    const beside = indexes.filter((each) => each % sparsest === 0);
    const widest = Math.max(...beside.map(widthOf));
    const half = widthOf(index) / 2;
    const needs = Math.max(
      beside.length === 1 ? 0 : ((widest + GAP) * span) / (sparsest * step),
      // The label of zero is to the right of its tick.
      index === 0 ? 0 : (half - BEYOND_LEFT) / part,
      (half - BEYOND_RIGHT) / (1 - part),
    );
    return { at: index * step, part, label: labelOf(index), needs };
  });
}

function sparsestWith(index: number, indexes: number[]): number {
  let apart = 1;
  while (index % (apart * 2) === 0 && indexes.filter((each) => each % apart === 0).length > 1) apart *= 2;
  return apart;
}

/** A range in ms from the axis' zero, as precise as its length needs: `1.2 – 3.4 s`, `9:30 – 9:45`. */
export function describeRange(from: number, to: number): string {
  const step = STEPS.findLast((each) => each <= (to - from) / 10) ?? 1;
  const [first, last] = [from, to].map((at) => formatTick(Math.round(at / step) * step, { step, to }));
  const unit = / \S+$/.exec(last ?? "")?.[0] ?? "";
  const bare = unit !== "" && first?.endsWith(unit) ? first.slice(0, -unit.length) : first;
  return `${bare} – ${last}`;
}

function formatTick(at: number, { step, to }: { step: number; to: number }): string {
  if (at === 0) return "0";
  if (step % DAY === 0) return `${at / DAY} d`;
  if (step % HOUR === 0) return `${at / HOUR} h`;
  if (step % MINUTE === 0) return `${at / MINUTE} min`;
  const decimals = step % SECOND === 0 ? 0 : step % 100 === 0 ? 1 : step % 10 === 0 ? 2 : 3;
  if (to >= MINUTE) {
    const seconds = ((at % MINUTE) / SECOND).toFixed(decimals);
    return `${Math.floor(at / MINUTE)}:${seconds.padStart(decimals === 0 ? 2 : decimals + 3, "0")}`;
  }
  return at < SECOND ? `${at} ms` : `${Number((at / SECOND).toFixed(3))} s`;
}
