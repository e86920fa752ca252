"use client";

import { createContext, useContext } from "react";
import { Command } from "@/app/_ui/page/page";

/** The slug of the active organization. */
export const OrganizationContext = createContext("");

/** A command for the operator's command line; `ORG` is replaced by the active organization's slug. */
export function OperatorCommand({ children }: { children: string }) {
  const slug = useContext(OrganizationContext);
  return <Command>{`npm run -s stepwell -- ${children.replace("ORG", slug)}`}</Command>;
}
