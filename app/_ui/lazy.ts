import dynamic from "next/dynamic";
import type { ComponentType } from "react";

/** A component that the browser loads when it is first shown, such as a dialog. The server renders nothing for it. */
export function lazy<Name extends string, Props>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
): ComponentType<Props> {
  return dynamic(() => load().then((part) => part[name]), { ssr: false });
}
