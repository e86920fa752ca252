import dynamic from "next/dynamic";
import type { ComponentType } from "react";

/** A component that the browser loads when it is first shown, such as a dialog. The server renders nothing for it. */
export function lazy<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): Module[Name];
export function lazy<Props>(
  load: () => Promise<Record<string, ComponentType<Props>>>,
  name: string,
): ComponentType<Props> {
  return dynamic(() => load().then((part) => part[name] ?? (() => null)), { ssr: false });
}
