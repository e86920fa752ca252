import type { Logger } from "@/server/base/log";

/** Also repeated after success, because a restarted server may have lost the functions. */
const REGISTER_EVERY_MS = { missing: 1_000, registered: 60_000 };

type Registration = {
  isRegistered(): boolean;
  /** Registers again soon, because the server did not answer. */
  renew(): void;
  stop(): void;
};

/**
 * Registers immediately and then repeatedly. `register` returns an error, or null. Calls `onRecovered` when the
 * server answers again.
 */
export function stayRegistered(
  register: () => Promise<unknown>,
  { log, onRecovered }: { log: Logger; onRecovered: () => void },
): Registration {
  let registered: boolean | undefined;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const schedule = (ms: number) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => void go(), ms);
    timer.unref();
  };
  const go = async (): Promise<void> => {
    const error = await register();
    const before = registered;
    registered = error === null;
    if (registered && before !== true) log.info("Registered the functions with the Inngest server");
    if (!registered && before !== false)
      log.warn("Could not register the functions with the Inngest server; runs wait", { error });
    if (!registered) hasFailed = true;
    else if (hasFailed) {
      hasFailed = false;
      onRecovered();
    }
    schedule(REGISTER_EVERY_MS[registered ? "registered" : "missing"]);
  };
  void go();
  return {
    isRegistered: () => registered === true,
    renew() {
      if (registered !== true || hasFailed) return;
      hasFailed = true;
      schedule(REGISTER_EVERY_MS.missing);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
