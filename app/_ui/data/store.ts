import { useSyncExternalStore } from "react";

const never = () => () => {};

/** A value that only the browser knows. The server, and the first render in the browser, use `onServer`. */
export function useBrowserValue<Value>(read: () => Value, onServer: Value): Value {
  return useSyncExternalStore(never, read, () => onServer);
}

/** A value that all components of a tab share. The server renders the initial one. */
export function createStore<Value>(initial: Value) {
  let current = initial;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const read = () => current;
  return {
    read,
    set(value: Value): void {
      if (value === current) return;
      current = value;
      for (const listener of listeners) listener();
    },
    use: (): Value => useSyncExternalStore(subscribe, read, () => initial),
  };
}
