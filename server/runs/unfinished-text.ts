/** Pages see a text grow at this pace, in ms; a longer one by larger pieces, since each time all of it is written. */
const PACE_MS = 400;
const MS_A_CHARACTER = 0.02;

/** Keeps a text that grows, now and then, for those who watch. */
export type UnfinishedText = {
  /** The text has become this. */
  note(text: string): void;
  /** Writes no more; resolves once nothing is being written. */
  close(): Promise<void>;
};

/**
 * Writes a growing text at a bounded pace, one write after the other. It is for the eye alone: a write that fails is left,
 * and the next one has everything.
 */
export function keepUnfinishedText(write: (text: string) => Promise<void>): UnfinishedText {
  let text = "";
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;
  const flush = () => {
    const noted = text;
    writing = write(noted)
      .catch(() => undefined)
      .then(() => {
        timer = undefined;
        if (text !== noted) schedule();
      });
  };
  const schedule = () => {
    if (closed) return;
    timer ??= setTimeout(flush, PACE_MS + text.length * MS_A_CHARACTER);
  };
  return {
    note(next) {
      text = next;
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await writing;
    },
  };
}
